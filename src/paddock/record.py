"""The host's record of one run, and its result.

The verdict comes from the engine (`Finished`), or from `RunRecord.end` if the host ended the run. The host counts usage
and calls; a guest's own figures are never used.
"""

from __future__ import annotations

import logging
import os
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from io import StringIO
from typing import TypeVar

from paddock.hints import hint_for, missing_file
from paddock.model import envelope
from paddock.model.artifacts import Artifact
from paddock.model.events import EngineEvent, Event, Finished, Log, Outline, Output, Reached
from paddock.model.limits import format_bytes, format_limit
from paddock.model.network import NO_NETWORK, explain_denial
from paddock.model.outputs import Display, RunOutput
from paddock.model.request import RunContext
from paddock.model.result import NOTHING, Call, Connection, RunError, RunResult, SessionState, Usage, Verdict
from paddock.planning.plan import Plan

log = logging.getLogger(__name__)
T = TypeVar("T", int, float)
_ENDING = re.compile(r"(await )?[A-Za-z_$][\w$]{0,60}(\((\.\.\.)?\))?", re.ASCII)
LOG_LINES = 10_000
"""How many lines of a console are listed in `logs`: an entry takes 300 bytes, however short its line is."""


def new_run_id() -> str:
    """A random id that cannot be guessed."""
    return f"r_{urlsafe_b64encode(os.urandom(12)).decode()}"


class RunRecord:
    """Collects events until the run has a verdict, then makes the result."""

    def __init__(
        self,
        plan: Plan,
        context: RunContext | None = None,
        functions: tuple[str, ...] | None = None,
        packages: Collection[str] = (),
    ) -> None:
        self._plan = plan
        self.functions = plan.tools if functions is None else functions
        """Names under which the script could call its tools."""
        self._context = context
        self._packages = packages  # that Python scripts can import
        self.run_id = new_run_id() if context is None else context.run_id
        self._started: float | None = None
        self._wall_seconds = 0.0
        self._streams = {"stdout": StringIO(newline=""), "stderr": StringIO(newline="")}
        self._output_bytes = 0
        self._characters = {"stdout": 0, "stderr": 0}
        self._truncated: list[str] = []
        self._logs: list[dict[str, str]] = []
        self._outputs: list[tuple[int, RunOutput]] = []  # with the id of each display
        self.displayed: Mapping[int, Artifact] = {}
        """The artifacts of displayed values, by the id of the display."""
        self._finished: Finished | None = None
        self._reached_line: int | None = None  # shortly before the run's time was over
        self.calls: tuple[Call, ...] = ()
        self.network: tuple[Connection, ...] = ()
        self.warnings: tuple[str, ...] = ()
        self.effects: tuple[str, ...] = ()
        """Warnings for a run that failed: what calls may have changed."""
        self.artifacts: tuple[Artifact, ...] = ()
        self.session: SessionState | None = None
        self.mistaken_artifact = ""
        """The artifact with the name of `missing_file`."""
        self.has_side_effects = False
        """Whether the run may have changed something outside the sandbox."""
        self.is_denial: Callable[[str], bool] = lambda text: False
        """Whether a call was answered with this text because the policy denied it."""

    @property
    def verdict(self) -> Verdict | None:
        return None if self._finished is None else self._finished.verdict

    @property
    def missing_file(self) -> str:
        """The name of the file that the script could not open, which may be an artifact's; else empty."""
        return "" if self._finished is None or self._plan.mode == "script" else missing_file(self._finished)

    def note_session(self, state: SessionState) -> None:
        """Note what became of the session that the run took place in."""
        self.session = state

    @property
    def has_connected(self) -> bool:
        """Whether the run has reached a network, or tried to."""
        return any(each.outcome not in ("denied", "limit") for each in self.network)

    def note_network(self, connections: tuple[Connection, ...]) -> None:
        """Note what the run connected to. A server also keeps this for a cancelled run."""
        self.network = connections
        if self._context is not None:
            self._context.network_watch(connections)

    def start(self) -> None:
        """Start the run's clock: an engine has taken it."""
        self._started = time.perf_counter()
        if self._context is not None:
            self._context.engine_watch(self._plan.engine)

    def add(self, event: EngineEvent) -> Event | None:
        """Record `event`. Returns the part of it that is published to watchers."""
        if isinstance(event, Output):
            return self._append_output(event)
        if isinstance(event, Log):
            return self._log(event)
        if isinstance(event, Display):
            return self._display(event)
        if isinstance(event, Outline):
            return None
        if isinstance(event, Reached):
            self._reached_line = event.line
            return None
        if isinstance(event, Finished):
            self._finish(self._within_limits(event))
            return None
        return event

    def end(self, verdict: Verdict) -> None:
        """Record that the host ended the run."""
        self._finish(Finished(verdict))

    def note_usage(self, cpu_seconds: float | None, memory_bytes: int | None) -> None:
        """Record what the guest used until it stopped. The engine may have recorded what it had used before."""
        if (was := self._finished) is not None:
            cpu_seconds, memory_bytes = _most(was.cpu_seconds, cpu_seconds), _most(was.memory_bytes, memory_bytes)
            self._finished = replace(was, cpu_seconds=cpu_seconds, memory_bytes=memory_bytes)

    def note_unread_output(self, read: Callable[[], Iterable[Output]], publish: Callable[[Event], None]) -> None:
        """Record what the script had written to either stream when the host ended the run."""
        if self._finished is not None and self._finished.cpu_seconds is None:
            for output in read():
                if (shown := self._append_output(output)) is not None:
                    publish(shown)

    def result(self) -> RunResult:
        plan = self._plan
        finished = self._finished or Finished(Verdict.REJECTED if plan.refusal else Verdict.LOST)
        error = plan.refusal or self._error(finished)
        return RunResult(
            run_id=self.run_id,
            verdict=self._verdict(finished, error),
            language=plan.language,
            engine=plan.engine,
            engine_reason=plan.engine_reason,
            usage=Usage(round(self._wall_seconds, 6), finished.cpu_seconds, finished.memory_bytes, self._output_bytes),
            output_json=finished.output_json,
            stdout=self._streams["stdout"].getvalue(),
            stderr=self._streams["stderr"].getvalue(),
            truncated=tuple(self._truncated),
            logs=tuple(self._logs),
            outputs=tuple(replace(shown, artifact=self.displayed.get(number)) for number, shown in self._outputs),
            error=error,
            warnings=(
                *finished.warnings,
                *self.warnings,
                *self._network_warnings(error),
                *self._lost_value(finished),
                *(() if error is None else self.effects),
            ),
            exit_code=finished.exit_code,
            signal=finished.signal,
            calls=self.calls,
            network=self.network,
            artifacts=self.artifacts,
            available_functions=self.functions,
            definition=None if self._context is None else self._context.definition,
            session=self.session,
            connection=None if self._context is None else self._context.connection,
        )

    def _log(self, event: Log) -> Output | None:
        output = self._append_output(event.output())
        if output is not None and len(self._logs) < LOG_LINES:
            self._logs.append({"level": event.level, "text": output.text.removesuffix("\n")})
        elif output is not None and "logs" not in self._truncated:
            self._truncated.append("logs")
        return output

    def _display(self, event: Display) -> Display:
        offset = self._streams["stdout"].tell()
        shown = RunOutput(
            event.type, event.mime_type, event.text, event.data, stdout_offset=offset, is_result=event.is_result
        )
        self._outputs.append((event.id, shown))
        return replace(event, data=b"", file=b"")

    def _append_output(self, event: Output) -> Output | None:
        """Store output up to `stream_characters`. Beyond that, stdout ends the run and stderr is truncated."""
        characters_left = self._plan.limits.stream_characters - self._characters[event.stream]
        self._characters[event.stream] += min(characters_left, len(event.text))
        if len(event.text) <= characters_left:
            return self._append_bytes(event)
        if event.stream not in self._truncated:
            self._truncated.append(event.stream)
        visible = self._append_bytes(Output(event.stream, event.text[:characters_left])) if characters_left else None
        if event.stream == "stdout":
            self._finish(Finished(Verdict.OUTPUT_LIMIT, limit="stream_characters"))
        return visible

    def _append_bytes(self, event: Output) -> Output | None:
        """Store output of both streams up to `output_bytes`. The first byte beyond it ends the run."""
        bytes_left = self._plan.limits.output_bytes - self._output_bytes
        data = event.text.encode(errors="replace")
        if len(data) <= bytes_left:
            self._output_bytes += len(data)
            self._streams[event.stream].write(event.text)
            return event
        text = data[:bytes_left].decode(errors="ignore")
        self._output_bytes += bytes_left
        self._streams[event.stream].write(text)
        if event.stream not in self._truncated:
            self._truncated.append(event.stream)
        self.end(Verdict.OUTPUT_LIMIT)
        return Output(event.stream, text) if text else None

    def _within_limits(self, finished: Finished) -> Finished:
        """`finished`, or `output_limit` if its value is larger than `output_bytes`."""
        if finished.verdict is Verdict.OUTPUT_LIMIT:
            self._truncated.append("output")  # the engine saw the announced size and did not read the value
            return finished
        text = finished.output_json or ""
        size = len(text) if text.isascii() else len(text.encode(errors="replace"))
        if size <= self._plan.limits.output_bytes:
            return finished
        self._truncated.append("output")
        return Finished(Verdict.OUTPUT_LIMIT, error_message=f"the result is {format_bytes(size)} of JSON")

    def _finish(self, finished: Finished) -> None:
        if self._finished is None:
            self._finished = finished
            if self._started is not None:
                self._wall_seconds = time.perf_counter() - self._started

    def _lost_value(self, finished: Finished) -> tuple[str, ...]:
        """A warning for a client of a server whose script ends without a value, and so has nothing to show."""
        name = next(filter(_ENDING.fullmatch, finished.near), "")
        has_output = finished.output_json not in (None, "null") or self._output_bytes or self._outputs or self.artifacts
        is_cell = self._plan.session is not None  # which may be there for its variables
        if not name or has_output or is_cell or finished.verdict is not Verdict.OK or self._context is None:
            return ()
        if name in ("return", "return()"):  # a call may be there for its effect
            why = "the last value is in a block, where it is lost. `return` it, or print it."
            return () if name == "return()" and (self.calls or finished.warnings) else (f"{NOTHING}{why}",)
        if name == "undefined":
            why = "the script's value is undefined. Check the names in its last line, or return something else."
            return () if self.calls or finished.warnings else (f"{NOTHING}{why}",)
        return (f"{NOTHING}end the script with `{name}`, or print it.",)

    def _network_warnings(self, error: RunError | None) -> tuple[str, ...]:
        hint = self._network_hint()
        return (hint,) if hint and (error is None or hint not in error.hints) else ()

    def _network_hint(self) -> str:
        """What the network policy denied first, and who can allow it; empty if it denied nothing."""
        refused = next((each for each in self.network if each.outcome in ("denied", "limit")), None)
        if refused is None:
            return ""
        if refused.outcome == "limit":
            return f"The run may make {self._plan.max_connections} connections (network.max_connections): make fewer."
        plan = self._plan
        policy = plan.network or NO_NETWORK
        shown = explain_denial(refused.host, refused.address, refused.port, policy, plan.network_allowed)
        more = len({(each.host, each.address) for each in self.network if each.outcome == "denied"}) - 1
        return f"{shown}{f' {more} more were denied.' if more else ''}"

    def _verdict(self, finished: Finished, error: RunError | None) -> Verdict:
        """The engine's verdict, or `denied` if the run ended with the uncaught error of a call that policy denied."""
        if finished.verdict is not Verdict.RAISED or error is None or error.envelope is None:
            return finished.verdict
        is_policy_error = error.envelope["error_kind"] == "policy_denied"
        return Verdict.DENIED if is_policy_error and self.is_denial(error.message) else Verdict.RAISED

    def _limit(self, name: str) -> str:
        """A limit with its value and unit."""
        return format_limit(name, getattr(self._plan.limits, name))

    def _error(self, finished: Finished) -> RunError | None:
        if finished.verdict is Verdict.OK:
            return None
        error_type, message = finished.error_type, finished.error_message
        if finished.verdict in _LIMITS:
            error_type, name, advice = _LIMITS[finished.verdict]
            name = finished.limit or name
            where = ""
            if finished.verdict is Verdict.TIMEOUT and self._reached_line:
                finished = replace(finished, line=self._reached_line)
                where = f" at about line {finished.line}"
            message = f"{f'{message}; ' if message else ''}the limit {self._limit(name)} was reached{where}: {advice}"
        elif error_type == "MemoryError" and not message:  # Python's own MemoryError has no message
            _, name, advice = _LIMITS[Verdict.OUT_OF_MEMORY]
            message = f"an allocation failed; the limit is {self._limit(name)}: {advice}"
        failed_call = envelope.parse(message) if error_type in _TOOL_ERRORS else None
        if failed_call is not None:
            hints = tuple(failed_call["hints"])
        else:
            plan = replace(self._plan, tools=self.functions)
            try:
                hint = hint_for(finished, plan, self._packages, len(self.calls), self.mistaken_artifact)
            except Exception:
                log.exception("no hint could be found for a script's %s", error_type[:100])
                hint = ""
            denied = self._network_hint()
            hints = (denied,) if denied else (hint,) if hint else ()
        return RunError(
            type=error_type or "RuntimeError",
            message=message,
            line=finished.line,
            column=finished.column,
            traceback=envelope.shorten(finished.traceback),
            envelope=failed_call,
            hints=hints,
        )


def _most(*amounts: T | None) -> T | None:
    """The largest amount that is known."""
    return max((each for each in amounts if each is not None), default=None)


_TOOL_ERRORS = ("RuntimeError", "ToolError")
"""Exceptions that a failed call raises in Python and in JavaScript. Their message is the error envelope."""
_LIMITS = {
    Verdict.TIMEOUT: ("TimeoutError", "wall_seconds", "do less work in one run"),
    Verdict.OUT_OF_MEMORY: ("MemoryError", "memory_bytes", "keep less in memory"),
    Verdict.OUTPUT_LIMIT: ("OutputLimitError", "output_bytes", "print and return less"),
}


def unfinished_result(
    context: RunContext,
    language: str,
    verdict: Verdict,
    error: RunError,
    *,
    stdout: str = "",
    stderr: str = "",
    artifacts: tuple[Artifact, ...] = (),
    wall_seconds: float = 0.0,
) -> RunResult:
    """The result of a run that did not end by itself: it was cancelled, refused or lost."""
    output_bytes = len((stdout + stderr).encode(errors="replace"))
    return RunResult(
        run_id=context.run_id,
        verdict=verdict,
        language=language,
        engine=None,
        engine_reason=None,
        usage=Usage(round(wall_seconds, 6), output_bytes=output_bytes),
        stdout=stdout,
        stderr=stderr,
        error=error,
        artifacts=artifacts,
        definition=context.definition,
        connection=context.connection,
    )
