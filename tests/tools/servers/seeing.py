"""An MCP server that tells what reached it: `python seeing.py stdio|http|sse`."""

from __future__ import annotations

import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from plain import serve  # type: ignore[import-not-found]  # beside this file, where it is run

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


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "stdio":
        server.run()
    elif kind == "sse":
        serve(server.sse_app(), "/sse")
    else:
        serve(server.streamable_http_app(), "/mcp")
