"""The statements of a run's path, built once: to build one again takes three times as long as to execute it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from paddock.store.tables import calls, runs

if TYPE_CHECKING:
    from sqlalchemy.sql.base import Executable


@cache
def intend() -> Executable:
    from sqlalchemy.dialects.sqlite import insert

    statement = insert(calls)
    # A number that comes again is the same call, made again: its outcome is open.
    return statement.on_conflict_do_update(
        index_elements=[calls.c.run_id, calls.c.number],
        set_={column.name: statement.excluded[column.name] for column in calls.columns if not column.primary_key},
    )


@cache
def conclude() -> Executable:
    from sqlalchemy import bindparam, update

    return (
        update(calls)
        .where(calls.c.run_id == bindparam("of_run"), calls.c.number == bindparam("of_number"))
        .values(
            status=bindparam("status"),
            milliseconds=bindparam("milliseconds"),
            answer_json=bindparam("answer_json"),
            size_bytes=calls.c.size_bytes + bindparam("more_bytes"),
        )
    )


@cache
def begin() -> Executable:
    from sqlalchemy import insert

    return insert(runs)


@cache
def finish() -> Executable:
    from sqlalchemy import LargeBinary, bindparam, cast, func, select, update

    of_code = func.length(cast(runs.c.code, LargeBinary))  # a text is counted up to its first NUL only
    of_calls = (
        select(func.coalesce(func.sum(calls.c.size_bytes), 0)).where(calls.c.run_id == runs.c.id).scalar_subquery()
    )
    return (
        update(runs)
        .where(runs.c.id == bindparam("of_run"))
        .values(
            engine=bindparam("engine"),
            ended_at=bindparam("ended_at"),
            verdict=bindparam("verdict"),
            result_json=bindparam("result_json"),
            size_bytes=of_code + bindparam("result_bytes") + of_calls,
            stdout_so_far="",
            stderr_so_far="",
        )
    )


@cache
def so_far() -> Executable:
    from sqlalchemy import bindparam, update

    return (
        update(runs)
        .where(runs.c.id == bindparam("of_run"), runs.c.verdict.is_(None))
        .values(stdout_so_far=bindparam("stdout"), stderr_so_far=bindparam("stderr"))
    )
