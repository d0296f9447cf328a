"""A program in Python as a terminal shows it: one text. Or what Ruff finds in it, as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.definitions.faces.face import Asked, Given, Look, Outcome, Setting
from paddock.definitions.faces.packages import listed
from paddock.definitions.limits import all_limits_of
from paddock.errors import PaddockError
from paddock.linting import Finding
from paddock.model.limits import MB, Limits
from paddock.model.request import RunOptions
from paddock.model.result import RunResult, Verdict

CLEAN = "No issues found!"
TIMED_OUT = "Execution timed out"


def look(definition: Definition, setting: Setting) -> Look:
    """What a caller's model reads, with the limits of this installation."""
    limits, most = all_limits_of(definition, setting.config), _most_seconds(definition, setting.config)
    text = definition.description.strip().format(
        packages=listed(setting.config, ", with "),
        wall_seconds=limits.wall_seconds,
        most_seconds=most,
        cpu_seconds=limits.cpu_seconds,
        memory_mb=limits.memory_bytes / MB,
        processes=limits.processes,
        file_mb=limits.file_bytes / MB,
        output_mb=limits.output_bytes / MB,
    )
    seconds = {"type": "integer", "minimum": 1, "maximum": most, "default": int(limits.wall_seconds)}
    schema = {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The program."},
            "timeout": {**seconds, "description": "Seconds that it may take; not for lint."},
            "lint": {"type": "boolean", "default": False, "description": "Check it with Ruff instead of running it."},
        },
        "required": ["code"],
        "additionalProperties": False,
    }
    return Look(text, schema)


def asked(definition: Definition, arguments: Mapping[str, Any], setting: Setting) -> Asked:
    """A program of its own, without tools or files; or its mistakes."""
    limits = all_limits_of(definition, setting.config)
    options: RunOptions = {
        "language": definition.language or "python",
        "engine": definition.engine,
        "mode": definition.mode,
        "tools": definition.tools,
        "limits": replace(limits, wall_seconds=arguments.get("timeout", limits.wall_seconds)),
    }
    return Asked(arguments["code"], options, act="lint" if arguments.get("lint") else "run")


def given(definition: Definition, asked: Asked, outcome: Outcome) -> Given:
    """What was printed, and how it ended. That it failed is no error of the tool: the text says so."""
    result, limits = outcome.result, asked.options["limits"]
    assert isinstance(limits, Limits)  # noqa: S101  of `asked`, above
    text = _streams(result.stdout, result.stderr)
    for line in _ending(result, limits):
        text = f"{_line_ended(text)}{line}"
    return Given(text)


def failed(definition: Definition, asked: Asked, problem: PaddockError) -> Given | None:
    return None


def findings(definition: Definition, found: Collection[Finding]) -> Given:
    """Ruff's findings, or that there are none."""
    return Given(json.dumps([each.to_dict() for each in found], ensure_ascii=False, indent=2) if found else CLEAN)


def spill_bytes(definition: Definition) -> int | None:
    return None


def _most_seconds(definition: Definition, config: Config) -> int:
    most = config.caps.wall_seconds
    return max(1, int(min(definition.caps.get("wall_seconds", most), most)))


def _streams(stdout: str, stderr: str) -> str:
    return f"{_line_ended(stdout)}\nErrors:\n{stderr}" if stdout and stderr else stdout or stderr


def _line_ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _ending(result: RunResult, limits: Limits) -> Iterator[str]:
    """What the streams do not say."""
    error = result.error
    if result.engine is None or result.verdict is Verdict.LOST:
        yield f"{error.type}: {error.message}" if error is not None else str(result.verdict)
    if result.verdict is Verdict.TIMEOUT:
        yield TIMED_OUT
    if result.verdict is Verdict.OUTPUT_LIMIT:
        yield f"Output truncated: the limit of {limits.output_bytes / MB:g} MB was reached, and the run was ended."
    is_out = result.verdict is Verdict.OUT_OF_MEMORY
    if is_out and not any(line.startswith("MemoryError:") for line in result.stderr.splitlines()):
        yield f"MemoryError: the limit of {limits.memory_bytes / MB:g} MB was reached"
    code = result.exit_code or (-result.signal if result.signal else 0)
    if code:
        yield f"Exit code: {code}"
