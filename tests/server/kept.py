"""What servers stand on: for one test, or kept for those of a module, whose engines are then started once."""

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
async def opened(config: Config | None = None, **options: Any) -> AsyncIterator[Services]:
    """What a server stands on, with a store of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        empty.put(Path(folder) / "paddock.db")
        async with Services(stored_in(Path(folder), config), **options) as services:
            yield services


def stored_in(folder: Path, config: Config | None = None) -> Config:
    made = config or Config()
    artifacts = replace(made.artifacts, url=f"file://{folder}/objects")
    return replace(made, store=replace(made.store, path=str(folder / "paddock.db")), artifacts=artifacts)


class Kept:
    """One for each configuration and its tools, opened where it is first asked for. For tests in one event loop.

    Whoever asks finds no session of those who asked before; what is stored is still there.
    """

    def __init__(self) -> None:
        self._opened: list[tuple[object, Services]] = []
        self._until_closed = AsyncExitStack()

    async def of(self, config: Config | None = None, tools: tuple[Callable[..., Any], ...] = ()) -> Services:
        asked = (config or Config(), tools)
        for known, services in self._opened:
            if known == asked:
                services.sessions = Sessions()
                return services
        services = await self._until_closed.enter_async_context(opened(config, tools=tools))
        self._opened.append((asked, services))
        return services

    async def aclose(self) -> None:
        self._opened.clear()
        await self._until_closed.aclose()
