"""Context of `execute`: it is added to every call, and how long it lasts in each kind of session."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client

from paddock import Config
from paddock.definitions.definition import shipped
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.envelopes import problems
from tests.reference.test_session_state import CLEAN, NONE, SWAPPED, speaking
from tests.server.conftest import ERAS, over_stdio, served
from tests.server.shared_services import SharedServices, open_services
from tests.tools.upstreams import seeing

pytestmark = pytest.mark.asyncio(loop_scope="module")
EXECUTE = shipped("execute")
SEEING = seeing()
SETTINGS = f"""
[upstreams.it]
command = {json.dumps(SEEING["command"])}
args = {json.dumps(SEEING["args"])}

[context.active_identity]
description = "Whose orders they are."
parameter = "identity_id"
argument = "identity_id"
servers = ["it"]

[context.region]
argument = "region"
values = ["eu", "us"]
servers = ["it"]

[context.active_profile]
parameter = "profile_id"
meta = "example/profile"
servers = ["*"]
required_by = ["it.plain"]

[[connections.it]]
id = "first"
arguments = {{PCID = "conn_1"}}

[[connections.it]]
id = "second"
title = "the second account"
arguments = {{PCID = "conn_2"}}
"""
ORDERS = "return (await call_tool('it.orders', {'limit': 1}))['arguments'].get('identity_id')"
ITEMS = "return (await call_tool('it.items', {}))['arguments']"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("settings") / "paddock.toml"
    file.write_text(SETTINGS)
    return file


@pytest_asyncio.fixture(loop_scope="module")
async def holding(shared: SharedServices, settings: Path) -> Services:
    return await shared.get(Config.load(settings, {}))


async def gives(client: Any, name: str, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content or result.content[0].text


async def fails(client: Any, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    said: dict[str, Any] = json.loads(result.content[0].text)
    assert problems(said) == []
    return said


async def test_each_field_has_its_setter_and_set_context_takes_at_least_one_of_them(holding: Services) -> None:
    async with Client(make_server(holding, [EXECUTE])) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        empty = await fails(client, "set_context")
        wrong = await fails(client, "set_region", region="mars")
        unknown = await fails(client, "set_context", regoin="eu")
    taken = {name: list(tools[name].input_schema["properties"]) for name in tools if name.startswith("set_")}
    assert taken == {
        "set_active_identity": ["identity_id"],
        "set_region": ["region"],
        "set_active_profile": ["profile_id"],
        "set_context": ["identity_id", "region", "profile_id"],
    }
    assert "Whose orders they are." in (tools["set_active_identity"].description or "")
    assert (empty["error_kind"], wrong["error_code"]) == ("mcp_input_validation", "SCHEMA_ENUM_MISMATCH")
    assert "Did you mean 'region'" in " ".join(unknown["hints"])


@pytest.mark.parametrize("era", ERAS)
async def test_over_stdio_context_is_added_to_later_calls_of_the_session(settings: Path, era: str) -> None:
    async with over_stdio(era, "--definitions", "execute", "--config", str(settings)) as client:
        missing = await fails(client, "execute", code=ORDERS)
        done = await gives(client, "set_active_identity", identity_id="id_1")
        first = await gives(client, "execute", code=ORDERS)
        await gives(client, "set_context", identity_id="id_2", region="us")
        second = [await gives(client, "execute", code=ORDERS) for _ in range(2)]
        inside = await gives(client, "execute", code=f"await call_tool('set_region', {{'region': 'eu'}})\n{ITEMS}")
        after = await gives(client, "execute", code=ITEMS)
    assert (missing["error_kind"], missing["error_code"]) == ("precondition_failed", "ACTIVE_IDENTITY_REQUIRED")
    assert missing["tool"] == "it.orders"
    assert done == {"set": {"identity_id": "id_1"}, "state_scope": "session"}
    assert (first, second) == ("id_1", ["id_2", "id_2"])
    assert inside == after == {"region": "eu", "PCID": "conn_1"}


async def test_over_http_in_older_eras_context_belongs_to_one_session(holding: Services) -> None:
    async with (
        served(holding, EXECUTE) as address,
        Client(address, mode="legacy") as one,
        Client(address, mode="legacy") as other,
    ):
        await gives(one, "set_active_identity", identity_id="id_1")
        assert await gives(one, "execute", code=ORDERS) == "id_1"
        assert (await fails(other, "execute", code=ORDERS))["error_code"] == "ACTIVE_IDENTITY_REQUIRED"


async def test_without_a_session_a_script_sets_context_for_its_run(holding: Services) -> None:
    code = (
        "await call_tool('set_active_identity', {'identity_id': 'id_9'})\n"
        "before = await call_tool('get_session_state', {})\n"
        "found = (await call_tool('it.orders', {'limit': 1}))['arguments']['identity_id']\n"
        "return {'found': found, 'same': before == await call_tool('get_session_state', {}), 'state': before}"
    )
    async with (
        served(holding, EXECUTE) as address,
        Client(address, mode="2026-07-28") as client,
    ):
        outside = await fails(client, "set_active_identity", identity_id="id_9")
        assert await gives(client, "execute", code=code) == {"found": "id_9", "same": True, "state": NONE}
        assert (await fails(client, "execute", code=ORDERS))["error_code"] == "ACTIVE_IDENTITY_REQUIRED"
    assert (outside["error_kind"], outside["error_code"]) == ("precondition_failed", "SESSION_REQUIRED")
    assert "inside the script" in outside["hints"][0]


async def test_another_token_clears_the_context_at_once(holding: Services) -> None:
    async with speaking(holding) as (client, session):

        async def call(token: str, name: str, **arguments: Any) -> Any:
            headers = {"mcp-session-id": session, "authorization": f"Bearer {token}"}
            _, result = await client.ask("tools/call", {"name": name, "arguments": arguments}, **headers)
            return result.get("structuredContent") or result["content"][0]["text"]

        await call("first", "set_active_identity", identity_id="id_of_the_first")
        await call("first", "select_connections", it="second")
        assert await call("first", "execute", code=ORDERS) == "id_of_the_first"
        assert "ACTIVE_IDENTITY_REQUIRED" in await call("second", "execute", code=ORDERS)
        assert await call("second", "execute", code=ITEMS) == {"PCID": "conn_1"}
        assert await call("second", "get_session_state") == SWAPPED
        await call("second", "set_active_identity", identity_id="id_of_the_second")
        assert await call("second", "get_session_state") == CLEAN
        assert await call("second", "execute", code=ORDERS) == "id_of_the_second"


async def test_a_field_that_some_tools_need_is_required_by_those_and_added_to_every_call(holding: Services) -> None:
    plain, items = (f"return (await call_tool('it.{name}', {{}}))['meta']" for name in ("plain", "items"))
    async with Client(make_server(holding, [EXECUTE]), mode="legacy") as client:
        missing = await fails(client, "execute", code=plain)
        without = await gives(client, "execute", code=items)
        await gives(client, "set_active_profile", profile_id="p_1")
        after = [await gives(client, "execute", code=code) for code in (plain, items)]
    kind = (missing["error_kind"], missing["error_code"], missing["retryable"])
    assert (missing["tool"], kind) == ("it.plain", ("precondition_failed", "ACTIVE_PROFILE_REQUIRED", False))
    assert (without, after) == ("{}", [{"example/profile": "p_1"}] * 2)


async def test_context_cannot_be_passed_as_an_argument(holding: Services) -> None:
    code = "await call_tool('it.orders', {'limit': 1, 'identity_id': 'mine'})"
    async with Client(make_server(holding, [EXECUTE])) as client:
        await gives(client, "set_active_identity", identity_id="id_1")
        said = await fails(client, "execute", code=code)
    assert (said["error_kind"], said["error_code"]) == ("mcp_input_validation", "CONTEXT_NOT_ALLOWED")
    assert said["tool"] == "it.orders"


async def test_a_connection_is_chosen_for_the_session_by_its_id(holding: Services) -> None:
    async with Client(make_server(holding, [EXECUTE])) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        before = await gives(client, "execute", code=ITEMS)
        await gives(client, "select_connections", it="second")
        after = await gives(client, "execute", code=ITEMS)
        wrong = await fails(client, "select_connections", it="third")
    schema = tools["select_connections"].input_schema["properties"]["it"]
    assert schema == {
        "type": "string",
        "enum": ["first", "second"],
        "description": "second: the second account",
    }
    assert (before, after) == ({"PCID": "conn_1"}, {"PCID": "conn_2"})
    assert wrong["error_code"] == "SCHEMA_ENUM_MISMATCH"


async def test_a_run_keeps_the_session_that_it_began_in(settings: Path) -> None:
    """If the token changes while a script runs, its later calls still belong to the first tenant."""
    code = (
        "await call_tool('ready', {})\nawait call_tool('swapped', {})\n"
        "return [(await call_tool('it.orders', {'limit': 1}))['arguments']['identity_id'], "
        "await call_tool('get_session_state', {})]"
    )
    is_ready, is_swapped = asyncio.Event(), asyncio.Event()

    async def ready() -> None:
        is_ready.set()

    async def swapped() -> None:
        await is_swapped.wait()

    async with (
        open_services(Config.load(settings, {}), tools=[ready, swapped]) as services,
        speaking(services) as (client, session),
    ):

        async def call(token: str, name: str, **arguments: Any) -> Any:
            headers = {"mcp-session-id": session, "authorization": f"Bearer {token}"}
            _, result = await client.ask("tools/call", {"name": name, "arguments": arguments}, **headers)
            return result.get("structuredContent") or json.loads(result["content"][0]["text"])

        await call("first", "set_active_identity", identity_id="id_of_the_first")
        running = asyncio.create_task(call("first", "execute", code=code))
        readying = asyncio.create_task(is_ready.wait())
        await asyncio.wait([running, readying], return_when=asyncio.FIRST_COMPLETED)
        assert is_ready.is_set(), await running
        assert await call("second", "get_session_state") == SWAPPED
        is_swapped.set()
        assert await running == ["id_of_the_first", CLEAN]


async def test_other_code_tools_bring_the_setters_if_fields_are_configured(holding: Services) -> None:
    native = shipped("run_code")
    async with Client(make_server(holding, [native])) as client:
        await gives(client, "set_active_identity", identity_id="id_1")
        assert (await gives(client, "run_code", code=ORDERS))["output"] == "id_1"
    async with open_services() as services, Client(make_server(services, [native])) as client:
        assert not [tool.name for tool in (await client.list_tools()).tools if "set_" in tool.name]


@pytest.mark.parametrize(
    "value", ["", "a\nb", "a\n", "a\r\nHost: evil", "a\x00", "\x7f", "x" * 513, 1, None, ["a"], {"a": 1}]
)
async def test_a_harmful_value_is_refused(holding: Services, value: Any) -> None:
    async with Client(make_server(holding, [EXECUTE]), mode="legacy") as client:
        await gives(client, "set_active_identity", identity_id="before")
        for tool in ("set_active_identity", "set_context"):
            said = await fails(client, tool, identity_id=value)
            assert said["error_kind"] == "mcp_input_validation"
        inside = f"return await call_tool('set_active_identity', {{'identity_id': {value!r}}})"
        assert (await fails(client, "execute", code=inside))["error_kind"] == "mcp_input_validation"
        assert await gives(client, "execute", code=ORDERS) == "before"
