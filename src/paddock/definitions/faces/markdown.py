"""The face of `code_executor`: a Python or Node program, shown as Markdown with exit code, time and streams."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from paddock.definitions.definition import Definition
from paddock.definitions.faces import (
    Face,
    FaceRequest,
    FaceResponse,
    HostInfo,
    Overflows,
    ToolSpec,
    reached_line,
    warning_lines,
)
from paddock.errors import CodeTooLarge, EngineCrashed, EngineUnavailable, EnvironmentFailed, PaddockError
from paddock.model.limits import MB, Limits
from paddock.model.request import RunOptions
from paddock.model.result import RunResult, Verdict

LANGUAGES: Mapping[str, tuple[str, str]] = {"python": ("python", "cpython"), "node": ("javascript", "node")}
"""The language and engine of a run, by the caller's name for the language."""
_CALLER_NAMES = {engine: name for name, (_, engine) in LANGUAGES.items()}
_SPACES = "".join(map(chr, range(0x2000, 0x200B)))  # Unicode's spaces of all widths
WHITE_SPACE = f" \t\n\v\f\r\xa0\u1680{_SPACES}\u2028\u2029\u202f\u205f\u3000\ufeff"
"""Characters that JavaScript's trimEnd() removes: the original tool strips them from the end of each stream."""


def describe(definition: Definition, host: HostInfo) -> ToolSpec:
    packages = host.packages()
    text = host.format_description(
        definition,
        packages=f" and {', '.join(packages)}" if packages else "",
        characters=f"{definition.effective_limits(host.config).stream_characters:,}",
    )
    properties = {
        "language": {"type": "string", "enum": list(LANGUAGES), "description": "The language of the program."},
        "code": {"type": "string", "description": "The program, self-contained."},
    }
    # Other arguments are ignored, as in the original tool. Read-only: a run leaves nothing behind.
    schema = {"type": "object", "properties": properties, "required": ["language", "code"]}
    return ToolSpec(text, schema, is_read_only=True)


def parse(definition: Definition, arguments: Mapping[str, Any], host: HostInfo) -> FaceRequest:
    """A program without tools or files."""
    language, engine = LANGUAGES[arguments["language"]]
    options: RunOptions = {**definition.run_options(host.config), "language": language, "engine": engine}
    return FaceRequest(arguments["code"], options)


def render(definition: Definition, request: FaceRequest, result: RunResult, overflows: Overflows) -> FaceResponse:
    """How the program ended. A program that fails is not a tool error: the exit code shows it."""
    if result.engine is None:
        error = result.error
        message = "" if error is None else error.message
        is_unavailable = error is not None and error.type == "EngineUnavailable"
        return _not_started(request, message) if is_unavailable else _not_written(message)
    stdout = _stream(result, "stdout", "[OUTPUT TRUNCATED]")
    stderr = _stream(result, "stderr", "[STDERR TRUNCATED]")
    return FaceResponse(
        _markdown(
            _CALLER_NAMES[result.engine],
            "N/A" if result.exit_code is None else str(result.exit_code),
            round(result.usage.wall_seconds * 1000),
            stdout,
            "\n".join(part for part in (stderr, _reason(result, request.limits), *_advice(result)) if part),
            timed_out=_timed_out(result, request.limits),
        )
    )


def render_fault(request: FaceRequest, fault: PaddockError) -> FaceResponse:
    """A program that was not started, as the original tool shows it."""
    if isinstance(fault, CodeTooLarge):
        return _not_written(str(fault))
    if isinstance(fault, EngineUnavailable | EngineCrashed | EnvironmentFailed):
        return _not_started(request, str(fault))
    raise fault


def _not_written(reason: str) -> FaceResponse:
    """The original tool's message for source that it cannot write to a file."""
    return FaceResponse(f"ERROR: Could not write temp file.\n{reason}", is_error=True)


def _not_started(request: FaceRequest, reason: str) -> FaceResponse:
    name = _CALLER_NAMES[request.options["engine"] or ""]
    stderr = f"Failed to start process: {reason}\n\nMake sure '{name}' is installed and on your PATH."
    return FaceResponse(_markdown(name, "-1", 0, "", stderr), is_error=True)


def _stream(result: RunResult, stream: str, marker: str) -> str:
    text: str = getattr(result, stream)
    return f"{text}\n{marker}" if stream in result.truncated else text.rstrip(WHITE_SPACE)


def _reason(result: RunResult, limits: Limits) -> str:
    """Why the run ended, if the program could not report it itself."""
    if result.verdict is Verdict.OUT_OF_MEMORY and result.exit_code is None:
        return f"Out of memory: the limit of {limits.memory_bytes / MB:g} MB was reached."
    if result.verdict is Verdict.LOST and result.error is not None:
        return f"{result.error.type}: {result.error.message}"
    return ""


def _advice(result: RunResult) -> tuple[str, str]:
    hint = "" if result.error is None else result.error.hint
    return f"Hint: {reached_line(result)}{hint}" if hint else "", warning_lines(result.warnings)


def _timed_out(result: RunResult, limits: Limits) -> str | None:
    if result.verdict is not Verdict.TIMEOUT:
        return None
    if result.error is not None and "cpu_seconds" in result.error.message:
        return f"{limits.cpu_seconds:g} seconds of processor time"
    return f"{limits.wall_seconds:g} seconds"


def _markdown(
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
    """A code block whose fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


FACE = Face(describe, parse, render, render_fault=render_fault)
