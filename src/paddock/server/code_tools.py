"""Turns definitions into tools. A call of such a tool is a run, which is stored and reports its progress.

arguments -> Face.parse -> FaceRequest -> Paddock.follow -> RunResult -> Face.render -> result
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.definitions.definition import Definition
from paddock.definitions.faces import FaceRequest, FaceResponse, HostInfo, face_of
from paddock.definitions.validation import parse_saved
from paddock.engines import registry
from paddock.errors import BadDefinition, HostError, Overloaded, PaddockError, RequestError, StoreError
from paddock.model import envelope
from paddock.model.artifacts import Artifact
from paddock.model.events import Event, Output, Progress
from paddock.model.request import LOCAL, Request, RunContext
from paddock.model.result import RunError, RunResult, Verdict
from paddock.record import new_run_id, unfinished_result
from paddock.server import session_tools
from paddock.server.builtin_tools import is_failure, state_of, summarize_stored
from paddock.server.files import add_files
from paddock.server.run_queue import Slot
from paddock.server.session_tools import ScriptTool
from paddock.server.sessions import Caller, Report
from paddock.server.tool import ServerTool, json_result, to_result
from paddock.store.runs import NewRun, fingerprint
from paddock.tools.upstream import CODE_TOOL

if TYPE_CHECKING:
    from paddock.server.services import Services

STILL_RUNNING_SECONDS = 10.0
"""How often a silent run is reported as still running: clients give up on a call that reports nothing."""
MAX_PENDING_REPORTS = 100
"""A script may report progress faster than its client reads. Beyond this number, the oldest reports are dropped."""
WATCH_SECONDS = 1.0
"""How often the store is checked for definitions that another process saved."""
CLIENT_CANCELLED = "the client cancelled the call or disconnected"
HOST_FAILED = RunError("HostError", "the host failed before the run ended; run it again")
log = logging.getLogger(__name__)
SavedNames = Collection[str] | Literal["all"]


def make_code_tool(services: Services, definition: Definition) -> ServerTool:
    """The tool that `definition` describes."""
    code_tool = _CodeTool(services, definition)
    spec = code_tool.face.describe(definition, code_tool.host)
    tool = Tool(
        name=definition.name,
        title=definition.title,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        # A script can change and reach whatever its tools can.
        annotations=ToolAnnotations(
            read_only_hint=spec.is_read_only or None, destructive_hint=not spec.is_read_only, open_world_hint=True
        ),
        _meta={CODE_TOOL: True},
    )
    return ServerTool(tool, code_tool.call, code_tool.refuse, code_tool.face.normalize, spec.is_compact)


class _CodeTool:
    def __init__(self, services: Services, definition: Definition) -> None:
        self._services, self._definition = services, definition
        self.face = face_of(definition)
        self.host = HostInfo(services.config, registry.available(), services.has_tools)
        offered = session_tools.is_offered(services, definition.companions)
        self._session_tools = session_tools.list_session_tools(services.paddock.injection) if offered else []

    async def call(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        request = self.face.parse(self._definition, arguments, self.host)
        if request.lint:
            return await self._lint(request)
        run_id = new_run_id()
        try:
            self._services.check_open()
            slot = self._services.queue.slot(run_id, caller.key)
            return await self._call(run_id, slot, caller, request)
        except Overloaded as refusal:
            hints = ["Nothing was run. Wait for retry_after_seconds, then call again, and make fewer calls at once."]
            seconds = refusal.retry_after_seconds
            return self.refuse(envelope.rate_limited(self._definition.name, str(refusal), seconds, hints=hints))

    async def _call(self, run_id: str, slot: Slot, caller: Caller, request: FaceRequest) -> CallToolResult:
        """Store the run and start it. Wait for its result unless it is detached."""
        try:
            if request.connections:
                connections = session_tools.check_connections(self._services, request.connections)
                request = replace(request, connections=connections)
            earlier = await self._begin(run_id, caller, request)
        except BaseException:
            slot.leave()
            raise
        if earlier is not None:
            slot.leave()
            return json_result(earlier, is_error=is_failure(earlier))
        if request.detach:
            self._services.detach(run_id, self._run(run_id, slot, replace(caller, report=_ignore), request))
            return json_result({"run_id": run_id, **state_of(slot.position)})
        try:
            result = await self._run(run_id, slot, caller, request)
        except Overloaded:
            raise
        except PaddockError as fault:
            response = self.face.render_fault(request, fault)
            if isinstance(fault, HostError):
                self._services.log_fault(type(fault).__name__, fault)
            return to_result(self._without_host_paths(response))
        parts = {"output": result.output_json or "", "stdout": result.stdout, "stderr": result.stderr}
        max_bytes = self.face.overflow_bytes(self._services.config, result)
        overflows = await self._services.store_overflows(caller, run_id, parts, max_bytes, self.face.preview)
        response = self.face.render(self._definition, request, result, overflows)
        stored = [each.artifact for each in overflows.values() if each.artifact is not None]
        return to_result(response, (*result.artifacts, *stored))

    def _without_host_paths(self, response: FaceResponse) -> FaceResponse:
        hide = self._services.without_host_paths
        values = None if response.structured is None else json.loads(hide(json.dumps(response.structured)))
        return replace(response, text=None if response.text is None else hide(response.text), structured=values)

    def refuse(self, envelope: Mapping[str, Any]) -> CallToolResult:
        return to_result(self.face.render_refusal(envelope))

    async def _lint(self, request: FaceRequest) -> CallToolResult:
        from paddock.linter import alint

        assert self.face.render_findings is not None  # noqa: S101  a face that parses `lint` has it
        findings = await alint(request.code, mode=request.options.get("mode", "expression"))
        return to_result(self.face.render_findings(findings))

    async def _begin(self, run_id: str, caller: Caller, request: FaceRequest) -> dict[str, Any] | None:
        """Record that the run has begun. Returns the summary of an earlier run with the same idempotency key.

        A detached request is checked first, because nobody would see the error later.
        """
        key, digest = request.idempotency_key, ""
        if request.detach or key is not None:
            # These files are not kept, so that a waiting run does not hold them. They are read again when it starts.
            complete = await add_files(self._services, caller, request)
            if request.detach:
                await self._services.paddock.validate(complete.code, **complete.options)
            if key is not None:
                digest = await asyncio.to_thread(fingerprint, Request(complete.code, **complete.options))
        new = NewRun(
            run_id,
            caller.principal,
            request.code,
            request.options.get("language", "python"),
            session=caller.owner.session,
            definition=self._definition.name,
            idempotency_key=key,
            fingerprint=digest,
            redactor=self._services.paddock,
        )
        earlier = await self._services.store.runs.begin(new)
        return None if earlier is None else await summarize_stored(self._services, caller, earlier)

    async def _run(self, run_id: str, slot: Slot, caller: Caller, request: FaceRequest) -> RunResult:
        """Wait for the run's turn, run it to its end, and store its result, even if it was cancelled.

        Returns the result if the run ended by itself, or if the server ended it: then the verdict is `cancelled`.
        Raises CancelledError if the client cancelled the call, and PaddockError if the request is refused or the host
        fails.
        """
        services = self._services
        calls_context = caller.context.for_run(request.connections)
        own = {each.tool.name: ScriptTool(each, calls_context, caller.session) for each in self._session_tools}
        artifacts = services.artifacts.of(caller.owner, run_id)
        can_search = any(each.startswith("discovery") for each in self._definition.companions) and services.has_tools
        session = caller.owner.session
        context = RunContext(run_id, artifacts, self._definition.name, session, own, calls_context, can_search)
        reporter = ProgressReporter(caller.report, partial(services.store.runs.add_output, run_id), slot)
        unfinished = partial(reporter.unfinished, context, request.options.get("language", "python"))
        result = None
        with services.in_progress(run_id) as run, caller.memory:
            run.progress = reporter.progress
            try:
                async with run.stop, slot:
                    request = await add_files(services, caller, request)
                    result = await services.paddock.follow(request.code, reporter, context=context, **request.options)
                await reporter.flush()
            except TimeoutError:
                if run.ended_by is None:
                    raise
                result = unfinished(Verdict.CANCELLED, RunError("Cancelled", run.ended_by))
            except asyncio.CancelledError:
                result = unfinished(Verdict.CANCELLED, RunError("Cancelled", CLIENT_CANCELLED))
                raise
            except PaddockError as fault:
                verdict = Verdict.REJECTED if isinstance(fault, RequestError) else Verdict.LOST
                result = unfinished(verdict, RunError(type(fault).__name__, services.without_host_paths(str(fault))))
                raise
            finally:
                reporter.close()
                try:
                    ended = result or unfinished(Verdict.LOST, HOST_FAILED)
                    await services.store.runs.finish(run_id, ended, reporter.progress())
                except StoreError as problem:  # the caller still gets the result
                    services.log_fault(f"the result of run {run_id} could not be stored", problem)
        return result


async def _ignore(done: float, total: float | None, message: str) -> None:
    """Discard progress, because nobody listens to a detached run."""


class ProgressReporter:
    """Passes the output of one run to the store, and its progress to the caller, in order and without delaying the run.

    A run that reports no progress costs a timer and no task. Output and artifacts are also kept here, for the result of
    a run that is ended early.
    """

    def __init__(self, report: Report, on_output: Callable[[str, str], None], slot: Slot | None = None) -> None:
        self._report, self._on_output, self._slot = report, on_output, slot
        self._output: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._artifacts: list[Artifact] = []
        self._progress: Progress | None = None
        self._pending: deque[Progress] = deque(maxlen=MAX_PENDING_REPORTS)
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._began_at = time.monotonic()
        self._timer = self._loop.call_later(STILL_RUNNING_SECONDS, self._still_running, STILL_RUNNING_SECONDS)
        if self._position is not None:
            self._send(Progress(0.0, None, self._state(0.0)))

    def __call__(self, event: Event) -> None:
        if isinstance(event, Output):
            self._output[event.stream].append(event.text)
            self._on_output(event.stream, event.text)
        elif isinstance(event, Artifact):
            self._artifacts.append(event)
        elif isinstance(event, Progress):
            self._timer.cancel()  # the script reports its own progress
            self._progress = event
            self._send(event)

    def unfinished(self, context: RunContext, language: str, verdict: Verdict, error: RunError) -> RunResult:
        """Return a result for a run that was ended early, with what it has printed and created."""
        return unfinished_result(
            context,
            language,
            verdict,
            error,
            stdout="".join(self._output["stdout"]),
            stderr="".join(self._output["stderr"]),
            artifacts=tuple(self._artifacts),
            wall_seconds=time.monotonic() - self._began_at,
        )

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

    @property
    def _position(self) -> int | None:
        return None if self._slot is None else self._slot.position

    def _state(self, seconds: float) -> str:
        position = self._position
        return f"still running after {seconds:g} s" if position is None else f"queued, position {position}"

    def _still_running(self, seconds: float) -> None:
        self._send(Progress(seconds, None, self._state(seconds)))
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


class SavedTools:
    """The tools of saved definitions: all of them, or those with the given names."""

    def __init__(self, services: Services, names: SavedNames) -> None:
        self._services, self._names = services, names
        self._tools: list[tuple[Definition, ServerTool]] = []
        self._versions: dict[str, int] = {}

    async def current(self) -> list[tuple[Definition, ServerTool]]:
        """Return the definitions as they are in the store now, each with its tool."""
        if self._names:
            await self._refresh()
        return self._tools

    async def watch(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Call `changed` whenever a definition that is offered changes in the store. A failing store is retried.

        Runs until it is cancelled, or returns at once if no saved definition is offered.
        """
        known_versions: dict[str, int] | None = None
        is_failing = False
        while self._names:
            try:
                versions = await self._current_versions()
            except StoreError as problem:
                if not is_failing:
                    self._services.log_fault("saved definitions cannot be watched now", problem)
                is_failing = True
            else:
                is_failing = False
                if known_versions is not None and versions != known_versions:
                    await changed()
                known_versions = versions
            await asyncio.sleep(WATCH_SECONDS)

    async def _current_versions(self) -> dict[str, int]:
        versions = await self._services.definition_versions()
        return {name: version for name, version in versions.items() if self._is_offered(name)}

    async def _refresh(self) -> None:
        try:
            if await self._current_versions() == self._versions:
                return
            stored = [
                each for each in await self._services.store.definitions.list(LOCAL) if self._is_offered(each.name)
            ]
        except StoreError as problem:
            self._services.log_fault("saved definitions could not be read", problem)
            return
        self._versions = {each.name: each.version for each in stored}
        self._tools = []
        for each in stored:
            try:
                definition = parse_saved(each.spec)
            except (BadDefinition, StoreError) as problem:
                log.warning("the definition %r is not offered: %s", each.name, problem)
                continue
            self._tools.append((definition, make_code_tool(self._services, definition)))

    def _is_offered(self, name: str) -> bool:
        return self._names == "all" or name in self._names
