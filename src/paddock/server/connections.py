"""Limits the HTTP connections of a server: how many may be open, and how long one may be idle."""

from __future__ import annotations

import asyncio
import heapq
import logging
import math
import os
import select
import time
from collections import Counter
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

import h11
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from paddock import descriptors
from paddock.server.http import TOO_MANY_CONNECTIONS, received, refuse_connection
from paddock.server.rest.problems import MEDIA_TYPE, problem

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

ACCEPTED_AT_ONCE = 32
"""How many connections asyncio accepts in a row. If no descriptor is free, it tries and fails this many times."""
WAITING_CONNECTIONS = 1024
"""How many connections the kernel keeps until they are accepted. It drops others, and their clients try again."""
SILENT_SECONDS = 15
"""How long a client may take to send the head of its first request, or of the next one after an answer.

After an answer it must be longer than clients keep a connection (httpx: 5 s). If both end at the same time, a client
sends a request on a connection that is being closed, and loses it.
"""
UNREAD_SECONDS = 60.0
"""How long a client may leave an answer unread. Then it is disconnected, which also ends the run that it watches."""
UNREAD_BYTES = 256 * 1024 * 1024
"""How much memory unread answers may take together. One answer can have 16 MB and more."""
CHUNKS_AT_ONCE = 256
"""How many chunks of a body are read before other connections get their turn: each takes 20 µs, even for one byte."""
WARN_SECONDS = 60.0
"""The shortest time between two warnings of one kind."""
SPARE = 8
"""If all connections are in use, an eighth more may send a request, which is refused. Others are refused at once."""
TOO_MANY = (
    "%d connections are open, as many as the descriptors of this process allow; idle ones are closed, and further ones "
    "get 503. Allow more descriptors (ulimit -n), or find the client that opens so many"
)
NONE_FREE = "no descriptor is free to accept a connection; connections wait until one is (ulimit -n)"
log = logging.getLogger(__name__)
_warned_at: dict[str, float] = {}


class _PacedConnection(h11.Connection):
    """Asks for more data after CHUNKS_AT_ONCE chunks, even if it has some."""

    chunks_left = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        if not self.chunks_left:
            return h11.NEED_DATA
        event = super().next_event()
        self.chunks_left -= isinstance(event, h11.Data)
        return event


class LimitedProtocol(H11Protocol):
    """Lets connections use a quarter of this process's descriptors; runs need the rest.

    If that many are open, those that have been idle longest are closed. If none is idle, a new one is refused.
    """

    idle_since = 0.0
    _unread_timer: asyncio.TimerHandle | None = None  # set while the client does not read what was sent
    _unread: ClassVar[dict[LimitedProtocol, None]] = {}  # the connections with such a timer, the oldest first
    _is_pacing = False  # whether `_handle_rest` is scheduled

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn = self._paced = _PacedConnection(h11.SERVER)
        app = self.app

        async def answer_next(scope: Scope, receive: Receive, send: Send) -> None:
            await self.flow.drain()  # an answer that waits for the one before to be read would not count as unread
            await app(scope, receive, send)

        self.app = answer_next

    def handle_events(self) -> None:
        self._paced.chunks_left = CHUNKS_AT_ONCE
        super().handle_events()
        if not self._paced.chunks_left and not self._is_pacing:
            self._is_pacing = True
            self.transport.pause_reading()
            self.loop.call_soon(self._handle_rest)

    def _handle_rest(self) -> None:
        self._is_pacing = False
        if not self.transport.is_closing():
            self.handle_events()
            if not self._is_pacing and not self.flow.read_paused:
                self.transport.resume_reading()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        limit = descriptors.max_connections()
        if len(self.connections) >= limit:
            _warn(TOO_MANY, limit)
            if not self._close_longest_idle(max(1, limit // 64)):  # several, because finding them takes time
                self.app = refuse_connection  # its answer depends on the path
                if len(self.connections) >= limit + limit // SPARE:
                    with suppress(OSError):  # otherwise the kernel resets the connection, and drops the answer
                        os.read(transport.get_extra_info("socket").fileno(), 64 * 1024)
                    transport.write(answer(503, TOO_MANY_CONNECTIONS, "retry-after: 1"))
                    transport.close()
        super().connection_made(transport)
        self._start_silence_timer()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(answer(400, "This is not a valid HTTP/1.1 request."))
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: anybody can cause it, and it advises to install packages that this server does not use."""

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._silence_timer.cancel()
        self._stop_unread_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_timer = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)
        self._unread[self] = None
        self._limit_unread()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_unread_timer()

    def _stop_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None
            del self._unread[self]

    def _limit_unread(self) -> None:
        """While unread answers take too much memory, end the oldest connection of the caller who has most of them."""
        sizes = {each: each.transport.get_write_buffer_size() for each in self._unread}
        while sum(sizes.values()) > UNREAD_BYTES:
            held: Counter[str] = Counter()
            for each, size in sizes.items():
                held[each.caller] += size
            [(most, _)] = held.most_common(1)
            oldest = next(each for each in sizes if each.caller == most)
            oldest.transport.abort()
            del sizes[oldest]

    @property
    def caller(self) -> str:
        """Who sent the last request; empty if that is not known."""
        known = None if self.cycle is None else received(Request(dict(self.cycle.scope)))
        return "" if known is None else known.caller

    def on_response_complete(self) -> None:
        self._silence_timer.cancel()
        self._start_silence_timer()
        super().on_response_complete()

    def _start_silence_timer(self) -> None:
        self.idle_since = time.monotonic()
        # uvicorn itself closes a connection that sends nothing after an answer, but a single byte prevents that.
        self._silence_timer = self.loop.call_later(SILENT_SECONDS, self._close_if_silent, self.cycle)

    def _close_if_silent(self, last_cycle: object) -> None:
        if self.cycle is last_cycle:  # uvicorn creates a new `cycle` for each request, once its head has arrived
            self.transport.close()
            # It stays open until everything is read, and what is less than 64 KB starts no timer for unread answers.
            self._silence_timer = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def _close_longest_idle(self, number: int) -> bool:
        """Close connections that have waited longest for a request, so that one client cannot keep all others out."""
        waiting = [each for each in self.connections if isinstance(each, LimitedProtocol) and each.is_idle]
        poll = select.poll()
        for each in waiting:
            poll.register(each.transport.get_extra_info("socket"), select.POLLIN)
        unread = {descriptor for descriptor, _ in poll.poll(0)}  # a request has arrived, and is about to be read
        idle = [each for each in waiting if each.transport.get_extra_info("socket").fileno() not in unread]
        for each in heapq.nsmallest(number, idle, key=lambda each: each.idle_since):
            each.transport.abort()
            self.connections.discard(each)  # now, not when the event loop notices
        return bool(idle)

    @property
    def is_idle(self) -> bool:
        """Whether the connection waits for the head of a request."""
        is_waiting = self.cycle is None or self.cycle.response_complete
        return is_waiting and self.app is not refuse_connection and not self.transport.is_closing()


def answer(status: int, detail: str, *headers: str) -> bytes:
    """Return a problem as a whole response, which is the last one of its connection."""
    made = problem(status, detail, "Refused")
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"content-type: {MEDIA_TYPE}", *headers]
    lines += [f"content-length: {len(made.body)}", "connection: close", "", ""]
    return "\r\n".join(lines).encode() + bytes(made.body)


def handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error of the event loop. If no descriptor was free to accept a connection, asyncio tries again soon."""
    if "accept() out of system resource" in context.get("message", ""):
        _warn(NONE_FREE)
    else:
        loop.default_exception_handler(context)


def is_due(record: logging.LogRecord) -> bool:
    """Whether an entry of uvicorn is logged. Anybody can cause its warnings, as often as the disk has room for."""
    return record.levelno != logging.WARNING or _is_due(str(record.msg))


def _warn(message: str, *details: int) -> None:
    """Log a warning, unless it was logged a short time ago."""
    if _is_due(message):
        log.warning(message, *details)


def _is_due(message: str) -> bool:
    if time.monotonic() <= _warned_at.get(message, -math.inf) + WARN_SECONDS:
        return False
    _warned_at[message] = time.monotonic()
    return True
