"""The runs of a server: create a run, wait for it or detach it, get it, cancel it. Nothing here knows about MCP.

run = await create_run(services, caller, definition, request)
result = await run.execute()  # or run.detach(), and get_run later
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from paddock.definitions.faces import FaceRequest, Overflow, cut_middle, native
from paddock.errors import NotFound, Overloaded, PaddockError, RequestError, StoreError
from paddock.model import envelope
from paddock.model.artifacts import Artifact
from paddock.model.events import Event, Output, Progress
from paddock.model.network import NO_NETWORK, NONE, NetworkPolicy, grant, parse_policy
from paddock.model.request import Request, RunContext
from paddock.model.result import Connection, RunError, RunResult, SessionState, Verdict
from paddock.record import new_run_id, unfinished_result
from paddock.server import logs, session_tools
from paddock.server.allowances import PrincipalCalls
from paddock.server.artifacts import add_files, failure, read_artifact
from paddock.server.services import CANCELLED, WATCH_SECONDS
from paddock.server.sessions import Caller, ignore_progress
from paddock.store.runs import RUNNING, NewRun, StoredRun, fingerprint
from paddock.uncancelled import uncancelled

if TYPE_CHECKING:
    from paddock.definitions.definition import Definition
    from paddock.server.run_queue import Slot
    from paddock.server.services import Services

ITEM_CHARACTERS = 256 * 1024
"""How much JSON is decoded at once to unescape its characters."""
QUEUED = "queued"
"""Shown instead of a verdict while a run waits for its turn."""
CANCEL_SECONDS = 5.0
"""How long `cancel_run` waits until another server has ended its run."""
STILL_RUNNING_SECONDS = 10.0
"""How often a silent run is reported as still running: clients give up on a call that reports nothing."""
MAX_PENDING_REPORTS = 100
"""A script may report progress faster than its client reads. Beyond this number, the oldest reports are dropped."""
CLIENT_CANCELLED = "the client cancelled the call or disconnected"
NOTHING_RUN = "Nothing was run. Wait for retry_after_seconds, then call again, and make fewer calls at once."
HOST_FAILED = RunError("HostError", "the host failed before the run ended; run it again")
log = logging.getLogger(__name__)


async def create_run(
    services: Services, caller: Caller, definition: Definition | None, request: FaceRequest
) -> Run | StoredRun:
    """Queue a run and store it. Returns the earlier run with the same idempotency key, if there is one.

    Raises Overloaded if the queue is full, or if the caller has started too many runs in the last minute. A detached
    request is checked here: nobody would see the error later.
    """
    services.check_open()
    request, allowed = await _limit_network(services, caller, definition, request)
    run_id = new_run_id()
    slot = services.queue.slot(run_id, caller.key)
    try:
        services.allowances.check_run(caller.key)
        connections = session_tools.check_connections(services, request.connections)
        digest = ""
        if request.detach or request.idempotency_key is not None:
            context = RunContext(run_id, principal=caller.principal, network=allowed)
            digest = await _check_with_files(services, caller, request, context)
        new = NewRun(
            run_id,
            caller.principal,
            request.code,
            request.options.get("language", "python"),
            connection=caller.owner.session,
            definition=None if definition is None else definition.name,
            idempotency_key=request.idempotency_key,
            fingerprint=digest,
            redactor=services.paddock,
        )
        # A client that has the id may ask another server for the run at once.
        earlier = await services.store.runs.begin(new, is_awaited=request.detach)
    except BaseException:
        slot.leave()
        raise
    if earlier is not None:
        slot.leave()
        return earlier
    return Run(services, slot, caller, definition, replace(request, connections=connections), allowed)


async def _check_with_files(services: Services, caller: Caller, request: FaceRequest, context: RunContext) -> str:
    """Check a detached request with its files. Returns the digest for its idempotency key, empty if it has none.

    These files are not kept, so that a waiting run does not hold them. They are read again when it starts. The files of
    one request of each caller are read at a time.
    """
    async with services.file_turns.setdefault(caller.key, asyncio.Lock()):
        complete = await add_files(services, caller, request)
        if request.detach:
            try:
                await services.paddock.validate(complete.code, context=context, **complete.options)
            except NotFound:  # the session to fork: a run that is queued or in progress may make it
                if not any(each.may_make(caller, complete.options.get("fork_from")) for each in services.runs.values()):
                    raise
        if request.idempotency_key is None:
            return ""
        return await asyncio.to_thread(fingerprint, Request(complete.code, **complete.options))


async def _limit_network(
    services: Services, caller: Caller, definition: Definition | None, request: FaceRequest
) -> tuple[FaceRequest, NetworkPolicy]:
    """Limit the network of a definition to what this machine can grant and the caller may have, which is returned too.

    Raises NetworkDenied if the caller itself asks for more.
    """
    default = NONE if definition is None else definition.default_network(is_loopback=services.is_loopback)
    allowed = services.config.network.allowed(caller.role, default)
    if request.options.get("network") is not None:
        grant(request.options["network"], allowed)
    if definition is None or definition.network is None or "network" in request.options:
        return request, allowed
    words = parse_policy(definition.network).capped(allowed).words()
    if words != NONE and await services.paddock.network_problem() is not None:
        words = NONE
    return replace(request, options={**request.options, "network": words}), allowed


async def get_run(services: Services, caller: Caller, run_id: str) -> dict[str, Any] | None:
    """Return a run as `summarize` shows it, or None if the caller has no such run."""

    async def show() -> dict[str, Any] | None:
        run = await services.store.runs.get(caller.principal, run_id)
        return None if run is None else await summarize(services, caller, run)

    return await services.in_turn(caller, show, of="results")


async def cancel_run(services: Services, caller: Caller, run_id: str) -> dict[str, Any] | None:
    """End a run of this server or of another one. Returns the run as `get_run` does, once its result is stored."""
    if is_running := await services.store.runs.is_running(caller.principal, run_id):
        run = services.runs.get(run_id)
        if run is not None:
            run.end(CANCELLED)
            await run.has_ended.wait()
        else:
            await _cancel_elsewhere(services, caller.principal, run_id)
    summary = await get_run(services, caller, run_id)
    return summary if is_running or summary is None else {**summary, "hint": "The run had ended already."}


async def _cancel_elsewhere(services: Services, principal: str, run_id: str) -> None:
    await services.store.runs.request_cancel(principal, run_id)
    with suppress(TimeoutError):
        async with asyncio.timeout(CANCEL_SECONDS):
            await wait_elsewhere(services, principal, run_id, every_seconds=WATCH_SECONDS / 5)


async def wait_elsewhere(
    services: Services, principal: str, run_id: str, *, every_seconds: float = WATCH_SECONDS
) -> None:
    """Wait until a run of another server has ended. That server can be observed only through the store."""
    runs = services.store.runs
    while await runs.is_running(principal, run_id):  # noqa: ASYNC110
        await asyncio.sleep(every_seconds)


async def summarize(services: Services, caller: Caller, run: StoredRun) -> dict[str, Any]:
    """Return a stored run in the format of `run_code`. Before the run ends, return its state and its output so far."""
    values, result = run.to_values(), run.raw_result
    if result is None:
        state = pending_state(run.id, services.queue.position(run.id))
        if "position" not in state:
            size, where = services.config.server.answer_bytes, "the result will have them"
            state |= {name: cut_middle(values[name], size, where) for name in ("stdout", "stderr")}
        if run.id in services.runs and (progress := services.runs[run.id].reporter.progress()):
            state["progress"] = progress
        return {**state, "cancel_requested": True} if run.cancel_requested else state
    parts = {"output": bytes(result["output"]).decode(), "stdout": result["stdout"], "stderr": result["stderr"]}
    max_bytes = dict.fromkeys(parts, services.config.server.answer_bytes)
    overflows = await store_overflows(services, caller, run.id, parts, max_bytes, native.preview, is_repeat=True)
    result = result if "output" in overflows else await asyncio.to_thread(lambda: run.result) or {}
    return await asyncio.to_thread(native.summarize, result, overflows, services.config.caps)


def is_failure(summary: Mapping[str, Any]) -> bool:
    """Whether the summarized run has failed."""
    return summary["verdict"] not in (str(Verdict.OK), RUNNING, QUEUED)


def pending_state(run_id: str, position: int | None) -> dict[str, Any]:
    """Return the state of a run that has not ended, by its position in the queue."""
    state = {"verdict": RUNNING} if position is None else {"verdict": QUEUED, "position": position}
    return {"run_id": run_id, **state}


async def store_overflows(
    services: Services,
    caller: Caller,
    run_id: str,
    parts: Mapping[str, str],
    max_bytes: Mapping[str, int],
    preview: Callable[[str], str],
    *,
    is_repeat: bool = False,
    as_json: bool = False,
) -> dict[str, Overflow]:
    """Store each part of a run's result that has more than its `max_bytes` as an artifact.

    `preview` shortens a value, which is stored to be searched unless `as_json`. With `is_repeat`, reuse the artifacts
    that an earlier answer has stored.
    """
    overflows = {}
    for part, limit in max_bytes.items():
        text = parts[part]
        if len(text) * 4 <= limit or len(text.encode(errors="replace")) <= limit:
            continue
        artifact, text = await store_part(services, caller, run_id, part, text, is_repeat=is_repeat, as_json=as_json)
        if part != "output":
            where = "they could not be stored"
            if artifact is not None:
                where = f"the whole text is in the artifact {artifact.id}: use read_artifact"
            overflows[part] = Overflow(artifact, cut_middle(text, limit, where))
        elif artifact is not None:  # a value that cannot be stored is returned whole
            overflows[part] = Overflow(artifact, preview(text))
    return overflows


async def store_part(
    services: Services,
    caller: Caller,
    run_id: str,
    part: str,
    text: str,
    *,
    is_repeat: bool = False,
    as_json: bool = False,
) -> tuple[Artifact | None, str]:
    """Store a part of a run's result as an artifact, whose name contains the run's id. Return the stored text too."""
    name, mime_type = f"{part}-{run_id}.txt", "text/plain"
    if part == "output":
        suffix, mime_type = ("json", "application/json") if as_json or text[:1] != '"' else ("txt", mime_type)
        name = f"result-{run_id}.{suffix}"
        text = text if as_json else await asyncio.to_thread(_readable, text)
    if is_repeat:
        with suppress(PaddockError):
            stored = await services.artifacts.of(caller.owner, run_id).find(name)
            if stored is not None and stored.run_id == run_id:
                return stored.artifact, text
    return await services.store_artifact(caller, name, mime_type, text.encode(errors="replace"), run_id), text


def _readable(output_json: str) -> str:
    """A value as `read_artifact` can search it and read its lines: text as it is, a line for each item of a list."""
    import msgspec

    if output_json.startswith('"'):
        return str(json.loads(output_json))
    # Each item is decoded alone: all of a large list would take forty times its size, while no other thread runs.
    items: list[msgspec.Raw] = []
    with suppress(msgspec.DecodeError, RecursionError):  # no list, or half a surrogate pair in it
        items = msgspec.json.decode(output_json, type=list[msgspec.Raw])
    if items:
        return "[\n{}\n]".format(",\n".join(_readable_item(bytes(each).decode()) for each in items))
    return _readable_item(output_json)


def _readable_item(text: str) -> str:
    """Return JSON with its characters unescaped. Large JSON is returned as it is."""
    is_escaped = "\\" in text and len(text) <= ITEM_CHARACTERS
    return json.dumps(json.loads(text), ensure_ascii=False) if is_escaped else text


async def read_run_output(services: Services, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read what a run printed, or its value if it printed nothing. Each part is stored as an artifact."""
    run_id, scope = arguments["ref"], services.artifacts.of(caller.owner)
    run = None if await scope.find(run_id) else await services.store.runs.get(caller.principal, run_id)
    if run is None:
        return await read_artifact(scope, **arguments)
    result = run.raw_result
    if result is None:
        return failure(f"the run {run_id} has not ended", "get_run shows its output so far.")
    output = bytes(result["output"]).decode()
    output = "" if output == "null" else output
    parts = {"stdout": result["stdout"], "output": output, "stderr": result["stderr"]}
    stored = [await store_part(services, caller, run_id, *part, is_repeat=True) for part in parts.items() if part[1]]
    artifacts = [artifact for artifact, _ in stored if artifact is not None]
    if not artifacts:
        return failure(f"the run {run_id} printed and returned nothing", "get_run shows how it ended.")
    answer = await read_artifact(scope, **{**arguments, "ref": artifacts[0].id})
    more = [each.filename for each in artifacts[1:]]
    return {**answer, "hint": f"The run's other output: {', '.join(more)}."} if more else answer


class Run:
    """A run of this server that is stored and in the queue. Call either `execute` or `detach`, once."""

    def __init__(
        self,
        services: Services,
        slot: Slot,
        caller: Caller,
        definition: Definition | None,
        request: FaceRequest,
        network: NetworkPolicy = NO_NETWORK,
    ) -> None:
        self.id = slot.run_id
        self.has_ended = asyncio.Event()
        self._services, self._slot, self._caller = services, slot, caller
        self._definition, self._request = definition, request
        self._network = network  # what the caller may have at most
        self._stop = asyncio.timeout(None)
        self._ended_by: str | None = None
        self.reporter = ProgressReporter(
            replace(caller, report=ignore_progress) if request.detach else caller,
            partial(services.store.runs.add_output, self.id),
            partial(services.queue.position, self.id),
        )
        self._task: asyncio.Task[RunResult] | None = None

    @property
    def has_begun(self) -> bool:
        """Whether its turn has come."""
        return self._slot.started_at is not None

    def may_make(self, caller: Caller, session: str | None) -> bool:
        """Whether the run may create this session of the caller."""
        return self._caller.principal == caller.principal and self._request.options.get("session") == session

    def state(self) -> dict[str, Any]:
        """Return the run's id, and whether it is queued or running."""
        return pending_state(self.id, self._services.queue.position(self.id))

    def end(self, reason: str) -> None:
        """End the run. Its caller gets a result with the reason. `has_ended` is set once that result is stored.

        A run that has ended by itself keeps its result, which may not be stored yet.
        """
        if self._ended_by is None:
            with suppress(RuntimeError):  # `_stop` is over
                self._stop.reschedule(0)  # a deadline in the past makes `_execute` raise TimeoutError
                self._ended_by = reason

    def detach(self) -> None:
        """Execute the run in a background task, and log its failure."""

        def log_failure(task: asyncio.Task[RunResult]) -> None:
            if not task.cancelled() and (fault := task.exception()) is not None:
                self._services.log_fault(f"the detached run {self.id} failed: {type(fault).__name__}", fault)

        self._task = asyncio.create_task(self.execute())
        self._task.add_done_callback(log_failure)

    async def execute(self) -> RunResult:
        """Wait for the run's turn, run it to its end, and store its result, even if it was cancelled.

        Returns the result if the run ended by itself, or if the server ended it: then the verdict is `cancelled`.
        Raises CancelledError if the client cancelled the call, and PaddockError if the request is refused or the host
        fails.
        """
        self._services.runs[self.id] = self
        self._services.watch_cancellations()
        tokens = logs.principal.set(self._caller.principal), logs.run_id.set(self.id)
        try:
            with self._caller.memory:
                result = await self._execute()
                if self._ended_by is None:
                    await self.reporter.flush()
                return result
        finally:
            self.reporter.close()
            logs.principal.reset(tokens[0])
            logs.run_id.reset(tokens[1])
            del self._services.runs[self.id]
            self.has_ended.set()

    async def _execute(self) -> RunResult:
        services, request, reporter = self._services, self._request, self.reporter
        context = self._context()
        unfinished = partial(reporter.unfinished, context, request.options.get("language", "python"))
        result = None
        try:
            async with self._stop:
                await self._slot.wait()
                if services.metrics is not None:
                    services.metrics.run_waited(self._slot.waited_seconds)
                request = await add_files(services, self._caller, request)
                result = await services.paddock.follow(request.code, reporter, context=context, **request.options)
        except TimeoutError:
            if self._ended_by is None:
                raise
            result = await self._with_session(unfinished(Verdict.CANCELLED, RunError("Cancelled", self._ended_by)))
        except asyncio.CancelledError:
            result = await self._with_session(unfinished(Verdict.CANCELLED, RunError("Cancelled", CLIENT_CANCELLED)))
            raise
        except PaddockError as fault:
            # What is refused has not begun.
            verdict = Verdict.REJECTED if isinstance(fault, RequestError | Overloaded) else Verdict.LOST
            message, refusal = services.without_host_paths(str(fault)), None
            if isinstance(fault, Overloaded):
                name = "run" if self._definition is None else self._definition.name
                refusal = envelope.rate_limited(name, message, fault.retry_after_seconds, hints=[NOTHING_RUN])
            result = unfinished(verdict, RunError(type(fault).__name__, message, envelope=refusal))
            raise
        finally:
            try:
                ended = result or unfinished(Verdict.LOST, HOST_FAILED)
                self._note_end(ended)
                await uncancelled(self._store(ended))  # with its slot: results that wait to be stored take memory
            except StoreError as problem:  # the caller still gets the result
                services.log_fault(f"the result of run {self.id} could not be stored", problem)
            finally:
                self._slot.leave()
        return result

    async def _store(self, ended: RunResult) -> None:
        context = self._caller.context
        if context.values or context.connections:  # the script may have set them
            await self._services.record_session(self._caller)
        if self._request.options.get("session") is not None:
            await self._services.note_live_session(self._caller.principal)
        finish = self._services.store.runs.finish
        await finish(self.id, ended, self.reporter.progress(), has_begun=self.has_begun)

    async def _with_session(self, result: RunResult) -> RunResult:
        """The result of a cancelled run, with what became of its session."""
        name = self._request.options.get("session")
        if name is None:
            return result
        live = {each.name: each for each in await self._services.paddock.sessions(principal=self._caller.principal)}
        return replace(result, session=SessionState(name, live[name].cells if name in live else 0, name in live))

    def _note_end(self, result: RunResult) -> None:
        if self._services.metrics is not None:
            self._services.metrics.run_ended(result)
        seconds = result.usage.wall_seconds
        values = {"engine": result.engine, "verdict": str(result.verdict), "seconds": seconds}
        log.info("run %s: %s after %.3f s", self.id, result.verdict, seconds, extra=values)

    def _context(self) -> RunContext:
        services, caller, definition = self._services, self._caller, self._definition
        companions = () if definition is None else definition.companions
        values = caller.context.for_run(self._request.connections)
        return RunContext(
            self.id,
            services.artifacts.of(caller.owner, self.id),
            None if definition is None else definition.name,
            caller.owner.session,
            session_tools.script_tools(services, companions, values, caller.session),
            values,
            can_search=services.has_tools and any(each.startswith("discovery") for each in companions),
            principal=caller.principal,
            call_watch=PrincipalCalls(services, caller, self.id),
            engine_watch=self.reporter.note_engine,
            network=self._network,
            network_watch=self.reporter.note_network,
        )


class ProgressReporter:
    """Passes the output of one run to the store, and its progress to the caller, in order and without delaying the run.

    A run that reports no progress costs a timer and no task. Output and artifacts are also kept here, for the result of
    a run that is ended early.
    """

    def __init__(
        self, caller: Caller, on_output: Callable[[str, str], None], position: Callable[[], int | None] = lambda: None
    ) -> None:
        self._report, self._watch, self._on_output, self._position = caller.report, caller.watch, on_output, position
        self._output: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._artifacts: list[Artifact] = []
        self._progress: Progress | None = None
        self._engine: str | None = None
        self._network: tuple[Connection, ...] = ()
        self._pending: deque[Progress] = deque(maxlen=MAX_PENDING_REPORTS)
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._began_at = time.monotonic()
        self._timer = self._loop.call_later(STILL_RUNNING_SECONDS, self._still_running, STILL_RUNNING_SECONDS)
        if self._position() is not None:
            self._send(Progress(0.0, None, self._state(0.0)))

    def __call__(self, event: Event) -> None:
        if self._watch is not None:
            self._watch(event)
        if isinstance(event, Output):
            self._output[event.stream].append(event.text)
            self._on_output(event.stream, event.text)
        elif isinstance(event, Artifact):
            self._artifacts.append(event)
        elif isinstance(event, Progress):
            self._timer.cancel()  # the script reports its own progress
            self._progress = event
            self._send(event)

    def note_engine(self, name: str | None) -> None:
        self._engine = name

    def note_network(self, connections: tuple[Connection, ...]) -> None:
        self._network = connections

    def unfinished(self, context: RunContext, language: str, verdict: Verdict, error: RunError) -> RunResult:
        """Return a result for a run that was ended early, with what it has printed and created."""
        result = unfinished_result(
            context,
            language,
            verdict,
            error,
            stdout="".join(self._output["stdout"]),
            stderr="".join(self._output["stderr"]),
            artifacts=tuple(self._artifacts),
            wall_seconds=time.monotonic() - self._began_at,
        )
        return replace(result, engine=self._engine, network=self._network)

    def progress(self) -> dict[str, Any] | None:
        """Return what the script reported last."""
        progress = self._progress
        return None if progress is None else {name: value for name, value in asdict(progress).items() if value != ""}

    async def flush(self) -> None:
        """Wait until all pending reports are sent. The caller accepts none after the result."""
        self._timer.cancel()
        if self._task is not None:
            await self._task

    def close(self) -> None:
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _state(self, seconds: float) -> str:
        position = self._position()
        return f"still running after {seconds:g} s" if position is None else f"queued, position {position}"

    def _still_running(self, seconds: float) -> None:
        self._send(Progress(0.0, None, self._state(seconds)))  # not the seconds: the script may count from 1 to 3 later
        self._timer = self._loop.call_later(STILL_RUNNING_SECONDS, self._still_running, seconds + STILL_RUNNING_SECONDS)

    def _send(self, event: Progress) -> None:
        self._pending.append(event)
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._send_pending())

    async def _send_pending(self) -> None:
        while self._pending:
            event = self._pending.popleft()
            try:
                await self._report(event.done, event.total, event.message)
            except Exception as problem:  # noqa: BLE001  whatever the transport raises, the run goes on
                log.debug("progress could not be reported: %s", problem)
