"""The statements of a run's path, built and compiled once, and given to the driver as they are.

To build one again takes three times as long as to execute it, and SQLAlchemy three times as long as the driver. The
writer's thread takes that time from the runs that go on: there is one interpreter lock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.store.connecting import driver
from paddock.store.tables import calls, runs

if TYPE_CHECKING:
    import sqlalchemy
    from sqlalchemy.sql.base import Executable


class Prepared(NamedTuple):
    """A statement as the driver takes it."""

    text: str
    names: tuple[str, ...]  # of its values, in their order

    def execute(self, connection: sqlalchemy.Connection, values: Mapping[str, Any]) -> None:
        driver(connection).execute(self.text, [values[name] for name in self.names])


def _prepared(statement: Executable, columns: Collection[str] | None = None) -> Prepared:
    """With `columns` an insert is of those alone."""
    from sqlalchemy.dialects import sqlite

    made = statement.compile(  # type: ignore[attr-defined]
        dialect=sqlite.dialect(paramstyle="qmark"), column_keys=None if columns is None else list(columns)
    )
    return Prepared(str(made), tuple(made.positiontup))


@cache
def intend() -> Prepared:
    """Of a call, or of all that is known of it where it has ended meanwhile."""
    from sqlalchemy.dialects.sqlite import insert

    statement = insert(calls)
    # A number that comes again is the same call, made again: what it came to before is no longer true.
    return _prepared(
        statement.on_conflict_do_update(
            index_elements=[calls.c.run_id, calls.c.number],
            set_={column.name: statement.excluded[column.name] for column in calls.columns if not column.primary_key},
        )
    )


@cache
def conclude() -> Prepared:
    from sqlalchemy import bindparam, update

    return _prepared(
        update(calls)
        .where(calls.c.run_id == bindparam("of_run"), calls.c.number == bindparam("of_number"))
        .values(
            status=bindparam("status"),
            milliseconds=bindparam("milliseconds"),
            answer_json=bindparam("answer_json"),
            size_bytes=calls.c.size_bytes + bindparam("more_bytes"),
        )
    )


_BEGUN = (
    *("id", "principal", "session", "definition", "idempotency_key", "request_digest", "language", "owner"),
    *("started_at", "size_bytes", "code"),
)


@cache
def begin() -> Prepared:
    from sqlalchemy import insert

    return _prepared(insert(runs), _BEGUN)


@cache
def begin_once() -> Prepared:
    """`begin`, unless there is such a run."""
    from sqlalchemy.dialects.sqlite import insert

    return _prepared(insert(runs).on_conflict_do_nothing(), _BEGUN)


@cache
def finish() -> Prepared:
    from sqlalchemy import LargeBinary, bindparam, cast, func, literal_column, update

    of_code = func.length(cast(runs.c.code, LargeBinary))  # a text is counted up to its first NUL only
    return _prepared(
        update(runs)
        .where(runs.c.id == bindparam("of_run"))
        .values(
            engine=bindparam("engine"),
            ended_at=bindparam("ended_at"),
            verdict=bindparam("verdict"),
            result_json=bindparam("result_json"),
            size_bytes=of_code + bindparam("result_bytes") + _of_calls(runs.c.id),
            stdout_so_far=literal_column("''"),
            stderr_so_far=literal_column("''"),
        )
    )


@cache
def record() -> Prepared:
    """Of a run that has ended before it was written that it began."""
    from sqlalchemy import bindparam, insert

    size: sqlalchemy.ColumnElement[int] = (
        bindparam("code_bytes") + bindparam("result_bytes") + _of_calls(bindparam("of_run"))
    )
    known = [*_BEGUN, "engine", "ended_at", "verdict", "result_json"]
    return _prepared(insert(runs).values(size_bytes=size), [name for name in known if name != "size_bytes"])


@cache
def so_far() -> Prepared:
    from sqlalchemy import bindparam, update

    return _prepared(
        update(runs)
        .where(runs.c.id == bindparam("of_run"), runs.c.verdict.is_(None))
        .values(stdout_so_far=bindparam("stdout"), stderr_so_far=bindparam("stderr"))
    )


def _of_calls(run_id: sqlalchemy.ColumnElement[str]) -> sqlalchemy.ScalarSelect[int]:
    """What the calls of a run take."""
    from sqlalchemy import func, literal_column, select

    total = func.coalesce(func.sum(calls.c.size_bytes), literal_column("0"))
    return select(total).where(calls.c.run_id == run_id).scalar_subquery()
