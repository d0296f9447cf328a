"""The envelope, as a client or a model is told of it: its fields, and every code with what to do about it."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddock.model.envelope import KINDS, VERSION

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
    """One code: of which kind it is, and what to do when it comes."""

    code: str
    kind: str
    retryable: bool | str
    what_to_do: str


CODES = (
    Code("INPUT_VALIDATION_FAILED", "mcp_input_validation", False, "put each of details right"),
    Code("SCHEMA_*", "mcp_input_validation", False, "put details right"),
    Code("CONTEXT_NOT_ALLOWED", "mcp_input_validation", False, "leave them out: the server adds them"),
    Code("TOOL_NOT_FOUND", "tool_not_found", False, "take a name from hints, or search"),
    Code("<FIELD>_REQUIRED", "precondition_failed", False, "set it, call again"),
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
    Code("ARGUMENTS_TOO_LARGE", "sandbox_runtime", False, "pass less at once"),
    Code("INTERNAL_ERROR", "internal_error", False, "read the summary; do not repeat blindly"),
)


def contract() -> dict[str, Any]:
    """All of it, as JSON values."""
    return {
        "_envelope_version": VERSION,
        "required": FIELDS,
        "optional": {"_meta": META_FIELDS},
        "error_kinds": list(KINDS),
        "codes": [code._asdict() for code in CODES],
        "in_scripts": "a failed call raises RuntimeError; json.loads(str(error)) is the envelope",
    }
