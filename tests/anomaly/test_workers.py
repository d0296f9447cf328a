"""A worker that dies, and workers whose host ends: by itself, cancelled or killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from paddock.config import Config, MontyConfig
from paddock.model.events import Output
from paddock.model.result import RunError, Verdict
from paddock.run import Paddock
from tests.anomaly.processes import children, start, wait_until_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SPIN = "print('on')\nwhile True:\n    pass"


async def spinning(paddock: Paddock) -> tuple[asyncio.Task[Verdict], asyncio.Event]:
    """A run that continues until it is ended from outside, and the sign that it has started."""
    begun = asyncio.Event()

    async def follow() -> Verdict:
        async for event in paddock.stream(SPIN, engine="monty"):
            if event == Output("stdout", "on\n"):
                begun.set()
            elif not isinstance(event, Output):
                return event.result.verdict  # type: ignore[union-attr]
        raise AssertionError("a stream ends with Done")

    return asyncio.create_task(follow()), begun


async def test_a_worker_killed_mid_run_is_a_crashed_run_and_the_next_one_works() -> None:
    async with Paddock() as paddock:
        run, begun = await spinning(paddock)
        await begun.wait()
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        assert await run is Verdict.CRASHED
        assert (await paddock.run("1 + 1", engine="monty")).output == 2


async def test_a_worker_killed_between_runs_is_not_noticed() -> None:
    async with Paddock() as paddock:
        await paddock.run("1", engine="monty")
        idle = children()
        for pid in idle:
            os.kill(pid, signal.SIGKILL)
        wait_until_gone(idle)
        assert (await paddock.run("1 + 1", engine="monty")).output == 2


async def test_a_crashed_run_names_no_limit() -> None:
    async with Paddock(Config(monty=MontyConfig(min_workers=1, max_workers=1))) as paddock:
        task = asyncio.create_task(paddock.run("await kill()", engine="monty"))
        await task  # no tool named kill: NameError, and a warm worker
        (pid,) = children()

        def kill() -> None:
            os.kill(pid, signal.SIGKILL)

        other = Paddock(tools=[kill])
        other._engines = paddock._engines
        result = await other.run("await kill()", engine="monty")
    assert result.error is not None
    assert (result.verdict, result.error.type) == (Verdict.CRASHED, "Crashed")


async def test_cancelling_a_run_ends_its_worker() -> None:
    async with Paddock() as paddock:
        run, begun = await spinning(paddock)
        await begun.wait()
        workers = children()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        wait_until_gone(workers)
        assert (await paddock.run("1 + 1", engine="monty")).output == 2


async def test_leaving_the_block_leaves_no_process_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with Paddock() as paddock:
        await asyncio.gather(*(paddock.run("sum(range(1000))", engine="monty") for _ in range(10)))
        workers = children()
        assert workers != []
    wait_until_gone(workers)
    assert (children(), list(tmp_path.iterdir())) == ([], [])


async def test_leaving_the_block_while_a_run_goes_on_ends_it() -> None:
    async with Paddock() as paddock:
        run, begun = await spinning(paddock)
        await begun.wait()
        workers = children()
    wait_until_gone(workers)
    assert await run is Verdict.CANCELLED


@pytest.mark.usefixtures("default_environment")
@pytest.mark.parametrize("engine", ["monty", "cpython", "quickjs", "node"])
async def test_leaving_the_block_ends_a_run_that_waits_for_a_tool(engine: str) -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    language = "python" if engine in ("monty", "cpython") else "javascript"
    async with Paddock(tools=[hang]) as paddock:
        run = asyncio.create_task(paddock.run("await hang({})", language=language, engine=engine))
        await begun.wait()
        workers = children()
    wait_until_gone(workers)
    result = await run
    assert (result.verdict, result.error) == (
        Verdict.CANCELLED,
        RunError("Cancelled", "Paddock was closed while the script ran"),
    )


@pytest.mark.usefixtures("default_environment")
async def test_closing_leaves_nothing_if_it_is_cancelled() -> None:
    paddock = Paddock()
    await paddock.run("1")
    await paddock.run("1", language="javascript")
    workers = children()
    closing = asyncio.create_task(paddock.aclose())
    await asyncio.sleep(0)  # it begins
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    wait_until_gone(workers)
    assert children() == []


def test_run_sync_leaves_nothing_after_close() -> None:
    with Paddock() as paddock:
        assert paddock.run_sync("1 + 1", engine="monty").output == 2
        workers = children()
    wait_until_gone(workers)
    assert children() == []


FORKING = """
import os
from paddock import Paddock

with Paddock() as paddock:
    paddock.run_sync("1")
    child = os.fork()
    if not child:
        print(paddock.run_sync("2").output, flush=True)
        paddock.close()
        os._exit(0)
    os.waitpid(child, 0)
    print(paddock.run_sync("3").output)
"""


@pytest.mark.usefixtures("default_environment")
def test_run_sync_works_in_a_fork_of_its_process_too() -> None:
    assert subprocess.check_output([sys.executable, "-c", FORKING], timeout=60) == b"2\n3\n"


async def test_a_hundred_runs_at_once_all_end_with_their_own_value() -> None:
    async with Paddock() as paddock:
        runs = [paddock.run("n * n", engine="monty", inputs={"n": n}) for n in range(100)]
        assert [result.output for result in await asyncio.gather(*runs)] == [n * n for n in range(100)]


async def test_a_hundred_runs_of_every_ending_do_not_disturb_each_other() -> None:
    quick = [("1 + 1", Verdict.OK), ("1 / 0", Verdict.RAISED), ("x = (", Verdict.REJECTED)]
    quick += [("while True: print('x' * 1000)", Verdict.OUTPUT_LIMIT)]
    spins = ("while True: pass", Verdict.TIMEOUT)  # which takes a whole core until its time is over
    expected = [*quick * 6, spins] * 4
    limits = {"wall_seconds": 0.5, "output_bytes": 10_000}
    async with Paddock() as paddock:
        results = await asyncio.gather(*(paddock.run(code, engine="monty", limits=limits) for code, _ in expected))
    assert [result.verdict for result in results] == [verdict for _, verdict in expected]


HOST = """
import asyncio, os, pathlib, signal
from paddock import Paddock

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored

def children():
    tasks = pathlib.Path(f"/proc/{os.getpid()}/task")
    return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]

async def main():
    async with Paddock() as paddock:
        limits = {"wall_seconds": 900}
        async for event in paddock.stream("print('on')\\nwhile True: pass", engine="monty", limits=limits):
            print(*children(), flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_do_not_outlive_a_host_that_was_killed(number: signal.Signals) -> None:
    host = start(HOST)
    assert host.stdout is not None
    workers = [int(pid) for pid in host.stdout.readline().split()]
    assert workers != []
    host.send_signal(number)
    wait_until_gone(workers)
    host.communicate()
    assert host.returncode == -number


def test_an_interrupted_host_ends_its_workers_and_itself() -> None:
    host = start(HOST)
    assert host.stdout is not None
    workers = [int(pid) for pid in host.stdout.readline().split()]
    host.send_signal(signal.SIGINT)
    wait_until_gone(workers)
    _, said = host.communicate()
    assert said.strip().splitlines()[-1] == "KeyboardInterrupt"
