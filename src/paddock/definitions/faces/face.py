"""What a face is: a few functions without I/O, in a module of their own.

A face is not a tool: it neither runs anything nor knows of MCP. It says what a definition looks like, what is asked for
by arguments that fit its schema, and how what became of that is told.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, Protocol, cast

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.errors import PaddockError
from paddock.model.artifacts import Artifact
from paddock.model.request import RunOptions
from paddock.model.result import RunResult

FACES = {
    "native": "paddock.definitions.faces.native",
    "execute": "paddock.definitions.faces.execute",
    "markdown": "paddock.definitions.faces.markdown",
    "terminal": "paddock.definitions.faces.terminal",
    "logged": "paddock.definitions.faces.logged",
    "inputs": "paddock.definitions.faces.inputs",
}
"""By name, the module of each."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a definition is offered: what this installation has."""

    config: Config
    engines: Collection[str]
    functions: tuple[str, ...] = ()  # by which a script finds the tools that are linked


@dataclass(frozen=True, slots=True)
class Look:
    """What a caller's model reads of a tool."""

    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    is_read_only: bool = False
    is_short: bool = False  # lists leave out what goes without saying; a face of another tool says what that one says


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be done."""

    code: str
    options: RunOptions
    act: Literal["run", "lint"] = "run"
    is_detached: bool = False  # the caller asks for the result later
    idempotency_key: str | None = None
    uses_files: bool = False  # the files that are attached to the session go in
    connections: Mapping[str, str] = field(default_factory=dict)  # to call tools with, by upstream
    artifacts: tuple[str, ...] = ()  # and these, by id, URL or file name


@dataclass(frozen=True, slots=True)
class Spilled:
    """A value that is too large to be given back: where it is instead, and how it begins."""

    artifact: Artifact
    preview: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it."""

    result: RunResult
    spilled: Spilled | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller gets."""

    text: str | None  # None: no content at all
    structured: dict[str, Any] | None = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)


class Face(Protocol):
    """How a definition looks, what its arguments ask for, and how a result is told. A module is one.

    One that has `refused(definition, envelope) -> Given` tells wrong arguments in its own way too. One that may be
    asked to lint has `findings(definition, found: Collection[Finding]) -> Given`, which tells what was found.
    """

    def look(self, definition: Definition, setting: Setting) -> Look: ...

    def asked(self, definition: Definition, arguments: Mapping[str, Any], setting: Setting) -> Asked:
        """What arguments that fit the schema ask for; `RequestError` where they make no sense."""
        ...

    def given(self, definition: Definition, asked: Asked, outcome: Outcome) -> Given: ...

    def failed(self, definition: Definition, asked: Asked, problem: PaddockError) -> Given | None:
        """What a caller gets where nothing was run; None: an envelope, as for any call that fails."""
        ...

    def spill_bytes(self, definition: Definition) -> int | None:
        """Up to how much JSON a value is given back; None: as much as the limits allow."""
        ...


def face_of(definition: Definition) -> Face:
    return cast("Face", import_module(FACES[definition.face]))
