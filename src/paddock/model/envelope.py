"""The error envelope, version 1: the form in which scripts and callers receive a failed tool call.

`docs/envelope.md` lists every kind and code; `docs/envelope.schema.json` is the schema. Each sort of failure has a
function here, which sets its kind, code and `retryable`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paddock.model.json_depth import is_deeper

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
_SERVER_CREDENTIALS = "The server's own credentials are the problem. Tell the user; calling again does not help."
_DEFAULT_HINTS = {
    "UPSTREAM_TIMEOUT": ["The call may have taken effect. Check that before you repeat a call that changes something."],
    "UPSTREAM_NETWORK": ["Tools of other servers still work. Try again later, or continue without this tool."],
    "AUTH_AUTHENTICATION": [_SERVER_CREDENTIALS],
    "AUTH_PERMISSION": [_SERVER_CREDENTIALS],
}
"""What to do next, by error code, for an envelope that is built without hints."""
_OTHER_MODULE = "Use a module that is available, or a tool. `except ImportError` catches a missing module."
TEXT_CHARACTERS = 256 * 1024
"""A longer text from a script or an upstream is not parsed as an envelope."""
_START = '{"error_kind": '
_DEPTH = 100
_ISSUE_CHARACTERS = 30
_FIELD_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("error_kind", "tool", "summary", "error_code"), str),
    **dict.fromkeys(("details", "hints", "examples"), list),
    "retryable": bool,
}
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
        "hints": list(hints or _DEFAULT_HINTS.get(code, ())),
        "examples": list(examples),
        "error_code": code,
        "retryable": retryable,
        "_envelope_version": VERSION,
    }


def with_meta(
    result: Mapping[str, Any],
    *,
    normalized: Sequence[Mapping[str, Any]] = (),
    retry_after_seconds: float | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """A copy of the envelope with these values in its `_meta`. Lists are appended to; empty values are left out."""
    meta = dict(result.get("_meta", {}))
    for name, items in (("normalized", [dict(note) for note in normalized]), ("warnings", list(warnings))):
        if items:
            meta[name] = [*meta.get(name, []), *items]
    if retry_after_seconds is not None:
        meta["retry_after_seconds"] = retry_after_seconds
    return {**result, "_meta": meta} if meta else dict(result)


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
    result = envelope("mcp_input_validation", tool, summary, code, details=details, hints=hints, examples=examples)
    return with_meta(result, warnings=warnings)


def context_not_allowed(tool: str, names: Sequence[str]) -> dict[str, Any]:
    """The arguments contain credentials, context or connection ids, which the host adds itself."""
    quoted = ", ".join(f"'{name}'" for name in names)
    return envelope(
        "mcp_input_validation",
        tool,
        f"{quoted} must not be passed to '{tool}'. The server adds what the tool needs to every call.",
        "CONTEXT_NOT_ALLOWED",
        details=[{"path": name, "issue": "must not be passed by a script", "received_type": None} for name in names],
        hints=[f"Call again without {quoted}."],
    )


def tool_not_found(tool: str, summary: str = "", *, hints: Sequence[str] = ()) -> dict[str, Any]:
    """No tool has this name, or this script may not call it."""
    summary = summary or f"There is no tool '{tool}'."
    return envelope("tool_not_found", tool, summary, "TOOL_NOT_FOUND", hints=hints)


def precondition_failed(tool: str, field: str, hints: Sequence[str] = ()) -> dict[str, Any]:
    """Context that the tool needs was not set. The code is the field's name with `_REQUIRED`."""
    name = re.sub(r"[^A-Z0-9]+", "_", field.upper()).strip("_")
    code = f"{name}_REQUIRED" if name[:1].isalpha() else "CONTEXT_REQUIRED"
    summary = f"'{tool}' needs '{field}', which is not set in this session."
    detail = {"path": field, "issue": "is not set", "received_type": "missing"}
    hints = hints or [f"Set '{field}' first, then call again."]
    return envelope("precondition_failed", tool, summary, code, details=[detail], hints=hints)


def input_required(tool: str, summary: str) -> dict[str, Any]:
    """The tool asked a person or a model a question, which cannot be answered here."""
    return envelope("precondition_failed", tool, summary, "INPUT_REQUIRED")


def session_required(tool: str) -> dict[str, Any]:
    """Context was set outside a script, over a connection without a session that could remember it."""
    summary = "This connection has no session, so a value that is set here would be lost before the next call."
    hint = f"Call {tool} inside the script, before the calls that need the value. It applies to that run."
    return envelope("precondition_failed", tool, summary, "SESSION_REQUIRED", hints=[hint])


def upstream_status(
    tool: str, status: int, summary: str, *, retry_after_seconds: float | None = None, hints: Sequence[str] = ()
) -> dict[str, Any]:
    """The upstream answered with an HTTP error: about credentials (401, 403), a rate limit (429) or anything else."""
    if status in (401, 403):
        return auth_error(tool, summary, is_authenticated=status == 403, hints=hints)
    kind = "rate_limited" if status == 429 else "upstream_http"
    retryable = status == 429 or status >= 500 or status == 408
    result = envelope(kind, tool, summary, f"UPSTREAM_HTTP_{status}", hints=hints, retryable=retryable)
    return with_meta(result, retry_after_seconds=retry_after_seconds)


def upstream_timeout(tool: str, summary: str) -> dict[str, Any]:
    """The upstream did not answer in time. The call may have taken effect."""
    return envelope("upstream_http", tool, summary, "UPSTREAM_TIMEOUT", retryable=True)


def upstream_unreachable(tool: str, summary: str) -> dict[str, Any]:
    """The upstream could not be started or reached, or went away during the call."""
    return envelope("upstream_http", tool, summary, "UPSTREAM_NETWORK", retryable=True)


def rate_limited(tool: str, summary: str, retry_after_seconds: float, *, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The call exceeded Paddock's own rate limit for a server, or came while Paddock already had too many runs."""
    hints = hints or ["Call it less often: request more data per call, or return and continue later."]
    result = envelope("rate_limited", tool, summary, "RATE_LIMITED", hints=hints, retryable=True)
    return with_meta(result, retry_after_seconds=retry_after_seconds)


def auth_error(tool: str, summary: str, *, is_authenticated: bool, hints: Sequence[str] = ()) -> dict[str, Any]:
    """Credentials are missing or wrong; with `is_authenticated` they are valid but do not permit the call."""
    code = "AUTH_PERMISSION" if is_authenticated else "AUTH_AUTHENTICATION"
    return envelope("auth_error", tool, summary, code, hints=hints)


def policy_denied(tool: str, summary: str, *, needs_approval: bool, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The policy does not allow the call, or allows it only with a person's approval."""
    code = "APPROVAL_REQUIRED" if needs_approval else "POLICY_DENIED"
    return envelope("policy_denied", tool, summary, code, hints=hints)


def script_failed(
    tool: str, exception: str, message: str, line: int | None = None, *, hint: str = ""
) -> dict[str, Any]:
    """A script failed: it raised an exception, had a syntax error or exceeded a limit. `execute` returns this."""
    blocked = exception in ("ModuleNotFoundError", "ImportError")
    code = "SANDBOX_MODULE_BLOCKED" if blocked else "SANDBOX_RUNTIME_ERROR"
    position = "" if line is None else f"line {line}"
    issue = message if len(message) <= _ISSUE_CHARACTERS else "see the summary"
    detail = {"path": position, "issue": issue, "received_type": exception}
    hint = hint or (_OTHER_MODULE if blocked else "")
    return envelope("sandbox_runtime", tool, message, code, details=[detail], hints=[hint] if hint else ())


def call_limit_exceeded(tool: str, limit: int) -> dict[str, Any]:
    """The run exceeded its limit of tool calls."""
    summary = f"The run has reached its limit of {limit} tool calls."
    hints = ["Request more data per call, or split the work over several runs."]
    return envelope("sandbox_runtime", tool, summary, "CALL_LIMIT_EXCEEDED", hints=hints)


def internal_error(tool: str, summary: str, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The tool failed in a way that no other kind describes."""
    return envelope("internal_error", tool, summary, "INTERNAL_ERROR", hints=hints)


def parse(text: str) -> dict[str, Any] | None:
    """`text` as an envelope, or None if it is anything else."""
    if not text.startswith("{") or len(text) > TEXT_CHARACTERS:
        return None
    import json

    try:
        value = json.loads(text, parse_constant=refuse_constant)
        if "\\ud" in text.lower():  # perhaps a lone surrogate, which no answer could contain
            json.dumps(value, ensure_ascii=False).encode()
        return validate_envelope(value)
    except (ValueError, RecursionError):  # the text is untrusted
        return None


def shorten(text: str) -> str:
    """`text` with each envelope at the end of a line replaced by its summary, as in the traceback of a failed call."""
    if _START not in text:
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines):
        before, start, rest = line.partition(_START)
        found = parse(start + rest) if start else None
        if found is not None:
            lines[number] = before + found["summary"]
    return "\n".join(lines)


def validate_envelope(value: object) -> dict[str, Any] | None:
    """`value` if it is an envelope with every field of the right type, else None."""
    if not isinstance(value, dict) or type(value.get("_envelope_version")) is not int:
        return None
    has_types = all(isinstance(value.get(name), kind) for name, kind in _FIELD_TYPES.items())
    fits = (
        has_types
        and value["_envelope_version"] == VERSION
        and value["error_kind"] in KINDS
        and _CODE.fullmatch(value["error_code"]) is not None
        and all(_is_detail(detail) for detail in value["details"])
        and _is_list_of(str, value["hints"])
        and _is_meta(value.get("_meta", {}))
    )
    return value if fits and not is_deeper(value, _DEPTH) else None


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _is_detail(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("received_type"), str | None):
        return False
    return isinstance(value.get("path"), str) and isinstance(value.get("issue"), str)


def _is_meta(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    seconds = value.get("retry_after_seconds", 0)
    return (
        _is_list_of(dict, value.get("normalized", []))
        and _is_list_of(str, value.get("warnings", []))
        and isinstance(value.get("rate_limit", {}), dict)
        and isinstance(seconds, (int, float))
        and not isinstance(seconds, bool)
        and seconds >= 0
    )


def refuse_constant(constant: str) -> None:
    """For `json.loads`: NaN and the infinities are not JSON."""
    raise ValueError(f"{constant} is not JSON")


FIELDS = {
    "error_kind": "one of error_kinds",
    "tool": "the tool that failed",
    "summary": "what happened, in a sentence",
    "details": "list of {path, issue, received_type, ...}: each problem and where it is",
    "hints": "what to do, the most useful first",
    "examples": "arguments that the tool would accept",
    "error_code": "one of codes; SCHEMA_* says what is wrong with one argument",
    "retryable": "true: the same call may succeed later; false: change something first",
    "_envelope_version": "1",
}
META_FIELDS = {
    "normalized": "what was repaired in the arguments",
    "rate_limit": "what is known about the limit",
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
    Code("INPUT_VALIDATION_FAILED", "mcp_input_validation", False, "fix every problem listed in details"),
    Code("SCHEMA_*", "mcp_input_validation", False, "fix the problem in details"),
    Code("CONTEXT_NOT_ALLOWED", "mcp_input_validation", False, "leave out these arguments: the server adds them"),
    Code("TOOL_NOT_FOUND", "tool_not_found", False, "use a name from hints, or search"),
    Code("<FIELD>_REQUIRED", "precondition_failed", False, "set the field, then call again"),
    Code("INPUT_REQUIRED", "precondition_failed", False, "do without the tool"),
    Code("SESSION_REQUIRED", "precondition_failed", False, "set the field inside the script"),
    Code("UPSTREAM_HTTP_<status>", "upstream_http", "5xx, 408", "read the summary"),
    Code("UPSTREAM_TIMEOUT", "upstream_http", True, "check before repeating a write"),
    Code("UPSTREAM_NETWORK", "upstream_http", True, "try later, or continue without the tool"),
    Code("UPSTREAM_HTTP_429", "rate_limited", True, "wait"),
    Code("RATE_LIMITED", "rate_limited", True, "wait, call less often"),
    Code("AUTH_AUTHENTICATION", "auth_error", False, "tell the user"),
    Code("AUTH_PERMISSION", "auth_error", False, "tell the user"),
    Code("POLICY_DENIED", "policy_denied", False, "do without the tool"),
    Code("APPROVAL_REQUIRED", "policy_denied", False, "tell the user what you would call and why"),
    Code("SANDBOX_MODULE_BLOCKED", "sandbox_runtime", False, "use another module, or a tool"),
    Code("SANDBOX_RUNTIME_ERROR", "sandbox_runtime", False, "correct the script"),
    Code("CALL_LIMIT_EXCEEDED", "sandbox_runtime", False, "request more data per call"),
    Code("INTERNAL_ERROR", "internal_error", False, "the summary has the tool's own message: correct what it names"),
)


def contract() -> dict[str, Any]:
    """The description of the envelope for clients and models: its fields, and every code with what to do about it."""
    return {
        "_envelope_version": VERSION,
        "required": FIELDS,
        "optional": {"_meta": META_FIELDS},
        "error_kinds": list(KINDS),
        "codes": [code._asdict() for code in CODES],
        "in_scripts": "a failed call raises RuntimeError; json.loads(str(error)) is the envelope",
    }
