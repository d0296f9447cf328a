"""How a model finds out what its scripts can call: search, schemas, tags, the envelope's contract."""

from __future__ import annotations

import json
import re
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client

from paddock import Config
from paddock.definitions.definition import shipped
from paddock.model.envelope import KINDS
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.docs import pages
from tests.envelopes import SCHEMA, problems
from tests.server.conftest import Connect
from tests.server.kept import opened
from tests.tools.upstreams import plain, shop

SHOP = shop()
WITH_SHOP = Config(upstreams={"shop": SHOP})
DISCOVERY = {"search", "get_schema", "tags"}


def connected(services: Services, *definitions: str) -> AbstractAsyncContextManager[Any]:
    return Client(make_server(services, [shipped(name) for name in definitions]))


async def names(client: Any) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def said(client: Any, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error
    text: str = result.content[0].text
    return text


async def test_run_code_has_them_beside_it_only_where_there_is_something_to_find() -> None:
    async with opened() as without, opened(WITH_SHOP) as with_shop:
        async with connected(without, "run_code") as client:
            assert not DISCOVERY & await names(client)
        async with connected(with_shop, "run_code") as client:
            assert await names(client) >= DISCOVERY
        async with connected(without, "execute") as client:
            assert await names(client) >= {*DISCOVERY, "get_envelope_contract"}


async def test_search_gives_a_line_for_each_tool_the_best_first(connect: Connect) -> None:
    async with opened(WITH_SHOP) as services, connect(services) as client:
        assert await said(client, "search", query="give money back", limit=1) == (
            "- shop.refund: Give back what was paid for an order, in whole or in part."
        )
        assert len((await said(client, "search", query="")).splitlines()) == 5
        assert (
            await said(client, "search", query="zzzz")
            == "None of 5 tools matches. Try other words; `tags` gives an overview."
        )
        assert await said(client, "search", query="", tags=["nope"]) == (
            "None of 5 tools matches. Try other words; `tags` gives an overview."
        )


async def test_search_and_get_schema_say_as_much_as_is_asked_for() -> None:
    async with opened(WITH_SHOP) as services, connected(services, "execute") as client:
        brief = await said(client, "get_schema", tools=["refund"], detail="brief")
        detailed = await said(client, "get_schema", tools=["shop.refund"])
        full = await said(client, "get_schema", tools=["shop.refund"], detail="full")
        found = await said(client, "search", query="refund", detail="detailed", limit=1)
    assert brief.startswith("- shop.refund: ")
    assert "async def refund(arguments: RefundArguments) -> RefundResult:" in detailed
    assert '"properties"' not in detailed
    assert detailed.strip("`") in full
    assert '"order_id"' in full
    assert found == detailed


async def test_get_schema_tells_which_tools_there_are_not() -> None:
    async with opened(WITH_SHOP) as services, connected(services, "execute") as client:
        some = await said(client, "get_schema", tools=["shop.orders", "shop.custmer"], detail="brief")
        none = await client.call_tool("get_schema", {"tools": ["shop.custmer"]})
    assert some.endswith("There is no tool 'shop.custmer'. Did you mean 'shop.customer'?")
    envelope = json.loads(none.content[0].text)
    assert problems(envelope) == []
    assert (none.is_error, envelope["error_kind"], envelope["tool"]) == (True, "tool_not_found", "shop.custmer")
    assert envelope["hints"][0] == "Did you mean 'shop.customer'?"


async def test_tags_counts_what_each_server_has_and_names_it_where_asked() -> None:
    async with opened(WITH_SHOP) as services, connected(services, "execute") as client:
        assert await said(client, "tags") == "5 tools of 1 server\n\nServers:\n- shop: 5"
        assert "shop.customer, shop.inventory" in await said(client, "tags", detail="full")


async def test_a_tag_of_a_servers_tools_is_counted_and_narrows_a_search() -> None:
    config = Config(upstreams={"shop": SHOP, "plain": plain(includeTools=["add", "echo"])})
    async with opened(config) as services, connected(services, "execute") as client:
        assert "\n- sums: 1" in await said(client, "tags")
        assert await said(client, "search", query="", tags=["sums"]) == "- plain.add: Add two numbers."


async def test_a_server_that_is_not_there_is_named() -> None:
    dead = {"command": sys.executable, "args": ["-c", ""]}
    config = Config(upstreams={"shop": SHOP, "dead": dead})
    async with opened(config) as services, connected(services, "execute") as client:
        assert (await said(client, "tags")).endswith("\n\nNot connected now: dead.")
        assert (await said(client, "search", query="refund", limit=1)).endswith("Not connected now: dead.")


async def test_without_any_tool_they_say_so() -> None:
    async with opened() as services, connected(services, "execute") as client:
        assert await said(client, "search", query="x") == "There are no tools that scripts can call here."
        assert await said(client, "tags") == "0 tools of 0 servers"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {}),
        ("search", {"query": "x", "limit": 0}),
        ("search", {"query": "x", "detail": "some"}),
        ("get_schema", {"tools": []}),
        ("get_schema", {"tools": "shop.orders"}),
        ("tags", {"detail": "detailed"}),
        ("get_envelope_contract", {"x": 1}),
    ],
)
async def test_wrong_arguments_are_told_as_an_envelope(tool: str, arguments: dict[str, Any]) -> None:
    async with opened() as services, connected(services, "execute") as client:
        result = await client.call_tool(tool, arguments)
    envelope = json.loads(result.content[0].text)
    assert problems(envelope) == []
    assert (result.is_error, envelope["error_kind"]) == (True, "mcp_input_validation")


async def test_the_contract_says_what_the_schema_and_the_page_say() -> None:
    async with opened() as services, connected(services, "execute") as client:
        contract = (await client.call_tool("get_envelope_contract", {})).structured_content
    assert (contract["_envelope_version"], contract["error_kinds"]) == (1, list(KINDS))
    assert list(contract["required"]) == SCHEMA["required"]
    assert list(contract["optional"]["_meta"]) == list(SCHEMA["properties"]["_meta"]["properties"])
    table = pages.rows(pages.ROOT / "docs" / "envelope.md", "Kinds and codes")
    documented = [
        [re.findall(r"`([^`]+)`", row[0])[-1], row[1].strip("`"), row[3], row[4].replace("`", "")] for row in table
    ]
    retryable = {True: "yes", False: "no"}
    shown = [
        [each["code"], each["kind"], retryable.get(each["retryable"], each["retryable"]), each["what_to_do"]]
        for each in contract["codes"]
    ]
    assert [row for row in shown if row[0] != "SCHEMA_*"] == [
        row for row in documented if not row[0].startswith("SCHEMA_")
    ]
