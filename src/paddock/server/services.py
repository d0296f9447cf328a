"""The services that the server's tools share: a Paddock, the store, artifacts, sessions, and detached runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from paddock.config import Config
from paddock.definitions.faces import Overflow
from paddock.errors import PaddockError, StoreError
from paddock.model.artifacts import Artifact
from paddock.model.request import LOCAL
from paddock.run import Paddock
from paddock.server.sessions import Caller, Sessions
from paddock.store.artifacts import StoredArtifacts
from paddock.store.database import Store
from paddock.store.definitions import peek_versions

PREVIEW_CHARACTERS = 200
log = logging.getLogger(__name__)


class Services:
    """The parts that every tool of a server shares. Leaving the block ends every run and closes the store.

        async with Services(Config.load()) as services:
            server = make_server(services)

    The store is opened on first use.
    """

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
        self.store = Store.from_config(self.config)
        self.artifacts = StoredArtifacts.from_config(self.config, self.store, base_url=base_url)
        self.paddock = Paddock(self.config, tools=tools, mcp_config=mcp_config, journal=self.store.journal)
        self.has_tools = bool(tools) or bool(self.paddock.upstreams())
        """Whether scripts have any tool to call."""
        self.sessions = Sessions()
        self.detached: dict[str, asyncio.Task[Any]] = {}
        """Detached runs in progress, by id."""
        self._maintenance: asyncio.Task[None] | None = None

    def start_maintenance(self) -> None:
        """Start the periodic clean-up of the store, once.

        Called after the first answer, so that no client waits for it.
        """
        if self._maintenance is None:
            self._maintenance = asyncio.create_task(self._maintain())

    async def _maintain(self) -> None:
        while True:
            try:
                await self.store.runs.mark_lost()
                await self.store.sweep()
                await self.artifacts.sweep()
            except (StoreError, OSError) as problem:
                log.warning("the store's clean-up failed and will be tried again: %s", problem)
            await asyncio.sleep(self.config.store.sweep_seconds)

    async def record_session(self, caller: Caller) -> None:
        """Store when the caller's session was last used, and its state if that has changed."""
        session = caller.session
        if session is None:
            return
        state = session.state()
        try:
            if state == session.stored:
                await self.store.sessions.touch(caller.principal, session.id)
            else:
                session.stored = state
                await self.store.sessions.save(caller.principal, session.id, state)
        except StoreError as problem:
            log.warning("a session could not be stored: %s", problem)

    async def definition_versions(self) -> dict[str, int]:
        """The current version of each saved definition, by name. Does not create a store."""
        versions = await asyncio.to_thread(peek_versions, self.store.path, LOCAL)
        return await self.store.definitions.versions(LOCAL) if versions is None else versions

    async def store_artifact(
        self, caller: Caller, name: str, mime_type: str, data: bytes, run_id: str | None = None
    ) -> Artifact | None:
        """Store part of an answer as an artifact.

        Returns None if that fails, so that the client still gets its answer.
        """
        try:
            return await self.artifacts.of(caller.owner, run_id).create(name, mime_type, data)
        except PaddockError as problem:
            log.warning("%s could not be stored as an artifact: %s", name, problem)
            return None

    async def store_overflow(
        self, caller: Caller, run_id: str, output_json: str | None, max_bytes: int | None, *, is_repeat: bool = False
    ) -> Overflow | None:
        """Store a run's value as an artifact if it has more than `max_bytes` of JSON.

        `is_repeat`: if an earlier answer stored the same value, that artifact is used again.
        """
        text = output_json or ""
        if max_bytes is None or len(text) * 4 <= max_bytes or len(data := text.encode(errors="replace")) <= max_bytes:
            return None
        name = f"result-{run_id}.json"
        earlier = await self._find_earlier(caller, run_id, name) if is_repeat else None
        artifact = earlier or await self.store_artifact(caller, name, "application/json", data, run_id)
        return None if artifact is None else Overflow(artifact, text[:PREVIEW_CHARACTERS])

    async def _find_earlier(self, caller: Caller, run_id: str, name: str) -> Artifact | None:
        with suppress(PaddockError):
            stored = await self.artifacts.of(caller.owner, run_id).find(name)
            if stored is not None and stored.run_id == run_id:
                return stored.artifact
        return None

    async def aclose(self) -> None:
        """End every run and write everything that is queued."""
        tasks = [*self.detached.values(), *([self._maintenance] if self._maintenance is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.paddock.aclose()
        await self.artifacts.close()
        with suppress(StoreError):
            await self.store.close()

    async def __aenter__(self) -> Services:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
