"""The HTTP server: MCP at `/mcp`, and health checks at `/healthz` and `/readyz`.

Whoever reaches the server can run code as its owner. It therefore listens on loopback or a Unix socket only, and checks
`Host` and `Origin`, so that a web page cannot reach it through DNS rebinding. If a token is configured, it is required.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import re
from collections import deque
from typing import TYPE_CHECKING, Any

from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from paddock.errors import ConfigError
from paddock.server.readiness import Readiness

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from paddock.config import ServerConfig
    from paddock.server.services import Services

BODY_BYTES = 32 * 1024 * 1024
"""Maximum size of one request: code, inputs and files together."""
SMALL_BYTES = 64 * 1024
"""This much of each body does not count towards `arriving_bytes`: small requests arrive even if large ones use it."""
_HOST = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_ANY_PORT = ":*"
_HEALTH = "/healthz"
_DISCONNECTED_KEY = "paddock_disconnected"
_BODY_SIZE_KEY = "paddock_body_size"


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
    app.add_middleware(_Guard, settings=services.config.server)
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


def disconnect_event(request: Request | None) -> asyncio.Event | None:
    """Return an event that is set when the client of this request closes its connection; None over stdio."""
    return None if request is None else getattr(request.state, _DISCONNECTED_KEY, None)


def body_bytes(request: Request | None) -> int:
    """Return the size of the request's body, which the SDK keeps as long as the call lasts; 0 over stdio."""
    return 0 if request is None else getattr(request.state, _BODY_SIZE_KEY, 0)


async def _health(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n")


class _Refused(Exception):
    """Raised for a request that is refused. Holds the HTTP status, and the reason that the client is told."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self) -> JSONResponse:
        """Return the refusal as a JSON-RPC error, because clients show only the message of such an error."""
        error = {"code": INVALID_REQUEST, "message": str(self)}
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, self.status, self.headers)


class _Guard:
    """Checks who sends a request, reads its body within limits, and notices when its client disconnects.

    In protocol versions with sessions, the SDK continues a call after a disconnect, so that the client can fetch missed
    events later. This server stores no events, so it ends the call.
    """

    def __init__(self, app: ASGIApp, settings: ServerConfig) -> None:
        self._app, self._settings = app, settings
        self._token_digest = _digest(settings.token) if settings.token else None
        self._arriving_bytes = 0  # counted bytes of all bodies that have not arrived completely

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check(scope["path"], headers)
            body = await self._receive_body(headers, receive) if scope["type"] == "http" else deque()
        except _Refused as refused:
            await refused.response()(scope, receive, send)
            return
        disconnected = asyncio.Event()
        size = sum(len(message.get("body", b"")) for message in body)
        scope.setdefault("state", {}).update({_DISCONNECTED_KEY: disconnected, _BODY_SIZE_KEY: size})
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
            if not any(_is_origin(origin, each) for each in self._settings.origins):
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

    async def _receive_body(self, headers: Headers, receive: Receive) -> deque[Message]:
        """Read the whole body. Raises _Refused if it is too large or too slow, or if too many bodies are arriving."""
        messages: deque[Message] = deque()
        counted, size = 0, int(headers.get("content-length", 0))
        too_large = _Refused(413, f"The request has more than {BODY_BYTES >> 20} MB: send less at once")
        if size > BODY_BYTES:
            raise too_large
        size = 0
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                while True:
                    message = await receive()
                    messages.append(message)
                    size += len(message.get("body", b""))
                    if size > BODY_BYTES:
                        raise too_large
                    if not message.get("more_body", False):
                        return messages
                    self._arriving_bytes += max(0, size - SMALL_BYTES) - counted
                    counted = max(0, size - SMALL_BYTES)
                    if counted and self._arriving_bytes > self._settings.arriving_bytes:
                        raise _Refused(503, "Too many large requests are being sent: try again", retry_after="1")
        except TimeoutError:
            seconds = f"{self._settings.body_seconds:g} s"
            raise _Refused(408, f"The request did not arrive within {seconds}", connection="close") from None
        finally:
            self._arriving_bytes -= counted


def _is_origin(origin: str, allowed: str) -> bool:
    """Whether `allowed` matches `origin`. `http://localhost:*` matches any port, and no port."""
    if not allowed.endswith(_ANY_PORT):
        return origin.lower() == allowed.lower()
    pattern = re.escape(allowed.removesuffix(_ANY_PORT)) + r"(:\d{1,5})?"
    return re.fullmatch(pattern, origin, re.IGNORECASE) is not None


def _bearer(credentials: str) -> str:
    scheme, _, token = credentials.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
