"""Callers, and the state that the server keeps for a client between calls."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from paddock.model.artifacts import Artifact, Owner
from paddock.model.events import Event
from paddock.model.request import LOCAL, Context
from paddock.store.tokens import UNVERIFIED_PREFIX

IDLE_SECONDS = 86_400.0
"""A session is forgotten after this long without a call. Over HTTP the SDK ends it after only half an hour."""
MAX_SESSIONS = 10_000
"""As many as the SDK keeps open. Without a limit, a client could fill the memory by opening one after another."""
CONNECTION = "connection"
"""The name of the only session over stdio, which lasts as long as the process."""
TOKEN_SWAPPED = "token_swapped"  # noqa: S105  a reason, not a token
Report = Callable[[float, float | None, str], Awaitable[None]]


async def ignore_progress(done: float, total: float | None, message: str) -> None:
    """The `report` of a caller that does not listen to progress."""


@dataclass(slots=True)
class Session:
    """The state of one client between its calls."""

    id: str = field(default_factory=lambda: f"s_{secrets.token_urlsafe(16)}")
    files: dict[str, Artifact] = field(default_factory=dict)  # the attached files, by artifact id
    principal: str = LOCAL
    token_digest: bytes = b""
    state_reason: str | None = None  # why the context that the client set is gone
    context: Context = field(default_factory=Context)
    stored: dict[str, Any] | None = None  # the state as it was last written to the store
    created_at: float = 0.0  # when it was first written to the store
    used_at: float = 0.0
    checked_at: float = 0.0  # when the store was last asked whether it has the session

    def forget(self) -> None:
        """Remove everything that the client has set. Runs in progress lose it too."""
        self.files.clear()
        self.context.values.clear()
        self.context.connections.clear()
        self.stored = None

    def state(self) -> dict[str, Any]:
        """The part of the session that is stored, as JSON values."""
        context = self.context
        return {"context": dict(context.values), "connections": dict(context.connections), "files": list(self.files)}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call. Newer protocol versions have no sessions over HTTP, so `session` is None there."""

    principal: str
    session: Session | None
    report: Report
    max_bytes: int | None = None  # the largest message that the client accepts; None: unknown or unlimited
    key: str = LOCAL  # identifies the caller in the run queue
    role: str = "operator"
    watch: Callable[[Event], None] | None = None  # called with each event of a run; must not block
    # Counts the request's memory while it is entered.
    memory: AbstractContextManager[None] = field(default_factory=nullcontext)

    @property
    def owner(self) -> Owner:
        return Owner(self.principal, None if self.session is None else self.session.id)

    @property
    def context(self) -> Context:
        """The session's context, or an empty one."""
        return Context() if self.session is None else self.session.context


class Sessions:
    """The sessions of connected clients, by the name that their transport gives them.

    Transports do not say when a session ends, so a session that is idle for a day is forgotten. Beyond MAX_SESSIONS,
    the principal with the most sessions loses the one that was idle longest, so that nobody else does.
    """

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, now: Callable[[], float] = time.monotonic) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()  # least recently used first
        self._idle_seconds, self._now = idle_seconds, now

    def get(self, name: str, principal: str = LOCAL, token: str = "") -> Session:
        """Return the session of that name. It is created on first use.

        After another token of the principal has arrived, the session has an empty context. Another principal gets a
        new session. Runs in progress keep the session and the context that they began with.
        """
        self._forget_idle()
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        session = self._sessions.get(name)
        if session is None:
            session = Session(principal=principal, token_digest=digest)
        elif session.principal != principal:
            session = Session(principal=principal, token_digest=digest, state_reason=TOKEN_SWAPPED)
        elif not hmac.compare_digest(session.token_digest, digest):
            session = replace(session, token_digest=digest, state_reason=TOKEN_SWAPPED, context=Context())
        self._sessions[name] = session
        self._sessions.move_to_end(name)
        session.used_at = self._now()
        return session

    def _forget_idle(self) -> None:
        oldest = self._now() - self._idle_seconds
        while self._sessions and (name := next(iter(self._sessions))) != CONNECTION:
            if self._sessions[name].used_at >= oldest:
                break
            del self._sessions[name]
        if len(self._sessions) > MAX_SESSIONS:
            owners = {name: _owner(session) for name, session in self._sessions.items()}
            [(largest, _)] = Counter(owners.values()).most_common(1)
            del self._sessions[next(name for name, owner in owners.items() if owner == largest)]

    def __len__(self) -> int:
        return len(self._sessions)


def _owner(session: Session) -> str:
    """The session's principal; LOCAL for every one that is not verified, because anybody can make up many of them."""
    return LOCAL if session.principal.startswith(UNVERIFIED_PREFIX) else session.principal
