"""The exception for a failed call of an upstream. It carries the error envelope that the caller gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from paddock.model import envelope
from paddock.tools.secrets import redact

if TYPE_CHECKING:
    from paddock.tools.http_client import Exchange

SUMMARY_CHARACTERS = 4000
OWN_MESSAGE = "The server '{}' works, and answered this: correct what it names. `get_schema` shows the tool's fields."
NO_REASON = "The server '{}' gave no reason: check each value and its format."
HEADER_EXAMPLE = 'headers = { Authorization = "Bearer ${TOKEN}" }'


class CallFailed(Exception):
    """A call failed because of its upstream. The host is fine; the caller gets `envelope(tool)`."""

    def __init__(self, failure: Mapping[str, Any], *, needs_login: bool = False) -> None:
        self.needs_login = needs_login
        self.summary = shorten(failure["summary"])
        super().__init__(self.summary)
        self._failure = dict(failure)  # with the whole summary: a secret that was cut would not be found
        self.kind: str = failure["error_kind"]
        self.code: str = failure["error_code"]
        self.retryable: bool = failure["retryable"]
        self.hints: tuple[str, ...] = tuple(failure["hints"])
        self.meta: dict[str, Any] = dict(failure.get("_meta", {}))

    def without(self, secrets: Iterable[str]) -> CallFailed:
        """The same failure with all `secrets` redacted."""
        secrets = tuple(secrets)
        hints = [redact(hint, secrets) for hint in self.hints]
        summary = shorten(redact(self._failure["summary"], secrets))
        failure = {**self._failure, "summary": summary, "hints": hints}
        return CallFailed(failure, needs_login=self.needs_login)

    def with_retry_after(self, seconds: float) -> CallFailed:
        """The same failure with the time to wait before the next attempt."""
        if not self.retryable:
            return self
        return CallFailed(envelope.with_meta(self._failure, retry_after_seconds=round(seconds, 1)))

    def envelope(self, tool: str) -> dict[str, Any]:
        """The failure as the caller of `tool` sees it."""
        return {**self._failure, "summary": self.summary, "tool": tool}


def shorten(text: str) -> str:
    """`text` cut to the length of a summary, without lone surrogates, which JSON readers reject."""
    text = text.encode(errors="replace").decode()
    return text if len(text) <= SUMMARY_CHARACTERS else f"{text[:SUMMARY_CHARACTERS]} …"


def unreachable(summary: str) -> CallFailed:
    """The failure for a server that could not be reached, or was lost during the call."""
    return CallFailed(envelope.upstream_unreachable("", summary))


def timed_out(summary: str) -> CallFailed:
    """The failure for a server that did not answer in time."""
    return CallFailed(envelope.upstream_timeout("", summary))


def broken(summary: str, *hints: str) -> CallFailed:
    """The failure for a server that refused the call, or whose answer cannot be used."""
    return CallFailed(envelope.internal_error("", summary, hints))


def login_required(server: str, command: str, reason: str = "") -> CallFailed:
    """The failure for a server at which somebody must log in. `command` does that."""
    summary = reason or f"The server '{server}' needs a login of its own for each principal, and there is none."
    hint = f"Somebody must run `{command}` on the machine of Paddock; then call again."
    own, _, principal = command.partition(" --principal ")
    if principal:
        hint += f" A principal can do it from anywhere: `{own} --url URL`, with its token."
    return CallFailed(envelope.auth_error("", summary, is_authenticated=False, hints=[hint]), needs_login=True)


def http_failed(server: str, exchange: Exchange, login_command: str = "") -> CallFailed:
    """The failure for a server that answered with an HTTP error. `login_command` logs in to it, if that can be done."""
    status = exchange.status
    summary = f"The server '{server}' answered with HTTP {status}" + (f": {exchange.body}" if exchange.body else ".")
    if status == 401 and login_command:
        problem = exchange.login_problem and f"The stored login cannot be used: {exchange.login_problem}."
        summary += f"\n{problem or 'It wants a login, or the login has ended.'} Log in with `{login_command}`."
        if not exchange.wants_oauth:
            summary += f" If it does not use OAuth, set its credentials as a header: {HEADER_EXAMPLE}."
        return login_required(server, login_command, summary)
    hints = {
        401: ["Its credentials are missing or no longer valid; whoever configured it must set or renew them."],
        403: ["Its credentials do not allow this; asking again does not help."],
        429: ["Call it less often."],
    }.get(status, [])
    if status == 401:
        summary += f"\nSet its credentials as a header of '{server}': {HEADER_EXAMPLE}."
        if exchange.wants_oauth:
            summary += f" It offers OAuth: without that header, `paddock tools login {server}` logs in to it."
    wait = exchange.retry_after_seconds
    return CallFailed(envelope.upstream_status("", status, summary, retry_after_seconds=wait, hints=hints))


def json_rpc_failed(server: str, code: int, message: str) -> CallFailed:
    """The failure for a server that answered with a JSON-RPC error."""
    message = message.strip() or "no reason given"
    if code == -32602 and re.search(r"unknown tool|tool .{0,200}not found|no such tool", message, re.IGNORECASE):
        return CallFailed(envelope.tool_not_found("", message))
    if code == -32602:
        return CallFailed(envelope.invalid_arguments("", message))
    if code == -32001:  # the SDKs' code for a request that timed out
        return timed_out(f"The server '{server}' gave up: {message}")
    if code == -32042:  # MCP: URL elicitation is required
        hint = "A person must first open a URL that the server gives; Paddock cannot forward such a request."
        return CallFailed(envelope.auth_error("", message, is_authenticated=False, hints=[hint]))
    return broken(f"The server '{server}' refused the call: {message}", OWN_MESSAGE.format(server))
