"""One Paddock for all tests of the engine `node`, whose guests are made ahead."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock import Config, Paddock
from paddock.model.result import RunResult

Run = Callable[..., Awaitable[RunResult]]
SECRET = "secret-of-the-host"  # noqa: S105  and none
meeting: list[asyncio.Event] = []


async def meet(n: int) -> dict[str, int]:
    """Ends when two are in it at once."""
    meeting.append(asyncio.Event())
    if len(meeting) == 2:
        for other in meeting:
            other.set()
    await meeting[-1 if len(meeting) > 1 else 0].wait()
    return {"n": n}


def double(n: int) -> int:
    """Twice as much."""
    return 2 * n


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def paddock() -> AsyncIterator[Paddock]:
    os.environ["SECRET_OF_THE_HOST"] = SECRET
    async with Paddock(Config(), tools=[meet, double]) as made:
        yield made
    del os.environ["SECRET_OF_THE_HOST"]


@pytest.fixture
def run(paddock: Paddock) -> Run:
    """A script on Node, by default in JavaScript."""

    async def run(code: str, **options: Any) -> RunResult:
        return await paddock.run(code, **{"language": "javascript", "engine": "node", **options})

    return run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and iscoroutinefunction(getattr(item, "function", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
