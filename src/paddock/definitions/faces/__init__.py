"""Faces: how a definition's arguments and results look to its caller.

A face neither runs anything nor knows about MCP. Each is a module of pure functions, with one `Face` that names them:

    MCP arguments -> Face.parse -> FaceRequest -> run -> RunResult -> Face.render -> FaceResponse -> MCP result

Each module and the definitions that it serves: execute -> `execute`, native -> `run_code`, inputs -> `code_execution`
and saved definitions, markdown -> `code_executor`, terminal -> `python`, logs -> `code-execution_execute`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any, cast

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.errors import PaddockError
from paddock.model.artifacts import Artifact
from paddock.model.limits import CAPS, MB, Limits
from paddock.model.network import parse_policy
from paddock.model.request import RunOptions
from paddock.model.result import RunError, RunResult, Verdict

if TYPE_CHECKING:
    from paddock.linter import Finding

PREVIEW_CHARACTERS = 200
SENTENCE_CHARACTERS = 200
_UNLISTED = ("aiodns", "ruff")
"""Packages that no script imports itself: aiohttp uses the one, and the other is a program."""
_OWN_FILE = re.compile(r"main\.py|cell \d+")  # a script, or a run of a session
_ENTRY = re.compile(r'^  File "([^"\n]*+)", line \d++.*+\n    (.*)$', re.MULTILINE)  # possessive: linear on any text
"""An entry of a Python traceback: its file and the line of source."""


@dataclass(frozen=True, slots=True)
class HostInfo:
    """What a face may know about the installation that offers its definition."""

    config: Config
    engines: Collection[str]
    has_tools: bool = True  # whether scripts have any tool to call
    is_loopback: bool = True  # whether only programs on this machine are served, without tokens

    def packages(self) -> list[str]:
        """The import names of the packages that a Python program finds."""
        return self.config.environments[self.config.cpython.environment].import_names()

    def network(self, definition: Definition, *, asks: bool = False) -> str:
        """A sentence about the network of a tool's scripts. With `asks` each call says what it needs."""
        allowed = self.config.network.allowed("user", definition.default_network(is_loopback=self.is_loopback))
        policy = allowed if asks else parse_policy(definition.network).capped(allowed)
        if not policy or "cpython" not in self.engines or self.config.jail.profile not in ("auto", "namespaces"):
            return "No network."
        hosts = policy.describe()
        return f"No network unless `network` names hosts. Allowed: {hosts}." if asks else f"Network: {hosts}."

    def library_note(self, definition: Definition) -> str:
        """What follows "standard library" in a description: the packages that scripts of the definition can import."""
        if "cpython" not in self.engines:
            return ", in part"
        unlisted = {*definition.refused_modules, *_UNLISTED}
        return "".join(f", {name}" for name in self.packages() if name not in unlisted)

    def python(self) -> str:
        """Python with its version."""
        return "Python {}.{}".format(*self.config.python_version())

    def node(self) -> str:
        """Node with its major version, if the environment pins one."""
        packages = self.config.environments[self.config.node.environment].packages
        versions = [found[1] for each in packages if (found := re.search(r"==\s*(\d+)", each))]
        return f"Node {versions[0]}" if versions else "Node"

    def format_description(self, definition: Definition, **more: Any) -> str:
        """The description with its fields filled in: the limits and libraries of this installation, and `more`."""
        limits = definition.effective_limits(self.config)
        values = {
            "library": self.library_note(definition),
            "python": self.python(),
            "network": self.network(definition, asks=definition.face == "native"),
            "node": self.node(),
            "wall_seconds": limits.wall_seconds,
            "cpu_seconds": limits.cpu_seconds,
            "memory_mb": limits.memory_bytes / MB,
            "output_mb": limits.output_bytes / MB,
            "file_mb": limits.file_bytes / MB,
            "calls": limits.calls,
            "processes": limits.processes,
            **more,
        }
        return definition.description.strip().format(**values)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a caller's model reads about a tool."""

    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    is_read_only: bool = False
    is_compact: bool = False  # whether the listed schema leaves out bounds, which are still checked


@dataclass(frozen=True, slots=True)
class FaceRequest:
    """What a call of a code tool asks for."""

    code: str
    options: RunOptions
    lint: bool = False  # check the code instead of running it
    detach: bool = False  # return at once; the caller fetches the result later
    idempotency_key: str | None = None
    session_files: bool = False  # add the files that are attached to the session
    artifacts: tuple[str, ...] = ()  # artifacts to add as files, by id, URL or file name
    connections: Mapping[str, str] = field(default_factory=dict)  # connection ids for this run, by upstream
    caps: Limits = CAPS  # how far the caller may raise the limits

    @property
    def limits(self) -> Limits:
        """The run's limits, for faces whose `parse` sets all of them."""
        return cast("Limits", self.options["limits"])


@dataclass(frozen=True, slots=True)
class Overflow:
    """A part of a result that is too large for the response: the artifact that holds it, and what is shown of it."""

    artifact: Artifact | None  # None if it could not be stored
    preview: str


@dataclass(frozen=True, slots=True)
class FaceResponse:
    """What the caller gets. If `text` is None, the text is `structured` as JSON. If both are None, it is empty."""

    text: str | None = None
    structured: dict[str, Any] | None = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    printed: str = ""  # shown to the model in a separate text, after the result
    warnings: tuple[str, ...] = ()  # and these after it


Overflows = Mapping[str, Overflow]
"""The parts of a result that are too large: `output`, `stdout`, `stderr`."""


def _raise_fault(request: FaceRequest, fault: PaddockError) -> FaceResponse:
    raise fault


def envelope_response(envelope: Mapping[str, Any]) -> FaceResponse:
    """An error envelope as JSON text."""
    return FaceResponse(json.dumps(envelope, ensure_ascii=False), is_error=True)


def answer_bytes(*parts: str) -> Callable[[Config, RunResult], Mapping[str, int]]:
    """The `overflow_bytes` of a face that shows these parts as far as `server.answer_bytes` allows."""
    return lambda config, result: dict.fromkeys(parts, config.server.answer_bytes)


@dataclass(frozen=True, slots=True)
class Face:
    """The functions of one face."""

    describe: Callable[[Definition, HostInfo], ToolSpec]
    """Returns what models read about the tool, with the limits of this installation."""
    parse: Callable[[Definition, Mapping[str, Any], HostInfo], FaceRequest]
    """Turns arguments that fit the schema into a request. Raises RequestError if they make no sense."""
    render: Callable[[Definition, FaceRequest, RunResult, Overflows], FaceResponse]
    overflow_bytes: Callable[[Config, RunResult], Mapping[str, int]] = lambda config, result: {}
    """How large each part of a result may be; a larger one becomes an artifact. Other parts are returned whole."""
    normalize: Callable[[dict[str, Any]], dict[str, Any]] = lambda arguments: arguments
    """Replaces aliases and removes arguments that have no effect, before the rest is checked against the schema."""
    preview: Callable[[str], str] = lambda text: text[:PREVIEW_CHARACTERS]
    """What is shown of a value that became an artifact."""
    stores_json: bool = False
    """Whether that artifact is the value's JSON as the guest sent it, rather than lines that are easy to search."""
    render_fault: Callable[[FaceRequest, PaddockError], FaceResponse] = _raise_fault
    """Shows why nothing ran. By default it raises the fault again, and the caller gets an envelope."""
    render_refusal: Callable[[Mapping[str, Any]], FaceResponse] = envelope_response
    """Shows the envelope of arguments that were refused."""
    render_findings: Callable[[Collection[Finding]], FaceResponse] | None = None
    """Shows what lint found; for faces whose requests may set `lint`."""


def replacement(overflow: Overflow) -> dict[str, Any]:
    """What is shown instead of a value that became an artifact."""
    return {"artifact": None if overflow.artifact is None else asdict(overflow.artifact), "preview": overflow.preview}


def cut_middle(text: str, max_bytes: int, where: str = "") -> str:
    """`text` without its middle if it has more than `max_bytes`. `where` says where the whole text is."""
    data = text.encode(errors="replace")
    if len(data) <= max_bytes:
        return text
    half = max_bytes // 2
    head, tail = data[:half].decode(errors="ignore"), data[len(data) - half :].decode(errors="ignore")
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[… {left_out:,} characters are left out{f'; {where}' if where else ''} …]\n{tail}"


def count_fitting(sizes: Iterable[int], limit: int) -> int:
    """How many of the first `sizes` have a sum of at most `limit`."""
    return sum(1 for _ in takewhile(lambda total: total <= limit, accumulate(sizes)))


def brief_message(message: str, traceback: str) -> str:
    """The message of an error; only its first sentence if it is long and a library wrote it, not the script."""
    entries = _ENTRY.findall(traceback)
    is_own = not entries or (_OWN_FILE.fullmatch(entries[-1][0]) and entries[-1][1].startswith(("raise", "assert")))
    if is_own or len(message) <= SENTENCE_CHARACTERS:
        return message
    line = message.strip().partition("\n")[0]
    sentence = line if len(line) <= SENTENCE_CHARACTERS else re.split(r"(?<=[.!?]) ", line, maxsplit=1)[0]
    return sentence if len(sentence) <= SENTENCE_CHARACTERS else f"{sentence[:SENTENCE_CHARACTERS]}…"


def brief_envelope(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """The envelope of a failed call, without empty lists and without what the error or its code says."""
    left_out = ["summary", "hints", "_envelope_version"]
    left_out += ["details"] if len(envelope["details"]) == 1 else []
    left_out += ["error_kind"] if envelope["error_code"] == "INTERNAL_ERROR" else []
    return {name: value for name, value in envelope.items() if name not in left_out and value != []}


def failed_call_note(error: RunError) -> tuple[str, ...]:
    """The line of a failed call, as a warning, because its envelope is shown unchanged."""
    return () if error.line is None else (f"the call on line {error.line} failed.",)


def reached_line(result: RunResult) -> str:
    """Which line a program that ran out of time had reached: its own stderr cannot say."""
    line = result.error.line if result.verdict is Verdict.TIMEOUT and result.error is not None else None
    return f"It was at about line {line}. " if line else ""


def warning_lines(warnings: Iterable[str]) -> str:
    """The warnings as lines of text, without a final newline."""
    return "\n".join(f"Warning: {warning}" for warning in warnings)


def face_of(definition: Definition) -> Face:
    """The face that the definition names."""
    face: Face = import_module(f"paddock.definitions.faces.{definition.face}").FACE
    return face


def object_schema(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON Schema of an object with these properties and no others."""
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}
