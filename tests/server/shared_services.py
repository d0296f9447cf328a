"""Services for tests: opened for one test, or shared by the tests of a module, so that engines start once."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from paddock import Config
from paddock.server.services import Services
from paddock.server.sessions import Sessions
from tests.store import empty


@asynccontextmanager
async def open_services(config: Config | None = None, **options: Any) -> AsyncIterator[Services]:
    """Services with a store of their own, which is deleted afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        empty.put(Path(folder) / "paddock.db")
        async with Services(stored_in(Path(folder), config), **options) as services:
            yield services


def stored_in(folder: Path, config: Config | None = None) -> Config:
    made = config or Config()
    artifacts = replace(made.artifacts, url=f"file://{folder}/objects")
    return replace(made, store=replace(made.store, path=str(folder / "paddock.db")), artifacts=artifacts)


class SharedServices:
    """One `Services` for each configuration and set of tools, opened on first use. For tests in one event loop.

    Each caller gets fresh sessions; the store keeps what earlier tests wrote.
    """

    def __init__(self) -> None:
        self._opened: list[tuple[object, Services]] = []
        self._until_closed = AsyncExitStack()

    async def get(self, config: Config | None = None, tools: tuple[Callable[..., Any], ...] = ()) -> Services:
        asked = (config or Config(), tools)
        for known, services in self._opened:
            if known == asked:
                services.sessions = Sessions()
                return services
        services = await self._until_closed.enter_async_context(open_services(config, tools=tools))
        self._opened.append((asked, services))
        return services

    async def aclose(self) -> None:
        self._opened.clear()
        await self._until_closed.aclose()
