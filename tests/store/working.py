"""Work for a store, and ways to block its writer or lock its file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import insert, select

from paddock.model.result import RunResult, Usage, Verdict
from paddock.store.database import Store
from paddock.store.tables import sessions
from paddock.store.writer import Writer

PATIENCE_SECONDS = 60


def adding(name: str) -> Callable[[sqlalchemy.Connection], str]:
    """Return work that adds a row called `name`. Done twice, it fails."""

    def work(connection: sqlalchemy.Connection) -> str:
        row = {"id": name, "principal": "p", "created_at": 0.0, "seen_at": 0.0, "state_json": "{}"}
        connection.execute(insert(sessions), row)
        return name

    return work


def names(connection: sqlalchemy.Connection) -> list[str]:
    """Return the names of the rows, in the order in which they were added."""
    return list(connection.execute(select(sessions.c.id).order_by(sqlalchemy.text("rowid"))).scalars())


async def stored(store: Store) -> list[str]:
    return await store.read(names)


async def session_row(store: Store, session_id: str) -> sqlalchemy.Row[Any] | None:
    return await store.read(
        lambda connection: connection.execute(select(sessions).where(sessions.c.id == session_id)).one_or_none()
    )


@contextmanager
def held_up(writer: Writer) -> Iterator[None]:
    """Hold the writer inside a transaction, so that what is queued waits for the next one."""
    entered, leave = threading.Event(), threading.Event()

    def work(connection: sqlalchemy.Connection) -> None:
        entered.set()
        assert leave.wait(PATIENCE_SECONDS)

    waiting = writer.submit(work)
    assert entered.wait(PATIENCE_SECONDS)
    try:
        yield
    finally:
        leave.set()
        waiting.result(PATIENCE_SECONDS)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the database as another process would: SQLite's locks are between connections."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def result(run_id: str, verdict: Verdict = Verdict.OK, **more: object) -> RunResult:
    """Return the result of a run."""
    plain = RunResult(run_id, verdict, "python", "monty", "fits", Usage(0.25))
    return RunResult(**{**plain.__dict__, **more})
