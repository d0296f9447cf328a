"""Repair changes only what is certainly wrong, loses nothing, and never raises."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.tools import repair as repair_module
from paddock.tools.repair import repair, unknown_fields
from tests.examples import examples
from tests.tools.test_schema import SCHEMAS, VALUES

CLOSED = {"properties": {"order_id": {"type": "integer"}, "status": {}}, "additionalProperties": False}
OPEN = {"properties": {"order_id": {"type": "integer"}, "status": {}}, "required": ["order_id"]}


def typed(kind: Any, **more: Any) -> dict[str, Any]:
    return {"properties": {"a": {"type": kind, **more}}}


def coerced(start: str, end: str) -> list[dict[str, Any]]:
    return [{"kind": "coerced", "field": "a", "from_type": start, "to_type": end}]


@pytest.mark.parametrize(
    ("schema", "given_name", "note"),
    [
        (CLOSED, "orderId", {"kind": "renamed", "from": "orderId", "to": "order_id"}),
        (CLOSED, "ORDER-ID", {"kind": "renamed", "from": "ORDER-ID", "to": "order_id"}),
        (CLOSED, "ordr_id", {"kind": "renamed", "from": "ordr_id", "to": "order_id"}),
        (OPEN, "orderId", {"kind": "renamed", "from": "orderId", "to": "order_id"}),
    ],
)
def test_a_misspelt_field_is_renamed(schema: dict[str, Any], given_name: str, note: dict[str, Any]) -> None:
    assert repair({given_name: 1}, schema) == ({"order_id": 1}, [note])


NULLS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "needed": {"type": "string"},
        "plain": {"type": "string"},
        "nullable": {"type": ["string", "null"]},
        "either": {"anyOf": [{"$ref": "#/$defs/text"}, {"type": "null"}]},
        "referred": {"$ref": "#/$defs/text"},
        "untyped": {"enum": ["x"]},
        "inner": {"type": "object", "properties": {"plain": {"type": "integer"}}},
    },
    "required": ["needed"],
    "$defs": {"text": {"type": "string"}},
}


@pytest.mark.parametrize("only_text", [True, False])
@pytest.mark.parametrize("name", list(NULLS["properties"]))
def test_null_is_as_if_absent_where_the_schema_excludes_it(name: str, only_text: bool) -> None:
    repaired, notes = repair({name: None}, NULLS, only_text=only_text)
    is_removed = name in ("plain", "referred", "inner")
    assert (repaired, notes) == ({} if is_removed else {name: None}, [])


def test_null_is_removed_from_inner_objects_too() -> None:
    assert repair({"inner": {"plain": None}}, NULLS)[0] == {"inner": {}}


@pytest.mark.parametrize(
    ("kind", "value", "made"),
    [
        ("integer", "5", 5),
        ("number", "-1.5", -1.5),
        ("boolean", "true", True),
        ("object", '{"x": 1}', {"x": 1}),
        ("array", "[1, 2]", [1, 2]),
        ("integer", "05", "05"),
        ("object", "{x: 1}", "{x: 1}"),
        ("array", "x", "x"),
        ("string", 5, 5),
    ],
)
def test_only_the_json_text_of_another_value_is_converted(kind: str, value: Any, made: Any) -> None:
    notes = [] if made == value else coerced("string", kind)
    assert repair({"a": value, "A": 1}, typed(kind), only_text=True) == ({"a": made, "A": 1}, notes)


LIST = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer"},
        "filter": {"type": "object", "properties": {"status": {}}},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"name": {}}}},
        "maybe": {"anyOf": [{"type": "object", "properties": {"color": {"type": "integer"}}}, {"type": "null"}]},
        "closed": {"type": "object", "properties": {"size": {}}, "additionalProperties": {"type": "integer"}},
        "any": {"type": "object", "properties": {"size": {}}, "additionalProperties": True},
        "free": {"type": "object"},
        "empty": {"type": "object", "properties": {}},
        "last": {},
    },
}
KNOWN = "known fields: limit, filter, rows, maybe, closed, any, free, empty, …"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"limt": 5}, [("limt", "did you mean 'limit'?")]),
        ({"Limits": 5}, [("Limits", "did you mean 'limit'?")]),
        ({"limt": 5, "limit": 5}, [("limt", KNOWN)]),
        ({"page": 5}, [("page", KNOWN)]),
        ({"filter": {"stauts": 1}}, [("filter.stauts", "did you mean 'status'?")]),
        ({"filter": {"city": 1}}, [("filter.city", "known fields: status.")]),
        ({"rows": [{"name": 1}, {"nmae": 1}]}, [("rows[1].nmae", "did you mean 'name'?")]),
        ({"maybe": {"colour": 1}}, [("maybe.colour", "did you mean 'color'?")]),
        ({"closed": {"sizee": 1, "other": 1}}, []),
        ({"any": {"sizee": 1, "other": 1}}, [("any.sizee", "did you mean 'size'?")]),
        ({"free": {"a": 1}, "empty": {"a": 1}}, []),
        ({"limit": 5, "filter": {"status": 1}, "rows": []}, []),
    ],
)
def test_an_unknown_field_is_found_with_the_known_ones(arguments: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert unknown_fields(arguments, LIST) == found


def test_an_optional_object_is_repaired_inside() -> None:
    made, notes = repair({"maybe": {"color": "5"}}, LIST, only_text=True)
    assert (made, notes[0]["field"]) == ({"maybe": {"color": 5}}, "maybe.color")


@pytest.mark.parametrize("flood", [{f"zzz{number}": 1 for number in range(100_000)}, {"rows": [{"nmae": 1}] * 100_000}])
def test_the_search_for_unknown_fields_ends(flood: dict[str, Any]) -> None:
    assert len(unknown_fields(flood, LIST)) == repair_module.MAX_GUESSES


@pytest.mark.parametrize(
    ("schema", "arguments", "made", "notes"),
    [
        (
            CLOSED,
            {"order_id": 1, "orderId": 1},
            {"order_id": 1},
            [{"kind": "dropped_alias", "from": "orderId", "canonical": "order_id"}],
        ),
        (
            CLOSED,
            {"order_id": 1, "orderId": 2},
            {"order_id": 1, "orderId": 2},
            [{"kind": "unknown_field_rejected", "field": "orderId"}],
        ),
        (CLOSED, {"zzz": 1}, {"zzz": 1}, [{"kind": "unknown_field_rejected", "field": "zzz"}]),
        (OPEN, {"zzz": 1}, {"zzz": 1}, [{"kind": "unknown_field_passed_through", "field": "zzz"}]),
        # The field is optional and others are allowed: as it stands it may be what is meant.
        (OPEN, {"Status": 1}, {"Status": 1}, [{"kind": "unknown_field_passed_through", "field": "Status"}]),
        (
            CLOSED,
            {"orderId": 1, "OrderID": 2},
            {"orderId": 1, "OrderID": 2},
            [
                {"kind": "unknown_field_rejected", "field": "orderId"},
                {"kind": "unknown_field_rejected", "field": "OrderID"},
            ],
        ),
        (
            {"properties": {"abcde": {}, "abcdx": {}}, "additionalProperties": False},
            {"abcdy": 1},
            {"abcdy": 1},
            [{"kind": "unknown_field_rejected", "field": "abcdy"}],
        ),
        (
            CLOSED,
            {"OrderId": "5"},
            {"order_id": 5},
            [
                {"kind": "renamed", "from": "OrderId", "to": "order_id"},
                {"kind": "coerced", "field": "order_id", "from_type": "string", "to_type": "integer"},
            ],
        ),
    ],
)
def test_unknown_fields_are_renamed_dropped_or_reported(
    schema: dict[str, Any], arguments: dict[str, Any], made: dict[str, Any], notes: list[dict[str, Any]]
) -> None:
    assert repair(arguments, schema) == (made, notes)


@pytest.mark.parametrize(
    ("schema", "value", "made", "notes"),
    [
        (typed("integer"), "5", 5, coerced("string", "integer")),
        (typed("integer"), 5.0, 5, coerced("number", "integer")),
        (typed("number"), "2.5", 2.5, coerced("string", "number")),
        (typed("boolean"), "True", True, coerced("string", "boolean")),
        (typed("string"), 5, "5", coerced("integer", "string")),
        (typed("array"), "x", ["x"], coerced("string", "array")),
        (typed("array", items={"type": "integer"}), "5", [5], coerced("string", "array")),
        (typed("array"), '["x", 1]', ["x", 1], coerced("string", "array")),
        (typed("object"), '{"x": 1}', {"x": 1}, coerced("string", "object")),
        (typed(["integer", "null"]), "5", 5, coerced("string", "integer")),
        (
            {
                "properties": {"a": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
                "$defs": {"n": typed("x") | {"type": "integer"}},
            },
            "5",
            5,
            coerced("string", "integer"),
        ),
        # Nothing that would lose or guess.
        (typed("integer"), "05", "05", []),
        (typed("integer"), "5.5", "5.5", []),
        (typed("integer"), 5.5, 5.5, []),
        (typed("integer"), "1e3", "1e3", []),
        (typed("integer"), True, True, []),
        (typed("integer"), "9" * 30, "9" * 30, []),
        (typed("boolean"), "yes", "yes", []),
        (typed("boolean"), 1, 1, []),
        (typed("string", enum=["x"]), "y", "y", []),
        (typed("string"), math.inf, math.inf, []),
        (typed("array", items={"type": "integer"}), "x", "x", []),
        (typed("nonsense"), "5", "5", []),
        (typed("number"), 5, 5, []),
    ],
)
def test_a_value_is_converted_only_without_loss(
    schema: dict[str, Any], value: Any, made: Any, notes: list[dict[str, Any]]
) -> None:
    arguments, told = repair({"a": value}, schema)
    assert (arguments, type(arguments["a"]), told) == ({"a": made}, type(made), notes)


def test_repair_reaches_nested_values() -> None:
    schema = {"properties": {"rows": {"items": CLOSED}}}
    assert repair({"rows": [{"orderId": "5"}]}, schema) == (
        {"rows": [{"order_id": 5}]},
        [
            {"kind": "renamed", "from": "rows[0].orderId", "to": "rows[0].order_id"},
            {"kind": "coerced", "field": "rows[0].order_id", "from_type": "string", "to_type": "integer"},
        ],
    )


@settings(max_examples=examples(100), deadline=None)
@given(schema=SCHEMAS, arguments=st.dictionaries(st.sampled_from(["a", "b", "c", "A", "aa"]), VALUES, max_size=3))
def test_valid_arguments_stay_valid(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    made, notes = repair(arguments, schema)
    reference = jsonschema.Draft202012Validator(schema)
    assert reference.is_valid(made) or not reference.is_valid(arguments)
    assert json.dumps(notes)


def test_neither_depth_nor_a_cycle_of_references_raises() -> None:
    deep: Any = {}
    for _ in range(50_000):
        deep = {"a": deep}
    schema = {"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "#"}}}
    assert repair({"a": deep, "b": deep}, schema)[0]["a"] is deep


def test_the_number_of_guesses_at_field_names_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def watched(word: str, known: Iterable[str]) -> list[str]:
        looked.append(word)
        return []

    monkeypatch.setattr(repair_module, "within_edits", watched)
    schema = {"properties": {"rows": {"items": {"properties": {"a": {}}, "additionalProperties": False}}}}
    arguments = {"rows": [{f"x{number}": 1} for number in range(1000)], **{f"y{number}": 1 for number in range(1000)}}
    assert repair(arguments, schema)[0] == arguments
    assert len(looked) == repair_module.MAX_GUESSES


@pytest.mark.parametrize(
    ("item", "count"),
    [
        ({"type": "integer"}, 100_000),
        ({"anyOf": [{"type": "integer"}] * 1000}, 100),
        ({"type": "integer", "$ref": "#/" + "x" * 900}, 1000),
        ({"properties": {"b": {"type": "integer"}}, "required": [str(number) for number in range(40_000)]}, 20),
    ],
)
@pytest.mark.parametrize("only_text", [True, False])
def test_more_values_than_can_be_looked_at_quickly_are_not_repaired(item: Any, count: int, only_text: bool) -> None:
    schema = {"properties": {"first": {"type": "integer"}, "rows": {"items": item}}}
    arguments = {"first": "5", "rows": [{"b": None} if "required" in item else "5"] * count}
    assert repair(arguments, schema, only_text=only_text) == (arguments, [])
    few = {"first": "5", "rows": arguments["rows"][:1]}
    assert repair(few, schema, only_text=only_text)[0]["first"] == 5
    found = unknown_fields({"frist": 1, "rows": arguments["rows"]}, schema)
    assert found == [("frist", "did you mean 'first'?")]
