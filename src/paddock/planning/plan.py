"""Resolves a request against the configuration: engine, limits, tools. Does no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import normalize

from paddock.errors import (
    BadInput,
    CodeTooLarge,
    RequestError,
    UnknownEngine,
    UnknownEnvironment,
    UnknownLanguage,
)
from paddock.model import limits as limits_model
from paddock.model.files import PlacedFile, place
from paddock.model.limits import Limits
from paddock.model.network import NO_NETWORK, NetworkPolicy, grant
from paddock.model.packages import PackageSet, parse_packages, python_problem, read_block
from paddock.model.request import ENGINES, GLOBALS, LANGUAGES, MODES, Request
from paddock.model.result import RunError
from paddock.model.spelling import did_you_mean
from paddock.planning.javascript_words import RESERVED, node_word

if TYPE_CHECKING:
    from paddock.config import Config

ENGINE_LANGUAGE = {"monty": "python", "cpython": "python", "quickjs": "javascript", "node": "javascript"}
LIGHT = ("monty", "quickjs")
"""Engines that are embedded interpreters and cannot run programs (mode `script`)."""
BRIDGE_NAMES = ("call_tool", "report_progress", "create_artifact", "read_artifact")
STANDARD_NAMES = ("asyncio", "json", "Path")
"""What Python scripts need no import for, because the descriptions of the code tools use it."""
DISPLAY = "display"
"""The function of full Python that shows figures and tables. An input of this name hides it."""
JAVASCRIPT_BRIDGE_NAMES = ("callTool", "reportProgress", "codeExec", "readFile", "console")
_USED_BY_BRIDGE = ("Map", "Object", "Set")
"""Functions of JavaScript that Paddock's code uses in guests after the inputs are defined."""
REQUESTED = "requested"
SCRIPT_MODE = "script mode"
SESSION_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}"  # not `..`, which clients take out of the path of a URL
IN_SESSION = "sessions in JavaScript and TypeScript run on Node"
NAME_CHARACTERS = 50
ARGUMENT_BYTES = 128 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that an engine needs to run a request. A plain value that can be stored or sent elsewhere."""

    code: str
    language: str
    engine: str | None
    engine_reason: str | None
    limits: Limits
    inputs_json: Mapping[str, str]
    files: tuple[PlacedFile, ...]
    tools: tuple[str, ...]
    type_check: bool | Literal["tools"] = False
    mode: str = "expression"
    argv: tuple[str, ...] = ()
    refused_modules: tuple[str, ...] = ()
    globals: str = "all"
    """`closed`: JavaScript has the same few globals on every engine."""
    keep_files: bool = True
    """Whether the files that the script leaves in its working directory become artifacts."""
    sends_outline: bool = False
    """Whether the guest sends an outline of the script and waits before it runs the script."""
    packages: tuple[str, ...] = ()
    """What the run asks for beyond its environment."""
    package_set: PackageSet | None = None
    """Those packages, installed. `Engine.prepare` sets it."""
    may_install: bool = False
    """Whether the caller may have packages installed."""
    environment: str | None = None
    """The environment that the guest starts from. None: the engine's own."""
    python: tuple[int, int] = (3, 11)
    """The version of full Python in that environment."""
    network: NetworkPolicy | None = None
    """What the script may connect to. None: the request does not say, and in a new guest that means nothing."""
    network_allowed: NetworkPolicy = NO_NETWORK
    """What the caller could ask for at most."""
    max_connections: int = 0
    network_bytes: int = 0
    check_only: bool = False
    """Whether the script is compiled and never run."""
    session: str | None = None
    """The session to run in. It stays alive after the run."""
    fork_from: str | None = None
    """The session that `session` starts as a copy of."""
    refusal: RunError | None = None
    """Why nothing runs: the text cannot be source code, or no engine here can run it."""

    def names(self) -> frozenset[str]:
        """The variables that are set before the script runs."""
        return frozenset([*self.inputs_json, "files"])


def make_plan(
    request: Request,
    config: Config,
    engines: Collection[str],
    tools: Collection[str] = (),
    *,
    cpython_problem: str | None = None,
    network: NetworkPolicy | None = None,
) -> Plan:
    """Resolve `request`. Raises a `RequestError` that says what to change in it.

    `engines` are the engines that this platform supports. `cpython_problem` says why full Python cannot run here, if it
    cannot. `tools` are the names under which the script calls its tools. `network` is what the caller may connect to.
    """
    _check_code(request, config)
    language = _check_known("language", request.language, LANGUAGES, UnknownLanguage)
    engine = _check_known("engine", request.engine or config.engine, ENGINES, UnknownEngine)
    if engine != "auto" and (ENGINE_LANGUAGE[engine] == "python") != (language == "python"):
        if request.engine:
            raise UnknownEngine(f"engine {engine!r} does not run {language}; use 'auto'")
        engine = "auto"  # the configured engine is for the other language
    if engine == "quickjs" and language == "typescript":
        if request.engine:
            raise UnknownEngine("engine 'quickjs' does not run typescript; use 'auto' or 'node'")
        engine = "auto"
    if request.type_check not in (True, False, "tools"):
        raise RequestError(f"type_check must be True, False or 'tools', not {request.type_check!r}")
    if not isinstance(request.keep_files, bool):
        raise RequestError(f"keep_files must be True or False, not {request.keep_files!r}")
    if request.type_check and language != "python":
        raise RequestError(f"type_check works for python only; leave it out for {language}")
    inputs_json = _encode_inputs(request.inputs, tools, language)
    files = place(request.files or ())
    if files and "files" in inputs_json:
        raise BadInput("an input named 'files' would hide the list of attached files; rename the input")
    allowed = config.network.allowed(None) if network is None else network
    plan = Plan(
        code=request.code,
        language=language,
        engine=engine,
        engine_reason=None,
        limits=limits_model.resolve(request.limits, config.limits, config.caps),
        inputs_json=inputs_json,
        files=files,
        tools=tuple(tools),
        type_check=request.type_check,
        mode=_mode(request, engine),
        argv=_argv(request),
        refused_modules=_refused_modules(request),
        globals=_globals(request),
        packages=_packages(request, language),
        environment=_environment(request, config),
        python=config.python_version(request.environment),
        session=_session_name("session", request.session),
        fork_from=_session_name("fork_from", request.fork_from),
        keep_files=request.keep_files,
        network=None if request.network is None else grant(request.network, allowed),
        network_allowed=allowed,
        max_connections=config.network.max_connections,
        network_bytes=config.network.max_bytes,
    )
    _check_session(plan, request)
    if not _is_encodable(plan.code):
        message = "the code contains a lone surrogate, which has no UTF-8 encoding; remove it"
        return replace(plan, engine=None, refusal=RunError("SyntaxError", message))
    plan = _choose_engine(plan, engines, cpython_problem)
    if plan.engine == "cpython" and (problem := _python_problem(plan, config)) is not None:
        return replace(plan, engine=None, refusal=RunError("PackageError", problem))
    return plan


def _python_problem(plan: Plan, config: Config) -> str | None:
    """Why the environment's Python does not fit the block at the top of the script, and which one does."""
    requires = read_block(plan.code).requires_python
    problem = python_problem(requires, plan.python)
    if problem is None:
        return None
    others = config.environments.items()
    fitting = [name for name, each in others if each.python and python_problem(requires, each.python_version()) is None]
    return f"{problem}; " + (f"environment={fitting[0]!r} has it" if fitting else "change `requires-python`")


def _packages(request: Request, language: str) -> tuple[str, ...]:
    """The packages of the options and, for Python, of the block at the top of the script."""
    packages = parse_packages(request.packages, language)
    return tuple(sorted({*packages, *read_block(request.code).packages})) if language == "python" else packages


def _environment(request: Request, config: Config) -> str | None:
    if request.environment is None:
        return None
    if request.language != "python":
        raise RequestError(f"environment works for python only; leave it out for {request.language}")
    return _check_known("environment", request.environment, config.environments, UnknownEnvironment)


def _choose_engine(plan: Plan, engines: Collection[str], cpython_problem: str | None) -> Plan:
    if plan.engine in LIGHT and (plan.packages or plan.environment):
        full = "cpython" if plan.language == "python" else "node"
        raise RequestError(f"engine {plan.engine!r} has no packages and environments; use 'auto' or {full!r}")
    if plan.engine in LIGHT and plan.network:
        full = "cpython" if plan.language == "python" else "node"
        raise RequestError(f"engine {plan.engine!r} has no network; use 'auto' or {full!r}")
    if plan.engine == "quickjs" and plan.session is not None:
        plan = replace(plan, engine="auto")  # the configured engine has no sessions
    if plan.engine != "auto":
        if plan.engine in engines:
            return replace(plan, engine_reason=REQUESTED)
        available = ", ".join(sorted(engines))
        return _refuse_engine(plan, f"engine {plan.engine!r} is not available here; available: {available}")
    if plan.mode == "script":
        engine = "cpython" if plan.language == "python" else "node"
        if engine in engines:
            return replace(plan, engine=engine, engine_reason=SCRIPT_MODE)
        message = f"a program (mode 'script') needs the engine `{engine}`, which is not available here"
        return _refuse_engine(plan, message)
    if plan.language == "python":
        return _choose_python_engine(plan, engines, cpython_problem)
    return _choose_javascript_engine(plan, engines)


def _choose_python_engine(plan: Plan, engines: Collection[str], cpython_problem: str | None) -> Plan:
    """Full Python if it can run here, else Monty."""
    if "cpython" in engines and cpython_problem is None:
        return replace(plan, engine="cpython")
    reason = cpython_problem or "the engine `cpython` is not available on this system"
    if "monty" in engines and not (plan.packages or plan.environment or plan.network):
        return replace(plan, engine="monty", engine_reason=f"full Python cannot run here: {reason}")
    return _refuse_engine(plan, f"no engine for python can run here: {reason}")


def _choose_javascript_engine(plan: Plan, engines: Collection[str]) -> Plan:
    """QuickJS if it can run the script, else Node: for TypeScript, and for words that only Node has."""
    reason, word = "TypeScript runs on Node", None
    if plan.packages:
        reason = "packages are installed for Node"
    elif plan.network:
        reason = "the script may use a network"
    elif plan.session is not None:
        reason = IN_SESSION
    elif plan.language == "javascript":
        word = node_word(plan.code)
        reason = f"the script uses {word}" if word else ""
    if not reason and "quickjs" in engines:
        return replace(plan, engine="quickjs")
    if "node" in engines:
        return replace(plan, engine="node", engine_reason=reason or "the engine `quickjs` is not available here")
    if word is None:
        return _refuse_engine(plan, f"no engine for {plan.language} is available here")
    message = (
        f"this script needs Node ({reason}), and the engine `node` is not available here; rewrite it without {word}"
    )
    return replace(_refuse_engine(plan, message), engine_reason=reason)


def _refuse_engine(plan: Plan, message: str) -> Plan:
    return replace(plan, engine=None, engine_reason=None, refusal=RunError("EngineUnavailable", message))


def _check_code(request: Request, config: Config) -> None:
    if not isinstance(request.code, str):
        raise RequestError(f"code must be text, not {type(request.code).__name__}")
    if len(request.code.encode(errors="replace")) > config.code_bytes:
        raise CodeTooLarge(
            f"the code is larger than {limits_model.format_bytes(config.code_bytes)}; pass data through inputs or files"
        )


def _check_known(kind: str, value: str, known: Collection[str], error: type[RequestError] = RequestError) -> str:
    if not isinstance(value, str) or value not in known:
        raise error(f"unknown {kind} {value!r}; {did_you_mean(value, known)}")
    return value


def _mode(request: Request, engine: str) -> str:
    mode = _check_known("mode", request.mode, MODES)
    if mode == "script" and engine in LIGHT:
        raise RequestError(f"engine {engine!r} cannot run programs (mode 'script'); use engine 'auto'")
    if mode == "script" and request.type_check:
        raise RequestError("type_check does not work in mode 'script'; leave out one of the two")
    return mode


def _argv(request: Request) -> tuple[str, ...]:
    if isinstance(request.argv, str) or not isinstance(request.argv, Iterable):
        raise RequestError(f"argv must be a list of strings, not {type(request.argv).__name__}")
    values = tuple(request.argv)
    if values and request.mode != "script":
        raise RequestError("argv is for programs; set mode='script' too")
    for text in values:
        if not isinstance(text, str) or "\0" in text or not _is_encodable(text):
            raise RequestError(f"argv contains {repr(text)[:100]}, which cannot be a program's argument")
    if sum(len(text.encode()) for text in values) > ARGUMENT_BYTES:
        raise RequestError(
            f"argv is larger than {limits_model.format_bytes(ARGUMENT_BYTES)}; pass data through inputs or files"
        )
    return values


def _refused_modules(request: Request) -> tuple[str, ...]:
    if isinstance(request.refused_modules, str) or not isinstance(request.refused_modules, Iterable):
        raise RequestError(f"refused_modules must be a list of names, not {type(request.refused_modules).__name__}")
    values = tuple(request.refused_modules)
    for name in values:
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            raise RequestError(f"refused_modules contains {name!r}, which is not a module name")
    if values and request.language != "python":
        raise RequestError(f"refused_modules works for python only; leave it out for {request.language}")
    return values


def _globals(request: Request) -> str:
    is_unsupported = request.language == "python" or request.mode == "script"
    if _check_known("globals", request.globals, GLOBALS) == "closed" and is_unsupported:
        raise RequestError("globals='closed' works for expressions in javascript and typescript only; leave it out")
    return request.globals


def _session_name(option: str, name: object) -> str | None:
    if name is not None and (not isinstance(name, str) or not re.fullmatch(SESSION_NAME, name)):
        raise RequestError(
            f"{option} must be a name of 1 to 64 letters, digits, hyphens, underscores or dots, the first not a dot"
        )
    return name


def _check_session(plan: Plan, request: Request) -> None:
    """Refuse options that a session does not support."""
    if plan.session is None:
        if plan.fork_from is not None:
            raise RequestError("fork_from needs the name of the new session: set session too")
        return
    if plan.session == plan.fork_from:
        raise RequestError(f"the session {plan.session!r} cannot start as a copy of itself; use another name")
    if request.engine == "quickjs":
        raise RequestError("engine 'quickjs' has no sessions; use 'auto' or 'node'")
    unsupported = {
        "mode='script'": plan.mode == "script",
        "type_check": plan.type_check is True,
        "refused_modules": bool(plan.refused_modules),
        "globals='closed'": plan.globals == "closed",
    }
    for option, is_used in unsupported.items():
        if is_used:
            raise RequestError(f"{option} does not work in a session; leave out one of the two")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _other_name(name: object, is_reserved: Callable[[str], bool]) -> str:
    """How to pass an input that cannot be a variable of this name."""
    shown = str(name)[:NAME_CHARACTERS]
    plain = re.sub(r"\W", "_", shown, flags=re.ASCII)
    other = plain if plain.isidentifier() and not is_reserved(plain) else f"input_{plain}"
    return f"name it {other!r}, or put it inside another input, as in {{'data': {{{shown!r}: …}}}}"


def _encode_inputs(inputs: Mapping[str, Any] | None, tools: Collection[str], language: str) -> dict[str, str]:
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping):
        raise BadInput(f"inputs must be a mapping of names to JSON values, not {type(inputs).__name__}")
    is_reserved = iskeyword if language == "python" else RESERVED.__contains__
    bridge_names = BRIDGE_NAMES if language == "python" else (*JAVASCRIPT_BRIDGE_NAMES, *_USED_BY_BRIDGE)
    encoded: dict[str, str] = {}
    for name, value in inputs.items():
        if not isinstance(name, str) or not name.isidentifier() or is_reserved(name):
            raise BadInput(
                f"input {name!r} is not a valid variable name in {language}; {_other_name(name, is_reserved)}"
            )
        if normalize("NFKC", name) != name:
            raise BadInput(f"Python reads the name {name!r} as {normalize('NFKC', name)!r}; use that name")
        if name in bridge_names or name in tools:
            raise BadInput(f"input {name!r} would hide the function of that name; rename the input")
        if name.startswith("__paddock") or (name.startswith("__") and name.endswith("__")):
            raise BadInput(f"input {name!r}: names that begin with __paddock, or begin and end with __, are reserved")
        try:
            encoded[name] = json.dumps(value, allow_nan=False)
            if "\\ud" in encoded[name]:  # perhaps a lone surrogate, which has no encoding
                json.dumps(value, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as problem:
            raise BadInput(f"input {name!r} is not JSON: {problem}") from None
    return encoded
