"""Definitions as tools: a call is a run, which is stored and reports its progress.

arguments -> Face.parse -> FaceRequest -> Paddock.follow -> RunResult -> Face.render -> result
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.definitions.definition import Definition
from paddock.definitions.faces import FaceRequest, HostInfo, face_of
from paddock.definitions.validation import parse_saved
from paddock.engines import registry
from paddock.errors import BadDefinition, HostError, PaddockError, StoreError
from paddock.model.events import Event, Output, Progress
from paddock.model.request import LOCAL, Request, RunContext
from paddock.model.result import RunResult, Verdict
from paddock.record import new_run_id, unfinished_result
from paddock.server import session_tools
from paddock.server.builtin_tools import is_failure, summarize_stored
from paddock.server.files import add_files
from paddock.server.session_tools import ScriptTool
from paddock.server.sessions import Caller, Report
from paddock.server.tool import ServerTool, json_result, to_result
from paddock.store.runs import RUNNING, NewRun, fingerprint
from paddock.tools.upstream import CODE_TOOL

if TYPE_CHECKING:
    from paddock.server.services import Services

STILL_RUNNING_SECONDS = 10.0
"""How often a silent run is reported as still running: clients give up on a call that reports nothing."""
MAX_PENDING_REPORTS = 100
"""A script may report more than a client can read; older reports are dropped."""
WATCH_SECONDS = 1.0
"""How often the store is checked for definitions that another process saved."""
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
    return ServerTool(tool, code_tool.call, code_tool.refuse, is_compact=spec.is_compact)


class _CodeTool:
    def __init__(self, services: Services, definition: Definition) -> None:
        self._services, self._definition = services, definition
        self.face = face_of(definition)
        self.host = HostInfo(services.config, registry.available())
        offered = session_tools.is_offered(services, definition.companions)
        self._session_tools = session_tools.list_session_tools(services.paddock.injection) if offered else []

    async def call(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        request = self.face.parse(self._definition, arguments, self.host)
        if request.lint:
            return await self._lint(request)
        if request.connections:
            request = replace(request, connections=session_tools.check_connections(self._services, request.connections))
        request = await add_files(self._services, caller, request)
        run_id = new_run_id()
        earlier = await self._begin(run_id, caller, request)
        if earlier is not None:
            return json_result(earlier, is_error=is_failure(earlier))
        if request.detach:
            self._detach(run_id, caller, request)
            return json_result({"run_id": run_id, "verdict": RUNNING})
        try:
            result = await self._run(run_id, caller, request)
        except PaddockError as fault:
            response = self.face.render_fault(request, fault)
            if isinstance(fault, HostError):
                log.warning("%s: %s", type(fault).__name__, fault)
            return to_result(response)
        overflow = await self._services.store_overflow(caller, run_id, result.output_json, self.face.overflow_bytes)
        response = self.face.render(self._definition, request, result, overflow)
        return to_result(response, (*result.artifacts, overflow.artifact) if overflow else result.artifacts)

    def refuse(self, envelope: Mapping[str, Any]) -> CallToolResult:
        return to_result(self.face.render_refusal(envelope))

    async def _lint(self, request: FaceRequest) -> CallToolResult:
        from paddock.linter import alint

        assert self.face.render_findings is not None  # noqa: S101  a face that parses `lint` has it
        findings = await alint(request.code, mode=request.options.get("mode", "expression"))
        return to_result(self.face.render_findings(findings))

    async def _begin(self, run_id: str, caller: Caller, request: FaceRequest) -> dict[str, Any] | None:
        """Store that the run begins. Returns the summary of an earlier run with the same idempotency key."""
        key = request.idempotency_key
        digest = ""
        if key is not None:
            digest = await asyncio.to_thread(fingerprint, Request(request.code, **request.options))
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

    def _detach(self, run_id: str, caller: Caller, request: FaceRequest) -> None:
        detached = self._services.detached

        def ended(task: asyncio.Task[RunResult]) -> None:
            del detached[run_id]
            if not task.cancelled() and (fault := task.exception()) is not None:
                log.warning("the detached run %s failed: %s: %s", run_id, type(fault).__name__, fault)

        detached[run_id] = task = asyncio.create_task(self._run(run_id, replace(caller, report=_ignore), request))
        task.add_done_callback(ended)

    async def _run(self, run_id: str, caller: Caller, request: FaceRequest) -> RunResult:
        """Run to the end and report progress to the caller. Stores how the run ended, even if it was cancelled."""
        services = self._services
        calls_context = caller.context.of_run(request.connections)
        own = {each.tool.name: ScriptTool(each, calls_context, caller.session) for each in self._session_tools}
        artifacts = services.artifacts.of(caller.owner, run_id)
        context = RunContext(run_id, artifacts, self._definition.name, caller.owner.session, own, calls_context)
        reporter = ProgressReporter(caller.report, partial(services.store.runs.add_output, run_id))
        result, verdict, language = None, Verdict.LOST, request.options.get("language", "python")
        try:
            result = await services.paddock.follow(request.code, reporter, context=context, **request.options)
            await reporter.flush()
        except asyncio.CancelledError:
            verdict = Verdict.CANCELLED
            raise
        finally:
            reporter.close()
            try:
                await services.store.runs.finish(run_id, result or unfinished_result(context, language, verdict))
            except StoreError as problem:  # the caller still gets the result
                log.warning("the result of run %s could not be stored: %s", run_id, problem)
        return result


async def _ignore(done: float, total: float | None, message: str) -> None:
    """Discards progress: nobody listens to a detached run."""


class ProgressReporter:
    """Passes the output of one run to the store, and its progress to the caller, in order and without delaying the run.

    A run that reports no progress costs a timer and no task.
    """

    def __init__(self, report: Report, on_output: Callable[[str, str], None]) -> None:
        self._report, self._on_output = report, on_output
        self._pending: deque[Progress] = deque(maxlen=MAX_PENDING_REPORTS)
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(STILL_RUNNING_SECONDS, self._still_running, STILL_RUNNING_SECONDS)

    def __call__(self, event: Event) -> None:
        if isinstance(event, Output):
            self._on_output(event.stream, event.text)
        elif isinstance(event, Progress):
            self._timer.cancel()  # the script reports its own progress
            self._send(event)

    async def flush(self) -> None:
        """Wait until all pending reports are sent. The caller accepts none after the result."""
        self._timer.cancel()
        if self._task is not None:
            await self._task

    def close(self) -> None:
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _still_running(self, seconds: float) -> None:
        self._send(Progress(seconds, None, f"still running after {seconds:g} s"))
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
    """The tools of definitions that users saved: all of them, or those named."""

    def __init__(self, services: Services, names: SavedNames) -> None:
        self._services, self._names = services, names
        self._tools: list[tuple[Definition, ServerTool]] = []
        self._versions: dict[str, int] = {}

    async def current(self) -> list[tuple[Definition, ServerTool]]:
        """The definitions as they are in the store now, each with its tool."""
        if self._names:
            await self._refresh()
        return self._tools

    async def watch(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Call `changed` whenever the store's current definitions change. Never returns; a failing store is retried."""
        known_versions: dict[str, int] | None = None
        is_failing = False
        while self._names:
            try:
                versions = await self._current_versions()
            except StoreError as problem:
                if not is_failing:
                    log.warning("saved definitions are not watched for now: %s", problem)
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
            log.warning("saved definitions are not offered: %s", problem)
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
