"""Faces: how a definition's arguments and results look to its caller.

A face neither runs anything nor knows about MCP. Each is a module of pure functions, with one `Face` that names them:

    MCP arguments -> Face.parse -> FaceRequest -> run -> RunResult -> Face.render -> FaceResponse -> MCP result
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.errors import PaddockError
from paddock.model.artifacts import Artifact
from paddock.model.environments import EnvironmentConfig
from paddock.model.limits import MB, Limits
from paddock.model.request import RunOptions
from paddock.model.result import RunResult

if TYPE_CHECKING:
    from paddock.linter import Finding


@dataclass(frozen=True, slots=True)
class HostInfo:
    """What a face may know about the installation that offers its definition."""

    config: Config
    engines: Collection[str]

    def packages(self) -> list[str]:
        """The import names of the packages that a Python program finds."""
        return self._environment().import_names()

    def library_note(self) -> str:
        """What follows "Python's standard library" in a description."""
        if "cpython" not in self.engines:
            return ", in part"
        preloads = self._environment().preload
        return f", {' and '.join(preloads)}" if preloads else ""

    def format_description(self, definition: Definition, **more: Any) -> str:
        """The description with its fields filled in: the limits and libraries of this installation, and `more`."""
        limits = definition.effective_limits(self.config)
        values = {
            "library": self.library_note(),
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

    def _environment(self) -> EnvironmentConfig:
        return self.config.environments[self.config.cpython.environment]


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

    @property
    def limits(self) -> Limits:
        """The run's limits, for faces whose `parse` sets all of them."""
        return cast("Limits", self.options["limits"])


@dataclass(frozen=True, slots=True)
class Overflow:
    """A value that is too large for the response: the artifact that holds it, and how it begins."""

    artifact: Artifact
    preview: str

    def to_dict(self) -> dict[str, Any]:
        return {"artifact": asdict(self.artifact), "preview": self.preview}


@dataclass(frozen=True, slots=True)
class FaceResponse:
    """What the caller gets. If `text` is None, the text is `structured` as JSON. If both are None, it is empty."""

    text: str | None = None
    structured: dict[str, Any] | None = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # shown to the model in a text of their own, after the result


def _raise_fault(request: FaceRequest, fault: PaddockError) -> FaceResponse:
    raise fault


def envelope_response(envelope: Mapping[str, Any]) -> FaceResponse:
    """An error envelope as JSON text."""
    return FaceResponse(json.dumps(envelope, ensure_ascii=False), is_error=True)


@dataclass(frozen=True, slots=True)
class Face:
    """The functions of one face."""

    describe: Callable[[Definition, HostInfo], ToolSpec]
    parse: Callable[[Definition, Mapping[str, Any], HostInfo], FaceRequest]
    """Turns arguments that fit the schema into a request. Raises RequestError if they make no sense."""
    render: Callable[[Definition, FaceRequest, RunResult, Overflow | None], FaceResponse]
    overflow_bytes: int | None = None
    """A value with more JSON than this becomes an artifact; None: every value is returned whole."""
    render_fault: Callable[[FaceRequest, PaddockError], FaceResponse] = _raise_fault
    """Shows why nothing ran. By default it raises the fault again, and the caller gets an envelope."""
    render_refusal: Callable[[Mapping[str, Any]], FaceResponse] = envelope_response
    """Shows the envelope of arguments that were refused."""
    render_findings: Callable[[Collection[Finding]], FaceResponse] | None = None
    """Shows what lint found; for faces whose requests may set `lint`."""


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
