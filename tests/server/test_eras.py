"""What the page says of the two eras, on the wire: no client in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest
from mcp.server.streamable_http_manager import DEFAULT_SESSION_IDLE_TIMEOUT

from tests.server.conftest import served
from tests.server.kept import opened

NEWEST = "2026-07-28"
OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ACCEPT = {"accept": "application/json, text/event-stream"}
META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """Requests as they are written in the specification."""

    def __init__(self, address: str, http: httpx.AsyncClient) -> None:
        self.address, self.http = address, http

    async def newest(
        self, method: str, params: dict[str, Any] | None = None, *, headers: dict[str, str] | None = None, **meta: str
    ) -> httpx.Response:
        given = params or {}
        name = given.get("name") or given.get("uri")
        named = {} if name is None else {"mcp-name": str(name)}
        sent = ACCEPT | {"mcp-protocol-version": NEWEST, "mcp-method": method} | named | (headers or {})
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given | {"_meta": META | meta}}
        return await self.http.post(self.address, json=body, headers=sent)

    async def initialize(self, version: str) -> httpx.Response:
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        return await self.http.post(self.address, json=body, headers=ACCEPT)

    async def older(self, session: str, method: str, **params: Any) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}
        return await self.http.post(self.address, json=body, headers=ACCEPT | {"mcp-session-id": session})


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with opened() as services, served(services) as address, httpx.AsyncClient(timeout=60) as http:
        yield Wire(address, http)


def events(response: httpx.Response) -> list[dict[str, Any]]:
    """The messages of a stream."""
    assert response.headers["content-type"].startswith("text/event-stream")
    return [
        json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:") and line[5:].strip()
    ]


async def test_the_newest_era_begins_with_any_request_and_knows_no_session(wire: Wire) -> None:
    found = await wire.newest("server/discover")
    assert (found.json()["result"]["supportedVersions"], "mcp-session-id" in found.headers) == ([NEWEST], False)
    called = await wire.newest("tools/call", {"name": "run_code", "arguments": {"code": "1 + 1"}})
    assert called.json()["result"]["structuredContent"]["output"] == 2
    listed = (await wire.newest("tools/list")).json()["result"]
    assert (listed["ttlMs"], listed["cacheScope"]) == (0, "private")


async def test_progress_makes_the_answer_of_the_newest_era_a_stream(wire: Wire) -> None:
    code = "await report_progress(1, 2, 'half')\n3"
    call = {"name": "run_code", "arguments": {"code": code}}
    told, answer = events(await wire.newest("tools/call", call, progressToken="t"))
    assert (told["method"], told["params"]["message"]) == ("notifications/progress", "half")
    assert answer["result"]["structuredContent"]["output"] == 3


@pytest.mark.parametrize(
    "headers", [{"mcp-method": "tools/call"}, {"mcp-protocol-version": "2025-11-25"}, {"mcp-protocol-version": "1"}]
)
async def test_headers_of_the_newest_era_that_do_not_agree_with_the_body_are_refused(
    wire: Wire, headers: dict[str, str]
) -> None:
    assert (await wire.newest("tools/list", headers=headers)).status_code == 400


@pytest.mark.parametrize("version", [*OLDER, "2099-01-01"])
async def test_the_older_eras_begin_with_initialize_and_have_a_session_until_it_is_deleted(
    wire: Wire, version: str
) -> None:
    begun = await wire.initialize(version)
    [answer] = events(begun)
    assert answer["result"]["protocolVersion"] == (version if version in OLDER else OLDER[-1])
    session = begun.headers["mcp-session-id"]
    [pong] = events(await wire.older(session, "ping"))
    [called] = events(await wire.older(session, "tools/call", name="run_code", arguments={"code": "1 + 1"}))
    assert (pong["result"], called["result"]["structuredContent"]["output"]) == ({}, 2)
    assert "ttlMs" not in events(await wire.older(session, "tools/list"))[0]["result"]
    deleted = await wire.http.delete(wire.address, headers=ACCEPT | {"mcp-session-id": session})
    assert (deleted.status_code, (await wire.older(session, "ping")).status_code) == (200, 404)


def test_a_session_ends_after_thirty_minutes_without_a_request() -> None:
    assert DEFAULT_SESSION_IDLE_TIMEOUT == 30 * 60  # the SDK's own, which the page promises


async def test_an_unknown_resource_is_an_error_with_its_address_in_both_eras(wire: Wire) -> None:
    uri = "paddock://nowhere"
    newest = (await wire.newest("resources/read", {"uri": uri})).json()["error"]
    session = (await wire.initialize(OLDER[-1])).headers["mcp-session-id"]
    older = events(await wire.older(session, "resources/read", uri=uri))[0]["error"]
    assert (newest["code"], newest["data"]) == (older["code"], older["data"]) == (-32602, {"uri": uri})


@pytest.mark.parametrize("method", ["ping", "initialize", "logging/setLevel"])
async def test_what_is_gone_from_the_newest_era_is_not_found(wire: Wire, method: str) -> None:
    answered = await wire.newest(method)
    assert (answered.status_code, answered.json()["error"]["code"]) == (404, -32601)
