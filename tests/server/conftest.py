"""Servers for tests: in memory, over stdio in a separate process, and over HTTP on a real socket."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from starlette.applications import Starlette

from paddock.definitions.definition import Definition
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.forks import fork
from tests.server.shared_services import SharedServices
from tests.store import empty

Connect = Callable[[Services], AbstractAsyncContextManager[Any]]
ERAS = ("2026-07-28", "legacy")


def served(services: Services, *definitions: Definition) -> AbstractAsyncContextManager[str]:
    """The URL of a server with `services` over HTTP."""
    return at_a_port(make_app(make_server(services, definitions or None), services))


@asynccontextmanager
async def at_a_port(application: Starlette, **settings: Any) -> AsyncIterator[str]:
    """The URL of the MCP server of that application, with more settings for uvicorn."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        web = uvicorn.Server(uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=1, **settings))
        running = asyncio.create_task(web._serve([listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            web.should_exit = True
            await running


def in_memory(era: str) -> Connect:
    return lambda services: Client(make_server(services), mode=era)


def over_http(era: str) -> Connect:
    @asynccontextmanager
    async def connected(services: Services) -> AsyncIterator[Any]:
        async with served(services) as address, Client(address, mode=era) as client:
            yield client

    return connected


def over_stdio(era: str, *arguments: str, hear: Any = None) -> AbstractAsyncContextManager[Any]:
    # The SDK passes only a few variables, and not those that name the store and the source.
    environment = dict(os.environ)
    empty.put(Path(environment["PADDOCK_STORE__PATH"]))
    command, *given = fork.command("-m", "paddock", "mcp", *arguments)
    parameters = StdioServerParameters(command=command, args=given, env=environment)
    return Client(stdio_client(parameters), mode=era, message_handler=hear)


@pytest.fixture(
    params=[(way, era) for way in (in_memory, over_http) for era in ERAS], ids=lambda p: f"{p[0].__name__}-{p[1]}"
)
def connect(request: pytest.FixtureRequest) -> Connect:
    way, era = request.param
    return way(era)  # type: ignore[no-any-return]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[SharedServices]:
    """Services that the tests of a module share, if their stores may be shared too."""
    made = SharedServices()
    yield made
    await made.aclose()


@pytest_asyncio.fixture(loop_scope="module")
async def services(shared: SharedServices) -> Services:
    """Shared services with the default configuration."""
    return await shared.get()


@pytest.fixture(autouse=True)
def _stored_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give servers in separate processes a temporary store too."""
    monkeypatch.setenv("PADDOCK_STORE__PATH", str(tmp_path / "paddock.db"))
    monkeypatch.setenv("PADDOCK_ARTIFACTS__URL", f"file://{tmp_path}/objects")
