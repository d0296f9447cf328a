"""Upstreams to which somebody must log in, through a server: whose login is used, and how its absence is shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from paddock import Config
from paddock.config import ServerConfig
from paddock.server import upstream_logins
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
        assert "`paddock tools login it --url URL`" in refused["hints"][0]
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


async def test_a_principals_connection_keeps_no_list_of_the_tools(upstream: Protected, tmp_path: Path) -> None:
    await login(upstream.server(), tmp_path)
    await log_in_as(upstream, "ann", tmp_path, principal="ann")
    async with serving(upstream, tmp_path, "ann", per_principal=True) as (services, address, (ann,)):
        assert "ann" in await run(address, ann)
        upstreams = (*services.paddock._toolbox._upstreams.values(), *services.paddock._toolbox._accounts.upstreams)
        assert [(each.health.state, each.health.tools > 0) for each in upstreams] == [("ready", True), ("ready", False)]


async def begin(http: httpx.AsyncClient, headers: dict[str, str], port: int) -> httpx.Response:
    return await http.post("/servers/it/login", json={"port": port}, headers=headers)


async def code_of(address: str) -> dict[str, str]:
    """What a browser that logs in at this address brings to the port on its machine."""
    async with httpx.AsyncClient() as http:
        answer = await http.get(address)
        while not answer.headers["location"].startswith("http://127.0.0.1:8765/callback?"):
            answer = await http.get(answer.headers["location"])
    return dict(httpx.URL(answer.headers["location"]).params)


async def test_a_principal_logs_in_over_rest_and_its_login_is_nobody_elses(upstream: Protected, tmp_path: Path) -> None:
    await login(upstream.server(), tmp_path)  # with this the tools are listed
    async with (
        serving(upstream, tmp_path, "ann", "bob", per_principal=True) as (services, address, (ann, bob)),
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as http,
    ):
        begun = (await begin(http, ann, 8765)).json()
        code = await code_of(begun["address"])
        assert begun["port"] == 8765
        for who, given in ((bob, code), (ann, {**code, "state": "guessed"})):
            refused = await http.post("/servers/it/login/code", json=given, headers=who)
            assert (refused.status_code, refused.json()["error"]) == (404, "NotFound")
        assert (await http.post("/servers/it/login/code", json=code, headers=ann)).status_code == 204
        assert await call(address, ann) == ADA
        assert (await call(address, bob))["error_code"] == "AUTH_AUTHENTICATION"
        assert (await http.post("/servers/it/login/code", json=code, headers=ann)).status_code == 404  # once only
        statuses = [(await http.delete("/servers/it/login", headers=who)).status_code for who in (bob, ann, ann)]
        assert statuses == [404, 204, 404]
        assert (await call(address, ann))["error_code"] == "AUTH_AUTHENTICATION"
        entries = services.audit.path.read_text()
        assert ('"login.added", "principal": "ann"' in entries, code["code"] in entries) == (True, False)


async def test_a_login_that_is_begun_again_replaces_the_first_and_a_wrong_code_ends_it(
    upstream: Protected, tmp_path: Path
) -> None:
    async with (
        serving(upstream, tmp_path, "ann", per_principal=True) as (services, address, (ann,)),
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as http,
    ):
        first = await code_of((await begin(http, ann, 8765)).json()["address"])
        second = await code_of((await begin(http, ann, 8765)).json()["address"])
        assert (await http.post("/servers/it/login/code", json=first, headers=ann)).status_code == 404
        wrong = await http.post("/servers/it/login/code", json={**second, "code": "guessed"}, headers=ann)
        assert (wrong.status_code, "refused to issue a token" in wrong.json()["detail"]) == (422, True)
        assert services.logins._begun == {}
        services.logins._begun = dict.fromkeys(map(str, range(upstream_logins.MAX_LOGINS)))
        full = await begin(http, ann, 8765)
        services.logins._begun = {}
    assert (full.status_code, full.json()["envelope"]["error_code"]) == (429, "RATE_LIMITED")


async def test_a_login_whose_client_has_gone_is_not_stored(upstream: Protected, tmp_path: Path) -> None:
    """Otherwise a login of a principal that is purged meanwhile would be that of whoever gets the name next."""
    async with (
        serving(upstream, tmp_path, "ann", per_principal=True) as (services, address, (ann,)),
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as http,
    ):
        code = await code_of((await begin(http, ann, 8765)).json()["address"])
        [(_, ending)] = services.logins._begun.values()
        upstream.control("stall")
        try:
            sent = asyncio.create_task(http.post("/servers/it/login/code", json=code, headers=ann))
            await asyncio.to_thread(upstream.control, "waiting")
            sent.cancel()
            await asyncio.wait([sent])
            async with asyncio.timeout(30):
                while not ending.cancelling():
                    await asyncio.sleep(0.01)
        finally:
            upstream.control("resume")
        await asyncio.wait([ending])
        assert not list((tmp_path / "logins").glob("*.json"))


async def test_only_operators_log_in_to_what_everybody_uses(upstream: Protected, tmp_path: Path) -> None:
    async with (
        serving(upstream, tmp_path, "ann", callback_port=8765) as (services, address, (ann,)),
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as http,
    ):
        ops = bearer((await services.store.tokens.add("ops", "operator"))[1])
        assert (await begin(http, ann, 8765)).status_code == 403
        unknown = await http.post("/servers/none/login", json={"port": 8765}, headers=ann)
        assert unknown.status_code == 404
        begun = (await begin(http, ops, 9999)).json()
        assert begun["port"] == 8765  # as configured
        code = await code_of(begun["address"])
        assert (await http.post("/servers/it/login/code", json=code, headers=ops)).status_code == 204
        assert await call(address, ann) == ADA


async def test_a_login_over_rest_needs_a_token(upstream: Protected, tmp_path: Path) -> None:
    config = replace(Config(), upstreams={"it": upstream.settings(per_principal=True)}, data_directory=str(tmp_path))
    async with (
        open_services(config) as services,
        at_a_port(make_app(make_server(services), services)) as address,
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as http,
    ):
        for headers in ({}, bearer("invented")):
            assert (await begin(http, headers, 8765)).status_code == 403
