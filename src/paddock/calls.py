"""Calls that a guest makes while it runs: tool calls and artifact requests, each answered in its own task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError, RequestError
from paddock.model.artifacts import (
    ARTIFACT_BYTES,
    READ_BYTES,
    RUN_BYTES,
    RUN_COUNT,
    Artifact,
    Artifacts,
    is_text,
    mime_type,
    name_problem,
)
from paddock.model.events import ArtifactAnswer, ArtifactCall, Event, GuestCall, ToolCall, ToolResult
from paddock.model.limits import format_bytes
from paddock.model.outputs import KEPT_TYPES, Display

if TYPE_CHECKING:
    from paddock.engines.base import Execution
    from paddock.tools.broker import Broker

_FIELDS = ("id", "filename", "mimeType", "size", "url")
AFTER_SCRIPT = 1 << 32
"""The first call id for artifacts that tools return. Scripts use lower ids, so their artifacts are listed first."""
_READ_ENOUGH = f"one run may read {format_bytes(READ_BYTES)} of artifacts; keep what was read in a variable"
_log = logging.getLogger(__name__)


class CallTasks:
    """The pending calls of one execution."""

    def __init__(
        self, execution: Execution, broker: Broker, artifacts: RunArtifacts, publish: Callable[[Event], None]
    ) -> None:
        self._execution, self._broker, self._artifacts, self._publish = execution, broker, artifacts, publish
        self._tasks: set[asyncio.Task[None]] = set()
        self._context = copy_context()
        self.may_have_side_effects = False
        """Whether any call was started that may have changed something outside the sandbox."""

    def start(self, call: GuestCall) -> None:
        """Publish a tool call that is not over the limit, then start a task that answers `call`.

        The task runs in the context in which the run was started, so tools see the caller's context variables.
        """
        if isinstance(call, ToolCall):
            expected = self._broker.expect(call)
            if expected is not None:
                self._publish(expected)
            call = expected or replace(call, arguments_json="{}")
        is_read = isinstance(call, ArtifactCall) and call.action == "read"
        self.may_have_side_effects = self.may_have_side_effects or not is_read
        task = self._context.run(asyncio.create_task, self._answer(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Cancel pending calls, except those whose outcome is being journalled."""
        for task in self._tasks.difference(self._broker.concluding):
            task.cancel()

    async def end(self) -> None:
        """Wait until calls that were cancelled have ended.

        The script goes no further meanwhile: a tool may take long to be cancelled.
        """
        if self._tasks:
            self._execution.halt()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, call: GuestCall) -> None:
        if isinstance(call, ToolCall):
            answer = await self._broker.answer(call)
            if (done := self._broker.call(call.id)) is not None:
                self._publish(ToolResult(done.id, done.tool, done.status, done.milliseconds))
            self._execution.answer(call.id, answer)
            await self._broker.conclude(call.id)
            return
        work = self._artifacts.answer(call) if isinstance(call, ArtifactCall) else self._artifacts.keep(call)
        self._execution.answer_artifact(call.id, await work)


class RunArtifacts:
    """Creates and reads artifacts for one run, within the limits of a run. A failure is an answer, not an exception."""

    def __init__(self, store: Artifacts, publish: Callable[[Artifact], None] = lambda artifact: None) -> None:
        self._store, self._publish = store, publish
        self._created: dict[tuple[int, int], Artifact | None] = {}  # by call id and count; None while pending
        self._bytes_left, self._reads_left = RUN_BYTES, READ_BYTES
        self.displayed: dict[int, Artifact] = {}
        """The artifacts of displayed values, by the id of the display."""

    def created(self) -> tuple[Artifact, ...]:
        """The artifacts that were created, in program order."""
        artifacts = (self._created[key] for key in sorted(self._created))
        return tuple(artifact for artifact in artifacts if artifact is not None)

    async def answer(self, call: ArtifactCall) -> ArtifactAnswer:
        """The answer to `call`. Publishes the artifact that the call created."""
        if call.action == "read":
            return await self._read(call.name)
        problem = self._problem(call)
        if problem is not None:
            return _failed(problem)
        key = call.id, len(self._created)  # a hostile guest may use the same id twice
        self._created[key] = None
        self._bytes_left -= len(call.content)
        kind = mime_type(call.file_type, call.name, call.content)
        try:
            artifact = self._created[key] = await self._store.create(call.name, kind, call.content)
        except Exception as fault:  # noqa: BLE001  a store of the caller's own may raise anything
            return _failed(_explain(fault, "stored"))
        self._publish(artifact)
        return ArtifactAnswer({"success": True, "id": artifact.id, "url": artifact.url, **_metadata(artifact)})

    async def keep(self, display: Display) -> ArtifactAnswer:
        """Keep a displayed value as an artifact, if values of its type are kept."""
        if display.type not in KEPT_TYPES:
            return ArtifactAnswer({"success": True})
        content = display.file or display.data or display.text.encode()
        create = ArtifactCall(display.id, "create", display.filename, display.mime_type, content)
        answer = await self.answer(create)
        if answer.values["success"]:
            self.displayed[display.id] = Artifact(*(answer.values[name] for name in _FIELDS))
        return answer

    async def exists(self, ref: str) -> bool:
        """Whether the script can read this artifact."""
        try:
            return await self._store.read(ref) is not None
        except Exception:  # noqa: BLE001
            return False

    async def create(self, filename: str, content: bytes, file_type: str) -> Mapping[str, Any]:
        """Store content that a tool returned. Returns what `create_artifact` would return in the script."""
        call = ArtifactCall(AFTER_SCRIPT + len(self._created), "create", filename, file_type, content)
        return (await self.answer(call)).values

    async def _read(self, ref: str) -> ArtifactAnswer:
        if self._reads_left < 0:  # refused without reading: a script can ask thousands of times
            return _failed(_READ_ENOUGH)
        try:
            stored = await self._store.read(ref)
        except Exception as fault:  # noqa: BLE001
            return _failed(_explain(fault, "read"))
        if stored is None:
            return _failed(f"there is no artifact {ref[:100]!r}; pass an artifact's id, URL or file name")
        artifact, content = stored
        self._reads_left -= len(content)
        if self._reads_left < 0:
            return _failed(_READ_ENOUGH)
        values = {"success": True, **_metadata(artifact)}
        return ArtifactAnswer(values, content, is_text=is_text(artifact.mime_type, content))

    def _problem(self, call: ArtifactCall) -> str | None:
        if len(call.content) > ARTIFACT_BYTES:
            return f"an artifact may be at most {format_bytes(ARTIFACT_BYTES)}; this one is larger"
        if len(call.content) > self._bytes_left or len(self._created) >= RUN_COUNT:
            return f"one run may create {RUN_COUNT} artifacts of {format_bytes(RUN_BYTES)} in total; create fewer"
        return name_problem(call.name)


def _metadata(artifact: Artifact) -> dict[str, object]:
    return {"filename": artifact.filename, "mimeType": artifact.mime_type, "size": artifact.size}


def _explain(fault: Exception, what: str) -> str:
    """The reason that the script may see. Details of a host fault go to the host's log only."""
    if isinstance(fault, RequestError):
        return str(fault)
    _log.warning("an artifact could not be %s: %s", what, fault, exc_info=not isinstance(fault, PaddockError))
    return f"the artifact could not be {what} because of a fault on the host; the host's log has the details"


def _failed(problem: str) -> ArtifactAnswer:
    return ArtifactAnswer({"success": False, "error": problem})
