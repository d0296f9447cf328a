"""An MCP server that tells what reached it: `python seeing.py stdio|http|sse`."""

from __future__ import annotations

import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from plain import serve  # type: ignore[import-not-found]  # beside this file, where it is run
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

server = MCPServer("seeing", version="1")


def seen(ctx: Context, **arguments: Any) -> dict[str, Any]:
    request = ctx.request_context.request
    return {
        "arguments": {name: value for name, value in arguments.items() if value},
        "headers": {} if request is None else {name: value for name, value in request.headers.items() if "x-" in name},
        "has_token": request is not None and request.headers.get("authorization") == "Bearer tok-of-the-eu-account",
        "meta": {name: value for name, value in (ctx.request_context.meta or {}).items() if "example" in name},
    }


@server.tool()
def orders(limit: int, identity_id: str, ctx: Context) -> dict[str, Any]:
    """Orders of an identity."""
    return seen(ctx, limit=limit, identity_id=identity_id)


@server.tool()
def items(ctx: Context, region: str = "", PCID: str = "") -> dict[str, Any]:  # noqa: N803
    """Items of a region, by a connection."""
    return seen(ctx, region=region, PCID=PCID)


@server.tool()
def plain(ctx: Context) -> dict[str, Any]:
    """Takes nothing."""
    return seen(ctx)


@server.tool()
def knows(profile_end: str, ctx: Context) -> dict[str, bool]:
    """Whether the credential came, and a profile that ends like this."""
    came = seen(ctx)
    return {"token": came["has_token"], "profile": came["headers"].get("x-profile", "").endswith(profile_end)}


@server.tool(structured_output=False)
def repeat(ctx: Context) -> str:
    """Say the credential again."""
    request = ctx.request_context.request
    return "none" if request is None else str(request.headers.get("authorization"))


@server.tool(structured_output=False)
def cookie(ctx: Context) -> str:
    """The cookies that came."""
    request = ctx.request_context.request
    return "" if request is None else str(request.headers.get("cookie", ""))


class Guarded:
    """Answers nobody who has no token, whatever is asked, and numbers its answers to others with a cookie."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._answers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answers += 1
                cookie = b"answer=%d; Path=/" % self._answers
                message["headers"] = [*message["headers"], (b"set-cookie", cookie)]
            await send(message)

        if scope["type"] == "http" and not headers.get(b"authorization", b"").startswith(b"Bearer tok-"):
            await Response("who are you?", 401)(scope, receive, send)
        else:
            await self._app(scope, receive, marked)


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "stdio":
        server.run()
    else:
        app, path = (server.sse_app(), "/sse") if kind == "sse" else (server.streamable_http_app(), "/mcp")
        serve(Guarded(app) if "guarded" in sys.argv else app, path)
