"""An HTTP client for MCP servers that bounds what it reads and remembers how each exchange went.

To the SDK a status of 400 and more is one and the same error, and so is a failure of the network. Here each is noted
for whoever makes the call, and a failure is given on as a status, so that one call fails and the others go on.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from time import time
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

if TYPE_CHECKING:
    import ssl

    from paddock.tools.server import Server

ERROR_BYTES = 64 * 1024
ERROR_SECONDS = 5.0
CONNECT_SECONDS = 30.0
MOST_RETRY_SECONDS = 86_400.0
MOST_LINES_A_SECOND = 100_000
"""Of a stream of events. A server that sends more is read more slowly: each costs the host a microsecond."""
MOST_COOKIES = 50
MOST_REDIRECTS = 10


@dataclass(slots=True)
class Exchange:
    """How the HTTP side of one request went, and what is added to it."""

    headers: Mapping[str, str] | None = field(default=None, repr=False)  # None: it is no call
    status: int = 0
    said: str = ""
    retry_after_seconds: float | None = None
    network: str = ""  # why there is no answer at all
    wants_oauth: bool = False
    unusable: str = ""  # why the answer is none
    too_large: bool = False


EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""That of the request being sent. The SDK's transports run each request in the context of whoever sent it."""


def beside(exchange: Exchange | None) -> Exchange:
    """That of a message about another request: it carries the same headers, and how it goes is its own."""
    return Exchange(headers=None if exchange is None else exchange.headers)


class Client(httpx2.AsyncClient):
    """One server's connections. Asks for bodies that are not compressed: a small one could become a huge one."""

    def __init__(self, server: Server) -> None:
        super().__init__(
            headers={"user-agent": "paddock", **server.headers, "accept-encoding": "identity"},
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),  # a call has its own time; a stream has none
            verify=_trusting(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
        )
        self._limit = server.answer_bytes
        self._opening_headers = server.opening_headers
        if not server.keeps_cookies:  # one that came with a call would make the next one somebody else's
            self.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        exchange = EXCHANGE.get() or Exchange()
        request.headers.update(self._opening_headers if exchange.headers is None else exchange.headers)
        # The rest of a stream that ended says nothing about the request that began it.
        note = exchange if "last-event-id" not in request.headers else Exchange()
        if len(self.cookies.jar) > MOST_COOKIES:
            self.cookies.clear()
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as problem:
            note.network = _reason(problem)
            return httpx2.Response(503, request=request)
        note.status = response.status_code
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            note.unusable = "it is compressed, which nobody asked for"
            return httpx2.Response(502, request=request)
        if response.status_code >= 400:
            return await _failed(response, note)
        is_stream = "text/event-stream" in response.headers.get("content-type", "")
        response.stream = _Body(response.stream, None if is_stream else self._limit, note)
        return response

    async def follow(self, request: httpx2.Request) -> httpx2.Response:
        """The response, its body unread, after the redirects that stay with this server. Another is not followed."""
        response = await self.send(request, stream=True, follow_redirects=False)
        for _ in range(MOST_REDIRECTS):
            following = response.next_request
            if following is None or not _is_near(following, request):
                break
            await response.aclose()
            request, response = following, await self.send(following, stream=True, follow_redirects=False)
        return response


@cache
def _trusting(*_: str | None) -> ssl.SSLContext:
    """Whom servers are vouched for by. Read once: that takes tens of milliseconds, in which the event loop waits."""
    return httpx2.create_ssl_context()


class _Body(httpx2.AsyncByteStream):
    """A body that ends with a StreamError where it breaks off or is larger than `limit`.

    Without a limit it is a stream of events, each of which has one: read no faster than the host can bear.
    """

    def __init__(self, inner: Any, limit: int | None, note: Exchange) -> None:
        self._inner = inner
        self._limit = limit
        self._note = note
        self._second, self._lines = 0.0, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for piece in self._inner:
                size += len(piece)
                if self._limit is None:
                    await self._slow_down(piece.count(b"\n") + piece.count(b"\r"))
                elif size > self._limit:
                    self._note.too_large = True
                    raise httpx2.StreamError("the body is too large")
                yield piece
        except httpx2.TransportError as problem:
            self._note.network = _reason(problem)
            raise httpx2.StreamError("the body ended early") from None

    async def _slow_down(self, lines: int) -> None:
        now = anyio.current_time()
        if now - self._second >= 1:
            self._second, self._lines = now, 0
        self._lines += lines
        if self._lines > MOST_LINES_A_SECOND:
            await anyio.sleep(self._second + 1 - now)

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
    note.wants_oauth = "resource_metadata" in response.headers.get("www-authenticate", "")
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


def _is_near(following: httpx2.Request, request: httpx2.Request) -> bool:
    """Whether a redirect stays with the server that the credentials are for, and keeps the message."""
    new, old = following.url, request.url
    is_same = (new.scheme, new.host, new.port) == (old.scheme, old.host, old.port)
    is_upgrade = (old.scheme, new.scheme, new.host) == ("http", "https", old.host) and old.port is new.port is None
    return following.method == request.method and new.userinfo in (b"", old.userinfo) and (is_same or is_upgrade)
