"""The face of `code_execution` and of saved definitions: inputs and files in, success and output or an error out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from paddock.definitions.definition import Definition
from paddock.definitions.faces import (
    Face,
    FaceRequest,
    FaceResponse,
    HostInfo,
    Overflows,
    ToolSpec,
    answer_bytes,
    brief_message,
    failed_call_note,
    object_schema,
    warning_lines,
)
from paddock.errors import PaddockError, RequestError
from paddock.model.limits import MB, Limits
from paddock.model.result import RunError, RunResult, Verdict

STUBS_URL = "paddock://stubs/"
MAX_NAMED = 20
"""How many linked tools or default inputs a description names."""
_LIMIT_VERDICTS = (Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY, Verdict.OUTPUT_LIMIT)
_HOST_VERDICTS = (*_LIMIT_VERDICTS, Verdict.CANCELLED, Verdict.LOST, Verdict.CRASHED)
"""Verdicts of runs that the host ended or that crashed; the script raised no exception."""
_TOO_DEEP = "maximum recursion depth exceeded"
_HOW_TO_CALL = "Call a linked tool with one dict, and await it: `await tool({...})`."
_WRONG_CALL = ("Argument to function", "Argument `", "positional arguments to function", "not awaited", "CoroutineType")


def describe(definition: Definition, host: HostInfo) -> ToolSpec:
    """The tool's description and schemas: the definition's own description, followed by how to use the tool."""
    lines = [*_arguments(definition, host), *_bounds(definition, host), _answer(definition)]
    text = "\n".join([definition.description.strip(), "", *(f"- {line}" for line in lines), _NOT_FOR])
    return ToolSpec(text, _input_schema(definition), _OUTPUT_SCHEMA)


def parse(definition: Definition, arguments: Mapping[str, Any], host: HostInfo) -> FaceRequest:
    """The caller's code, else the definition's. The caller's inputs override the definition's key by key."""
    code = arguments.get("code") or ""
    return FaceRequest(
        code if code.strip() else definition.code or "",
        {
            **definition.run_options(host.config),
            "inputs": {**definition.inputs, **arguments.get("inputs", {})},
        },
        session_files=definition.includes_files,
        artifacts=tuple(arguments.get("files", ())),
    )


def render(definition: Definition, request: FaceRequest, result: RunResult, overflows: Overflows) -> FaceResponse:
    """The output, or the type and message of the error."""
    stdout = overflows["stdout"].preview if "stdout" in overflows else result.stdout
    failed_call = failed_call_note(result.error) if result.error is not None and result.error.envelope else ()
    if warnings := (*failed_call, *result.warnings):
        stdout = "\n".join(part for part in (stdout.removesuffix("\n"), warning_lines(warnings)) if part)
    if result.verdict is Verdict.OK:
        values = {"success": True, "output": result.output, "stdout": stdout}
        return FaceResponse(structured={**values, "available_functions": list(result.available_functions)})
    error = result.error or RunError("RuntimeError", str(result.verdict))
    return _failure(_type(result, error), _message(request.limits, result, error), stdout)


def render_fault(request: FaceRequest, fault: PaddockError) -> FaceResponse:
    """A host fault, shown as a failed run. `render_refusal` shows invalid requests."""
    if isinstance(fault, RequestError):
        raise fault
    return _failure("RuntimeError", f"{type(fault).__name__}: {fault}")


def render_refusal(envelope: Mapping[str, Any]) -> FaceResponse:
    """Invalid arguments, or an overloaded server, shown as a failed run."""
    kind = "ToolValidationError" if envelope["error_kind"] == "mcp_input_validation" else "RuntimeError"
    return _failure(kind, " ".join([envelope["summary"], *envelope["hints"]]))


def _failure(kind: str, message: str, stdout: str = "") -> FaceResponse:
    values = {"success": False, "error": {"type": kind, "message": message}, "stdout": stdout}
    return FaceResponse(structured=values, is_error=True)


def _type(result: RunResult, error: RunError) -> str:
    if error.envelope is not None:
        return "ToolValidationError" if error.envelope["error_kind"] == "mcp_input_validation" else "RuntimeError"
    return "RuntimeError" if result.verdict in _HOST_VERDICTS or _is_too_deep(error) else error.type


def _message(limits: Limits, result: RunResult, error: RunError) -> str:
    """The error message with its line. The messages of envelopes and limits stay unchanged."""
    if error.envelope is not None or result.verdict in _HOST_VERDICTS:
        return error.message or f"the run ended: {result.verdict}"
    message = brief_message(error.message, error.traceback)
    if _is_too_deep(error):
        message = f"{message}: the limit recursion = {limits.recursion} was reached; call less deeply, or use a loop"
    if error.line is not None and "\n" not in message:
        message = f"{message} (line {error.line})"
    if error.type == "TypingError" and any(part in message for part in _WRONG_CALL):
        message = f"{message}\n{_HOW_TO_CALL}"
    return f"{message}\nHint: {error.hint}" if error.hint else message


def _is_too_deep(error: RunError) -> bool:
    return error.type == "RecursionError" and error.message.startswith(_TOO_DEEP)


def _arguments(definition: Definition, host: HostInfo) -> list[str]:
    if definition.is_fixed:
        return ["It takes no arguments: its code and inputs are fixed."]
    default = "; without it the tool's own code runs" if definition.code is not None else ""
    inputs = f" Defaults: {_names(definition.inputs)}." if definition.inputs else ""
    lines = [
        f"`code` is a whole script{default}. Its result is the last expression, or a top-level `return`; an "
        "assignment has none. Return dicts and lists; print only for diagnostics. Top-level `await` works.",
        f"Each key of `inputs` is a variable: pass data there, not in the code.{inputs}",
    ]
    if definition.tools != () and host.has_tools:
        linked = "" if definition.tools in (None, ("*",)) else f" Linked: {_names(definition.tools or ())}."
        lines.append(
            'Call a linked tool with one dict, `await tool({...})` or `await call_tool("server.tool", {...})`; several '
            "at once with `asyncio.gather`. JSON text is parsed; a list or plain value is in {result: …}. A "
            "failed call raises RuntimeError, whose text is JSON with hints; catch it to continue."
            f"{linked} Signatures: {'`get_schema`, or ' if definition.companions else ''}resource "
            f"{STUBS_URL}{definition.name}."
        )
    if definition.includes_files:
        lines.append(
            "`files` lists the attached files, {path, file_name, file_type, element_id}: read `Path(f['path'])`. "
            "attach_file attaches a file; the argument `files` adds artifacts to one run."
        )
    return lines


def _bounds(definition: Definition, host: HostInfo) -> list[str]:
    limits = definition.effective_limits(host.config)
    return [
        f"{host.python()} with its standard library{host.library_note(definition)}. {host.network(definition)} "
        "Files that a script writes are gone afterwards; `await create_artifact(name, text or bytes)` keeps one.",
        f"Limits: {limits.wall_seconds:g} s, {limits.memory_bytes / MB:g} MB, {limits.calls} tool calls, recursion "
        f"{limits.recursion}, {limits.output_bytes / MB:g} MB of output.",
    ]


def _answer(definition: Definition) -> str:
    advice = "" if definition.is_fixed else " Read the error and change the script: the same script fails again."
    return (
        "Result: {success: true, output, stdout, available_functions}, or {success: false, error: {type, message}, "
        f"stdout}}.{advice} TypingError: a tool is called wrongly; nothing ran. "
        "RuntimeError: a limit was reached, or a tool failed."
    )


_NOT_FOR = "Not for long jobs, scraping, polling, or unbounded loops of calls."


def _input_schema(definition: Definition) -> dict[str, Any]:
    if definition.is_fixed:
        return object_schema({})
    properties: dict[str, Any] = {
        "code": {"type": "string", "description": "The script."},
        "inputs": {"type": "object", "description": "Variables of the script, by name."},
    }
    if definition.includes_files:
        properties["files"] = {
            "type": "array",
            "items": {"type": "string"},
            "description": "More artifacts for this run: ids, URLs or file names.",
        }
    return object_schema(properties, [] if definition.code is not None else ["code"])


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


def _names(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:MAX_NAMED])
    return shown if len(names) <= MAX_NAMED else f"{shown}, …"


# A value is returned whole.
FACE = Face(describe, parse, render, answer_bytes("stdout"), render_fault=render_fault, render_refusal=render_refusal)
