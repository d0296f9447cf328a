"""Built-in tools: discovery of the tools that scripts can call, and detached runs."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import AbstractAsyncContextManager
from secrets import token_hex
from typing import Any

import pytest
from mcp import Client

from paddock import Config
from paddock.definitions.definition import shipped
from paddock.model.envelope import KINDS
from paddock.model.request import LOCAL
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.store.database import Store
from tests.docs import pages
from tests.envelopes import SCHEMA, problems
from tests.server.conftest import Connect
from tests.server.shared_services import SharedServices, open_services
from tests.server.test_mcp import named
from tests.tools.upstreams import plain, shop

pytestmark = pytest.mark.asyncio(loop_scope="module")


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


async def test_run_code_brings_discovery_tools_only_if_there_are_tools(shared: SharedServices) -> None:
    without, with_shop = await shared.get(), await shared.get(WITH_SHOP)
    async with connected(without, "run_code") as client:
        assert not DISCOVERY & await names(client)
    async with connected(with_shop, "run_code") as client:
        assert await names(client) >= DISCOVERY
    async with connected(without, "execute") as client:
        assert await names(client) >= {*DISCOVERY, "get_envelope_contract"}


async def test_search_lists_one_tool_per_line_best_first(shared: SharedServices, connect: Connect) -> None:
    async with connect(await shared.get(WITH_SHOP)) as client:
        assert await said(client, "search", query="give money back", limit=1) == (
            "- shop.refund: Give back what was paid for an order, in whole or in part."
        )
        assert len((await said(client, "search", query="")).splitlines()) == 5
        assert (await said(client, "search", query="zzzz")).startswith("None matches. The tools are: ")
        assert "- shop.refund" in await said(client, "search", query="", tags=["shop"])
        assert (await said(client, "search", query="", tags=["nope"])).startswith("None matches. ")


async def test_a_search_without_a_match_names_the_tools_if_there_are_few(shared: SharedServices) -> None:
    async with connected(await shared.get(WITH_SHOP), "run_code") as client:
        text = await said(client, "search", query="zebra")
    assert text.startswith("None matches. The tools are: '")
    assert "'shop.orders'" in text

    many = tuple(named(f"tool_{number}") for number in range(21))
    async with connected(await shared.get(tools=many), "run_code") as client:
        text = await said(client, "search", query="zebra")
    assert text == "None of 21 tools matches. Try other words; `tags` gives an overview."


@pytest.mark.parametrize("name", ["shop.orders", "shop_orders", "shop__orders", "mcp__paddock__shop__orders", "orders"])
@pytest.mark.parametrize(
    ("code_tool", "call"),
    [
        ("run_code", 'call_tool("shop.orders", {...})'),
        ("code-execution_execute", 'callTool("shop", "orders", {...})'),
    ],
)
async def test_a_client_that_calls_an_upstreams_tool_is_told_how_a_script_calls_it(
    shared: SharedServices, name: str, code_tool: str, call: str
) -> None:
    async with connected(await shared.get(WITH_SHOP), code_tool) as client:
        result = await client.call_tool(name, {})
    envelope = json.loads(result.content[0].text)
    assert (envelope["error_code"], envelope["hints"]) == (
        "TOOL_NOT_FOUND",
        [f"Call it in a script, with {code_tool}: `return await {call}`."],
    )


async def test_an_unknown_tool_that_no_upstream_has_is_answered_with_the_tools_here(shared: SharedServices) -> None:
    async with connected(await shared.get(WITH_SHOP), "run_code") as client:
        result = await client.call_tool("run_cod", {})
    envelope = json.loads(result.content[0].text)
    assert envelope["hints"] == ["Did you mean 'run_code'?"]
    assert envelope["summary"].startswith("There is no tool 'run_cod'. Tools here: run_code, ")


async def test_search_and_get_schema_have_levels_of_detail(shared: SharedServices) -> None:
    async with connected(await shared.get(WITH_SHOP), "execute") as client:
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


async def test_arguments_that_have_one_meaning_are_accepted_with_a_note(
    shared: SharedServices, connect: Connect
) -> None:
    async with connect(await shared.get(WITH_SHOP)) as client:
        found = await client.call_tool("search", {"query": "give money back", "limit": "1", "tags": None})
        run = await client.call_tool("run_code", {"code": "a + 1", "inputs": '{"a": 1}', "files": None})
        none = await client.call_tool("search", {"query": "x", "limit": "0"})
    assert (len(found.content[0].text.splitlines()), found.is_error) == (1, False)
    note = {"kind": "coerced", "field": "limit", "from_type": "string", "to_type": "integer"}
    assert found.meta["normalized"] == [note]
    assert run.structured_content["output"] == 2
    assert run.meta["normalized"] == [note | {"field": "inputs", "to_type": "object"}]
    envelope = json.loads(none.content[0].text)
    assert (envelope["error_code"], envelope["_meta"]["normalized"]) == ("SCHEMA_MINIMUM", [note])


async def test_get_schema_names_unknown_tools(shared: SharedServices) -> None:
    async with connected(await shared.get(WITH_SHOP), "execute") as client:
        some = await said(client, "get_schema", tools=["shop.orders", "shop.custmer"], detail="brief")
        none = await client.call_tool("get_schema", {"tools": ["shop.custmer"]})
    assert some.endswith("There is no tool 'shop.custmer'. Did you mean 'shop.customer'?")
    envelope = json.loads(none.content[0].text)
    assert problems(envelope) == []
    assert (none.is_error, envelope["error_kind"], envelope["tool"]) == (True, "tool_not_found", "shop.custmer")
    assert envelope["hints"][0] == "Did you mean 'shop.customer'?"


async def test_tags_counts_the_tools_of_each_server_and_names_them_on_request(shared: SharedServices) -> None:
    async with connected(await shared.get(WITH_SHOP), "execute") as client:
        assert await said(client, "tags") == "5 tools of 1 server\n\nServers:\n- shop: 5"
        assert "shop.customer, shop.inventory" in await said(client, "tags", detail="full")


async def test_a_tag_of_a_servers_tools_is_counted_and_narrows_a_search(shared: SharedServices) -> None:
    config = Config(upstreams={"shop": SHOP, "plain": plain(includeTools=["add", "echo"])})
    async with connected(await shared.get(config), "execute") as client:
        assert "\n- sums: 1" in await said(client, "tags")
        assert await said(client, "search", query="", tags=["sums"]) == "- plain.add: Add two numbers."


async def test_an_unreachable_server_is_named(shared: SharedServices) -> None:
    dead = {"command": sys.executable, "args": ["-c", ""]}
    config = Config(upstreams={"shop": SHOP, "dead": dead})
    async with connected(await shared.get(config), "execute") as client:
        assert (await said(client, "tags")).endswith("\n\nNot connected now: dead.")
        assert (await said(client, "search", query="refund", limit=1)).endswith("Not connected now: dead.")


async def test_without_tools_the_discovery_tools_say_so(shared: SharedServices) -> None:
    async with connected(await shared.get(), "execute") as client:
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
async def test_invalid_arguments_are_an_envelope(shared: SharedServices, tool: str, arguments: dict[str, Any]) -> None:
    async with connected(await shared.get(), "execute") as client:
        result = await client.call_tool(tool, arguments)
    envelope = json.loads(result.content[0].text)
    assert problems(envelope) == []
    assert (result.is_error, envelope["error_kind"]) == (True, "mcp_input_validation")


async def test_the_contract_agrees_with_the_schema_and_the_documentation(shared: SharedServices) -> None:
    async with connected(await shared.get(), "execute") as client:
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


TELLS = "print('begun')\nawait meet()\nprint('met')\n42"


class Meeting:
    """Signals between a script and its test."""

    def __init__(self) -> None:
        self.here, self.may_go, self.gone = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.times = 0


meetings: list[Meeting] = []


@pytest.fixture
def meeting() -> Meeting:
    meetings.append(Meeting())
    return meetings[-1]


async def meet() -> None:
    meeting = meetings[-1]
    meeting.times += 1
    meeting.here.set()
    try:
        await meeting.may_go.wait()
    finally:
        meeting.gone.set()


async def ended(client: Any, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            shown: dict[str, Any] = (await client.call_tool("get_run", {"run_id": run_id})).structured_content
            if shown["verdict"] != "running":
                return shown
            await asyncio.sleep(0.01)


async def begun(client: Any, code: str, **arguments: Any) -> str:
    answer = await client.call_tool("run_code", {"code": code, "detach": True, **arguments})
    assert (answer.is_error, answer.structured_content["verdict"]) == (False, "running")
    return str(answer.structured_content["run_id"])


async def test_get_run_shows_the_output_so_far_and_then_the_result(
    shared: SharedServices, meeting: Meeting, connect: Connect
) -> None:
    async with connect(await shared.get(tools=(meet,))) as client:
        run_id = await begun(client, TELLS)
        await asyncio.wait_for(meeting.here.wait(), 60)
        going = (await client.call_tool("get_run", {"run_id": run_id})).structured_content
        meeting.may_go.set()
        after = await ended(client, run_id)
        attached = (await client.call_tool("run_code", {"code": TELLS})).structured_content
    assert going == {"run_id": run_id, "verdict": "running", "stdout": "begun\n", "stderr": ""}
    assert after == {**attached, "run_id": run_id}
    assert (after["output"], after["stdout"]) == (42, "begun\nmet\n")


async def test_a_cancelled_run_ends_and_its_output_is_kept(
    shared: SharedServices, meeting: Meeting, connect: Connect
) -> None:
    services = await shared.get(tools=(meet,))
    async with connect(services) as client:
        run_id = await begun(client, TELLS, timeout=600)
        await asyncio.wait_for(meeting.here.wait(), 60)
        shown = (await client.call_tool("cancel_run", {"run_id": run_id})).structured_content
        assert (shown["verdict"], meeting.gone.is_set(), services.runs) == ("cancelled", True, {})
        assert (shown["stdout"], shown["error"]["message"]) == ("begun\n", "cancel_run ended the run")
        assert [(call["tool"], call["status"]) for call in shown["calls"]] == [("meet", "cancelled")]
        again = (await client.call_tool("cancel_run", {"run_id": run_id})).structured_content
    assert again == {**shown, "hint": "The run had ended already."}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "", "tags": ["z"] * 21}),
        ("search", {"query": "q" * 1001}),
        ("get_schema", {"tools": ["z"] * 21}),
    ],
)
async def test_long_searches_are_refused(
    shared: SharedServices, connect: Connect, tool: str, arguments: dict[str, Any]
) -> None:
    """50,000 tags, half of them servers, held the event loop for 13 s."""
    async with connect(await shared.get(WITH_SHOP)) as client:
        refused = await client.call_tool(tool, arguments)
        assert json.loads(refused.content[0].text)["error_code"] in ("SCHEMA_MAX_ITEMS", "SCHEMA_MAX_LENGTH")


@pytest.mark.parametrize("tool", ["get_run", "cancel_run"])
async def test_a_run_of_another_caller_is_not_found_and_continues(
    services: Services, connect: Connect, tool: str
) -> None:
    async with connect(services) as client:
        run_id = await begun(client, "1")
        await ended(client, run_id)
        assert await services.store.runs.get(LOCAL, run_id) is not None
        assert await services.store.runs.get("somebody else", run_id) is None
        for asked in (f"{run_id}x", run_id[:-1], "", "../x", "r" * 100_000):
            answer = await client.call_tool(tool, {"run_id": asked})
            envelope = json.loads(answer.content[0].text)
            assert (answer.is_error, envelope["error_code"]) == (True, "INPUT_VALIDATION_FAILED")
            assert len(answer.content[0].text) < 1000


async def test_concurrent_calls_with_one_key_share_one_run(
    shared: SharedServices, meeting: Meeting, connect: Connect
) -> None:
    meeting.may_go.set()
    async with connect(await shared.get(tools=(meet,))) as client:
        asked = {"code": "await meet()\n1", "idempotency_key": token_hex(), "detach": True}
        answers = await asyncio.gather(*(client.call_tool("run_code", asked) for _ in range(20)))
        ids = {answer.structured_content["run_id"] for answer in answers}
        await ended(client, *ids)
    assert (len(ids), meeting.times) == (1, 1)


@pytest.mark.parametrize(("code", "is_error"), [("6 * 7", False), ("1 / 0", True)])
async def test_a_retry_with_the_same_key_gets_the_same_result(
    services: Services, connect: Connect, code: str, is_error: bool
) -> None:
    asked = {"code": code, "idempotency_key": token_hex()}
    async with connect(services) as client:
        first = await client.call_tool("run_code", asked)
        again = await client.call_tool("run_code", asked)
        other = await client.call_tool("run_code", {**asked, "code": "2"})
    assert (again.is_error, again.structured_content) == (is_error, first.structured_content)
    assert "was used for another request" in other.content[0].text


async def test_a_large_value_of_a_detached_run_is_one_artifact_with_a_preview(
    services: Services, connect: Connect
) -> None:
    async with connect(services) as client:
        run_id = await begun(client, "'x' * 200_000")
        output = (await ended(client, run_id))["output"]
        again = (await ended(client, run_id))["output"]
        content = await client.call_tool("read_artifact", {"ref": output["artifact"]["id"], "limit": 10})
    assert output == again
    assert output["preview"] == f"{'x' * 1000}\n[… 198,000 characters are left out …]\n{'x' * 1000}"
    assert content.structured_content["content"] == "x" * 10


async def test_closing_the_server_cancels_detached_runs(meeting: Meeting, connect: Connect) -> None:
    async with open_services(tools=[meet]) as services:
        async with connect(services) as client:
            run_id = await begun(client, TELLS, timeout=600)
            await asyncio.wait_for(meeting.here.wait(), 60)
        await services.aclose()
        async with Store(services.store.path) as store:
            run = await store.runs.get(LOCAL, run_id)
    assert run is not None
    assert (run.verdict, meeting.gone.is_set()) == ("cancelled", True)
    result = run.to_dict()["result"]
    assert result["stdout"] == "begun\n"
    assert result["error"]["message"].startswith("the server was shut down before the run ended")
