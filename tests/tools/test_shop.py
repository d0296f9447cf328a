"""The shop of the examples: an MCP server as users write them, called from scripts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from paddock import Config, Paddock, Verdict
from paddock.cli.demo import load, mismatch, read
from paddock.config import GuestsConfig, ToolsConfig
from paddock.model.environments import EnvironmentConfig
from paddock.model.tools import Hints
from tests.tools.upstreams import shop

pytestmark = pytest.mark.asyncio(loop_scope="module")
ENGINES = ["monty", "cpython"]
PARCEL = {"destination": {"street": "Storgata 1", "city": "Oslo", "country": "NO"}, "parcels": [{"weight_kg": 2.5}]}
ASK = ({"match": "*", "hint": "destructive", "action": "ask"},)


def config(**tools: Any) -> Config:
    return Config(
        environments={"bare": EnvironmentConfig()},
        cpython=GuestsConfig(environment="bare", min_waiting=1, max_waiting=1),
        tools=ToolsConfig(**{"connect_seconds": 60.0, **tools}),  # a busy machine starts a server slowly
        upstreams={"shop": shop()},
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    """For tests that leave the shop as they found it: each asks its carrier an even number of times."""
    async with Paddock(config()) as made:
        yield made


async def codes(paddock: Paddock, engine: str, *calls: str) -> list[Any]:
    """What each call of a script gives: its answer, or the code and whether to try again where it fails."""
    lines = ["import json", "said = []"]
    for call in calls:
        lines += ["try:", f"    said.append(await {call})", "except RuntimeError as error:"]
        lines += ["    failure = json.loads(str(error))"]
        lines += ["    said.append([failure['tool'], failure['error_code'], failure['retryable']])"]
    result = await paddock.run("\n".join([*lines, "said"]), engine=engine)
    assert result.verdict is Verdict.OK, result.error
    assert isinstance(result.output, list)
    return result.output


async def test_the_shop_declares_hints_and_output_schemas(paddock: Paddock) -> None:
    tools = {tool.name: tool for tool in await paddock.tools()}
    reads = Hints(read_only=True, open_world=False)
    assert {name: tool.hints for name, tool in tools.items()} == {
        "orders": reads,
        "customer": reads,
        "inventory": reads,
        "refund": Hints(read_only=False, destructive=True, idempotent=False, open_world=False),
        "shipping_quote": Hints(read_only=True, idempotent=True, open_world=True),
    }
    assert all(tool.description and tool.output_schema for tool in tools.values())
    status = tools["orders"].input_schema["properties"]["status"]
    assert status["anyOf"][0]["enum"] == ["open", "paid", "shipped", "refunded"]
    assert tools["shipping_quote"].input_schema["$defs"].keys() == {"Address", "Parcel"}


async def test_one_script_joins_orders_customers_and_stock_alike_on_both_engines(paddock: Paddock) -> None:
    (example,) = (example for example in load()["script"] if example["file"] == "shop.py")
    for engine in ENGINES:
        result = await paddock.run(read("shop.py"), engine=engine, tools=tuple(example["tools"]))
        assert (result.engine, mismatch(example["expect"], result)) == (engine, None)
        assert [call.status for call in result.calls] == ["ok"] * 7 + ["error", "ok"] * 2


@pytest.mark.parametrize("engine", ENGINES)
async def test_the_carrier_fails_every_other_time_and_says_that_trying_again_helps(
    paddock: Paddock, engine: str
) -> None:
    call = f"shipping_quote({json.dumps(PARCEL)})"
    failed, price = (
        ["shop.shipping_quote", "CARRIER_UNAVAILABLE", True],
        {"price": 16.0, "days": 4, "speed": "standard"},
    )
    assert await codes(paddock, engine, *[call] * 4) == [failed, price, failed, price]


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_refund_is_seen_by_later_calls_and_given_once(engine: str) -> None:
    part, rest = (
        "refund({'order_id': 104, 'reason': 'late', 'amount': 20})",
        "refund({'order_id': 104, 'reason': 'late'})",
    )
    async with Paddock(config()) as paddock:
        first, second, third, page = await codes(paddock, engine, part, rest, rest, "orders({'status': 'refunded'})")
    assert first == {"order_id": 104, "amount": 20.0, "reason": "late", "remaining": 100.0}
    assert (second["amount"], second["remaining"]) == (100.0, 0.0)
    assert third == ["shop.refund", "NOTHING_TO_REFUND", False]
    assert [order["id"] for order in page["orders"]] == [107, 104]


async def test_invalid_requests_to_the_shop_have_their_own_codes(paddock: Paddock) -> None:
    expected = {
        "customer({'customer_id': 'C-9'})": "UNKNOWN_CUSTOMER",
        "inventory({'sku': 'SOFA-1'})": "UNKNOWN_SKU",
        "refund({'order_id': 105, 'reason': 'late'})": "NOTHING_TO_REFUND",
        "customer({'customer_id': 'nobody'})": "SCHEMA_PATTERN_MISMATCH",
        "orders({'status': 'payed'})": "SCHEMA_ENUM_MISMATCH",
    }
    assert [said[1] for said in await codes(paddock, "monty", *expected)] == list(expected.values())


async def test_a_policy_by_hint_stops_the_write_and_lets_the_reads_through() -> None:
    async with Paddock(config(policy=ASK)) as paddock:
        page, refused = await codes(
            paddock, "monty", "orders({'limit': 1})", "refund({'order_id': 101, 'reason': 'late'})"
        )
    assert (page["matching"], refused[1]) == (7, "APPROVAL_REQUIRED")
