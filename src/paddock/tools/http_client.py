"""An HTTP client for MCP servers that bounds what it reads and remembers how each exchange went.

The SDK turns every status of 400 and more into one and the same error, ends the whole connection where one request
fails, and reads bodies of any size. Here a failure of the network is noted and given to it as a status, so that one
call fails and the others go on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

if TYPE_CHECKING:
    from paddock.tools.upstream_config import Server

ERROR_BYTES = 64 * 1024
ERROR_SECONDS = 5.0
CONNECT_SECONDS = 30.0
MOST_RETRY_SECONDS = 86_400.0


@dataclass(slots=True)
class Exchange:
    """How the HTTP side of one request went."""

    status: int = 0
    said: str = ""
    retry_after_seconds: float | None = None
    network: str = ""  # why there is no answer at all
    too_large: bool = False


EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""That of the request being sent. The SDK's transports run each request in the context of whoever sent it."""


class Client(httpx2.AsyncClient):
    """One server's connections. Asks for bodies that are not compressed: a small one could become a huge one."""

    def __init__(self, server: Server) -> None:
        super().__init__(
            headers={"user-agent": "paddock", **server.headers, "accept-encoding": "identity"},
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),  # a call has its own time; a stream has none
        )
        self._limit = server.answer_bytes

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        note = EXCHANGE.get() or Exchange()
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as problem:
            note.network = _reason(problem)
            return httpx2.Response(503, request=request)
        note.status = response.status_code
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            note.network = "it answered with compressed data that nobody asked for"
            return httpx2.Response(502, request=request)
        if response.status_code >= 400:
            return await _failed(response, note)
        if "text/event-stream" not in response.headers.get("content-type", ""):
            response.stream = _Capped(response.stream, self._limit, note)
        return response


class _Capped(httpx2.AsyncByteStream):
    """A body that ends with an error once it is too large. A StreamError: the SDK fails one call for it, not all."""

    def __init__(self, inner: Any, limit: int, note: Exchange) -> None:
        self._inner = inner
        self._limit = limit
        self._note = note

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        try:
            async for piece in self._inner:
                left -= len(piece)
                if left < 0:
                    self._note.too_large = True
                    raise httpx2.StreamError("the body is too large")
                yield piece
        except httpx2.TransportError as problem:
            self._note.network = _reason(problem)
            raise httpx2.StreamError("the body ended early") from None

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _failed(response: httpx2.Response, note: Exchange) -> httpx2.Response:
    """The same answer with its whole body read, as far as that is worth it."""
    body = bytearray()
    with anyio.move_on_after(ERROR_SECONDS):
        try:
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > ERROR_BYTES:
                    break
        except (httpx2.TransportError, httpx2.StreamError):
            pass
    await response.aclose()
    note.retry_after_seconds = _retry_after(response.headers.get("retry-after", ""))
    content_type = response.headers.get("content-type", "")
    if "html" not in content_type:
        note.said = _said(bytes(body))
    kept = {name: value for name, value in response.headers.items() if name in ("content-type", "www-authenticate")}
    return httpx2.Response(
        response.status_code, headers=kept, content=bytes(body[:ERROR_BYTES]), request=response.request
    )


def _said(body: bytes) -> str:
    """The message of an error of the protocol, or the beginning of whatever else it is."""
    text = " ".join(body.decode(errors="replace").split())
    with suppress(ValueError, LookupError, TypeError, RecursionError):
        text = str(json.loads(body)["error"]["message"])
    return text[:500]


def _retry_after(value: str) -> float | None:
    """Seconds until it may be tried again, from either form of the header."""
    try:
        seconds = float(value) if value.strip().isdigit() else parsedate_to_datetime(value).timestamp() - time()
    except (ValueError, TypeError, OverflowError):
        return None
    return round(min(max(seconds, 0.0), MOST_RETRY_SECONDS), 1)


def _reason(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
