"""The HTTP server: MCP at `/mcp`, and health checks at `/healthz` and `/readyz`.

Whoever reaches the server can run code as its owner. It therefore listens on loopback or a Unix socket only, and checks
`Host` and `Origin`, so that a web page cannot reach it through DNS rebinding. If a token is configured, it is required.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import math
import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from paddock.errors import ConfigError, Overloaded
from paddock.model import envelope
from paddock.model.request import LOCAL
from paddock.server.readiness import Readiness
from paddock.server.request_memory import SMALL_BYTES, HeldMemory, RequestMemory, parsed_bytes

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from paddock.config import ServerConfig
    from paddock.server.services import Services

BODY_BYTES = 32 * 1024 * 1024
"""Maximum size of one request: code, inputs and files together."""
EXPOSED_HEADERS = ("mcp-session-id", "retry-after", "www-authenticate")
"""Headers of answers that web pages may read, besides those that browsers always show them."""
_HOST = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_ANY_PORT = ":*"
_HEALTH = "/healthz"
_RECEIVED_KEY = "paddock_received"


@dataclass(frozen=True, slots=True)
class Received:
    """What is known about a request before MCP reads it."""

    caller: str  # requests with the same value share places for runs, and memory
    body_bytes: int  # the SDK keeps the body as long as the call lasts
    memory: HeldMemory
    disconnected: asyncio.Event  # set when the client closes its connection


def make_app(server: Server[Any], services: Services) -> Starlette:
    """Return the ASGI application. Its lifespan starts and ends the clients' sessions."""
    from mcp.server.transport_security import TransportSecuritySettings

    readiness = Readiness(services)

    async def check_ready(request: Request) -> PlainTextResponse:
        problems = await readiness.problems()
        return PlainTextResponse("".join(f"{each}\n" for each in problems or ["ok"]), 503 if problems else 200)

    routes = [Route(_HEALTH, _health, methods=["GET"]), Route("/readyz", check_ready, methods=["GET"])]
    # The SDK's check is disabled: it accepts every host that starts with a local name and a colon, and refuses hosts
    # without a port. `_Guard` checks the host instead.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        max_request_body_size=BODY_BYTES, custom_starlette_routes=routes, transport_security=unchecked
    )
    # Remove the SDK's check of the size, which would keep a copy of the body as long as the call lasts. `_Guard` has
    # checked the size already.
    manager = server.session_manager
    manager.asgi_app = manager.asgi_app.app  # type: ignore[assignment]
    settings = services.config.server
    app.add_middleware(_Guard, settings=settings)
    if settings.origins:
        # This middleware is outside of the guard, because a browser's preflight request has no token.
        app.add_middleware(
            CORSMiddleware,
            allow_origin_regex=_origins_pattern(settings.origins),
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=("*",),
            allow_private_network=True,
            expose_headers=EXPOSED_HEADERS,
        )
    return app


def check_host(host: str) -> None:
    """Raise ConfigError unless `host` is reachable only from this machine."""
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ConfigError(
            f"refusing to listen on {host!r}: without accounts, whoever reaches this server can run code on it. "
            "Use 127.0.0.1, ::1 or localhost, and reach it from elsewhere through a tunnel such as ssh -L"
        )


def received(request: Request | None) -> Received | None:
    """Return what is known about this request; None over stdio."""
    return None if request is None else getattr(request.state, _RECEIVED_KEY, None)


async def _health(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n")


class _Refused(Exception):
    """Raised for a request that is refused. Holds the HTTP status, and the reason that the client is told."""

    def __init__(self, status: int, reason: str, data: dict[str, Any] | None = None, **headers: str) -> None:
        super().__init__(reason)
        self.status, self.data = status, data
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self) -> JSONResponse:
        """Return the refusal as a JSON-RPC error, because clients show only the message of such an error."""
        error = {"code": INVALID_REQUEST, "message": str(self), **({} if self.data is None else {"data": self.data})}
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, self.status, self.headers)


class _Guard:
    """Checks who sends a request, reads its body within limits, and notices when its client disconnects.

    In protocol versions with sessions, the SDK continues a call after a disconnect, so that the client can fetch missed
    events later. This server stores no events, so it ends the call.
    """

    def __init__(self, app: ASGIApp, settings: ServerConfig) -> None:
        self._app, self._settings = app, settings
        self._token_digest = _digest(settings.token) if settings.token else None
        self._origins = re.compile(_origins_pattern(settings.origins))
        self._memory = RequestMemory(settings.request_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        caller = self._caller(scope)
        memory = HeldMemory(self._memory, caller)
        with memory:
            await self._serve(scope, receive, send, caller, memory)

    def _caller(self, scope: Scope) -> str:
        """Return who makes the request: never a connection or an unverified token, of which anybody can have many."""
        is_verified = self._token_digest is not None  # all callers have the same token, and count as one
        return LOCAL if is_verified or not scope.get("client") else str(scope["client"][0])

    async def _serve(self, scope: Scope, receive: Receive, send: Send, caller: str, memory: HeldMemory) -> None:
        try:
            headers = Headers(scope=scope)
            self._check(scope["path"], headers)
            body = await self._receive_body(headers, receive, memory) if scope["type"] == "http" else deque()
        except _Refused as refused:
            await refused.response()(scope, receive, send)
            return
        disconnected = asyncio.Event()
        size = sum(len(message.get("body", b"")) for message in body)
        scope.setdefault("state", {})[_RECEIVED_KEY] = Received(caller, size, memory, disconnected)
        has_started = False

        async def receive_again() -> Message:
            message = body.popleft() if body else await receive()
            if message["type"] == "http.disconnect":
                disconnected.set()
            return message

        async def send_on(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive_again, send_on)
        except asyncio.CancelledError:  # the server is being shut down, and this call did not end in time
            if not has_started:
                reason = "The server was shut down before it could answer; check what the call did before you repeat it"
                await _Refused(503, reason).response()(scope, receive, send)

    def _check(self, path: str, headers: Headers) -> None:
        """Raise _Refused unless the host is this machine, the origin (if any) is allowed, and the token is right."""
        if not all(_HOST.fullmatch(host) for host in headers.getlist("host") or [""]):
            raise _Refused(421, "Invalid Host header: it must name this machine, as localhost or 127.0.0.1 does")
        for origin in headers.getlist("origin"):
            if not self._origins.fullmatch(origin):
                raise _Refused(403, "Invalid Origin header: web pages may use this server if server.origins names them")
        if self._token_digest is None or path == _HEALTH:
            return
        credentials = headers.getlist("authorization")
        if not credentials:
            problem = "this server requires a token"
        elif len(credentials) > 1 or not hmac.compare_digest(_digest(_bearer(credentials[0])), self._token_digest):
            problem = "the token is not the one that this server requires"
        else:
            return
        reason = f"Unauthorized: {problem}; send it as `Authorization: Bearer TOKEN`"
        raise _Refused(401, reason, www_authenticate="Bearer")

    async def _receive_body(self, headers: Headers, receive: Receive, memory: HeldMemory) -> deque[Message]:
        """Read the whole body. Raises _Refused if it is too large or too slow, or if requests take too much memory."""
        if int(headers.get("content-length", 0)) > BODY_BYTES:
            raise _too_large()
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                return await self._read_body(receive, memory)
        except TimeoutError:
            seconds = f"{self._settings.body_seconds:g} s"
            raise _Refused(408, f"The request did not arrive within {seconds}", connection="close") from None

    async def _read_body(self, receive: Receive, memory: HeldMemory) -> deque[Message]:
        body, size, more, refusal = bytearray(), 0, True, None
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return deque([message])
            more = message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > BODY_BYTES:
                raise _too_large()
            if refusal is None:  # otherwise the rest is read and discarded: a client reads no answer while it sends
                body += message.get("body", b"")
                refusal = self._count(body, memory, is_whole=not more)
                if refusal is not None:
                    body.clear()
                    memory.shrink()
        if refusal is not None:
            raise refusal
        return deque([{"type": "http.request", "body": bytes(body), "more_body": False}])

    def _count(self, body: bytearray, memory: HeldMemory, *, is_whole: bool) -> _Refused | None:
        """Count the memory for `body`. Returns the refusal if it is too much."""
        is_large = len(body) > SMALL_BYTES
        needed = parsed_bytes(body) if is_whole else len(body)
        if is_large and needed > self._memory.largest_bytes:
            reason = (
                f"The values of this request could take {needed >> 20} MB of memory, and server.request_bytes "
                f"allows {self._memory.largest_bytes >> 20} MB: send less at once"
            )
            return _Refused(413, reason)
        try:
            memory.grow(needed, is_large=is_large)
        except Overloaded as problem:
            hints = [
                "Nothing was run. Wait for retry_after_seconds, then send it again, with fewer large requests at once."
            ]
            data = envelope.rate_limited("request", str(problem), problem.retry_after_seconds, hints=hints)
            return _Refused(429, str(problem), data, retry_after=str(math.ceil(problem.retry_after_seconds)))
        return None


def _too_large() -> _Refused:
    return _Refused(413, f"The request has more than {BODY_BYTES >> 20} MB: send less at once")


def _origins_pattern(origins: tuple[str, ...]) -> str:
    """Return a pattern for the allowed origins. `http://localhost:*` allows any port, and no port."""
    ports = {each: r"(:\d{1,5})?" if each.endswith(_ANY_PORT) else "" for each in origins}
    return f"(?i:{'|'.join(re.escape(each.removesuffix(_ANY_PORT)) + port for each, port in ports.items()) or '(?!)'})"


def _bearer(credentials: str) -> str:
    scheme, _, token = credentials.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
