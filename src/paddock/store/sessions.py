"""Sessions in the database: the state of a client between runs. It must contain no secrets."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddock.errors import RequestError
from paddock.model.limits import format_bytes
from paddock.store.journal import parse_stored, stored_text

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.database import Store

STATE_BYTES = 1024 * 1024
SEEN_SECONDS = 60.0
"""The minimum time between two updates of `seen_at`."""


class StoredSessions:
    """The sessions of every principal; each changes only its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._written_at: dict[str, float] = {}  # when each recent session was last written

    async def save(self, principal: str, session_id: str, state: Mapping[str, Any]) -> None:
        """Queue a write of the session's state and `seen_at`. Creates the session if needed."""
        now, text = time.time(), _state_json(state)
        self._written_at[session_id] = now
        values = {"id": session_id, "principal": principal, "created_at": now, "seen_at": now, "state_json": text}

        def work(connection: sqlalchemy.Connection) -> None:
            from paddock.store.tables import sa, sessions

            # Not after `now`, even if the clock was set back: `is_kept` compares the two.
            created_at = sa.func.min(sessions.c.created_at, now)
            if not _update(connection, principal, session_id, created_at=created_at, seen_at=now, state_json=text):
                # Nothing is changed if the id belongs to another principal.
                connection.execute(sa.insert(sessions).prefix_with("OR IGNORE"), values)

        await self._store.writer.put(work, size_bytes=len(text))

    async def get(self, principal: str, session_id: str) -> dict[str, Any]:
        """Return the stored state of a session; empty if there is none."""

        def work(connection: sqlalchemy.Connection) -> str | None:
            from paddock.store.tables import sa, sessions

            is_own = (sessions.c.principal == principal) & (sessions.c.id == session_id)
            return connection.scalar(sa.select(sessions.c.state_json).where(is_own))

        text = await self._store.read(work, principal=principal)
        return {} if text is None else parse_stored(text)

    async def is_kept(self, principal: str, session_id: str, stored_at: float) -> bool:
        """Whether a session that was stored then still is. After a purge, another can have the same principal and id.

        What was queued before is written first, so a new session is found too.
        """

        def work(connection: sqlalchemy.Connection) -> bool:
            from paddock.store.tables import sa, sessions

            is_own = (sessions.c.principal == principal) & (sessions.c.id == session_id)
            is_old = sessions.c.created_at <= stored_at
            return connection.scalar(sa.select(sessions.c.id).where(is_own, is_old)) is not None

        return await self._store.writer.write(work)

    async def touch(self, principal: str, session_id: str) -> None:
        """Queue a write of `seen_at`, at most once a minute."""
        now = time.time()
        if now - self._written_at.get(session_id, 0.0) < SEEN_SECONDS:
            return
        self._written_at = {name: at for name, at in self._written_at.items() if now - at < SEEN_SECONDS}
        self._written_at[session_id] = now
        await self._store.writer.put(lambda connection: _update(connection, principal, session_id, seen_at=now))


def _state_json(state: Mapping[str, Any]) -> str:
    try:
        text = stored_text(json.dumps(state))
    except (TypeError, ValueError, RecursionError) as problem:
        raise RequestError(f"the state of a session must be JSON: {problem}") from None
    if len(text) > STATE_BYTES:
        raise RequestError(f"the state of a session is larger than {format_bytes(STATE_BYTES)}; keep less in it")
    return text


def _update(connection: sqlalchemy.Connection, principal: str, session_id: str, **values: object) -> bool:
    """Change a session. Returns whether the principal has it."""
    from paddock.store.tables import sa, sessions

    is_session = (sessions.c.id == session_id) & (sessions.c.principal == principal)
    return connection.execute(sa.update(sessions).where(is_session).values(**values)).rowcount > 0
