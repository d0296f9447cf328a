"""The face of `python`: a program's output in one text, as a terminal shows it; or Ruff's findings, as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.definitions.faces import (
    Face,
    FaceRequest,
    FaceResponse,
    HostInfo,
    Overflows,
    ToolSpec,
    answer_bytes,
    object_schema,
    reached_line,
    warning_lines,
)
from paddock.model.limits import MB, Limits
from paddock.model.result import RunResult, Verdict

if TYPE_CHECKING:
    from paddock.linter import Finding

NO_FINDINGS = "No issues found!"
TIMED_OUT = "Execution timed out"


def describe(definition: Definition, host: HostInfo) -> ToolSpec:
    limits, max_seconds = definition.effective_limits(host.config), _max_seconds(definition, host.config)
    packages = f", with {', '.join(host.packages())}" if host.packages() else ""
    text = host.format_description(definition, packages=packages, max_seconds=max_seconds)
    seconds = {"type": "integer", "minimum": 1, "maximum": max_seconds, "default": int(limits.wall_seconds)}
    properties = {
        "code": {"type": "string", "description": "The program."},
        "timeout": {**seconds, "description": "Time limit in seconds; ignored by lint."},
        "lint": {
            "type": "boolean",
            "default": False,
            "description": "Check the program with Ruff instead of running it.",
        },
    }
    return ToolSpec(text, object_schema(properties, ["code"]))


def parse(definition: Definition, arguments: Mapping[str, Any], host: HostInfo) -> FaceRequest:
    """A program without tools or files, to run or to lint."""
    options = definition.run_options(host.config, arguments.get("timeout"))
    return FaceRequest(arguments["code"], options, lint=arguments.get("lint", False))


def render(definition: Definition, request: FaceRequest, result: RunResult, overflows: Overflows) -> FaceResponse:
    """The program's output and how it ended. A program that fails is not a tool error: the text shows it."""
    streams = {"stdout": result.stdout, "stderr": result.stderr}
    stdout, stderr = (streams | {name: each.preview for name, each in overflows.items()}).values()
    text = f"{_end_line(stdout)}\nErrors:\n{stderr}" if stdout and stderr else stdout or stderr
    for line in _ending(result, request.limits):
        text = f"{_end_line(text)}{line}"
    return FaceResponse(text)


def render_findings(findings: Collection[Finding]) -> FaceResponse:
    """Ruff's findings, or a message that there are none."""
    if not findings:
        return FaceResponse(NO_FINDINGS)
    return FaceResponse(json.dumps([each.to_dict() for each in findings], ensure_ascii=False, indent=2))


def _max_seconds(definition: Definition, config: Config) -> int:
    cap = config.caps.wall_seconds
    return max(1, int(min(definition.caps.get("wall_seconds", cap), cap)))


def _end_line(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _ending(result: RunResult, limits: Limits) -> Iterator[str]:
    """Lines about how the run ended that the program did not print itself."""
    error = result.error
    if result.engine is None or result.verdict is Verdict.LOST:
        yield f"{error.type}: {error.message}" if error is not None else str(result.verdict)
    if result.verdict is Verdict.TIMEOUT:
        yield TIMED_OUT
    if result.verdict is Verdict.OUTPUT_LIMIT:
        yield f"Output truncated: the limit of {limits.output_bytes / MB:g} MB was reached, and the run was ended."
    says_memory = any(line.startswith("MemoryError:") for line in result.stderr.splitlines())
    if error is not None and error.type == "MemoryError" and not says_memory:
        reached = f"the limit of {limits.memory_bytes / MB:g} MB was reached"
        yield f"MemoryError: {reached if result.verdict is Verdict.OUT_OF_MEMORY else error.message}"
    if error is not None and error.hint:
        yield f"Hint: {reached_line(result)}{_longer(result, limits)}{error.hint}"
    if result.warnings:
        yield warning_lines(result.warnings)
    code = result.exit_code or (-result.signal if result.signal else 0)
    if code:
        yield f"Exit code: {code}"


def _longer(result: RunResult, limits: Limits) -> str:
    """How to get more time, if the timeout was reached."""
    if result.verdict is not Verdict.TIMEOUT or result.error is None or "wall_seconds" not in result.error.message:
        return ""
    return f"If {limits.wall_seconds:g} s are not enough, pass a longer `timeout`. "


def normalize(arguments: dict[str, Any]) -> dict[str, Any]:
    """Remove the timeout of a lint, which ignores it, so that it is not checked."""
    is_lint = arguments.get("lint") in (True, "true")
    return {name: value for name, value in arguments.items() if not (is_lint and name == "timeout")}


FACE = Face(
    describe, parse, render, answer_bytes("stdout", "stderr"), normalize=normalize, render_findings=render_findings
)
