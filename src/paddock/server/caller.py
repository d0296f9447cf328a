"""Who calls, and what is kept for them between calls."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from paddock.model.artifacts import Owner
from paddock.model.files import File

LOCAL = "local"
"""The one principal there is until callers can be told apart: whoever reaches a server on loopback."""
Report = Callable[[float, float | None, str], Awaitable[None]]


@dataclass(slots=True)
class Session:
    """What one client keeps between its calls, for as long as it is connected."""

    id: str = field(default_factory=lambda: f"s_{secrets.token_urlsafe(16)}")
    files: dict[str, File] = field(default_factory=dict)  # attached, by the id of the artifact that each is


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

    def of(self, name: str) -> Session:
        found = self._sessions.get(name)
        if found is None:
            found = self._sessions[name] = Session()
        return found

    def end(self, name: str) -> None:
        self._sessions.pop(name, None)
