"""An MCP server over stdio that tells which trace a call belongs to."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("tracing", version="1")


@server.tool()
def traceparent(ctx: Context) -> str:
    """Return the trace context of the call."""
    return str((ctx.request_context.meta or {}).get("traceparent"))


if __name__ == "__main__":
    server.run()
