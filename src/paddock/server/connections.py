"""Limits the HTTP connections of a server: how many may be open, and how long one may neither send nor read."""

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
"""How many connections the kernel keeps until they are accepted. It drops others, and their clients try again."""
SILENT_SECONDS = 15.0
"""How long a connection may take to send the head of its first request, or of another one after an answer."""
KEPT_SECONDS = 15
"""How long a connection stays open after an answer. Python's clients close theirs after 5 s: if the server did so at
the same time, a request that is on its way would fail."""
UNREAD_SECONDS = 60.0
"""How long a client may leave an answer unread. Then it is disconnected, which also ends the run that it watches."""
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
    _patience: asyncio.TimerHandle | None = None  # set while the client does not read what was sent

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        limit = max(16, descriptors.limit() // 4)
        if len(self.connections) >= limit:
            self._warn(limit)
            transport.write(FULL)
            transport.close()
        super().connection_made(transport)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._expectation.cancel()
        self._stop_patience()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._patience = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_patience()

    def _stop_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def on_response_complete(self) -> None:
        self._expectation.cancel()
        self._expect_request()
        super().on_response_complete()

    def _expect_request(self) -> None:
        # uvicorn closes a connection that sends nothing after an answer. One byte is enough to stop that.
        self._expectation = self.loop.call_later(SILENT_SECONDS, self._close_if_silent, self.cycle)

    def _close_if_silent(self, last_cycle: object) -> None:
        if self.cycle is last_cycle:  # uvicorn sets another `cycle` when the head of a request has arrived
            self.transport.close()

    def _warn(self, limit: int) -> None:
        if time.monotonic() > LimitedProtocol._warned_at + WARN_SECONDS:
            LimitedProtocol._warned_at = time.monotonic()
            log.warning(
                "%d connections are open, as many as the descriptors of this process allow; further ones get 503. "
                "Allow more descriptors (ulimit -n), or find the client that opens so many",
                limit,
            )


def handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong in the event loop: one line if no descriptor was free to accept a connection."""
    if "accept() out of system resource" in context.get("message", ""):
        log.warning("no descriptor is free to accept a connection; the next attempt is in a second")
    else:
        loop.default_exception_handler(context)
