"""What a caller asks to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from paddock.errors import BadInput, RequestError, UnknownTool
from paddock.model.artifacts import Artifacts
from paddock.model.context import Context
from paddock.model.events import ToolCall
from paddock.model.files import File
from paddock.model.limits import Limits
from paddock.model.tools import OwnTool
from paddock.model.words import nearest

LANGUAGES = ("python", "javascript", "typescript")
ENGINES = ("auto", "monty", "cpython", "quickjs", "node")
MODES = ("expression", "script")
GLOBALS = ("all", "closed")


class RunOptions(TypedDict, total=False):
    """What can be said about a run besides its code; the meaning of each is `Request`'s."""

    language: str
    engine: str | None
    inputs: Mapping[str, Any] | None
    files: Iterable[File]
    tools: Iterable[str] | None
    limits: Limits | Mapping[str, object] | None
    type_check: bool | Literal["tools"]
    mode: str
    argv: Iterable[str]
    refused_modules: Iterable[str]
    globals: str


def make_request(code: str, options: RunOptions) -> Request:
    """The request that `run(code, **options)` makes; an option that there is not is refused, with the nearest one."""
    known = RunOptions.__annotations__
    for name in options:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
            raise RequestError(f"unknown option {name!r}; {hint}")
    return Request(code, **options)


def make_tool_call(tool: object, arguments: object) -> ToolCall:
    """The call that `call_tool(tool, arguments)` makes; what cannot be sent is refused."""
    import json

    if not isinstance(tool, str):
        raise UnknownTool(f"a tool is called by its name, not by {tool!r}")
    if not isinstance(arguments, Mapping | None):
        raise BadInput(f"the arguments of {tool!r} must be a mapping of names to values, not {arguments!r}")
    try:
        return ToolCall(1, tool, json.dumps(dict(arguments or {}), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadInput(f"the arguments of {tool!r} are not JSON: {problem}") from None


@dataclass(frozen=True, slots=True)
class Request:
    """One run as asked for; `planning` resolves it into a plan."""

    code: str
    language: str = "python"
    engine: str | None = None  # None: the configured one
    inputs: Mapping[str, Any] | None = None  # each key is a variable of the script
    files: Iterable[File] = ()
    tools: Iterable[str] | None = None  # names of tools that the script may call; None: all there are
    limits: Limits | Mapping[str, object] | None = None  # laid over the configured ones
    # Refuse what is wrong by its types before anything runs; "tools": what is wrong about the tools alone.
    type_check: bool | Literal["tools"] = False
    mode: str = "expression"  # the value of a return or of the last expression; "script": a program, with an exit code
    argv: Iterable[str] = ()  # what a program finds in sys.argv after its own name
    refused_modules: Iterable[str] = ()  # that the script cannot import: guidance for its author, and no wall
    # "closed": a script in JavaScript finds ECMAScript, Paddock's functions and a few web globals, on every engine.
    globals: str = "all"


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run is part of, where a server runs it: under which id, for which session, and whose artifacts it sees."""

    run_id: str
    artifacts: Artifacts | None = None  # None: the library's own
    definition: str | None = None
    session: str | None = None
    tools: Mapping[str, OwnTool] = field(default_factory=dict)  # the session's: found by `call_tool` before any other
    context: Context | None = None  # what is added to its calls
