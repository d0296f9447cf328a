"""Removes old entries beyond the limits of `[store]`, in small steps, so that other writers are not blocked."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import Connection

from paddock.store.connection import driver
from paddock.store.tables import calls, definitions, runs, sessions

if TYPE_CHECKING:
    from paddock.config import StoreConfig
    from paddock.store.database import Store

STEP_RUNS = 100
STEP_BYTES = 16 * 1024 * 1024
STEP_ROWS = 1000
STEP_PAGES = 1000
DAY_SECONDS = 86_400.0


async def sweep(store: Store, settings: StoreConfig) -> None:
    """Remove everything beyond a limit, and return free pages to the disk. 0 means no limit."""
    now = time.time()
    runs_since = now - settings.run_days * DAY_SECONDS if settings.run_days else -math.inf
    sessions_since = now - settings.session_days * DAY_SECONDS if settings.session_days else -math.inf
    while ids := await store.read(partial(_excess_runs, since=runs_since, settings=settings)):
        await store.writer.write(partial(_remove_runs, ids=ids))
    for step in (
        partial(_remove_calls, since=runs_since),
        partial(_remove_sessions, since=sessions_since),
        partial(_remove_versions, max_versions=settings.definition_versions),
        shrink,
    ):
        while await store.writer.write(step):
            pass


def _excess_runs(connection: Connection, since: float, settings: StoreConfig) -> list[str]:
    """Return the oldest ended runs beyond a limit, as many as one step removes. Reads only an index."""
    is_ended = runs.c.verdict.is_not(None)
    totals = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(runs.c.size_bytes), 0)).where(is_ended)
    count, size = connection.execute(totals).one()
    oldest = sa.select(runs.c.id, runs.c.started_at, runs.c.size_bytes).where(is_ended).order_by(runs.c.started_at)
    ids, step_bytes = [], 0
    for row in connection.execute(oldest.limit(STEP_RUNS)):
        is_old = row.started_at < since
        is_over_count = settings.run_count and count > settings.run_count
        is_over_bytes = settings.run_bytes and size > settings.run_bytes
        if step_bytes > STEP_BYTES or not (is_old or is_over_count or is_over_bytes):
            break
        ids.append(row.id)
        step_bytes += row.size_bytes
        count, size = count - 1, size - row.size_bytes
    return ids


def _remove_runs(connection: Connection, ids: list[str]) -> None:
    connection.execute(sa.delete(calls).where(calls.c.run_id.in_(ids)))
    connection.execute(sa.delete(runs).where(runs.c.id.in_(ids)))


def _remove_calls(connection: Connection, since: float) -> int:
    """Remove old calls that were made outside a run, or whose run is gone."""
    is_orphan = ~sa.exists().where(runs.c.id == calls.c.run_id)
    return _remove(connection, calls, sa.select(*calls.primary_key).where(calls.c.at < since, is_orphan))


def _remove_sessions(connection: Connection, since: float) -> int:
    return _remove(connection, sessions, sa.select(*sessions.primary_key).where(sessions.c.seen_at < since))


def _remove_versions(connection: Connection, max_versions: int) -> int:
    """Remove versions of definitions that are not current, beyond the newest `max_versions` of each name."""
    if not max_versions:
        return 0
    name = (definitions.c.principal, definitions.c.name)
    rank = sa.func.row_number().over(partition_by=name, order_by=definitions.c.version.desc()).label("rank")
    ranked = sa.select(*definitions.primary_key, rank).where(~definitions.c.is_current).subquery()
    return _remove(connection, definitions, sa.select(ranked).where(ranked.c.rank > max_versions))


def _remove(connection: Connection, table: sa.Table, query: sa.Select[tuple[object]]) -> int:
    """Remove the rows of `table` that `query` selects, at most `STEP_ROWS`. Returns how many."""
    names = [column.name for column in table.primary_key]
    rows = connection.execute(query.limit(STEP_ROWS)).mappings().all()
    keys = [tuple(row[name] for name in names) for row in rows]
    if keys:
        connection.execute(sa.delete(table).where(sa.tuple_(*table.primary_key).in_(keys)))
    return len(keys)


def shrink(connection: Connection) -> int:
    """Shorten the file by some of its free pages. Returns how many."""
    raw = driver(connection)
    (before,) = raw.execute("PRAGMA freelist_count").fetchone()
    raw.execute(f"PRAGMA incremental_vacuum({STEP_PAGES})").fetchall()  # each fetched row frees one page
    (after,) = raw.execute("PRAGMA freelist_count").fetchone()
    return int(before - after)
