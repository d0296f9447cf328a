"""Events of a run, in order. Plain values that can be stored, sent and replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from paddock.model.artifacts import Artifact
from paddock.model.outputs import Display

if TYPE_CHECKING:
    from paddock.model.result import RunResult, Verdict

Stream = Literal["stdout", "stderr"]
Level = Literal["log", "info", "warn", "error", "debug"]


@dataclass(frozen=True, slots=True)
class Output:
    """Text that the script printed."""

    stream: Stream
    text: str


@dataclass(frozen=True, slots=True)
class Log:
    """A line that the script wrote to its console. Watchers see it as `Output`."""

    level: Level
    text: str

    def output(self) -> Output:
        return Output("stderr" if self.level in ("warn", "error") else "stdout", f"{self.text}\n")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The script calls a tool. `id` counts from 1 in program order; `arguments_json` is the text of a JSON object."""

    id: int
    tool: str
    arguments_json: str
    is_function: bool = False  # whether `tool` is the name of a function that is linked to a tool


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool call was answered. `status` is `ok` or `error`."""

    id: int
    tool: str
    status: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress that the script reported, or a tool that it called."""

    done: float
    total: float | None
    message: str


@dataclass(frozen=True, slots=True)
class ArtifactCall:
    """The script creates or reads an artifact. `id` counts separately from tool calls."""

    id: int
    action: Literal["create", "read"]
    name: str  # the file name; for `read` also an id or a URL
    file_type: str = ""
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Outline:
    """Facts about a Python script that its guest found while compiling it. The host never parses source itself.

    A hostile guest can send any outline. It then misleads the static check of its own script and nothing else.
    """

    returns: list[tuple[int, int, bool]] = field(default_factory=list)
    """Top-level `return` statements: line, byte offset in the line, and whether a value follows."""
    bound: list[str] = field(default_factory=list)
    """Names that the script assigns anywhere."""
    unbound: list[str] | None = field(default_factory=list)
    """Names that it uses without binding them. None: it may use any name, for example through `eval`."""
    unawaited: list[tuple[int, int, str]] = field(default_factory=list)
    """Top-level `return f(…)` without `await`: line, column counted from 1, and the function's name."""
    stored_keys: list[str] = field(default_factory=list)
    """Constant keys that it stores into some dict."""
    spread_lines: list[int] = field(default_factory=list)
    """Lines of dict literals that unpack another dict."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The line that the script had reached shortly before its time was over. A hostile guest can send any line."""

    line: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The engine's last event: how the guest ended. The host adds the rest of the result."""

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
    limit: str = ""  # which limit was reached, if the verdict alone does not say
    warnings: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    """Names that the script may have meant instead of the one that the error is about.

    Of a script that succeeded without a value: what it may have meant to end with."""
    keys: tuple[str, ...] = ()
    """The keys of the object in which the script looked for a missing one; of a function, its parameters."""
    values: tuple[str, ...] = ()
    """The variables in the failing code, as in `total = 0`."""


@dataclass(frozen=True, slots=True)
class Done:
    """The run is over. Always the last event of a stream."""

    result: RunResult


EngineEvent = Output | Log | Progress | Display | Outline | Reached | Finished
GuestCall = ToolCall | ArtifactCall | Display
OnCall = Callable[[GuestCall], None]
"""Starts a task that answers a call of the guest. Does not block."""
Event = Output | Display | ToolCall | ToolResult | Progress | Artifact | Done


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a tool call: JSON text, or an error envelope's text."""

    json: str
    failed: bool = False

    @property
    def value(self) -> Any:
        """The decoded answer."""
        import json

        return json.loads(self.json)


@dataclass(frozen=True, slots=True)
class ArtifactAnswer:
    """The answer to an artifact call. `content` is set if an artifact was read."""

    values: Mapping[str, Any]
    content: bytes | None = None
    is_text: bool = False
