"""Who calls, and what is kept for them between calls."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from paddock.model.artifacts import Artifact, Owner
from paddock.model.context import Context

IDLE_SECONDS = 86_400.0
"""After which what a session holds is forgotten. The SDK ends one over HTTP after half an hour without a request."""
CONNECTION = "connection"
"""The name of the one session over stdio, which lasts as long as the process."""
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
    stored: dict[str, Any] | None = None  # what the store knows of it

    def state(self) -> dict[str, Any]:
        """What it holds, as JSON has it."""
        held = self.context
        return {"context": dict(held.values), "connections": dict(held.connections), "files": list(self.files)}


@dataclass(frozen=True, slots=True)
class Caller:
    """One call's caller. Without a session nothing is kept: the newer era of the protocol over HTTP has none."""

    principal: str
    session: Session | None
    report: Report
    most_bytes: int | None = None  # that its client takes in one message; None where no limit is known

    @property
    def owner(self) -> Owner:
        return Owner(self.principal, None if self.session is None else self.session.id)


class Sessions:
    """The sessions of clients that are connected, by what their transport calls them.

    A transport does not say when one is over, so what nobody used for a day is forgotten.
    """

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, now: Callable[[], float] = time.monotonic) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()  # the one that was used last is the last
        self._used_at: dict[str, float] = {}
        self._idle_seconds, self._now = idle_seconds, now

    def of(self, name: str, token: str = "") -> Session:
        """The session of that name. Another token than before is another tenant, who finds nothing of the old one's.

        A run that is under way keeps the session that it began in.
        """
        self._forget()
        digest = hashlib.sha256(token.encode(errors="replace")).digest() if token else b""
        known = self._sessions.get(name)
        if known is None or not hmac.compare_digest(known.token_digest, digest):
            reason = None if known is None else TOKEN_SWAPPED
            known = self._sessions[name] = Session(token_digest=digest, state_reason=reason)
        self._sessions.move_to_end(name)
        self._used_at[name] = self._now()
        return known

    def _forget(self) -> None:
        oldest = self._now() - self._idle_seconds
        while self._sessions and self._used_at[name := next(iter(self._sessions))] < oldest and name != CONNECTION:
            del self._sessions[name], self._used_at[name]

    def __len__(self) -> int:
        return len(self._sessions)
