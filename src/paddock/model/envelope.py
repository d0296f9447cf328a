"""The error envelope, version 1: what a failed tool call looks like, to scripts and to callers.

`docs/envelope.md` lists every kind and code, `docs/envelope.schema.json` is its schema. One function makes each row of
that list, so that a kind, its code and `retryable` are decided here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from paddock.model.nesting import is_deeper

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
VERSION = 1
_THEIRS = "The credentials are the server's own: tell the user; another call does not help."
_USUAL_HINTS = {
    "UPSTREAM_TIMEOUT": "It may have taken effect: look whether it did before repeating a call that changes something.",
    "UPSTREAM_NETWORK": "Other servers' tools still work. Try again later, or go on without it.",
    "AUTH_AUTHENTICATION": _THEIRS,
    "AUTH_PERMISSION": _THEIRS,
}
"""What to do next, where whoever makes an envelope of this code knows nothing better."""
TEXT_CHARACTERS = 256 * 1024
"""Of an envelope that someone else wrote; a longer text is not taken for one."""
_DEPTH = 100
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")


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
        "hints": list(hints) or _usual_hints(code),
        "examples": list(examples),
        "error_code": code,
        "retryable": retryable,
        "_envelope_version": VERSION,
    }


def with_meta(
    made: Mapping[str, Any],
    *,
    normalized: Sequence[Mapping[str, Any]] = (),
    rate_limit: Mapping[str, Any] | None = None,
    retry_after_seconds: float | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """`made` with what is given added to its `_meta`; lists grow. Without anything it has no `_meta`."""
    meta = dict(made.get("_meta", {}))
    for name, more in (("normalized", [dict(note) for note in normalized]), ("warnings", list(warnings))):
        if more:
            meta[name] = [*meta.get(name, []), *more]
    if rate_limit:
        meta["rate_limit"] = dict(rate_limit)
    if retry_after_seconds is not None:
        meta["retry_after_seconds"] = retry_after_seconds
    return {**made, "_meta": meta} if meta else dict(made)


def invalid_arguments(
    tool: str,
    summary: str,
    code: str = "INPUT_VALIDATION_FAILED",
    *,
    details: Sequence[Mapping[str, Any]] = (),
    hints: Sequence[str] = (),
    examples: Sequence[Any] = (),
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Arguments that the tool does not take: `INPUT_VALIDATION_FAILED`, or the `SCHEMA_*` code of what is wrong."""
    made = envelope("mcp_input_validation", tool, summary, code, details=details, hints=hints, examples=examples)
    return with_meta(made, warnings=warnings)


def context_not_allowed(tool: str, names: Sequence[str]) -> dict[str, Any]:
    """Credentials, context or connection ids among the arguments, which the host adds itself."""
    listed = ", ".join(f"'{name}'" for name in names)
    return envelope(
        "mcp_input_validation",
        tool,
        f"{listed} must not be passed to '{tool}': what of it the tool needs, the server adds to every call.",
        "CONTEXT_NOT_ALLOWED",
        details=[{"path": name, "issue": "is not the script's to pass", "received_type": None} for name in names],
        hints=[f"Call again without {listed}."],
    )


def tool_not_found(tool: str, near: Sequence[str] = ()) -> dict[str, Any]:
    """No tool has that name, or none that this script may call; `near` are names that were perhaps meant."""
    hints = [f"Did you mean '{name}'?" for name in near]
    return envelope("tool_not_found", tool, f"There is no tool '{tool}'.", "TOOL_NOT_FOUND", hints=hints)


def precondition_failed(tool: str, field: str, hints: Sequence[str] = ()) -> dict[str, Any]:
    """Context that the tool needs was not set: `ACTIVE_IDENTITY_REQUIRED`, or the field's own name and `_REQUIRED`."""
    name = re.sub(r"[^A-Z0-9]+", "_", field.upper()).strip("_")
    code = f"{name}_REQUIRED" if name[:1].isalpha() else "CONTEXT_REQUIRED"
    summary = f"'{tool}' needs '{field}', and this session has none."
    detail = {"path": field, "issue": "is not set", "received_type": "missing"}
    hints = hints or [f"Set '{field}' first, then call again."]
    return envelope("precondition_failed", tool, summary, code, details=[detail], hints=hints)


def session_required(tool: str) -> dict[str, Any]:
    """Context that is to be set from outside a script, where there is no session that would keep it."""
    summary = "This connection has no session, so nothing that is set here would be there at the next call."
    hint = f"Call {tool} inside the script, before the calls that need it: it holds for that run."
    return envelope("precondition_failed", tool, summary, "SESSION_REQUIRED", hints=[hint])


def upstream_status(
    tool: str, status: int, summary: str, *, retry_after_seconds: float | None = None, hints: Sequence[str] = ()
) -> dict[str, Any]:
    """An HTTP error that the upstream answered: credentials (401, 403), a rate limit (429) or any other."""
    if status in (401, 403):
        return auth_error(tool, summary, is_known=status == 403, hints=hints)
    kind = "rate_limited" if status == 429 else "upstream_http"
    retryable = status == 429 or status >= 500 or status == 408
    made = envelope(kind, tool, summary, f"UPSTREAM_HTTP_{status}", hints=hints, retryable=retryable)
    return with_meta(made, retry_after_seconds=retry_after_seconds)


def upstream_timeout(tool: str, seconds: float) -> dict[str, Any]:
    """The upstream did not answer in time. Whether the call took effect is not known."""
    summary = f"'{tool}' did not answer within {seconds:g} s."
    return envelope("upstream_http", tool, summary, "UPSTREAM_TIMEOUT", retryable=True)


def upstream_unreachable(tool: str, summary: str) -> dict[str, Any]:
    """The upstream could not be started or reached, or went away during the call."""
    return envelope("upstream_http", tool, summary, "UPSTREAM_NETWORK", retryable=True)


def rate_limited(tool: str, summary: str, retry_after_seconds: float | None = None) -> dict[str, Any]:
    """Our own limit on how often a tool is called."""
    made = envelope("rate_limited", tool, summary, "RATE_LIMITED", hints=["Call less often."], retryable=True)
    return with_meta(made, retry_after_seconds=retry_after_seconds)


def auth_error(tool: str, summary: str, *, is_known: bool, hints: Sequence[str] = ()) -> dict[str, Any]:
    """Credentials that are missing or wrong, or (`is_known`) that do not allow this."""
    code = "AUTH_PERMISSION" if is_known else "AUTH_AUTHENTICATION"
    return envelope("auth_error", tool, summary, code, hints=hints)


def denied(tool: str, summary: str, *, needs_approval: bool, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The policy does not let this script call it, or not without somebody's approval."""
    code = "APPROVAL_REQUIRED" if needs_approval else "POLICY_DENIED"
    return envelope("policy_denied", tool, summary, code, hints=hints)


def script_failed(tool: str, exception: str, message: str, line: int | None = None) -> dict[str, Any]:
    """A script that ended by an exception, a syntax error or a limit, as the tool that ran it (`execute`) answers."""
    blocked = exception in ("ModuleNotFoundError", "ImportError")
    code = "SANDBOX_MODULE_BLOCKED" if blocked else "SANDBOX_RUNTIME_ERROR"
    place = "" if line is None else f"line {line}"
    detail = {"path": place, "issue": message, "received_type": exception}
    hints = ["Use a module that is there, or a tool; a missing module can be caught with `except ImportError`."]
    return envelope("sandbox_runtime", tool, message, code, details=[detail], hints=hints if blocked else ())


def call_limit_exceeded(tool: str, limit: int) -> dict[str, Any]:
    """One call more than the run may make."""
    summary = f"The run may make {limit} tool calls and this was one more."
    hints = ["Ask for more in one call, or raise limits.calls."]
    return envelope("sandbox_runtime", tool, summary, "CALL_LIMIT_EXCEEDED", hints=hints)


def internal_error(tool: str, summary: str, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The tool failed in a way that has no kind of its own."""
    return envelope("internal_error", tool, summary, "INTERNAL_ERROR", hints=hints)


def parse(text: str) -> dict[str, Any] | None:
    """`text` as an envelope, or None where it is anything else, part of one included."""
    if not text.startswith("{") or len(text) > TEXT_CHARACTERS:
        return None
    import json

    try:
        return recognised(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):  # a script or an upstream chooses this text
        return None


def recognised(value: object) -> dict[str, Any] | None:
    """`value` where it is a whole envelope with every field of its type; None for anything else."""
    if not isinstance(value, dict) or type(value.get("_envelope_version")) is not int:
        return None
    code = value.get("error_code")
    fits = (
        value["_envelope_version"] == VERSION
        and value.get("error_kind") in KINDS
        and isinstance(value.get("tool"), str)
        and isinstance(value.get("summary"), str)
        and isinstance(code, str)
        and _CODE.fullmatch(code) is not None
        and isinstance(value.get("retryable"), bool)
        and _is_list(value.get("details"), _is_detail)
        and _is_list(value.get("hints"), _is_text)
        and isinstance(value.get("examples"), list)
        and ("_meta" not in value or _is_meta(value["_meta"]))
    )
    return value if fits and not is_deeper(value, _DEPTH) else None


def _usual_hints(code: str) -> list[str]:
    return [_USUAL_HINTS[code]] if code in _USUAL_HINTS else []


def _is_list(value: object, is_one: Any) -> bool:
    return isinstance(value, list) and all(is_one(item) for item in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_detail(value: object) -> bool:
    if not isinstance(value, dict) or not _is_text(value.get("path")) or not _is_text(value.get("issue")):
        return False
    return value.get("received_type") is None or _is_text(value["received_type"])


def _is_meta(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    seconds = value.get("retry_after_seconds", 0)
    return (
        _is_list(value.get("normalized", []), lambda note: isinstance(note, dict))
        and _is_list(value.get("warnings", []), _is_text)
        and isinstance(value.get("rate_limit", {}), dict)
        and isinstance(seconds, (int, float))
        and not isinstance(seconds, bool)
        and seconds >= 0
    )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
