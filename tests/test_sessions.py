"""Sessions of full Python: what stays from run to run, what ends them, and what the next run is told."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock.config import Config, GuestsConfig, SessionsConfig
from paddock.engines import jailed
from paddock.errors import NotFound, Overloaded, RequestError
from paddock.jail.guest import CHECK_SECONDS
from paddock.jail.pool import Pool
from paddock.jail.walls.freezer import is_stopped
from paddock.jail.walls.watcher import tree
from paddock.model.artifacts import Artifact
from paddock.model.files import File
from paddock.model.request import RunContext
from paddock.model.result import RunResult, Verdict
from paddock.run import Paddock
from paddock.store.memory import MemoryArtifacts
from tests.bare import BARE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    def echo(value: Any) -> Any:
        return value

    async with Paddock(BARE, tools=[echo]) as made:
        yield made


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A session of the test's own."""
    return str(abs(hash(request.node.name)))


def config(**settings: Any) -> Config:
    return replace(BARE, sessions=SessionsConfig(**settings))


async def value(paddock: Paddock, name: str, code: str, **options: Any) -> Any:
    result = await paddock.run(code, session=name, **options)
    assert result.verdict is Verdict.OK, result.error
    return result.output


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


def pid_of(paddock: Paddock, name: str) -> int:
    interpreter: Any = paddock._sessions._sessions["local", name].interpreter
    return int(interpreter._guest.pid)


async def test_variables_imports_functions_and_files_stay(paddock: Paddock, name: str) -> None:
    code = "import math\ntotal = 2\ndef double(x):\n    return 2 * x\nopen('note.txt', 'w').write('kept')"
    await value(paddock, name, code)
    assert await value(paddock, name, "[double(total), math.pi > 3, open('note.txt').read()]") == [4, True, "kept"]


async def test_a_run_without_a_session_finds_nothing_of_one(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "secret = 1")
    result = await paddock.run("secret")
    assert (result.verdict, result.session) == (Verdict.RAISED, None)


async def test_the_result_names_the_session_and_counts_its_runs(paddock: Paddock, name: str) -> None:
    results = [await paddock.run(code, session=name) for code in ("1", "1 / 0", "1 +")]
    assert [each.to_dict()["session"] for each in results] == [
        {"name": name, "cell": cell, "kept": True, "reason": None} for cell in (1, 2, 3)
    ]


async def test_the_last_value_is_underscore(paddock: Paddock, name: str) -> None:
    assert [await value(paddock, name, code) for code in ("20 + 1", "x = 5", "_ * 2")] == [21, None, 42]


async def test_tracebacks_name_the_cell_of_each_line(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "def divide(x):\n    return 1 / x")
    result = await paddock.run("\ndivide(0)", session=name)
    assert result.error is not None
    assert result.error.line == 2
    assert result.error.traceback == (
        'Traceback (most recent call last):\n  File "cell 2", line 2, in <module>\n    divide(0)\n'
        '  File "cell 1", line 2, in divide\n    return 1 / x\nZeroDivisionError: division by zero'
    )


async def test_all_runs_await_on_one_event_loop_and_their_tasks_end_with_them(paddock: Paddock, name: str) -> None:
    code = "import asyncio\nloop = asyncio.get_running_loop()\ntask = asyncio.create_task(asyncio.sleep(100))"
    result = await paddock.run(f"{code}\nawait asyncio.sleep(0)", session=name)
    assert "was still running" in result.warnings[0]
    assert await value(
        paddock, name, "await asyncio.sleep(0)\n[asyncio.get_running_loop() is loop, task.cancelled()]"
    ) == [
        True,
        True,
    ]


async def test_a_missing_name_is_not_said_to_be_of_an_empty_run(paddock: Paddock) -> None:
    result = await paddock.run("missing", session="hints")
    assert result.error is not None
    assert result.error.hints[0].startswith("Define `missing` first: the session `hints` has no variable of this name.")


async def test_sessions_of_run_sync_are_listed_reset_and_deleted_too() -> None:
    async with Paddock() as paddock:
        await asyncio.to_thread(paddock.run_sync, "x = 1", engine="monty", session="sync")
        await paddock.run("x = 1", engine="monty", session="own")
        assert sorted(each.name for each in await paddock.sessions()) == ["own", "sync"]
        await paddock.reset_session("sync")
        lost = await asyncio.to_thread(paddock.run_sync, "x", engine="monty", session="sync")
        assert lost.verdict == "raised"
        await paddock.delete_session("sync")
        assert [each.name for each in await paddock.sessions()] == ["own"]
        with pytest.raises(NotFound, match="there is no session 'sync'"):
            await paddock.delete_session("sync")


async def test_a_coroutine_may_be_awaited_by_a_later_run(paddock: Paddock, name: str) -> None:
    result = await paddock.run("async def f():\n    return 7\nlater = f()", session=name)
    assert result.warnings == ()
    assert await value(paddock, name, "await later") == 7


async def test_a_closed_event_loop_is_replaced(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "import asyncio\nawait asyncio.sleep(0)\nloop = asyncio.get_running_loop()")
    await value(paddock, name, "loop.close()")
    assert await value(paddock, name, "await asyncio.sleep(0, 3)") == 3


async def test_inputs_files_and_tools_are_those_of_each_run(paddock: Paddock, name: str) -> None:
    first = await value(
        paddock, name, "[x, open(files[0]['path']).read()]", inputs={"x": 1}, files=[File("a.txt", content=b"one")]
    )
    second = await value(
        paddock, name, "[x, open(files[0]['path']).read()]", inputs={"x": 2}, files=[File("a.txt", content=b"two")]
    )
    third = await value(paddock, name, "[x, files, await echo({'value': 3})]")
    result = await paddock.run("echo", session=name, tools=[])
    assert (first, second, third) == ([1, "one"], [2, "two"], [2, [], {"result": 3}])
    assert (result.verdict, result.error and result.error.type) == (Verdict.RAISED, "NameError")


async def test_a_variable_with_the_name_of_a_tool_stays(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "echo = await echo({'value': 1})\njson = 5")
    assert await value(paddock, name, "[echo, json]") == [{"result": 1}, 5]


async def test_a_function_of_an_earlier_run_calls_a_tool(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "async def twice(x):\n    return [await echo({'value': x}), await echo({'value': x})]")
    result = await paddock.run("await twice(4)", session=name)
    assert (result.output, len(result.calls)) == ([{"result": 4}, {"result": 4}], 2)


async def test_warnings_are_those_of_the_run(paddock: Paddock, name: str) -> None:
    result = await paddock.run("echo({'value': 1})\n1", session=name)
    assert len(result.warnings) == 1
    assert (await paddock.run("2", session=name)).warnings == ()


@pytest.mark.parametrize(
    "code", ["while True:\n    pass", "import asyncio\nawait asyncio.sleep(100)", "import time\ntime.sleep(100)"]
)
async def test_a_timeout_interrupts_the_run_and_keeps_the_session(paddock: Paddock, name: str, code: str) -> None:
    await value(paddock, name, "x = 1")
    result = await paddock.run(code, session=name, limits={"wall_seconds": 0.5})
    assert (result.verdict, result.session and result.session.kept) == (Verdict.TIMEOUT, True)
    assert await value(paddock, name, "x") == 1


async def test_processor_time_counts_from_the_start_of_each_run(paddock: Paddock, name: str) -> None:
    spin = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end:\n    pass\n1"
    limits = {"cpu_seconds": 1}
    assert [await value(paddock, name, spin, limits=limits) for _ in range(3)] == [1, 1, 1]
    result = await paddock.run("while True:\n    pass", session=name, limits=limits)
    assert (result.verdict, result.session and result.session.kept) == (Verdict.TIMEOUT, True)


async def test_no_run_can_claim_the_processor_time_of_earlier_runs_as_its_own(paddock: Paddock, name: str) -> None:
    spin = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end:\n    pass\n1"
    limits = {"cpu_seconds": 1}
    assert [await value(paddock, name, spin, limits=limits) for _ in range(2)] == [1, 1]
    result = await paddock.run("import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)", session=name, limits=limits)
    assert (result.verdict, result.signal) == (Verdict.CRASHED, 24)


async def test_a_run_that_cannot_be_interrupted_ends_the_session(paddock: Paddock, name: str) -> None:
    code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass"
    result = await paddock.run(code, session=name, limits={"wall_seconds": 0.5})
    assert (result.verdict, result.session and result.session.kept) == (Verdict.TIMEOUT, False)


SPIN_WHEN_INTERRUPTED = """
import time
try:
    print('x' * 2000, flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass
"""


async def test_what_an_interrupted_run_computes_before_it_stops_counts_for_it(paddock: Paddock, name: str) -> None:
    code = SPIN_WHEN_INTERRUPTED.replace("SECONDS", "0.05")
    result = await paddock.run(code, session=name, limits={"output_bytes": 1000})
    assert (result.verdict, result.session and result.session.kept) == (Verdict.OUTPUT_LIMIT, True)
    assert (result.usage.cpu_seconds or 0) >= 0.05


async def test_an_interrupted_run_that_computes_too_much_ends_its_session(
    paddock: Paddock, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jailed, "INTERRUPT_SECONDS", 600)
    code = SPIN_WHEN_INTERRUPTED.replace("SECONDS", "100")
    async with asyncio.timeout(60):
        result = await paddock.run(code, session=name, limits={"output_bytes": 1000, "cpu_seconds": 0.5})
    assert (result.verdict, result.session and result.session.kept) == (Verdict.OUTPUT_LIMIT, False)
    assert (result.usage.cpu_seconds or 0) > 0.5


async def test_a_cancelled_run_is_interrupted_and_the_session_kept(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    printed = asyncio.Event()
    task = asyncio.create_task(
        paddock.follow("print(1)\nwhile True:\n    pass", lambda event: printed.set(), session=name)
    )
    await printed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await value(paddock, name, "x") == 1


WRITE = "x = 5\nopen('a.txt', 'w').write('a')\nprint('-' * 100, flush=True)\n"


@pytest.mark.parametrize("keep_files", [True, False])
@pytest.mark.parametrize(
    "rest",
    [
        "while True:\n    pass",
        "try:\n    while True:\n        pass\nexcept KeyboardInterrupt:\n    pass",
        "try:\n    while True:\n        pass\nfinally:\n    display('late')\n    display('later')",
    ],
)
async def test_files_of_an_interrupted_run_are_artifacts_of_the_next(
    paddock: Paddock, name: str, rest: str, *, keep_files: bool
) -> None:
    for limits in ({"wall_seconds": 0.5}, {"output_bytes": 50}):
        first = await paddock.run(WRITE + rest, session=name, limits=limits, keep_files=keep_files)
        assert first.verdict in (Verdict.TIMEOUT, Verdict.OUTPUT_LIMIT)
        assert (first.session and first.session.kept, first.artifacts) == (True, ())
        second = await paddock.run("x", session=name)
        assert (second.output, [each.filename for each in second.artifacts]) == (5, ["a.txt"])
        assert (await paddock.run("1", session=name)).artifacts == ()


async def test_a_cancelled_run_that_has_written_a_file_keeps_its_session(paddock: Paddock, name: str) -> None:
    printed = asyncio.Event()
    code = WRITE + "while True:\n    pass"
    task = asyncio.create_task(paddock.follow(code, lambda event: printed.set(), session=name))
    await printed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    result = await paddock.run("x", session=name)
    assert (result.output, [each.filename for each in result.artifacts]) == (5, ["a.txt"])


class StuckStore(MemoryArtifacts):
    """A store that never answers, until it is repaired."""

    is_stuck = True

    async def create(self, filename: str, mime_type: str, content: bytes) -> Artifact:
        if self.is_stuck:
            await asyncio.Event().wait()
        return await super().create(filename, mime_type, content)


@pytest.mark.parametrize(
    "code",
    [
        "open('a.txt', 'w').write('a')\nx = 1",
        "import asyncio\nx = 1\nawait asyncio.gather(*(create_artifact('a.txt', str(n)) for n in range(2)))",
        "import asyncio\nx = 1\nawait asyncio.gather(*(wait() for n in range(600)))",
    ],
)
async def test_a_run_that_is_interrupted_while_requests_of_it_are_unanswered_keeps_its_session(code: str) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    store = StuckStore()
    async with Paddock(BARE, tools=[wait], artifacts=store) as paddock:
        result = await paddock.run(code, session="s", limits={"wall_seconds": 1, "calls": 1000})
        assert (result.verdict, result.session and result.session.kept) == (Verdict.TIMEOUT, True)
        store.is_stuck = False
        assert await value(paddock, "s", "x") == 1


async def test_output_and_results_beyond_the_limit_keep_the_session(paddock: Paddock, name: str) -> None:
    limits = {"output_bytes": 1000}
    for code in ("'a' * 2000", "print('a' * 2000)", "while True:\n    print('a')"):
        result = await paddock.run(code, session=name, limits=limits)
        assert (result.verdict, result.session and result.session.kept) == (Verdict.OUTPUT_LIMIT, True)
    assert await value(paddock, name, "1") == 1


async def test_a_session_does_not_grow_above_its_memory_limit_from_run_to_run(paddock: Paddock, name: str) -> None:
    mb = 2**20
    await value(paddock, name, "held = []")
    for _ in range(20):
        result = await paddock.run(f"held.append(b'x' * {3 * mb})", session=name, limits={"memory_bytes": 20 * mb})
        assert (result.usage.memory_bytes or 0) < 30 * mb
        if result.verdict is not Verdict.OK:
            break
    assert result.verdict in (Verdict.RAISED, Verdict.OUT_OF_MEMORY)


async def test_a_session_ends_if_the_kernel_ends_one_of_its_processes_for_lack_of_memory(
    paddock: Paddock, name: str
) -> None:
    hog = "import mmap, os\nif os.fork() == 0:\n    m = mmap.mmap(-1, 400 << 20)\n"  # the limit of a process omits it
    hog += "    for at in range(0, len(m), 4096):\n        m[at] = 1\nos.wait()\nwhile True:\n    pass"
    result = await paddock.run(hog, session=name, limits={"memory_bytes": 100 << 20})
    assert (result.verdict, result.session and result.session.kept) == (Verdict.OUT_OF_MEMORY, False)
    assert (await paddock.run("1", session=name)).verdict is Verdict.REJECTED
    assert await value(paddock, name, "1") == 1


async def test_the_memory_limit_is_for_the_session_and_may_change(paddock: Paddock, name: str) -> None:
    mb = 1024 * 1024
    await value(paddock, name, f"a = bytearray({100 * mb})", limits={"memory_bytes": 200 * mb})
    result = await paddock.run(f"b = bytearray({150 * mb})", session=name, limits={"memory_bytes": 200 * mb})
    assert (result.verdict, result.session and result.session.kept) == (Verdict.OUT_OF_MEMORY, True)
    result = await paddock.run(f"b = bytearray({150 * mb})", session=name, limits={"memory_bytes": 400 * mb})
    assert (result.verdict, (result.usage.memory_bytes or 0) > 240 * mb) == (Verdict.OK, True)
    assert await value(paddock, name, "del a, b\n1", limits={"memory_bytes": 50 * mb}) == 1
    [info] = [each for each in await paddock.sessions() if each.name == name]
    assert info.memory_bytes < 50 * mb


@pytest.mark.parametrize(
    "code", ["import os\nos._exit(3)", "import os\nos.kill(os.getpid(), 9)", "raise SystemExit(2)"]
)
async def test_after_its_end_a_session_refuses_one_run_and_then_starts_empty(
    paddock: Paddock, name: str, code: str
) -> None:
    await value(paddock, name, "x = 1")
    ending = await paddock.run(code, session=name)
    assert ending.session is not None
    assert (ending.session.kept, ending.session.reason) == (False, "the session ended: its process died")
    refused = await paddock.run("x", session=name)
    assert refused.error is not None
    assert (refused.verdict, refused.error.type) == (Verdict.REJECTED, "SessionEnded")
    assert "its process died" in refused.error.message
    assert (await paddock.run("x", session=name)).error.type == "NameError"  # type: ignore[union-attr]
    assert await value(paddock, name, "1") == 1


FORKS = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(8):
    if os.fork() == 0:
        while True:
            if os.fork():
                os._exit(0)
"""
# A process that is stopped cannot run, but a signal from a timer could continue it, or end it and so continue another.
TIMERS = """
import ctypes, errno, signal, struct
libc, timer = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p()
def make(number):
    event = ctypes.create_string_buffer(struct.pack("qii", 0, number, 0), 64)
    return errno.errorcode[ctypes.get_errno()] if libc.timer_create(1, event, ctypes.byref(timer)) else "made"
[make(signal.SIGCONT), make(signal.SIGKILL)]
"""


async def test_no_timer_can_continue_an_idle_session(paddock: Paddock, name: str) -> None:
    assert await value(paddock, name, TIMERS) == ["ENOSYS", "ENOSYS"]


async def test_processes_that_evade_being_stopped_are_stopped_or_end_the_session(paddock: Paddock, name: str) -> None:
    assert (await paddock.run(FORKS, session=name)).verdict is Verdict.OK
    interpreter: Any = paddock._sessions._sessions["local", name].interpreter
    guest, used = interpreter._guest, list[float]()

    def is_still() -> bool:
        used.append(guest.usage()[0])
        return guest.has_ended() or (len(used) > 100 and len(set(used[-100:])) == 1)

    await until(is_still)
    result = await paddock.run("1", session=name)
    if result.verdict is not Verdict.OK:
        assert result.error is not None
        assert "its processes went on after its run" in result.error.message


async def test_processes_that_are_found_stopped_and_have_run_since_they_were_stopped_are_stopped_again(
    paddock: Paddock, name: str
) -> None:
    await value(paddock, name, "import os\nif os.fork() == 0:\n    while True:\n        pass")
    interpreter: Any = paddock._sessions._sessions["local", name].interpreter
    guest = interpreter._guest
    await until(lambda: guest._is_frozen and is_stopped((guest.pid, *guest._frozen)))
    freezes, used, [child] = guest._freezes, guest._used_cpu_seconds(), guest._frozen
    os.kill(child, signal.SIGCONT)
    while guest._used_cpu_seconds() == used:
        pass
    os.kill(child, signal.SIGSTOP)
    while not is_stopped([child]):
        pass
    guest._check_frozen(CHECK_SECONDS)
    assert guest._freezes == freezes + 1


async def test_a_session_that_dies_while_it_is_idle_says_so(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    pid = pid_of(paddock, name)
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not tree(pid))
    refused = await paddock.run("x", session=name)
    assert refused.error is not None
    assert refused.error.type == "SessionEnded"


async def test_runs_in_one_session_queue_in_their_order(paddock: Paddock, name: str) -> None:
    codes = [
        f"import asyncio\nseen = globals().get('seen', []) + [{n}]\nawait asyncio.sleep(0.01)\nseen" for n in range(6)
    ]
    results = await asyncio.gather(*(value(paddock, name, code) for code in codes))
    assert results == [list(range(n + 1)) for n in range(6)]


async def test_a_session_can_be_listed_reset_and_deleted(paddock: Paddock, name: str) -> None:
    await value(paddock, name, "x = 1")
    [info] = [each for each in await paddock.sessions() if each.name == name]
    assert (info.language, info.engine, info.cells, info.memory_bytes > 0) == ("python", "cpython", 1, True)
    await paddock.reset_session(name)
    assert (await paddock.run("x", session=name)).error.type == "NameError"  # type: ignore[union-attr]
    await paddock.delete_session(name)
    assert name not in [each.name for each in await paddock.sessions()]
    with pytest.raises(NotFound):
        await paddock.delete_session(name)


async def test_deleting_a_session_cancels_its_run(paddock: Paddock, name: str) -> None:
    printed = asyncio.Event()
    task = asyncio.create_task(
        paddock.follow("print(1)\nwhile True:\n    pass", lambda event: printed.set(), session=name)
    )
    await printed.wait()
    await paddock.delete_session(name)
    result = await task
    assert result.error is not None
    assert (result.verdict, result.error.message) == (Verdict.CANCELLED, "the session was deleted")
    assert await value(paddock, name, "1") == 1


async def test_an_idle_session_is_stopped_with_all_its_processes(paddock: Paddock, name: str) -> None:
    code = """
import subprocess, sys, threading
child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
"""
    await value(paddock, name, code)
    pids = list(tree(pid_of(paddock, name)))
    assert len(pids) == 2

    def states() -> set[str]:
        return {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids}

    await until(lambda: states() == {"T"})
    assert await value(paddock, name, "child.kill()\nchild.wait()") == -9


async def test_what_a_thread_of_an_earlier_run_sends_is_not_taken_for_the_next(paddock: Paddock, name: str) -> None:
    code = """
import asyncio, threading
def work():
    while True:
        try:
            asyncio.run(echo({'value': 'late'}))
        except Exception:
            pass
threading.Thread(target=work, daemon=True).start()
await asyncio.sleep(0.05)
"""
    await paddock.run(code, session=name)
    for number in range(20):
        assert (await paddock.run(f"{number}", session=name, limits={"calls": 10_000})).output == number


async def test_two_principals_have_different_sessions_of_the_same_name(paddock: Paddock, name: str) -> None:
    async def run(principal: str, code: str) -> RunResult:
        context = RunContext(f"r_{principal}_{code}", principal=principal)
        return await paddock.follow(code, lambda event: None, context=context, session=name)

    assert (await run("ann", "x = 1")).verdict is Verdict.OK
    assert (await run("bob", "x")).verdict is Verdict.RAISED
    assert (await run("ann", "x")).output == 1
    assert [each.name for each in await paddock.sessions(principal="bob")] == [name]
    assert name not in [each.name for each in await paddock.sessions()]
    with pytest.raises(NotFound):
        await paddock.delete_session(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"session": "a b"}, "session must be a name"),
        ({"session": ""}, "session must be a name"),
        ({"session": 1}, "session must be a name"),
        ({"fork_from": "a"}, "set session too"),
        ({"session": "a", "fork_from": "a"}, "a copy of itself"),
        ({"session": "a", "mode": "script"}, "mode='script' does not work"),
        ({"session": "a", "type_check": True}, "type_check does not work"),
        ({"session": "a", "language": "javascript", "engine": "quickjs"}, "'quickjs' has no sessions"),
    ],
)
async def test_a_request_that_a_session_cannot_run_is_refused(
    paddock: Paddock, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        await paddock.run("1", **options)


async def test_a_session_that_is_idle_for_too_long_ends() -> None:
    async with Paddock(config(idle_seconds=0.2)) as paddock:
        await value(paddock, "a", "x = 1")
        await until(lambda: paddock._sessions._sessions["local", "a"].interpreter is None)
        refused = await paddock.run("x", session="a")
    assert refused.error is not None
    assert (refused.error.type, "it was idle for 0.2 seconds" in refused.error.message) == ("SessionEnded", True)


async def test_beyond_the_number_of_sessions_the_one_idle_for_longest_ends() -> None:
    async with Paddock(config(principal_count=2)) as paddock:
        for name in ("a", "b", "a", "c"):
            await value(paddock, name, "1")
        assert [each.name for each in await paddock.sessions()] == ["a", "c"]
        refused = await paddock.run("1", session="b")
        assert refused.error is not None
        assert "there may be 2 sessions (sessions.principal_count)" in refused.error.message


async def test_sessions_that_start_at_the_same_time_count_too() -> None:
    async with Paddock(config(principal_count=2)) as paddock:
        runs = (paddock.run("1", session=f"s{number}") for number in range(8))
        results = await asyncio.gather(*runs, return_exceptions=True)
        assert len(await paddock.sessions()) == 2
        assert {type(each) for each in results} == {RunResult, Overloaded}


async def test_the_principal_with_most_sessions_makes_room_for_others() -> None:
    async with Paddock(config(max_count=3)) as paddock:
        for number, (principal, name) in enumerate([("bob", "b"), ("ann", "a1"), ("ann", "a2"), ("eve", "e")]):
            context = RunContext(f"r_{number}", principal=principal)
            await paddock.follow("1", lambda event: None, context=context, session=name)
        names = {who: [each.name for each in await paddock.sessions(principal=who)] for who in ("ann", "bob", "eve")}
    assert names == {"ann": ["a2"], "bob": ["b"], "eve": ["e"]}


async def test_sessions_in_use_make_no_room() -> None:
    async with Paddock(config(principal_count=1)) as paddock:
        printed = asyncio.Event()
        task = asyncio.create_task(
            paddock.follow("print(1)\nwhile True:\n    pass", lambda event: printed.set(), session="a")
        )
        await printed.wait()
        with pytest.raises(Overloaded, match="are in use"):
            await paddock.run("1", session="b")
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_beyond_the_memory_of_idle_sessions_the_oldest_end() -> None:
    mb = 1024 * 1024
    async with Paddock(config(memory_bytes=100 * mb)) as paddock:
        for name in ("a", "b", "c"):
            await value(paddock, name, f"data = bytearray({40 * mb})")
        assert [each.name for each in await paddock.sessions()] == ["b", "c"]
        refused = await paddock.run("data", session="a")
        assert refused.error is not None
        assert "ended to free memory" in refused.error.message


async def test_the_principal_whose_idle_sessions_hold_most_memory_loses_its_own() -> None:
    mb, ends = 1024 * 1024, []
    async with Paddock(config(memory_bytes=150 * mb)) as paddock:
        for number, (principal, name) in enumerate([("bob", "b"), ("ann", "a1"), ("ann", "a2"), ("ann", "a3")]):
            context = RunContext(f"r_{number}", principal=principal)
            code = f"x = bytearray({(5 if principal == 'bob' else 60) * mb})"
            ends.append((await paddock.follow(code, lambda event: None, context=context, session=name)).verdict)
        names = {who: [each.name for each in await paddock.sessions(principal=who)] for who in ("ann", "bob")}
    assert (set(ends), names["bob"], names["ann"][-1]) == ({Verdict.OK}, ["b"], "a3")
    assert "a1" not in names["ann"]


async def test_idle_sessions_leave_room_for_runs() -> None:
    cpython = GuestsConfig(environment="bare", min_waiting=0, max_waiting=1, max_guests=1)
    async with Paddock(replace(BARE, cpython=cpython)) as paddock:
        for number in range(4):
            await value(paddock, f"s{number}", f"x = {number}")
        assert (await paddock.run("1")).output == 1
        assert [await value(paddock, f"s{number}", "x") for number in range(4)] == [0, 1, 2, 3]


async def test_deleting_a_session_cancels_a_run_that_waits_for_its_turn() -> None:
    cpython = GuestsConfig(environment="bare", min_waiting=0, max_waiting=1, max_guests=1)
    async with Paddock(replace(BARE, cpython=cpython)) as paddock:
        await value(paddock, "s", "x = 1")
        printed = asyncio.Event()
        code = "import time\nprint(1)\ntime.sleep(60)"
        busy = asyncio.create_task(paddock.follow(code, lambda event: printed.set()))
        await printed.wait()
        waits = asyncio.create_task(paddock.run("x", session="s"))
        await until(lambda: paddock._sessions._sessions["local", "s"].waiting)
        await paddock.delete_session("s")
        busy.cancel()
        result = await waits
    assert result.error is not None
    assert (result.verdict, result.error.message) == (Verdict.CANCELLED, "the session was deleted")


async def test_a_session_is_created_while_a_guest_waits_whose_caller_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Pool._make

    async def cancel_and_make(self: Pool, *arguments: Any) -> None:
        cancelled.cancel()
        await make(self, *arguments)

    monkeypatch.setattr(Pool, "_make", cancel_and_make)
    cpython = GuestsConfig(environment="bare", min_waiting=0, max_waiting=1)
    async with Paddock(replace(BARE, cpython=cpython)) as paddock:
        cancelled = asyncio.create_task(paddock.run("1", session="a"))
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        jail: Any = paddock._engines.get("cpython")._jail  # type: ignore[attr-defined]
        await until(lambda: jail._pool.waiting)
        async with asyncio.timeout(30):
            assert await value(paddock, "b", "1") == 1


async def test_closing_ends_every_session_and_its_processes() -> None:
    async with Paddock(BARE) as paddock:
        await value(paddock, "a", "x = 1")
        pid = pid_of(paddock, "a")
    assert not tree(pid)


async def test_each_run_keeps_the_files_that_it_writes_or_changes(paddock: Paddock) -> None:
    async def kept(code: str) -> list[str]:
        return [artifact.filename for artifact in (await paddock.run(code, session="s")).artifacts]

    assert await kept("open('a.txt', 'w').write('1')") == ["a.txt"]
    assert await kept("open('b.txt', 'w').write(open('a.txt').read())") == ["b.txt"]
    assert await kept("open('a.txt', 'a').write('2')") == ["a.txt"]
    assert await kept("1") == []


async def test_each_run_shows_its_own_figures_and_tables(paddock: Paddock) -> None:
    class_code = "class Note:\n    def _repr_markdown_(self):\n        return '# note'\nNote()"
    first = await paddock.run(class_code, session="shown")
    second = await paddock.run("display(Note())\n1", session="shown")
    third = await paddock.run("2", session="shown")
    assert [[output.type for output in result.outputs] for result in (first, second, third)] == [
        ["markdown"],
        ["markdown"],
        [],
    ]


async def test_many_ended_sessions_of_one_principal_leave_those_of_another_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paddock.sessions.MAX_ENDED", 3)
    async with Paddock(config(principal_count=1)) as paddock:
        names = [("quiet", "a"), ("quiet", "b"), *(("busy", str(number)) for number in range(6)), ("quiet", "a")]
        for number, (principal, session) in enumerate(names):
            context = RunContext(f"r_{number}", principal=principal)
            result = await paddock.follow("1", lambda event: None, context=context, session=session)
    assert (result.verdict, result.error is not None and result.error.type) == (Verdict.REJECTED, "SessionEnded")


@pytest.mark.parametrize("bad", ["", "..", ".hidden", "a/b", "a b", "x" * 65, "é"])
async def test_a_name_that_cannot_be_in_an_address_is_refused(paddock: Paddock, bad: str) -> None:
    with pytest.raises(RequestError, match="session must be a name of 1 to 64 letters"):
        await paddock.run("1", session=bad)
