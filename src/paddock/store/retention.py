"""Removes old entries beyond the limits of `[store]`, in small steps, so that other writers are not blocked."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import Connection

from paddock.store.connection import driver
from paddock.store.principals import CALL_PREFIX, PREFIX_CHARACTERS
from paddock.store.tables import calls, definitions, runs, sessions

if TYPE_CHECKING:
    from paddock.config import StoreConfig
    from paddock.store.database import Store

STEP_RUNS = 100
STEP_BYTES = 16 * 1024 * 1024
STEP_ROWS = 1000
STEP_CALLS = 5000
CALL_BYTES = 1000
"""What the row of a call takes beside its texts, at least."""
STEP_PAGES = 1000
DAY_SECONDS = 86_400.0


async def sweep(store: Store, settings: StoreConfig) -> None:
    """Remove everything beyond a limit. 0 means no limit."""
    now = time.time()
    runs_since = now - settings.run_days * DAY_SECONDS if settings.run_days else -math.inf
    sessions_since = now - settings.session_days * DAY_SECONDS if settings.session_days else -math.inf
    while ids := await store.read(partial(_excess_runs, since=runs_since, settings=settings)):
        await store.writer.write(partial(_remove_runs, ids=ids))
    while ids := await store.read(partial(_excess_calls, max_bytes=settings.run_bytes)):
        await store.writer.write(partial(_remove_runs, ids=ids))
    for step in (
        partial(_remove_calls, since=runs_since),
        partial(_remove_sessions, since=sessions_since),
        partial(_remove_versions, max_versions=settings.definition_versions),
    ):
        while await store.writer.write(step):
            pass


def _excess_runs(connection: Connection, since: float, settings: StoreConfig) -> list[str]:
    """Return the oldest ended runs beyond a limit, as many as one step removes. Reads only an index.

    Over a limit, principals that take more than their share lose runs, and the others none.
    """
    is_ended = runs.c.verdict.is_not(None)
    oldest = sa.select(runs.c.id, runs.c.size_bytes).where(is_ended).order_by(runs.c.started_at).limit(STEP_RUNS)
    found = connection.execute(oldest.where(runs.c.started_at < since)).all()
    count, size, max_count, max_bytes = math.inf, 0, 0.0, 0.0  # old runs are all in excess
    if not found:
        sums = (sa.func.count(), sa.func.coalesce(sa.func.sum(runs.c.size_bytes), 0))
        totals = connection.execute(sa.select(runs.c.principal, *sums).where(is_ended).group_by(runs.c.principal)).all()
        max_count = _share([row[1] for row in totals], settings.run_count)
        max_bytes = _share([row[2] for row in totals], settings.run_bytes)
        over = next((row for row in totals if row[1] > max_count or row[2] > max_bytes), None)
        if over is None:
            return []
        principal, count, size = over
        found = connection.execute(oldest.where(runs.c.principal == principal)).all()
    ids, step_bytes = [], 0
    for row in found:
        if step_bytes > STEP_BYTES or not (count > max_count or size > max_bytes):
            break
        ids.append(row.id)
        step_bytes += row.size_bytes
        count, size = count - 1, size - row.size_bytes
    return ids


def _excess_calls(connection: Connection, max_bytes: int) -> list[str]:
    """Return the oldest calls outside of runs beyond a principal's share, as many as one step removes."""
    is_outside = calls.c.run_id.between(CALL_PREFIX, f"{CALL_PREFIX}~")  # uses the index, as LIKE would not
    owner, size = sa.func.substr(calls.c.run_id, 1, PREFIX_CHARACTERS), calls.c.size_bytes + CALL_BYTES
    sizes = connection.scalars(sa.select(sa.func.sum(size)).where(is_outside).group_by(owner)).all()
    share = _share(list(sizes), max_bytes)
    if share == math.inf:
        return []
    newer = sa.func.sum(size).over(partition_by=owner, order_by=(calls.c.at.desc(), calls.c.run_id))  # and the call
    kept = sa.select(calls.c.run_id, size.label("size"), newer.label("newer")).where(is_outside).subquery()
    oldest = sa.select(kept.c.run_id, kept.c.size).where(kept.c.newer > share).order_by(kept.c.newer.desc())
    found = connection.execute(oldest.limit(STEP_CALLS)).all()
    ids, step_bytes = [], 0
    for row in found:
        if step_bytes > STEP_BYTES:
            break
        ids.append(row.run_id)
        step_bytes += row.size
    return ids


def _share(totals: list[int], limit: int) -> float:
    """Return the most that each may keep of its total, so that all keep at most `limit`. 0 means no limit."""
    left = limit
    for number, total in enumerate(sorted(totals)):
        share = left / (len(totals) - number)
        if limit and total > share:
            return share
        left -= total
    return math.inf


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
