"""What a guest asks for while it runs: tool calls and artifacts, each answered in a task of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextvars import copy_context
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
from paddock.model.events import ArtifactAnswer, ArtifactCall, Event, GuestCall, ToolCall

if TYPE_CHECKING:
    from paddock.engines.base import Execution
    from paddock.tools.broker import Broker

MB = 1024 * 1024
AFTER_SCRIPT = 1 << 32
"""Call ids above those of any script: artifacts that tools returned are listed after those that the script made."""
_log = logging.getLogger(__name__)


class CallTasks:
    """The calls of one execution that are under way."""

    def __init__(
        self, execution: Execution, broker: Broker, artifacts: RunArtifacts, publish: Callable[[Event], None]
    ) -> None:
        self._execution, self._broker, self._artifacts, self._publish = execution, broker, artifacts, publish
        self._tasks: set[asyncio.Task[None]] = set()
        self._context = copy_context()
        self.may_have_side_effects = False
        """Whether any call was started that may have changed something outside the sandbox."""

    def start(self, call: GuestCall) -> None:
        """Start to answer `call`. Whoever watches the run sees a tool call first.

        The task runs in the context of whoever asked for the run, so tools find the caller's context variables.
        """
        if isinstance(call, ToolCall):
            self._publish(call)
        self.may_have_side_effects = self.may_have_side_effects or isinstance(call, ToolCall) or call.action == "create"
        task = self._context.run(asyncio.create_task, self._answer(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Cancel the calls under way, except those whose outcome is being journalled, and wait for all."""
        under_way = set(self._tasks)
        for task in under_way.difference(self._broker.concluding):
            task.cancel()
        if under_way:
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _answer(self, call: GuestCall) -> None:
        if isinstance(call, ToolCall):
            self._execution.answer(call.id, await self._broker.answer(call))
            await self._broker.conclude(call.id)
            return
        answer, made = await self._artifacts.answer(call)
        if made is not None:
            self._publish(made)
        self._execution.answer_artifact(call.id, answer)


class RunArtifacts:
    """Creates and reads artifacts for one run, up to what one run may. A failure is an answer, never an exception."""

    def __init__(self, store: Artifacts, publish: Callable[[Artifact], None] = lambda artifact: None) -> None:
        self._store = store
        self._publish = publish  # artifacts that tools returned; `CallTasks` publishes those that the script made
        self._made: dict[tuple[int, int], Artifact | None] = {}  # by the call's id and a count; None while it is made
        self._bytes_left, self._reads_left = RUN_BYTES, READ_BYTES

    def made(self) -> tuple[Artifact, ...]:
        """The artifacts that were created, in program order."""
        made = (self._made[number] for number in sorted(self._made))
        return tuple(artifact for artifact in made if artifact is not None)

    async def answer(self, call: ArtifactCall) -> tuple[ArtifactAnswer, Artifact | None]:
        """The answer to `call`, and the artifact where it created one."""
        if call.action == "read":
            return await self._read(call.name), None
        problem = self._problem(call)
        if problem is not None:
            return _failed(problem), None
        number = call.id, len(self._made)  # a hostile guest may give two calls one id
        self._made[number] = None
        self._bytes_left -= len(call.content)
        kind = mime_type(call.file_type, call.name, call.content)
        try:
            artifact = self._made[number] = await self._store.create(call.name, kind, call.content)
        except PaddockError as fault:
            return _failed(_explain(fault, "stored")), None
        shown = {"id": artifact.id, "url": artifact.url, **_described(artifact)}
        return ArtifactAnswer({"success": True, **shown}), artifact

    async def create(self, filename: str, content: bytes, file_type: str) -> Mapping[str, Any]:
        """Store what a tool returned. The script gets what its own `create_artifact` would have given."""
        call = ArtifactCall(AFTER_SCRIPT + len(self._made), "create", filename, file_type, content)
        answer, made = await self.answer(call)
        if made is not None:
            self._publish(made)
        return answer.values

    async def _read(self, ref: str) -> ArtifactAnswer:
        try:
            found = await self._store.read(ref)
        except PaddockError as fault:
            return _failed(_explain(fault, "read"))
        if found is None:
            return _failed(f"there is no artifact {ref[:100]!r}; pass an artifact's id, URL or file name")
        artifact, content = found
        self._reads_left -= len(content)
        if self._reads_left < 0:
            return _failed(f"one run may read {READ_BYTES // MB} MB of artifacts; keep what was read in a variable")
        values = {"success": True, **_described(artifact)}
        return ArtifactAnswer(values, content, is_text=is_text(artifact.mime_type, content))

    def _problem(self, call: ArtifactCall) -> str | None:
        if len(call.content) > ARTIFACT_BYTES:
            return f"an artifact has at most {ARTIFACT_BYTES // MB} MB, and this one has {len(call.content)} bytes"
        if len(call.content) > self._bytes_left or len(self._made) >= RUN_COUNT:
            return f"one run may create {RUN_COUNT} artifacts of {RUN_BYTES // MB} MB in total; create fewer"
        return name_problem(call.name)


def _described(artifact: Artifact) -> dict[str, object]:
    return {"filename": artifact.filename, "mimeType": artifact.mime_type, "size": artifact.size}


def _explain(fault: PaddockError, what: str) -> str:
    """The reason as a script may see it. A fault of the host is described in the host's log only."""
    if isinstance(fault, RequestError):
        return str(fault)
    _log.warning("an artifact could not be %s: %s", what, fault)
    return f"the artifact could not be {what}: the host had a fault, which its log describes"


def _failed(problem: str) -> ArtifactAnswer:
    return ArtifactAnswer({"success": False, "error": problem})
