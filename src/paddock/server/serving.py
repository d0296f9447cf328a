"""What stands behind the server: a Paddock, the store, artifacts, and the runs that are under way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from paddock.config import Config
from paddock.errors import StoreError
from paddock.run import Paddock
from paddock.server.caller import Caller, Sessions
from paddock.server.context import session_tools
from paddock.store.artifacts import StoredArtifacts
from paddock.store.database import Store

log = logging.getLogger(__name__)


class Serving:
    """Leaving its block ends every run and writes what is left. The store is opened when it is first needed."""

    def __init__(
        self,
        config: Config | None = None,
        *,
        tools: Iterable[Callable[..., Any]] = (),
        mcp_config: str | Path | None = None,
        base_url: str = "",
    ) -> None:
        self.config = config or Config()
        tools = tuple(tools)
        self.store = Store.of(self.config)
        self.artifacts = StoredArtifacts.from_config(self.config, self.store, base_url=base_url)
        self.paddock = Paddock(self.config, tools=tools, mcp_config=mcp_config, journal=self.store.journal)
        self.has_tools = bool(tools) or bool(self.paddock.upstreams())
        """Whether there is anything that a script could call."""
        self.sessions = Sessions()
        self.session_tools = session_tools(self.paddock.injection)
        self.under_way: dict[str, asyncio.Task[Any]] = {}
        """Detached runs, by their ids."""
        self._tidying: asyncio.Task[None] | None = None

    def tidy(self) -> None:
        """Begin to look after what is stored, once: after the first answer, which must not wait for the database."""
        if self._tidying is None:
            self._tidying = asyncio.create_task(self._tidy())

    async def _tidy(self) -> None:
        """For ever. A store that fails is tried again in its turn."""
        while True:
            try:
                await self.store.runs.mark_lost()
                await self.store.retention.sweep()
                await self.artifacts.sweep()
            except (StoreError, OSError) as problem:
                log.warning("what is stored is not looked after for now: %s", problem)
            await asyncio.sleep(self.config.store.sweep_seconds)

    async def note(self, caller: Caller) -> None:
        """Write down that a session is used, and what it holds where that has changed. Nobody waits for it."""
        session = caller.session
        if session is None:
            return
        state = session.state()
        try:
            if state == session.stored:
                await self.store.sessions.touch(caller.principal, session.id)
            else:
                session.stored = state
                await self.store.sessions.keep(caller.principal, session.id, state)
        except StoreError as problem:
            log.warning("a session is not stored: %s", problem)

    async def aclose(self) -> None:
        ending = [*self.under_way.values(), *([self._tidying] if self._tidying is not None else [])]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await self.paddock.aclose()
        await self.artifacts.close()
        with suppress(StoreError):
            await self.store.close()

    async def __aenter__(self) -> Serving:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
