"""A server as clients meet it: in memory, over stdio in a process of its own, over HTTP on a real socket."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from paddock import Config, Paddock
from paddock.server.app import app
from paddock.server.mcp import server

Connect = Callable[[Paddock], AbstractAsyncContextManager[Any]]
ERAS = ("2026-07-28", "legacy")


@asynccontextmanager
async def served(paddock: Paddock, config: Config | None = None) -> AsyncIterator[str]:
    """Where `paddock` is reached over HTTP."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        web = uvicorn.Server(
            uvicorn.Config(app(server(paddock, config or Config())), log_level="warning", timeout_graceful_shutdown=1)
        )
        serving = asyncio.create_task(web._serve([listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            web.should_exit = True
            await serving


def in_memory(era: str) -> Connect:
    return lambda paddock: Client(server(paddock, Config()), mode=era)


def over_http(era: str) -> Connect:
    @asynccontextmanager
    async def connected(paddock: Paddock) -> AsyncIterator[Any]:
        async with served(paddock) as address, Client(address, mode=era) as client:
            yield client

    return connected


def over_stdio(era: str, *arguments: str) -> AbstractAsyncContextManager[Any]:
    command = StdioServerParameters(command=sys.executable, args=["-m", "paddock", "mcp", *arguments])
    return Client(stdio_client(command), mode=era)


@pytest.fixture(
    params=[(way, era) for way in (in_memory, over_http) for era in ERAS], ids=lambda p: f"{p[0].__name__}-{p[1]}"
)
def connect(request: pytest.FixtureRequest) -> Connect:
    way, era = request.param
    return way(era)  # type: ignore[no-any-return]
