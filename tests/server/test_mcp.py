"""How clients see the tools of a server, and progress of tools that scripts call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import jsonschema_rs
import pytest
from mcp import Client
from mcp_types import TextContent

from paddock import Config
from paddock.definitions.definition import SHIPPED, shipped
from paddock.record import new_run_id
from paddock.server.mcp import make_server
from paddock.server.sessions import Session
from tests.server.conftest import Connect
from tests.server.shared_services import SharedServices, open_services
from tests.tools.upstreams import plain

pytestmark = pytest.mark.asyncio(loop_scope="module")
READING = {
    *("get_run", "read_artifact", "list_artifacts", "search", "get_schema", "tags"),
    *("get_session_state", "get_envelope_contract", "code_executor"),  # the last one reaches nothing outside its jail
}
FULL = Config(
    upstreams={"plain": plain()},
    context={"region": {"servers": ["plain"], "meta": "region"}},
    connections={"plain": [{"id": "one", "meta": {"account": "1"}}]},
)


async def test_every_tool_has_a_title_a_description_and_hints() -> None:
    async with (
        open_services(FULL) as services,
        Client(make_server(services, [shipped(name) for name in SHIPPED])) as client,
    ):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {*SHIPPED, *READING, "cancel_run", "write_artifact", "attach_file", "set_region", "set_context"} < set(tools)
    for tool in tools.values():
        assert tool.title
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is not None
        jsonschema_rs.meta.validate(tool.input_schema)
        jsonschema_rs.meta.validate(tool.output_schema or {})
    assert {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint} == READING


async def test_progress_of_a_tool_that_a_script_calls_reaches_the_client(
    shared: SharedServices, connect: Connect
) -> None:
    heard = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async with connect(await shared.get(FULL)) as client:
        asked = {"code": "await call_tool('plain.count', {'upto': 3})"}
        await client.call_tool("run_code", asked, progress_callback=hear)
    assert heard == [(1.0, 3.0), (2.0, 3.0), (3.0, 3.0)]


async def test_the_list_is_short_and_does_not_grow_with_the_tools_that_scripts_can_call() -> None:
    sizes = []
    for count in (1, 500):
        tools = [named(f"tool_{number}") for number in range(count)]
        async with open_services(tools=tools) as services, Client(make_server(services)) as client:
            listed = await client.list_tools()
        sizes.append(len(listed.model_dump_json(by_alias=True, exclude_none=True)) / 4)
    assert sizes[0] == sizes[1] <= 1500


async def test_bounds_that_the_list_leaves_out_are_checked() -> None:
    async with open_services() as services, Client(make_server(services)) as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        said = [
            (await client.call_tool("read_artifact", {"ref": "x", **wrong})).content[0]
            for wrong in ({"context_lines": -1}, {"limit": 0}, {"unknown": 1})
        ]
        too_long = await client.call_tool("run_code", {"code": "1", "idempotency_key": "k" * 256})
    assert not {"minimum", "additionalProperties"} & set(re.findall(r"\w+", json.dumps(tools)))
    assert "smartGrepQuery" not in json.dumps(tools)
    for each, name in zip(said, ("context_lines", "limit", "unknown"), strict=True):
        assert isinstance(each, TextContent)
        assert "mcp_input_validation" in each.text
        assert name in each.text
    assert too_long.is_error


def named(name: str) -> Callable[[int], int]:
    def tool(number: int) -> int:
        """Something that a script can call."""
        return number

    tool.__name__ = tool.__qualname__ = name
    return tool


async def test_ids_of_runs_and_sessions_cannot_be_guessed() -> None:
    runs = {new_run_id() for _ in range(1000)}
    sessions = {Session().id for _ in range(1000)}
    assert (len(runs), len(sessions)) == (1000, 1000)
    assert {len(each) for each in runs} == {2 + 16}  # 96 bits
    assert {len(each) for each in sessions} == {2 + 22}  # 128 bits
