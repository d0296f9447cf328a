"""How a call of an upstream fails: one exception, with what the error envelope says of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from paddock.model.envelope import envelope
from paddock.tools.credentials import redact

SUMMARY_CHARACTERS = 4000
"""Of what an upstream says went wrong: the rest tells a model nothing more."""

SET_HEADER = 'headers = { Authorization = "Bearer ${TOKEN}" }'


class CallFailed(Exception):
    """A call came to nothing. Not a fault of the host: whoever called gets it as an error envelope."""

    def __init__(
        self,
        kind: str,
        code: str,
        summary: str,
        *,
        retryable: bool = False,
        hints: tuple[str, ...] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.summary = shortened(summary)
        super().__init__(self.summary)
        self.kind = kind
        self.code = code
        self.retryable = retryable
        self.hints = hints
        self.meta = dict(meta or {})

    def without(self, secrets: Iterable[str]) -> CallFailed:
        """The same failure, of which no text holds one of `secrets`."""
        secrets = tuple(secrets)
        hints = tuple(redact(hint, secrets) for hint in self.hints)
        summary = redact(self.summary, secrets)
        return CallFailed(self.kind, self.code, summary, retryable=self.retryable, hints=hints, meta=self.meta)

    def later(self, seconds: float) -> CallFailed:
        """The same failure while it is not tried again, which is for so many seconds yet."""
        meta = self.meta | ({"retry_after_seconds": round(seconds, 1)} if self.retryable else {})
        return CallFailed(self.kind, self.code, self.summary, retryable=self.retryable, hints=self.hints, meta=meta)

    def envelope(self, tool: str) -> dict[str, Any]:
        """This failure as a script sees it."""
        shown = envelope(self.kind, tool, self.summary, self.code, hints=self.hints, retryable=self.retryable)
        return {**shown, "_meta": self.meta} if self.meta else shown


def shortened(text: str) -> str:
    """`text` at a length that a summary may have, without characters that no JSON reader takes."""
    text = text.encode(errors="replace").decode()
    return text if len(text) <= SUMMARY_CHARACTERS else f"{text[:SUMMARY_CHARACTERS]} …"


def network(summary: str) -> CallFailed:
    """It could not be reached, or was lost on the way. Whether the call had an effect is not known."""
    return CallFailed("upstream_http", "UPSTREAM_NETWORK", summary, retryable=True)


def timed_out(summary: str) -> CallFailed:
    return CallFailed("upstream_http", "UPSTREAM_TIMEOUT", summary, retryable=True)


def broken(summary: str, *hints: str) -> CallFailed:
    """The upstream said something that cannot be used. Asking the same again would not help."""
    return CallFailed("internal_error", "INTERNAL_ERROR", summary, hints=hints)


def called_too_often(server: str, calls_per_minute: int | None, wait_seconds: float) -> CallFailed:
    """Paddock's own limit, which spares the server the call."""
    summary = f"The server '{server}' may be called {calls_per_minute} times a minute here, and was."
    hints = ("Call it less often: ask for more in one call, or return and go on later.",)
    meta = {"retry_after_seconds": round(wait_seconds, 1)}
    return CallFailed("rate_limited", "RATE_LIMITED", summary, retryable=True, hints=hints, meta=meta)


def http(
    server: str, status: int, said: str = "", retry_after_seconds: float | None = None, *, wants_oauth: bool = False
) -> CallFailed:
    """The failure that an HTTP status stands for. `said` is what the upstream had to say about it."""
    code = f"UPSTREAM_HTTP_{status}"
    summary = f"The server '{server}' answered with HTTP {status}" + (f": {said}" if said else ".")
    if status == 401:
        hint = "Its credentials are missing or no longer valid; whoever configured it must set or renew them."
        why = " It offers OAuth, which Paddock does not do yet: take a token from elsewhere." if wants_oauth else ""
        summary = f"{summary}\nSet its credentials as a header of '{server}': {SET_HEADER}.{why}"
        return CallFailed("auth_error", "AUTH_AUTHENTICATION", summary, hints=(hint,))
    if status == 403:
        hint = "Its credentials do not allow this; asking again does not help."
        return CallFailed("auth_error", "AUTH_PERMISSION", summary, hints=(hint,))
    if status == 429:
        meta = {} if retry_after_seconds is None else {"retry_after_seconds": retry_after_seconds}
        return CallFailed("rate_limited", code, summary, retryable=True, hints=("Call it less often.",), meta=meta)
    meta = {} if retry_after_seconds is None else {"retry_after_seconds": retry_after_seconds}
    return CallFailed("upstream_http", code, summary, retryable=status >= 500 or status == 408, meta=meta)


def json_rpc(server: str, code: int, message: str) -> CallFailed:
    """The failure that an error of the protocol stands for."""
    message = message.strip() or "no reason given"
    if code == -32602 and re.search(r"unknown tool|tool .{0,200}not found|no such tool", message, re.IGNORECASE):
        return CallFailed("tool_not_found", "TOOL_NOT_FOUND", message)
    if code == -32602:
        return CallFailed("mcp_input_validation", "INPUT_VALIDATION_FAILED", message)
    if code == -32001:  # what the SDKs send where a request of theirs timed out
        return timed_out(f"The server '{server}' gave up: {message}")
    if code == -32042:
        hint = "A person must first open an address that the server names; Paddock passes no such requests on."
        return CallFailed("auth_error", "AUTH_AUTHENTICATION", message, hints=(hint,))
    return broken(f"The server '{server}' refused the call: {message}")
