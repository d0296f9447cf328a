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
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, Unpack
from weakref import WeakValueDictionary

from paddock.errors import BadInput, RequestError, StoreError
from paddock.model.result import RunResult
from paddock.store.journal import damage_found, stored_text
from paddock.store.process_lock import ProcessLock

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.model.request import Request
    from paddock.store.database import Store
    from paddock.store.run_records import RunRecords

T = TypeVar("T")
KEY_CHARACTERS = 255
LIST_LIMIT = 1000
LIVE_SECONDS = 0.5
"""Time between two writes of a run's live output."""
LIVE_CHARACTERS = 64 * 1024
"""How much of the end of each stream is stored during a run. The result contains the whole output."""
LARGE_BYTES = 64 * 1024
"""The writer's thread, for which all principals wait, does not search larger results for secrets."""
RUNNING = "running"
"""Shown instead of a verdict while a run is in progress."""
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
    connection: str | None = None
    definition: str | None = None
    idempotency_key: str | None = None
    fingerprint: str = ""  # tells whether a repeated key belongs to the same request
    redactor: Redactor | None = None  # removes secrets from code, output and result before they are written


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as lists show it."""

    id: str
    principal: str
    connection: str | None
    definition: str | None
    language: str
    engine: str | None
    started_at: float
    ended_at: float | None
    verdict: str | None  # None while the run is in progress
    beginning: str  # the first characters of the code

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON values."""
        names = ("principal", "connection", "definition", "language", "engine", "started_at", "ended_at")
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
    raw_result: Mapping[str, Any] | None  # as `RunResult.to_dict` returns it, but its `output` is a `msgspec.Raw`

    @property
    def result(self) -> Mapping[str, Any] | None:
        """The result as `RunResult.to_dict` returns it. While a large value is decoded, no other thread runs."""
        if self.raw_result is None:
            return None
        with damage_found():
            return {**self.raw_result, "output": json.loads(bytes(self.raw_result["output"]))}

    def to_dict(self) -> dict[str, Any]:
        return {**self.to_values(), "result": self.result}

    def to_values(self) -> dict[str, Any]:
        """Return the run as values for msgspec, without decoding the script's value."""
        values = {**RunSummary.to_dict(self), "code": self.code}
        if self.raw_result is None:
            values |= {"stdout": self.live_stdout, "stderr": self.live_stderr, "calls": list(self.calls)}
        return {**values, "result": self.raw_result}


class RunFilters(TypedDict, total=False):
    """Which runs to list. None means any."""

    verdict: str | None
    definition: str | None
    connection: str | None
    engine: str | None
    language: str | None
    started_after: float | None
    started_before: float | None


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
        self._encoding: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def begin(self, run: NewRun, *, is_awaited: bool = False) -> StoredRun | None:
        """Record that `run` begins. Waits for the write if that is asked for or the run has an idempotency key.

        It waits too if the store may be broken.
        If the principal already has a run with that key, returns that run and writes nothing. Raises RequestError if
        that run was for another request.
        """
        key, now = run.idempotency_key, time.time()
        if key is not None and not 0 < len(key) <= KEY_CHARACTERS:
            raise RequestError(f"an idempotency_key has 1 to {KEY_CHARACTERS} characters")
        if key is not None and stored_text(key) != key:
            raise RequestError("the idempotency_key is not valid Unicode: it contains a lone surrogate")

        work = self._with_records(lambda records: records.begin(run, now))
        if key is None and not is_awaited and self._store.is_working:
            await self._store.writer.put(work, size_bytes=len(run.code))
        else:
            try:
                earlier = await self._store.writer.write(work)
            except BaseException:  # this run will not start, but it may still be written: remove it again
                with suppress(StoreError):
                    self._store.writer.put_nowait(self._with_records(lambda records: records.forget(run.id)))
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

    async def finish(
        self, run_id: str, result: RunResult, progress: Mapping[str, Any] | None = None, *, has_begun: bool = True
    ) -> None:
        """Queue a write of the result of a run, and of the progress that it reported last.

        A run that has not begun gives its idempotency key back, so that its caller can try again.
        """
        run, now = self._running.pop(run_id, None), time.time()
        if run is not None and run.timer is not None:
            run.timer.cancel()

        encode = partial(_result_json, result, None if run is None else run.new.redactor, progress)
        size = len(result.stdout) + len(result.stderr) + len(result.output_json or "")

        async def put(encode: Callable[[], str]) -> None:
            def finish(records: RunRecords) -> None:
                if not records.finish(result, encode(), self.process.name, now):
                    _log.warning("the result of run %s was not stored: it is no longer a run of this process", run_id)
                if not has_begun:
                    records.release_key(run_id)

            await self._store.writer.put(self._with_records(finish), size_bytes=size)

        async def put_large() -> None:
            principal = "" if run is None else run.new.principal
            async with self._encoding.setdefault(principal, asyncio.Lock()):  # it takes a thread for seconds
                result_json = await asyncio.to_thread(encode)
            await put(lambda: result_json)

        # A caller that stops waiting does not prevent the write.
        await (asyncio.shield(put_large()) if size > LARGE_BYTES else put(encode))

    async def get(self, principal: str | Everyone, run_id: str) -> StoredRun | None:
        """Return a run with its calls and its output so far; None if the principal has no such run."""
        self._write_output(run_id)
        return await self._read(principal, lambda records: records.get(principal, stored_text(run_id)))

    async def is_running(self, principal: str, run_id: str) -> bool:
        """Whether the principal has this run, and it is in progress. Reads nothing else of it."""
        return await self._read(principal, lambda records: records.is_running(principal, stored_text(run_id)))

    async def list(
        self,
        principal: str | Everyone,
        *,
        limit: int = 50,
        before: str | None = None,
        **filters: Unpack[RunFilters],
    ) -> Summaries:
        """List runs, newest first. `before` is the last id of the previous page; `verdict` may be "running"."""
        limit = max(0, min(limit, LIST_LIMIT))
        return await self._read(principal, lambda records: records.list(principal, limit, before, filters))

    async def request_cancel(self, principal: str, run_id: str) -> None:
        """Ask the process that owns a run to end it."""
        await self._store.writer.write(self._with_records(lambda records: records.request_cancel(principal, run_id)))

    async def cancel_requests(self) -> Sequence[str]:
        """Return the ids of this process's runs that another process wants to end."""
        return await self._store.read(self._with_records(lambda records: records.cancel_requests()))

    async def mark_lost(self) -> Sequence[str]:
        """Give the verdict `lost` to every run whose process has died. Returns the ids of these runs."""
        return await self._store.writer.write(self._with_records(lambda records: records.mark_lost()))

    async def _read(self, principal: str | Everyone, query: Callable[[RunRecords], T]) -> T:
        """Mark the runs of dead processes as `lost`, then read."""
        work = self._with_records(lambda records: (records.dead_owners(), query(records)))
        reader = principal if isinstance(principal, str) else None
        dead, value = await self._store.read(work, principal=reader)
        if dead:
            with suppress(StoreError):  # what is stored can be read even if nothing can be written
                await self.mark_lost()
                _, value = await self._store.read(work, principal=reader)
        return value

    def _with_records(self, work: Callable[[RunRecords], T]) -> Callable[[sqlalchemy.Connection], T]:
        """Return `work` as the store's threads call it. They import SQLAlchemy, so that no caller waits for it."""

        def call(connection: sqlalchemy.Connection) -> T:
            from paddock.store.run_records import RunRecords

            return work(RunRecords(connection, self.process))

        return call

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

        work = self._with_records(lambda records: records.write_output(run_id, values))
        with suppress(StoreError):  # the queue is full or the store closed; the result will have the whole output
            self._store.writer.put_nowait(work, size_bytes=sum(map(len, values.values())))


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
