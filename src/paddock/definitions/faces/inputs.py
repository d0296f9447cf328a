"""A script with inputs, linked tools and attached files; back come success and output, or the type of an error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from paddock.definitions.definition import Definition
from paddock.definitions.faces.face import Asked, Given, Look, Outcome, Setting
from paddock.definitions.limits import limits_of
from paddock.errors import PaddockError, RequestError
from paddock.model.limits import MB
from paddock.model.request import RunOptions
from paddock.model.result import RunError, RunResult, Verdict

STUBS = "paddock://stubs/"
NAMED = 20
"""So many linked tools or default inputs are named in a description, and no more."""
_OF_HOST = (Verdict.CANCELLED, Verdict.LOST, Verdict.CRASHED)
_LIMITS = (Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY, Verdict.OUTPUT_LIMIT)
_TOO_DEEP = "maximum recursion depth exceeded"
_NO_MORE = ", or ask for a higher limit"  # for which this face has no argument
_HOW_TO_CALL = "Call a linked tool with one dict, and await it: `await tool({...})`."
_WRONG_CALL = ("Argument to function", "Argument `", "positional arguments to function", "not awaited", "CoroutineType")


def look(definition: Definition, setting: Setting) -> Look:
    """The definition's own words, and how such a tool is used."""
    lines = [*_taking(definition), *_within(definition, setting), *_giving(definition)]
    text = "\n".join([definition.description.strip(), "", *(f"- {line}" for line in lines)])
    return Look(f"{text}\n{_NOT_FOR}", _input_schema(definition), _OUTPUT_SCHEMA)


def asked(definition: Definition, arguments: Mapping[str, Any], setting: Setting) -> Asked:
    """The caller's code or the definition's own, with the caller's inputs over the definition's, key by key."""
    options: RunOptions = {
        "language": "python",
        "engine": definition.engine,
        "inputs": {**definition.inputs, **arguments.get("inputs", {})},
        "tools": definition.tools,
        "limits": limits_of(definition, setting.config),
        "type_check": "tools" if definition.type_check else False,
        "refused_modules": definition.refused_modules,
    }
    code = arguments.get("code", definition.code) or ""
    files = tuple(arguments.get("files", ()))
    return Asked(code, options, uses_files=definition.includes_files, artifacts=files)


def given(definition: Definition, asked: Asked, outcome: Outcome) -> Given:
    result = outcome.result
    if result.verdict is Verdict.OK:
        functions = list(result.available_functions)
        values = {"success": True, "output": result.output, "stdout": result.stdout, "available_functions": functions}
        return Given(None, values)
    error = result.error or RunError("RuntimeError", str(result.verdict))
    said = {"type": _type(result, error), "message": _message(definition, result, error)}
    return Given(None, {"success": False, "error": said, "stdout": result.stdout}, is_error=True)


def failed(definition: Definition, asked: Asked, problem: PaddockError) -> Given | None:
    """A fault of the host, as a run that failed; what is wrong with the request is told by `refused`."""
    if isinstance(problem, RequestError):
        return None
    said = {"type": "RuntimeError", "message": f"{type(problem).__name__}: {problem}"}
    return Given(None, {"success": False, "error": said, "stdout": ""}, is_error=True)


def refused(definition: Definition, envelope: Mapping[str, Any]) -> Given:
    """A call whose arguments do not fit, as a run that failed."""
    said = " ".join([envelope["summary"], *envelope["hints"]])
    values = {"success": False, "error": {"type": "ToolValidationError", "message": said}, "stdout": ""}
    return Given(None, values, is_error=True)


def spill_bytes(definition: Definition) -> int | None:
    return None


def _type(result: RunResult, error: RunError) -> str:
    if error.envelope is not None:
        return "ToolValidationError" if error.envelope["error_kind"] == "mcp_input_validation" else "RuntimeError"
    if result.verdict in (*_LIMITS, *_OF_HOST) or _is_too_deep(error):
        return "RuntimeError"
    return error.type


def _message(definition: Definition, result: RunResult, error: RunError) -> str:
    """What is wrong and at which line; an envelope and a limit are told as they are."""
    if error.envelope is not None or result.verdict in (*_LIMITS, *_OF_HOST):
        return error.message.removesuffix(_NO_MORE) or f"the run ended: {result.verdict}"
    words = error.message
    if _is_too_deep(error):
        most = definition.limits.get("recursion", "the runtime's own")
        words = f"{words}: the limit recursion = {most} was reached; call less deeply, or use a loop"
    if error.line is not None and "\n" not in words:
        words = f"{words} (line {error.line})"
    if error.type == "TypingError" and any(part in words for part in _WRONG_CALL):
        words = f"{words}\n{_HOW_TO_CALL}"
    return words


def _is_too_deep(error: RunError) -> bool:
    return error.type == "RecursionError" and error.message.startswith(_TOO_DEEP)


def _taking(definition: Definition) -> list[str]:
    if definition.is_fixed:
        return ["It takes no arguments: its code and inputs are set."]
    default = "; without it the tool's own runs" if definition.code is not None else ""
    inputs = f" Defaults: {_listed(definition.inputs)}." if definition.inputs else ""
    lines = [
        f"`code` is a whole script{default}. Its value is that of the last expression, or of a top-level `return`; an "
        "assignment gives nothing. Return dicts and lists; print only for diagnostics. Top-level `await` works.",
        f"Each key of `inputs` is a variable: pass data there, not in the code.{inputs}",
    ]
    if definition.tools != ():
        linked = "" if definition.tools in (None, ("*",)) else f" Linked: {_listed(definition.tools or ())}."
        lines.append(
            "A linked tool is called with one dict, `await tool({...})`, several at once with `asyncio.gather`. One "
            "that fails raises RuntimeError with a JSON envelope as its text; `except` it to go on."
            f"{linked} Signatures: resource {STUBS}{definition.name}."
        )
    if definition.includes_files:
        lines.append(
            "`files` lists the attached files, {path, file_name, file_type, element_id}: read `Path(f['path'])`. "
            "attach_file attaches one; the argument `files` adds artifacts to one run."
        )
    return lines


def _within(definition: Definition, setting: Setting) -> list[str]:
    most = {**setting.config.limits.to_dict(), **limits_of(definition, setting.config)}
    packages = ", numpy and pandas" if "cpython" in setting.engines else ", in part"
    return [
        f"Python's standard library{packages}; no network; what a script writes is gone afterwards.",
        f"Limits: {most['wall_seconds']:g} s, {most['memory_bytes'] / MB:g} MB, {most['calls']} tool calls, recursion "
        f"{most['recursion']}, {most['output_bytes'] / MB:g} MB of output.",
    ]


def _giving(definition: Definition) -> list[str]:
    act = "" if definition.is_fixed else " Read it and change the script: the same one fails again."
    return [
        "Back: {success: true, output, stdout, available_functions}, or {success: false, error: {type, message}, "
        f"stdout}}.{act} TypingError: a tool is called wrongly, nothing ran; RuntimeError: a limit, or a tool failed."
    ]


_NOT_FOR = "Not for long jobs, scraping, polling, or loops of calls without an end."


def _input_schema(definition: Definition) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "code": {"type": "string", "description": "The script."},
        "inputs": {"type": "object", "description": "Variables of the script, by name."},
    }
    if definition.includes_files:
        properties["files"] = {
            "type": "array",
            "items": {"type": "string"},
            "description": "Artifacts that this run reads too: ids, URLs or file names.",
        }
    if definition.is_fixed:
        properties = {}
    required = [] if definition.is_fixed or definition.code is not None else ["code"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT = {"type": "string"}
_OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "output": {"description": "The script's value."},
        "stdout": _TEXT,
        "available_functions": {"type": "array", "items": _TEXT, "description": "The linked tools."},
        "error": {"type": "object", "properties": {"type": _TEXT, "message": _TEXT}, "required": ["type", "message"]},
    },
    "required": ["success", "stdout"],
}


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:NAMED])
    return shown if len(names) <= NAMED else f"{shown}, …"
