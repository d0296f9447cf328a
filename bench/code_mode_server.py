"""FastMCP's CodeMode, in its own environment: `code_mode_server.py lines|client|stdio|http`.

`lines` takes scripts as lines of JSON, and each answer is what one came to: `execute` is called in the process itself,
as `Paddock.run` is. `client` calls it through FastMCP's client in memory. The others are servers; the one over HTTP
prints where it is.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from typing import Any

from fastmcp import Client, FastMCP  # type: ignore[import-not-found]
from fastmcp.experimental.transforms.code_mode import CodeMode  # type: ignore[import-not-found]


async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


async def answer_lines(caller: Any) -> None:
    for line in sys.stdin:
        result = await caller.call_tool("execute", {"code": json.loads(line)})
        sys.stdout.write(json.dumps([block.text for block in result.content]) + "\n")
        sys.stdout.flush()


async def answer_through_a_client(server: Any) -> None:
    async with Client(server) as client:
        await answer_lines(client)


async def listen(server: Any) -> None:
    import uvicorn  # type: ignore[import-not-found,unused-ignore]

    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # else asyncio leaves Nagle's algorithm on
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
        sys.stdout.flush()
        web = uvicorn.Server(uvicorn.Config(server.http_app(), log_level="warning"))
        await web.serve(sockets=[listening])


def main(way: str) -> None:
    server: Any = FastMCP("bench", transforms=[CodeMode(max_tool_calls=None)])
    server.tool(add)
    if way == "stdio":
        server.run(show_banner=False)
        return
    ways = {"lines": answer_lines, "client": answer_through_a_client, "http": listen}
    asyncio.run(ways[way](server))


if __name__ == "__main__":
    main(sys.argv[1])
