"""FastMCP's CodeMode over lines of JSON: each is a script, each answer what it came to. Runs in its own environment.

Its `execute` is called in the process itself, without a client and a transport between, as `Paddock.run` is.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import FastMCP  # type: ignore[import-not-found]
from fastmcp.experimental.transforms.code_mode import CodeMode  # type: ignore[import-not-found]


async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


def main() -> None:
    server: Any = FastMCP("bench", transforms=[CodeMode(max_tool_calls=None)])
    server.tool(add)
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            result = runner.run(server.call_tool("execute", {"code": json.loads(line)}))
            sys.stdout.write(json.dumps([block.text for block in result.content]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
