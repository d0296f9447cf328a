"""An MCP server over stdio at whose tool scripts wait: `python gate.py FOLDER`.

A script that calls `meet` leaves a file with its marker in FOLDER, and waits until there is a file `open`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("gate")
FOLDER = Path(sys.argv[1])


@server.tool()
async def meet(marker: str) -> dict[str, str]:
    """Wait for the gate, and return the marker."""
    (FOLDER / marker).touch()
    while not (FOLDER / "open").exists():
        await asyncio.sleep(0.02)
    return {"marker": marker}


if __name__ == "__main__":
    server.run("stdio")
