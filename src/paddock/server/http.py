"""The HTTP server: MCP at `/mcp` and a health check at `/healthz`, for one user on this machine.

There is no authentication yet, so anyone who reaches the server can run code as its owner. It therefore listens on
loopback only, and checks `Host` and `Origin`, so that a web page cannot reach it through DNS rebinding.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from paddock.errors import ConfigError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_BYTES = 32 * 1024 * 1024
"""Maximum size of one request: code, inputs and files together."""
_LOOPBACK = r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?"
_HOST = re.compile(_LOOPBACK, re.IGNORECASE)
_ORIGIN = re.compile(f"http://{_LOOPBACK}", re.IGNORECASE)
_DISCONNECTED = "paddock_disconnected"


def make_app(server: Server[Any]) -> Starlette:
    """The ASGI application. Its lifespan starts and ends the clients' sessions."""
    from mcp.server.transport_security import TransportSecuritySettings

    health = Route("/healthz", _health, methods=["GET"])
    # Disabled: the SDK's check accepts every host that starts with a local name and a colon, and refuses hosts without
    # a port. `_Guard` checks instead.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        max_request_body_size=BODY_BYTES, custom_starlette_routes=[health], transport_security=unchecked
    )
    app.add_middleware(_Guard)
    return app


def check_host(host: str) -> None:
    """Raise ConfigError unless `host` is reachable only from this machine."""
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ConfigError(
            f"refusing to listen on {host!r}: without authentication, whoever reaches this server can run code on it. "
            "Use 127.0.0.1, ::1 or localhost, and reach it from elsewhere through a tunnel such as ssh -L"
        )


def disconnect_event(request: Request | None) -> asyncio.Event | None:
    """An event that is set when the client of this request closes its connection; None over stdio."""
    return None if request is None else getattr(request.state, _DISCONNECTED, None)


async def _health(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n")


class _Guard:
    """Refuses requests with a foreign `Host` or `Origin`, and notices when a client disconnects.

    A browser always sends both headers. In protocol versions with sessions, the SDK continues a call after a
    disconnect, so that the client can fetch missed events later. This server stores no events, so it ends the call.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        disconnected = asyncio.Event()
        scope.setdefault("state", {})[_DISCONNECTED] = disconnected

        async def watch_receive() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                disconnected.set()
            return message

        await (_refusal(Headers(scope=scope)) or self._app)(scope, watch_receive, send)


def _refusal(headers: Headers) -> PlainTextResponse | None:
    if not all(_HOST.fullmatch(host) for host in headers.getlist("host") or [""]):
        return PlainTextResponse("Invalid Host header", 421)
    if not all(_ORIGIN.fullmatch(origin) for origin in headers.getlist("origin")):
        return PlainTextResponse("Invalid Origin header", 403)
    return None
