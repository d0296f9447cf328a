"""`python -m bench.servers paddock|no-op|bare stdio|http`: MCP servers to measure, as processes of their own.

`paddock` offers `run_code` and `execute`; `no-op` has tools with their arguments and answers that do nothing; `bare` is
what the SDK itself is. Over HTTP each prints where it is.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from dataclasses import replace
from typing import Any

from paddock.definitions.definition import Definition, shipped
from paddock.model.tools import Hints

HOST = "127.0.0.1"


async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


add.hints = Hints(read_only=True)  # type: ignore[attr-defined]


def no_op() -> Any:
    """A server with a tool that answers at once, as one writes it with the SDK."""
    from mcp.server import MCPServer

    def run_code(code: str) -> dict[str, Any]:
        """Answer."""
        return {"run_id": "r_0", "verdict": "ok", "output": 1, "engine": "none"}

    def execute(code: str) -> str:
        """Answer."""
        return "1"

    made = MCPServer("no-op")
    made.tool()(run_code)
    made.tool(structured_output=False)(execute)
    return made


def definitions() -> list[Definition]:
    """Those that are measured; `execute` may make as many calls as are made."""
    execute = shipped("execute")
    return [shipped("run_code"), replace(execute, limits={**execute.limits, "calls": 100})]


async def over_stdio(kind: str) -> None:
    if kind != "paddock":
        await no_op().run_stdio_async()
        return
    from mcp.server.stdio import stdio_server

    from paddock.config import Config
    from paddock.server.mcp import make_server
    from paddock.server.services import Services

    async with Services(Config.load(), tools=[add]) as services, stdio_server() as (read, write):
        made = make_server(services, definitions())
        await made.run(read, write, made.create_initialization_options())


async def over_http(kind: str) -> None:
    if kind != "paddock":
        await _listen(no_op().streamable_http_app())
        return
    from paddock.config import Config
    from paddock.server.http import make_app
    from paddock.server.mcp import make_server
    from paddock.server.services import Services

    async with Services(Config.load(), tools=[add]) as services:
        await _listen(make_app(make_server(services, definitions())))


async def _listen(application: Any) -> None:
    import uvicorn

    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # else asyncio leaves Nagle's algorithm on
        listening.bind((HOST, 0))
        listening.listen()
        print(f"http://{HOST}:{listening.getsockname()[1]}/mcp", flush=True)
        await uvicorn.Server(uvicorn.Config(application, log_level="warning")).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run((over_http if sys.argv[2] == "http" else over_stdio)(sys.argv[1]))
