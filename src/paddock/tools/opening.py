"""How to connect to a server whose age nobody knows: the newest way first, and what worked is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from paddock.tools.connection import Connection
from paddock.tools.upstream_errors import CallFailed

if TYPE_CHECKING:
    from paddock.tools.server import Server, Transport

Way = tuple["Transport", str]
"""A transport, and the SDK's mode: `auto` asks for the newer era and takes the older one, `legacy` only the older."""


class Opening:
    """The ways to one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._newest: Way = (server.transport, "auto")
        self._way = self._newest

    async def open(self, changed: Callable[[], None]) -> Connection:
        """A connection that stands. Raises CallFailed, for the way that was tried first."""
        first = await self._tried(self._way, changed)
        if first.is_alive:
            return first
        for way in self._others(first):
            connection = await self._tried(way, changed)
            if connection.is_alive:
                self._way = way
                return connection
        self._way = self._newest
        raise first.failure

    async def _tried(self, way: Way, changed: Callable[[], None]) -> Connection:
        transport, mode = way
        connection = Connection(replace(self._server, transport=transport), mode, changed)
        try:
            await connection.open()
        except CallFailed:
            await connection.close()
        except asyncio.CancelledError:
            await asyncio.shield(connection.close())
            raise
        return connection

    def _others(self, tried: Connection) -> list[Way]:
        """What else may work, by how `tried` failed."""
        if self._way != self._newest:
            return [self._newest]
        status = tried.exchange.status
        # Some older servers end where the first thing that they hear is not the handshake they know.
        if self._server.transport == "stdio" and tried.trace.exit_code not in (None, 126, 127):
            return [("stdio", "legacy")]
        if self._server.or_sse and 400 <= status < 500 and status not in (401, 403, 429):
            return [("sse", "legacy")]
        return []
