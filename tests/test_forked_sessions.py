"""Forks of sessions of full Python: independent copies of the live state, in one jail."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock.config import JailConfig
from paddock.errors import NotFound, RequestError
from paddock.jail import fork
from paddock.jail.fork import Fork
from paddock.jail.guest import CHECK_SECONDS, SHARED_CHECK_SECONDS
from paddock.jail.jail import Jail
from paddock.jail.walls.freezer import is_stopped
from paddock.jail.walls.watcher import tree
from paddock.model.request import RunContext
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.bare import BARE
from tests.test_sessions import config, pid_of, until, value

pytestmark = pytest.mark.asyncio(loop_scope="module")
MB = 1024 * 1024


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    def echo(value: Any) -> Any:
        return value

    async with Paddock(replace(config(principal_count=64)), tools=[echo]) as made:
        yield made


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(abs(hash(request.node.name)))


async def test_a_fork_starts_with_the_variables_and_changes_only_its_own(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = [1]\ndef f():\n    return x")
    assert await value(paddock, f"{name}.b", "x.append(2)\nf()", fork_from=name) == [1, 2]
    assert await value(paddock, name, "f()") == [1]
    assert await value(paddock, f"{name}.b", "f()") == [1, 2]


async def test_a_fork_has_a_copy_of_the_working_directory(paddock: Paddock, name: str) -> None:
    code = "import os\nos.mkdir('d')\nopen('d/a.txt', 'w').write('one')\nos.symlink('d/a.txt', 'link')"
    await value(paddock, name, code)
    seen = "[sorted(os.listdir()), open('link').read()]"
    assert await value(paddock, f"{name}.b", seen, fork_from=name) == [["d", "link"], "one"]
    await value(paddock, f"{name}.b", "open('d/a.txt', 'w').write('two')")
    assert await value(paddock, name, "open('d/a.txt').read()") == "one"
    assert await value(paddock, f"{name}.c", "open('d/a.txt').read()", fork_from=f"{name}.b") == "two"


async def test_open_files_share_their_position(paddock: Paddock, name: str) -> None:
    await value(
        paddock, name, "import os\nfd = os.open('/tmp/shared', os.O_RDWR | os.O_CREAT)\nos.pwrite(fd, b'ab', 0)"
    )
    assert await value(paddock, f"{name}.b", "os.read(fd, 1).decode()", fork_from=name) == "a"
    assert await value(paddock, name, "os.read(fd, 1).decode()") == "b"


async def test_the_event_loop_is_closed_and_other_folders_in_tmp_are_shared(paddock: Paddock, name: str) -> None:
    code = "import asyncio, os\nloop = asyncio.get_running_loop()\nawait asyncio.sleep(0)\nos.mkdir('/tmp/both')"
    await value(paddock, name, code)
    seen = "await asyncio.sleep(0)\n[loop.is_closed(), asyncio.get_running_loop() is loop]"
    assert await value(paddock, f"{name}.b", seen, fork_from=name) == [True, False]
    assert await value(paddock, name, seen) == [True, False]
    await value(paddock, f"{name}.b", "open('/tmp/both/a', 'w').write('from b')")
    assert await value(paddock, name, "open('/tmp/both/a').read()") == "from b"


async def test_neither_end_ends_the_other(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    for other in ("b", "c", "d"):
        await value(paddock, f"{name}.{other}", "x", fork_from=name)
    assert (await paddock.run("import os\nos._exit(1)", session=f"{name}.b")).verdict is Verdict.CRASHED
    await paddock.delete_session(name)
    await paddock.delete_session(f"{name}.c")
    assert await value(paddock, f"{name}.d", "x") == 1


async def test_the_jail_ends_with_the_last_of_a_family(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    await value(paddock, f"{name}.b", "x", fork_from=name)
    pids = [pid_of(paddock, each) for each in (name, f"{name}.b")]
    await paddock.delete_session(name)
    await until(lambda: not tree(pids[0]))
    assert tree(pids[1])
    await paddock.delete_session(f"{name}.b")
    await until(lambda: not tree(pids[1]))
    pool: Any = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
    await until(lambda: not [guest for guest in pool._client_of if guest.pid in pids])


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_source_that_is_deleted_while_it_is_forked_ends_once(
    paddock: Paddock, name: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await value(paddock, name, "x = 1")
    pool: Any = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
    source: Any = paddock._sessions._sessions["local", name].interpreter
    room, guest = pool._room._value, source._guest
    take_limit, wait_until_ready = Jail.take_limit, Fork.wait_until_ready

    async def delete_before(self: Jail) -> Any:
        await paddock.delete_session(name)
        await until(guest._ended.done)
        return await take_limit(self)

    async def delete_after(self: Fork) -> None:
        await wait_until_ready(self)
        await paddock.delete_session(name)

    if moment == "before":
        monkeypatch.setattr(Jail, "take_limit", delete_before)
    else:
        monkeypatch.setattr(Fork, "wait_until_ready", delete_after)
    with pytest.raises(RequestError, match="cannot be forked: it has ended"):
        await paddock.run("x", session=f"{name}.b", fork_from=name)
    await until(lambda: guest not in pool._client_of)
    assert pool._room._value == room
    assert len(pool._uids) == len(set(pool._uids))
    assert await value(paddock, f"{name}.c", "1") == 1


IS_OLD = tuple(map(int, os.uname().release.split(".")[:2])) < (6, 16)


@pytest.mark.skipif(IS_OLD, reason="before Linux 6.16 a socket cannot refuse descriptors")
async def test_a_session_that_is_forked_cannot_send_descriptors_over_the_new_socket(
    paddock: Paddock, name: str
) -> None:
    """Freeing a heavy one takes the event loop seconds. The session has replaced the fork of its own runtime."""
    cell = """
import os, socket, sys
frame, said = sys._getframe(), []
while frame.f_code.co_name != 'serve': frame = frame.f_back
runtime = frame.f_globals['fork']
real = runtime.fork
def sends(descriptors, folder):
    with socket.socket(fileno=os.dup(descriptors[0])) as end:
        try: said.append(socket.send_fds(end, [b'x'], [0]))
        except PermissionError: said.append('refused')
    return real(descriptors, folder)
runtime.fork = sends
"""
    await value(paddock, name, cell)
    assert await value(paddock, f"{name}.b", "1", fork_from=name) == 1
    assert await value(paddock, name, "said") == ["refused"]


async def test_a_session_that_does_not_answer_goes_on_only_within_the_limit_of_the_run_that_copies_it(
    paddock: Paddock, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session has replaced the fork of its own runtime by an endless loop."""
    cell = """
import os, sys
frame = sys._getframe()
while frame.f_code.co_name != 'serve': frame = frame.f_back
def spin(descriptors, folder):
    while True: pass
frame.f_globals['fork'].fork = spin
os.getpid()
"""
    await value(paddock, name, cell)
    sessions: Any = paddock._sessions._sessions
    guest = sessions["local", name].interpreter._guest
    monkeypatch.setattr(fork, "ANSWER_SECONDS", 60.0)
    async with asyncio.timeout(30):
        with pytest.raises(RequestError, match="its process does not answer"):
            await paddock.run("1", session=f"{name}.b", fork_from=name, limits={"wall_seconds": 0.1})
    await until(lambda: is_stopped([guest.pid]))


async def test_a_session_is_stopped_while_its_copy_waits_for_a_control_group(
    paddock: Paddock, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await value(paddock, name, "x = 1")
    sessions: Any = paddock._sessions._sessions
    guest = sessions["local", name].interpreter._guest
    take_limit = Jail.take_limit
    was_stopped = []

    async def look(self: Jail) -> Any:
        was_stopped.append(is_stopped([guest.pid]))
        return await take_limit(self)

    monkeypatch.setattr(Jail, "take_limit", look)
    await until(lambda: is_stopped([guest.pid]))
    assert await value(paddock, f"{name}.b", "x", fork_from=name) == 1
    assert was_stopped == [True]


async def test_sessions_that_would_be_copies_of_each_other_do_not_wait_forever(paddock: Paddock, name: str) -> None:
    other = f"{name}.b"
    await value(paddock, name, "import asyncio")
    sessions = paddock._sessions._sessions
    first = asyncio.create_task(paddock.run("await asyncio.sleep(60)", session=name))
    await until(lambda: sessions["local", name].waiting == 1)
    one = asyncio.create_task(paddock.run("1", session=name, fork_from=other))  # when the first run has ended
    await until(lambda: sessions["local", name].waiting == 2)
    two = asyncio.create_task(paddock.run("1", session=other, fork_from=name))
    await until(lambda: sessions["local", name].waiting == 3)
    await paddock.delete_session(name)
    await first
    async with asyncio.timeout(20):
        with pytest.raises(RequestError, match="itself waits to be a copy"):
            await one
        with pytest.raises(RequestError, match="nothing was copied"):
            await two


async def test_forks_run_at_the_same_time_with_their_own_calls_and_output(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "import asyncio")
    names = [f"{name}.{number}" for number in range(3)]
    for each in names:
        await value(paddock, each, "1", fork_from=name)
    code = "print(me)\nawait asyncio.sleep(0.05)\nawait echo({'value': me})"
    results = await asyncio.gather(*(paddock.run(code, session=each, inputs={"me": each}) for each in names))
    assert [(each.stdout, each.output) for each in results] == [(f"{each}\n", {"result": each}) for each in names]


async def test_random_numbers_of_forks_differ(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "import random\nrandom.seed(1)")
    drawn = [await value(paddock, f"{name}.{n}", "random.random()", fork_from=name) for n in range(2)]
    assert drawn[0] != drawn[1]


async def test_a_timeout_of_a_fork_keeps_it_and_its_source(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    await value(paddock, f"{name}.b", "x", fork_from=name)
    result = await paddock.run("while True:\n    pass", session=f"{name}.b", limits={"wall_seconds": 0.5})
    assert (result.verdict, result.session and result.session.kept) == (Verdict.TIMEOUT, True)
    assert [await value(paddock, each, "x") for each in (name, f"{name}.b")] == [1, 1]


async def test_each_fork_has_its_own_memory_limit(paddock: Paddock, name: str) -> None:
    limits = {"memory_bytes": 100 * MB}
    await value(paddock, name, f"x = bytearray({60 * MB})", limits=limits)
    await value(paddock, f"{name}.b", "1", fork_from=name, limits=limits)
    # Shared memory and a child escape RLIMIT_DATA, so this is the control group's, or the watcher's, doing.
    hog = f"import mmap\nm = mmap.mmap(-1, {400 * MB})\nfor at in range(0, len(m), 4096):\n    m[at] = 1"
    result = await paddock.run(hog, session=f"{name}.b", limits=limits)
    assert result.verdict is Verdict.OUT_OF_MEMORY
    assert await value(paddock, name, "len(x)") == 60 * MB


async def test_each_fork_has_its_own_number_of_processes(paddock: Paddock, name: str) -> None:
    limits = {"processes": 16}
    start = "import os, signal\nfor _ in range(10):\n    if os.fork() == 0:\n        signal.pause()\n"
    for options in ({}, {"fork_from": name}):
        await value(paddock, f"{name}.b" if options else name, f"{start}1", limits=limits, **options)
    result = await paddock.run(start, session=name, limits=limits)
    assert result.error is not None
    assert result.error.type == "BlockingIOError"


async def test_a_session_without_free_processes_says_why_it_is_not_forked(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "1", limits={"processes": 1})
    with pytest.raises(RequestError, match="two more processes than"):
        await paddock.run("1", session=f"{name}.b", fork_from=name)


async def test_memory_that_ended_forks_have_left_counts_for_those_that_use_it(paddock: Paddock, name: str) -> None:
    limits = {"memory_bytes": 100 * MB}
    await value(paddock, f"{name}.0", "import mmap\nx = []", limits=limits)
    take = f"x.append(mmap.mmap(-1, {60 * MB}))\nfor at in range(0, len(x[-1]), 4096):\n    x[-1][at] = 1"  # shared

    async def snapshot(number: int) -> None:
        """Fork the newest session, let the fork take 60 MB more, and delete its source."""
        before, new = f"{name}.{number - 1}", f"{name}.{number}"
        await value(paddock, new, take, fork_from=before, limits=limits)
        await paddock.delete_session(before)

    for number in (1, 2):
        await snapshot(number)
    await snapshot(3)
    with pytest.raises(
        RequestError, match=r"have ended and left [\d.]+ MB that others still use, more than memory_bytes"
    ):
        await snapshot(4)
    (last,) = [each for each in await paddock.sessions() if each.name.startswith(f"{name}.")]
    assert last.memory_bytes > 100 * MB
    assert await value(paddock, last.name, "sum(map(len, x))") >= 120 * MB


async def test_an_idle_session_ends_if_ended_forks_have_left_it_more_than_all_may_hold() -> None:
    async with Paddock(config(memory_bytes=150 * MB)) as paddock:
        await value(paddock, "a", "import os, time\nshared = os.memfd_create('shared')")
        if not paddock._engines.get("cpython")._jail._pool._limits.counts_unmapped:  # type: ignore[attr-defined]
            pytest.skip("there is no control group, which would count memory that no process has mapped")
        runs = []
        for number in range(4):
            written = asyncio.Event()
            code = f"os.pwrite(shared, bytes({60 * MB}), {number * 60 * MB})\nprint('written')\ntime.sleep(60)"
            following = paddock.follow(code, lambda _, seen=written: seen.set(), session=f"b{number}", fork_from="a")  # type: ignore[misc]
            runs.append(asyncio.create_task(following))
            await written.wait()
        for number in range(4):
            await paddock.delete_session(f"b{number}")
        assert {each.verdict for each in await asyncio.gather(*runs)} == {Verdict.CANCELLED}
        async with asyncio.timeout(30):
            while await paddock.sessions():
                await asyncio.sleep(0.01)
        refused = await paddock.run("1", session="a")
    assert refused.error is not None
    assert "ended to free memory" in refused.error.message


async def test_little_that_each_of_many_ended_forks_has_left_counts_too(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "import os\nshared = os.memfd_create('shared')")
    source: Any = paddock._sessions._sessions["local", name].interpreter
    before = source.memory_bytes()
    for number in range(10):
        code = f"os.pwrite(shared, bytes(2 << 20), {number * 2 * MB})"
        await value(paddock, f"{name}.{number}", code, fork_from=name)
        await paddock.delete_session(f"{name}.{number}")
    await until(lambda: not [each for each in source._family._left.values() if not each.done()])
    assert source.memory_bytes() - before >= 20 * MB


async def test_forks_that_shared_nothing_leave_nothing(paddock: Paddock, name: str) -> None:
    limits = {"memory_bytes": 100 * MB}
    await value(paddock, name, "x = 1", limits=limits)
    for number in range(5):
        await value(paddock, f"{name}.{number}", f"y = bytearray(b'1') * {60 * MB}", fork_from=name, limits=limits)
        await paddock.delete_session(f"{name}.{number}")
    assert await value(paddock, f"{name}.b", "x", fork_from=name, limits=limits) == 1


async def test_a_session_with_threads_is_not_forked(paddock: Paddock, name: str) -> None:
    await value(
        paddock, name, "import threading, time\nthreading.Thread(target=time.sleep, args=[99], daemon=True).start()"
    )
    with pytest.raises(RequestError, match="has 1 more thread"):
        await paddock.run("1", session=f"{name}.b", fork_from=name)
    assert await value(paddock, name, "1") == 1
    assert f"{name}.b" not in [each.name for each in await paddock.sessions()]


async def test_files_that_do_not_fit_twice_are_a_reason_not_to_fork(paddock: Paddock, name: str) -> None:
    await value(paddock, name, f"open('large', 'wb').write(bytes({40 * MB}))")
    with pytest.raises(RequestError, match=r"files cannot be copied: .*No space left"):
        await paddock.run("1", session=f"{name}.b", fork_from=name)
    left = "import os\n[name for name in os.listdir() if not os.path.isdir(name)]"
    assert await value(paddock, name, left) == ["large"]


async def test_files_for_which_the_memory_limit_has_no_room_are_a_reason_not_to_fork(
    paddock: Paddock, name: str
) -> None:
    limits = {"memory_bytes": 64 * MB}
    code = f"x = bytearray({20 * MB})\nopen('large', 'wb').write(bytes({25 * MB}))"
    await value(paddock, name, code, limits=limits)
    with pytest.raises(RequestError, match=r"files cannot be copied: .*no room for a copy"):
        await paddock.run("1", session=f"{name}.b", fork_from=name, limits=limits)
    assert await value(paddock, name, "len(x)", limits=limits) == 20 * MB


async def test_a_session_that_ran_out_of_memory_while_it_was_forked_runs_nothing_more(
    paddock: Paddock, name: str
) -> None:
    """The kernel ends its largest process, which is a child here."""
    limits = {"memory_bytes": 64 * MB}
    code = f"""
import os, signal
ready, done = os.pipe()
if os.fork() == 0:
    x = b"x" * {30 * MB}
    os.write(done, b"1")
    signal.pause()
os.read(ready, 1)
open('large', 'wb').write(bytes({20 * MB}))
"""
    await value(paddock, name, code, limits=limits)
    await paddock.run("1", session=f"{name}.b", fork_from=name, limits=limits)
    result = await paddock.run("1", session=name, limits=limits)
    assert (result.verdict, result.session and result.session.reason) == (
        Verdict.REJECTED,
        "the session ended: it exceeded its limit of memory",
    )


async def test_a_fork_does_not_end_its_own_source_to_make_room() -> None:
    async with Paddock(config(principal_count=2)) as paddock:
        await value(paddock, "source", "x = 1")
        await value(paddock, "other", "y = 2")
        assert await value(paddock, "fork", "x", fork_from="source") == 1
        assert {each.name for each in await paddock.sessions()} == {"source", "fork"}


async def test_a_fork_needs_a_source_and_a_new_name(paddock: Paddock, name: str) -> None:
    with pytest.raises(NotFound):
        await paddock.run("1", session=name, fork_from="nothing")
    await value(paddock, name, "1")
    await value(paddock, f"{name}.b", "1")
    with pytest.raises(RequestError, match="exists already"):
        await paddock.run("1", session=f"{name}.b", fork_from=name)


async def test_a_refused_fork_of_a_session_that_has_ended_leaves_the_news_to_its_next_run(
    paddock: Paddock, name: str
) -> None:
    await value(paddock, name, "x = 1")
    assert (await paddock.run("import os\nos._exit(1)", session=name)).verdict is Verdict.CRASHED
    for _ in range(2):
        with pytest.raises(RequestError, match="its process died; nothing was copied"):
            await paddock.run("x", session=f"{name}.b", fork_from=name)
    refused = await paddock.run("x", session=name)
    assert refused.error is not None
    assert (refused.verdict, refused.error.type) == (Verdict.REJECTED, "SessionEnded")


async def test_the_session_of_another_principal_cannot_be_forked(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "secret = 1")
    context = RunContext("r_fork", principal="eve")
    with pytest.raises(NotFound):
        await paddock.follow("secret", lambda event: None, context=context, session="mine", fork_from=name)


async def test_node_says_that_it_cannot_fork(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "1", language="javascript")
    with pytest.raises(RequestError, match="Node has threads"):
        await paddock.run("1", session=f"{name}.b", fork_from=name, language="javascript")


@pytest.mark.skipif(os.geteuid() != 0, reason="the profile chroot needs root")
async def test_in_a_profile_that_cannot_end_one_alone_a_fork_is_refused(visible_data: Path) -> None:
    settings = replace(BARE, jail=JailConfig(profile="chroot"), data_directory=str(visible_data))
    async with Paddock(settings) as paddock:
        await value(paddock, "a", "x = 1")
        with pytest.raises(RequestError, match="profile 'chroot'"):
            await paddock.run("x", session="b", fork_from="a")
        result = await paddock.run("while True:\n    pass", session="a", limits={"wall_seconds": 0.5})
        assert (result.verdict, result.session and result.session.kept) == (Verdict.TIMEOUT, True)
        assert await value(paddock, "a", "x") == 1


ORPHAN = """
import os, time
if os.fork() == 0:
    if os.fork() == 0:
        while True:
            pass
    os._exit(0)
os.wait()
"""


async def test_orphans_are_stopped_and_end_with_the_session_that_left_them(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    await value(paddock, f"{name}.b", "x", fork_from=name)
    guest: Any = paddock._sessions._sessions["local", name].interpreter
    reaper = guest._guest.reaper_pid
    before = set(tree(reaper))
    await value(paddock, name, ORPHAN)
    [orphan] = set(tree(reaper)) - before

    def state() -> str:
        return Path(f"/proc/{orphan}/stat").read_text().rpartition(")")[2].split()[0]

    await until(lambda: state() == "T")
    await paddock.delete_session(name)
    await until(lambda: orphan not in tree(reaper))
    assert await value(paddock, f"{name}.b", "x") == 1


async def next_check_seconds(paddock: Paddock, name: str) -> float:
    """When a stopped session is checked again, after a check that found nothing."""
    interpreter: Any = paddock._sessions._sessions["local", name].interpreter
    guest = interpreter._guest
    await until(lambda: guest._is_frozen and is_stopped((guest.pid, *guest._frozen)))
    guest._check_frozen(CHECK_SECONDS)
    return float(guest._freeze_timer.when()) - asyncio.get_running_loop().time()


async def test_a_session_that_its_fork_may_continue_is_checked_often(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    await value(paddock, f"{name}.b", "import os, time\nif os.fork() == 0:\n    time.sleep(1000)\nx", fork_from=name)
    assert await next_check_seconds(paddock, name) <= SHARED_CHECK_SECONDS
    assert await next_check_seconds(paddock, f"{name}.b") <= SHARED_CHECK_SECONDS
    await paddock.delete_session(f"{name}.b")


HOPS = """
import ctypes, mmap, os, struct
memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
memory[2048:2056] = struct.pack("<q", 3_000_000)  # how often they hop in all
code = b"\\x48\\xbb" + struct.pack("<Q", start + 2048)  # mov rbx, address of the count
code += bytes.fromhex("f048ff0b 781a")  # hop: lock dec qword [rbx]; js end
code += bytes.fromhex("b838000000 bf11010000 31f6 31d2 4d31d2 4d31c0 0f05")  # clone(CLONE_VM | SIGCHLD, 0, 0, 0, 0)
code += bytes.fromhex("85c0 7ee0")  # test eax, eax; jle hop: the child, or the parent if there was no child
code += bytes.fromhex("b83c000000 31ff 0f05")  # end: exit(0)
memory[:len(code)] = code
for _ in range(30):
    try:
        pid = os.fork()
    except BlockingIOError:  # they are as many as the limit allows
        break
    if pid == 0:
        try:
            if os.fork() == 0:
                ctypes.CFUNCTYPE(None)(start)()
        finally:
            os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the script has machine code for x86-64")
async def test_processes_that_fork_and_exit_all_the_time_end_with_their_session(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    await value(paddock, f"{name}.b", "x", fork_from=name)
    guest: Any = paddock._sessions._sessions["local", name].interpreter
    group = guest._guest.resource_limit
    if not group.processes():
        pytest.skip("there is no control group, and orphans go on until the last session of the family ends")
    await value(paddock, name, HOPS)
    assert len(group.processes()) > 1
    await paddock.delete_session(name)
    await until(lambda: not group.processes())
    assert await value(paddock, f"{name}.b", "x") == 1


async def test_a_fork_copies_nothing_of_a_runtime_that_is_mounted_below_the_working_directory(
    tmp_path: Path, name: str
) -> None:
    below = replace(config(), data_directory=str(tmp_path))  # below /tmp, where guests have their working directory
    async with Paddock(below) as paddock:
        await value(paddock, name, "open('own.txt', 'w').write('1')")
        assert await value(paddock, f"{name}.b", "import os\nsorted(os.listdir())", fork_from=name) == ["own.txt"]
