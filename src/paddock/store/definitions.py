"""Definitions that users save, with every version of them that they were."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddock.store.calls import stored_text

if TYPE_CHECKING:
    from pathlib import Path

    import sqlalchemy

    from paddock.store.reader import Read
    from paddock.store.writer import Writer


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One version of a definition."""

    name: str
    version: int  # from 1; a name that is removed and saved again goes on counting
    is_current: bool
    created_at: float
    removed_at: float | None
    spec_json: str

    @property
    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = json.loads(self.spec_json)
        return spec


class StoredDefinitions:
    """The definitions of every principal; each sees its own alone. What a spec says is checked before it gets here."""

    def __init__(self, writer: Writer, read: Read) -> None:
        self._writer, self._read = writer, read

    async def save(self, principal: str, name: str, spec: Mapping[str, Any]) -> StoredDefinition:
        """Make `spec` the current version of `name`. One that is current already stays as it is."""
        text, now = stored_text(json.dumps(spec, sort_keys=True)), time.time()
        return await self._writer.write(lambda connection: _save(connection, principal, name, text, now))

    async def current(self, principal: str, name: str) -> StoredDefinition | None:
        found = await self._read(lambda connection: _versions(connection, principal, name=name, is_current=True))
        return next(iter(found), None)

    async def history(self, principal: str, name: str) -> Versions:
        """Every version that is kept, the newest first."""
        return await self._read(lambda connection: _versions(connection, principal, name=name))

    async def remove(self, principal: str, name: str) -> bool:
        """Take `name` out of use; its versions stay. Whether there was one."""
        now = time.time()
        return await self._writer.write(lambda connection: _retire(connection, principal, name, removed_at=now))

    async def versions(self, principal: str) -> dict[str, int]:
        """Which version of each is current: little enough to be asked for again and again."""
        return await self._read(lambda connection: _current(connection, principal))

    async def list(self, principal: str) -> Versions:
        """The current version of each, by name."""
        return await self._read(lambda connection: _versions(connection, principal, is_current=True))


Versions = list[StoredDefinition]


def peek(path: Path, principal: str) -> dict[str, int] | None:
    """`versions`, within a millisecond and without opening the store; None where that cannot be told so.

    A server answers first and opens its store later: that takes half a second, and most have no definition saved.
    """
    if not path.exists():
        return {}
    import sqlite3
    from contextlib import closing

    asked = "SELECT name, version FROM definitions WHERE principal = ? AND is_current"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.1)) as connection:
            return dict(connection.execute(asked, [principal]).fetchall())
    except sqlite3.Error:  # busy, or of another version
        return None


def _versions(
    connection: sqlalchemy.Connection, principal: str, *, name: str | None = None, is_current: bool = False
) -> Versions:
    from sqlalchemy import select

    from paddock.store.tables import definitions as table

    columns = (table.c.name, table.c.version, table.c.is_current, table.c.created_at, table.c.removed_at)
    found = select(*columns, table.c.spec_json).where(table.c.principal == principal)
    if name is not None:
        found = found.where(table.c.name == name)
    if is_current:
        found = found.where(table.c.is_current)
    rows = connection.execute(found.order_by(table.c.name, table.c.version.desc()))
    return [StoredDefinition(*row) for row in rows]


def _current(connection: sqlalchemy.Connection, principal: str) -> dict[str, int]:
    from sqlalchemy import select

    from paddock.store.tables import definitions as table

    found = select(table.c.name, table.c.version).where((table.c.principal == principal) & table.c.is_current)
    return {row.name: row.version for row in connection.execute(found)}


def _save(connection: sqlalchemy.Connection, principal: str, name: str, text: str, now: float) -> StoredDefinition:
    from sqlalchemy import insert

    from paddock.store.tables import definitions as table

    newest = next(iter(_versions(connection, principal, name=name)), None)
    if newest is not None and newest.is_current and newest.spec_json == text:
        return newest
    _retire(connection, principal, name)
    saved = StoredDefinition(name, newest.version + 1 if newest else 1, True, now, None, text)
    connection.execute(
        insert(table).values(
            principal=principal,
            name=saved.name,
            version=saved.version,
            is_current=saved.is_current,
            created_at=saved.created_at,
            spec_json=saved.spec_json,
        )
    )
    return saved


def _retire(connection: sqlalchemy.Connection, principal: str, name: str, *, removed_at: float | None = None) -> bool:
    """Let no version of `name` be current. Whether one was."""
    from sqlalchemy import update

    from paddock.store.tables import definitions as table

    is_current = (table.c.principal == principal) & (table.c.name == name) & table.c.is_current
    done = connection.execute(update(table).where(is_current).values(is_current=False, removed_at=removed_at))
    return done.rowcount > 0
