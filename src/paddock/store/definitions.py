"""Definitions that users save, with their versions."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddock.store.journal import parse_stored, stored_text

if TYPE_CHECKING:
    from pathlib import Path

    import sqlalchemy

    from paddock.store.database import Store


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One version of a definition."""

    name: str
    version: int  # from 1; continues when a removed name is saved again
    is_current: bool
    created_at: float
    removed_at: float | None
    spec_json: str

    @property
    def spec(self) -> dict[str, Any]:
        return parse_stored(self.spec_json)


OLD_BYTES = 32 * 1024 * 1024
"""How much the versions of one principal's definitions that are not current may take. The oldest are removed."""
VERSION_BYTES = 1024
"""What a version counts besides its text."""
Versions = list[StoredDefinition]
Version = tuple[int, float]
"""The number of a version, and when it was saved: after a purge, numbers begin again."""


class StoredDefinitions:
    """The definitions of every principal; each sees only its own. Callers validate specs first."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def save(self, principal: str, name: str, spec: Mapping[str, Any]) -> StoredDefinition:
        """Make `spec` the current version of `name`. Changes nothing if it already is. Old versions make room."""
        text, now = stored_text(json.dumps(spec, sort_keys=True)), time.time()
        return await self._store.writer.write(lambda connection: _save(connection, principal, name, text, now))

    async def history(self, principal: str, name: str) -> Versions:
        """Return every stored version, newest first."""
        return await self._read(principal, name=name)

    async def remove(self, principal: str, name: str) -> bool:
        """Remove `name` but keep its versions. Returns whether it had a current version."""
        now = time.time()
        return await self._store.writer.write(lambda connection: _retire(connection, principal, name, removed_at=now))

    async def list(self, principal: str) -> Versions:
        """Return the current version of each definition, by name."""
        return await self._read(principal, is_current=True)

    async def versions(self, principal: str) -> dict[str, Version]:
        """Return the current version of each definition, by name."""
        return {each.name: (each.version, each.created_at) for each in await self.list(principal)}

    async def all_versions(self) -> dict[tuple[str, str], Version]:
        """Return `versions` of every principal, by principal and name."""
        return await self._store.read(_all_versions)

    async def _read(self, principal: str, **chosen: Any) -> Versions:
        return await self._store.read(lambda connection: _select(connection, principal, **chosen), principal=principal)


def peek_versions(path: Path, principal: str) -> dict[str, Version] | None:
    """Return `versions` within a millisecond and without opening the store; None if that is not possible."""
    query = "SELECT name, version, created_at FROM definitions WHERE principal = ? AND is_current"
    rows = _peek(path, query, principal)
    return None if rows is None else {name: (version, created_at) for name, version, created_at in rows}


def peek_all_versions(path: Path) -> dict[tuple[str, str], Version] | None:
    """Return `all_versions` without opening the store; None if that is not possible.

    A server polls this every second, and opening the store takes half a second and 20 MB.
    """
    rows = _peek(path, "SELECT principal, name, version, created_at FROM definitions WHERE is_current")
    return None if rows is None else {(row[0], row[1]): (row[2], row[3]) for row in rows}


def _peek(path: Path, query: str, *values: str) -> list[Any] | None:
    if not path.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.1)) as connection:
            return connection.execute(query, values).fetchall()
    except sqlite3.Error:  # the file is busy, or has another version
        return None


def _all_versions(connection: sqlalchemy.Connection) -> dict[tuple[str, str], Version]:
    from paddock.store.tables import definitions, sa

    columns = (definitions.c.principal, definitions.c.name, definitions.c.version, definitions.c.created_at)
    rows = connection.execute(sa.select(*columns).where(definitions.c.is_current))
    return {(row.principal, row.name): (row.version, row.created_at) for row in rows}


def _select(
    connection: sqlalchemy.Connection, principal: str, *, name: str | None = None, is_current: bool = False
) -> Versions:
    from paddock.store.tables import definitions, sa

    columns = [definitions.c[name] for name in StoredDefinition.__slots__]
    query = sa.select(*columns).where(definitions.c.principal == principal)
    if name is not None:
        query = query.where(definitions.c.name == name)
    if is_current:
        query = query.where(definitions.c.is_current)
    rows = connection.execute(query.order_by(definitions.c.name, definitions.c.version.desc()))
    return [StoredDefinition(*row) for row in rows]


def _save(connection: sqlalchemy.Connection, principal: str, name: str, text: str, now: float) -> StoredDefinition:
    from paddock.store.tables import definitions, sa

    newest = next(iter(_select(connection, principal, name=name)), None)
    if newest is not None and newest.is_current and newest.spec_json == text:
        return newest
    _retire(connection, principal, name)
    version = newest.version + 1 if newest else 1
    values = {"name": name, "version": version, "is_current": True, "created_at": now, "spec_json": text}
    connection.execute(sa.insert(definitions).values(principal=principal, **values))
    _remove_oldest(connection, principal)
    return StoredDefinition(**values, removed_at=None)  # type: ignore[arg-type]


def _retire(connection: sqlalchemy.Connection, principal: str, name: str, *, removed_at: float | None = None) -> bool:
    """Mark the current version of `name` as not current. Returns whether there was one."""
    from paddock.store.tables import definitions, sa

    is_current = (definitions.c.principal == principal) & (definitions.c.name == name) & definitions.c.is_current
    result = connection.execute(
        sa.update(definitions).where(is_current).values(is_current=False, removed_at=removed_at)
    )
    return result.rowcount > 0


def _remove_oldest(connection: sqlalchemy.Connection, principal: str) -> None:
    """Remove the versions beyond OLD_BYTES. Names that were removed count too."""
    from paddock.store.tables import definitions, sa

    newest = (definitions.c.created_at.desc(), definitions.c.version.desc(), definitions.c.name)
    size = sa.func.sum(sa.func.length(definitions.c.spec_json) + VERSION_BYTES).over(order_by=newest)
    is_old = (definitions.c.principal == principal) & ~definitions.c.is_current
    old = sa.select(*definitions.primary_key, size.label("size")).where(is_old).subquery()
    keys = [old.c[column.name] for column in definitions.primary_key]
    excess = sa.select(*keys).where(old.c.size > OLD_BYTES)
    connection.execute(sa.delete(definitions).where(sa.tuple_(*definitions.primary_key).in_(excess)))
