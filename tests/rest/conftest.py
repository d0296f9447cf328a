"""A server with its REST API on a real socket, and clients with and without a token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx2 as httpx
import pytest_asyncio

from paddock import Config
from paddock.config import ServerConfig
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.server.conftest import at_a_port
from tests.server.shared_services import open_services

REQUIRED = replace(Config(), server=ServerConfig(require_token=True))


def price(item: str) -> dict[str, Any]:
    """Get the price of an item."""
    return {"lamp": {"price": 40}, "desk": {"price": 210}}[item]


@dataclass
class Rest:
    """A server's services, its address, and a client that sends no token."""

    services: Services
    url: str
    http: httpx.AsyncClient

    async def run(self, code: str, **more: Any) -> Any:
        return (await self.http.post("/runs", json={"code": code, **more})).json()


@asynccontextmanager
async def serve_rest(config: Config | None = None, **options: Any) -> AsyncIterator[Rest]:
    async with (
        open_services(config, **options) as services,
        at_a_port(make_app(make_server(services), services)) as address,
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as http,
    ):
        yield Rest(services, address.removesuffix("/mcp"), http)


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def rest() -> AsyncIterator[Rest]:
    """One server for all tests that need no configuration of their own."""
    async with serve_rest(tools=[price]) as made:
        yield made
