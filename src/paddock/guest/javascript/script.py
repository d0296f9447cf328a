"""Runs a script with its promise jobs and timers, and delivers answers to it, until its outcome is known."""

from __future__ import annotations

import hashlib
import json
import os
import resource
from math import inf
from time import monotonic
from typing import NamedTuple

import _quickjs  # type: ignore[import-not-found]

from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.context import Context
from paddock.guest.python import limits
from paddock.guest.python.job import Job
from paddock.jail import wire
from paddock.jail.wire import Frame, Kind

CALL_BYTES = 8 * 1024 * 1024
OUTPUT_BYTES = 1024 * 1024
"""How much a run may print if the job sets no limit."""
OK = '{"status":"ok"'
"""How the header of a script that succeeded begins; warnings may follow."""
RETURNED = 0
"""Emitted when the script's function has returned. It is not a frame."""
CALLS_SHARE = 0.9
"""Share of a run's time after which a script that has returned no longer waits for its calls."""
TOO_LARGE = '{"status":"too_large"}'
NO_MEMORY = (
    *("InternalError: out of memory", "InternalError: out of memory in regexp execution"),
    *("InternalError: Invalid error message", "InternalError:", "InternalError"),
    *("out of memory", "null", ""),
)
"""QuickJS's messages when memory is exhausted: the less memory, the shorter the message."""
UNCAUGHT_NULL = ('"message":"Uncaught null"', '"message":"Uncaught value"')
"""QuickJS throws null if it has no memory for an error, and may be unable to print it. A script may throw null too."""


class Outcome(NamedTuple):
    """The RESULT of a script."""

    header: str
    body: bytes = b""

    def send(self, channel: Channel) -> None:
        """Send the result. If it is too large, send only a length, from which the host derives the error."""
        if self.header == TOO_LARGE:
            channel.send(Kind.RESULT, 0, f"{OK}}}".encode(), b"", wire.UNSENT_BYTES)
        else:
            channel.send(Kind.RESULT, 0, self.header.encode(), self.body)


def _raised(name: str, message: str) -> Outcome:
    values = {"status": "raised", "type": name, "message": message, "traceback": f"{name}: {message}"}
    return Outcome(json.dumps(values))


OUT_OF_MEMORY = _raised("MemoryError", "out of memory")


def run(context: Context, channel: Channel, job: Job, data_bytes: int | None) -> Outcome:
    """Run the script of a job. `data_bytes` is the memory that the process used before the job arrived."""
    script = Script(context, channel, job)
    reserve = limits.reserve()
    context.limit(job.limits.get("memory_bytes"))
    if data_bytes is not None:
        limits.apply(job.limits, data_bytes)
    try:
        return script.run()
    finally:
        reserve.close()


def _seed(job: Job) -> int:
    seed = job.start.get("seed")
    data = os.urandom(8) if seed is None else hashlib.sha256(str(seed).encode()).digest()
    return int.from_bytes(data[:8], "little")


class Script:
    """One script in its context."""

    def __init__(self, context: Context, channel: Channel, job: Job) -> None:
        self._context = context
        self._channel = channel
        self._job = job
        self._output_bytes: int = job.limits.get("output_bytes") or OUTPUT_BYTES
        self._outcome: Outcome | None = None
        self._pending_answers = 0  # calls and artifacts
        self._has_returned = False
        self._has_warned = False
        wall_seconds = job.limits.get("wall_seconds")
        self._calls_deadline = inf if wall_seconds is None else monotonic() + wall_seconds * CALLS_SHARE
        self._peak_bytes_before = _peak_bytes()
        moments = [monotonic() + seconds for seconds in limits.early_seconds(job.limits)]
        context.tell_line(moments, lambda line: channel.send(Kind.REACHED, 0, b'{"line":%d}' % line, b""))
        context.attach(self._emit)

    def run(self) -> Outcome:
        """Compile and run the script."""
        context, start = self._context, self._job.start
        try:
            settings = {name: start.get(name) or [] for name in ("tools", "files")}
            settings["keep_files"] = bool(start.get("keep_files"))
            context.call("begin", json.dumps({**settings, "output_bytes": self._output_bytes}))
            context.seed(_seed(self._job))
            for name, text in self._job.inputs.items():
                context.call("input", name, text)
            if context.compile(self._job.code):
                if start.get("check_only"):
                    return Outcome(f"{OK}}}", b"null")
                self._channel.send(Kind.STARTED, 0, b"", b"")
                context.run()
                self._run_event_loop()
                if self._outcome is None and not self._was_short_of_memory():
                    context.call("stuck")
        except _quickjs.JSException as error:
            return self._outcome if self._outcome is not None and self._has_failed() else _prelude_failed(error)
        except MemoryError:
            return OUT_OF_MEMORY
        outcome = self._outcome
        # A promise job that fails for lack of memory settles no promise and reports nothing.
        if (
            outcome is not None
            and any(text in outcome.header for text in UNCAUGHT_NULL)
            and self._was_short_of_memory()
        ):
            return OUT_OF_MEMORY
        return OUT_OF_MEMORY if outcome is None else outcome

    def _emit(self, kind: int, number: int, header: str, body: bytes) -> str | None:
        """Send a frame; a RESULT is stored until it is final. Returns an error message if the frame is too large."""
        if kind == RETURNED:
            self._has_returned = True
            return None
        if kind == Kind.RESULT:
            if not self._has_failed():
                self._outcome = Outcome(header, body)
            return None
        if kind == Kind.CALL and len(body) > CALL_BYTES:
            return f"the arguments of a tool may be at most 8 MB of JSON; these are {len(body) / 2**20:.1f} MB"
        if kind == Kind.ARTIFACT and len(body) > wire.ARTIFACT_BYTES:
            return "an artifact may be at most 16 MB; this one is larger"
        if kind == Kind.LOG:
            body = body[: self._output_bytes + 1]  # one byte above the limit shows the host that it is exceeded
        self._channel.send(kind, number, header.encode(), body)
        if number > 0:
            self._pending_answers += 1
        return None

    def _run_event_loop(self) -> None:
        context = self._context
        self._run_jobs()
        while self._outcome is None:
            if self._has_returned:
                if self._pending_answers == 0 or monotonic() > self._calls_deadline:
                    context.call("finish")
                    return
                if not self._has_warned:
                    self._has_warned = True
                    context.call("warnOfPending")
            milliseconds = self._wait_milliseconds()
            if milliseconds < 0 and self._pending_answers == 0:
                return
            if milliseconds != 0 or self._pending_answers > 0:
                frame = self._channel.receive(None if milliseconds < 0 else milliseconds)
                if frame is not None:
                    self._settle(frame)
                    self._run_jobs()
                    continue
            if context.call("wait") == 0:
                context.call("fire")
                self._run_jobs()

    def _wait_milliseconds(self) -> float:
        """Milliseconds to wait for an answer; negative to wait without a limit."""
        until_timer = float(self._context.call("wait"))
        if not self._has_returned or self._calls_deadline == inf:
            return until_timer
        until_end = max(0.0, self._calls_deadline - monotonic()) * 1000 + 1
        return until_end if until_timer < 0 else min(until_timer, until_end)

    def _run_jobs(self) -> None:
        """Run all queued promise jobs. Stops when the script fails, because that ends the run."""
        while not self._has_failed() and self._context.run_job():
            pass
        if not self._has_failed():
            self._context.check_rejections()

    def _has_failed(self) -> bool:
        return self._outcome is not None and not self._outcome.header.startswith(OK)

    def _settle(self, frame: Frame) -> None:
        is_text = b'"text"' not in frame.header or json.loads(frame.header).get("text", True)
        self._pending_answers -= 1
        self._context.settle(frame.id, frame.header.decode(), frame.body, is_text=is_text)

    def _was_short_of_memory(self) -> bool:
        """Whether the script has ever used more than half of its memory limit."""
        memory_bytes = self._job.limits.get("memory_bytes")
        return memory_bytes is not None and _peak_bytes() - self._peak_bytes_before > memory_bytes // 2


def _prelude_failed(error: _quickjs.JSException) -> Outcome:
    """The outcome if the prelude, Paddock's own JavaScript, ran out of memory or stack."""
    text = str(error).strip().split("\n")[0]
    if text in NO_MEMORY:
        return OUT_OF_MEMORY
    name, _, message = text.partition(": ")
    return _raised(name, message)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
