"""The error envelope, version 1."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from paddock import Paddock
from paddock.model import envelope as module
from paddock.model.envelope import KINDS, envelope, parse, validate_envelope, with_meta
from tests import envelopes
from tests.tools.test_schema import CODES

FULL = envelope(
    "upstream_http",
    "shop.orders",
    "The shop said 503.",
    "UPSTREAM_503",
    details=[{"path": "id", "issue": "missing"}],
    hints=["Try later."],
    examples=[{"id": 1}],
    retryable=True,
)


@pytest.mark.parametrize(
    ("text", "shortened"),
    [
        (f"a\nRuntimeError: {json.dumps(module.internal_error('t', 'no'))}\nb", "a\nRuntimeError: no\nb"),
        ('RuntimeError: {"error_kind": "odd"}', 'RuntimeError: {"error_kind": "odd"}'),
        ("a\r\nb\n", "a\r\nb\n"),
    ],
)
def test_an_envelope_that_ends_a_line_is_shortened_to_its_summary(text: str, shortened: str) -> None:
    assert module.shorten(text) == shortened


def test_an_envelope_has_every_required_field() -> None:
    assert FULL == {
        "error_kind": "upstream_http",
        "tool": "shop.orders",
        "summary": "The shop said 503.",
        "details": [{"path": "id", "issue": "missing"}],
        "hints": ["Try later."],
        "examples": [{"id": 1}],
        "error_code": "UPSTREAM_503",
        "retryable": True,
        "_envelope_version": 1,
    }


def test_an_envelope_is_parsed_with_fields_that_an_upstream_added() -> None:
    more = {**FULL, "_meta": {"retry_after_seconds": 5}}
    assert parse(json.dumps(more)) == more


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "{",
        "{}",
        "[1]",
        "null",
        '{"error_kind": "x"}',
        json.dumps(FULL)[:-1],
        f"Error: {json.dumps(FULL)}",
        json.dumps([FULL]),
        json.dumps({"error": FULL}),
        json.dumps({**FULL, "summary": "x" * 300_000}),
        json.dumps({**FULL, "examples": [math.nan]}),
        "{" * 100_000,
        '{"a":' * 100_000,
    ],
    ids=lambda text: text[:16],
)
def test_anything_else_is_not_an_envelope(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("name", FULL)
def test_an_envelope_without_a_required_field_is_refused(name: str) -> None:
    rest = {key: value for key, value in FULL.items() if key != name}
    assert parse(json.dumps(rest)) is None
    assert envelopes.problems(rest) != []


@pytest.mark.parametrize(
    "wrong",
    [
        {"error_kind": "made_up"},
        {"error_kind": []},
        {"tool": None},
        {"summary": {"html": "<b>"}},
        {"details": {}},
        {"details": ["x"]},
        {"details": [{"path": 1, "issue": "x"}]},
        {"details": [{"path": "x"}]},
        {"details": [{"path": "x", "issue": "x", "received_type": 1}]},
        {"hints": "x"},
        {"hints": [1]},
        {"examples": {}},
        {"error_code": "lower"},
        {"error_code": "X" * 101},
        {"error_code": "A\n"},
        {"retryable": "yes"},
        {"retryable": 1},
        {"_envelope_version": 2},
        {"_envelope_version": "1"},
        {"_envelope_version": True},
        {"_meta": []},
        {"_meta": {"warnings": [1]}},
        {"_meta": {"normalized": ["x"]}},
        {"_meta": {"rate_limit": 5}},
        {"_meta": {"retry_after_seconds": "5"}},
        {"_meta": {"retry_after_seconds": -1}},
        {"_meta": {"retry_after_seconds": True}},
    ],
    ids=str,
)
def test_a_field_of_a_wrong_type_is_refused_by_the_parser_and_the_schema(wrong: dict[str, Any]) -> None:
    assert validate_envelope({**FULL, **wrong}) is None
    assert envelopes.problems({**FULL, **wrong}) != []


def test_an_envelope_nested_too_deeply_is_refused() -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"a": deep}
    assert validate_envelope({**FULL, "examples": [deep]}) is None


def test_additional_facts_go_into_meta() -> None:
    note = {"kind": "renamed", "from": "a", "to": "b"}
    made = with_meta(FULL, normalized=[note], retry_after_seconds=1.5, warnings=["w"])
    assert with_meta(made, warnings=["v"])["_meta"] == {
        "normalized": [note],
        "retry_after_seconds": 1.5,
        "warnings": ["w", "v"],
    }
    assert validate_envelope(made) == made
    assert with_meta(FULL) == FULL


ROWS: list[tuple[dict[str, Any], str, str, bool]] = [
    (module.invalid_arguments("t", "s"), "mcp_input_validation", "INPUT_VALIDATION_FAILED", False),
    (module.invalid_arguments("t", "s", "SCHEMA_REQUIRED"), "mcp_input_validation", "SCHEMA_REQUIRED", False),
    (module.context_not_allowed("t", ["region"]), "mcp_input_validation", "CONTEXT_NOT_ALLOWED", False),
    (module.tool_not_found("t", hints=["Did you mean 'u'?"]), "tool_not_found", "TOOL_NOT_FOUND", False),
    (module.precondition_failed("t", "active_identity"), "precondition_failed", "ACTIVE_IDENTITY_REQUIRED", False),
    (module.precondition_failed("t", "Amazon-Region"), "precondition_failed", "AMAZON_REGION_REQUIRED", False),
    (module.input_required("t", "s"), "precondition_failed", "INPUT_REQUIRED", False),
    (module.session_required("t"), "precondition_failed", "SESSION_REQUIRED", False),
    (module.precondition_failed("t", "5"), "precondition_failed", "CONTEXT_REQUIRED", False),
    (module.upstream_status("t", 404, "s"), "upstream_http", "UPSTREAM_HTTP_404", False),
    (module.upstream_status("t", 408, "s"), "upstream_http", "UPSTREAM_HTTP_408", True),
    (module.upstream_status("t", 503, "s"), "upstream_http", "UPSTREAM_HTTP_503", True),
    (module.upstream_status("t", 429, "s", retry_after_seconds=3), "rate_limited", "UPSTREAM_HTTP_429", True),
    (module.upstream_status("t", 401, "s"), "auth_error", "AUTH_AUTHENTICATION", False),
    (module.upstream_status("t", 403, "s"), "auth_error", "AUTH_PERMISSION", False),
    (module.upstream_timeout("t", "s"), "upstream_http", "UPSTREAM_TIMEOUT", True),
    (module.upstream_unreachable("t", "s"), "upstream_http", "UPSTREAM_NETWORK", True),
    (module.rate_limited("t", "s", 2), "rate_limited", "RATE_LIMITED", True),
    (module.policy_denied("t", "s", needs_approval=False), "policy_denied", "POLICY_DENIED", False),
    (module.policy_denied("t", "s", needs_approval=True), "policy_denied", "APPROVAL_REQUIRED", False),
    (module.script_failed("t", "ModuleNotFoundError", "m"), "sandbox_runtime", "SANDBOX_MODULE_BLOCKED", False),
    (module.script_failed("t", "ValueError", "m", 3), "sandbox_runtime", "SANDBOX_RUNTIME_ERROR", False),
    (module.call_limit_exceeded("t", 5), "sandbox_runtime", "CALL_LIMIT_EXCEEDED", False),
    (module.internal_error("t", "s"), "internal_error", "INTERNAL_ERROR", False),
]


@pytest.mark.parametrize(("made", "kind", "code", "retryable"), ROWS, ids=[row[2] for row in ROWS])
def test_each_failure_has_a_kind_a_code_and_retryable(
    made: dict[str, Any], kind: str, code: str, retryable: bool
) -> None:
    assert (made["error_kind"], made["error_code"], made["retryable"]) == (kind, code, retryable)
    assert (validate_envelope(made), envelopes.problems(made)) == (made, [])


def test_every_kind_has_a_function_and_is_in_the_schema() -> None:
    assert {row[1] for row in ROWS} == set(KINDS) == set(envelopes.SCHEMA["properties"]["error_kind"]["enum"])


def test_a_script_failure_names_the_exception_and_its_line() -> None:
    assert module.script_failed("execute", "ValueError", "x", 3)["details"] == [
        {"path": "line 3", "issue": "x", "received_type": "ValueError"}
    ]


def test_every_envelope_that_tests_make_is_watched() -> None:
    before = envelopes.made[0]
    module.tool_not_found("t")
    envelope("internal_error", "t", "s", "X")
    assert envelopes.made[0] == before + 2


def test_every_envelope_that_a_command_prints_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelopes, "printed", [0])
    monkeypatch.setattr(envelopes, "invalid", [])
    result = json.dumps({"error": {"message": json.dumps(FULL), "envelope": FULL}}, indent=2)
    for text in (result, f"Error\n  RuntimeError: {json.dumps(FULL)}\n", json.dumps([FULL]), "{} {", "no JSON", ""):
        envelopes.watch(text)
    assert (envelopes.printed, envelopes.invalid) == ([4], [])
    envelopes.watch(json.dumps({**FULL, "retryable": "yes"}))
    assert len(envelopes.invalid) == 1


async def test_every_envelope_that_a_script_gets_is_watched() -> None:
    before = envelopes.given[0]
    async with Paddock() as paddock:
        assert (await paddock.call_tool("no_such_tool", {})).failed
    assert envelopes.given[0] == before + 1


def test_every_kind_and_code_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs" / "envelope.md").read_text(encoding="utf-8")
    special = {"UPSTREAM_HTTP_404", "UPSTREAM_HTTP_408", "UPSTREAM_HTTP_503", "AMAZON_REGION_REQUIRED"}
    codes = {row[2] for row in ROWS if row[2] not in special} | {case[0] for case in CODES}
    assert [word for word in (*KINDS, *sorted(codes)) if f"`{word}`" not in page] == []
