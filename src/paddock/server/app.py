"""The HTTP server: MCP at `/mcp`, and whether it is up at `/healthz`. On this machine only, for one user.

Until callers can be told apart, everyone who reaches it may run code as its owner: so it listens on loopback alone, and
a page in a browser cannot reach it through a name of its own (`Host` and `Origin` must be of this machine).
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
"""Of one request: code, inputs and files together."""
_HERE = r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?"
_HOST = re.compile(_HERE, re.IGNORECASE)
_ORIGIN = re.compile(f"http://{_HERE}", re.IGNORECASE)


def app(server: Server[Any]) -> Starlette:
    """The ASGI application. Its lifespan begins and ends the sessions of clients."""
    from mcp.server.transport_security import TransportSecuritySettings

    health = Route("/healthz", _healthy, methods=["GET"])
    # The SDK's own check takes all that begins with a name of this machine and a colon, and no name without a port.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    made = server.streamable_http_app(
        max_request_body_size=BODY_BYTES, custom_starlette_routes=[health], transport_security=unchecked
    )
    made.add_middleware(_Watched)
    made.add_middleware(_Local)
    return made


def checked_host(host: str) -> str:
    """`host`, if nobody outside this machine can reach it."""
    try:
        is_local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        raise ConfigError(
            f"refusing to listen on {host!r}: without authentication, whoever reaches this server can run code on it. "
            "Use 127.0.0.1, ::1 or localhost, and reach it from elsewhere through a tunnel such as ssh -L"
        )
    return host


async def _healthy(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n")


def gone(request: Request | None) -> asyncio.Event | None:
    """What is set when who made this request has closed the connection; None where there is none to close."""
    return None if request is None else getattr(request.state, _GONE, None)


class _Local:
    """Refuses who came by a name that is not this machine's, or from a page that is not: a browser sends both."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = _refused(Headers(scope=scope)) if scope["type"] in ("http", "websocket") else None
        await (refused or self._app)(scope, receive, send)


def _refused(headers: Headers) -> PlainTextResponse | None:
    if not all(_HOST.fullmatch(host) for host in headers.getlist("host") or [""]):
        return PlainTextResponse("Invalid Host header", 421)
    if not all(_ORIGIN.fullmatch(origin) for origin in headers.getlist("origin")):
        return PlainTextResponse("Invalid Origin header", 403)
    return None


class _Watched:
    """Notes that a client has gone. In the eras with sessions the SDK goes on then, for a client that may come back and
    ask for what it missed; nothing is kept here for that, so nobody ever could."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left = asyncio.Event()
        scope.setdefault("state", {})[_GONE] = left

        async def watched() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                left.set()
            return message

        await self._app(scope, watched, send)


_GONE = "paddock_gone"
