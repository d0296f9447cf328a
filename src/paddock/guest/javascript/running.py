"""Running a script: its promises, timers and answers, in the order that Node has, until its end is known."""

from __future__ import annotations

import hashlib
import json
import os
import resource
from dataclasses import dataclass

import _quickjs  # type: ignore[import-not-found]

from paddock.guest.javascript import services
from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.context import Context
from paddock.guest.python import limits
from paddock.guest.python.job import Job
from paddock.jail import wire
from paddock.jail.wire import Frame, Kind

CALL_BYTES = 8 * 1024 * 1024
OUTPUT_BYTES = 1024 * 1024
"""What a run may print where nothing is said of it."""
STUCK = "the script waits for something that never happens"
OK = '{"status":"ok"}'
NO_MEMORY = (
    *("InternalError: out of memory", "InternalError: Invalid error message", "InternalError:", "InternalError"),
    *("null", ""),
)
"""What QuickJS says where it has no memory: the less, the less it has."""
UNCAUGHT_NULL = '"message":"Uncaught null"'
"""What QuickJS throws where there is no memory for an error; and what a script may throw itself."""
OUT_OF_MEMORY = (
    '{"status":"raised","type":"MemoryError","message":"out of memory","traceback":"MemoryError: out of memory"}'
)


@dataclass(slots=True)
class Outcome:
    """The RESULT of a script."""

    header: str
    body: bytes = b""

    @property
    def is_ok(self) -> bool:
        return self.header == OK


def run(context: Context, channel: Channel, received: Job, data_bytes: int | None) -> Outcome:
    """Run the script of a job. `data_bytes` is what the process had before the job came."""
    running = Run(context, channel, received.limits.get("output_bytes") or OUTPUT_BYTES)
    context.attach(running.emit, services.answer)
    reserve = limits.reserve()
    context.limit(received.limits.get("memory_bytes"))
    if data_bytes is not None:
        limits.apply(received.limits, data_bytes)
    try:
        return running.run(received)
    finally:
        reserve.close()


def _seed(received: Job) -> int:
    seed = received.start.get("seed")
    data = os.urandom(8) if seed is None else hashlib.sha256(str(seed).encode()).digest()
    return int.from_bytes(data[:8], "little")


class Run:
    """One script in its context."""

    def __init__(self, context: Context, channel: Channel, output_bytes: int) -> None:
        self._context = context
        self._channel = channel
        self._output_bytes = output_bytes
        self._outcome: Outcome | None = None
        self._unanswered = 0  # calls and artifacts
        self._before_bytes = _peak_bytes()

    def emit(self, kind: int, number: int, header: str, body: bytes) -> str | None:
        """Send what the script says; its end is kept until nothing can change it. Gives what is wrong, if anything."""
        if kind == Kind.RESULT:
            if not self._has_failed():
                self._outcome = Outcome(header, body)
            return None
        if kind == Kind.CALL and len(body) > CALL_BYTES:
            return f"the arguments of a tool have at most 8 MB of JSON, and these have {len(body)} bytes"
        if kind == Kind.ARTIFACT and len(body) > wire.ARTIFACT_BYTES:
            return f"an artifact has at most 16 MB, and this one has {len(body)} bytes"
        if kind == Kind.LOG:
            body = body[: self._output_bytes + 1]  # enough to be found too much
        self._channel.send(kind, number, header.encode(), body)
        if number > 0:
            self._unanswered += 1
        return None

    def run(self, received: Job) -> Outcome:
        """From the text of the script to its outcome."""
        context, memory_bytes = self._context, received.limits.get("memory_bytes")
        try:
            tools, files = received.start.get("tools") or [], received.start.get("files") or []
            context.begin(tools, files, self._output_bytes, _seed(received))
            for name, text in received.inputs.items():
                context.input(name, text)
            if context.compile(received.code):
                context.run()
                self._to_the_end()
        except _quickjs.JSException as error:
            return self._outcome if self._outcome is not None and self._has_failed() else self._failed(error)
        except MemoryError:
            return Outcome(OUT_OF_MEMORY)
        if self._outcome is None:
            return self._stuck(memory_bytes)
        if UNCAUGHT_NULL in self._outcome.header and self._is_short(memory_bytes):
            return Outcome(OUT_OF_MEMORY)
        return self._outcome

    def _to_the_end(self) -> None:
        context = self._context
        self._run_jobs()
        while self._outcome is None:
            milliseconds = context.wait_milliseconds()
            if milliseconds < 0 and self._unanswered == 0:
                return
            if milliseconds != 0 or self._unanswered > 0:
                frame = self._channel.receive(None if milliseconds < 0 else milliseconds)
                if frame is not None:
                    self._answered(frame)
                    self._run_jobs()
                    continue
            if context.wait_milliseconds() == 0:
                context.fire()
                self._run_jobs()

    def _run_jobs(self) -> None:
        """Everything that promises have queued, unless the script fails meanwhile: then it is over."""
        while not self._has_failed() and self._context.run_job():
            pass
        if not self._has_failed():
            self._context.check_rejections()

    def _has_failed(self) -> bool:
        return self._outcome is not None and not self._outcome.is_ok

    def _answered(self, frame: Frame) -> None:
        is_text = b'"text"' not in frame.header or json.loads(frame.header).get("text", True)
        self._unanswered -= 1
        self._context.settle(frame.id, frame.header.decode(), frame.body, is_text=is_text)

    def _failed(self, error: _quickjs.JSException) -> Outcome:
        """The prelude itself failed: there was no memory, or no stack, left for it."""
        text = str(error).strip().split("\n")[0]
        if text in NO_MEMORY:
            return Outcome(OUT_OF_MEMORY)
        kind, _, message = text.partition(": ")
        said = {"status": "raised", "type": kind, "message": message, "traceback": text}
        return Outcome(json.dumps(said))

    def _stuck(self, memory_bytes: int | None) -> Outcome:
        # A promise job that fails for want of memory settles nothing and says nothing.
        if self._is_short(memory_bytes):
            return Outcome(OUT_OF_MEMORY)
        said = {"status": "raised", "type": "Error", "message": STUCK, "traceback": f"Error: {STUCK}"}
        return Outcome(json.dumps(said))

    def _is_short(self, memory_bytes: int | None) -> bool:
        """Whether the script has at some time had more than half of the memory that it may have."""
        return memory_bytes is not None and _peak_bytes() - self._before_bytes > memory_bytes // 2


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
