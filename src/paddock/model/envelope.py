"""The error envelope, version 1: what a failed tool call looks like, to scripts and to callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KINDS = (
    "mcp_input_validation",
    "tool_not_found",
    "precondition_failed",
    "upstream_http",
    "rate_limited",
    "auth_error",
    "sandbox_runtime",
    "policy_denied",
    "internal_error",
)


def envelope(
    kind: str,
    tool: str,
    summary: str,
    code: str,
    *,
    details: Sequence[Mapping[str, Any]] = (),
    hints: Sequence[str] = (),
    examples: Sequence[Any] = (),
    retryable: bool = False,
) -> dict[str, Any]:
    """One failure, in the shape that every face shows."""
    return {
        "error_kind": kind,
        "tool": tool,
        "summary": summary,
        "details": [dict(detail) for detail in details],
        "hints": list(hints),
        "examples": list(examples),
        "error_code": code,
        "retryable": retryable,
        "_envelope_version": 1,
    }


def parse(text: str) -> dict[str, Any] | None:
    """`text` as an envelope, or None where it is anything else, part of one included."""
    if not text.startswith("{"):
        return None
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # a script chooses this text
        return None
    needed = {"error_kind", "tool", "summary", "error_code", "retryable", "_envelope_version"}
    return value if isinstance(value, dict) and needed <= value.keys() else None
