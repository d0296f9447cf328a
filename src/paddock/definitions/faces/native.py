"""The face of `run_code`: the fields of the library's `RunResult`, without empty ones."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Mapping
from typing import Any

from paddock.definitions.definition import Definition
from paddock.definitions.faces import Face, FaceRequest, FaceResponse, HostInfo, Overflow, ToolSpec, object_schema
from paddock.errors import BadFile
from paddock.model.files import File
from paddock.model.request import LANGUAGES, RunOptions
from paddock.model.result import RunResult, Verdict

OVERFLOW_BYTES = 64 * 1024
"""About 16,000 tokens."""
_JAVASCRIPT = (
    ' JavaScript: `await callTool("server", "tool", {...})`, `reportProgress`; a failed call throws an Error with '
    "`.envelope`."
)
_FIELDS = (
    *("stdout", "stderr", "truncated", "error", "warnings", "exit_code", "signal"),
    *("artifacts", "engine", "engine_reason"),
)
_SCRIPT_FRAME = re.compile(r'\s+(File "main\.py", line|at .*main\.[jt]s:)')
MAX_FRAMES = 5
_TEXT = {"type": "string"}


def describe(definition: Definition, host: HostInfo) -> ToolSpec:
    """The tool's description and schemas for the model, with the limits of this installation."""
    javascript = _JAVASCRIPT if "javascript" in _languages(host.engines) else ""
    description = host.format_description(definition, javascript=javascript, max_seconds=host.config.caps.wall_seconds)
    return ToolSpec(description, _input_schema(host), _OUTPUT_SCHEMA, is_compact=True)


def parse(definition: Definition, arguments: Mapping[str, Any], host: HostInfo) -> FaceRequest:
    """The run that these arguments ask for."""
    options: RunOptions = {"files": [_file(each) for each in arguments.get("files", ())]}
    if "language" in arguments:
        options["language"] = arguments["language"]
    if "inputs" in arguments:
        options["inputs"] = arguments["inputs"]
    if "timeout" in arguments:
        options["limits"] = {"wall_seconds": arguments["timeout"]}
    return FaceRequest(
        arguments["code"],
        options,
        detach=arguments.get("detach", False),
        idempotency_key=arguments.get("idempotency_key"),
        session_files=True,
    )


def render(definition: Definition, request: FaceRequest, result: RunResult, overflow: Overflow | None) -> FaceResponse:
    """How the run ended."""
    return FaceResponse(structured=summarize(result.to_dict(), overflow), is_error=result.verdict is not Verdict.OK)


def summarize(result: Mapping[str, Any], overflow: Overflow | None) -> dict[str, Any]:
    """The result as `run_code` and `get_run` return it, without empty fields."""
    output = result["output"] if overflow is None else overflow.to_dict()
    # The calls are the only record of what an unfinished run did.
    names = (*_FIELDS, "calls") if result["verdict"] in (Verdict.LOST, Verdict.CANCELLED) else _FIELDS
    fields = {name: result.get(name) for name in names}
    if fields["error"] is not None:
        fields["error"] = _without_repetition(fields["error"])
    summary = {"run_id": result["run_id"], "verdict": str(result["verdict"]), "output": output}
    return summary | {name: value for name, value in fields.items() if value not in (None, "", [])}


def _without_repetition(error: Mapping[str, Any]) -> dict[str, Any]:
    """The error without empty fields and repetitions.

    The envelope of a failed call is also its message. A traceback is shown if it has more than one line of the script,
    and without the lines of libraries.
    """
    envelope = error.get("envelope")
    lines = [] if envelope else [line for line in error["traceback"].splitlines() if _SCRIPT_FRAME.match(line)]
    shown = {
        "message": envelope["summary"] if envelope else error["message"],
        "traceback": "\n".join(line.strip() for line in lines[-MAX_FRAMES:]) if len(lines) > 1 else "",
    }
    return {name: value for name, value in {**error, **shown}.items() if name != "column" and value not in (None, "")}


def _input_schema(host: HostInfo) -> dict[str, Any]:
    languages = _languages(host.engines)
    file = {"file_name": _TEXT, "content": _TEXT, "base64": _TEXT, "file_type": _TEXT}
    properties = {
        "code": _TEXT,
        "language": {"enum": languages, "default": languages[0]},
        "inputs": {"type": "object"},
        "files": {
            "type": "array",
            "items": object_schema(file, ["file_name"]),
            "description": "Each needs content or base64.",
        },
        "timeout": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": _without_point(host.config.caps.wall_seconds),
            "default": _without_point(host.config.limits.wall_seconds),
            "description": "Seconds.",
        },
        "detach": {"type": "boolean", "description": "Return a run_id at once; get_run returns the result."},
        "idempotency_key": {**_TEXT, "maxLength": 255, "description": "A retry with the same key does not run again."},
    }
    return object_schema(properties, ["code"])


# Short, because it is sent to every client; docs/server.md lists all fields.
_OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "run_id": _TEXT,
        "verdict": _TEXT,
        "output": {},
        "stdout": _TEXT,
        "error": {"type": "object"},
        "artifacts": {"type": "array"},
    },
    "required": ["run_id", "verdict"],
}


def _languages(engines: Collection[str]) -> list[str]:
    return list(LANGUAGES) if "node" in engines else ["python"]


def _without_point(seconds: float) -> float:
    """30 rather than 30.0."""
    return int(seconds) if seconds == int(seconds) else seconds


def _file(values: Mapping[str, str]) -> File:
    name = values["file_name"]
    if ("content" in values) == ("base64" in values):
        raise BadFile(f"the file {name!r} needs either content or base64, and not both")
    try:
        is_text = "content" in values
        content = values["content"].encode() if is_text else base64.b64decode(values["base64"], validate=True)
    except ValueError as problem:  # not base64, or a lone surrogate
        raise BadFile(f"the content of {name!r} cannot be read: {problem}") from None
    return File(name, content, values.get("file_type", ""))


FACE = Face(describe, parse, render, overflow_bytes=OVERFLOW_BYTES)
