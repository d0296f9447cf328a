"""FastMCP's CodeMode as an MCP server over stdio. Runs in the environment that `code_mode.py` installs."""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP  # type: ignore[import-not-found]
from fastmcp.experimental.transforms.code_mode import CodeMode  # type: ignore[import-not-found]


async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


if __name__ == "__main__":
    server: Any = FastMCP("bench", transforms=[CodeMode(max_tool_calls=None)])
    server.tool(add)
    server.run(show_banner=False)
