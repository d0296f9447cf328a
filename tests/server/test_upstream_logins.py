"""Upstreams to which somebody must log in, through a server: whose login is used, and how its absence is shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from paddock import Config
from paddock.config import ServerConfig
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.tools import accounts
from paddock.tools.logins import LoginFile
from tests.server.conftest import at_a_port
from tests.server.shared_services import open_services
from tests.server.test_access import bearer, client_of
from tests.tools.protected import Protected, login, protected

WHOAMI = 'await call_tool("it.whoami", {})'
ADA = {"result": "ada"}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Protected]:
    with protected() as running:
        yield running


@asynccontextmanager
async def serving(upstream: Protected, folder: Path, *names: str, **oauth: object) -> AsyncIterator[Any]:
    """Services, the address of their server, and the headers of each principal."""
    config = replace(
        Config(),
        upstreams={"it": upstream.settings(**oauth)},
        data_directory=str(folder),
        server=ServerConfig(require_token=True),
        engine="monty",
    )
    async with open_services(config) as services:
        headers = [bearer((await services.store.tokens.add(name))[1]) for name in names]
        async with at_a_port(make_app(make_server(services), services)) as address:
            yield services, address, headers


async def log_in_as(upstream: Protected, user: str, folder: Path, **options: Any) -> LoginFile:
    upstream.control(f"become?user={user}")
    try:
        return await login(upstream.server(), folder, **options)
    finally:
        upstream.control("become?user=ada")


async def call(address: str, headers: dict[str, str]) -> Any:
    """The answer of `whoami` over REST."""
    url = f"{address.removesuffix('/mcp')}/v1/tools/it.whoami/call"
    async with httpx.AsyncClient(timeout=60) as http:
        return (await http.post(url, json={"arguments": {}}, headers=headers)).json()["value"]


async def run(address: str, headers: dict[str, str]) -> str:
    """The result of a script that calls `whoami`, over MCP."""
    async with client_of(address, "auto", headers=headers) as client:
        result = await client.call_tool("run_code", {"code": WHOAMI})
    return str(result)


async def test_without_a_login_the_health_and_the_envelope_say_so(upstream: Protected, tmp_path: Path) -> None:
    async with serving(upstream, tmp_path, "ann") as (_, address, (ann,)), httpx.AsyncClient(timeout=60) as http:
        failed = await call(address, ann)
        assert (failed["error_kind"], failed["error_code"]) == ("auth_error", "AUTH_AUTHENTICATION")
        assert "`paddock tools login it`" in failed["hints"][0]
        (server,) = (await http.get(f"{address.removesuffix('/mcp')}/v1/servers", headers=ann)).json()
        assert (server["name"], server["state"], server["needs_login"]) == ("it", "failed", True)
        await login(upstream.server(), tmp_path)
        assert await call(address, ann) == ADA
        (server,) = (await http.get(f"{address.removesuffix('/mcp')}/v1/servers", headers=ann)).json()
        assert (server["state"], server["needs_login"]) == ("ready", False)


async def test_everybody_uses_the_same_login_unless_the_operator_says_otherwise(
    upstream: Protected, tmp_path: Path
) -> None:
    await login(upstream.server(), tmp_path)
    async with serving(upstream, tmp_path, "ann", "bob") as (_, address, (ann, bob)):
        assert [await call(address, ann), await call(address, bob)] == [ADA, ADA]


async def test_each_principal_uses_its_own_login_and_nobody_elses(upstream: Protected, tmp_path: Path) -> None:
    await login(upstream.server(), tmp_path)  # with this the tools are listed
    await log_in_as(upstream, "ann-at-it", tmp_path, principal="ann")
    async with serving(upstream, tmp_path, "ann", "bob", per_principal=True) as (services, address, (ann, bob)):
        assert await call(address, ann) == {"result": "ann-at-it"}
        refused = await call(address, bob)
        assert (refused["error_kind"], refused["error_code"]) == ("auth_error", "AUTH_AUTHENTICATION")
        assert "`paddock tools login it --principal bob`" in refused["hints"][0]
        assert "ann-at-it" in await run(address, ann)
        assert "paddock tools login it --principal bob" in await run(address, bob)
        file = await log_in_as(upstream, "bob-at-it", tmp_path, principal="bob")
        assert await call(address, bob) == {"result": "bob-at-it"}
        assert "bob-at-it" in await run(address, bob)
        login_of_bob = file.load()
        assert login_of_bob is not None
        assert services.paddock.redact(login_of_bob.access_token) == "[redacted]"
        file.delete()
        assert (await call(address, bob))["error_code"] == "AUTH_AUTHENTICATION"


async def test_connections_of_principals_that_are_not_used_are_closed(
    upstream: Protected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "MAX_IDLE", 1)
    await login(upstream.server(), tmp_path)
    for name in ("ann", "bob"):
        await log_in_as(upstream, name, tmp_path, principal=name)
    async with serving(upstream, tmp_path, "ann", "bob", per_principal=True) as (services, address, (ann, bob)):
        for _ in range(2):
            assert [await call(address, each) for each in (ann, bob)] == [{"result": "ann"}, {"result": "bob"}]
        assert list(services.paddock._toolbox._accounts._upstreams) == [("it", "bob")]
