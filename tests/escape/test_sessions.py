"""Hostile cells of a session: they cannot answer a later run, outlive their session or go on while it is idle."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from paddock.engines.jailed import JailedExecution
from paddock.errors import NotFound, RequestError
from paddock.jail.fork import Family, Fork
from paddock.jail.walls.watcher import Watcher, tree
from paddock.jail.warden_client import Mover
from paddock.model.result import Verdict
from tests.escape import traces
from tests.escape.conftest import Rig

MB = 1024 * 1024
FORGE = """
import json, os, stat, struct, threading
def frame(kind, tag, header, body):
    text = json.dumps(header).encode()
    return struct.pack("!BIII", kind, tag, len(text), len(body)) + text + body
def forge():
    sockets = [fd for fd in range(3, 32) if is_socket(fd)]
    for tag in (0, 1, 2, 3, 2**32 - 1):
        for fd in sockets:
            os.write(fd, frame(23, tag, {}, b""))
            os.write(fd, frame(20, tag, {"status": "ok"}, b'"forged"'))
    return len(sockets)
def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
"""
PROCESSES = """
import os, signal, time
pids = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            try:
                os.setsid()
            except OSError:
                pass
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                os.kill(-1, signal.SIGCONT)
            except OSError:
                pass
    pids.append(pid)
"""


ORPHAN = """
import os, signal, time
worker = os.fork()
if worker == 0:
    signal.signal(signal.SIGCONT, lambda *_: None)
    signal.pause()
    starter = os.fork()
    if starter == 0:
        if os.fork() == 0:
            signal.setitimer(signal.ITIMER_PROF, 0.3)
            while True:
                pass
        os._exit(0)
    os.waitpid(starter, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
"""


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def guest_of(rig: Rig, name: str) -> Any:
    interpreter: Any = rig.paddock._sessions._sessions["local", name].interpreter
    return interpreter._guest


def processes(rig: Rig, name: str) -> list[int]:
    guest = guest_of(rig, name)
    reaper = guest.reaper_pid
    return [pid for pid in tree(reaper, guest.pid) if pid != reaper]


async def test_a_cell_cannot_answer_a_later_one(rig: Rig) -> None:
    made = await rig.run(f"{FORGE}forge()", session="forger")
    assert made.output == 1, made.error
    for number in range(3):
        assert (await rig.run(f"forge()\n{number}", session="forger")).output == number
    await rig.run(
        "threading.Thread(target=lambda: [forge() for _ in range(20)], daemon=True).start()", session="forger"
    )
    seen = [(await rig.run(f"{number}", session="forger")).output for number in range(10)]
    assert "forged" not in seen
    await rig.paddock.delete_session("forger")


HARD_FRAMES = """
import json, os, select, struct, sys
prefix, control, tag = struct.Struct("!BIII"), None, None
def frame(kind, tag, header, body=b""):
    text = json.dumps(header).encode()
    return prefix.pack(kind, tag, len(text), len(body)) + text + body
def put(data):
    while data:
        select.select([], [control], [])
        data = data[os.write(control, data):]
def get(count):
    data = b""
    while len(data) < count:
        select.select([control], [], [])
        data += os.read(control, count - len(data)) or os._exit(0)
    return data
at = sys._getframe()
while control is None:  # the frame of the runtime that runs this cell
    at = at.f_back
    if "tag" in at.f_locals and "received" in at.f_locals:
        tag, control = at.f_locals["tag"], at.f_locals["self"]._channel._socket.fileno()
def rows(count):
    end = b'"' + bytes([92]) * 2 + b'ud800"]'  # text that looks like half of a surrogate pair
    return b"[" + b"1e0," * (count // 4 - 10) + end
table = rows(512 * 1024)
shown = frame(28, 1, {"type": "table", "mime_type": "application/json", "data_bytes": len(table)}, table)
forged = frame(20, 7, {"status": "ok"}, rows(256 * 1024))
put(frame(20, tag, {"status": "ok"}, b"1"))
while True:
    kind, _, header_bytes, body_bytes = prefix.unpack(get(prefix.size))
    body = get(header_bytes + body_bytes)[header_bytes:]
    if kind == 1:
        tag = json.loads(body)["session"]["tag"]
    if kind == 4:
        put((shown + forged) * 10)
        put(frame(23, tag, {}))
        put(shown * 3)
        put(frame(20, tag, {"status": "ok"}, b"2"))
"""


async def test_frames_that_are_hard_to_check_do_not_hold_up_the_event_loop(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, taken = asyncio.events.Handle._run, [0.0]

    def run_timed(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        taken.append(time.thread_time() - began)

    assert (await rig.run(HARD_FRAMES, session="flood")).output == 1
    monkeypatch.setattr(asyncio.events.Handle, "_run", run_timed)
    result = await rig.run("2", session="flood")
    assert (result.output, len(result.outputs), max(taken) < 0.1) == (2, 3, True)
    monkeypatch.undo()
    await rig.paddock.delete_session("flood")


async def test_a_cell_cannot_make_a_later_run_look_lost_by_the_host(rig: Rig) -> None:
    killer = "import os, signal\nsignal.signal(signal.SIGCONT, lambda *_: os.kill(os.getpid(), signal.SIGKILL))"
    assert (await rig.run(killer, session="killer")).verdict is Verdict.OK
    await until(lambda: guest_of(rig, "killer")._is_frozen)
    result = await rig.run("1", session="killer")
    assert (result.verdict, result.error and result.error.type) == (Verdict.CRASHED, "Crashed")
    await rig.paddock.delete_session("killer")


async def test_processes_of_an_idle_session_are_stopped_and_end_with_it(rig: Rig) -> None:
    if rig.profile == "confined":
        pytest.skip("a confined guest has one process")
    result = await rig.run(f"{PROCESSES}1", session="processes")
    assert result.output == 1, result.error
    pids = processes(rig, "processes")
    assert len(pids) >= 4

    def states() -> set[str]:
        found = []
        for pid in pids:
            with suppress(FileNotFoundError, ProcessLookupError):
                found.append(Path(f"/proc/{pid}/stat").read_text())
        return {text.rpartition(")")[2].split()[0] for text in found}

    # They continue each other. If they go on for too long, the session ends.
    await until(lambda: states() <= {"T"})
    with suppress(NotFound):
        await rig.paddock.delete_session("processes")
    await until(lambda: not [pid for pid in pids if tree(pid)])


async def test_a_process_that_has_ended_used_the_time_of_its_idle_session(rig: Rig) -> None:
    if rig.profile == "confined":
        pytest.skip("a confined guest has one process")
    ignores = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # in chroot, orphans become children of this process"
    result = await rig.run(f"{ORPHAN}\n{ignores}\n1", session="orphan")
    assert result.output == 1, result.error
    guest = guest_of(rig, "orphan")
    if guest.resource_limit.group_cpu_seconds() is None:
        pytest.skip("no control group counts the time of processes that have ended")
    await until(lambda: guest._is_frozen)
    assert guest._freeze_timer is not None
    guest._freeze_timer.cancel()  # otherwise a check may stop the processes before they have used much time
    [worker] = guest._frozen
    os.kill(worker, signal.SIGCONT)
    await until(lambda: guest._used_cpu_seconds() - guest._frozen_cpu_seconds > 0.2)
    await until(lambda: list(guest._other_processes()) == [worker])
    guest._check_frozen(0.1)
    assert guest.is_restless
    await rig.paddock.delete_session("orphan")


@pytest.mark.parametrize("is_watched", [True, False], ids=["watched", "looked at when the result has arrived"])
async def test_what_a_session_holds_counts_against_the_limit_of_each_run(
    rig: Rig, is_watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_watched:
        monkeypatch.setattr(Watcher, "_put", lambda *_: None)
    name, limits = f"hoard-{is_watched}", {"memory_bytes": 100 * MB}
    hoard = "import mmap\nheld = globals().get('held', []) + [mmap.mmap(-1, 40 << 20, flags=34)]\n"
    # 34: private and anonymous
    hoard += "for at in range(0, len(held[-1]), 4096):\n    held[-1][at] = 1\nlen(held)"
    results = [await rig.run(hoard, session=name, limits=limits) for _ in range(3)]
    assert [each.output for each in results[:2]] == [1, 2]
    assert results[2].verdict in (Verdict.OUT_OF_MEMORY, Verdict.RAISED)
    if name in [each.name for each in await rig.paddock.sessions()]:
        await rig.paddock.delete_session(name)


async def test_a_fork_does_not_escape_its_limits(rig: Rig) -> None:
    limits = {"memory_bytes": 100 * MB, "processes": 8}
    await rig.run("x = 1", session="source", limits=limits)
    if rig.profile != "namespaces":
        with pytest.raises(RequestError, match=f"profile '{rig.profile}'"):
            await rig.run("x", session="fork", fork_from="source", limits=limits)
        await rig.paddock.delete_session("source")
        return
    await rig.run("x", session="fork", fork_from="source", limits=limits)
    bomb = "import os, time\nmade = 0\ntry:\n    while made < 50:\n        if os.fork() == 0:\n"
    bomb += "            time.sleep(99)\n        made += 1\nexcept OSError:\n    pass\nmade"
    result = await rig.run(bomb, session="fork", limits=limits)
    assert result.verdict is Verdict.OK, result.error
    assert 1 <= result.output <= 7  # the processes of the whole family have one uid, and count too
    hog = "import mmap\nm = mmap.mmap(-1, 400 << 20)\nfor at in range(0, len(m), 4096):\n    m[at] = 1"
    pids = list(tree(guest_of(rig, "fork").pid))
    await rig.paddock.delete_session("fork")
    await until(lambda: not [pid for pid in pids if tree(pid)])
    await rig.run("x", session="other", fork_from="source", limits=limits)
    assert (await rig.run(hog, session="other", limits=limits)).verdict is Verdict.OUT_OF_MEMORY
    assert (await rig.run("x", session="source", limits=limits)).output == 1
    for each in await rig.paddock.sessions():
        await rig.paddock.delete_session(each.name)


FLOOD = (
    FORGE
    + """
import select, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
control = next(filter(is_socket, range(3, 1024)))
def send(data):
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(control, rest) :]
        except BlockingIOError:
            select.select([], [control], [])
send(FIRST)
flood = FRAME
flood *= (1 << 20) // len(flood)
while True:
    send(flood)
"""
)
UNSENT = """struct.pack("!BIII", 20, 1, 0, 2**32 - 1)"""
TOO_LARGE = """struct.pack("!BIII", 20, 1, 0, 2**32 - 2)"""
READ = """frame(19, 1, {"do": "read", "ref": "none"}, b"")"""


@pytest.mark.parametrize(
    ("first", "then"),
    [("b''", UNSENT), ("b''", READ), (TOO_LARGE, "bytes(1 << 20)")],
    ids=["late results that are not sent", "artifacts", "a late result that is too large"],
)
async def test_a_flood_of_frames_does_not_pile_up_in_the_host(rig: Rig, first: str, then: str) -> None:
    await rig.warm_up("cpython")
    traces.forget_peak()
    size = traces.peak_bytes()
    code = FLOOD.replace("FIRST", first).replace("FRAME", then)
    result = await rig.run(code, session="flood", limits={"wall_seconds": 1.5})
    await rig.paddock.delete_session("flood")
    assert traces.peak_bytes() - size < 40 * MB
    # The runtime's clock may send a frame in the middle of one of these.
    assert result.verdict in (Verdict.TIMEOUT, Verdict.CRASHED), result.error


UNREAD = (
    HARD_FRAMES[: HARD_FRAMES.index("def rows")]
    + """
import signal, time
signal.signal(signal.SIGINT, ON_INTERRUPT)
read = frame(19, 1, {"do": "read", "ref": "large.bin"})
put(read * 2 + frame(20, tag, {"status": "ok"}, b"1"))
while True:
    time.sleep(60)
"""
)


@pytest.mark.parametrize(
    ("on_interrupt", "kept", "reason"),
    [
        ("signal.SIG_IGN", False, "the session ended: its run left answers unread"),
        ("signal.default_int_handler", True, None),  # the runtime takes them
    ],
)
async def test_no_answers_wait_in_the_host_for_an_idle_session(
    rig: Rig, on_interrupt: str, kept: bool, reason: str | None
) -> None:
    await rig.run("await create_artifact('large.bin', bytes(4 << 20))", session="unread")
    code = UNREAD.replace("ON_INTERRUPT", on_interrupt)
    result = await rig.run(code, session="unread", limits={"wall_seconds": 1})
    assert result.session is not None
    assert (result.verdict, result.session.kept, result.session.reason) == (Verdict.TIMEOUT, kept, reason)
    assert not kept or guest_of(rig, "unread")._unsent_bytes < MB
    await rig.paddock.delete_session("unread")


async def test_a_session_that_left_answers_unread_ends_even_if_its_caller_leaves_first(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_waiting = asyncio.Event()
    interrupt = JailedExecution.interrupt

    async def wait(self: JailedExecution) -> None:
        await interrupt(self)
        is_waiting.set()
        await asyncio.Event().wait()

    await rig.run("await create_artifact('large.bin', bytes(4 << 20))", session="unread")
    monkeypatch.setattr(JailedExecution, "interrupt", wait)
    code = UNREAD.replace("ON_INTERRUPT", "signal.SIG_IGN")
    run = asyncio.create_task(rig.run(code, session="unread", limits={"wall_seconds": 1}))
    await is_waiting.wait()
    run.cancel()
    await asyncio.wait([run])
    result = await rig.run("1", session="unread")
    assert result.error is not None
    assert "its run left answers unread" in result.error.message


HOSTILE_FORK = """
import os, struct, sys
ready = struct.pack("!BIII", 16, 0, 0, 0)
def fork(descriptors, folder):
    control, out, error = descriptors
    BODY
    for each in descriptors:
        os.close(each)
sys.modules["paddock.guest.python.fork"].fork = fork
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("os.write(control, ready)", "its process did not fork"),
        ("os.write(error, b'\\x1b[31m' * 2000)", "[31m[31m"),
    ],
    ids=["it answers itself", "it writes control sequences"],
)
async def test_a_session_that_does_not_fork_is_refused_a_fork(rig: Rig, body: str, words: str) -> None:
    if rig.profile != "namespaces":
        pytest.skip("forks are refused in this profile")
    await rig.run(HOSTILE_FORK.replace("BODY", body), session="source")
    with pytest.raises(RequestError) as refused:
        await rig.run("1", session="fork", fork_from="source")
    assert words in str(refused.value)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500
    assert "fork" not in [each.name for each in await rig.paddock.sessions()]
    await rig.paddock.delete_session("source")


async def test_a_fork_that_ends_at_once_is_refused_or_its_run_has_crashed(rig: Rig) -> None:
    if rig.profile != "namespaces":
        pytest.skip("forks are refused in this profile")
    body = "os.fork() or (os.write(control, ready), os._exit(0))\n    os.wait()"
    await rig.run(HOSTILE_FORK.replace("BODY", body), session="source")
    for _ in range(10):  # whether it has ended when the host looks is chance
        with suppress(RequestError):
            result = await rig.run("1", session="fork", fork_from="source")
            assert result.verdict is Verdict.CRASHED
            await rig.paddock.delete_session("fork")
    assert (await rig.run("1", session="source")).output == 1
    await rig.paddock.delete_session("source")


# The new process takes more, when the host has moved it, than any run may have; and says so if it can.
EARLY = """
    import mmap, signal
    if os.fork() == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        os.write(control, ready)
        signal.sigwait({signal.SIGUSR1})
        try:
            TAKE
            os.write(error, b"has taken it")
        except OSError:
            os.write(error, b"could not")
        os._exit(0)
"""


@pytest.mark.parametrize(
    "take",
    ["mmap.mmap(-1, 64 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)", "os.fork()"],
    ids=["memory", "a process"],
)
async def test_a_fork_takes_nothing_before_its_first_run_has_set_limits(
    rig: Rig, take: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rig.profile != "namespaces":
        pytest.skip("forks are refused in this profile")
    await rig.run(HOSTILE_FORK.replace("BODY", EARLY.replace("TAKE", take)), session="source")
    said = b""
    move_all = Family._move

    async def move(self: Family, forked: Fork, mover: Mover | None) -> None:
        nonlocal said
        await move_all(self, forked, mover)
        if mover is None:
            pytest.skip("without a control group, a family shares the limits of the first")
        os.kill(forked.pid, signal.SIGUSR1)
        await until(forked.has_ended)
        said = forked.read("stderr")

    monkeypatch.setattr(Family, "_move", move)
    result = await rig.run("1", session="fork", fork_from="source")
    assert result.verdict is not Verdict.OK
    assert said in (b"", b"could not")
    for name in ("fork", "source"):
        await rig.paddock.delete_session(name)


STRANGER_PIDS = Path("/proc/sys/kernel/ns_last_pid")


def stranger_at(pid: int) -> subprocess.Popen[bytes]:
    """Start a process of the machine with this pid, which is free or about to be."""
    for _ in range(5000):
        STRANGER_PIDS.write_text(str(pid - 1))
        process = subprocess.Popen(["/bin/sleep", "600"])
        if process.pid == pid:
            return process
        process.kill()
        process.wait()
    raise AssertionError(f"no process could be started with the pid {pid}")


# A second process keeps the socket open, so that the host does not see that the first has ended.
KEPT_SOCKET = """
    import signal
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if os.fork() == 0:
        if os.fork():
            os.write(control, ready)
        signal.pause()
"""


@pytest.mark.parametrize("moment", ["hold", "_is_in_jail", "move"])
async def test_no_stranger_that_gets_the_pid_of_a_fork_is_moved_or_killed(
    rig: Rig, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rig.profile != "namespaces":
        pytest.skip("forks are refused in this profile")
    await rig.run(HOSTILE_FORK.replace("BODY", KEPT_SOCKET), session="source")
    forks: list[Fork] = []
    strangers: list[subprocess.Popen[bytes]] = []

    def replace_process() -> None:
        os.kill(forks[-1].pid, signal.SIGKILL)
        strangers.append(stranger_at(forks[-1].pid))

    def at(owner: type, name: str) -> None:
        """Let the new process end, and a stranger get its pid, just before the host calls this method."""
        original = getattr(owner, name)

        def replaced(self: object, *arguments: object) -> object:
            if isinstance(self, Fork):
                forks.append(self)
            if name == moment:
                replace_process()
            return original(self, *arguments)

        monkeypatch.setattr(owner, name, replaced)

    at(Fork, "hold")
    at(Fork, "_is_in_jail")
    at(Mover, "move")
    with pytest.raises(RequestError, match="cannot be forked"):
        await rig.run("1", session="fork", fork_from="source")
    (stranger,) = strangers
    groups = Path(f"/proc/{stranger.pid}/cgroup").read_text()
    try:
        assert groups == Path("/proc/self/cgroup").read_text()
        await rig.paddock.delete_session("source")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
