"""Runs in the database. A run is written when it begins and when it ends, usually without waiting for the write."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from paddock.errors import BadInput, RequestError, StoreError
from paddock.model.result import RunError, RunResult, Usage, Verdict
from paddock.store.journal import calls_of, parse_stored, stored_text
from paddock.store.process_lock import ProcessLock

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.model.journal import Intent, Outcome
    from paddock.model.request import Request
    from paddock.store.database import Store

T = TypeVar("T")
KEY_CHARACTERS = 255
BEGINNING_CHARACTERS = 200
LIST_LIMIT = 1000
LIVE_SECONDS = 0.5
"""Time between two writes of a run's live output."""
LIVE_CHARACTERS = 64 * 1024
"""How much of the end of each stream is stored during a run. The result contains the whole output."""
RUNNING = "running"
"""Shown instead of a verdict while a run is in progress."""
LOST = (
    "the process that ran it ended before the run did; the listed calls were made or started, "
    "so check their effects before you run it again"
)
_log = logging.getLogger("paddock.store")


class Everyone(Enum):
    """Used instead of a principal to mean all principals. For the owner of the file, never for a server's callers."""

    EVERYONE = "everyone"


EVERYONE = Everyone.EVERYONE


class Redactor(Protocol):
    """Removes secrets. `Paddock` implements it."""

    def redact(self, value: Any) -> Any: ...

    def redact_json(self, text: str) -> str:
        """Remove secrets from JSON text. Returns an empty string if it may hold one and cannot be parsed."""
        ...


@dataclass(frozen=True, slots=True)
class NewRun:
    """The stored part of a request. Inputs and attached files are not stored, only hashed in `fingerprint`."""

    id: str
    principal: str
    code: str
    language: str
    session: str | None = None
    definition: str | None = None
    idempotency_key: str | None = None
    fingerprint: str = ""  # tells whether a repeated key belongs to the same request
    redactor: Redactor | None = None  # removes secrets from code, output and result before they are written


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as lists show it."""

    id: str
    principal: str
    session: str | None
    definition: str | None
    language: str
    engine: str | None
    started_at: float
    ended_at: float | None
    verdict: str | None  # None while the run is in progress
    beginning: str  # the first characters of the code

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON values."""
        names = ("principal", "session", "definition", "language", "engine", "started_at", "ended_at")
        values = {name: getattr(self, name) for name in names}
        return {"run_id": self.id, "verdict": self.verdict or RUNNING, **values}


@dataclass(frozen=True, slots=True)
class StoredRun(RunSummary):
    """A run with everything that is stored. While it is in progress it has live output and no result."""

    code: str
    live_stdout: str
    live_stderr: str
    cancel_requested: bool  # whether another process asked to end the run
    calls: tuple[Mapping[str, Any], ...]  # as in a result; the status of a call without an outcome is None
    result: Mapping[str, Any] | None  # as `RunResult.to_dict` returns it

    def to_dict(self) -> dict[str, Any]:
        values = {**RunSummary.to_dict(self), "code": self.code}
        if self.result is None:
            values |= {"stdout": self.live_stdout, "stderr": self.live_stderr, "calls": list(self.calls)}
        return {**values, "result": self.result}


@dataclass(slots=True)
class _Running:
    """A run of this process that is in progress, with the end of its output."""

    new: NewRun
    live_output: dict[str, str] = field(default_factory=lambda: {"stdout": "", "stderr": ""})
    timer: asyncio.TimerHandle | None = None  # set while some output is not written yet


Summaries = list[RunSummary]  # inside the class, `list` means its method


class StoredRuns:
    """The runs of every principal; each sees only its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.process = ProcessLock(store.path.with_name(f"{store.path.name}.owners"))
        self._running: dict[str, _Running] = {}

    async def begin(self, run: NewRun) -> StoredRun | None:
        """Record that `run` begins. Waits for the write if it has an idempotency key, or if the store may be broken.

        If the principal already has a run with that key, returns that run and writes nothing. Raises RequestError if
        that run was for another request.
        """
        key, now = run.idempotency_key, time.time()
        if key is not None and not 0 < len(key) <= KEY_CHARACTERS:
            raise RequestError(f"an idempotency_key has 1 to {KEY_CHARACTERS} characters")
        if key is not None and stored_text(key) != key:
            raise RequestError("the idempotency_key is not valid Unicode: it contains a lone surrogate")

        def work(connection: sqlalchemy.Connection) -> str | None:
            return _begin(connection, run, self.process.hold(), now)

        if key is None and self._store.is_working:
            await self._store.writer.put(work, size_bytes=len(run.code))
        else:
            try:
                earlier = await self._store.writer.write(work)
            except BaseException:  # this run will not start, but it may still be written: remove it again
                with suppress(StoreError):
                    self._store.writer.put_nowait(lambda connection: _forget(connection, run.id))
                raise
            if earlier is not None:
                return await self.get(run.principal, earlier)
        self._running[run.id] = _Running(run)
        return None

    def add_output(self, run_id: str, stream: str, text: str) -> None:
        """Add to the live output of a run. It is written in the background within half a second."""
        run = self._running.get(run_id)
        if run is None:
            return
        run.live_output[stream] = (run.live_output[stream] + text)[-LIVE_CHARACTERS:]
        if run.timer is None:
            run.timer = asyncio.get_running_loop().call_later(LIVE_SECONDS, self._write_output, run_id)

    async def finish(self, run_id: str, result: RunResult, progress: Mapping[str, Any] | None = None) -> None:
        """Queue a write of the result of a run, and of the progress that it reported last."""
        run, now = self._running.pop(run_id, None), time.time()
        if run is not None and run.timer is not None:
            run.timer.cancel()

        def work(connection: sqlalchemy.Connection) -> None:
            result_json = _result_json(result, None if run is None else run.new.redactor, progress)
            if not _finish(connection, result, result_json, now, self.process.name):
                _log.warning("the result of run %s was not stored: it is no longer a run of this process", run_id)

        size = len(result.stdout) + len(result.stderr) + len(result.output_json or "")
        await self._store.writer.put(work, size_bytes=size)

    async def get(self, principal: str | Everyone, run_id: str) -> StoredRun | None:
        """Return a run with its calls and its output so far; None if the principal has no such run."""
        self._write_output(run_id)
        return await self._read(lambda connection: _get(connection, principal, stored_text(run_id)))

    async def list(
        self,
        principal: str | Everyone,
        *,
        limit: int = 50,
        before: str | None = None,
        verdict: str | None = None,
        definition: str | None = None,
        session: str | None = None,
    ) -> Summaries:
        """List runs, newest first. `before` is the last id of the previous page; `verdict` may be "running"."""
        filters = {"verdict": verdict, "definition": definition, "session": session}
        limit = max(0, min(limit, LIST_LIMIT))
        return await self._read(lambda connection: _list(connection, principal, limit, before, filters))

    async def request_cancel(self, principal: str, run_id: str) -> None:
        """Ask the process that owns a run to end it."""

        def work(connection: sqlalchemy.Connection) -> None:
            from paddock.store.tables import runs, sa

            is_running = (runs.c.id == run_id) & (runs.c.principal == principal) & runs.c.verdict.is_(None)
            connection.execute(sa.update(runs).where(is_running).values(cancel_requested=True))

        await self._store.writer.write(work)

    async def cancel_requests(self) -> Sequence[str]:
        """Return the ids of this process's runs that another process wants to end."""

        def work(connection: sqlalchemy.Connection) -> Sequence[str]:
            from paddock.store.tables import runs, sa

            is_own = (runs.c.owner == self.process.name) & runs.c.verdict.is_(None)
            return connection.scalars(sa.select(runs.c.id).where(is_own, runs.c.cancel_requested == sa.true())).all()

        return await self._store.read(work)

    async def mark_lost(self) -> list[str]:  # type: ignore[valid-type]
        """Give the verdict `lost` to every run whose process has died. Returns the ids of these runs."""
        return await self._store.writer.write(lambda connection: _mark_lost(connection, self.process))

    async def _read(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        """Mark the runs of dead processes as `lost`, then read."""

        def check(connection: sqlalchemy.Connection) -> tuple[bool, T]:
            return bool(_dead_owners(connection, self.process)), work(connection)

        has_dead, value = await self._store.read(check)
        if has_dead:
            with suppress(StoreError):  # what is stored can be read even if nothing can be written
                await self._store.writer.write(lambda connection: _mark_lost(connection, self.process))
                _, value = await self._store.read(check)
        return value

    def _write_output(self, run_id: str) -> None:
        """Queue the live output that is not written yet."""
        run = self._running.get(run_id)
        if run is None or run.timer is None:
            return
        run.timer.cancel()
        run.timer = None
        redactor = run.new.redactor
        output = dict(run.live_output) if redactor is None else redactor.redact(run.live_output)
        values = {f"{name}_so_far": stored_text(text) for name, text in output.items()}

        def work(connection: sqlalchemy.Connection) -> None:
            from paddock.store.tables import runs, sa

            connection.execute(sa.update(runs).where(runs.c.id == run_id, runs.c.verdict.is_(None)).values(values))

        try:
            self._store.writer.put_nowait(work, size_bytes=sum(map(len, values.values())))
        except StoreError:
            return  # the queue is full or the store closed; the result will have the whole output


def fingerprint(request: Request) -> str:
    """Return a digest that is equal for equal requests. Takes a second per GB of attached files."""
    files = [
        [file.file_name, file.file_type, file.element_id, hashlib.sha256(file.content).hexdigest()]
        for file in request.files
    ]
    limits = request.limits if isinstance(request.limits, Mapping | None) else request.limits.to_dict()
    values = {
        "inputs": dict(request.inputs or {}),
        "files": files,
        "tools": None if request.tools is None else list(request.tools),
        "limits": dict(limits or {}),
        "argv": list(request.argv),
        "refused_modules": list(request.refused_modules),
    }
    parts = {part.name: values.get(part.name, getattr(request, part.name)) for part in fields(request)}
    try:
        text = json.dumps(parts, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadInput(f"the request is not JSON: {problem}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(run_id: str, fingerprint: str) -> str:
    """Return the stored form of a fingerprint. It includes the run's id, so that equal requests look different."""
    return hashlib.sha256(f"{run_id} {fingerprint}".encode()).hexdigest() if fingerprint else ""


def _begin(connection: sqlalchemy.Connection, run: NewRun, owner: str, now: float) -> str | None:
    """Insert `run`, or return the id of the earlier run with the same idempotency key."""
    from paddock.store.tables import runs, sa

    if run.idempotency_key is not None:
        is_same_key = (runs.c.principal == run.principal) & (runs.c.idempotency_key == run.idempotency_key)
        earlier = connection.execute(sa.select(runs.c.id, runs.c.request_digest).where(is_same_key)).one_or_none()
        if earlier is not None and earlier.request_digest != _digest(earlier.id, run.fingerprint):
            raise RequestError(
                f"the idempotency_key {run.idempotency_key!r} was used for another request; "
                "use a different key for each request, and reuse a key only to repeat that request"
            )
        if earlier is not None:
            return str(earlier.id)
    code = stored_text(run.code if run.redactor is None else str(run.redactor.redact(run.code)))
    names = ("id", "principal", "session", "definition", "idempotency_key", "language")
    values = {
        **{name: getattr(run, name) for name in names},
        "request_digest": _digest(run.id, run.fingerprint),
        "owner": owner,
        "started_at": now,
        "size_bytes": len(code.encode()),
        "code": code,
    }
    connection.execute(sa.insert(runs), values)
    return None


def _forget(connection: sqlalchemy.Connection, run_id: str) -> None:
    from paddock.store.tables import runs, sa

    connection.execute(sa.delete(runs).where(runs.c.id == run_id))


def _finish(connection: sqlalchemy.Connection, result: RunResult, result_json: str, now: float, owner: str) -> bool:
    """Write how a run of `owner` ended. Returns False if `owner` has no such run in progress."""
    from paddock.store.tables import calls, runs, sa

    call_bytes = sa.select(sa.func.coalesce(sa.func.sum(calls.c.size_bytes), 0)).where(calls.c.run_id == result.run_id)
    values = {
        "engine": result.engine,
        "ended_at": now,
        "verdict": str(result.verdict),
        "result_json": result_json,
        "size_bytes": runs.c.size_bytes + len(result_json) + call_bytes.scalar_subquery(),
        "stdout_so_far": "",
        "stderr_so_far": "",
    }
    is_own = (runs.c.id == result.run_id) & (runs.c.owner == owner) & runs.c.verdict.is_(None)
    return bool(connection.execute(sa.update(runs).where(is_own).values(values)).rowcount)


def _result_json(result: RunResult, redactor: Redactor | None, progress: Mapping[str, Any] | None) -> str:
    """Return the result in its stored form, with `progress`, and without calls, because the journal has them."""

    def encode(result: RunResult) -> str:
        text = result.to_json()
        return text if progress is None else f'{text[:-1]},"progress":{json.dumps(progress)}}}'

    result = replace(result, calls=())
    if redactor is None:
        return encode(result)
    # A value that cannot be searched for secrets is not stored.
    return redactor.redact_json(encode(result)) or redactor.redact_json(encode(replace(result, output_json=None)))


def _dead_owners(connection: sqlalchemy.Connection, process: ProcessLock) -> list[str]:
    """Return the processes that have died before their runs ended."""
    from paddock.store.tables import runs, sa

    owners = connection.scalars(sa.select(runs.c.owner).where(runs.c.verdict.is_(None)).distinct()).all()
    return [name for name in owners if not process.is_alive(name)]


def _mark_lost(connection: sqlalchemy.Connection, process: ProcessLock) -> list[str]:
    from paddock.store.tables import runs, sa

    is_lost = runs.c.verdict.is_(None) & runs.c.owner.in_(_dead_owners(connection, process))
    rows = connection.execute(sa.select(runs).where(is_lost)).all()
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
            session=row.session,
        )
        _finish(connection, result, result.to_json(), now, row.owner)
    return [row.id for row in rows]


def _select(principal: str | Everyone, *more: str) -> sqlalchemy.Select[Any]:
    """Select the columns of a `RunSummary`, in its order, and `more`, of the principal's runs."""
    from paddock.store.tables import runs, sa

    names = [column.name for column in fields(RunSummary)][:-1]
    beginning = sa.func.substr(runs.c.code, 1, BEGINNING_CHARACTERS)
    query = sa.select(*(runs.c[name] for name in names), beginning, *(runs.c[name] for name in more))
    return query if principal is EVERYONE else query.where(runs.c.principal == principal)


def _get(connection: sqlalchemy.Connection, principal: str | Everyone, run_id: str) -> StoredRun | None:
    from paddock.store.tables import runs

    query = _select(principal, "code", "stdout_so_far", "stderr_so_far", "cancel_requested", "result_json")
    row = connection.execute(query.where(runs.c.id == run_id)).one_or_none()
    if row is None:
        return None
    calls = tuple(_call(intent, outcome) for intent, outcome in calls_of(connection, run_id))
    result = None if row.result_json is None else {**parse_stored(row.result_json), "calls": list(calls)}
    values: list[Any] = [*row[:-1], calls, result]
    return StoredRun(*values)


def _list(
    connection: sqlalchemy.Connection,
    principal: str | Everyone,
    limit: int,
    before: str | None,
    filters: Mapping[str, str | None],
) -> list[RunSummary]:
    from paddock.store.tables import runs

    query = _select(principal).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
    for name, value in filters.items():
        if (name, value) == ("verdict", RUNNING):
            query = query.where(runs.c.verdict.is_(None))
        elif value is not None:
            query = query.where(runs.c[name] == value)
    if before is not None:
        last = connection.execute(_select(principal).where(runs.c.id == before)).one_or_none()
        if last is None:
            raise RequestError(f"there is no run {before!r}; pass the last run_id of the previous page")
        is_same_time = (runs.c.started_at == last.started_at) & (runs.c.id < before)
        query = query.where((runs.c.started_at < last.started_at) | is_same_time)
    return [RunSummary(*row) for row in connection.execute(query)]


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
