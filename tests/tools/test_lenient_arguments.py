"""Arguments that are nearly right, in calls of real tools from scripts: what is accepted, and what the result says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from paddock import Paddock, RunResult
from tests.tools.samples import config
from tests.tools.upstreams import declared

pytestmark = pytest.mark.asyncio(loop_scope="module")
LIST = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "maximum": 10},
        "status": {"type": ["string", "null"]},
        "address": {"anyOf": [{"$ref": "#/$defs/address"}, {"type": "null"}]},
        "filter": {"type": "object", "properties": {"country": {"type": "string"}}},
    },
    "required": ["limit"],
    "$defs": {"address": {"type": "object", "properties": {"country": {"pattern": "^[A-Z]{2}$"}}}},
}
ENGINES = ["monty", "cpython"]


def repeat(text: str, times: int = 2) -> str:
    """Say it more than once."""
    return text * times


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock(config(crm=declared({"list": LIST})), tools=[repeat]) as made:
        yield made


async def call(paddock: Paddock, tool: str, arguments: dict[str, Any], engine: str = "monty") -> RunResult:
    return await paddock.run(f"await call_tool({tool!r}, {arguments!r})", engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_misspelt_optional_field_is_passed_on_with_a_warning(paddock: Paddock, engine: str) -> None:
    code = "for n in range(3):\n    x = await call_tool('crm.list', {'limit': n, 'staus': 'open'})\nx"
    result = await paddock.run(code, engine=engine)
    warning = "crm.list: unknown field 'staus' was passed on; did you mean 'status'?"
    assert (result.output, result.warnings) == ({"result": "called"}, (warning,))
    assert [each.warnings for each in result.calls] == [(warning,)] * 3
    assert result.calls[2].arguments == {"limit": 2, "staus": "open"}


async def test_an_unknown_field_that_resembles_none_gives_a_warning_with_the_known_ones(paddock: Paddock) -> None:
    result = await call(paddock, "crm.list", {"limit": 1, "page": 2})
    warning = "crm.list: unknown field 'page' was passed on; known fields: limit, status, address, filter."
    assert (result.output, result.warnings, result.calls[0].warnings) == ({"result": "called"}, (warning,), (warning,))
    assert result.calls[0].arguments == {"limit": 1, "page": 2}
    error = (await call(paddock, "crm.list", {"limit": 1, "fail": 2})).error
    assert error is not None
    assert error.envelope is not None
    assert error.envelope["_meta"] == {"normalized": [{"kind": "unknown_field_passed_through", "field": "fail"}]}


async def test_a_call_that_wants_text_is_answered_whatever_fields_its_tool_declares() -> None:
    schemas: dict[str, dict[str, Any]] = {"none": {"type": "object"}, "null": {"type": "object", "properties": None}}
    async with Paddock(config(odd=declared(schemas))) as made:
        for tool in schemas:
            result = await call(made, f"odd.{tool}", {"_text": True})
            assert (result.output, result.calls[0].arguments) == ({"result": "called"}, {})


async def test_there_are_at_most_twenty_warnings_about_fields(paddock: Paddock) -> None:
    code = "for n in range(30):\n    await call_tool('crm.list', {'limit': 1, f'statu{n}': 1})"
    result = await paddock.run(code)
    assert (len(result.calls), len(result.warnings)) == (30, 20)


@pytest.mark.parametrize(
    ("arguments", "sent", "warning"),
    [
        ({"limit": "5"}, {"limit": 5}, "crm.list: 'limit' was converted from string to integer."),
        (
            {"limit": 5, "filter": '{"country": "no"}'},
            {"limit": 5, "filter": {"country": "no"}},
            "crm.list: 'filter' was converted from string to object.",
        ),
        ({"limit": 5, "filter": None}, {"limit": 5}, None),
        ({"limit": 5, "filter": {"country": None}}, {"limit": 5, "filter": {}}, None),
        ({"limit": 5, "status": None}, {"limit": 5, "status": None}, None),
    ],
)
async def test_what_has_one_meaning_is_accepted(
    paddock: Paddock, arguments: dict[str, Any], sent: dict[str, Any], warning: str | None
) -> None:
    result = await call(paddock, "crm.list", arguments)
    (made,) = result.calls
    assert (result.output, made.status, made.arguments) == ({"result": "called"}, "ok", sent)
    assert (made.warnings, result.warnings) == ((warning,) if warning else (), ())


async def test_a_function_gets_its_default_for_null_and_a_number_for_its_text(paddock: Paddock) -> None:
    results = [await call(paddock, "repeat", {"text": "a", "times": times}) for times in (None, "3")]
    assert [result.output for result in results] == [{"result": "aa"}, {"result": "aaa"}]


@pytest.mark.parametrize(
    ("arguments", "code", "normalized"),
    [
        ({"limit": None}, "SCHEMA_TYPE_MISMATCH", None),
        ({"limit": "five"}, "SCHEMA_TYPE_MISMATCH", None),
        ({"limit": 5, "address": {"country": "Norway"}}, "SCHEMA_PATTERN_MISMATCH", None),
        (
            {"limit": "50"},
            "SCHEMA_MAXIMUM",
            [{"kind": "coerced", "field": "limit", "from_type": "string", "to_type": "integer"}],
        ),
    ],
)
async def test_what_is_wrong_all_the_same_is_refused(
    paddock: Paddock, arguments: dict[str, Any], code: str, normalized: list[dict[str, str]] | None
) -> None:
    result = await call(paddock, "crm.list", arguments)
    assert result.error is not None
    assert result.error.envelope is not None
    assert result.error.envelope["error_code"] == code
    assert result.error.envelope.get("_meta", {}).get("normalized") == normalized
