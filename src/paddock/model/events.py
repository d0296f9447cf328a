"""What happens while a run goes on, in order. Plain values: they can be stored, sent and replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from paddock.model.artifacts import Artifact
from paddock.model.outline import Outline

if TYPE_CHECKING:
    from paddock.model.result import RunResult, Verdict

Stream = Literal["stdout", "stderr"]
Level = Literal["log", "info", "warn", "error", "debug"]


@dataclass(frozen=True, slots=True)
class Output:
    """Text that the script printed, as it was printed."""

    stream: Stream
    text: str


@dataclass(frozen=True, slots=True)
class Log:
    """A line that the script wrote to its console. A watcher sees it as output."""

    level: Level
    text: str

    def output(self) -> Output:
        return Output("stderr" if self.level in ("warn", "error") else "stdout", f"{self.text}\n")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The script calls a tool; `id` counts from 1 in the order of the program. `arguments` is a JSON object's text."""

    id: int
    tool: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The script's own word on how far it is."""

    done: float
    total: float | None
    message: str


@dataclass(frozen=True, slots=True)
class ArtifactCall:
    """The script makes an artifact, or reads one. `id` counts apart from the tool calls."""

    id: int
    action: Literal["create", "read"]
    name: str  # of the file; to read one, its id or URL will do
    file_type: str = ""
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Finished:
    """The engine's last event: how the guest ended. The rest of a result is the host's to add."""

    verdict: Verdict
    output_json: str | None = None
    error_type: str = ""
    error_message: str = ""
    line: int | None = None
    column: int | None = None
    traceback: str = ""
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    limit: str = ""  # the one that was reached, where the verdict does not say
    note: str = ""  # why the text of the error may not be CPython's own


@dataclass(frozen=True, slots=True)
class Done:
    """The run is over; always the last event of a stream."""

    result: RunResult


EngineEvent = Output | Log | Progress | Outline | Finished
GuestCall = ToolCall | ArtifactCall
OnCall = Callable[[GuestCall], None]
"""Begins to answer what a guest asks for, at once and without blocking."""
Event = Output | ToolCall | Progress | Artifact | Done


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool call came to: a JSON text, or an error envelope's text."""

    json: str
    failed: bool = False

    @property
    def value(self) -> Any:
        """What the text holds."""
        import json

        return json.loads(self.json)


@dataclass(frozen=True, slots=True)
class ArtifactAnswer:
    """What an artifact call came to, as the script gets it; `content` where one was read."""

    values: Mapping[str, Any]
    content: bytes | None = None
    is_text: bool = False
