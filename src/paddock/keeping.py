"""What one run asks of artifacts, and what it is answered. A failure is an answer too, never an exception inside."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

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
from paddock.model.events import ArtifactAnswer, ArtifactCall

MB = 1024 * 1024
_log = logging.getLogger(__name__)
AFTER_ALL = 1 << 32  # numbers that no script counts to: what its tools gave is listed after what it made itself


class Keeping:
    """Makes and reads the artifacts of one run, within what one run may."""

    def __init__(self, store: Artifacts, told: Callable[[Artifact], None] = lambda artifact: None) -> None:
        self._store = store
        self._told = told  # of what a tool gave: what the script makes itself, its caller tells
        self._made: dict[tuple[int, int], Artifact | None] = {}  # by the call's number and our own; None: being made
        self._bytes_left, self._reads_left = RUN_BYTES, READ_BYTES

    def artifacts(self) -> tuple[Artifact, ...]:
        """Those that were made, in the order of the program."""
        made = (self._made[number] for number in sorted(self._made))
        return tuple(artifact for artifact in made if artifact is not None)

    async def answer(self, call: ArtifactCall) -> tuple[ArtifactAnswer, Artifact | None]:
        """What `call` comes to, and the artifact where it made one."""
        if call.action == "read":
            return await self._read(call.name), None
        problem = self._problem(call)
        if problem is not None:
            return _failed(problem), None
        number = call.id, len(self._made)  # a script may give two calls one number
        self._made[number] = None
        self._bytes_left -= len(call.content)
        kind = mime_type(call.file_type, call.name, call.content)
        try:
            artifact = self._made[number] = await self._store.create(call.name, kind, call.content)
        except PaddockError as fault:
            return _failed(_said(fault, "kept")), None
        shown = {"id": artifact.id, "url": artifact.url, **_described(artifact)}
        return ArtifactAnswer({"success": True, **shown}), artifact

    async def create(self, filename: str, content: bytes, file_type: str) -> Mapping[str, Any]:
        """Keep what a tool gave in answer; the script sees what its own `create_artifact` would have given."""
        answer, made = await self.answer(
            ArtifactCall(AFTER_ALL + len(self._made), "create", filename, file_type, content)
        )
        if made is not None:
            self._told(made)
        return answer.values

    async def _read(self, ref: str) -> ArtifactAnswer:
        try:
            found = await self._store.read(ref)
        except PaddockError as fault:
            return _failed(_said(fault, "read"))
        if found is None:
            return _failed(f"there is no artifact {ref[:100]!r}; give the id, the URL or the file name of one")
        artifact, content = found
        self._reads_left -= len(content)
        if self._reads_left < 0:
            return _failed(f"one run may read {READ_BYTES // MB} MB of artifacts; keep what was read")
        values = {"success": True, **_described(artifact)}
        return ArtifactAnswer(values, content, is_text=is_text(artifact.mime_type, content))

    def _problem(self, call: ArtifactCall) -> str | None:
        if len(call.content) > ARTIFACT_BYTES:
            return f"an artifact has at most {ARTIFACT_BYTES // MB} MB, and this one has {len(call.content)} bytes"
        if len(call.content) > self._bytes_left or len(self._made) >= RUN_COUNT:
            return (
                f"one run may make {RUN_COUNT} artifacts of {RUN_BYTES // MB} MB together; make fewer, or smaller ones"
            )
        return name_problem(call.name)


def _described(artifact: Artifact) -> dict[str, object]:
    return {"filename": artifact.filename, "mimeType": artifact.mime_type, "size": artifact.size}


def _said(fault: PaddockError, what: str) -> str:
    """What a script is told. Of a fault of the host it is told that there is one, and the log which."""
    if isinstance(fault, RequestError):
        return str(fault)
    _log.warning("an artifact cannot be %s: %s", what, fault)
    return f"the artifact cannot be {what} now; the host's log says why"


def _failed(problem: str) -> ArtifactAnswer:
    return ArtifactAnswer({"success": False, "error": problem})
