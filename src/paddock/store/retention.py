"""What is over a limit goes, the oldest first, in small steps between which others write."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from paddock.errors import StoreError

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.config import StoreConfig
    from paddock.store.reader import Read
    from paddock.store.writer import Writer

STEP_RUNS = 100
STEP_BYTES = 16 * 1024 * 1024
STEP_ROWS = 1000
STEP_PAGES = 1000
DAY_SECONDS = 86_400.0
_log = logging.getLogger("paddock.store")


@dataclass(frozen=True, slots=True)
class Swept:
    """How much a sweep removed."""

    runs: int = 0
    calls: int = 0  # of no run that is kept; those of the runs above are not counted
    sessions: int = 0
    definitions: int = 0  # versions of them


class Retention:
    """Keeps the store within its settings."""

    def __init__(
        self,
        writer: Writer,
        read: Read,
        settings: StoreConfig,
    ) -> None:
        self._writer, self._read, self._settings = writer, read, settings

    async def keep_sweeping(self) -> None:
        """Sweep now and then, until cancelled. A store that fails is tried again in its turn."""
        while True:
            try:
                await self.sweep()
            except StoreError as problem:
                _log.warning("old runs were not removed: %s", problem)
            await asyncio.sleep(self._settings.sweep_seconds)

    async def sweep(self) -> Swept:
        """Remove what is over a limit now, and give the disk back what that frees."""
        now, settings = time.time(), self._settings
        runs = await self._sweep_runs(now)
        calls = await self._repeated(lambda connection: _old_calls(connection, _since(now, settings.run_days)))
        sessions = await self._repeated(lambda connection: _sessions(connection, now, settings.session_days))
        definitions = await self._repeated(lambda connection: _versions(connection, settings.definition_versions))
        if runs:
            await self._repeated(_give_back, least=1)
        return Swept(runs, calls, sessions, definitions)

    async def _sweep_runs(self, now: float) -> int:
        settings, removed = self._settings, 0
        since = _since(now, settings.run_days)
        while True:
            found = await self._read(
                lambda connection: _over(connection, since, settings.run_count, settings.run_bytes)
            )
            if not found:
                return removed
            removed += await self._writer.write(partial(_remove_runs, ids=found))

    async def _repeated(self, step: Callable[[sqlalchemy.Connection], int], *, least: int = STEP_ROWS) -> int:
        total = 0
        while True:
            done = await self._writer.write(step)
            total += done
            if done < least:
                return total


def _since(now: float, days: float) -> float | None:
    return now - days * DAY_SECONDS if days else None


def _over(connection: sqlalchemy.Connection, since: float | None, most: int, most_bytes: int) -> list[str]:
    """The oldest runs that have ended and are over a limit, as many as one step removes. Reads one index."""
    from sqlalchemy import func, select

    from paddock.store.tables import runs

    is_ended = runs.c.verdict.is_not(None)
    totals = select(func.count(), func.coalesce(func.sum(runs.c.size_bytes), 0)).where(is_ended)
    count, size = connection.execute(totals).one()
    oldest = select(runs.c.id, runs.c.started_at, runs.c.size_bytes).where(is_ended).order_by(runs.c.started_at)
    found, found_bytes = [], 0
    for row in connection.execute(oldest.limit(STEP_RUNS)):
        is_old = since is not None and row.started_at < since
        is_over = (most and count > most) or (most_bytes and size > most_bytes)
        if found_bytes > STEP_BYTES or not (is_old or is_over):
            break
        found.append(row.id)
        found_bytes += row.size_bytes
        count, size = count - 1, size - row.size_bytes
    return found


def _remove_runs(connection: sqlalchemy.Connection, ids: list[str]) -> int:
    from sqlalchemy import delete

    from paddock.store.tables import calls, runs

    connection.execute(delete(calls).where(calls.c.run_id.in_(ids)))
    return connection.execute(delete(runs).where(runs.c.id.in_(ids))).rowcount


def _old_calls(connection: sqlalchemy.Connection, since: float | None) -> int:
    """Calls that were made outside a run, or whose run is gone."""
    from sqlalchemy import delete, exists, select, tuple_

    from paddock.store.tables import calls, runs

    if since is None:
        return 0
    key = (calls.c.run_id, calls.c.number)
    is_orphan = ~exists().where(runs.c.id == calls.c.run_id)
    found = connection.execute(select(*key).where(calls.c.at < since, is_orphan).limit(STEP_ROWS)).all()
    if found:
        connection.execute(delete(calls).where(tuple_(*key).in_([tuple(row) for row in found])))
    return len(found)


def _sessions(connection: sqlalchemy.Connection, now: float, days: float) -> int:
    from sqlalchemy import delete, select

    from paddock.store.tables import sessions

    is_over = sessions.c.expires_at <= now
    if days:
        is_over |= sessions.c.seen_at < now - days * DAY_SECONDS
    found = connection.execute(select(sessions.c.id).where(is_over).limit(STEP_ROWS)).scalars().all()
    if found:
        connection.execute(delete(sessions).where(sessions.c.id.in_(found)))
    return len(found)


def _versions(connection: sqlalchemy.Connection, most: int) -> int:
    """Versions of definitions that are not current, beyond the newest `most` of each name."""
    from sqlalchemy import delete, func, select, tuple_

    from paddock.store.tables import definitions as table

    if not most:
        return 0
    name = (table.c.principal, table.c.name)
    rank = func.row_number().over(partition_by=name, order_by=table.c.version.desc()).label("rank")
    ranked = select(*name, table.c.version, rank).where(~table.c.is_current).subquery()
    over = select(ranked.c.principal, ranked.c.name, ranked.c.version).where(ranked.c.rank > most).limit(STEP_ROWS)
    found = connection.execute(over).all()
    if found:
        key = tuple_(*name, table.c.version)
        connection.execute(delete(table).where(key.in_([tuple(row) for row in found])))
    return len(found)


def _give_back(connection: sqlalchemy.Connection) -> int:
    """Shorten the file by some of its free pages; how many."""
    from paddock.store.connecting import driver

    raw = driver(connection)
    (before,) = raw.execute("PRAGMA freelist_count").fetchone()
    raw.execute(f"PRAGMA incremental_vacuum({STEP_PAGES})").fetchall()  # each page is a step of the statement
    (after,) = raw.execute("PRAGMA freelist_count").fetchone()
    return int(before - after)
