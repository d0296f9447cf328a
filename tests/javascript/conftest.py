"""One Paddock for the whole folder, and how a script is run on both engines for JavaScript."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock.model.result import RunResult
from paddock.run import Paddock

ENGINES = ("quickjs", "node")


def double(n: int) -> int:
    """Twice as much."""
    return 2 * n


def refuse() -> None:
    """Always fails."""
    raise ValueError("no")


def listing() -> dict[str, object]:
    """Items and how many there are."""
    return {"items": [1], "total": 1}


async def hang() -> None:
    """Never answers."""
    await asyncio.Event().wait()


@dataclass
class Both:
    """The two engines."""

    paddock: Paddock

    async def run(self, code: str, **options: Any) -> dict[str, RunResult]:
        runs = (self.paddock.run(code, language="javascript", engine=engine, **options) for engine in ENGINES)
        return dict(zip(ENGINES, await asyncio.gather(*runs), strict=True))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def both() -> AsyncIterator[Both]:
    async with Paddock(tools=[double, refuse, hang, listing]) as paddock:
        yield Both(paddock)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (
            item.path.parent == Path(__file__).parent
            and isinstance(item, pytest.Function)
            and iscoroutinefunction(item.obj)
        ):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
