"""The face of `code-execution_execute`: a JavaScript program's result, time, logs and artifacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.definitions.faces import (
    Face,
    FaceRequest,
    FaceResponse,
    HostInfo,
    Overflow,
    Overflows,
    ToolSpec,
    brief_envelope,
    count_fitting,
    cut_middle,
    object_schema,
)
from paddock.errors import CodeTooLarge
from paddock.model.artifacts import Artifact
from paddock.model.limits import MB, Limits
from paddock.model.request import RunOptions
from paddock.model.result import RunError, RunResult, Verdict

MIN_SECONDS = 1.0
CODE_BYTES = 100 * 1024
OVERFLOW_BYTES = 200
_LIMIT_MESSAGES = {
    Verdict.TIMEOUT: "the script did not end within its timeout of {milliseconds:.0f} ms: pass a longer `timeout`, "
    "or do less in one run",
    Verdict.OUT_OF_MEMORY: "the script used more than {memory_mb:g} MB of memory: keep less in memory",
    Verdict.OUTPUT_LIMIT: "the script logged and returned more than {output_mb:g} MB: log less, and keep large data "
    "with codeExec.createArtifact",
}
_PREFIXES = {"warn": "[WARN] ", "error": "[ERROR] "}
_TEXT = {"type": "string"}


def describe(definition: Definition, host: HostInfo) -> ToolSpec:
    default = definition.effective_limits(host.config).wall_seconds
    longest = min(definition.caps["wall_seconds"], host.config.caps.wall_seconds)
    shortest = min(MIN_SECONDS, longest)
    description = host.format_description(
        definition,
        overflow_bytes=OVERFLOW_BYTES,
        search=" that `search` finds" if host.has_tools else "",
        wall_ms=default * 1000,
        min_ms=shortest * 1000,
        max_ms=longest * 1000,
        code_kb=min(CODE_BYTES, host.config.code_bytes) / 1024,
    )
    properties = {
        "code": {**_TEXT, "description": "The script."},
        "timeout": {
            "type": "number",
            "minimum": round(shortest * 1000),
            "maximum": round(longest * 1000),
            "default": round(default * 1000),
            "description": "Time limit in milliseconds, including time spent waiting for tools.",
        },
        "connectionSelections": {
            "type": "object",
            "additionalProperties": _TEXT,
            "description": "The connection to use, by service. Default: the session's connection, else the first.",
        },
    }
    return ToolSpec(description, object_schema(properties, ["code"]), _OUTPUT_SCHEMA)


def parse(definition: Definition, arguments: Mapping[str, Any], host: HostInfo) -> FaceRequest:
    code = arguments["code"]
    if len(code) > CODE_BYTES or len(code.encode(errors="replace")) > CODE_BYTES:
        how = "keep data in artifacts and read it with codeExec.readArtifact"
        raise CodeTooLarge(f"the code is larger than {CODE_BYTES // 1024} KB; {how}")
    seconds = arguments["timeout"] / 1000 if "timeout" in arguments else None
    options: RunOptions = {**definition.run_options(host.config, seconds), "globals": "closed"}
    return FaceRequest(code, options, connections=arguments.get("connectionSelections", {}))


def render(definition: Definition, request: FaceRequest, result: RunResult, overflows: Overflows) -> FaceResponse:
    """The value or the error, with logs and artifacts if there are any."""
    artifact = overflows["output"].artifact if "output" in overflows else None
    artifacts = [*result.artifacts, *(each.artifact for each in overflows.values() if each.artifact is not None)]
    response: dict[str, Any] = {}
    if result.error is not None:
        response["error"] = _error(result.error, result.verdict, request.limits)
    elif artifact is not None:
        response["result"] = {
            "artifactId": artifact.id,
            "url": artifact.url,
            "size": artifact.size,
            "preview": overflows["output"].preview,
        }
    else:
        response["result"] = result.output
    response["executionTime"] = round(result.usage.wall_seconds * 1000, 3)
    logs = [f"{_PREFIXES.get(line['level'], '')}{line['text']}" for line in result.logs]
    if streams := [each for name, each in overflows.items() if name != "output"]:
        logs = _cut_logs(logs, streams)
    if logs or result.warnings:
        response["logs"] = [*logs, *(f"{_PREFIXES['warn']}{warning}" for warning in result.warnings)]
    if artifacts:
        response["createdArtifacts"] = [artifact_fields(each) for each in artifacts]
    return FaceResponse(structured=response, is_error=result.error is not None)


def _cut_logs(logs: Sequence[str], streams: Sequence[Overflow]) -> list[str]:
    """The first and the last of `logs`, about as much as is shown of one of the streams that are too long."""
    half = max(len(each.preview) for each in streams) // 2
    lines = [cut_middle(line, half) for line in logs]
    head = lines[: count_fitting((len(line) + 1 for line in lines), half)]
    rest = lines[len(head) :]
    tail = rest[len(rest) - count_fitting((len(line) + 1 for line in reversed(rest)), half) :]
    ids = " and ".join(each.artifact.id for each in streams if each.artifact is not None)
    where = f"; all of them are in {ids}: use read_artifact" if ids else ""
    left_out = len(rest) - len(tail)
    return [*head, f"[… {left_out:,} lines are left out{where} …]", *tail] if left_out else lines


def _error(error: RunError, verdict: Verdict, limits: Limits) -> dict[str, Any]:
    """The failure as the model reads it, with the envelope if a tool call failed."""
    message = error.message
    more: dict[str, Any] = {}
    if verdict in _LIMIT_MESSAGES:
        message = _LIMIT_MESSAGES[verdict].format(
            milliseconds=limits.wall_seconds * 1000,
            memory_mb=limits.memory_bytes / MB,
            output_mb=limits.output_bytes / MB,
        )
    elif error.envelope is not None:
        message = f"{error.envelope['tool']}: {error.envelope['summary']}"
        more = {"envelope": brief_envelope(error.envelope)}
    if error.hint and verdict not in _LIMIT_MESSAGES:
        more["hint"] = error.hint
    return {"name": error.type, "message": message, "line": error.line, **more}


def artifact_fields(artifact: Artifact) -> dict[str, Any]:
    """An artifact as callers see it, without its content."""
    return {
        "id": artifact.id,
        "url": artifact.url,
        "filename": artifact.filename,
        "mimeType": artifact.mime_type,
        "size": artifact.size,
    }


_ARTIFACT = {"id": _TEXT, "url": _TEXT, "filename": _TEXT, "mimeType": _TEXT, "size": {"type": "integer"}}
_ERROR = {
    "name": _TEXT,
    "message": _TEXT,
    "line": {"type": ["integer", "null"]},
    "hint": {**_TEXT, "description": "What to change."},
    "envelope": {"type": "object", "description": "The error envelope of a failed call."},
}
_OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "result": {"description": "What the script returned, or {artifactId, url, size, preview}."},
        "error": {"type": "object", "properties": _ERROR},
        "executionTime": {"type": "number", "description": "Milliseconds."},
        "logs": {"type": "array", "items": _TEXT},
        "createdArtifacts": {"type": "array", "items": {"type": "object", "properties": _ARTIFACT}},
    },
    "required": ["executionTime"],
}


def overflow_bytes(config: Config, result: RunResult) -> dict[str, int]:
    """The limit for the value, and for what was logged."""
    return {"output": OVERFLOW_BYTES, **dict.fromkeys(("stdout", "stderr"), config.server.answer_bytes)}


FACE = Face(describe, parse, render, overflow_bytes, stores_json=True)
