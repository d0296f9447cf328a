"""The engines that must all show the same behaviour, and how the suite runs a script on each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock.model.events import Event
from paddock.model.result import RunResult
from paddock.run import Paddock

ENGINES = ("monty", "cpython")


@dataclass
class Rig:
    """One engine, and how a test runs a script on it."""

    engine: str
    paddock: Paddock

    async def run(self, code: str, *tools: Callable[..., Any], **options: Any) -> RunResult:
        return await self._with(tools).run(code, engine=self.engine, **options)

    def stream(self, code: str, *tools: Callable[..., Any], **options: Any) -> AsyncIterator[Event]:
        return self._with(tools).stream(code, engine=self.engine, **options)

    def _with(self, tools: tuple[Callable[..., Any], ...]) -> Paddock:
        # The tools of a Paddock are fixed when it is made; this one lends its engines to another with other tools.
        if not tools:
            return self.paddock
        other = Paddock(tools=tools)
        other._engines = self.paddock._engines
        return other


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=ENGINES)
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """One Paddock for a whole file: what one run leaves behind, the next one would meet."""
    async with Paddock() as paddock:
        paddock._engine(request.param)
        yield Rig(request.param, paddock)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and isinstance(item, pytest.Function):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
