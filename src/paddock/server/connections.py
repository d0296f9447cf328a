"""Limits the HTTP connections of a server: how many may be open, and how long a new one may stay silent."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from paddock import descriptors

ACCEPTED_AT_ONCE = 32
"""How many connections asyncio accepts in a row. If no descriptor is free, it makes this many failing attempts."""
WAITING_CONNECTIONS = 1024
"""How many connections the kernel keeps until they are accepted. It drops others, and their clients see a reset."""
SILENT_SECONDS = 15.0
"""How long a new connection may take to send the head of its first request."""
WARN_SECONDS = 60.0
"""The shortest time between two warnings that too many connections are open."""
_REASON = (
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Too many connections are open: try again later"}}'
)
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (len(_REASON), _REASON)
)
log = logging.getLogger(__name__)


class LimitedProtocol(H11Protocol):
    """Refuses connections that would use more than a quarter of this process's descriptors; runs need the rest."""

    _warned_at = -math.inf

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        limit = max(16, descriptors.limit() // 4)
        if len(self.connections) >= limit:
            self._warn(limit)
            transport.write(FULL)
            transport.close()
        super().connection_made(transport)
        self.loop.call_later(SILENT_SECONDS, self._close_if_silent)

    def _close_if_silent(self) -> None:
        has_request: bool = self.cycle is not None  # uvicorn sets `cycle` when the head of a request has arrived
        if not has_request:
            self.transport.close()

    def _warn(self, limit: int) -> None:
        if time.monotonic() > LimitedProtocol._warned_at + WARN_SECONDS:
            LimitedProtocol._warned_at = time.monotonic()
            log.warning(
                "%d connections are open, as many as the descriptors of this process allow; more get 503. "
                "Allow more descriptors (ulimit -n), or find out who opens so many",
                limit,
            )


def handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong in the event loop: one line if no descriptor was free to accept a connection."""
    if "accept() out of system resource" in context.get("message", ""):
        log.warning("no descriptor is free to accept a connection; the next attempt is in a second")
    else:
        loop.default_exception_handler(context)
