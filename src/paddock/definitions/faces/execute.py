"""The face of `execute`: a value as text or structured content, a failure as an error envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.definitions.faces import (
    Face,
    FaceRequest,
    FaceResponse,
    HostInfo,
    Overflows,
    ToolSpec,
    brief_message,
    cut_middle,
    envelope_response,
    failed_call_note,
    object_schema,
    replacement,
)
from paddock.model import envelope
from paddock.model.limits import MB
from paddock.model.result import NOTHING, RunError, RunResult, Verdict

OVERFLOW_BYTES = 1 * MB
"""A larger value becomes an artifact. Also the limit for each output stream in the response."""
SUMMARY_CHARACTERS = 4000
PRINTED_ONLY = "[The script printed this and returned nothing. `return` gives a value.]"
PRINTED_BYTES = 4000
"""How much of what was printed is shown beside a value or a failure."""
KEEP = "return it, or keep it with create_artifact"


def describe(definition: Definition, host: HostInfo) -> ToolSpec:
    code = {"type": "string", "description": "The script: asynchronous Python, with `await` at its top level."}
    description = host.format_description(definition, overflow_mb=OVERFLOW_BYTES / MB)
    return ToolSpec(description, object_schema({"code": code}, ["code"]))


def parse(definition: Definition, arguments: Mapping[str, Any], host: HostInfo) -> FaceRequest:
    """A run of the `code` argument within the definition's limits."""
    options = definition.run_options(host.config)
    return FaceRequest(arguments["code"], options, session_files=definition.includes_files)


def render(definition: Definition, request: FaceRequest, result: RunResult, overflows: Overflows) -> FaceResponse:
    """The value, or the envelope of what went wrong."""
    response = _value(result, overflows) if result.verdict is Verdict.OK else _failure(definition.name, result)
    is_shown = result.verdict is Verdict.OK and result.output_json in (None, "null")
    printed = "" if is_shown else cut_middle(result.stdout.strip("\n"), PRINTED_BYTES, KEEP)
    warnings = (text for text in result.warnings if not text.startswith(NOTHING))  # then the content is empty
    return replace(response, meta=_meta(result), printed=printed, warnings=(*response.warnings, *warnings))


def overflow_bytes(config: Config, result: RunResult) -> dict[str, int]:
    """The limit for the value, or for what was printed, which is shown if there is no value."""
    is_printed = result.verdict is Verdict.OK and result.output_json in (None, "null")
    return {"stdout": config.server.answer_bytes} if is_printed else {"output": OVERFLOW_BYTES}


def _value(result: RunResult, overflows: Overflows) -> FaceResponse:
    if "output" in overflows:
        return FaceResponse(structured=replacement(overflows["output"]))
    value = result.output
    if value is None and result.stdout.strip():
        printed = overflows["stdout"].preview if "stdout" in overflows else result.stdout
        return FaceResponse("\n".join([printed.rstrip("\n"), PRINTED_ONLY]))
    if value is None or isinstance(value, str):
        return FaceResponse(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return FaceResponse(text, value if isinstance(value, dict) else None)


def _failure(tool: str, result: RunResult) -> FaceResponse:
    error = result.error or RunError("RuntimeError", "the script failed, and no reason was reported")
    if error.envelope is not None:
        # The tool's own envelope, as the script received it.
        return FaceResponse(error.message, is_error=True, warnings=failed_call_note(error))
    message = brief_message(error.message, error.traceback)
    if len(message) > SUMMARY_CHARACTERS:
        message = f"{message[:SUMMARY_CHARACTERS]}… ({len(message)} characters)"
    if result.verdict in (Verdict.LOST, Verdict.CANCELLED):
        failure = envelope.internal_error(tool, f"{error.type}: {message}")
    else:
        failure = envelope.script_failed(tool, error.type, message or error.type, error.line, hint=error.hint)
    return envelope_response(failure)


def _meta(result: RunResult) -> dict[str, Any]:
    """Metadata that the model does not need: output streams, traceback, run id and engine."""
    streams = {"stdout": result.stdout, "stderr": result.stderr}
    cut = [name for name, text in streams.items() if len(text) > OVERFLOW_BYTES]
    meta = {
        "run_id": result.run_id,
        "engine": result.engine,
        **{name: text[:OVERFLOW_BYTES] for name, text in streams.items()},
        "truncated": [*result.truncated, *(name for name in cut if name not in result.truncated)],
        "traceback": "" if result.error is None else result.error.traceback,
    }
    return {name: value for name, value in meta.items() if value}


FACE = Face(describe, parse, render, overflow_bytes)
