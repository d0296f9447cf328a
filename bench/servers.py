"""`python -m bench.servers paddock|no-op|many N`: MCP servers over stdio to measure with, and clients for them.

`paddock` has `execute`, with a tool for scripts to call; `no-op` has an `execute` that only answers; `many` has N
tools.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]


async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@asynccontextmanager
async def connect(*command: str) -> AsyncIterator[Any]:
    """Start a server over stdio, with a store of its own that exists already, and yield a client of it."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from paddock.store.database import Store

    program, *arguments = command
    with TemporaryDirectory() as folder:
        stored = {"PADDOCK_STORE__PATH": f"{folder}/paddock.db", "PADDOCK_ARTIFACTS__URL": f"file://{folder}/objects"}
        async with Store(Path(folder, "paddock.db")):
            pass
        environ = {**os.environ, **stored, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        async with mcp.Client(stdio_client(StdioServerParameters(command=program, args=arguments, env=environ))) as it:
            yield it


def command(kind: str, *arguments: str) -> list[str]:
    """The command that starts a server of this module."""
    return [sys.executable, "-m", "bench.servers", kind, *arguments]


async def _serve_paddock() -> None:
    from mcp.server.stdio import stdio_server

    from paddock.config import Config
    from paddock.definitions.definition import shipped
    from paddock.model.tools import Hints
    from paddock.server.mcp import make_server
    from paddock.server.services import Services

    add.hints = Hints(read_only=True)  # type: ignore[attr-defined]
    execute = shipped("execute")
    execute = replace(execute, limits={**execute.limits, "calls": 100})
    async with Services(Config.load(), tools=[add]) as services, stdio_server() as (read, write):
        server = make_server(services, [execute])
        await server.run(read, write, server.create_initialization_options())


async def _serve_no_op() -> None:
    from mcp.server import MCPServer

    def execute(code: str) -> str:
        """Answer without running anything."""
        return "1"

    server = MCPServer("no-op")
    server.tool(structured_output=False)(execute)
    await server.run_stdio_async()


async def _serve_many(count: int) -> None:
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp_types import ListToolsResult, Tool

    schema = {"type": "object", "properties": {"id": {"type": "integer", "description": "Which one."}}}
    text = "Look up a record by its id and return what was found, page by page."
    tools = [Tool(name=f"look_up_{number}", description=text, input_schema=schema) for number in range(count)]

    async def list_tools(context: Any, request: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    server: Server[Any] = Server("many", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    kind, *arguments = sys.argv[1:]
    if kind == "paddock":
        asyncio.run(_serve_paddock())
    elif kind == "no-op":
        asyncio.run(_serve_no_op())
    else:
        asyncio.run(_serve_many(int(arguments[0])))
