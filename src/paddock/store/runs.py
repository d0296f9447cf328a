"""Runs on disk: written when they begin and when they end, off the path of the run itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from paddock.errors import RequestError
from paddock.store.calls import calls_of, stored_text
from paddock.store.run_records import (
    EVERYONE,
    GOING_ON,
    Everyone,
    NewRun,
    RunLine,
    StoredRun,
    call_of,
    digest,
    with_calls,
)
from paddock.store.so_far import SoFar

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.model.result import RunResult
    from paddock.store.owners import Owner
    from paddock.store.reader import Read
    from paddock.store.writer import Writer

Lines = list[RunLine]  # inside the class, `list` is its own
Ids = list[str]

KEY_CHARACTERS = 255
BEGINNING_CHARACTERS = 200
MOST_LISTED = 1000


class StoredRuns:
    """The runs of every principal; each sees its own alone."""

    def __init__(self, writer: Writer, read: Read, owner: Owner) -> None:
        self._writer, self._read, self._owner = writer, read, owner
        self._so_far = SoFar(self._write_so_far)

    async def begin(self, run: NewRun) -> StoredRun | None:
        """Write down that `run` begins, without a wait. With an idempotency key: wait, and look for an earlier one.

        The earlier run of that key comes back, and nothing is written. Where it was for another request: RequestError.
        """
        if run.idempotency_key is not None and not 0 < len(run.idempotency_key) <= KEY_CHARACTERS:
            raise RequestError(f"an idempotency_key has 1 to {KEY_CHARACTERS} characters")
        now = time.time()

        def work(connection: sqlalchemy.Connection) -> str | None:
            from paddock.store.statements import begin

            earlier = _earlier(connection, run)
            if earlier is None:
                begin().execute(connection, self._begun(run, now))
            return earlier

        if run.idempotency_key is None:
            self._so_far.begin(run, now, await self._writer.soon(work, size_bytes=len(run.code)))
        elif (earlier := await self._writer.write(work)) is None:
            self._so_far.begin(run, now)
        else:
            return await self.get(run.principal, earlier)
        return None

    def printed(self, run_id: str, stream: str, text: str) -> None:
        """Note what a run that goes on has printed. It is written within half a second, and never waited for."""
        self._so_far.add(run_id, stream, text)

    async def finish(self, run_id: str, result: RunResult) -> None:
        """Write down how a run ended, without a wait."""
        begun, ended_at = self._so_far.end(run_id), time.time()
        new = None if begun is None else begun.new
        size = len(result.stdout) + len(result.stderr) + len(result.output_json or "")

        def ended() -> dict[str, Any]:
            text = result_json(result, new)
            return {
                "of_run": run_id,
                "engine": result.engine,
                "ended_at": ended_at,
                "verdict": str(result.verdict),
                "result_json": text,
                "result_bytes": len(text),
            }

        def work(connection: sqlalchemy.Connection) -> None:
            from paddock.store.statements import finish

            finish().execute(connection, ended())

        if begun is None or begun.item is None:
            await self._writer.soon(work, size_bytes=size)
            return
        whole = partial(self._record, begun.new, begun.at, ended)
        if not self._writer.instead_of(begun.item, whole, size_bytes=size + len(begun.new.code)):
            await self._writer.soon(work, size_bytes=size)

    async def get(self, principal: str | Everyone, run_id: str) -> StoredRun | None:
        """A run with its calls, and with all that it has printed until now; None where `principal` has none such."""
        self._so_far.flush(run_id)
        return await self._read(lambda connection: _get(connection, principal, run_id))

    async def find(self, principal: str, idempotency_key: str) -> StoredRun | None:
        """The run that was begun with that key."""
        found = await self._read(lambda connection: _of_key(connection, principal, idempotency_key))
        return None if found is None else await self.get(principal, found[0])

    async def list(
        self,
        principal: str | Everyone,
        *,
        limit: int = 50,
        before: str | None = None,
        verdict: str | None = None,
        definition: str | None = None,
        session: str | None = None,
    ) -> Lines:
        """The newest runs first. `before` is the last id of the list before; `verdict` may be "running"."""
        wanted = {"verdict": verdict, "definition": definition, "session": session}
        most = max(0, min(limit, MOST_LISTED))
        return await self._read(lambda connection: _listed(connection, principal, most, before, wanted))

    async def mark_lost(self) -> Ids:
        """End every run whose process has died; their ids. For a server's start."""
        from paddock.store.lost import mark_lost

        return await self._writer.write(lambda connection: mark_lost(connection, self._owner))

    def _record(
        self, run: NewRun, at: float, ended: Callable[[], dict[str, Any]], connection: sqlalchemy.Connection
    ) -> None:
        """Write down a run that has ended before it was written that it began."""
        from paddock.store.statements import record

        values = {**ended(), **self._begun(run, at)}
        record().execute(connection, {**values, "code_bytes": len(values["code"].encode())})

    def _begun(self, run: NewRun, at: float) -> dict[str, Any]:
        """In the writer's thread: what is stored of a run that begins."""
        code = run.code if run.redact is None else str(run.redact(run.code))
        return {
            "id": run.id,
            "principal": run.principal,
            "session": run.session,
            "definition": run.definition,
            "idempotency_key": run.idempotency_key,
            "request_digest": digest(run.id, run.fingerprint),
            "language": run.language,
            "owner": self._owner.hold(),
            "started_at": at,
            "size_bytes": len(code),
            "code": stored_text(code),
        }

    def _write_so_far(self, run_id: str, streams: dict[str, str]) -> None:
        values = {"of_run": run_id, **{name: stored_text(text) for name, text in streams.items()}}

        def work(connection: sqlalchemy.Connection) -> None:
            from paddock.store.statements import so_far

            so_far().execute(connection, values)

        self._writer.later(work, size_bytes=sum(map(len, streams.values())))


def _earlier(connection: sqlalchemy.Connection, run: NewRun) -> str | None:
    """The run of the same principal and key, which must have been for the same request."""
    found = None if run.idempotency_key is None else _of_key(connection, run.principal, run.idempotency_key)
    if found is None:
        return None
    run_id, known_digest = found
    if known_digest != digest(run_id, run.fingerprint):
        raise RequestError(
            f"the idempotency_key {run.idempotency_key!r} was used for another request; "
            "give each request a key of its own, and use it again only to repeat that request"
        )
    return run_id


def result_json(result: RunResult, new: NewRun | None) -> str:
    """A result as it is kept: without secrets, where the run was begun with what takes them out."""
    result = replace(result, calls=())  # they are in the journal, without secrets
    if new is not None and new.redact_json is not None:
        return new.redact_json(result.to_json()) or new.redact_json(replace(result, output_json=None).to_json())
    if new is None or new.redact is None:
        return result.to_json()
    try:
        return json.dumps(new.redact(result.to_dict()))
    except (ValueError, RecursionError):  # a value that this Python cannot hold: better none than one unread
        return json.dumps(new.redact(replace(result, output_json=None).to_dict()))


def _of_key(connection: sqlalchemy.Connection, principal: str, key: str) -> tuple[str, str] | None:
    """The id and the digest of the run that was begun with that key."""
    from sqlalchemy import select

    from paddock.store.tables import runs

    is_wanted = (runs.c.principal == principal) & (runs.c.idempotency_key == key)
    row = connection.execute(select(runs.c.id, runs.c.request_digest).where(is_wanted)).one_or_none()
    return None if row is None else (row.id, row.request_digest)


def _line_columns() -> list[sqlalchemy.ColumnElement[Any]]:
    from sqlalchemy import func

    from paddock.store.tables import runs

    names = ("id", "principal", "session", "definition", "language", "engine", "started_at", "ended_at", "verdict")
    return [*(runs.c[name] for name in names), func.substr(runs.c.code, 1, BEGINNING_CHARACTERS).label("beginning")]


def _get(connection: sqlalchemy.Connection, principal: str | Everyone, run_id: str) -> StoredRun | None:
    from sqlalchemy import select

    from paddock.store.tables import runs

    long = (runs.c.code, runs.c.idempotency_key, runs.c.stdout_so_far, runs.c.stderr_so_far, runs.c.result_json)
    found = select(*_line_columns(), *long).where(runs.c.id == run_id)
    if principal is not EVERYONE:
        found = found.where(runs.c.principal == principal)
    row = connection.execute(found).mappings().one_or_none()
    if row is None:
        return None
    calls = tuple(call_of(intent, outcome) for intent, outcome in calls_of(connection, run_id))
    text = row["result_json"]
    return StoredRun(**{**row, "calls": calls, "result_json": None if text is None else with_calls(text, calls)})


def _listed(
    connection: sqlalchemy.Connection,
    principal: str | Everyone,
    limit: int,
    before: str | None,
    wanted: dict[str, str | None],
) -> list[RunLine]:
    from sqlalchemy import and_, or_, select

    from paddock.store.tables import runs

    found = select(*_line_columns()).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
    if principal is not EVERYONE:
        found = found.where(runs.c.principal == principal)
    for name, value in wanted.items():
        if (name, value) == ("verdict", GOING_ON):
            found = found.where(runs.c.verdict.is_(None))
        elif value is not None:
            found = found.where(runs.c[name] == value)
    if before is not None:
        last = _get(connection, principal, before)
        if last is None:
            raise RequestError(f"there is no run {before!r} to list those before it")
        is_earlier = runs.c.started_at < last.started_at
        found = found.where(or_(is_earlier, and_(runs.c.started_at == last.started_at, runs.c.id < before)))
    return [RunLine(*row) for row in connection.execute(found)]
