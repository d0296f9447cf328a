"""The server over HTTP on the wire: both protocol eras, refused requests, and clients that disconnect."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest
import pytest_asyncio
from mcp import Client
from mcp.server.streamable_http_manager import DEFAULT_SESSION_IDLE_TIMEOUT

from paddock.server.http import BODY_BYTES, make_app
from paddock.server.mcp import make_server
from tests.server.conftest import ERAS, at_a_port, served
from tests.server.shared_services import SharedServices, open_services
from tests.server.test_processes import ACCEPT, HELLO

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEWEST = "2026-07-28"
OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MEGABYTE = b" " * (1024 * 1024)
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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(shared: SharedServices) -> AsyncIterator[str]:
    """The URL of a server with the default configuration."""
    async with served(await shared.get()) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def wire(address: str) -> AsyncIterator[Wire]:
    async with httpx.AsyncClient(timeout=60) as http:
        yield Wire(address, http)


def events(response: httpx.Response) -> list[dict[str, Any]]:
    """The messages of a stream."""
    assert response.headers["content-type"].startswith("text/event-stream")
    return [
        json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:") and line[5:].strip()
    ]


async def test_the_newest_era_starts_with_any_request_and_has_no_sessions(wire: Wire) -> None:
    found = await wire.newest("server/discover")
    assert (found.json()["result"]["supportedVersions"], "mcp-session-id" in found.headers) == ([NEWEST], False)
    called = await wire.newest("tools/call", {"name": "run_code", "arguments": {"code": "1 + 1"}})
    assert called.json()["result"]["structuredContent"]["output"] == 2
    listed = (await wire.newest("tools/list")).json()["result"]
    assert (listed["ttlMs"], listed["cacheScope"]) == (0, "private")


async def test_a_progress_token_makes_the_response_a_stream_in_the_newest_era(wire: Wire) -> None:
    code = "await report_progress(1, 2, 'half')\n3"
    call = {"name": "run_code", "arguments": {"code": code}}
    told, answer = events(await wire.newest("tools/call", call, progressToken="t"))
    assert (told["method"], told["params"]["message"]) == ("notifications/progress", "half")
    assert answer["result"]["structuredContent"]["output"] == 3


@pytest.mark.parametrize(
    "headers", [{"mcp-method": "tools/call"}, {"mcp-protocol-version": "2025-11-25"}, {"mcp-protocol-version": "1"}]
)
async def test_headers_that_contradict_the_body_are_refused_in_the_newest_era(
    wire: Wire, headers: dict[str, str]
) -> None:
    assert (await wire.newest("tools/list", headers=headers)).status_code == 400


@pytest.mark.parametrize("version", [*OLDER, "2099-01-01"])
async def test_older_eras_start_with_initialize_and_have_a_session_until_it_is_deleted(
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


async def test_a_stream_that_a_client_resumes_begins_anew(wire: Wire) -> None:
    session = (await wire.initialize("2025-06-18")).headers["mcp-session-id"]
    headers = ACCEPT | {"mcp-session-id": session, "last-event-id": "1"}
    async with wire.http.stream("GET", wire.address, headers=headers) as response:
        assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream")


async def test_a_session_ends_after_thirty_minutes_without_a_request() -> None:
    assert DEFAULT_SESSION_IDLE_TIMEOUT == 30 * 60  # the SDK's value, which the documentation promises


async def test_an_unknown_resource_is_an_error_with_its_address_in_both_eras(wire: Wire) -> None:
    uri = "paddock://nowhere"
    newest = (await wire.newest("resources/read", {"uri": uri})).json()["error"]
    session = (await wire.initialize(OLDER[-1])).headers["mcp-session-id"]
    older = events(await wire.older(session, "resources/read", uri=uri))[0]["error"]
    assert (newest["code"], newest["data"]) == (older["code"], older["data"]) == (-32602, {"uri": uri})


@pytest.mark.parametrize("method", ["ping", "initialize", "logging/setLevel"])
async def test_methods_that_the_newest_era_removed_are_not_found(wire: Wire, method: str) -> None:
    answered = await wire.newest(method)
    assert (answered.status_code, answered.json()["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_run", {"run_id": "\ud800"}),
        ("cancel_run", {"run_id": "\ud800"}),
        ("run_code", {"code": "1", "idempotency_key": "\ud800"}),
        ("run_code", {"code": "1", "inputs": {"a": "\ud800"}}),
        ("read_artifact", {"ref": "\ud800"}),
        ("write_artifact", {"filename": "\ud800", "content": "a"}),
    ],
)
async def test_half_of_a_surrogate_pair_in_an_argument_is_refused_and_not_an_internal_error(
    wire: Wire, tool: str, arguments: dict[str, str]
) -> None:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call", "mcp-name": tool}
    content = json.dumps(body)  # escaped: the SDK's parser for the newest era accepts it
    sent = ACCEPT | headers | {"content-type": "application/json"}
    answer = await wire.http.post(wire.address, content=content, headers=sent)
    assert answer.json()["result"]["isError"] is True


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "localhost:80.evil.example"}, 421),
        ({"host": "127.0.0.1:80@evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "http://localhost.evil.example:8080"}, 403),
        ({"origin": "http://localhost:80.evil.example"}, 403),
        ({"origin": "http://localhost:80@evil.example"}, 403),
        ({"origin": "http://localhost:80/x"}, 403),
        ({"origin": "file://"}, 403),
        ({"content-type": ""}, 400),
        ({"content-type": "text/plain"}, 400),
        ({}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "LOCALHOST:80"}, 200),
        ({"host": "[::1]:8080"}, 200),
        ({"host": "127.0.0.2:8080"}, 200),
        ({"origin": "http://localhost:6274"}, 403),
        ({"origin": "http://127.0.0.1"}, 403),
    ],
)
async def test_a_web_page_cannot_reach_the_server_through_dns_rebinding(
    address: str, headers: dict[str, str], status: int
) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.post(address, json=HELLO, headers=ACCEPT | headers)
    assert answer.status_code == status


async def test_the_health_check_refuses_foreign_hosts_too(address: str) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.get(address.replace("/mcp", "/healthz"), headers={"host": "evil.example"})
    assert (answer.status_code, answer.json()["detail"].partition(":")[0]) == (421, "Invalid Host header")


class Hanging:
    """A tool that never answers."""

    def __init__(self) -> None:
        self.began, self.ended = asyncio.Event(), asyncio.Event()

    async def hang(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


async def test_a_session_that_is_deleted_ends_its_runs() -> None:
    hanging = Hanging()
    async with (
        open_services(tools=[hanging.hang]) as services,
        served(services) as address,
        httpx.AsyncClient(timeout=60) as client,
    ):
        begun = await client.post(address, json=HELLO, headers=ACCEPT)
        session = ACCEPT | {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        params = {"name": "run_code", "arguments": {"code": "await hang()", "timeout": 600}}
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        calling = asyncio.create_task(client.post(address, json=asked, headers=session))
        await asyncio.wait_for(hanging.began.wait(), 60)
        deleted = await client.delete(address, headers=session)
        await asyncio.wait_for(hanging.ended.wait(), 60)
        await calling
        after = await client.post(address, json=asked, headers=session)
    assert (deleted.status_code, after.status_code) == (200, 404)


async def test_two_hundred_calls_at_once_are_all_answered(address: str) -> None:
    async with Client(address, mode="legacy") as client:
        answers = await asyncio.gather(
            *(client.call_tool("run_code", {"code": f"{number} + 1"}) for number in range(200))
        )
    assert [answer.structured_content["output"] for answer in answers] == list(range(1, 201))


async def test_a_call_does_not_list_the_tools_first() -> None:
    methods: list[str] = []

    async def note(ctx: Any, call_next: Any) -> Any:
        methods.append(ctx.method)
        return await call_next(ctx)

    async with open_services() as services:
        server = make_server(services)
        server.middleware.append(note)
        async with at_a_port(make_app(server, services)) as address, Client(address, mode=NEWEST) as client:
            await client.call_tool("run_code", {"code": "1"})
    assert methods[0] == "tools/call"  # afterwards, the client asks for the tool's schema


async def test_a_body_that_is_too_large_is_refused(address: str) -> None:
    async def flood() -> AsyncIterator[bytes]:
        for _ in range(2 * BODY_BYTES // len(MEGABYTE)):
            yield MEGABYTE

    headers = ACCEPT | {"content-type": "application/json"}
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(address, content=flood(), headers=headers)
        healthy = await client.get(address.replace("/mcp", "/healthz"))
    assert (answer.status_code, healthy.status_code, healthy.text) == (413, 200, "ok\n")


async def test_clients_at_the_same_time_are_served_at_the_same_time() -> None:
    waiting = asyncio.Barrier(4)

    async def meet() -> None:
        await waiting.wait()

    async def call(address: str) -> bool:
        async with Client(address) as client:
            return bool(
                (await client.call_tool("run_code", {"code": "await meet()\nTrue"})).structured_content["output"]
            )

    async with open_services(tools=[meet]) as services, served(services) as address:
        met = await asyncio.wait_for(asyncio.gather(*(call(address) for _ in range(4))), 60)
    assert met == [True] * 4


CLIENT = """
import asyncio, sys
from mcp import Client

async def main():
    async with Client(sys.argv[1], mode=sys.argv[2]) as client:
        await client.call_tool("run_code", {"code": "await hang()", "timeout": 600})

asyncio.run(main())
"""


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_disconnects_ends_its_run(era: str) -> None:
    hanging = Hanging()
    async with open_services(tools=[hanging.hang]) as services, served(services) as address:
        with subprocess.Popen([sys.executable, "-c", CLIENT, address, era]) as client:
            await asyncio.wait_for(hanging.began.wait(), 60)
            client.kill()
        await asyncio.wait_for(hanging.ended.wait(), 60)
        (run,) = await services.store.runs.list("local")
        while run.verdict is None:  # it is stored in the background
            (run,) = await services.store.runs.list("local")
    assert run.verdict == "cancelled"
