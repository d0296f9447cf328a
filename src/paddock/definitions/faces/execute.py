"""The face of `execute`: a value as whatever it is, a failure as an error envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from paddock.definitions.definition import Definition
from paddock.definitions.faces.face import Asked, Given, Look, Outcome, Setting
from paddock.definitions.limits import all_limits_of, limits_of
from paddock.errors import PaddockError
from paddock.model import envelope
from paddock.model.limits import MB
from paddock.model.nesting import is_deeper
from paddock.model.result import RunError, RunResult, Verdict

SPILL_BYTES = 1 * MB
"""Of JSON: a value that is larger is kept as an artifact. So much is told of what was printed, too."""
SUMMARY_CHARACTERS = 4000
STRUCTURED_DEPTH = 100
"""What is nested more deeply is text alone: not every encoder on its way to the client goes so deep."""
_OF_THE_HOST = (Verdict.LOST, Verdict.CANCELLED)


def look(definition: Definition, setting: Setting) -> Look:
    """What a caller's model reads, with the limits of this installation."""
    limits = all_limits_of(definition, setting.config)
    text = definition.description.strip().format(
        calls=limits.calls,
        cpu_seconds=limits.cpu_seconds,
        wall_seconds=limits.wall_seconds,
        memory_mb=limits.memory_bytes / MB,
        spill_mb=SPILL_BYTES / MB,
        packages=", numpy and pandas" if "cpython" in setting.engines else ", in part",
    )
    code = {"type": "string", "description": "The script: asynchronous Python, with `await` at its top level."}
    schema = {"type": "object", "properties": {"code": code}, "required": ["code"], "additionalProperties": False}
    return Look(text, schema)


def asked(definition: Definition, arguments: Mapping[str, Any], setting: Setting) -> Asked:
    """The run that the one argument asks for, within the definition's limits."""
    return Asked(
        arguments["code"],
        {
            "language": definition.language or "python",
            "engine": definition.engine,
            "tools": definition.tools,
            "limits": limits_of(definition, setting.config),
            "refused_modules": definition.refused_modules,
        },
        uses_files=definition.includes_files,
    )


def given(definition: Definition, asked: Asked, outcome: Outcome) -> Given:
    """The value in the form that its type asks for, or the envelope of what went wrong."""
    result = outcome.result
    if result.verdict is not Verdict.OK:
        return Given(_failure(definition.name, result), is_error=True, meta=_meta(result))
    if outcome.spilled is not None:
        values = {"artifact": asdict(outcome.spilled.artifact), "preview": outcome.spilled.preview}
        return Given(None, values, meta=_meta(result))
    text, structured = _value(result)
    return Given(text, structured, meta=_meta(result))


def failed(definition: Definition, asked: Asked, problem: PaddockError) -> Given | None:
    return None


def spill_bytes(definition: Definition) -> int | None:
    return SPILL_BYTES


def _value(result: RunResult) -> tuple[str | None, dict[str, Any] | None]:
    value = result.output
    if value is None:
        return None, None
    if isinstance(value, str):
        return value, None
    if is_deeper(value, STRUCTURED_DEPTH):
        return result.output_json, None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")), value if isinstance(value, dict) else None


def _failure(tool: str, result: RunResult) -> str:
    error = result.error or RunError("RuntimeError", "the script failed and did not say why")
    if error.envelope is not None:
        return error.message  # a tool's own, as the script got it
    message = error.message
    if len(message) > SUMMARY_CHARACTERS:
        message = f"{message[:SUMMARY_CHARACTERS]}… ({len(message)} characters)"
    if result.verdict in _OF_THE_HOST:
        said = envelope.internal_error(tool, f"{error.type}: {message}")
    else:
        said = envelope.script_failed(tool, error.type, message or error.type, error.line)
    return json.dumps(said, ensure_ascii=False)


def _meta(result: RunResult) -> dict[str, Any]:
    """What a model need not read: what was printed, where it went wrong, and which run it was."""
    printed = {"stdout": result.stdout, "stderr": result.stderr}
    cut = [name for name, text in printed.items() if len(text) > SPILL_BYTES]
    said = {name: text[:SPILL_BYTES] for name, text in printed.items()}
    truncated = [*result.truncated, *(name for name in cut if name not in result.truncated)]
    trace = "" if result.error is None else result.error.traceback
    told = {"run_id": result.run_id, "engine": result.engine, **said, "truncated": truncated, "traceback": trace}
    return {name: value for name, value in told.items() if value}
