"""Connections to the database file, set up alike."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlalchemy

BUSY_SECONDS = 5.0
"""How long another process may hold the database before that is an error."""
WAL_BYTES = 64 * 1024 * 1024
"""The log is cut to this once its pages are in the database."""


def make_file(path: Path) -> None:
    """An empty file that only this user reads; what SQLite puts beside it gets the same mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_mode & 0o077:
            os.fchmod(fd, 0o600)
    finally:
        os.close(fd)


def connect(path: Path, *, is_reader: bool = False, busy_seconds: float = BUSY_SECONDS) -> sqlalchemy.Connection:
    """A connection of its own for one thread. A transaction of a writer has the lock from its first statement on."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import NullPool

    # Without SQLAlchemy's and the driver's own ideas of when a transaction begins: savepoints need a real BEGIN.
    engine = create_engine(
        "sqlite+pysqlite://",
        creator=lambda: _opened(path, is_reader=is_reader, busy_seconds=busy_seconds),
        poolclass=NullPool,
    )
    begin = "BEGIN" if is_reader else "BEGIN IMMEDIATE"

    @event.listens_for(engine, "begin")
    def _begin(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine.connect()


def driver(connection: sqlalchemy.Connection) -> sqlite3.Connection:
    """SQLite's own connection, for what must be said outside a transaction."""
    found = connection.connection.driver_connection
    if not isinstance(found, sqlite3.Connection):
        raise TypeError(f"not a connection to SQLite: {found!r}")
    return found


def _opened(path: Path, *, is_reader: bool, busy_seconds: float) -> sqlite3.Connection:
    raw = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    try:
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("PRAGMA trusted_schema = OFF")  # a file that someone else made must not run functions
        if is_reader:
            raw.execute("PRAGMA query_only = ON")
        else:
            raw.execute(
                "PRAGMA auto_vacuum = INCREMENTAL"
            )  # of a new file: pages that retention frees can be given back
            _use_a_log(raw, busy_seconds)
            raw.execute("PRAGMA synchronous = NORMAL")
            raw.execute("PRAGMA wal_autocheckpoint = 4000")  # the writer does it when nobody waits, long before
            raw.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
    except BaseException:
        raw.close()
        raise
    return raw


def _use_a_log(raw: sqlite3.Connection, busy_seconds: float) -> None:
    """Turn WAL on. While another process does the same, SQLite says at once that it is busy, without waiting."""
    until = time.monotonic() + busy_seconds
    while True:
        try:
            raw.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
