"""Sessions on disk: what a caller keeps between runs. Their state holds no secrets; who puts one in must not."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from paddock.errors import RequestError
from paddock.store.calls import stored_text

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.reader import Read
    from paddock.store.writer import Writer

STATE_BYTES = 1024 * 1024
SEEN_SECONDS = 60.0
"""A session that is used all the time is noted as seen this often."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as it is kept."""

    id: str
    principal: str
    created_at: float
    seen_at: float
    expires_at: float | None
    state_json: str

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self.state_json)
        return state


class StoredSessions:
    """The sessions of every principal; each sees its own alone, and none that has expired."""

    def __init__(self, writer: Writer, read: Read) -> None:
        self._writer, self._read = writer, read
        self._noted: dict[str, float] = {}  # when a session was last written down as seen, of those seen lately

    async def create(
        self, principal: str, state: Mapping[str, Any] | None = None, *, expires_at: float | None = None
    ) -> StoredSession:
        """A new session with an id that cannot be guessed, without a wait."""
        now = time.time()
        made = StoredSession(f"s_{secrets.token_urlsafe(16)}", principal, now, now, expires_at, _text(state or {}))

        def work(connection: sqlalchemy.Connection) -> None:
            from sqlalchemy import insert

            from paddock.store.tables import sessions

            connection.execute(insert(sessions), asdict(made))

        await self._writer.soon(work, size_bytes=len(made.state_json))
        return made

    async def keep(self, principal: str, session_id: str, state: Mapping[str, Any]) -> None:
        """Note that a session is in use and what it holds, without a wait. One that is not there yet is made."""
        now, text = time.time(), _text(state)
        self._noted[session_id] = now
        values = asdict(StoredSession(session_id, principal, now, now, None, text))

        def work(connection: sqlalchemy.Connection) -> None:
            from sqlalchemy.dialects.sqlite import insert

            from paddock.store.tables import sessions

            same = {"seen_at": now, "state_json": text}
            is_its = sessions.c.principal == principal
            made = insert(sessions).on_conflict_do_update(index_elements=[sessions.c.id], set_=same, where=is_its)
            connection.execute(made, values)

        await self._writer.soon(work, size_bytes=len(text))

    async def get(self, principal: str, session_id: str) -> StoredSession | None:
        now = time.time()
        return await self._read(lambda connection: _get(connection, principal, session_id, now))

    async def touch(self, principal: str, session_id: str) -> None:
        """Note that a session is in use, without a wait; of uses that follow closely, the first alone."""
        now = time.time()
        if now - self._noted.get(session_id, 0.0) < SEEN_SECONDS:
            return
        self._noted = {name: at for name, at in self._noted.items() if now - at < SEEN_SECONDS}
        self._noted[session_id] = now

        def work(connection: sqlalchemy.Connection) -> None:
            _set(connection, principal, session_id, seen_at=now)

        await self._writer.soon(work)

    async def update(
        self, principal: str, session_id: str, change: Callable[[dict[str, Any]], Mapping[str, Any]]
    ) -> StoredSession | None:
        """Make the state what `change` makes of it; nobody else changes it meanwhile. None where there is no session.

        `change` runs in the writer's thread, perhaps more than once.
        """
        now = time.time()

        def work(connection: sqlalchemy.Connection) -> StoredSession | None:
            found = _get(connection, principal, session_id, now)
            if found is None:
                return None
            _set(connection, principal, session_id, seen_at=now, state_json=_text(change(found.state)))
            return _get(connection, principal, session_id, now)

        return await self._writer.write(work)

    async def expire(self, principal: str, session_id: str) -> bool:
        """End a session now. Whether there was one."""
        now = time.time()
        return await self._writer.write(
            lambda connection: (
                _get(connection, principal, session_id, now) is not None
                and _set(connection, principal, session_id, expires_at=now)
            )
        )


def _text(state: Mapping[str, Any]) -> str:
    try:
        text = stored_text(json.dumps(state))
    except (TypeError, ValueError, RecursionError) as problem:
        raise RequestError(f"the state of a session must be JSON: {problem}") from None
    if len(text) > STATE_BYTES:
        raise RequestError(f"the state of a session has {len(text)} bytes, and may have {STATE_BYTES}; keep less in it")
    return text


def _get(connection: sqlalchemy.Connection, principal: str, session_id: str, now: float) -> StoredSession | None:
    from sqlalchemy import select

    from paddock.store.tables import sessions as table

    is_live = table.c.expires_at.is_(None) | (table.c.expires_at > now)
    found = select(table).where(table.c.id == session_id, table.c.principal == principal, is_live)
    row = connection.execute(found).one_or_none()
    return None if row is None else StoredSession(*row)


def _set(connection: sqlalchemy.Connection, principal: str, session_id: str, **values: object) -> bool:
    from sqlalchemy import update

    from paddock.store.tables import sessions as table

    is_it = (table.c.id == session_id) & (table.c.principal == principal)
    return connection.execute(update(table).where(is_it).values(**values)).rowcount > 0
