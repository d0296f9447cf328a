"""A request resolved against the configuration: which engine, which limits, which tools. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import normalize

from paddock.errors import BadInput, CodeTooLarge, RequestError, UnknownEngine, UnknownLanguage
from paddock.model import limits as limits_of
from paddock.model.events import Finished
from paddock.model.files import PlacedFile, place
from paddock.model.limits import Limits
from paddock.model.request import ENGINES, GLOBALS, LANGUAGES, MODES, Request
from paddock.model.result import RunError, Verdict
from paddock.model.words import nearest
from paddock.planning.imports import refused_import
from paddock.planning.python_source import Source, SourceProblem, read

if TYPE_CHECKING:
    from paddock.config import Config

ENGINE_LANGUAGE = {"monty": "python", "cpython": "python", "quickjs": "javascript", "node": "javascript"}
FULL = {"monty": "cpython", "quickjs": "node"}
"""The engine that runs whatever its light one cannot."""
BRIDGE_NAMES = ("call_tool", "report_progress", "create_artifact", "read_artifact")
BRIDGE_NAMES_OF_JAVASCRIPT = ("callTool", "reportProgress", "codeExec", "readFile", "console")
ASKED_FOR = "asked for"
SCRIPT_MODE = "script mode"
ARGUMENT_BYTES = 128 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that an engine must know to run a request. A plain value: it can be stored or sent elsewhere."""

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
    refusal: RunError | None = None
    """Set when nothing is to be run: a syntax error, or no engine here that can run this script."""

    def names(self) -> frozenset[str]:
        """The variables that the script finds set."""
        return frozenset([*self.inputs_json, "files"])


def make_plan(request: Request, config: Config, *, engines: Collection[str], tools: Collection[str]) -> Plan:
    """Resolve `request`, given the engines that are there, and the names under which the script finds its tools.

    A `RequestError` says what to change.
    """
    _check_code(request, config)
    language, engine = _language(request.language), _engine(request.engine or config.engine)
    if engine != "auto" and (ENGINE_LANGUAGE[engine] == "python") != (language == "python"):
        if request.engine:
            raise UnknownEngine(f"engine {engine!r} does not run {language}")
        engine = "auto"  # the configured one is for another language
    if engine == "quickjs" and language == "typescript":
        if request.engine:
            raise UnknownEngine("engine 'quickjs' does not run typescript; use 'auto' or 'node'")
        engine = "auto"
    if request.type_check not in (True, False, "tools"):
        raise RequestError(f"type_check must be True, False or 'tools', not {request.type_check!r}")
    if request.type_check and language != "python":
        raise RequestError(f"the type check is for python; leave it out for {language}")
    inputs_json = _encode_inputs(request.inputs, tools, language)
    files = place(request.files or ())
    if files and "files" in inputs_json:
        raise BadInput("an input named 'files' hides the list of attached files; rename the input")
    plan = Plan(
        code=request.code,
        language=language,
        engine=engine,
        engine_reason=None,
        limits=limits_of.resolve(request.limits, config.limits, config.caps),
        inputs_json=inputs_json,
        files=files,
        tools=tuple(tools),
        type_check=request.type_check,
        mode=_mode(request, engine),
        argv=_argv(request),
        refused_modules=_refused_modules(request),
        globals=_globals(request),
    )
    return _choose(plan, engines)


def _choose(plan: Plan, engines: Collection[str]) -> Plan:
    if plan.language != "python":
        return _javascript(plan, engines)
    if plan.mode == "script" and _is_sendable(plan.code):
        return _program(
            plan, engines, "cpython"
        )  # which finds out by itself whether it compiles, and says so on its stderr
    source = read(plan.code)
    if isinstance(source, SourceProblem):
        return _refuse(plan, source.type, source.message, source.line, source.column)
    if plan.engine != "auto":
        return _named(plan, engines)
    return _fitting(plan, source, engines)


def _program(plan: Plan, engines: Collection[str], engine: str) -> Plan:
    if engine not in engines:
        words = f"a program (mode 'script') needs the engine `{engine}`, which is not available here"
        return _refuse(plan, "EngineUnavailable", words)
    reason = SCRIPT_MODE if plan.engine == "auto" else ASKED_FOR
    return _with(plan, engine=engine, engine_reason=reason)


def _named(plan: Plan, engines: Collection[str]) -> Plan:
    if plan.engine not in engines:
        have = ", ".join(sorted(engines))
        return _refuse(plan, "EngineUnavailable", f"engine {plan.engine!r} is not available here; available: {have}")
    return _with(plan, engine=plan.engine, engine_reason=ASKED_FOR)


def _fitting(plan: Plan, source: Source, engines: Collection[str]) -> Plan:
    from paddock.planning import fits_python  # its tables take longer to load than everything else of the library

    names, tools = plan.names(), frozenset(plan.tools)
    misfit = fits_python.misfit(source, names, tools)
    if misfit is None and (plan.inputs_json or plan.files):
        contents = (file.file.content.decode(errors="replace") for file in plan.files)
        misfit = fits_python.unfit_for(source, names, tools, (*plan.inputs_json.values(), *contents))
    if misfit is None and plan.refused_modules:
        misfit = refused_import(source, plan.refused_modules)
    if misfit is None:
        return _with(plan, engine="monty", engine_reason=None)
    if "cpython" in engines:
        return _with(plan, engine="cpython", engine_reason=str(misfit))
    return _refuse(
        plan,
        "EngineUnavailable",
        f"this script needs full Python ({misfit}), and the engine `cpython` is not available here. "
        "Rewrite that part, or ask for engine `monty` to run it on the light interpreter all the same.",
        misfit.line,
        engine_reason=str(misfit),
    )


def _javascript(plan: Plan, engines: Collection[str]) -> Plan:
    if not _is_sendable(plan.code):
        return _refuse(plan, "SyntaxError", "the code holds half a surrogate pair, which has no encoding")
    if plan.engine != "auto":
        return _named(plan, engines)
    if plan.mode == "script":
        return _program(plan, engines, "node")
    from paddock.planning.javascript_words import node_word

    word = node_word(plan.code) if plan.language == "javascript" else None
    why = f"the script uses {word}" if word else None if plan.language == "javascript" else "TypeScript runs on Node"
    if why is None and "quickjs" in engines:
        return _with(plan, engine="quickjs", engine_reason=None)
    if "node" in engines:
        return _with(plan, engine="node", engine_reason=why or "the engine `quickjs` is not available here")
    if word is None:
        return _refuse(plan, "EngineUnavailable", f"no engine for {plan.language} is available here")
    words = f"this script needs Node ({why}), and the engine `node` is not available here; rewrite that part"
    return _refuse(plan, "EngineUnavailable", words, engine_reason=why)


def may_move(plan: Plan, *, engines: Collection[str]) -> bool:
    """Whether a run that the light engine cannot finish as the full one would is to go there."""
    return FULL.get(plan.engine or "") in engines and plan.engine_reason != ASKED_FOR


def elsewhere(plan: Plan, finished: Finished | None, *, engines: Collection[str]) -> Plan | None:
    """The plan to begin anew with, where a run ended for a reason that is not its script's; None where it was.

    The caller must be sure that nothing has left the sandbox.
    """
    if finished is None:
        return None
    if finished.verdict is Verdict.LOST:
        return plan
    if not may_move(plan, engines=engines):
        return None
    if plan.engine == "quickjs":
        return None
    if finished.note:
        return _with(plan, engine="cpython", engine_reason=f"the light engine could not word the {finished.error_type}")
    if finished.verdict is Verdict.REJECTED and finished.error_type == "NotImplementedError":
        return _with(plan, engine="cpython", engine_reason=f"moved: {finished.error_message}")
    return None


def _refuse(
    plan: Plan,
    error_type: str,
    message: str,
    line: int | None = None,
    column: int | None = None,
    *,
    engine_reason: str | None = None,
) -> Plan:
    error = RunError(type=error_type, message=message, line=line, column=column)
    return _with(plan, engine=None, engine_reason=engine_reason, refusal=error)


def _with(plan: Plan, *, engine: str | None, engine_reason: str | None, refusal: RunError | None = None) -> Plan:
    # dataclasses.replace() takes five times as long, on the path of every run.
    return Plan(
        plan.code,
        plan.language,
        engine,
        engine_reason,
        plan.limits,
        plan.inputs_json,
        plan.files,
        plan.tools,
        plan.type_check,
        plan.mode,
        plan.argv,
        plan.refused_modules,
        plan.globals,
        refusal,
    )


def _check_code(request: Request, config: Config) -> None:
    if not isinstance(request.code, str):
        raise RequestError(f"code must be text, not {type(request.code).__name__}")
    # Encoding is the dear part: a text of n characters has at least n bytes and at most four times as many.
    size = len(request.code)
    if size > config.code_bytes or size * 4 > config.code_bytes < len(request.code.encode(errors="replace")):
        raise CodeTooLarge(f"the code is larger than {config.code_bytes} bytes; pass data through inputs or files")


def _language(language: str) -> str:
    if language not in LANGUAGES:
        raise UnknownLanguage(f"unknown language {language!r}{_suggest(language, LANGUAGES)}")
    return language


def _engine(engine: str) -> str:
    if engine not in ENGINES:
        raise UnknownEngine(f"unknown engine {engine!r}{_suggest(engine, ENGINES)}")
    return engine


def _mode(request: Request, engine: str) -> str:
    if request.mode not in MODES:
        raise RequestError(f"unknown mode {request.mode!r}{_suggest(request.mode, MODES)}")
    if request.mode == "script" and engine in FULL:
        raise RequestError(f"mode 'script' runs a program, which the engine {engine!r} cannot; leave it to 'auto'")
    if request.mode == "script" and request.type_check:
        raise RequestError("a program (mode 'script') cannot be type checked; leave out one of the two")
    return request.mode


def _argv(request: Request) -> tuple[str, ...]:
    if isinstance(request.argv, str) or not isinstance(request.argv, Iterable):
        raise RequestError(f"argv must be a list of texts, not {request.argv!r}")
    given = tuple(request.argv)
    if given and request.mode != "script":
        raise RequestError("argv is what a program is started with; ask for mode 'script' too")
    for text in given:
        if not isinstance(text, str) or "\0" in text or not _is_sendable(text):
            raise RequestError(f"argv holds {text!r}, which cannot be an argument of a program")
    if sum(len(text.encode()) for text in given) > ARGUMENT_BYTES:
        raise RequestError(f"argv is larger than {ARGUMENT_BYTES} bytes; pass data through inputs or files")
    return given


def _refused_modules(request: Request) -> tuple[str, ...]:
    if isinstance(request.refused_modules, str) or not isinstance(request.refused_modules, Iterable):
        raise RequestError(f"refused_modules must be a list of names, not {request.refused_modules!r}")
    given = tuple(request.refused_modules)
    for name in given:
        if not isinstance(name, str) or not _is_a_module(name):
            raise RequestError(f"refused_modules holds {name!r}, which is no name of a module")
    if given and request.language != "python":
        raise RequestError(f"refused_modules are for python; leave them out for {request.language}")
    return given


def _globals(request: Request) -> str:
    if request.globals not in GLOBALS:
        raise RequestError(f"unknown globals {request.globals!r}{_suggest(request.globals, GLOBALS)}")
    if request.globals == "closed" and (request.language == "python" or request.mode == "script"):
        raise RequestError("closed globals are for expressions in javascript and typescript; leave them out")
    return request.globals


@lru_cache(maxsize=1024)
def _is_a_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _is_sendable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def _suggest(word: object, known: Iterable[str]) -> str:
    known = list(known)
    near = nearest(word, known)
    return f"; did you mean {near!r}?" if near else f"; expected one of {', '.join(known)}"


def _encode_inputs(inputs: Mapping[str, Any] | None, tools: Collection[str], language: str) -> dict[str, str]:
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping):
        raise BadInput(f"inputs must be a mapping of names to JSON values, not {type(inputs).__name__}")
    encoded: dict[str, str] = {}
    for name, value in inputs.items():
        if not isinstance(name, str) or not name.isidentifier() or _is_reserved(name, language):
            raise BadInput(f"input {name!r} cannot be a variable name in the script")
        if normalize("NFKC", name) != name:
            raise BadInput(f"input {name!r} is {normalize('NFKC', name)!r} to Python; name it so")
        if name in (BRIDGE_NAMES if language == "python" else BRIDGE_NAMES_OF_JAVASCRIPT) or name in tools:
            raise BadInput(f"input {name!r} would hide the function of that name; rename it")
        if name.startswith("__paddock"):
            raise BadInput(f"input {name!r}: names that begin with __paddock are reserved")
        try:
            encoded[name] = json.dumps(value, allow_nan=False)
            if "\\ud" in encoded[name]:  # half a pair, which no interpreter could be sent
                json.dumps(value, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as problem:
            raise BadInput(f"input {name!r} is not JSON: {problem}") from None
    return encoded


def _is_reserved(name: str, language: str) -> bool:
    if language == "python":
        return iskeyword(name)
    from paddock.planning.javascript_words import RESERVED

    return name in RESERVED
