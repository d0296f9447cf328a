"""What the host writes down of one run. Verdict, usage and calls come from here alone, never from a guest."""

from __future__ import annotations

import os
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable

from paddock.model import envelope
from paddock.model.artifacts import Artifact
from paddock.model.events import EngineEvent, Event, Finished, Log, Output
from paddock.model.request import RunContext
from paddock.model.result import Call, RunError, RunResult, Usage, Verdict
from paddock.planning.plan import Plan

_ID_BYTES = 12
_DRAWN = 256
_drawn: list[bytes] = []
"""Random bytes for the next ids. Each draw lets go of the interpreter, which another thread may take for a while."""
os.register_at_fork(after_in_child=_drawn.clear)


def new_run_id() -> str:
    """An id that cannot be guessed."""
    try:
        mine = _drawn.pop()
    except IndexError:
        data = os.urandom(_ID_BYTES * _DRAWN)
        mine, *rest = (data[at : at + _ID_BYTES] for at in range(0, len(data), _ID_BYTES))
        _drawn.extend(rest)
    return f"r_{urlsafe_b64encode(mine).decode()}"


class Record:
    """Gathers events until the run has a verdict."""

    def __init__(self, plan: Plan, within: RunContext | None = None, functions: tuple[str, ...] | None = None) -> None:
        self._plan = plan
        self._functions = plan.tools if functions is None else functions
        self._within = within
        self.run_id = new_run_id() if within is None else within.run_id
        self._started: float | None = None
        self._wall_seconds = 0.0
        self._streams: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._output_bytes = 0
        self._characters = {"stdout": 0, "stderr": 0}
        self._truncated: list[str] = []
        self._logs: list[dict[str, str]] = []
        self._finished: Finished | None = None
        self.calls: tuple[Call, ...] = ()
        self.artifacts: tuple[Artifact, ...] = ()
        self.has_denied: Callable[[str], bool] = lambda text: False
        """Whether a call was answered with this text because a policy forbids it."""

    @property
    def verdict(self) -> Verdict | None:
        return None if self._finished is None else self._finished.verdict

    @property
    def finished(self) -> Finished | None:
        """How the guest ended, as the engine told it."""
        return self._finished

    def start(self) -> None:
        """The interpreter is ready: the clock starts."""
        self._started = time.perf_counter()

    def add(self, event: EngineEvent) -> Event | None:
        """Write `event` down; the part of it that a watcher may see comes back."""
        if isinstance(event, Output):
            return self._keep(event)
        if isinstance(event, Log):
            return self._log(event)
        if isinstance(event, Finished):
            self._finish(self._within_limits(event))
            return None
        return event

    def end(self, verdict: Verdict) -> None:
        """The host ended the run itself."""
        self._finish(Finished(verdict))

    def result(self) -> RunResult:
        plan = self._plan
        finished = self._finished or Finished(Verdict.REJECTED if plan.refusal else Verdict.LOST)
        error = plan.refusal or self._error(finished)
        return RunResult(
            run_id=self.run_id,
            verdict=self._verdict(finished, error),
            language=plan.language,
            engine=plan.engine,
            engine_reason=finished.note or plan.engine_reason,
            usage=Usage(round(self._wall_seconds, 6), finished.cpu_seconds, finished.memory_bytes, self._output_bytes),
            output_json=finished.output_json,
            stdout="".join(self._streams["stdout"]),
            stderr="".join(self._streams["stderr"]),
            truncated=tuple(self._truncated),
            logs=tuple(self._logs),
            error=error,
            exit_code=finished.exit_code,
            signal=finished.signal,
            calls=self.calls,
            artifacts=self.artifacts,
            available_functions=self._functions,
            definition=None if self._within is None else self._within.definition,
            session=None if self._within is None else self._within.session,
        )

    def _log(self, event: Log) -> Output | None:
        kept = self._keep(event.output())
        if kept is not None:
            self._logs.append({"level": event.level, "text": kept.text.removesuffix("\n")})
        return kept

    def _keep(self, event: Output) -> Output | None:
        """Output up to the limits."""
        room = self._plan.limits.stream_characters - self._characters[event.stream]
        self._characters[event.stream] += min(room, len(event.text))
        if len(event.text) <= room:
            return self._keep_bytes(event)
        if event.stream not in self._truncated:
            self._truncated.append(event.stream)
        kept = self._keep_bytes(Output(event.stream, event.text[:room])) if room else None
        if event.stream == "stdout":
            self._finish(Finished(Verdict.OUTPUT_LIMIT, limit="stream_characters"))
        return kept

    def _keep_bytes(self, event: Output) -> Output | None:
        """Output of both streams up to the limit; the first byte over it ends the run."""
        room = self._plan.limits.output_bytes - self._output_bytes
        data = event.text.encode(errors="replace")
        if len(data) <= room:
            self._output_bytes += len(data)
            self._streams[event.stream].append(event.text)
            return event
        kept = data[:room].decode(errors="ignore")
        self._output_bytes += room
        self._streams[event.stream].append(kept)
        if event.stream not in self._truncated:
            self._truncated.append(event.stream)
        self.end(Verdict.OUTPUT_LIMIT)
        return Output(event.stream, kept) if kept else None

    def _within_limits(self, finished: Finished) -> Finished:
        if finished.verdict is Verdict.OUTPUT_LIMIT:
            self._truncated.append("output")  # an engine that saw how large it was, and did not read it
            return finished
        text = finished.output_json or ""
        size = len(text) if text.isascii() else len(text.encode(errors="replace"))
        if size <= self._plan.limits.output_bytes:
            return finished
        self._truncated.append("output")
        return Finished(Verdict.OUTPUT_LIMIT, error_message=f"the result is {size} bytes of JSON")

    def _finish(self, finished: Finished) -> None:
        if self._finished is None:
            self._finished = finished
            if self._started is not None:
                self._wall_seconds = time.perf_counter() - self._started

    def _verdict(self, finished: Finished, error: RunError | None) -> Verdict:
        """The engine's, but for a call that a policy forbids and whose failure nobody caught."""
        if finished.verdict is not Verdict.RAISED or error is None or error.envelope is None:
            return finished.verdict
        is_about_policy = error.envelope["error_kind"] == "policy_denied"
        return Verdict.DENIED if is_about_policy and self.has_denied(error.message) else Verdict.RAISED

    def _error(self, finished: Finished) -> RunError | None:
        if finished.verdict is Verdict.OK:
            return None
        error_type, message = finished.error_type, finished.error_message
        if finished.verdict in _LIMITS:
            error_type, name, advice = _LIMITS[finished.verdict]
            name = finished.limit or name
            value = getattr(self._plan.limits, name)
            message = f"{f'{message}; ' if message else ''}the limit {name} = {value} was reached: {advice}"
        return RunError(
            type=error_type or "RuntimeError",
            message=message,
            line=finished.line,
            column=finished.column,
            traceback=finished.traceback,
            envelope=envelope.parse(message) if error_type in _OF_TOOLS else None,
        )


_OF_TOOLS = ("RuntimeError", "ToolError")
"""What a call that fails raises: in Python, in JavaScript. The text is its envelope."""
_LIMITS = {
    Verdict.TIMEOUT: ("TimeoutError", "wall_seconds", "do less work in one run, or ask for a higher limit"),
    Verdict.OUT_OF_MEMORY: ("MemoryError", "memory_bytes", "hold less at once, or ask for a higher limit"),
    Verdict.OUTPUT_LIMIT: ("OutputLimitError", "output_bytes", "print and return less, or ask for a higher limit"),
}


def unfinished(within: RunContext, language: str, verdict: Verdict) -> RunResult:
    """What is written down of a run that has no result. What it printed is kept as it came."""
    was_cancelled = verdict is Verdict.CANCELLED
    return RunResult(
        run_id=within.run_id,
        verdict=verdict,
        language=language,
        engine=None,
        engine_reason=None,
        usage=Usage(0.0),
        error=RunError("Cancelled", "its caller ended it")
        if was_cancelled
        else RunError("HostError", "the host could not end it"),
        definition=within.definition,
        session=within.session,
    )
