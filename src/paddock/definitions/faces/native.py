"""Paddock's own face: a run as the library has it, without what says nothing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.definitions.faces.face import Asked, Given, Look, Outcome, Setting
from paddock.errors import BadFile, PaddockError
from paddock.model.files import File
from paddock.model.limits import MB
from paddock.model.request import LANGUAGES, RunOptions
from paddock.model.result import Verdict
from paddock.planning.plan import ENGINE_LANGUAGE

_JAVASCRIPT = (
    ' JavaScript: `await callTool("server", "tool", {...})`, `reportProgress`; a failed call throws an Error with '
    "`.envelope`."
)
SPILL_BYTES = 64 * 1024
"""Of JSON: a value that is larger is kept as an artifact. A model would read some 16,000 tokens of it."""


def look(definition: Definition, setting: Setting) -> Look:
    """What a caller's model reads, with the limits of this installation."""
    text = _described(definition.description, setting.config, setting.engines)
    return Look(text, _input_schema(setting.config, setting.engines), _output_schema(), is_short=True)


def asked(definition: Definition, arguments: Mapping[str, Any], setting: Setting) -> Asked:
    """What is asked for by arguments that fit the schema."""
    return Asked(
        arguments["code"],
        _options(arguments),
        is_detached=arguments.get("detach", False),
        idempotency_key=arguments.get("idempotency_key"),
        uses_files=True,
    )


def given(definition: Definition, asked: Asked, outcome: Outcome) -> Given:
    """How the run ended; what is empty is left out."""
    result, spilled = outcome.result, outcome.spilled
    output = {"artifact": asdict(spilled.artifact), "preview": spilled.preview} if spilled else result.output
    some = {
        "stdout": result.stdout,
        "stderr": result.stderr,
        "truncated": list(result.truncated),
        "error": None if result.error is None else asdict(result.error),
        "exit_code": result.exit_code,
        "signal": result.signal,
        "artifacts": [asdict(artifact) for artifact in result.artifacts],
        "engine": result.engine,
        "engine_reason": result.engine_reason,
    }
    shown = {"run_id": result.run_id, "verdict": str(result.verdict), "output": output}
    shown |= {name: value for name, value in some.items() if value not in (None, "", [])}
    # Both say the same: older clients show a model the text, newer ones the object.
    return Given(None, shown, is_error=outcome.result.verdict is not Verdict.OK)


def failed(definition: Definition, asked: Asked, problem: PaddockError) -> Given | None:
    return None


def spill_bytes(definition: Definition) -> int | None:
    return SPILL_BYTES


def _described(text: str, config: Config, engines: Collection[str]) -> str:
    return text.strip().format(
        packages=", numpy and pandas" if "cpython" in engines else ", in part",
        javascript=_JAVASCRIPT if "javascript" in _languages(engines) else "",
        wall_seconds=config.limits.wall_seconds,
        most_seconds=config.caps.wall_seconds,
        memory_mb=config.limits.memory_bytes / MB,
        calls=config.limits.calls,
        output_mb=config.limits.output_bytes / MB,
    )


def _input_schema(config: Config, engines: Collection[str]) -> dict[str, Any]:
    """What a caller may pass."""
    languages = _languages(engines)
    text = {"type": "string"}
    file = {"file_name": text, "content": text, "base64": text, "file_type": text}
    return _object(
        {
            "code": text,
            "language": {"enum": languages, "default": languages[0]},
            "inputs": {"type": "object"},
            "files": {
                "type": "array",
                "items": _object(file, ["file_name"]),
                "description": "Each with content or base64.",
            },
            "timeout": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": _plain(config.caps.wall_seconds),
                "default": _plain(config.limits.wall_seconds),
                "description": "Seconds.",
            },
            "detach": {"type": "boolean", "description": "Answer a run_id at once, for get_run."},
            "idempotency_key": {
                **text,
                "maxLength": 255,
                "description": "A retry with it does not run again.",
            },
        },
        ["code"],
    )


def _output_schema() -> dict[str, Any]:
    """What a caller gets. Short: every client is sent it, and docs/server.md says the rest."""
    text = {"type": "string"}
    shown: dict[str, Any] = {
        "run_id": text,
        "verdict": text,
        "output": {},
        "stdout": text,
        "error": {"type": "object"},
        "artifacts": {"type": "array"},
    }
    return {"type": "object", "properties": shown, "required": ["run_id", "verdict"]}


def _options(arguments: Mapping[str, Any]) -> RunOptions:
    """What is asked for besides the code, by arguments that fit the schema."""
    asked: RunOptions = {"files": [_file(each) for each in arguments.get("files", ())]}
    if "language" in arguments:
        asked["language"] = arguments["language"]
    if "inputs" in arguments:
        asked["inputs"] = arguments["inputs"]
    if "timeout" in arguments:
        asked["limits"] = {"wall_seconds": arguments["timeout"]}
    return asked


def _languages(engines: Collection[str]) -> list[str]:
    runs = {ENGINE_LANGUAGE[engine] for engine in engines}
    return [name for name in LANGUAGES if name in runs or (name == "typescript" and "javascript" in runs)]


def _plain(seconds: float) -> float:
    """As a person writes it: 30, not 30.0."""
    return int(seconds) if seconds == int(seconds) else seconds


def _file(asked: Mapping[str, str]) -> File:
    name = asked["file_name"]
    if ("content" in asked) == ("base64" in asked):
        raise BadFile(f"the file {name!r} must have either content or base64")
    try:
        content = asked["content"].encode() if "content" in asked else base64.b64decode(asked["base64"], validate=True)
    except (UnicodeEncodeError, binascii.Error) as problem:
        raise BadFile(f"the content of {name!r} cannot be read: {problem}") from None
    return File(name, content, asked.get("file_type", ""))


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}
