"""An MCP server whose tools have the names that the arguments say: each gives its own name back."""

from __future__ import annotations

import sys

from mcp.server import MCPServer

server = MCPServer("odd")


def offer(name: str) -> None:
    def called() -> str:
        return name

    server.add_tool(called, name=name, structured_output=False)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        offer(each)
    server.run()
