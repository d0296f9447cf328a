"""The face with logs: a JavaScript's result and time, what it logged and the files it made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from paddock.definitions.definition import Definition
from paddock.definitions.faces.face import Asked, Given, Look, Outcome, Setting
from paddock.definitions.limits import all_limits_of
from paddock.errors import CodeTooLarge, PaddockError
from paddock.model.artifacts import Artifact
from paddock.model.limits import MB, Limits
from paddock.model.request import RunOptions
from paddock.model.result import RunError, Verdict

LEAST_SECONDS = 1.0
CODE_BYTES = 100 * 1024
SPILL_BYTES = 200
_LIMITED = {
    Verdict.TIMEOUT: "the script did not end within its timeout of {milliseconds:.0f} ms: do less in one run, or "
    "give it more time",
    Verdict.OUT_OF_MEMORY: "the script used more than {memory_mb:g} MB of memory: hold less at once",
    Verdict.OUTPUT_LIMIT: "the script logged and returned more than {output_mb:g} MB: log less, and keep what is large "
    "with codeExec.createArtifact",
}
_PREFIXES = {"warn": "[WARN] ", "error": "[ERROR] "}


def look(definition: Definition, setting: Setting) -> Look:
    """What a caller's model reads, with the limits of this installation."""
    limits, most_seconds = all_limits_of(definition, setting.config), _most_seconds(definition, setting)
    described = definition.description.strip().format(
        spill_bytes=SPILL_BYTES,
        wall_ms=limits.wall_seconds * 1000,
        least_ms=_least_seconds(most_seconds) * 1000,
        most_ms=most_seconds * 1000,
        memory_mb=limits.memory_bytes / MB,
        calls=limits.calls,
        output_mb=limits.output_bytes / MB,
        code_kb=min(CODE_BYTES, setting.config.code_bytes) / 1024,
    )
    return Look(described, _input_schema(limits.wall_seconds, most_seconds), _output_schema())


def asked(definition: Definition, arguments: Mapping[str, Any], setting: Setting) -> Asked:
    """What is asked for by arguments that fit the schema."""
    code = arguments["code"]
    if len(code) > CODE_BYTES or len(code.encode(errors="replace")) > CODE_BYTES:
        raise CodeTooLarge(f"the code is larger than {CODE_BYTES} bytes; keep data as artifacts and read it from them")
    limits = all_limits_of(definition, setting.config)
    if "timeout" in arguments:
        limits = replace(limits, wall_seconds=arguments["timeout"] / 1000)
    options: RunOptions = {
        "language": "javascript",
        "engine": definition.engine,
        "limits": limits,
        "globals": "closed",
    }
    return Asked(code, options, connections=arguments.get("connectionSelections", {}))


def given(definition: Definition, asked: Asked, outcome: Outcome) -> Given:
    """The value or the error, and what came before it; what is empty is left out."""
    result, spilled = outcome.result, outcome.spilled
    made = [*result.artifacts, *([spilled.artifact] if spilled else [])]
    shown: dict[str, Any] = {}
    if result.error is not None:
        shown["error"] = _error(result.error, result.verdict, asked)
    elif spilled is not None:
        kept = spilled.artifact
        shown["result"] = {"artifactId": kept.id, "url": kept.url, "size": kept.size, "preview": spilled.preview}
    else:
        shown["result"] = result.output
    shown["executionTime"] = round(result.usage.wall_seconds * 1000, 3)
    if result.logs:
        shown["logs"] = [f"{_PREFIXES.get(line['level'], '')}{line['text']}" for line in result.logs]
    if made:
        shown["createdArtifacts"] = [_described(artifact) for artifact in made]
    return Given(None, shown, is_error=result.error is not None)


def failed(definition: Definition, asked: Asked, problem: PaddockError) -> Given | None:
    return None


def spill_bytes(definition: Definition) -> int | None:
    return SPILL_BYTES


def _error(error: RunError, verdict: Verdict, asked: Asked) -> dict[str, Any]:
    """What a model reads of a failure: in the words of this tool, and with the envelope of a call that failed."""
    limits = cast("Limits", asked.options["limits"])
    if verdict in _LIMITED:
        message = _LIMITED[verdict].format(
            milliseconds=limits.wall_seconds * 1000,
            memory_mb=limits.memory_bytes / MB,
            output_mb=limits.output_bytes / MB,
        )
        return {"name": error.type, "message": message, "line": error.line}
    if error.envelope is None:
        return {"name": error.type, "message": error.message, "line": error.line}
    message = f"{error.envelope['tool']}: {error.envelope['summary']}"
    return {"name": error.type, "message": message, "line": error.line, "envelope": error.envelope}


def _described(artifact: Artifact) -> dict[str, Any]:
    return {
        "id": artifact.id,
        "url": artifact.url,
        "filename": artifact.filename,
        "mimeType": artifact.mime_type,
        "size": artifact.size,
    }


def _most_seconds(definition: Definition, setting: Setting) -> float:
    return min(definition.caps["wall_seconds"], setting.config.caps.wall_seconds)


def _least_seconds(most_seconds: float) -> float:
    return min(LEAST_SECONDS, most_seconds)


def _input_schema(wall_seconds: float, most_seconds: float) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The script."},
            "timeout": {
                "type": "number",
                "minimum": round(_least_seconds(most_seconds) * 1000),
                "maximum": round(most_seconds * 1000),
                "default": round(wall_seconds * 1000),
                "description": "Milliseconds that it may take, waiting for tools included.",
            },
            "connectionSelections": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Which connection to use, by service; else the session's, else the first.",
            },
        },
        "required": ["code"],
        "additionalProperties": False,
    }


def _output_schema() -> dict[str, Any]:
    """Of a script that failed there is `error` in place of `result`."""
    text = {"type": "string"}
    artifact = {"id": text, "url": text, "filename": text, "mimeType": text, "size": {"type": "integer"}}
    error = {
        "name": text,
        "message": text,
        "line": {"type": ["integer", "null"]},
        "envelope": {"type": "object", "description": "What a call that failed has said."},
    }
    shown: dict[str, Any] = {
        "result": {"description": "What the script returned, or {artifactId, url, size, preview}."},
        "error": {"type": "object", "properties": error},
        "executionTime": {"type": "number", "description": "Milliseconds."},
        "logs": {"type": "array", "items": text},
        "createdArtifacts": {"type": "array", "items": {"type": "object", "properties": artifact}},
    }
    return {"type": "object", "properties": shown, "required": ["executionTime"]}
