"""The HTTP client that the transports to MCP servers use. It bounds what a server can make the host read or wait for.

The SDK reports every status of 400 and above, and every network failure, as the same error. This client notes in the
`Exchange` of each request what really happened, and turns network failures into a status, so that one call fails and
the connection stays. It also handles cases in which a caller would wait forever: an answer with another request's id,
a stream that can be resumed endlessly, a notification that hangs. A request that nobody waits for any more is closed.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from http.cookiejar import Cookie, DefaultCookiePolicy
from time import time
from typing import TYPE_CHECKING, Any
from urllib.request import Request

import anyio
import httpx2
import msgspec

from paddock.tools.interim import pace_interim_responses
from paddock.tools.logins import OAuthFailed
from paddock.tools.message_filter import Rest, Throttle, without_surrogates
from paddock.tools.secrets import redact
from paddock.tools.size import MAX_CONTAINERS, TOO_MANY, containers, parse_seconds, run_by_size

if TYPE_CHECKING:
    import ssl

    from paddock.tools.mcp_config import Server
    from paddock.tools.oauth import Credentials

ERROR_BYTES = 64 * 1024
ERROR_SECONDS = 5.0
BODY_CHARACTERS = 500
"""How much of an error's body is shown."""
NOTIFICATION_SECONDS = 5.0
"""Time for a server to accept a notification or the end of a session."""
MAX_RETRY_SECONDS = 86_400.0
MAX_LINES_PER_SECOND = 100_000
"""Event streams are read no faster than this. A line costs about 1 µs."""
BYTES_PER_LINE = 400
"""This many bytes of a stream count as one more line."""
LINES_PER_PIECE = 40
"""A chunk of any body costs about as much as this many lines, even if it has a single byte."""
PIECES_PER_SECOND = MAX_LINES_PER_SECOND // LINES_PER_PIECE
"""The limit for bodies whose lines do not count."""
MAX_COOKIES = 50
OTHER_ANSWER = "it answers another request, or none"
RESUME_SECONDS = 0.1
LISTEN_SECONDS = 1.0
"""The minimum time between two streams of unsolicited messages. The SDK reopens one as soon as the server allows."""
MAX_RESUMES = 100
MAX_STALLED_RESUMES = 2
"""How often in a row a stream may be resumed from the same event."""


@dataclass(slots=True)
class Exchange:
    """What happened to one request over HTTP, and the headers that are added to it."""

    headers: Mapping[str, str] | None = field(default=None, repr=False)  # None: the request is not a tool call
    number: int | str | None = None  # the id of a tool call or another request, None for those of the connection itself
    has_session: bool = False  # whether the request belongs to a session
    status: int = 0
    body: str = ""  # the start of an error's body, or its JSON-RPC message
    retry_after_seconds: float | None = None
    network_error: str = ""
    wants_oauth: bool = False
    login_problem: str = ""  # why the stored login was not used
    unusable: str = ""  # why the response cannot be used
    too_large: bool = False
    is_closed: bool = False
    resumes: int = 0
    stalled_resumes: int = 0
    last_event: str = ""
    _scope: anyio.CancelScope | None = field(default=None, repr=False)

    @contextmanager
    def closable(self) -> Iterator[anyio.CancelScope]:
        """Open a cancel scope that `close` cancels."""
        with anyio.CancelScope() as scope:
            self._scope = scope
            if self.is_closed:
                scope.cancel()
            yield scope

    def close(self) -> None:
        """Abort the request: nobody waits for its answer any more."""
        self.is_closed = True
        if self._scope is not None:
            self._scope.cancel()

    def may_resume(self, last_event: str) -> bool:
        """Count an attempt to resume the stream after `last_event`; False once there were too many."""
        self.resumes += 1
        self.stalled_resumes = self.stalled_resumes + 1 if last_event == self.last_event else 0
        self.last_event = last_event
        return self.resumes <= MAX_RESUMES and self.stalled_resumes < MAX_STALLED_RESUMES


EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""The exchange of the request being sent. Transports post each message in the context of its sender."""


class _Message(msgspec.Struct):
    """The fields of a JSON-RPC message that the client uses. Decoding skips the others."""

    id: int | str | None = None
    method: str = ""
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decoder = msgspec.json.Decoder(_Message)


class _Cookies(DefaultCookiePolicy):
    """Keeps no cookie of an answer to a tool call: one user's would be sent with the next user's calls."""

    def set_ok(self, cookie: Cookie, request: Request) -> bool:
        exchange = EXCHANGE.get()
        return (exchange is None or exchange.headers is None) and super().set_ok(cookie, request)


class Client(httpx2.AsyncClient):
    """The connections to one server. `own` is the exchange of the connection itself; each call has another one."""

    def __init__(self, server: Server, own: Exchange, login: Credentials | None = None) -> None:
        super().__init__(
            # Bodies must not be compressed: a small one could become a huge one.
            headers={"user-agent": "paddock", **server.headers, "accept-encoding": "identity"},
            timeout=httpx2.Timeout(server.connect_seconds, read=None),  # calls have their own timeout
            verify=certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
            max_redirects=10,
        )
        pace_interim_responses(self)
        self._own = own
        self._login = login
        self._origin = _origin(httpx2.URL(server.url))
        self._has_listened = False
        self._rest = Rest()
        self._limit = server.answer_bytes
        self._own_secrets = server.secrets
        self._opening_headers = server.opening_headers
        self.cookies.jar.set_policy(_Cookies() if server.keeps_cookies else DefaultCookiePolicy(allowed_domains=[]))

    @property
    def _secrets(self) -> tuple[str, ...]:
        return self._own_secrets if self._login is None else (*self._own_secrets, *self._login.secrets)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send `request`. Failures are noted in the exchange and returned as a status of 400 or above."""
        exchange = EXCHANGE.get() or Exchange()
        request.headers.update(self._opening_headers if exchange.headers is None else exchange.headers)
        if len(self.cookies.jar) > MAX_COOKIES:
            self.cookies.clear()
        sent = _read(request)
        if sent is not None and sent.id is not None and sent.method:
            exchange.number = None if exchange is self._own else sent.id
            exchange.has_session = "mcp-session-id" in request.headers
            return await self._request(request, exchange, sent.id, options)
        if request.method == "GET" and exchange is self._own:
            return await self._listen(request, options)
        if request.method == "GET":
            return await self._resume(request, exchange, options)
        response = httpx2.Response(504, request=request)
        with anyio.move_on_after(NOTIFICATION_SECONDS):
            response = await self._send(request, Exchange(), options)
        is_cancellation = sent is not None and sent.method == "notifications/cancelled"
        if is_cancellation and exchange is not self._own:
            exchange.close()  # with older protocol versions the SDK leaves the request open
        return response

    async def _request(
        self, request: httpx2.Request, exchange: Exchange, number: int | str, options: dict[str, Any]
    ) -> httpx2.Response:
        response = await self._send_until_closed(request, exchange, exchange, options)
        if response.status_code != 200 or not _is_json(response):
            return response
        try:
            body = await response.aread()
        except httpx2.StreamError:
            return httpx2.Response(502, request=request)
        finally:
            await response.aclose()
        answer = await run_by_size(body, _answer, body, number)
        if answer is None:
            exchange.unusable = OTHER_ANSWER
            return httpx2.Response(502, request=request)
        kept = {name: value for name, value in response.headers.items() if name in ("content-type", "mcp-session-id")}
        return httpx2.Response(200, headers=kept, content=answer, request=request)

    async def _listen(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        """Open the stream of the server's unsolicited messages."""
        if self._has_listened:
            await anyio.sleep(LISTEN_SECONDS)
        self._has_listened = True
        is_extra = "mcp-session-id" in request.headers  # streamable HTTP works without this stream, SSE does not
        return await self._send(request, Exchange() if is_extra else self._own, options)

    async def _resume(self, request: httpx2.Request, exchange: Exchange, options: dict[str, Any]) -> httpx2.Response:
        """Open the rest of a stream that ended early. A failure to do so is not noted in the request's exchange."""
        if not exchange.may_resume(request.headers.get("last-event-id", "")):
            return httpx2.Response(410, request=request)
        await anyio.sleep(RESUME_SECONDS)
        response = await self._send_until_closed(request, exchange, Exchange(), options)
        if isinstance(response.stream, _Body):
            response.stream.exchange = exchange
        return response

    async def _send_until_closed(
        self, request: httpx2.Request, closing: Exchange, noting: Exchange, options: dict[str, Any]
    ) -> httpx2.Response:
        """Send `request`, unless `closing` is closed. What happens is noted in `noting`."""
        with closing.closable() as scope:
            response = await self._send(request, noting, options)
        return httpx2.Response(503, request=request) if scope.cancelled_caught else response

    async def _send(self, request: httpx2.Request, exchange: Exchange, options: dict[str, Any]) -> httpx2.Response:
        try:
            response = await self._send_logged_in(request, exchange, options)
        except httpx2.TransportError as problem:
            exchange.network_error = _reason(problem)
            return httpx2.Response(503, request=request)
        except OAuthFailed as problem:
            exchange.network_error = f"its login cannot be refreshed: {problem}"
            return httpx2.Response(503, request=request)
        exchange.status = response.status_code
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            exchange.unusable = "it is compressed, although the request asked for no compression"
            return httpx2.Response(502, request=request)
        is_stream = "text/event-stream" in response.headers.get("content-type", "")
        response.stream = _Body(response.stream, None if is_stream else self._limit, exchange, self._rest)
        return await _failed(response, exchange, self._secrets) if response.status_code >= 400 else response

    async def _send_logged_in(
        self, request: httpx2.Request, exchange: Exchange, options: dict[str, Any]
    ) -> httpx2.Response:
        """Send `request` with the token of the login, and once more with a new token if the server refuses it.

        Not an `httpx2.Auth`: that would read the refused answer whole, and send requests one after the other.
        """
        if self._login is None or _origin(request.url) != self._origin:
            return await super().send(request, **options)
        token = _authorize(request, await self._login.token())
        response = await super().send(request, **options)
        if token and response.status_code == 401:
            try:
                has_another = _authorize(request, await self._login.renew(token))
            except BaseException:
                await response.aclose()
                raise
            if has_another:
                await response.aclose()
                response = await super().send(request, **options)
        exchange.login_problem = self._login.problem
        return response


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _authorize(request: httpx2.Request, token: str) -> str:
    """Set the access token of a request, unless it is empty. Returns it."""
    if token:
        request.headers["authorization"] = f"Bearer {token}"
    return token


@cache
def certificates(*_: str | None) -> ssl.SSLContext:
    """The trusted certificates. Read once, because that blocks the event loop for tens of milliseconds."""
    return httpx2.create_ssl_context()


class _Body(httpx2.AsyncByteStream):
    """A body that raises StreamError if it breaks off, exceeds `limit` or is closed.

    A body without a limit is a stream of events. The transport limits the size of each event. The rate of every body is
    limited, because the pieces that have arrived are read without a pause for others. A large answer is passed on after
    a `rest`.
    """

    def __init__(self, inner: Any, limit: int | None, exchange: Exchange, rest: Rest) -> None:
        self._inner = inner
        self._limit = limit
        self.exchange = exchange
        self._rest = rest
        self._throttle = Throttle(MAX_LINES_PER_SECOND)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = count = 0
        seconds = 0.0  # for the answer that is being read
        pieces = aiter(self._inner)
        while True:
            try:
                with self.exchange.closable() as scope:
                    piece: bytes | None = await anext(pieces, None)
            except httpx2.TransportError as problem:
                self.exchange.network_error = _reason(problem)
                raise httpx2.StreamError("the body ended early") from None
            if scope.cancelled_caught:
                raise httpx2.StreamError("the request was closed")
            if piece is None:
                await self._take_rest(seconds)
                return
            size += len(piece)
            seconds += parse_seconds(piece)
            count += containers(piece)
            if count > MAX_CONTAINERS:
                self.exchange.unusable = TOO_MANY
                raise httpx2.StreamError("the body has too many values")
            lines = LINES_PER_PIECE
            if self._limit is None:
                if b"\n" in piece:  # the next event
                    await self._take_rest(seconds)
                    seconds = 0.0
                    count = containers(piece.rpartition(b"\n")[2])
                lines += piece.count(b"\n") + piece.count(b"\r") + len(piece) // BYTES_PER_LINE
            await self._throttle.take(lines)
            if self._limit is not None and size > self._limit:
                self.exchange.too_large = True
                raise httpx2.StreamError("the body is too large")
            yield piece

    async def _take_rest(self, seconds: float) -> None:
        with self.exchange.closable() as scope:
            await self._rest.take(seconds)
        if scope.cancelled_caught:
            raise httpx2.StreamError("the request was closed")

    async def aclose(self) -> None:
        await self._inner.aclose()


def _read(request: httpx2.Request) -> _Message | None:
    """The JSON-RPC message that `request` posts, or None."""
    if request.method != "POST":
        return None
    with suppress(ValueError, RecursionError, httpx2.RequestNotRead):
        return _decoder.decode(request.content)
    return None


def _is_json(response: httpx2.Response) -> bool:
    return bool(response.headers.get("content-type", "").lower().startswith("application/json"))


def _answer(body: bytes, number: int | str) -> bytes | None:
    """The body as an answer to the request `number`; None if it answers another one.

    Some servers turn the number into text, and an error has no id if the request could not be parsed. Text that is not
    JSON, or nested too deeply, stays as it is: the SDK reports it.
    """
    if b"\\ud" in body or b"\\uD" in body:
        body = without_surrogates(body)
    try:
        message = _decoder.decode(body)
    except (ValueError, RecursionError):
        return body
    if type(message.id) is type(number) and message.id == number:
        return body
    if str(message.id) != str(number) and (message.id is not None or message.error is msgspec.UNSET):
        return None if message.id is not None else body
    with suppress(ValueError, RecursionError):
        return json.dumps({**json.loads(body), "id": number}).encode()
    return body


async def _failed(response: httpx2.Response, exchange: Exchange, secrets: tuple[str, ...]) -> httpx2.Response:
    """Read the body of an error, at most ERROR_BYTES, and return the response with that body."""
    body = bytearray()
    with anyio.move_on_after(ERROR_SECONDS), exchange.closable(), suppress(httpx2.TransportError, httpx2.StreamError):
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > ERROR_BYTES:
                break
    await response.aclose()
    exchange.wants_oauth = "resource_metadata" in response.headers.get("www-authenticate", "")
    exchange.retry_after_seconds = _retry_after(response.headers.get("retry-after", ""))
    if "html" not in response.headers.get("content-type", ""):
        text = redact(_error_text(bytes(body)), secrets)  # before it is changed: a part would not be found
        exchange.body = " ".join(text.split())[:BODY_CHARACTERS]
    kept = {name: value for name, value in response.headers.items() if name in ("content-type", "www-authenticate")}
    return httpx2.Response(
        response.status_code, headers=kept, content=bytes(body[:ERROR_BYTES]), request=response.request
    )


def _error_text(body: bytes) -> str:
    """The message of a JSON-RPC error, or any other text."""
    text = body.decode(errors="replace")
    with suppress(ValueError, LookupError, TypeError, RecursionError):
        text = str(json.loads(body)["error"]["message"])
    return text


def _retry_after(value: str) -> float | None:
    """Seconds until the next attempt, from either form of the header."""
    try:
        seconds = float(value) if value.strip().isdigit() else parsedate_to_datetime(value).timestamp() - time()
    except (ValueError, TypeError, OverflowError):
        return None
    return round(min(max(seconds, 0.0), MAX_RETRY_SECONDS), 1)


def _reason(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
