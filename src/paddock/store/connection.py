"""Opens connections to the SQLite file, and turns its errors into a `StoreError` that says what to do."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import StoreError

if TYPE_CHECKING:
    import sqlalchemy

BUSY_SECONDS = 5.0
"""How long to wait for another process's lock on the database before it is an error."""
WAL_BYTES = 64 * 1024 * 1024
"""SQLite truncates the write-ahead log to this size after a checkpoint."""
CHECKPOINT_SECONDS = 0.2
"""How long a checkpoint waits for readers. Nobody can write meanwhile."""

_ADVICE = {
    "SQLITE_BUSY": "is locked by another process; end that process, and try again",
    "SQLITE_LOCKED": "is locked by another process; end that process, and try again",
    "SQLITE_FULL": "cannot grow: the disk is full; make room, or lower the settings of [store]",
    "SQLITE_READONLY": "may not be written by this user; check who owns the file and its folder",
    "SQLITE_PERM": "may not be opened by this user; check who owns the file and its folder",
    "SQLITE_CANTOPEN": "cannot be opened; check that its folder exists and belongs to this user",
    "SQLITE_CORRUPT": "is damaged; move it away (the next start creates a new one), or restore a copy",
    "SQLITE_NOTADB": "is not a database; move it away (the next start creates a new one), or restore a copy",
    "SQLITE_IOERR": "cannot be read or written: the disk failed, or a limit on the size of files was reached",
}


def make_file(path: Path) -> None:
    """Create the file if needed, readable by this user alone. SQLite gives the same mode to the files next to it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_mode & 0o077:
            os.fchmod(fd, 0o600)
    finally:
        os.close(fd)


def empty_log(path: Path, busy_seconds: float) -> bool:
    """Empty the write-ahead log, which has content that was deleted from the file. Returns False if it is in use."""
    until = time.monotonic() + busy_seconds
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", CHECKPOINT_SECONDS, uri=True)) as raw:
        while raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > until:
                return False
            time.sleep(CHECKPOINT_SECONDS)
    return True


def file_id(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file or folder, to notice if another takes its name; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def connect(path: Path, *, is_reader: bool = False, busy_seconds: float = BUSY_SECONDS) -> sqlalchemy.Connection:
    """Open a connection for one thread. A writer's transaction takes the write lock when it begins."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import NullPool

    engine = create_engine(
        "sqlite+pysqlite://",
        creator=lambda: _open(path, is_reader=is_reader, busy_seconds=busy_seconds),
        poolclass=NullPool,
    )
    begin = "BEGIN" if is_reader else "BEGIN IMMEDIATE"

    @event.listens_for(engine, "begin")
    def _begin(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql(begin)  # the driver begins no transaction by itself, and savepoints need one

    return engine.connect()


def driver(connection: sqlalchemy.Connection) -> sqlite3.Connection:
    """Return SQLite's own connection, for PRAGMAs that must run outside a transaction."""
    raw = connection.connection.driver_connection
    if not isinstance(raw, sqlite3.Connection):
        raise TypeError(f"not a connection to SQLite: {raw!r}")
    return raw


def store_error(problem: BaseException, path: object) -> StoreError:
    """Return `problem` as the StoreError that a caller sees."""
    if isinstance(problem, StoreError):
        return problem
    advice = _ADVICE.get(_error_name(problem) or "")
    if advice is None:
        cause = getattr(problem, "orig", None) or problem
        why = f"{type(cause).__name__}: {cause}"
        if isinstance(cause, OSError):
            why = f"{cause.filename}: {cause.strerror}"
        advice = f"cannot be used: {why}"
    return StoreError(f"the store {path} {advice}")


def is_database_error(problem: BaseException) -> bool:
    """Whether `problem` comes from SQLAlchemy, the driver or the disk: a caller must see a StoreError instead."""
    from sqlalchemy.exc import SQLAlchemyError

    return isinstance(problem, SQLAlchemyError | sqlite3.Error | OSError)


def ends_transaction(problem: BaseException) -> bool:
    """Whether the whole transaction failed, and not just one statement in it. It may succeed later.

    An OSError is about the files beside the database, for example on a full disk.
    """
    return _error_name(problem) in _ADVICE or isinstance(problem, MemoryError | OSError)


def _error_name(problem: BaseException) -> str | None:
    """Return the primary result code of SQLite behind `problem`, if there is one."""
    name = getattr(getattr(problem, "orig", None) or problem, "sqlite_errorname", None)
    if name is None:
        return None
    return next((known for known in _ADVICE if name == known or name.startswith(f"{known}_")), name)


def _open(path: Path, *, is_reader: bool, busy_seconds: float) -> sqlite3.Connection:
    # A reader's connection is closed by another thread, when its own has ended.
    raw = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=not is_reader)
    try:
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("PRAGMA trusted_schema = OFF")  # the schema of a file from elsewhere must not call functions
        if is_reader:
            raw.execute("PRAGMA query_only = ON")
        else:
            raw.execute("PRAGMA auto_vacuum = INCREMENTAL")  # for retention; takes effect only in a new file
            _enable_wal(raw, busy_seconds)
            raw.execute("PRAGMA secure_delete = FAST")  # overwrites deleted content in pages that are written anyway
            raw.execute("PRAGMA synchronous = NORMAL")
            raw.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
    except BaseException:
        raw.close()
        raise
    return raw


def _enable_wal(raw: sqlite3.Connection, busy_seconds: float) -> None:
    """Switch to write-ahead logging. While another process does so, SQLite reports busy without waiting."""
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
