"""What went wrong in a Monty worker, as the end of a run."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

from paddock.engines import monty_wording
from paddock.engines.monty_code import Prepared, script_lines
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.planning import fits_python
from paddock.planning.plan import Plan
from paddock.planning.python_source import Source

MESSAGE_CHARACTERS = 64 * 1024
SHOWN_FRAMES = 10
"""How many frames a traceback shows at each end; a deep recursion has a thousand."""


NOT_CPYTHONS_OWN = "light engine; CPython may word this error, or place it, differently"


@dataclass(frozen=True, slots=True)
class Place:
    """One frame of the script itself."""

    line: int
    column: int
    function: str


def finished(error: MontyError, source: Source, prepared: Prepared, script_feed: str | None, plan: Plan) -> Finished:
    """How the run ended, given that the worker reported `error`; `script_feed` names the feed that was the script."""
    if isinstance(error, MontyCrashedError):
        return _crashed(error, plan)
    cause = error.exception()
    places = _places(error, prepared, script_feed)
    kind, text = type(cause).__name__, _cut(str(cause.args[0])) if cause.args else ""
    if _is_limit(kind, text, error) and not _is_raised_there(places, source):
        verdict = Verdict.TIMEOUT if kind == "TimeoutError" else Verdict.OUT_OF_MEMORY
        limit = _time_limit(plan) if verdict is Verdict.TIMEOUT else ""
        return Finished(verdict, line=places[-1].line if places else None, limit=limit)
    if isinstance(error, MontySyntaxError) or _was_refused(kind, error):
        return _rejected(kind, text, places)
    line = monty_wording.line_of(kind, places[-1].line if places else None, source)
    clues = fits_python.clues(source, plan.names(), frozenset(plan.tools))
    kind, said = monty_wording.kind_of(kind, _cut(str(cause)), line, source)
    message, certain = monty_wording.reword(kind, said, line, source, clues)
    certain = certain and not monty_wording.reports_another_line(kind, line, source)
    return Finished(
        Verdict.RAISED,
        error_type=kind,
        error_message=message,
        line=line,
        column=places[-1].column if places else None,
        traceback=_traceback(kind, message, places, source),
        note="" if certain else NOT_CPYTHONS_OWN,
    )


def _cut(text: str) -> str:
    """Text of a guest, as much of it as an error shows."""
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}… ({len(text)} characters)"


def concerns_result(error: MontyRuntimeError, prepared: Prepared, script_feed: str | None) -> bool:
    """Whether it is the result that could not be written as JSON, and not the script that failed."""
    if type(error.exception()).__name__ not in ("TypeError", "ValueError", "RecursionError"):
        return False
    frames = error.traceback()
    return bool(frames) and (frames[0].filename != script_feed or frames[0].line > prepared.lines)


def _time_limit(plan: Plan) -> str:
    return "cpu_seconds" if plan.limits.cpu_seconds < plan.limits.wall_seconds else "wall_seconds"


def _crashed(error: MontyCrashedError, plan: Plan) -> Finished:
    if error.timed_out:
        return Finished(Verdict.TIMEOUT, limit=_time_limit(plan))
    return Finished(Verdict.CRASHED, error_type="Crashed", error_message=f"the interpreter died: {error}")


def _is_limit(kind: str, text: str, error: MontyError) -> bool:
    # A limit cannot be caught inside. Its time report has no traceback, which an exception that a script raises has.
    if kind == "TimeoutError":
        return "time limit exceeded" in text and not _frames(error)
    return kind == "MemoryError" and (text.startswith("memory limit exceeded") or not _frames(error))


def _is_raised_there(places: list[Place], source: Source) -> bool:
    """Whether the script itself has a `raise` where the error came from: then it is an exception like any other."""
    line = places[-1].line if places else 0
    return any(
        isinstance(node, ast.Raise) and node.lineno <= line <= (node.end_lineno or 0) for node in ast.walk(source.tree)
    )


def _was_refused(kind: str, error: MontyError) -> bool:
    """Whether the script was turned down before its first line ran; only such a report has a frame without a name."""
    frames = _frames(error)
    return kind in ("NotImplementedError", "SyntaxError") and len(frames) == 1 and frames[0].function_name is None


def _rejected(kind: str, text: str, places: list[Place]) -> Finished:
    text = text.replace("The monty syntax parser does not yet support", "the light engine does not support")
    line, column = (places[-1].line, places[-1].column) if places else (None, None)
    return Finished(Verdict.REJECTED, error_type=kind, error_message=text, line=line, column=column)


def _frames(error: MontyError) -> list[Any]:
    return error.traceback() if isinstance(error, MontyRuntimeError | MontySyntaxError) else []


def _places(error: MontyError, prepared: Prepared, script_feed: str | None) -> list[Place]:
    return [
        Place(frame.line, prepared.column(frame.line, frame.column), frame.function_name or "<module>")
        for frame in _frames(error)
        if frame.filename == script_feed or script_feed is None
    ]


def _traceback(kind: str, message: str, places: list[Place], source: Source) -> str:
    lines = script_lines(source.code)
    shown = [
        f'  File "main.py", line {place.line}, in {place.function}\n    {lines[place.line - 1].strip()}'
        for place in places
        if place.line <= len(lines)
    ]
    if len(shown) > 2 * SHOWN_FRAMES:
        hidden = len(shown) - 2 * SHOWN_FRAMES
        shown = [*shown[:SHOWN_FRAMES], f"  [{hidden} more frames]", *shown[-SHOWN_FRAMES:]]
    last = f"{kind}: {message}" if message else kind
    return "\n".join(["Traceback (most recent call last):", *shown, last])
