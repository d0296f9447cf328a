"""`get_session_state`, called by a client and by a script."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client

from paddock.definitions.definition import shipped
from paddock.server.authentication import Authenticator
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.server.sessions import Session
from tests.server.conftest import ERAS, _stored_apart, over_stdio, served
from tests.server.shared_services import open_services

pytestmark = pytest.mark.asyncio(loop_scope="module")

__all__ = ["_stored_apart"]
EXECUTE = shipped("execute")
CLEAN = {"session_present": True, "state_scope": "session", "state_reason": None}
NONE = {"session_present": False, "state_scope": "request", "state_reason": "no_mcp_session"}
SWAPPED = {"session_present": True, "state_scope": "session", "state_reason": "token_swapped"}
INSIDE = "return await call_tool('get_session_state', {})"


async def states(client: Any) -> list[Any]:
    """The results for a client and for a script."""
    outside = await client.call_tool("get_session_state", {})
    inside = await client.call_tool("execute", {"code": INSIDE})
    return [outside.structured_content, inside.structured_content]


@pytest.mark.parametrize("era", ERAS)
async def test_a_connection_over_stdio_is_one_session(era: str) -> None:
    async with over_stdio(era, "--definitions", "execute") as client:
        assert await states(client) == [CLEAN] * 2


@pytest.mark.parametrize(("era", "state"), [("legacy", CLEAN), ("2026-07-28", NONE)])
async def test_over_http_only_older_eras_have_sessions(services: Services, era: str, state: dict[str, Any]) -> None:
    async with served(services, EXECUTE) as address, Client(address, mode=era) as client:
        assert await states(client) == [state] * 2


async def test_a_header_that_the_client_invents_creates_no_session(services: Services) -> None:
    headers = {"mcp-session-id": "made-up"}
    async with served(services, EXECUTE) as address, httpx.AsyncClient(headers=headers) as web:
        from mcp.client.streamable_http import streamable_http_client

        async with Client(streamable_http_client(address, http_client=web), mode="2026-07-28") as client:
            assert await states(client) == [NONE] * 2


class Speaking:
    """A client of an older era that can change its token, which the SDK's client cannot."""

    def __init__(self, web: httpx.AsyncClient, address: str) -> None:
        self._web, self._address, self._ids = web, address, count(1)

    async def ask(self, method: str, params: dict[str, Any], **headers: str) -> Any:
        accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        answer = await self._web.post(self._address, json=body, headers=accept | headers)
        lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
        return answer.headers.get("mcp-session-id"), json.loads(lines[-1])["result"]


@asynccontextmanager
async def speaking(services: Services) -> AsyncIterator[tuple[Speaking, str]]:
    async with served(services, EXECUTE) as address, httpx.AsyncClient(timeout=60) as web:
        client = Speaking(web, address)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        session, _ = await client.ask("initialize", hello)
        yield client, session


async def test_another_token_in_a_session_sees_none_of_its_state(services: Services) -> None:
    async with speaking(services) as (client, session):

        async def call(token: str, name: str, **arguments: Any) -> Any:
            headers = {"mcp-session-id": session, "authorization": f"Bearer {token}"}
            _, result = await client.ask("tools/call", {"name": name, "arguments": arguments}, **headers)
            return result.get("structuredContent")

        async def session_of(token: str) -> Session:
            sender = await Authenticator(services.config, services.store).identify([f"Bearer {token}"])
            return services.sessions.get(session, sender.principal, f"Bearer {token}")

        assert await call("first", "get_session_state") == CLEAN
        kept = await session_of("first")
        assert await call("first", "get_session_state") == CLEAN
        assert await call("second", "get_session_state") == SWAPPED
        assert await call("second", "execute", code=INSIDE) == SWAPPED
        assert (await session_of("second")).id != kept.id
        assert await call("first", "get_session_state") == SWAPPED


async def test_it_takes_no_arguments_and_its_answer_fits_its_schema(services: Services) -> None:
    import jsonschema_rs

    async with Client(make_server(services, [EXECUTE])) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("get_session_state", {})
        wrong = await client.call_tool("execute", {"code": "await call_tool('get_session_state', {'x': 1})"})
    schema = tools["get_session_state"].output_schema
    assert schema is not None
    jsonschema_rs.validate(schema, result.structured_content)
    reasons = [None, "no_mcp_session", "token_swapped", "bridge_unavailable"]  # the last one is reserved
    assert schema["properties"]["state_reason"] == {"enum": reasons}
    assert set(schema["required"]) == set(CLEAN) == set(schema["properties"])
    assert json.loads(wrong.content[0].text)["error_code"] == "SCHEMA_ADDITIONAL_PROPERTIES"  # type: ignore[union-attr]


async def test_a_function_cannot_replace_get_session_state_and_only_execute_offers_it() -> None:
    async def get_session_state() -> str:
        return "forged"

    async with open_services(tools=[get_session_state]) as services:
        definitions = [EXECUTE, shipped("run_code")]
        async with Client(make_server(services, definitions)) as client:
            own = await client.call_tool("execute", {"code": INSIDE})
            other = await client.call_tool("run_code", {"code": INSIDE})
    assert own.structured_content == CLEAN
    assert other.structured_content["output"] == {"result": "forged"}
