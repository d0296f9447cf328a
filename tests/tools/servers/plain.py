"""A well-behaved MCP server for tests, of the SDK: `python plain.py stdio|http|sse [--legacy]`.

Over HTTP it takes a free port of the loopback and prints its address as the first line.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp_types import CallToolResult, TextContent, ToolAnnotations

server = MCPServer("plain", version="1.2.3")
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


@server.tool(annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True), structured_output=False)
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool(meta={"fastmcp": {"tags": ["sums"]}})
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@server.tool(structured_output=False)
def picture() -> Image:
    """One pixel."""
    return Image(data=PIXEL, format="png")


@server.tool(structured_output=False)
def fail(message: str) -> CallToolResult:
    """Fail, and say why."""
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)


@server.tool(structured_output=False)
def environment() -> str:
    """The names of its environment variables."""
    return " ".join(sorted(os.environ))


@server.tool(structured_output=False)
def process() -> str:
    """Its process id and the directory that it works in."""
    return f"{os.getpid()} {Path.cwd()}"


@server.tool(structured_output=False)
async def count(upto: int, ctx: Context) -> str:
    """Report progress at each step."""
    for step in range(1, upto + 1):
        await ctx.report_progress(step, upto, f"step {step}")
    return "counted"


@server.tool(structured_output=False)
async def wait(started: str, cancelled: str) -> str:
    """Wait until cancelled. Makes one file when it begins and another when it is told to stop."""
    Path(started).touch()
    try:
        await asyncio.Event().wait()
    finally:
        Path(cancelled).touch()
    return "never"


@server.tool(structured_output=False)
async def meet(here: str, others: int) -> str:
    """Wait until `others` calls are here at once."""
    folder = Path(here)
    (folder / uuid4().hex).touch()
    while len(list(folder.iterdir())) < others:
        await asyncio.sleep(0.005)
    return "met"


@server.tool(structured_output=False)
async def learn(name: str, ctx: Context) -> str:
    """Offer one more tool from now on, and say so."""
    server.add_tool(echo, name=name, structured_output=False)
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "learnt"


@server.tool(structured_output=False)
async def forget(name: str, ctx: Context) -> str:
    """Offer a tool no longer, and say so."""
    server.remove_tool(name)
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "forgotten"


@server.tool(structured_output=False)
def large(megabytes: int) -> str:
    """A text of that size."""
    return "x" * (megabytes * 2**20)


@server.tool()
def rows(count: int) -> dict[str, list[dict[str, Any]]]:
    """So many small objects."""
    return {"rows": [{"id": number, "name": f"row {number}", "price": number * 1.5} for number in range(count)]}


def serve(app: Any, path: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])


def main() -> None:
    kind = sys.argv[1]
    if kind == "stdio":
        server.run()
    elif kind == "sse":
        serve(server.sse_app(), "/sse")
    else:
        serve(server.streamable_http_app(json_response="json" in sys.argv), "/mcp")


if __name__ == "__main__":
    main()
