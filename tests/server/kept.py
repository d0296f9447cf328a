"""What servers stand on, kept for the tests of a module: engines and upstreams are started once for all of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from paddock import Config
from paddock.server.serving import Serving
from tests.server.conftest import opened


class Kept:
    """One for each configuration and its tools, opened where it is first asked for. For tests in one event loop."""

    def __init__(self) -> None:
        self._opened: list[tuple[object, Serving]] = []
        self._until_closed = AsyncExitStack()

    async def of(self, config: Config | None = None, tools: tuple[Callable[..., Any], ...] = ()) -> Serving:
        asked = (config or Config(), tools)
        for known, serving in self._opened:
            if known == asked:
                return serving
        serving = await self._until_closed.enter_async_context(opened(config, tools=tools))
        self._opened.append((asked, serving))
        return serving

    async def aclose(self) -> None:
        self._opened.clear()
        await self._until_closed.aclose()
