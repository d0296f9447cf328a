"""The engines that must all show the same behaviour, and how the suite runs a script on each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock.config import MontyConfig
from paddock.model.events import Event
from paddock.model.result import RunResult
from paddock.planning.plan import ENGINE_LANGUAGE
from paddock.run import Paddock
from tests.bare import BARE

PYTHON = ("monty", "cpython")
JAVASCRIPT = ("quickjs", "node")
CONFIG = replace(BARE, monty=MontyConfig(max_workers=32))
"""Some tests have more guests at once than there are workers by default."""


@dataclass(frozen=True)
class Script:
    """One program in each language. Where both have the same text, a test gives that text alone."""

    python: str
    javascript: str


@dataclass
class Rig:
    """One engine, and how a test runs a script on it."""

    engine: str
    paddock: Paddock

    @property
    def language(self) -> str:
        return ENGINE_LANGUAGE[self.engine]

    def text(self, code: str | Script) -> str:
        if isinstance(code, str):
            return code
        return code.python if self.language == "python" else code.javascript

    async def run(self, code: str | Script, *tools: Callable[..., Any], **options: Any) -> RunResult:
        return await self._with(tools).run(self.text(code), **self._asked(options))

    def stream(self, code: str | Script, *tools: Callable[..., Any], **options: Any) -> AsyncIterator[Event]:
        return self._with(tools).stream(self.text(code), **self._asked(options))

    def _asked(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"language": self.language, "engine": self.engine, **options}

    def _with(self, tools: tuple[Callable[..., Any], ...]) -> Paddock:
        # The tools of a Paddock are fixed when it is made; this one lends its engines to another with other tools.
        if not tools:
            return self.paddock
        other = Paddock(tools=tools)
        other._engines = self.paddock._engines
        return other


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def paddock() -> AsyncIterator[Paddock]:
    """One Paddock for the whole folder: what one run leaves behind, the next one would meet."""
    async with Paddock(CONFIG) as made:
        for engine in (*PYTHON, *JAVASCRIPT):
            made._engines.get(engine)
        yield made


@pytest.fixture(scope="module", params=(*PYTHON, *JAVASCRIPT))
def rig(request: pytest.FixtureRequest, paddock: Paddock) -> Rig:
    """Every engine in turn."""
    return Rig(request.param, paddock)


@pytest.fixture(scope="module", params=PYTHON)
def python_rig(request: pytest.FixtureRequest, paddock: Paddock) -> Rig:
    """For what Python alone has, or says in its own words."""
    return Rig(request.param, paddock)


@pytest.fixture(scope="module", params=JAVASCRIPT)
def javascript_rig(request: pytest.FixtureRequest, paddock: Paddock) -> Rig:
    """For what JavaScript alone has, or says in its own words."""
    return Rig(request.param, paddock)


def pytest_make_parametrize_id(val: object) -> str | None:
    return ascii(val.javascript)[1:50] if isinstance(val, Script) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and isinstance(item, pytest.Function):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
