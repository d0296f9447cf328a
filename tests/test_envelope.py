"""The error envelope, version 1."""

from __future__ import annotations

import json

import pytest

from paddock.model.envelope import envelope, parse

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


def test_an_envelope_comes_back_from_its_text_with_what_an_upstream_added() -> None:
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
        "{" * 100_000,
        '{"a":' * 100_000,
    ],
    ids=lambda text: text[:16],
)
def test_anything_else_is_no_envelope(text: str) -> None:
    assert parse(text) is None
