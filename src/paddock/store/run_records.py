"""SQL statements about runs. Each runs in the caller's transaction."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, insert, select, true, update

from paddock.errors import RequestError
from paddock.model.result import RunError, RunResult, Usage, Verdict
from paddock.store.journal import calls_of, damage_found, stored_text
from paddock.store.runs import EVERYONE, RUNNING, Everyone, NewRun, RunFilters, RunSummary, StoredRun, Summaries
from paddock.store.tables import calls, runs

if TYPE_CHECKING:
    from paddock.model.journal import Intent, Outcome
    from paddock.store.process_lock import ProcessLock

BEGINNING_CHARACTERS = 200
LOST = (
    "the process that ran it ended before the run did; the listed calls were made or started, "
    "so check their effects before you run it again"
)
_IS_RUNNING = runs.c.verdict.is_(None)
# Every run executes these, and building one takes longer than executing it.
_BEGIN = insert(runs)
_CALL_BYTES = select(func.coalesce(func.sum(calls.c.size_bytes), 0)).where(calls.c.run_id == bindparam("run_id"))
_FINISH = (
    update(runs)
    .where((runs.c.id == bindparam("run_id")) & (runs.c.owner == bindparam("run_owner")) & _IS_RUNNING)
    .values(
        engine=bindparam("engine"),
        ended_at=bindparam("ended_at"),
        verdict=bindparam("verdict"),
        result_json=bindparam("result_json"),
        size_bytes=runs.c.size_bytes + bindparam("result_bytes") + _CALL_BYTES.scalar_subquery(),
        stdout_so_far="",
        stderr_so_far="",
    )
)


@dataclass(frozen=True, slots=True)
class RunRecords:
    """The runs in one transaction of the process `process`."""

    connection: Connection
    process: ProcessLock

    def begin(self, run: NewRun, now: float) -> str | None:
        """Insert `run`, or return the id of the earlier run with the same idempotency key."""
        key, owner = run.idempotency_key, self.process.hold()
        if key is not None:
            is_same_key = (runs.c.principal == run.principal) & (runs.c.idempotency_key == key)
            query = select(runs.c.id, runs.c.request_digest).where(is_same_key)
            earlier = self.connection.execute(query).one_or_none()
            if earlier is not None and earlier.request_digest != _digest(earlier.id, run.fingerprint):
                raise RequestError(
                    f"the idempotency_key {key!r} was used for another request; "
                    "use a different key for each request, and reuse a key only to repeat that request"
                )
            if earlier is not None:
                return str(earlier.id)
        code = stored_text(run.code if run.redactor is None else str(run.redactor.redact(run.code)))
        names = ("id", "principal", "connection", "definition", "idempotency_key")
        values = {
            **{name: getattr(run, name) for name in names},
            "language": stored_text(run.language),
            "request_digest": _digest(run.id, run.fingerprint),
            "owner": owner,
            "started_at": now,
            "size_bytes": len(code.encode()),
            "code": code,
        }
        self.connection.execute(_BEGIN, values)
        return None

    def forget(self, run_id: str) -> None:
        self.connection.execute(delete(runs).where(runs.c.id == run_id))

    def release_key(self, run_id: str) -> None:
        """Let another run use the idempotency key of this one."""
        self.connection.execute(update(runs).where(runs.c.id == run_id).values(idempotency_key=None))

    def write_output(self, run_id: str, values: Mapping[str, str]) -> None:
        self.connection.execute(update(runs).where(runs.c.id == run_id, _IS_RUNNING).values(values))

    def finish(self, result: RunResult, result_json: str, owner: str, now: float) -> bool:
        """Write how a run of `owner` ended. Returns False if `owner` has no such run in progress."""
        values = {
            "run_id": result.run_id,
            "run_owner": owner,
            "engine": result.engine,
            "ended_at": now,
            "verdict": str(result.verdict),
            "result_json": result_json,
            "result_bytes": len(result_json),
        }
        return bool(self.connection.execute(_FINISH, values).rowcount)

    def request_cancel(self, principal: str, run_id: str) -> None:
        is_run = (runs.c.id == run_id) & (runs.c.principal == principal)
        self.connection.execute(update(runs).where(is_run, _IS_RUNNING).values(cancel_requested=True))

    def cancel_requests(self) -> Sequence[str]:
        is_requested = (runs.c.owner == self.process.name) & (runs.c.cancel_requested == true())
        return self.connection.scalars(select(runs.c.id).where(is_requested, _IS_RUNNING)).all()

    def dead_owners(self) -> Sequence[str]:
        """Return the processes that have died before their runs ended."""
        owners = self.connection.scalars(select(runs.c.owner).where(_IS_RUNNING).distinct()).all()
        return [name for name in owners if not self.process.is_alive(name)]

    def mark_lost(self) -> Sequence[str]:
        """Give the runs of dead processes the verdict `lost`. Returns their ids."""
        rows = self.connection.execute(select(runs).where(_IS_RUNNING, runs.c.owner.in_(self.dead_owners()))).all()
        now = time.time()
        for row in rows:
            output_bytes = len(row.stdout_so_far + row.stderr_so_far)
            result = RunResult(
                run_id=row.id,
                verdict=Verdict.LOST,
                language=row.language,
                engine=row.engine,
                engine_reason=None,
                usage=Usage(max(0.0, round(now - row.started_at, 6)), output_bytes=output_bytes),
                stdout=row.stdout_so_far,
                stderr=row.stderr_so_far,
                error=RunError("HostError", LOST),
                definition=row.definition,
                connection=row.connection,
            )
            self.finish(result, result.to_json(), row.owner, now)
        return [row.id for row in rows]

    def get(self, principal: str | Everyone, run_id: str) -> StoredRun | None:
        query = _select(principal, "code", "stdout_so_far", "stderr_so_far", "cancel_requested", "result_json")
        row = self.connection.execute(query.where(runs.c.id == run_id)).one_or_none()
        if row is None:
            return None
        calls = tuple(_call(intent, outcome) for intent, outcome in calls_of(self.connection, run_id))
        result = None if row.result_json is None else {**_parse_result(row.result_json), "calls": list(calls)}
        values: list[Any] = [*row[:-1], calls, result]
        return StoredRun(*values)

    def is_running(self, principal: str, run_id: str) -> bool:
        is_run = (runs.c.id == run_id) & (runs.c.principal == principal)
        return self.connection.scalar(select(runs.c.id).where(is_run, _IS_RUNNING)) is not None

    def list(
        self,
        principal: str | Everyone,
        limit: int,
        before: str | None,
        filters: RunFilters,
    ) -> Summaries:
        """Return runs that are older than the run `before`, newest first. `filters` are for columns."""
        query = _select(principal).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
        for name, value in filters.items():
            if value is not None:
                query = query.where(_condition(name, value))
        if before is not None:
            last = self.connection.execute(_select(principal).where(runs.c.id == before)).one_or_none()
            if last is None:
                raise RequestError(f"there is no run {before!r}; pass the last run_id of the previous page")
            is_same_time = (runs.c.started_at == last.started_at) & (runs.c.id < before)
            query = query.where((runs.c.started_at < last.started_at) | is_same_time)
        return [RunSummary(*row) for row in self.connection.execute(query)]


def _condition(name: str, value: object) -> ColumnElement[bool]:
    """Return the condition of one of the filters."""
    if (name, value) == ("verdict", RUNNING):
        return _IS_RUNNING
    if name == "started_after":
        return runs.c.started_at > value
    return runs.c.started_at < value if name == "started_before" else runs.c[name] == value


def _select(principal: str | Everyone, *more: str) -> Select[Any]:
    """Select the columns of a `RunSummary`, in its order, and `more`, of the principal's runs."""
    names = [column.name for column in fields(RunSummary)][:-1]
    beginning = func.substr(runs.c.code, 1, BEGINNING_CHARACTERS)
    query = select(*(runs.c[name] for name in names), beginning, *(runs.c[name] for name in more))
    return query if principal is EVERYONE else query.where(runs.c.principal == principal)


def _call(intent: Intent, outcome: Outcome | None) -> dict[str, Any]:
    """Return a call of the journal in the form that results have."""
    try:
        arguments = json.loads(intent.arguments_json)
    except (ValueError, RecursionError):
        arguments = {}
    return {
        "id": intent.number,
        "tool": intent.tool,
        "arguments": arguments,
        "status": None if outcome is None else outcome.status,
        "milliseconds": None if outcome is None else outcome.milliseconds,
    }


def _digest(run_id: str, fingerprint: str) -> str:
    """Return the stored form of a fingerprint. It includes the run's id, so that equal requests look different."""
    return hashlib.sha256(f"{run_id} {fingerprint}".encode()).hexdigest() if fingerprint else ""


def _parse_result(text: str) -> dict[str, Any]:
    """Return a stored result without decoding the script's value, which may take a second and forty times its size."""
    import msgspec

    with damage_found():
        try:
            parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        except msgspec.DecodeError:  # half a surrogate pair, perhaps: only Python's parser accepts one
            values = json.loads(text)
            return {**values, "output": msgspec.Raw(json.dumps(values["output"]).encode())}
        output = parts.pop("output")
        return {**{name: json.loads(bytes(part)) for name, part in parts.items()}, "output": output}
