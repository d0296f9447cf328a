"""The HTTP server: MCP at `/mcp`, and whether it is up at `/healthz`. On this machine only, for one user.

Until callers can be told apart, everyone who reaches it may run code as its owner: so it listens on loopback alone, and
a page in a browser cannot reach it through a name of its own (`Host` and `Origin` are checked by the SDK).
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from paddock.model.errors import ConfigError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette
    from starlette.requests import Request

BODY_BYTES = 32 * 1024 * 1024
"""Of one request: code, inputs and files together."""


def app(server: Server[Any]) -> Starlette:
    """The ASGI application. Its lifespan begins and ends the sessions of clients."""
    health = Route("/healthz", _healthy, methods=["GET"])
    return server.streamable_http_app(max_request_body_size=BODY_BYTES, custom_starlette_routes=[health])


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
