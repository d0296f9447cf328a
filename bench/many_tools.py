"""A server over stdio with as many tools as it is told: `python many_tools.py 2000`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult, Tool

COUNT = int(sys.argv[1])
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer", "description": "Which one."}}}


async def listed(context: Any, asked: Any) -> ListToolsResult:
    described = "Look something up, and say what was found, page by page."
    return ListToolsResult(
        tools=[Tool(name=f"look_up_{number}", description=described, input_schema=SCHEMA) for number in range(COUNT)]
    )


async def main() -> None:
    server: Server[Any] = Server("many", on_list_tools=listed)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
