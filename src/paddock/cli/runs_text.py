"""How kept runs look on a terminal. Nothing that a script or a caller wrote is trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from paddock.cli.show import WIDTH, Screen
from paddock.store.runs import RUNNING

if TYPE_CHECKING:
    from paddock.store.runs import RunLine, StoredRun

_COLOURS = {"ok": "green", RUNNING: "yellow"}
_VERDICT_WIDTH = 13


def show_line(out: Screen, run: RunLine) -> None:
    """A run on one line."""
    verdict = run.verdict or RUNNING
    about = f"{_when(run.started_at)}  {_took(run):>9}  {run.engine or '-':<7}  "
    out.spans(
        (run.id, "bold"),
        ("  ", ""),
        (f"{verdict:<{_VERDICT_WIDTH}}", _COLOURS.get(verdict, "red")),
        (f"  {about}{_first_line(run)}".rstrip(), ""),
    )


def show_run(out: Screen, run: StoredRun) -> None:
    """All that is kept of a run."""
    result: Mapping[str, Any] = run.to_dict()["result"] or {}
    verdict = run.verdict or RUNNING
    out.spans((run.id, "bold"), (": ", ""), (verdict, _COLOURS.get(verdict, "red")))
    engine = f", {run.engine}" if run.engine else ""
    reason = f" ({result['engine_reason']})" if result.get("engine_reason") else ""
    _fact(out, "started", f"{_when(run.started_at)}, took {_took(run)}")
    _fact(out, "language", f"{run.language}{engine}{reason}")
    _fact(out, "caller", run.principal)
    _fact(out, "definition", run.definition)
    _fact(out, "session", run.session)
    _text(out, "code", run.code)
    _text(out, "stdout", result.get("stdout", run.live_stdout))
    _text(out, "stderr", result.get("stderr", run.live_stderr))
    if result.get("output") is not None:
        _text(out, "output", _value(result["output"]))
    if result.get("error"):
        error = result["error"]
        _text(out, "error", error.get("traceback") or f"{error['type']}: {error['message']}", "red")
    _text(out, "calls", "\n".join(map(_call, run.calls)))
    _text(out, "artifacts", "\n".join(f"{made['id']}  {made['filename']}" for made in result.get("artifacts", ())))


def _fact(out: Screen, name: str, said: str | None) -> None:
    if said:
        out.line(f"  {name:<10}  {' '.join(said.split())}")


def _text(out: Screen, name: str, text: str, colour: str = "") -> None:
    """Text of several lines, indented, so that none of them can pass for one of ours."""
    if text:
        out.line(f"  {name}")
        for line in text.splitlines():
            out.line(f"    {line}", colour)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        short = json.dumps(value, ensure_ascii=False)
        return short if len(short) <= WIDTH else json.dumps(value, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return "(too deep or too large a value to be shown here; --json has it)"


def _call(call: Mapping[str, Any]) -> str:
    took = "" if call["milliseconds"] is None else f", {call['milliseconds']:.1f} ms"
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    shown = arguments if len(arguments) <= WIDTH else f"{arguments[:WIDTH]}…"
    return f"{call['id']}  {call['tool']} {shown}: {call['status'] or 'no outcome known'}{took}"


def _first_line(run: RunLine) -> str:
    lines = [line.strip() for line in run.beginning.splitlines() if line.strip()]
    return lines[0][:WIDTH] if lines else ""


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M:%S}"


def _took(run: RunLine) -> str:
    return "-" if run.ended_at is None else f"{max(0.0, run.ended_at - run.started_at):.3f} s"
