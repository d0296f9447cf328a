"""Runs over REST: create one and wait, stream it, or detach it; get, list and cancel."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from paddock.definitions.faces import FaceRequest
from paddock.errors import NotFound, PaddockError
from paddock.model.artifacts import Artifact
from paddock.model.events import Done, Event, Output, Progress, ToolCall, ToolResult
from paddock.model.outputs import Display
from paddock.model.request import RunContext
from paddock.server.artifacts import add_files
from paddock.server.rest import problems
from paddock.server.rest.models import (
    CheckModel,
    FiltersQuery,
    FindingModel,
    LintBody,
    PendingModel,
    ResultModel,
    RunBody,
    RunListModel,
    StoredRunModel,
)
from paddock.server.rest.routes import BodyRoute, get_caller
from paddock.server.rest.run_requests import OPENAPI, make_request, read_request
from paddock.server.runs import Run, cancel_run, create_run, pending_state, wait_elsewhere
from paddock.store.runs import RunFilters, StoredRun

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from paddock.server.services import Services
    from paddock.server.sessions import Caller

EVENT_STREAM = "text/event-stream"
MAX_WAIT_SECONDS = 60.0
KEEP_ALIVE_SECONDS = 10.0
"""How often a silent stream sends a comment, so that no proxy closes the connection."""
WAITING_BYTES = 4 * 1024 * 1024
"""How many bytes of events wait for a slow client. Further events are dropped; `done` has the whole result."""
EVENT_BYTES = 200
"""The assumed size of an event without its text."""
KeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=255,
        description="A repeated request with the same key returns the first run.",
    ),
]
RunRequest = Annotated[FaceRequest, Depends(read_request)]
_NAMES: Mapping[type[Any], str] = {
    Output: "output",
    Display: "display",
    ToolCall: "tool_call",
    ToolResult: "tool_result",
    Progress: "progress",
    Artifact: "artifact",
}
"""The name of each event in a stream. Its data are its fields, as JSON."""


def make_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["runs"], route_class=BodyRoute)

    @router.post(
        "/runs",
        response_model=ResultModel,
        responses={
            200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}, "description": "How the run ended."},
            202: {"model": PendingModel, "description": "The run was detached. It is queued or running."},
            **problems.responses(400, 422),
        },
        openapi_extra=OPENAPI,
    )
    async def create(
        request: Request,
        run_request: RunRequest,
        idempotency_key: KeyHeader = None,
        quiet: Annotated[bool, Query(description="Stream `started` and `done` only.")] = False,
    ) -> Response:
        """Run a script and wait for its result, or with `detach` return at once.

        Files may be parts of a form, beside its part `request`. With `Accept: text/event-stream`, the run's events are
        streamed: `started`, `output`, `tool_call`, `tool_result`, `progress`, `artifact`, and last `done` with the
        result. A client that reads too slowly misses some: `dropped` says how many. A client that disconnects cancels
        its run, unless it is detached.
        """
        caller = await get_caller(services, request)
        events: Events | None = None
        if EVENT_STREAM in request.headers.get("accept", "") and not run_request.detach:
            events = Events()
            caller = caller if quiet else replace(caller, watch=events.add)
        run = await create_run(services, caller, None, run_request)
        if isinstance(run, StoredRun):
            return await _repeated(services, run)
        if run_request.detach:
            run.detach()
            return JSONResponse(run.state(), 202, {"Location": f"/v1/runs/{run.id}"})
        if events is not None:
            return _RunStream(services, run, events)
        result = await run.execute()
        return Response(await asyncio.to_thread(result.to_json), media_type="application/json")

    @router.get("/runs", response_model=RunListModel, responses=problems.responses(422))
    async def list_runs(
        request: Request,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        before: Annotated[str | None, Query(max_length=100, description="The `next` of the previous page.")] = None,
        *,
        filters: Annotated[FiltersQuery, Query()],
    ) -> dict[str, Any]:
        """List your runs, newest first."""
        caller = await get_caller(services, request)
        chosen: RunFilters = filters.model_dump()  # type: ignore[assignment]
        found = await services.store.runs.list(caller.principal, limit=limit, before=before, **chosen)
        return {
            "runs": [{**each.to_dict(), "beginning": each.beginning} for each in found],
            "next": found[-1].id if len(found) == limit else None,
        }

    @router.get("/runs/{run_id}", response_model=StoredRunModel, responses=problems.responses(404, 422))
    async def get(
        request: Request,
        run_id: str,
        wait_seconds: Annotated[
            float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Wait at most this long for the run's end.")
        ] = 0,
    ) -> Response:
        """Get a run: its result, or its output, calls and progress so far."""
        caller = await get_caller(services, request)
        running = services.runs.get(run_id)  # now, because it may end while it is read
        # 404 before any wait: waiting would reveal that the run exists.
        if wait_seconds and await services.store.runs.is_running(caller.principal, run_id):
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    if running is not None:
                        await running.has_ended.wait()
                    else:
                        await wait_elsewhere(services, caller.principal, run_id)
        return await _show(services, caller, run_id)

    @router.post("/runs/{run_id}/cancel", response_model=StoredRunModel, responses=problems.responses(404))
    async def cancel(request: Request, run_id: str) -> Response:
        """End a run, and return it once it has ended. A run that has ended stays as it is."""
        caller = await get_caller(services, request)
        await cancel_run(services, caller, run_id)
        return await _show(services, caller, run_id)

    @router.post("/check", response_model=CheckModel, responses=problems.responses(400, 422))
    async def check(
        request: Request,
        body: RunBody,
        compile: Annotated[bool, Query(description="Set it to false to check only the request.")] = True,  # noqa: A002
    ) -> dict[str, Any]:
        """Compile a script without running it, and check its types with `type_check`."""
        caller = await get_caller(services, request)
        context = RunContext("", principal=caller.principal, network=services.config.network.allowed(caller.role))
        run_request = await asyncio.to_thread(make_request, body)
        async with services.work(caller):
            run_request = await add_files(services, caller, run_request)  # now: a check that waits holds no files
            method = services.paddock.check if compile else services.paddock.validate
            error = await method(run_request.code, context=context, **run_request.options)
        return {"error": None if error is None else asdict(error)}

    @router.post("/lint", response_model=list[FindingModel], responses=problems.responses(400, 422))
    async def lint(request: Request, body: LintBody) -> list[dict[str, Any]]:
        """Check Python code with Ruff. The code is not run."""
        caller, python = await get_caller(services, request), services.config.python_version()
        findings = await services.lint(caller, body.code, names=body.names, mode=body.mode, python=python)
        return [each.to_dict() for each in findings]

    return router


async def _repeated(services: Services, run: StoredRun) -> Response:
    """Return what became of the earlier run with the same idempotency key."""
    if run.raw_result is not None:
        return await json_response(run.raw_result)
    return JSONResponse(pending_state(run.id, services.queue.position(run.id)), 202, {"Location": f"/v1/runs/{run.id}"})


async def _show(services: Services, caller: Caller, run_id: str) -> Response:
    run = await services.store.runs.get(caller.principal, run_id)
    if run is None:
        raise NotFound(f"there is no run {run_id[:100]!r}")
    values = run.to_values()
    if run.raw_result is None and run_id in services.runs:
        values["progress"] = services.runs[run_id].reporter.progress()
    if (position := services.queue.position(run_id)) is not None:
        values |= pending_state(run_id, position)
    return await json_response(values)


async def json_response(values: object) -> Response:
    """Return values as a JSON response. They may be large, so they are encoded in a thread."""
    import msgspec

    return Response(await asyncio.to_thread(msgspec.json.encode, values), media_type="application/json")


class Events:
    """The events of a run on their way to a client, within WAITING_BYTES."""

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque()
        self._bytes = 0
        self._has_changed = asyncio.Event()
        self._is_over = False
        self.dropped = 0

    def add(self, event: Event) -> None:
        size = _size(event)
        if self._bytes + size > WAITING_BYTES:
            self.dropped += 1
            return
        self._bytes += size
        self._waiting.append(event)
        self._has_changed.set()

    def end(self) -> None:
        self._is_over = True
        self._has_changed.set()

    async def next(self) -> Event | None:
        """Return the next event, or None after the last."""
        while not self._waiting:
            if self._is_over:
                return None
            self._has_changed.clear()
            await self._has_changed.wait()
        event = self._waiting.popleft()
        self._bytes -= _size(event)
        return event


def _size(event: Event) -> int:
    match event:
        case Output() | Display():
            return EVENT_BYTES + len(event.text)
        case ToolCall():
            return EVENT_BYTES + len(event.tool) + len(event.arguments_json)
        case Progress():
            return EVENT_BYTES + len(event.message)
    return EVENT_BYTES


class _RunStream(StreamingResponse):
    """Executes a run and sends its events. When the response ends, however it ends, so does the run."""

    def __init__(self, services: Services, run: Run, events: Events) -> None:
        # Not in the iterator, which never starts if the client is already gone: the run would keep its slot.
        self._task = asyncio.create_task(run.execute())
        self._task.add_done_callback(lambda _: events.end())
        self._services, self._run, self._events = services, run, events
        super().__init__(self._stream(), media_type=EVENT_STREAM)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _stream(self) -> AsyncIterator[str]:
        yield _event("started", self._run.state())
        while True:
            if self._events.dropped:
                yield _event("dropped", {"events": self._events.dropped})
                self._events.dropped = 0
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    event = await self._events.next()
            except TimeoutError:
                yield ": still running\n\n"
                continue
            if event is None:
                break
            if not isinstance(event, Done):
                values = {name: value for name, value in asdict(event).items() if not isinstance(value, bytes)}
                yield _event(_NAMES[type(event)], values)
        try:
            name, data = "done", await asyncio.to_thread((await asyncio.shield(self._task)).to_json)
        except PaddockError as fault:
            name, data = "error", problems.describe(self._services, fault).model_dump_json()
        yield f"event: {name}\ndata: {data}\n\n"


def _event(name: str, values: Mapping[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(values)}\n\n"
