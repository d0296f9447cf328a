"""An MCP server whose tools have the input schemas that its argument says: `python declared.py '{"name": {…}}'`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool


async def listed(*_: Any) -> ListToolsResult:
    schemas = json.loads(sys.argv[1])
    return ListToolsResult(tools=[Tool(name=name, input_schema=schema) for name, schema in schemas.items()])


async def called(_: Any, params: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text="called")], is_error="fail" in params.arguments)


async def main() -> None:
    server: Server[Any] = Server("declared", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
