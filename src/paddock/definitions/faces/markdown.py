"""A program in Python or Node, told as markdown: its exit code, its time, its streams."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from paddock.definitions.definition import Definition
from paddock.definitions.faces.face import Asked, Given, Look, Outcome, Setting
from paddock.definitions.faces.packages import listed
from paddock.definitions.limits import all_limits_of
from paddock.errors import CodeTooLarge, EngineCrashed, EngineUnavailable, EnvironmentFailed, PaddockError
from paddock.model.limits import MB, Limits
from paddock.model.request import RunOptions
from paddock.model.result import RunResult, Verdict

LANGUAGES: Mapping[str, tuple[str, str]] = {"python": ("python", "cpython"), "node": ("javascript", "node")}
"""As a caller names them: what a run calls the language, and the engine."""
_NAMES = {engine: name for name, (_, engine) in LANGUAGES.items()}
_SPACES = "".join(map(chr, range(0x2000, 0x200B)))  # of all widths
WHITE_SPACE = f" \t\n\v\f\r\xa0\u1680{_SPACES}\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What trimEnd() of JavaScript takes away: clients know streams without it."""
UNSTARTED = "-1"


def look(definition: Definition, setting: Setting) -> Look:
    """What a caller's model reads, with the limits of this installation."""
    limits = all_limits_of(definition, setting.config)
    text = definition.description.strip().format(
        packages=listed(setting.config, " and "),
        wall_seconds=limits.wall_seconds,
        memory_mb=limits.memory_bytes / MB,
        characters=f"{limits.stream_characters:,}",
    )
    schema = {
        "type": "object",
        "properties": {
            "language": {"type": "string", "enum": list(LANGUAGES), "description": "What runs it."},
            "code": {"type": "string", "description": "The program, self-contained."},
        },
        "required": ["language", "code"],
        "additionalProperties": False,
    }
    return Look(text, schema, is_read_only=True)  # it reaches nothing that lasts


def asked(definition: Definition, arguments: Mapping[str, Any], setting: Setting) -> Asked:
    """A program of its own, without tools or files."""
    language, engine = LANGUAGES[arguments["language"]]
    limits = all_limits_of(definition, setting.config)
    options: RunOptions = {
        "language": language,
        "engine": engine,
        "mode": definition.mode,
        "tools": definition.tools,
        "limits": limits,
    }
    return Asked(arguments["code"], options)


def given(definition: Definition, asked: Asked, outcome: Outcome) -> Given:
    """How the program ended. That it failed is no error of the tool: its exit code says so."""
    result, limits = outcome.result, _limits(asked)
    if result.engine is None:
        return _unstarted(asked, result)
    code = "N/A" if result.exit_code is None else str(result.exit_code)
    return Given(
        _told(
            _NAMES[result.engine],
            code,
            round(result.usage.wall_seconds * 1000),
            _marked(result, "stdout", "[OUTPUT TRUNCATED]"),
            _why(result, limits, _marked(result, "stderr", "[STDERR TRUNCATED]")),
            timed_out=_timed_out(result, limits),
        )
    )


def failed(definition: Definition, asked: Asked, problem: PaddockError) -> Given | None:
    """What is told of a program that was not started."""
    if isinstance(problem, CodeTooLarge):
        return _unwritten(str(problem))
    if isinstance(problem, EngineUnavailable | EngineCrashed | EnvironmentFailed):
        return _unable(asked, str(problem))
    return None


def spill_bytes(definition: Definition) -> int | None:
    return None


def _limits(asked: Asked) -> Limits:
    limits = asked.options["limits"]
    assert isinstance(limits, Limits)  # noqa: S101  of `asked`, above
    return limits


def _unstarted(asked: Asked, result: RunResult) -> Given:
    """What is told of a program that planning refused: no engine, or a text that no file could hold."""
    problem = result.error
    message = "" if problem is None else problem.message
    if problem is not None and problem.type == "EngineUnavailable":
        return _unable(asked, message)
    return _unwritten(message)


def _unwritten(reason: str) -> Given:
    return Given(f"ERROR: Could not write temp file.\n{reason}", is_error=True)


def _unable(asked: Asked, reason: str) -> Given:
    name = _NAMES[asked.options["engine"] or ""]
    stderr = f"Failed to start process: {reason}\n\nMake sure '{name}' is installed and on your PATH."
    return Given(_told(name, UNSTARTED, 0, "", stderr), is_error=True)


def _marked(result: RunResult, stream: str, marker: str) -> str:
    text: str = getattr(result, stream)
    return f"{text}\n{marker}" if stream in result.truncated else text.rstrip(WHITE_SPACE)


def _why(result: RunResult, limits: Limits, stderr: str) -> str:
    """stderr, with the reason where the program was not left to say it."""
    if result.verdict is Verdict.OUT_OF_MEMORY and result.exit_code is None:
        reason = f"Out of memory: the limit of {limits.memory_bytes / MB:g} MB was reached."
    elif result.verdict is Verdict.LOST and result.error is not None:
        reason = f"{result.error.type}: {result.error.message}"
    else:
        return stderr
    return f"{stderr}\n{reason}" if stderr else reason


def _timed_out(result: RunResult, limits: Limits) -> str | None:
    if result.verdict is not Verdict.TIMEOUT:
        return None
    if result.error is not None and "cpu_seconds" in result.error.message:
        return f"{limits.cpu_seconds:g} seconds of processor time"
    return f"{limits.wall_seconds:g} seconds"


def _told(
    language: str, code: str, milliseconds: int, stdout: str, stderr: str, *, timed_out: str | None = None
) -> str:
    parts = [
        "## Code Execution Result",
        f"**Language:** {language}  |  **Exit Code:** {code}  |  **Time:** {milliseconds}ms",
    ]
    if timed_out is not None:
        parts.append(f"\n⚠️ **TIMED OUT** after {timed_out}.")
    parts.append(f"\n### stdout\n{_fenced(stdout) if stdout else '*(empty)*'}")
    if stderr:
        parts.append(f"\n### stderr\n{_fenced(stderr)}")
    return "\n".join(parts)


def _fenced(text: str) -> str:
    """A block that ends where the text does: its fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
