"""The error envelope, version 1: what a failed tool call looks like, to scripts and to callers.

`docs/envelope.md` lists every kind and code, `docs/envelope.schema.json` is its schema. One function builds each row of
that list, so that a kind, its code and `retryable` are decided here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
"""What to do next, for an envelope of this code that is built without hints."""
TEXT_CHARACTERS = 256 * 1024
"""A longer text that someone else wrote is not taken for an envelope."""
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
    """Build an envelope. Callers outside this module use the functions below, one for each kind of failure."""
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
    """A copy of the envelope with these facts in its `_meta`. Lists are appended to; nothing given, nothing added."""
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
    """Arguments that the tool does not accept: `INPUT_VALIDATION_FAILED`, or the `SCHEMA_*` code of what is wrong."""
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


def tool_not_found(tool: str, summary: str = "", *, hints: Sequence[str] = ()) -> dict[str, Any]:
    """No tool has that name, or none that this script may call."""
    summary = summary or f"There is no tool '{tool}'."
    return envelope("tool_not_found", tool, summary, "TOOL_NOT_FOUND", hints=hints)


def precondition_failed(tool: str, field: str, hints: Sequence[str] = ()) -> dict[str, Any]:
    """Context that the tool needs was not set: `ACTIVE_IDENTITY_REQUIRED`, or the field's own name and `_REQUIRED`."""
    name = re.sub(r"[^A-Z0-9]+", "_", field.upper()).strip("_")
    code = f"{name}_REQUIRED" if name[:1].isalpha() else "CONTEXT_REQUIRED"
    summary = f"'{tool}' needs '{field}', and this session has none."
    detail = {"path": field, "issue": "is not set", "received_type": "missing"}
    hints = hints or [f"Set '{field}' first, then call again."]
    return envelope("precondition_failed", tool, summary, code, details=[detail], hints=hints)


def input_required(tool: str, summary: str) -> dict[str, Any]:
    """The tool wants to ask a person or a model, which nobody can answer here."""
    return envelope("precondition_failed", tool, summary, "INPUT_REQUIRED")


def session_required(tool: str) -> dict[str, Any]:
    """Context was set from outside a script over a connection without a session, which would lose it."""
    summary = "This connection has no session, so nothing that is set here would be there at the next call."
    hint = f"Call {tool} inside the script, before the calls that need it: it holds for that run."
    return envelope("precondition_failed", tool, summary, "SESSION_REQUIRED", hints=[hint])


def upstream_status(
    tool: str, status: int, summary: str, *, retry_after_seconds: float | None = None, hints: Sequence[str] = ()
) -> dict[str, Any]:
    """The upstream answered with an HTTP error: about credentials (401, 403), a rate limit (429) or anything else."""
    if status in (401, 403):
        return auth_error(tool, summary, is_known=status == 403, hints=hints)
    kind = "rate_limited" if status == 429 else "upstream_http"
    retryable = status == 429 or status >= 500 or status == 408
    made = envelope(kind, tool, summary, f"UPSTREAM_HTTP_{status}", hints=hints, retryable=retryable)
    return with_meta(made, retry_after_seconds=retry_after_seconds)


def upstream_timeout(tool: str, summary: str) -> dict[str, Any]:
    """The upstream did not answer in time. Whether the call took effect is not known."""
    return envelope("upstream_http", tool, summary, "UPSTREAM_TIMEOUT", retryable=True)


def upstream_unreachable(tool: str, summary: str) -> dict[str, Any]:
    """The upstream could not be started or reached, or went away during the call."""
    return envelope("upstream_http", tool, summary, "UPSTREAM_NETWORK", retryable=True)


def rate_limited(tool: str, summary: str, retry_after_seconds: float) -> dict[str, Any]:
    """Paddock's own limit on how often a server is called was reached."""
    hints = ["Call it less often: ask for more in one call, or return and go on later."]
    made = envelope("rate_limited", tool, summary, "RATE_LIMITED", hints=hints, retryable=True)
    return with_meta(made, retry_after_seconds=retry_after_seconds)


def auth_error(tool: str, summary: str, *, is_known: bool, hints: Sequence[str] = ()) -> dict[str, Any]:
    """Credentials are missing or wrong, or (`is_known`) do not allow this."""
    code = "AUTH_PERMISSION" if is_known else "AUTH_AUTHENTICATION"
    return envelope("auth_error", tool, summary, code, hints=hints)


def policy_denied(tool: str, summary: str, *, needs_approval: bool, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The policy does not allow the call, or not without a person's approval."""
    code = "APPROVAL_REQUIRED" if needs_approval else "POLICY_DENIED"
    return envelope("policy_denied", tool, summary, code, hints=hints)


def script_failed(tool: str, exception: str, message: str, line: int | None = None) -> dict[str, Any]:
    """A script ended by an exception, a syntax error or a limit; the tool that ran it (`execute`) answers with this."""
    blocked = exception in ("ModuleNotFoundError", "ImportError")
    code = "SANDBOX_MODULE_BLOCKED" if blocked else "SANDBOX_RUNTIME_ERROR"
    place = "" if line is None else f"line {line}"
    detail = {"path": place, "issue": message, "received_type": exception}
    hints = ["Use a module that is there, or a tool; a missing module can be caught with `except ImportError`."]
    return envelope("sandbox_runtime", tool, message, code, details=[detail], hints=hints if blocked else ())


def call_limit_exceeded(tool: str, limit: int) -> dict[str, Any]:
    """The run made more tool calls than it may."""
    summary = f"The run may make {limit} tool calls and this was one more."
    hints = ["Ask for more in one call, or raise limits.calls."]
    return envelope("sandbox_runtime", tool, summary, "CALL_LIMIT_EXCEEDED", hints=hints)


def internal_error(tool: str, summary: str, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The tool failed in a way that has no kind of its own."""
    return envelope("internal_error", tool, summary, "INTERNAL_ERROR", hints=hints)


def parse(text: str) -> dict[str, Any] | None:
    """`text` as an envelope, or None if it is anything else."""
    if not text.startswith("{") or len(text) > TEXT_CHARACTERS:
        return None
    import json

    try:
        return recognised(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):  # a script or an upstream chooses this text
        return None


def recognised(value: object) -> dict[str, Any] | None:
    """`value` if it is an envelope with every field of the right type, else None."""
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


FIELDS = {
    "error_kind": "one of error_kinds",
    "tool": "the tool that failed",
    "summary": "what happened, in a sentence",
    "details": "list of {path, issue, received_type, ...}: where, and what is wrong there",
    "hints": "what to do, the most useful first",
    "examples": "arguments that the tool would take",
    "error_code": "one of codes; SCHEMA_* says what is wrong with one argument",
    "retryable": "true: the same call may succeed later; false: change something first",
    "_envelope_version": "1",
}
META_FIELDS = {
    "normalized": "what was repaired in the arguments",
    "rate_limit": "what is known of the limit",
    "retry_after_seconds": "how long to wait",
    "warnings": "what was not checked",
}


class Code(NamedTuple):
    """An error code, its kind, and what a model should do about it."""

    code: str
    kind: str
    retryable: bool | str
    what_to_do: str


CODES = (
    Code("INPUT_VALIDATION_FAILED", "mcp_input_validation", False, "correct each of details"),
    Code("SCHEMA_*", "mcp_input_validation", False, "correct details"),
    Code("CONTEXT_NOT_ALLOWED", "mcp_input_validation", False, "leave them out: the server adds them"),
    Code("TOOL_NOT_FOUND", "tool_not_found", False, "take a name from hints, or search"),
    Code("<FIELD>_REQUIRED", "precondition_failed", False, "set it, call again"),
    Code("INPUT_REQUIRED", "precondition_failed", False, "do without it"),
    Code("SESSION_REQUIRED", "precondition_failed", False, "set it inside the script"),
    Code("UPSTREAM_HTTP_<status>", "upstream_http", "5xx, 408", "read the summary"),
    Code("UPSTREAM_TIMEOUT", "upstream_http", True, "look before repeating a write"),
    Code("UPSTREAM_NETWORK", "upstream_http", True, "try later, or go on without it"),
    Code("UPSTREAM_HTTP_429", "rate_limited", True, "wait"),
    Code("RATE_LIMITED", "rate_limited", True, "wait, call less often"),
    Code("AUTH_AUTHENTICATION", "auth_error", False, "tell the user"),
    Code("AUTH_PERMISSION", "auth_error", False, "tell the user"),
    Code("POLICY_DENIED", "policy_denied", False, "do without it"),
    Code("APPROVAL_REQUIRED", "policy_denied", False, "tell the user what you would call and why"),
    Code("SANDBOX_MODULE_BLOCKED", "sandbox_runtime", False, "use another one, or a tool"),
    Code("SANDBOX_RUNTIME_ERROR", "sandbox_runtime", False, "correct the script"),
    Code("CALL_LIMIT_EXCEEDED", "sandbox_runtime", False, "ask for more in one call"),
    Code("INTERNAL_ERROR", "internal_error", False, "read the summary; do not repeat blindly"),
)


def contract() -> dict[str, Any]:
    """The envelope as clients and models are told of it: its fields, and every code with what to do about it."""
    return {
        "_envelope_version": VERSION,
        "required": FIELDS,
        "optional": {"_meta": META_FIELDS},
        "error_kinds": list(KINDS),
        "codes": [code._asdict() for code in CODES],
        "in_scripts": "a failed call raises RuntimeError; json.loads(str(error)) is the envelope",
    }
