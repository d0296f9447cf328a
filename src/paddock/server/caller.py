"""Who calls, and what is kept for them between calls."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from paddock.model.artifacts import Artifact, Owner
from paddock.model.context import Context

LOCAL = "local"
"""The one principal there is until callers can be told apart: whoever reaches a server on loopback."""
TOKEN_SWAPPED = "token_swapped"  # noqa: S105  no token, but what became of one
Report = Callable[[float, float | None, str], Awaitable[None]]


@dataclass(slots=True)
class Session:
    """What one client keeps between its calls, for as long as it is connected."""

    id: str = field(default_factory=lambda: f"s_{secrets.token_urlsafe(16)}")
    files: dict[str, Artifact] = field(default_factory=dict)  # attached, by their ids
    token_digest: bytes = b""  # of what the client authenticates with
    state_reason: str | None = None  # why what its client set before is not here
    context: Context = field(default_factory=Context)


@dataclass(frozen=True, slots=True)
class Caller:
    """One call's caller. Without a session nothing is kept: the newer era of the protocol over HTTP has none."""

    principal: str
    session: Session | None
    report: Report

    @property
    def owner(self) -> Owner:
        return Owner(self.principal, None if self.session is None else self.session.id)


class Sessions:
    """The sessions of clients that are connected, by what their transport calls them."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def of(self, name: str, token: str = "") -> Session:
        """The session of that name. Another token than before is another tenant, who finds nothing of the old one's.

        A run that is under way keeps the session that it began in.
        """
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        known = self._sessions.get(name)
        if known is None or not hmac.compare_digest(known.token_digest, digest):
            reason = None if known is None else TOKEN_SWAPPED
            known = self._sessions[name] = Session(token_digest=digest, state_reason=reason)
        return known

    def end(self, name: str) -> None:
        self._sessions.pop(name, None)
