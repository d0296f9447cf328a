"""Invalid arguments get the right code, and no schema hangs, reads files or ends the host."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.tools import schema_errors
from paddock.tools.schema import LARGE_PATTERN, PATTERNS, compile_schema
from tests.escape.traces import forget_peak, peak_bytes
from tests.examples import examples


def of(field: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": field}, **more}


def problem(schema: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    found = compile_schema(schema).problems(arguments, "shop.orders")
    assert found is not None
    return found


VALUE_PROBLEMS: list[tuple[str, Any, Any, str, str, dict[str, Any]]] = [
    ("TYPE_MISMATCH", {"type": "integer"}, "x", "must be an integer, not 'x'", "string", {"expected_type": "integer"}),
    ("MAX_ITEMS", {"maxItems": 1}, [1, 2], "must have at most 1 items but has 2", "array", {"limit": 1}),
    ("MIN_ITEMS", {"minItems": 1}, [], "must have at least 1 items but has 0", "array", {"limit": 1}),
    ("MAX_LENGTH", {"maxLength": 2}, "abc", "must have at most 2 characters but has 3", "string", {"limit": 2}),
    ("MIN_LENGTH", {"minLength": 2}, "x", "must have at least 2 characters but has 1", "string", {"limit": 2}),
    ("MAXIMUM", {"maximum": 5}, 6, "must be at most 5, not 6", "integer", {"limit": 5}),
    ("MINIMUM", {"minimum": 0.5}, 0.25, "must be at least 0.5, not 0.25", "number", {"limit": 0.5}),
    ("MAXIMUM", {"exclusiveMaximum": 5}, 5, "must be less than 5, not 5", "integer", {"limit": 5}),
    ("MINIMUM", {"exclusiveMinimum": 0}, 0, "must be more than 0, not 0", "integer", {"limit": 0}),
    ("ENUM_MISMATCH", {"enum": [1, None]}, "z", "must be one of 1, null, not 'z'", "string", {"allowed": [1, None]}),
    ("ENUM_MISMATCH", {"enum": ["x"]}, "z", "must be one of 'x', not 'z'", "string", {"allowed": ["x"]}),
    ("PATTERN_MISMATCH", {"pattern": "^A"}, "x", "must match the pattern ^A, not 'x'", "string", {"pattern": "^A"}),
    ("FORMAT_INVALID", {"format": "time"}, "x", "must be a valid time, not 'x'", "string", {"format": "time"}),
    (
        "FORMAT_INVALID",
        {"format": "date-time"},
        "x",
        "must be a valid date-time, not 'x'",
        "string",
        {"format": "date-time"},
    ),
    (
        "ONE_OF_FAILED",
        {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
        1,
        "fits several alternatives of the schema but must fit exactly one",
        "integer",
        {},
    ),
    (
        "ANY_OF_FAILED",
        {"anyOf": [{"type": "integer"}, {"type": "array"}, {"type": "null"}]},
        "x",
        "fits no alternative: must be an integer; or must be an array; or must be null",
        "string",
        {"alternatives": ["must be an integer", "must be an array", "must be null"]},
    ),
    (
        "ALL_OF_FAILED",
        {"allOf": [{"type": "integer"}, {"minLength": 3}]},
        "x",
        "must be an integer, not 'x'",
        "string",
        {"expected_type": "integer"},
    ),
    ("UNIQUE_ITEMS", {"uniqueItems": True}, [1, 1], "must not have the same item twice", "array", {}),
    ("CONST_MISMATCH", {"const": 5}, 6, "must be 5, not 6", "integer", {"allowed": [5]}),
    ("MULTIPLE_OF", {"multipleOf": 5}, 6, "must be a multiple of 5, not 6", "integer", {"limit": 5}),
    ("VALIDATION_FAILED", {"not": {"type": "string"}}, "x", "is a value that the schema forbids", "string", {}),
]
"""The code without `SCHEMA_`, the schema of the field `a`, its value, and what the detail says about it."""
UNKNOWN = {"path": "z", "issue": "is not a field of this tool", "received_type": "integer"}
CODES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    *(
        (f"SCHEMA_{code}", of(field), {"a": value}, {"path": "a", "issue": issue, "received_type": received, **more})
        for code, field, value, issue, received, more in VALUE_PROBLEMS
    ),
    ("SCHEMA_REQUIRED", of({}, required=["a"]), {}, {"path": "a", "issue": "is required", "received_type": "missing"}),
    ("SCHEMA_ADDITIONAL_PROPERTIES", of({}, additionalProperties=False), {"z": 1}, UNKNOWN),
    ("SCHEMA_ADDITIONAL_PROPERTIES", of({}, unevaluatedProperties=False), {"z": 1}, UNKNOWN),
]
"""The code, the schema, arguments that violate it, and the detail of the envelope."""


ADDRESS = {"type": "object", "properties": {"country": {"type": "string", "pattern": "^[A-Z]{2}$"}}}
CONTACT = {
    "type": "object",
    "properties": {"address": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/address"}]}},
    "required": ["address"],
    "additionalProperties": False,
}
OPTIONAL = {
    "type": "object",
    "properties": {"contact": {"anyOf": [{"$ref": "#/$defs/contact"}, {"type": "null"}]}},
    "$defs": {"contact": CONTACT, "address": ADDRESS},
}


@pytest.mark.parametrize(
    ("contact", "code", "path", "issue"),
    [
        (
            {"address": {"country": "Norway"}},
            "SCHEMA_PATTERN_MISMATCH",
            "contact.address.country",
            "must match the pattern ^[A-Z]{2}$, not 'Norway'",
        ),
        ({"address": 5}, "SCHEMA_TYPE_MISMATCH", "contact.address", "must be an object or null, not 5"),
        ({}, "SCHEMA_REQUIRED", "contact.address", "is required"),
        ({"address": None, "x": 1}, "SCHEMA_ADDITIONAL_PROPERTIES", "contact.x", "is not a field of this tool"),
    ],
)
def test_an_optional_value_is_checked_as_if_null_were_no_alternative(
    contact: object, code: str, path: str, issue: str
) -> None:
    found = problem(OPTIONAL, {"contact": contact})
    assert (found["error_code"], found["details"][0]["path"], found["details"][0]["issue"]) == (code, path, issue)
    assert len(found["details"]) == 1


@pytest.mark.parametrize(("code", "schema", "arguments", "detail"), CODES, ids=[case[0] for case in CODES])
def test_each_kind_of_problem_has_its_code(
    code: str, schema: dict[str, Any], arguments: dict[str, Any], detail: dict[str, Any]
) -> None:
    found = problem(schema, arguments)
    assert (found["error_kind"], found["error_code"], found["details"][0]) == ("mcp_input_validation", code, detail)
    assert not found["retryable"]


def test_different_problems_share_the_general_code_and_each_is_listed() -> None:
    schema = of({"type": "string"}, required=["a"], additionalProperties=False)
    assert problem(schema, {"aa": 1, "b": 2}) == {
        "error_kind": "mcp_input_validation",
        "tool": "shop.orders",
        "summary": "Wrong arguments for 'shop.orders': 'aa' is not a field of this tool (3 problems in total).",
        "details": [
            {"path": "aa", "issue": "is not a field of this tool", "received_type": "integer"},
            {"path": "b", "issue": "is not a field of this tool", "received_type": "integer"},
            {"path": "a", "issue": "is required", "received_type": "missing"},
        ],
        "hints": [
            "Required field missing: 'a'.",
            "Unknown field 'aa'.",
            "Unknown field 'b'.",
            "Known fields: 'a'.",
        ],
        "examples": [{"a": "…"}],
        "error_code": "INPUT_VALIDATION_FAILED",
        "retryable": False,
        "_envelope_version": 1,
    }


@pytest.mark.parametrize(
    ("schema", "arguments", "hint"),
    [
        (of({}, additionalProperties=False) | {"properties": {"status": {}}}, {"sttaus": 1}, "'status'"),
        ({"properties": {"customer": {}}, "required": ["customer"]}, {"custmer": 1}, "'customer'"),
        ({"properties": {"repo_path": {}}, "required": ["repo_path"]}, {"path": 1}, "'repo_path'"),
        (of({"enum": ["pending", "closed"]}), {"a": "pendng"}, "'pending'"),
        (of({"enum": ["OPEN", "closed"]}), {"a": "open"}, "'OPEN'"),
    ],
)
def test_a_near_name_or_value_is_offered(schema: dict[str, Any], arguments: dict[str, Any], hint: str) -> None:
    assert any(text.startswith(f"Did you mean {hint} instead of '") for text in problem(schema, arguments)["hints"])


def test_an_unknown_field_is_named_with_the_missing_one() -> None:
    schema = {"properties": {"repo_path": {}}, "required": ["repo_path"]}
    hints = ["Required field missing: 'repo_path'.", "Unknown field 'folder'."]
    assert problem(schema, {"folder": 1})["hints"] == hints
    assert problem({**schema, "additionalProperties": True}, {"folder": 1})["hints"] == hints[:1]


def test_an_example_has_a_value_that_the_description_quotes() -> None:
    described = "Which branches: local ones ('local'), the remote's ('remote') or all ('all')."
    field = {"type": "string", "description": described}
    assert problem(of(field, required=["a"]), {})["examples"] == [{"a": "local"}]
    assert problem(of(field), {"a": 5})["hints"] == ["Pass 'a' as a string, for example \"local\"."]
    plain = {"type": "string", "description": "The customer's name, and the other's"}
    assert problem(of(plain, required=["a"]), {})["examples"] == [{"a": "…"}]


def test_a_path_is_written_as_in_a_program() -> None:
    schema = of({"type": "array", "items": {"type": "object", "required": ["id"]}})
    found = problem(schema, {"a": [{"id": 1}, {}]})
    assert found["details"][0]["path"] == "a[1].id"
    assert found["hints"] == ["Required field missing: 'a[1].id'."]


def test_long_values_are_cut() -> None:
    found = problem(of({"enum": [f"{n}{5000 * chr(120)}" for n in range(40)]}), {"a": "y" * 100_000})
    assert len(json.dumps(found)) < 10_000


def test_an_example_has_the_required_fields_and_fits() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 10},
            "when": {"type": "string", "format": "date"},
            "kind": {"enum": ["a", "b"]},
            "who": {"$ref": "#/$defs/person"},
            "rows": {"type": "array", "items": {"type": "number"}, "minItems": 2},
            "other": {"type": "string"},
        },
        "required": ["id", "when", "kind", "who", "rows"],
        "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    }
    assert problem(schema, {})["examples"] == [
        {"id": 10, "when": "2026-01-31", "kind": "a", "who": {"name": "…"}, "rows": [1, 1]}
    ]


def test_a_date_time_may_lack_its_offset() -> None:
    validator = compile_schema(of({"format": "date-time"}))
    texts = ["2026-01-31T12:00:00", "2026-01-31T12:00:00Z", "2026-01-31t12:00:60.123z", "2026-01-31T12:00:00+02:00"]
    assert [validator.problems({"a": text}, "t") for text in texts] == [None] * 4


def test_text_that_is_not_unicode_is_refused_with_that_reason() -> None:
    found = problem(of({"enum": ["x"]}), {"a": "\ud800"})
    assert found["error_code"] == "INPUT_VALIDATION_FAILED"
    assert "surrogate" in found["summary"]


@pytest.mark.parametrize(
    "field",
    [
        {"pattern": "(?=x)x"},
        {"pattern": "(x)\\1"},
        {"pattern": "(((a{100}){100}){100}){100}"},
        {"pattern": 5},
        {"patternProperties": {"(": {"type": "string"}}},
        {"required": True},
        {"type": "text"},
        {"items": 5},
        {"allOf": [5]},
        {"$ref": 5},
        {"$ref": "#/$defs/none"},
        {"$ref": "#/properties/a/enum/0", "enum": [{"type": "string"}, {}, "1", 1]},
        {"$ref": "other.json"},
        {"$dynamicRef": "#x"},
    ],
    ids=str,
)
def test_unusable_parts_of_a_schema_are_ignored_and_the_rest_is_checked(field: dict[str, Any]) -> None:
    schema = {"properties": {"a": field, "b": {"type": "string"}}}
    validator = compile_schema(schema)
    assert (validator.warnings != ()) is (field != {"pattern": 5})
    assert validator.problems({"a": 1, "b": "x"}, "t") is None
    found = validator.problems({"b": 1}, "t")
    assert found is not None
    assert found.get("_meta", {}).get("warnings", []) == list(validator.warnings)


@pytest.mark.parametrize("schema", [None, [], "x", 5, {"enum": 5}, {"type": {}}, {"properties": []}, {1: 2}], ids=str)
def test_no_schema_makes_a_tool_unusable(schema: Any) -> None:
    assert compile_schema(schema).problems({"a": 1}, "t") is None


def test_a_reference_out_of_the_schema_is_neither_read_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"type": "string"}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema"
        for uri in (address, secret.as_uri(), str(secret)):
            hostile: list[dict[str, Any]] = [
                of({"$ref": uri}),
                {"$ref": uri},
                {"$schema": uri, "type": "object"},
                {"$id": uri, "properties": {"a": {"$ref": "other"}}},
                {"$defs": {"x": {"$ref": uri}}},
                {"x-more": {"$ref": uri}, "properties": {"a": {"$ref": "#/x-more"}}},
                of({"$dynamicRef": uri}),
                of({"$recursiveRef": uri}),
                of({"const": {"$ref": uri}}) | {"$ref": "#/properties/a/const"},
            ]
            for schema in hostile:
                validator = compile_schema(schema)
                assert validator.problems({"b": 1}, "t") is None  # a string is not asked for: the file was not read
        with pytest.raises(TimeoutError):
            server.accept()


def doubling(keyword: str, levels: int = 40) -> dict[str, Any]:
    """A small schema that unfolds into 2^levels."""
    defs: dict[str, Any] = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {"type": "string"}}}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def chained(links: int) -> dict[str, Any]:
    """A long way from each level of the arguments to the next: it would overflow the validator's stack."""
    defs: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}]} for n in range(links)}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{links}": {"properties": {"a": {"$ref": "#"}}}}}


def unevaluated(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {"a": {}}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


DEEP: dict[str, Any] = {}
for _ in range(90):
    DEEP = {"a": DEEP}
SPLIT = {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#"}] * 3}}, "required": ["z"]}
HOSTILE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "allOf doubled": (doubling("allOf"), {}),
    "anyOf doubled": (doubling("anyOf"), {}),
    "oneOf doubled": (doubling("oneOf"), {}),
    "anyOf doubled, 14 levels": (doubling("anyOf", 14), {}),
    "doubled at each level": (SPLIT, DEEP),
    "unevaluated": (unevaluated(40), {"a": 1}),
    "refers to itself": ({"$ref": "#"}, {}),
    "cycle": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, {}),
    "cycle of choices": ({"anyOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]}, {}),
    "100 levels": (nested(49), DEEP),
    "100,000 levels": (nested(100_000), {}),
    "chain": (chained(50), DEEP),
    "long chain": (chained(4000), DEEP),
    "10 MB enum": (of({"enum": [f"value {number}" for number in range(700_000)]}), {"a": 1}),
    "catastrophic pattern": (of({"pattern": "^(a+)+$"}), {"a": "a" * 200_000 + "b"}),
    "large automaton": (of({"pattern": "[01]*1[01]{6000}x"}), {"a": "0110100" * 30_000}),
    "many patterns": (of({"allOf": [{"pattern": f"[01]*1[01]{{{n}}}x"} for n in range(900)]}), {"a": "0110100" * 99}),
    "many large automata": (
        {"type": "object", "properties": {f"p{n}": {"pattern": f"(a{{1,200}}){{1,35}}b?{n}"} for n in range(480)}},
        {"p1": "a" * 200},
    ),
    "wide and long": (of({"items": {"allOf": [{"type": "string"}] * 4000}}), {"a": [1] * 100_000}),
    "copies": ({"allOf": [{"type": "string"}] * 5000}, {"a": "x" * 1_000_000}),
    "copies of choices": (of({"anyOf": [{"type": "integer"}] * 5000}), {"a": "x" * 1_000_000}),
    "deep enum": (of({"enum": [json.loads("[" * 95 + "]" * 95)]}), {"a": 1}),
    "enum of lists": (of({"items": {"enum": [[n] for n in range(5000)]}}), {"a": [[4999]] * 50_000}),
    "enum of numbers": (of({"items": {"enum": [n + 0.5 for n in range(2000)]}}), {"a": [1999.5] * 50_000}),
    "many names that others depend on": (
        of({"items": {"dependentRequired": {f"name {n}": ["x"] for n in range(10_000)}}}),
        {"a": [{}] * 50_000},
    ),
    "many schemas that allow all": (of({"items": {"allOf": [True] * 30_000}}), {"a": [1] * 100_000}),
    "numbers of many digits": (of({"items": {"multipleOf": 0.01}}), {"a": [1e300] * 500_000}),
    "divided by a tiny number": (of({"items": {"multipleOf": 1e-300}}), {"a": [5] * 500_000}),
    "integers of thousands of digits": (of({"items": {"minimum": 0.5}}), {"a": [10**4000] * 5000}),
    "unique numbers": (of({"items": {"uniqueItems": True}}), {"a": [[n + 0.5 for n in range(14)]] * 50_000}),
}


TENFOLD: dict[str, Any] = {}
for _ in range(8):
    TENFOLD = {"type": "array", "minItems": 10, "items": TENFOLD}
HOSTILE |= {
    "an example of 10^8 parts": (of(TENFOLD) | {"required": ["a"]}, {}),
    "an example that contains itself": (
        {"required": [*"abcdefghijklmnopqrst"], "properties": {name: {"$ref": "#"} for name in "abcdefghijklmnopqrst"}},
        {"a": 1},
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_schema_takes_long_or_ends_the_host(name: str) -> None:
    schema, arguments = HOSTILE[name]
    started = time.process_time()
    found: list[Any] = []
    # A thread, because its stack is the smaller one wherever tools run in threads.
    before = threading.stack_size(512 * 1024)
    thread = threading.Thread(target=lambda: found.append(compile_schema(schema).problems(arguments, "t")))
    thread.start()
    threading.stack_size(before)
    thread.join()
    assert len(found) == 1
    assert time.process_time() - started < 5  # unguarded: minutes to years


def test_few_large_automata_are_compiled_for_one_schema() -> None:
    """480 of them, in 40 schemas, held the event loop for 18 s."""
    found = compile_schema(HOSTILE["many large automata"][0]).schema.patterns
    assert [*found.values()].count(2) == PATTERNS // LARGE_PATTERN


def test_what_patterns_note_while_they_match_takes_little_memory() -> None:
    """The notes of 490 patterns took 400 MB."""
    numbers, chosen = range(200), Random(1)  # noqa: S311
    validator = compile_schema({"properties": {f"a{n}": {"pattern": f"[ab]*a[ab]{{14}}{n}"} for n in numbers}})
    forget_peak()
    before = peak_bytes()
    for number in numbers:
        assert validator.accepts({f"a{number}": "".join(chosen.choices("ab", k=5000))}) is False
    assert peak_bytes() - before < 30 * 1024 * 1024


def test_a_recursive_schema_is_checked_as_deep_as_it_goes() -> None:
    node = {"type": "object", "properties": {"and": {"$ref": "#/$defs/list"}, "or": {"$ref": "#/$defs/list"}}}
    schema = {
        "properties": {"filter": {"$ref": "#/$defs/filter"}},
        "$defs": {
            "list": {"type": "array", "items": {"$ref": "#/$defs/filter"}},
            "filter": {"anyOf": [{"type": "string"}, node]},
        },
    }
    validator = compile_schema(schema)
    fits: Any = "x"
    for _ in range(10):
        fits = {"and": [fits, {"or": ["y"]}]}
    assert validator.accepts({"filter": fits}) is True
    assert validator.accepts({"filter": {"and": [{"or": [5]}]}}) is False


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-5, 5), st.text("ab1", max_size=4))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
LEAVES = st.one_of(
    st.fixed_dictionaries(
        {}, optional={"type": TYPES, "minimum": st.integers(-5, 5), "exclusiveMaximum": st.integers(-5, 5)}
    ),
    st.fixed_dictionaries({}, optional={"type": TYPES, "minLength": st.integers(0, 3), "maxLength": st.integers(0, 3)}),
    st.builds(lambda values: {"enum": values}, st.lists(SCALARS, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, VALUES),
)


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    objects = {
        "properties": named,
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        "additionalProperties": st.booleans() | inner,
    }
    arrays = {
        "items": inner,
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "uniqueItems": st.booleans(),
    }
    choices = st.sampled_from(["anyOf", "oneOf", "allOf"])
    return st.one_of(
        st.fixed_dictionaries({}, optional=objects),
        st.fixed_dictionaries({}, optional=arrays),
        st.builds(lambda name, parts: {name: parts}, choices, st.lists(inner, min_size=1, max_size=3)),
    )


SCHEMAS = st.recursive(LEAVES, composed, max_leaves=8)


@settings(max_examples=examples(150), deadline=None)
@given(schema=SCHEMAS, arguments=st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_problems_are_found_exactly_where_the_reference_implementation_finds_them(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    found = compile_schema(schema).problems(arguments, "t")
    assert (found is None) is jsonschema.Draft202012Validator(schema).is_valid(arguments)
    assert found is None or json.dumps(found, allow_nan=False)


def test_suggestions_are_computed_only_for_problems_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def watched(word: str, known: Iterable[str]) -> list[str]:
        looked.extend([word] * any(known))
        return []

    monkeypatch.setattr(schema_errors, "within_edits", watched)
    item = {"type": "object", "properties": {"a": {"enum": ["x"]}}, "additionalProperties": False}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": item}}}
    found = compile_schema(schema).problems({"rows": [{"a": "y", "b": 1} for _ in range(100)]}, "t")
    assert found is not None
    assert len(found["details"]) == schema_errors.DETAILS <= len(looked) < 2 * schema_errors.DETAILS
