"""`python -m bench.http_servers`: an MCP server over HTTP whose tool does nothing; and `paddock serve`, and clients.

Each server is a process of its own. `paddock serve` has a store of its own, with tokens for some principals.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.servers import ROOT

READY_SECONDS, END_SECONDS, ANSWER_SECONDS = 60, 60, 180
NO_OP = (sys.executable, "-m", "bench.http_servers")
PADDOCK = (sys.executable, "-m", "paddock")
MODERN, WITH_SESSIONS = "2026-07-28", "legacy"
"""The versions of MCP that a client can speak: `mode` of `mcp.Client`."""


@dataclass
class Served:
    """A server that listens, and the tokens of those that may use it, by principal."""

    pid: int
    url: str
    folder: Path
    tokens: Mapping[str, str] = field(default_factory=dict)
    exit_code: int | None = None
    said: str = ""
    """What it wrote to stderr, once it has ended."""


@asynccontextmanager
async def serve(*command: str, environ: Mapping[str, str], folder: Path) -> AsyncIterator[Served]:
    """Start a server that prints its address. At the end it gets SIGTERM."""
    log = folder / "stderr"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**os.environ, **environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(READY_SECONDS):
            line = (await process.stdout.readline()).decode()
        assert " at http://" in line, f"{line}{log.read_text()}"
        served = Served(process.pid, line.split(" at ")[1].split("/mcp")[0], folder)
        yield served
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(END_SECONDS):
            served.exit_code = await process.wait()
        served.said = log.read_text()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def serve_paddock(
    principals: Sequence[str], settings: Mapping[str, Any], command: Sequence[str] = PADDOCK
) -> AsyncIterator[Served]:
    """`paddock serve` with an empty store. `settings` are named as in the environment, without `PADDOCK_`."""
    from paddock.store.database import Store

    with TemporaryDirectory(prefix="paddock-bench-") as name:
        folder = Path(name)
        async with Store(folder / "paddock.db") as store:
            tokens = {each: (await store.tokens.add(each, "user", expires_at=None))[1] for each in principals}
        environ = {
            "PADDOCK_STORE__PATH": f"{folder}/paddock.db",
            "PADDOCK_ARTIFACTS__URL": f"file://{folder}/objects",
            **{f"PADDOCK_{setting}": str(value) for setting, value in settings.items()},
        }
        async with serve(*command, "serve", "--port", "0", environ=environ, folder=folder) as served:
            served.tokens = tokens
            yield served


@asynccontextmanager
async def serve_no_op() -> AsyncIterator[Served]:
    """A server of the SDK with a tool `run_code` that returns a constant."""
    with TemporaryDirectory(prefix="paddock-bench-") as folder:
        async with serve(*NO_OP, environ={}, folder=Path(folder)) as served:
            yield served


@asynccontextmanager
async def connect(served: Served, principal: str | None = None) -> AsyncIterator[Any]:
    """Yield an HTTP client with the principal's token. Many MCP clients can share it: each request has a connection."""
    import httpx2

    headers = {} if principal is None else {"authorization": f"Bearer {served.tokens[principal]}"}
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx2.AsyncClient(
        base_url=served.url, headers=headers, timeout=ANSWER_SECONDS, limits=limits
    ) as client:
        yield client


@asynccontextmanager
async def mcp_client(served: Served, http: Any, mode: str = MODERN) -> AsyncIterator[Any]:
    """Yield an MCP client that uses the HTTP client `http`."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode) as client:
        yield client


def _serve_no_op() -> None:
    import uvicorn
    from mcp.server import MCPServer

    from paddock.cli.serve import listen

    def run_code(code: str) -> str:
        """Answer without running anything."""
        return "1"

    server = MCPServer("no-op")
    server.tool(structured_output=False)(run_code)
    listener = listen("127.0.0.1", 0)
    print(f"No-op server at http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    # Clients must not use a connection again that the server is just closing: httpx keeps it for 5 s, as uvicorn does.
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning", timeout_keep_alive=15)
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    _serve_no_op()
