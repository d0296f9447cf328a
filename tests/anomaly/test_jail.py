"""Processes of the jail die at the wrong moment. Every request gets a verdict, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.config import Config, GuestsConfig, NetworkConfig
from paddock.model.environments import EnvironmentConfig
from paddock.model.events import Done, Output
from paddock.model.result import RunResult, Verdict
from paddock.run import Paddock
from tests.mounts import mounts

BARE = Config(environments={"bare": EnvironmentConfig()}, cpython=GuestsConfig(environment="bare"))
SLEEPS = """
import os, time
print("begun", flush=True)
if os.fork() == 0:
    time.sleep(600)
time.sleep(max(0, until - time.time()))
n
"""
"""Ends at a fixed time, even if it is started again. Its second process shows that it has started."""
RUNS = 20


@pytest.fixture
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock(BARE, tools=[begun]) as paddock:
        yield paddock


calls = 0


async def begun() -> str:
    global calls  # noqa: PLW0603
    calls += 1
    await asyncio.sleep(30)
    return "never"


async def a_call() -> None:
    """Wait until a script has called its tool."""
    before = calls
    await until(lambda: calls > before)


def children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except FileNotFoundError:
        return []


def descendants(pid: int) -> set[int]:
    found = set(children(pid))
    return found.union(*map(descendants, found))


def has_zygote(paddock: Paddock) -> bool:
    client = paddock._engines.get("cpython")._jail._pool._client  # type: ignore[attr-defined]
    return client is not None and not client.died.done() and any(map(children, children(client._process.pid)))


def zygote_of(paddock: Paddock) -> int:
    """The first process that the warden started; the warden is the only child of the process that the host started."""
    started = paddock._engines.get("cpython")._jail._pool._client._process.pid  # type: ignore[attr-defined]
    [warden] = children(started)
    return min(children(warden))


def begun_in(paddock: Paddock) -> list[int]:
    """The guests whose script has started a second process."""
    return [guest for guest in children(zygote_of(paddock)) if children(guest)]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


async def gone(pid: int) -> None:
    await until(lambda: pid not in descendants(os.getpid()))


async def test_a_run_whose_zygote_dies_begins_anew_and_nobody_notices(paddock: Paddock) -> None:
    await paddock.run("1", engine="cpython")
    inputs = {"until": time.time() + 3, "n": 1}
    running = asyncio.create_task(paddock.run(SLEEPS, engine="cpython", inputs=inputs))
    await until(lambda: begun_in(paddock))
    os.kill(zygote_of(paddock), signal.SIGKILL)
    result = await running
    assert (result.verdict, result.output, result.stdout) == (Verdict.OK, 1, "begun\n")


async def test_a_zygote_that_dies_under_twenty_runs_loses_none(paddock: Paddock) -> None:
    await paddock.run("1", engine="cpython")

    async def watched(n: int) -> RunResult:
        events = [event async for event in paddock.stream(SLEEPS, engine="cpython", inputs={"until": end, "n": n})]
        assert isinstance(events[-1], Done)
        return events[-1].result

    end = time.time() + 5
    unseen = [paddock.run(SLEEPS, engine="cpython", inputs={"until": end, "n": n}) for n in range(RUNS // 2)]
    running = [asyncio.create_task(run) for run in unseen]
    watching = [asyncio.create_task(watched(n)) for n in range(RUNS // 2)]
    await until(lambda: len(begun_in(paddock)) >= 4)
    os.kill(zygote_of(paddock), signal.SIGKILL)
    results = await asyncio.gather(*running)
    assert [(result.verdict, result.output) for result in results] == [(Verdict.OK, n) for n in range(RUNS // 2)]
    for n, result in enumerate(await asyncio.gather(*watching)):
        lost = result.verdict is Verdict.LOST  # else it had not begun, or nothing of it had been seen
        assert (result.verdict, result.output) == ((Verdict.LOST, None) if lost else (Verdict.OK, n))
        assert result.stdout == "begun\n"
    assert (await paddock.run("1 + 1", engine="cpython")).output == 2


async def test_a_run_that_was_seen_is_lost_with_its_zygote_and_says_so(paddock: Paddock) -> None:
    await paddock.run("1", engine="cpython")
    events = []
    async for event in paddock.stream("print('begun')\nimport time\ntime.sleep(20)", engine="cpython"):
        events.append(event)
        if isinstance(event, Output):
            os.kill(zygote_of(paddock), signal.SIGKILL)
    [*_, done] = events
    assert isinstance(done, Done)
    assert done.result.error is not None
    assert (done.result.verdict, done.result.error.type) == (Verdict.LOST, "EngineCrashed")
    assert done.result.stdout == "begun\n"
    assert (await paddock.run("1 + 1", engine="cpython")).output == 2


async def test_a_run_that_has_called_a_tool_is_lost_with_its_zygote(paddock: Paddock) -> None:
    running = asyncio.create_task(paddock.run("await begun()", engine="cpython"))
    await a_call()
    os.kill(zygote_of(paddock), signal.SIGKILL)
    result = await running
    assert result.verdict == Verdict.LOST


async def test_a_run_that_has_used_its_network_is_lost_with_its_zygote() -> None:
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readline())
        await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Paddock(replace(BARE, network=NetworkConfig(private=(address,)))) as paddock:
            if (problem := await paddock.network_problem()) is not None:
                pytest.skip(problem)
            code = (
                "import socket, time\nhost, port = address.split(':')\nto = socket.create_connection((host, int(port)))"
            )
            code += "\nto.sendall(b'transfer\\n')\ntime.sleep(20)"
            running = asyncio.create_task(
                paddock.run(code, engine="cpython", inputs={"address": address}, network=[address])
            )
            await until(lambda: received or running.done())
            jails = paddock._engines.get("cpython")._jails  # type: ignore[attr-defined]
            [warden] = children(jails["bare", True]._pool._client._process.pid)
            os.kill(min(children(warden)), signal.SIGKILL)
            result = await running
    assert (result.verdict, received) == (Verdict.LOST, [b"transfer\n"])


async def test_the_death_of_everything_while_nothing_runs_is_not_noticed(paddock: Paddock) -> None:
    await paddock.run("1", engine="cpython")
    for _ in range(3):
        await until(lambda: has_zygote(paddock))  # one that died may be being replaced
        zygote = zygote_of(paddock)
        os.kill(zygote, signal.SIGKILL)
        assert (await paddock.run("1 + 1", engine="cpython")).output == 2
        await gone(zygote)


async def test_leaving_a_paddock_leaves_no_process_mount_or_control_group() -> None:
    def seen() -> tuple[set[int], frozenset[str], list[str]]:
        own = f"/paddock-{os.getpid()}-"
        groups = [path for path, _, _ in os.walk("/sys/fs/cgroup") if own in path]  # others' come and go meanwhile
        return descendants(os.getpid()), mounts(), groups

    before = seen()
    async with Paddock(BARE) as paddock:
        await asyncio.gather(*(paddock.run(f"{n}", engine="cpython") for n in range(6)))
        assert len(seen()[0]) > len(before[0])
    assert seen() == before


async def test_a_cancelled_run_ends_its_guest(paddock: Paddock) -> None:
    await paddock.run("1", engine="cpython")
    running = asyncio.create_task(paddock.run("await begun()", engine="cpython"))
    await a_call()
    guests = descendants(os.getpid())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: guests - descendants(os.getpid()))
    assert (await paddock.run("1 + 1", engine="cpython")).output == 2
