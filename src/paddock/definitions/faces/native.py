"""The face of `run_code`: the fields of the library's `RunResult`, without empty ones."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from paddock.definitions.definition import Definition
from paddock.definitions.faces import (
    Face,
    FaceRequest,
    FaceResponse,
    HostInfo,
    Overflows,
    ToolSpec,
    answer_bytes,
    brief_envelope,
    brief_message,
    count_fitting,
    cut_middle,
    envelope_response,
    object_schema,
    replacement,
)
from paddock.errors import BadFile
from paddock.model.environments import BUILT_IN
from paddock.model.files import File
from paddock.model.limits import CAPS, MB, Limits, format_limit
from paddock.model.network import NONE, PUBLIC
from paddock.model.outputs import RunOutput
from paddock.model.packages import OFF
from paddock.model.request import ALIASES, LANGUAGES, RunOptions
from paddock.model.result import RunResult, Verdict

PREVIEW_BYTES = 2000
CALLS_BYTES = 8000
"""How much of the calls of a run that did not end by itself is shown."""
ROWS_BYTES = 50_000
"""How much of the rows of displayed tables is returned."""
MESSAGE_BYTES = 4000
"""How much is shown of an error's message."""
_FILE = {"file_name": "a.csv", "content": "…"}
STORED_FILE = "Artifact: (await read_artifact(name))['content']."
_TOOLS = (
    '\n- Tools: find them with `search`, then `await call_tool("server.tool", {{...}})`, several at once with '
    "`asyncio.gather`. JSON text is parsed; a list or plain value is in {{result: …}}. A failed call raises "
    "RuntimeError; its text is JSON with hints. At most {calls} calls."
)
_CALL_TOOL = ', `callTool("server", "tool", {...})` (errors have `.envelope`)'
_JAVASCRIPT = (
    "\n- JavaScript and TypeScript: `import` loads modules of {node}. Functions: "
    "`codeExec.createArtifact`, `codeExec.readArtifact`, `reportProgress`{call_tool}."
)
_LIMIT_VERDICTS = (Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY, Verdict.OUTPUT_LIMIT)
_ARGUMENTS = {
    "wall_seconds": "timeout",
    "cpu_seconds": "timeout",
    "memory_bytes": "memory_mb",
    "output_bytes": "output_kb",
}
"""The argument with which a caller raises each limit."""
_FIELDS = (
    *("stdout", "stderr", "truncated", "error", "warnings", "exit_code", "signal"),
    *("artifacts", "progress", "engine", "engine_reason"),
)
_SCRIPT_FRAME = re.compile(r'\s+(File "(?:main\.py|cell \d+)", line|at .*(?:main\.[jt]s|cell \d+):)')
MAX_FRAMES = 5
_MAIN = 'File "main.py", '
_FILES = re.compile(r"files(\[\d+\])?")
_TEXT = {"type": "string"}


def describe(definition: Definition, host: HostInfo) -> ToolSpec:
    call_tool = _CALL_TOOL if host.has_tools else ""
    javascript = _JAVASCRIPT.format(node=host.node(), call_tool=call_tool) if "node" in host.engines else ""
    description = host.format_description(
        definition,
        javascript=javascript,
        tools=_TOOLS.format(calls=definition.effective_limits(host.config).calls) if host.has_tools else "",
        answer_kb=host.config.server.answer_bytes / 1024,
    )
    return ToolSpec(description, _input_schema(host), _OUTPUT_SCHEMA, is_compact=True)


def parse(definition: Definition, arguments: Mapping[str, Any], host: HostInfo) -> FaceRequest:
    names = ("language", "engine", "inputs", "packages", "environment", "network", "session", "fork_from")
    options = {name: arguments[name] for name in names if name in arguments}
    options["keep_files"] = definition.keep_files
    options["files"] = [_file(each) for each in arguments.get("files", ())]
    limits = {}
    if "timeout" in arguments:
        seconds, config = arguments["timeout"], host.config
        limits["wall_seconds"] = seconds
        limits["cpu_seconds"] = min(max(seconds, config.limits.cpu_seconds), config.caps.cpu_seconds)
    if "memory_mb" in arguments:
        limits["memory_bytes"] = arguments["memory_mb"] * MB
    if "output_kb" in arguments:
        limits["output_bytes"] = arguments["output_kb"] * 1024
    if limits:
        options["limits"] = limits
    return FaceRequest(
        arguments["code"],
        cast("RunOptions", options),
        detach=arguments.get("detach", False),
        idempotency_key=arguments.get("idempotency_key"),
        session_files=True,
        caps=host.config.caps,
    )


def normalize(arguments: dict[str, Any]) -> dict[str, Any]:
    """Replace an alias of a language, such as `js`, with its name."""
    alias = arguments.get("language")
    if not isinstance(alias, str) or alias not in ALIASES:
        return arguments
    language, engine = ALIASES[alias]
    return {**arguments, "language": language, **({"engine": engine} if engine else {})}


def render(definition: Definition, request: FaceRequest, result: RunResult, overflows: Overflows) -> FaceResponse:
    rest = replace(result, outputs=tuple(map(_with_first_rows, result.outputs)))
    rest = replace(rest, output_json=None) if "output" in overflows else rest  # a large value is not decoded
    values = summarize(rest.to_dict(), overflows, request.caps)
    text = None
    if any("rows" in each for each in values.get("outputs", ())):  # a model reads the text, a program the rows
        shown = [{name: value for name, value in each.items() if name != "rows"} for each in values["outputs"]]
        text = json.dumps({**values, "outputs": shown}, ensure_ascii=False)
    return FaceResponse(text, values, is_error=result.verdict is not Verdict.OK)


def render_refusal(envelope: Mapping[str, Any]) -> FaceResponse:
    """Invalid arguments. Models pass names of artifacts as `files`."""
    is_name = any(_FILES.fullmatch(each["path"]) and each["received_type"] == "string" for each in envelope["details"])
    return envelope_response(
        {**envelope, "hints": [f"File: {{file_name, content}}. {STORED_FILE}"]} if is_name else envelope
    )


def preview(text: str) -> str:
    """What is shown of a value that became an artifact."""
    return cut_middle(text, PREVIEW_BYTES)


def summarize(result: Mapping[str, Any], overflows: Overflows, caps: Limits = CAPS) -> dict[str, Any]:
    """The result as `run_code` and `get_run` return it, without empty fields."""
    output = replacement(overflows["output"]) if "output" in overflows else result["output"]
    # The calls are the only record of what an unfinished run did.
    names = (*_FIELDS, "calls") if result["verdict"] in (Verdict.LOST, Verdict.CANCELLED) else _FIELDS
    fields = {name: result.get(name) for name in names}
    fields["outputs"] = _outputs(result.get("outputs") or (), "output" in overflows)
    if "calls" in fields:
        calls = _newest_calls(result["calls"])
        fields |= {"calls": calls, "calls_left_out": len(result["calls"]) - len(calls) or None}
    fields |= {name: each.preview for name, each in overflows.items() if name != "output"}
    if fields["error"] is not None:
        fields["error"] = _without_repetition(fields["error"])
        if result["verdict"] in _LIMIT_VERDICTS or fields["error"]["type"] == "MemoryError":
            fields["error"] |= _with_arguments(fields["error"], caps)
    summary = {"run_id": result["run_id"], "verdict": str(result["verdict"]), "output": output}
    session = result.get("session")
    if session and (not session["kept"] or result["verdict"] in (*_LIMIT_VERDICTS, Verdict.CANCELLED)):
        fields["session"] = {"kept": session["kept"], "reason": session["reason"] or "the run was interrupted"}
    return summary | {name: value for name, value in fields.items() if value not in (None, "", [])}


def _outputs(outputs: Sequence[Mapping[str, Any]], is_cut: bool) -> list[dict[str, Any]]:
    """What the script displayed, without the content of images and HTML, which are artifacts.

    A table that is the script's value is left out unless the value `is_cut`. As many rows are shown as fit.
    """
    shown, bytes_left = [], ROWS_BYTES
    for output in outputs:
        if output["type"] == "table" and output["is_result"] and not is_cut:
            continue
        values = {"type": output["type"], "text": output["text"]}
        if output["artifact"] is not None:
            values["artifact"] = output["artifact"]["filename"]
        if output["type"] == "table" and isinstance(output["data"], list):
            rows = values["rows"] = []
            for row in output["data"]:
                if (size := len(json.dumps(row))) > bytes_left:
                    break
                bytes_left -= size
                rows.append(row)
        shown.append(values)
    return shown


def _with_first_rows(output: RunOutput) -> RunOutput:
    """A table without rows that would not be shown: no other thread runs while megabytes of them are decoded."""
    if output.type != "table" or len(output.content) <= ROWS_BYTES:
        return output
    import msgspec

    rows = [bytes(row) for row in msgspec.json.decode(output.content, type=list[msgspec.Raw])]
    first = rows[: count_fitting(map(len, rows), ROWS_BYTES)]
    return replace(output, content=b"[%b]" % b",".join(first))


def _newest_calls(calls: Sequence[Any]) -> list[Any]:
    """The last calls, as far as they fit into CALLS_BYTES."""
    count = count_fitting((len(json.dumps(call)) for call in reversed(calls)), CALLS_BYTES)
    return list(calls[len(calls) - count :])


def _with_arguments(error: Mapping[str, Any], caps: Limits) -> dict[str, Any]:
    """The message and the hints with the argument that raises the limit. After a timeout, that is the first hint."""
    message, hints = error["message"], list(error.get("hints", ()))
    name = next((each for each in _ARGUMENTS if f"{each} = " in message), None)
    if name is None:
        return {}
    argument, cap = _ARGUMENTS[name], format_limit(name, getattr(caps, name))
    if cap not in message:
        hint = f"Pass a higher `{argument}` (up to {cap.removeprefix(f'{name} = ')})."
        hints = [hint, *hints] if argument == "timeout" else [*hints, hint]
    if name == "wall_seconds":
        message = message.removesuffix(": do less work in one run")
    return {"message": message.replace(name, argument) if name != "cpu_seconds" else message, "hints": hints}


def _without_repetition(error: Mapping[str, Any]) -> dict[str, Any]:
    """The error without empty fields and repetitions.

    The message of a failed call is the summary of its envelope. A traceback is shown if it has more than one line of
    the script, and without the lines of libraries.
    """
    envelope = error.get("envelope")
    lines = [] if envelope else [line for line in error["traceback"].splitlines() if _SCRIPT_FRAME.match(line)]
    message = envelope["summary"] if envelope else brief_message(error["message"], error["traceback"])
    shown_frames = lines[:MAX_FRAMES] if "    at " in error["traceback"] else lines[-MAX_FRAMES:]  # the innermost ones
    shown = {
        "message": cut_middle(message, MESSAGE_BYTES),
        "envelope": brief_envelope(envelope) if envelope else None,
        "traceback": "\n".join(line.strip().removeprefix(_MAIN) for line in shown_frames)
        if len(shown_frames) > 1
        else "",
    }
    return {name: value for name, value in {**error, **shown}.items() if name != "column" and value not in (None, "")}


def _input_schema(host: HostInfo) -> dict[str, Any]:
    languages = list(LANGUAGES) if "node" in host.engines else ["python"]
    file = {"file_name": _TEXT, "content": _TEXT, "base64": _TEXT, "file_type": _TEXT}
    properties = {
        "code": _TEXT,
        "language": {"enum": languages, "default": languages[0]},
        "engine": {"enum": ["node"], "deprecated": True},  # not shown to clients; `language: "node"` sets it
        "inputs": {"type": "object"},
        "files": {
            "type": "array",
            "items": {**object_schema(file, ["file_name"]), "examples": [_FILE]},
            "description": "{file_name, content or base64}.",
        },
        "session": {**_TEXT, "description": "Keeps variables and files."},
        "fork_from": _TEXT,
        "timeout": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": _without_point(host.config.caps.wall_seconds),
            "default": _without_point(host.config.limits.wall_seconds),
            "description": "Seconds.",
        },
        "memory_mb": _size(host.config.limits.memory_bytes, host.config.caps.memory_bytes, MB),
        "output_kb": _size(host.config.limits.output_bytes, host.config.caps.output_bytes, 1024),
        "detach": {"type": "boolean", "description": "Return a run_id at once, for get_run. `timeout` applies."},
        "idempotency_key": {
            **_TEXT,
            "maxLength": 255,
            "description": "Runs once per key.",
        },
    }
    if host.config.packages.install != (OFF,):
        properties["packages"] = {"type": "array", "items": _TEXT, "description": "To install, from PyPI or npm."}
    if own := sorted(host.config.environments.keys() - BUILT_IN.keys()):
        listed = [host.config.cpython.environment, *(name for name in own if name != host.config.cpython.environment)]
        properties["environment"] = {"enum": listed, "description": "Of Python."}
    if host.config.network.allowed("user") or host.config.network.allowed("operator"):
        hosts = {"type": "array", "items": _TEXT}
        properties["network"] = {
            "anyOf": [{"enum": [NONE, PUBLIC]}, hosts],
            "description": 'Hosts: "public", or ["api.example.org:443"].',
        }
    return object_schema(properties, ["code"])


# Short, because it is sent to every client; docs/server.md lists all fields.
_OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "required": ["run_id", "verdict"]}


def _size(default: int, cap: int, unit: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": cap // unit, "default": default // unit}


def _without_point(seconds: float) -> float:
    """30 rather than 30.0."""
    return int(seconds) if seconds == int(seconds) else seconds


def _file(values: Mapping[str, str]) -> File:
    name = values["file_name"]
    if "content" not in values and "base64" not in values:
        raise BadFile(f"the file {name!r} needs content or base64. {STORED_FILE}")
    if "content" in values and "base64" in values:
        raise BadFile(f"the file {name!r} has content and base64: pass one of them")
    try:
        is_text = "content" in values
        content = values["content"].encode() if is_text else base64.b64decode(values["base64"], validate=True)
    except ValueError as problem:  # not base64, or a lone surrogate
        raise BadFile(f"the content of {name!r} cannot be read: {problem}") from None
    return File(name, content, values.get("file_type", ""))


FACE = Face(
    describe,
    parse,
    render,
    answer_bytes("output", "stdout", "stderr"),
    normalize=normalize,
    preview=preview,
    render_refusal=render_refusal,
)
