"""The request for a run, and the context that a server adds to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sized
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from paddock.errors import BadInput, RequestError, UnknownTool
from paddock.model.artifacts import Artifacts
from paddock.model.events import ToolCall
from paddock.model.files import File
from paddock.model.limits import Limits
from paddock.model.network import NO_NETWORK, NetworkPolicy
from paddock.model.result import Connection
from paddock.model.spelling import did_you_mean
from paddock.model.tools import CallWatch, RunTool

LANGUAGES = ("python", "javascript", "typescript")
ALIASES: Mapping[str, tuple[str, str | None]] = {
    "py": ("python", None),
    "js": ("javascript", None),
    "ts": ("typescript", None),
    "node": ("javascript", "node"),
}
"""Other names of languages, each with the language and the engine that it means."""
ENGINES = ("auto", "monty", "cpython", "quickjs", "node")
MODES = ("expression", "script")
GLOBALS = ("all", "closed")
MAX_NAMES = 1000
"""How many inputs, tools or refused modules a request may have. Each is checked on the event loop."""
NAME_CHARACTERS = 1000
"""The longest name of anything in a request: names are matched, compared with others and quoted in messages."""
LOCAL = "local"
"""The principal of the command line, and of a server's clients on this machine that send no token of their own."""


class RunOptions(TypedDict, total=False):
    """The keyword arguments of `Paddock.run`. `Request` documents each."""

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
    packages: Iterable[str]
    environment: str | None
    session: str | None
    fork_from: str | None
    keep_files: bool
    network: str | Iterable[str] | None


def make_request(code: str, options: RunOptions) -> Request:
    """Build the request of `run(code, **options)`. An unknown option raises RequestError with a suggestion."""
    known = RunOptions.__annotations__
    for name, given in options.items():
        if name not in known:
            raise RequestError(f"unknown option {name!r}; {did_you_mean(name, known)}")
        if name not in ("argv", "files"):
            _check_names(name, given)
    alias = options.get("language")
    if isinstance(alias, str) and alias in ALIASES:
        language, engine = ALIASES[alias]
        is_chosen = options.get("engine") not in (None, "auto")
        options = {**options, "language": language, "engine": options.get("engine") if is_chosen else engine}
    return Request(code, **options)


def _check_names(option: str, given: object) -> None:
    """Raise RequestError if an option has more names, or longer ones, than the event loop can look at quickly."""
    if isinstance(given, Sized) and not isinstance(given, str) and len(given) > MAX_NAMES:
        raise RequestError(f"{option} has {len(given)} entries, and may have at most {MAX_NAMES}")
    names = (given,) if isinstance(given, str) else given if isinstance(given, Collection) else ()
    longest = max((len(name) for name in names if isinstance(name, str)), default=0)
    if longest > NAME_CHARACTERS:
        raise RequestError(f"{option} has a name of {longest} characters, and a name has at most {NAME_CHARACTERS}")


def make_tool_call(tool: object, arguments: object) -> ToolCall:
    """Build the call of `call_tool(tool, arguments)`. Raises `BadInput` for arguments that are not JSON."""
    import json

    if not isinstance(tool, str):
        raise UnknownTool(f"a tool's name must be text, not {tool!r}")
    if not isinstance(arguments, Mapping | None):
        raise BadInput(
            f"the arguments of {tool!r} must be a mapping of names to values, not {type(arguments).__name__}"
        )
    try:
        return ToolCall(1, tool, json.dumps(dict(arguments or {}), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadInput(f"the arguments of {tool!r} are not JSON: {problem}") from None


@dataclass(frozen=True, slots=True)
class Request:
    """One run as requested. `planning` resolves it into a plan."""

    code: str
    language: str = "python"
    engine: str | None = None  # None: the configured engine
    inputs: Mapping[str, Any] | None = None  # each key is a variable of the script
    files: Iterable[File] = ()
    tools: Iterable[str] | None = None  # names or patterns of tools that the script may call; None: all
    limits: Limits | Mapping[str, object] | None = None  # override the configured limits
    # Reject type errors before anything runs; "tools": only type errors in tool calls.
    type_check: bool | Literal["tools"] = False
    mode: str = "expression"  # a script that returns a value; "script": a program with an exit code
    argv: Iterable[str] = ()  # a program's arguments, after its own name
    refused_modules: Iterable[str] = ()  # modules that the script cannot import; not a security boundary
    globals: str = "all"  # "closed": JavaScript without Node's globals, the same on both engines
    packages: Iterable[str] = ()  # to install for this run, next to the environment's own
    environment: str | None = None  # None: the configured environment of the engine
    session: str | None = None  # the live interpreter to run in; it is created on first use
    fork_from: str | None = None  # the session that a new `session` starts as a copy of
    keep_files: bool = True  # whether the files that the script leaves in its working directory become artifacts
    network: str | Iterable[str] | None = None  # "none", "public", or hosts that the script may connect to


@dataclass(slots=True)
class Context:
    """Values that the server holds for a session and adds to tool calls. Scripts can neither read nor pass them.

    A context may change while runs use it.
    """

    values: dict[str, str] = field(default_factory=dict)  # by field name
    connections: dict[str, str] = field(default_factory=dict)  # the selected connection of each server
    chosen: Mapping[str, str] = field(default_factory=dict)  # connections of this run, which override the session's

    def for_run(self, chosen: Mapping[str, str]) -> Context:
        """This context for one run, with the connections that the run chose."""
        return Context(self.values, self.connections, chosen)

    def connection(self, server: str) -> str | None:
        return self.chosen.get(server) or self.connections.get(server)


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a server adds to a run: its id, its definition, and the artifacts and tools of the connection."""

    run_id: str
    artifacts: Artifacts | None = None  # None: Paddock's own store
    definition: str | None = None
    connection: str | None = None
    tools: Mapping[str, RunTool] = field(
        default_factory=dict
    )  # the connection's tools, which hide others of the same name
    context: Context | None = None  # values to inject into the run's tool calls
    can_search: bool = False  # whether the caller has the tool `search`
    principal: str = LOCAL  # for whom the run's tool calls are made
    call_watch: CallWatch | None = None
    engine_watch: Callable[[str | None], None] = lambda engine: None  # called when an engine has taken the run
    network: NetworkPolicy = NO_NETWORK  # what the caller may have at most
    network_watch: Callable[[tuple[Connection, ...]], None] = lambda connections: None
    """Called with what the run connected to, however the run ends."""
