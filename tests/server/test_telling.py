"""What a caller hears while its run goes on."""

from __future__ import annotations

import asyncio

import pytest

from paddock.model.events import Progress
from paddock.server import code_tools
from paddock.server.code_tools import ProgressReporter
from tests.server.conftest import in_memory
from tests.server.kept import opened


async def test_a_run_that_says_nothing_is_told_to_be_still_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_tools, "STILL_RUNNING_SECONDS", 0.01)
    twice = asyncio.Event()
    heard: list[str | None] = []

    async def wait() -> None:
        await twice.wait()

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append(message)
        if len(heard) == 2:
            twice.set()

    async with opened(tools=[wait]) as services, in_memory("auto")(services) as client, asyncio.timeout(60):
        await client.call_tool("run_code", {"code": "await wait()"}, progress_callback=hear)
    assert heard[:2] == ["still running after 0.01 s", "still running after 0.02 s"]


async def test_what_a_script_says_is_heard_in_order_and_before_the_end() -> None:
    heard = []

    async def report(done: float, total: float | None, message: str) -> None:
        await asyncio.sleep(0)
        heard.append(done)

    reporter = ProgressReporter(report, lambda stream, text: None)
    for number in range(5):
        reporter(Progress(number, 5, ""))
    await reporter.flush()
    reporter.close()
    assert heard == [0, 1, 2, 3, 4]


async def test_a_caller_who_cannot_hear_does_not_end_the_run() -> None:
    async def report(done: float, total: float | None, message: str) -> None:
        raise ConnectionError

    reporter = ProgressReporter(report, lambda stream, text: None)
    reporter(Progress(1, None, ""))
    await reporter.flush()
    reporter.close()


async def test_of_more_than_a_caller_can_hear_it_hears_the_newest() -> None:
    heard: list[float] = []
    may_hear = asyncio.Event()

    async def report(done: float, total: float | None, message: str) -> None:
        await may_hear.wait()
        heard.append(done)

    reporter = ProgressReporter(report, lambda stream, text: None)
    reporter(Progress(0, None, ""))
    await asyncio.sleep(0)  # now it is being told
    for number in range(1, 10_001):
        reporter(Progress(number, None, ""))
    may_hear.set()
    await reporter.flush()
    reporter.close()
    assert heard == [0, *range(10_001 - code_tools.MAX_PENDING_REPORTS, 10_001)]
