"""What a database can fail at, as a `StoreError` that says what to do."""

from __future__ import annotations

import sqlite3

from paddock.errors import StoreError

_SAID = {
    "SQLITE_BUSY": "is locked by another process; end the one that holds it, and try again",
    "SQLITE_LOCKED": "is locked by another process; end the one that holds it, and try again",
    "SQLITE_FULL": "cannot grow: the disk is full; make room, or lower the settings of [store]",
    "SQLITE_READONLY": "may not be written by this user; check who owns the file, and its folder",
    "SQLITE_PERM": "may not be opened by this user; check who owns the file, and its folder",
    "SQLITE_CANTOPEN": "cannot be opened; check that its folder is there, and belongs to this user",
    "SQLITE_CORRUPT": "is damaged; move it away (the next start makes a new one), or restore a copy",
    "SQLITE_NOTADB": "is no database; move it away (the next start makes a new one), or restore a copy",
    "SQLITE_IOERR": "cannot be read or written: the disk failed, or a limit on the size of files was reached",
}


def name_of(problem: BaseException) -> str | None:
    """The primary result code of SQLite behind `problem`; None where there is none."""
    found = getattr(problem, "orig", None) or problem
    name = getattr(found, "sqlite_errorname", None)
    if name is None:
        return None
    return next((known for known in _SAID if name == known or name.startswith(f"{known}_")), name)


def spoils_all(problem: BaseException) -> bool:
    """Whether the whole transaction is lost with what failed so, not just the one statement."""
    return name_of(problem) in _SAID or isinstance(problem, MemoryError)


def store_error(problem: BaseException, path: object) -> StoreError:
    """`problem` as a caller sees it."""
    if isinstance(problem, StoreError):
        return problem
    said = _SAID.get(name_of(problem) or "")
    if said is None:
        found = getattr(problem, "orig", None) or problem
        why = (
            f"{found.filename}: {found.strerror}" if isinstance(found, OSError) else f"{type(found).__name__}: {found}"
        )
        said = f"cannot be used: {why}"
    return StoreError(f"the store {path} {said}")


def is_of_a_database(problem: BaseException) -> bool:
    """Whether `problem` is SQLAlchemy's or a driver's, which nobody outside the store has heard of."""
    from sqlalchemy.exc import SQLAlchemyError

    return isinstance(problem, SQLAlchemyError | sqlite3.Error)
