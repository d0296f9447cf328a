"""The discovery tools of `execute`, and their levels of detail."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from paddock import Config
from paddock.server.services import Services
from tests.reference.execute_tool import SHOP, connected, failure, kind
from tests.server.shared_services import SharedServices
from tests.tools.upstreams import plain

pytestmark = pytest.mark.asyncio(loop_scope="module")
WITH_TAGS = Config(upstreams={"shop": SHOP, "plain": plain(includeTools=["add", "echo"])})
REFUND = "- shop.refund: Give back what was paid for an order, in whole or in part."
STUB = "async def refund(arguments: RefundArguments) -> RefundResult:"


@pytest_asyncio.fixture(loop_scope="module")
async def services(shared: SharedServices) -> Services:
    return await shared.get(WITH_TAGS)


async def said(services: Services, tool: str, **arguments: Any) -> str:
    async with connected(services) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    text: str = result.content[0].text
    return text


async def test_their_arguments_are_those_of_the_original(services: Services) -> None:
    async with connected(services) as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    taken = {
        name: (list(tools[name]["properties"]), tools[name].get("required", []))
        for name in ("execute", "search", "get_schema", "tags", "get_envelope_contract")
    }
    assert taken == {
        "execute": (["code"], ["code"]),
        "search": (["query", "tags", "detail", "limit"], ["query"]),
        "get_schema": (["tools", "detail"], ["tools"]),
        "tags": (["detail"], []),
        "get_envelope_contract": ([], []),
    }
    levels = ["brief", "detailed", "full"]
    assert [tools[name]["properties"]["detail"]["enum"] for name in ("search", "get_schema")] == [levels, levels]


@pytest.mark.parametrize(
    ("tool", "asked"), [("search", {"query": "refund", "limit": 1}), ("get_schema", {"tools": ["shop.refund"]})]
)
async def test_each_level_of_detail_has_more_than_the_one_before(
    services: Services, tool: str, asked: dict[str, Any]
) -> None:
    brief, detailed, full = [
        await said(services, tool, **asked, detail=level) for level in ("brief", "detailed", "full")
    ]
    assert brief == REFUND
    assert (STUB in detailed, "schema" in detailed, '"properties"' in detailed) == (True, False, False)
    assert (STUB in full, "Input schema:" in full, "Output schema:" in full) == (True, True, True)
    default = {"search": brief, "get_schema": detailed}
    assert await said(services, tool, **asked) == default[tool]


async def test_search_can_be_limited_by_number_and_tag(services: Services) -> None:
    assert len((await said(services, "search", query="")).splitlines()) == 7
    assert len((await said(services, "search", query="", limit=2)).splitlines()) == 2
    assert await said(services, "search", query="", tags=["sums"]) == "- plain.add: Add two numbers."


async def test_get_schema_describes_several_tools(services: Services) -> None:
    lines = await said(services, "get_schema", tools=["plain.echo", "shop.refund"], detail="brief")
    assert lines.splitlines() == ["- plain.echo: Say it again.", REFUND]
    both = await said(services, "get_schema", tools=["plain.echo", "shop.refund"])
    assert (both.count("async def "), STUB in both, "async def echo(" in both) == (2, True, True)


async def test_tags_counts_tools_and_names_them_with_full_detail(services: Services) -> None:
    brief = "7 tools of 2 servers\n\nServers:\n- shop: 5\n- plain: 2\n\nTags:\n- sums: 1"
    assert await said(services, "tags") == await said(services, "tags", detail="brief") == brief
    full = await said(services, "tags", detail="full")
    assert "\n- plain: 2 (plain.add, plain.echo)\n" in full
    assert full.endswith("\n- sums: 1 (plain.add)")


async def test_the_envelopes_contract_names_every_field_and_the_codes_of_a_failing_script(services: Services) -> None:
    async with connected(services) as client:
        contract = (await client.call_tool("get_envelope_contract", {})).structured_content
        envelope = failure(await client.call_tool("execute", {"code": "await call_tool('nope', {})"}))
    codes = {code["code"]: (code["kind"], code["retryable"]) for code in contract["codes"]}
    assert contract["required"].keys() == envelope.keys()
    assert codes[envelope["error_code"]] == (kind(envelope)[0], kind(envelope)[2])
    assert contract["optional"]["_meta"].keys() >= {"normalized", "retry_after_seconds"}
