"""Runs that went on when their process died: they get the verdict `lost`, and keep what was known of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paddock.model.result import RunError, RunResult, Usage, Verdict

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.owners import Owner

MESSAGE = (
    "the process that ran it ended before the run did; the calls that are listed were made or begun, "
    "so see what they did before you run it again"
)


def mark_lost(connection: sqlalchemy.Connection, owner: Owner) -> list[str]:
    """End every run that has no verdict and whose process is dead; their ids."""
    from sqlalchemy import select

    from paddock.store.tables import runs

    open_runs = runs.c.verdict.is_(None)
    owners = connection.execute(select(runs.c.owner).where(open_runs).distinct()).scalars().all()
    dead = [name for name in owners if not owner.is_alive(name)]
    columns = (runs.c.id, runs.c.language, runs.c.engine, runs.c.started_at, runs.c.session, runs.c.definition)
    found = select(*columns, runs.c.stdout_so_far, runs.c.stderr_so_far).where(open_runs, runs.c.owner.in_(dead))
    rows = connection.execute(found).mappings().all() if dead else []
    for row in rows:
        _end(connection, row)
    return [row["id"] for row in rows]


def _end(connection: sqlalchemy.Connection, row: sqlalchemy.RowMapping) -> None:
    from paddock.store.statements import finish

    now = time.time()
    result = RunResult(
        run_id=row["id"],
        verdict=Verdict.LOST,
        language=row["language"],
        engine=row["engine"],
        engine_reason=None,
        usage=Usage(
            max(0.0, round(now - row["started_at"], 6)), output_bytes=len(row["stdout_so_far"] + row["stderr_so_far"])
        ),
        stdout=row["stdout_so_far"],
        stderr=row["stderr_so_far"],
        error=RunError("HostError", MESSAGE),
        definition=row["definition"],
        session=row["session"],
    )
    text = result.to_json()
    values = {"engine": row["engine"], "ended_at": now, "verdict": str(Verdict.LOST), "result_json": text}
    finish().execute(connection, {"of_run": row["id"], "result_bytes": len(text), **values})
