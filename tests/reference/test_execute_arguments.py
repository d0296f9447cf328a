"""`execute` when a script passes invalid arguments to a tool: codes, hints and repairs."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from paddock import Config
from paddock.config import ToolsConfig
from paddock.server.services import Services
from tests.reference.execute_tool import echo, execute, failure, kind
from tests.server.shared_services import SharedServices
from tests.tools.test_schema import CODES
from tests.tools.upstreams import declared, shop

pytestmark = pytest.mark.asyncio(loop_scope="module")
SCHEMAS = {f"tool_{number}": schema for number, (_, schema, _, _) in enumerate(CODES)}
KINDS = {
    *("TYPE_MISMATCH", "REQUIRED", "MAX_ITEMS", "MIN_ITEMS", "MAX_LENGTH", "MIN_LENGTH", "MAXIMUM", "MINIMUM"),
    *("ENUM_MISMATCH", "PATTERN_MISMATCH", "FORMAT_INVALID", "ADDITIONAL_PROPERTIES", "ONE_OF_FAILED"),
    *("ANY_OF_FAILED", "ALL_OF_FAILED", "UNIQUE_ITEMS", "CONST_MISMATCH", "MULTIPLE_OF", "VALIDATION_FAILED"),
}


async def closed(order_id: int, status: str = "paid") -> None:
    raise LookupError("no such order")


async def lenient(order_id: int, **more: Any) -> None:
    raise LookupError("no such order")


@pytest_asyncio.fixture(loop_scope="module")
async def services(shared: SharedServices) -> Services:
    """Services with a tool for each kind of invalid argument."""
    config = Config(upstreams={"it": declared(SCHEMAS), "shop": shop()})
    return await shared.get(config, (echo,))


@pytest_asyncio.fixture(loop_scope="module")
async def repairing(shared: SharedServices) -> Services:
    return await shared.get(Config(tools=ToolsConfig(repair=True)), (closed, lenient))


async def told(services: Services, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return failure(await execute(services, f"await call_tool({tool!r}, {arguments!r})"))


async def test_every_code_is_tried() -> None:
    assert {code for code, *_ in CODES} == {f"SCHEMA_{name}" for name in KINDS}


@pytest.mark.parametrize("number", range(len(CODES)), ids=[case[0] for case in CODES])
async def test_each_kind_of_invalid_argument_has_its_code(services: Services, number: int) -> None:
    code, _, arguments, detail = CODES[number]
    said = await told(services, f"it.tool_{number}", arguments)
    assert (said["tool"], kind(said)) == (f"it.tool_{number}", ("mcp_input_validation", code, False))
    assert said["details"][0] == detail


async def test_a_missing_field_is_the_first_hint(services: Services) -> None:
    said = await told(services, "shop.customer", {})
    assert said["hints"][0] == "Required field missing: 'customer_id'."


async def test_an_unknown_field_is_the_first_hint_unless_one_is_missing(services: Services) -> None:
    said = await told(services, "echo", {"value": 1, "x": 1})
    assert said["hints"] == ["Unknown field 'x'.", "Known fields: 'value'."]
    said = await told(services, "echo", {"x": 1})
    assert said["hints"][:2] == ["Required field missing: 'value'.", "Unknown field 'x'."]


@pytest.mark.parametrize(
    ("name", "is_near"),
    [("vlaue", True), ("values", True), ("valuexy", True), ("val", True), ("valuexyz", False), ("va", False)],
)
async def test_a_field_within_two_edits_is_suggested(services: Services, name: str, is_near: bool) -> None:
    said = await told(services, "echo", {name: 1})
    assert (f"Did you mean 'value' instead of '{name}'?" in said["hints"]) is is_near
    assert ("Did you mean" in " ".join(said["hints"])) is is_near


@pytest.mark.parametrize(("value", "is_near"), [("damagde", True), ("damag", True), ("dama", False)])
async def test_a_value_within_two_edits_is_suggested(services: Services, value: str, is_near: bool) -> None:
    said = await told(services, "shop.refund", {"order_id": 101, "reason": value})
    assert said["error_code"] == "SCHEMA_ENUM_MISMATCH"
    assert said["hints"] == ([f"Did you mean 'damaged' instead of '{value}'?"] if is_near else [])


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "notes"),
    [
        (
            "closed",
            {"orderId": 1},
            "INTERNAL_ERROR",
            [{"kind": "renamed", "from": "orderId", "to": "order_id"}],
        ),
        (
            "closed",
            {"order_id": 1, "orderId": 1},
            "INTERNAL_ERROR",
            [{"kind": "dropped_alias", "from": "orderId", "canonical": "order_id"}],
        ),
        (
            "closed",
            {"order_id": "1"},
            "INTERNAL_ERROR",
            [{"kind": "coerced", "field": "order_id", "from_type": "string", "to_type": "integer"}],
        ),
        (
            "closed",
            {"order_id": 1, "zzz": 1},
            "SCHEMA_ADDITIONAL_PROPERTIES",
            [{"kind": "unknown_field_rejected", "field": "zzz"}],
        ),
        (
            "lenient",
            {"order_id": 1, "zzz": 1},
            "INTERNAL_ERROR",
            [{"kind": "unknown_field_passed_through", "field": "zzz"}],
        ),
        ("closed", {"order_id": 1}, "INTERNAL_ERROR", None),
    ],
)
async def test_repairs_are_listed_if_the_call_still_fails(
    repairing: Services, tool: str, arguments: dict[str, Any], code: str, notes: list[dict[str, Any]] | None
) -> None:
    said = await told(repairing, tool, arguments)
    assert (said["tool"], said["error_code"]) == (tool, code)
    assert said.get("_meta", {}).get("normalized") == notes


async def test_nothing_is_repaired_by_default(shared: SharedServices) -> None:
    said = await told(await shared.get(tools=(closed,)), "closed", {"orderId": 1})
    assert (said["error_code"], "_meta" in said) == ("INPUT_VALIDATION_FAILED", False)
