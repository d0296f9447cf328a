"""One run in one Monty session, driven by a thread: what the guest asks for goes to the event loop, answers come back.

A script's values cross as JSON text in both directions, except small inputs and answers, which cross as objects.
"""

from __future__ import annotations

import ast
import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Literal

from pydantic_monty import FunctionSnapshot, FutureSnapshot, MontyComplete, MontyError, MontyRuntimeError, MontySession

from paddock.engines import monty_errors
from paddock.engines.monty_code import DUMP, RESULT, Prepared, prepare
from paddock.engines.monty_drivers import DIED, Driver
from paddock.engines.monty_files import LazyFiles
from paddock.engines.monty_floats import Floats
from paddock.engines.monty_prelude import SECRET, Prelude, guest, may_overlap
from paddock.errors import EngineCrashed
from paddock.model.events import (
    Answer,
    ArtifactAnswer,
    ArtifactCall,
    EngineEvent,
    Finished,
    GuestCall,
    OnCall,
    Output,
    Progress,
    Stream,
    ToolCall,
)
from paddock.model.result import Verdict
from paddock.planning import fits_python
from paddock.planning.light.unlike import Seen
from paddock.planning.misfit import Misfit
from paddock.planning.plan import Plan
from paddock.planning.python_source import Source

SMALL_INPUTS_BYTES = 8 * 1024
SMALL_ANSWER_CHARACTERS = 1000
"""Up to which an answer crosses as an object. Monty's `loads` begins with a table that takes as long as such a call."""
TOOL_NAME_CHARACTERS = 600  # a longer name is cut: no tool has it, and the broker says so
PROGRESS_CHARACTERS = 1000
PROGRESS_EVENTS = 10_000  # of one run; more are not passed on
CALL, PROGRESS, ARTIFACT = (f"__paddock_{name}_{SECRET}" for name in ("call", "progress", "artifact"))


_Told = EngineEvent | GuestCall | Exception  # of which the last is for whoever reads


class MontyExecution:
    """One run. What says so happens in the driver's thread, all else in the event loop."""

    def __init__(self, driver: Driver, plan: Plan, source: Source, wanted: Prelude) -> None:
        self._driver = driver
        self._plan = plan
        self._source = source
        self._wanted = wanted
        self._may_overlap = may_overlap(source)
        self._prepared: Prepared = prepare(source, plan.refused_modules)
        self._given = _Given(plan, source)
        self._floats = Floats(self._given)
        self._files = LazyFiles(plan.files)
        self._seen: Seen | None = None  # of the numbers among what it was given, where they matter
        self._feeds = 0
        self._script_feed: str | None = None
        self._calls = 0
        self._artifact_calls = 0
        self._progressed = 0
        self._pending: dict[tuple[str, int], int] = {}  # Monty's number of a call, by ours
        self._settled: dict[int, Any] = {}  # answers that the guest has not seen yet
        self._sleeping: dict[int, float] = {}  # when sleeps of the guest are over
        self._loop = asyncio.get_running_loop()
        self._answers: SimpleQueue[tuple[str, int, Any]] = SimpleQueue()
        self._mail: deque[_Told] = deque()
        self._is_awaking = False
        self._on_call: OnCall | None = None  # as long as somebody answers
        self._readers: list[asyncio.Future[None]] = []
        self._is_begun = self._is_stopped = self._has_left = False

    async def feed(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        self._on_call = on_call
        try:
            if not self._is_stopped:
                self._driver.do(self._drive)
                self._is_begun = True
            while True:
                while self._mail:
                    event = self._mail.popleft()
                    if isinstance(event, Exception):
                        raise event
                    if isinstance(event, ToolCall | ArtifactCall):
                        on_call(event)
                        continue
                    yield event
                    if isinstance(event, Finished):
                        return
                await self._news()
        finally:
            self._on_call = None

    def go(self, tools: Collection[str]) -> None: ...

    def answer(self, call_id: int, answer: Answer) -> None:
        self._answers.put(("call", call_id, answer))

    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None:
        self._answers.put(("artifact", call_id, answer))

    async def abandon(self) -> None:
        """End the guest because the engine is closed; the run ends as cancelled."""
        await self.stop()
        self._mail.append(_CANCELLED)  # where the thread never came to it
        self._awake()

    async def stop(self) -> None:
        """End the guest. A worker that is still running is killed; the pool replaces it."""
        self._is_stopped = True
        if not self._is_begun or self._has_left:
            return
        self._driver.kill()
        self._answers.put(_STOP)
        while not self._has_left:
            await self._news()

    async def _news(self) -> None:
        """Wait until the thread has told something; what it told before is looked at first."""
        reader = self._loop.create_future()
        self._readers.append(reader)
        await reader

    def _awake(self) -> None:
        self._is_awaking = False
        # Without waking the reader: most of what a guest does is to ask for something and wait for the answer.
        while self._mail and self._on_call is not None and isinstance(call := self._mail[0], ToolCall | ArtifactCall):
            self._mail.popleft()
            try:
                self._on_call(call)
            except Exception as problem:  # noqa: BLE001  the run fails with it, and must not wait for an answer
                self._mail.appendleft(problem)
        if not self._mail and not self._has_left:
            return
        readers, self._readers = self._readers, []
        for reader in readers:
            if not reader.done():
                reader.set_result(None)

    def _tell(self, event: _Told) -> None:
        """In the thread: hand `event` to the loop, which is woken once for all that it has not seen."""
        self._mail.append(event)
        if not self._is_awaking:
            self._is_awaking = True
            with suppress(RuntimeError):  # the loop is closed: nobody is there to be told
                self._loop.call_soon_threadsafe(self._awake)

    def _drive(self) -> None:
        """In the thread: the whole run."""
        ended: Finished | EngineCrashed
        try:
            ended = self._ended()
        except _Stopped:
            ended = _CANCELLED
        except Exception as problem:  # noqa: BLE001  the reader of our events must learn that no more will come
            ended = Finished(Verdict.LOST, error_type="EngineCrashed", error_message=str(problem))
        for stream, text in self._floats.rest():
            self._tell(Output(stream, text))
        self._has_left = True
        self._tell(_CANCELLED if self._is_stopped else ended)

    def _ended(self) -> Finished | EngineCrashed:
        try:
            opened = self._driver.session(self._plan.limits, self._wanted)
        except (MontyError, RuntimeError, OSError) as problem:
            return EngineCrashed(f"{DIED}: {problem}")
        if self._is_stopped:  # before there was anything to kill
            raise _Stopped
        cpu = _Cpu(opened.pid)
        self._feeds = opened.feeds
        try:
            output = self._run(opened.session, "" if opened.fed == self._wanted else self._wanted.text)
        except MontyError as error:
            return self._failed(error, cpu)
        except _Unfit as unfit:
            return Finished(Verdict.LOST, error_type="EngineUnavailable", error_message=str(unfit))
        return Finished(Verdict.OK, output, cpu_seconds=cpu.spent())

    def _failed(self, error: MontyError, cpu: _Cpu) -> Finished:
        finished = monty_errors.finished(error, self._source, self._prepared, self._script_feed, self._plan)
        return replace(
            finished,
            error_message=self._floats.mended(finished.error_message),
            traceback=self._floats.mended(finished.traceback),
            cpu_seconds=cpu.spent(),
        )

    def _run(self, session: MontySession, prelude: str) -> str | None:
        """In the thread: the script, after what must come before it; its value as JSON."""
        if prelude:
            self._feed(session, prelude, {})
        self._bind_large_inputs(session)
        self._script_feed = f"<python-input-{self._feeds}>"
        try:
            answer = self._feed(session, self._prepared.text, {**self._small_inputs(), RESULT: None})
            if self._prepared.needs_dump:
                answer = self._feed(session, DUMP, {})
        except MontyRuntimeError as error:
            if not monty_errors.concerns_result(error, self._prepared, self._script_feed):
                raise
            answer = self._feed(session, guest("monty_result.py"), {})
        return self._floats.mended(answer) if isinstance(answer, str) else None

    def _small_inputs(self) -> dict[str, Any]:
        small = {name: json.loads(text) for name, text in self._plan.inputs_json.items() if not _is_large(text)}
        return {"files": [file.entry() for file in self._plan.files], **small}

    def _bind_large_inputs(self, session: MontySession) -> None:
        """Large values go in as text and are parsed inside: ten times faster than objects."""
        large = {f"__paddock_{name}": text for name, text in self._plan.inputs_json.items() if _is_large(text)}
        if large:
            lines = [f"{name.removeprefix('__paddock_')} = __paddock_loads({name})" for name in large]
            self._feed(session, "\n".join(["from json import loads as __paddock_loads", *lines]), large)

    def _feed(self, session: MontySession, code: str, inputs: dict[str, Any]) -> Any:
        """In the thread: follow the guest to the end of `code`, answering what it asks for meanwhile."""
        self._feeds += 1
        at: Any = session.feed_start(
            code, inputs=inputs, external_lookup=_TO_HOST, print_callback=self._print, os=self._files
        )
        while not isinstance(at, MontyComplete):
            if isinstance(at, FutureSnapshot):
                at = at.resume(self._next_answers(at.pending_call_ids))
            elif not isinstance(at, FunctionSnapshot):
                at = at.resume_auto()
            elif at.function_name in _TO_HOST:
                at = at.resume(self._asked(at))
            else:
                at = self._asked_of_system(at)
        return at.output

    def _asked_of_system(self, at: FunctionSnapshot) -> Any:
        """A sleep is waited for here, where it can be ended. Files and the time are answered at once, and so is a name
        that there is not."""
        if at.function_name == "system.async_sleep":
            self._sleeping[at.call_id] = time.monotonic() + at.args[0]
            return at.resume({"future": ...})
        if at.function_name == "system.sleep":
            self._wait_until(time.monotonic() + at.args[0])
            return at.resume({"return_value": None})
        return at.resume_auto()

    def _asked(self, at: FunctionSnapshot) -> Any:
        """What a call of one of our own functions gives: a future, where the guest may do something else meanwhile."""
        try:
            if at.function_name == PROGRESS:
                return self._progress(*at.args)
            if at.function_name == CALL:
                self._call(at.call_id, *at.args)
            else:
                self._artifact(at.call_id, *at.args)
        except TypeError as problem:
            return {"exception": problem}
        return {"future": ...} if self._may_overlap else self._answer_to(at.call_id)

    def _call(self, monty_id: int, tool: object, arguments_json: object) -> None:
        self._calls += 1
        if not isinstance(tool, str) or not isinstance(arguments_json, str) or not arguments_json.startswith("{"):
            raise TypeError("call_tool takes the tool's name and one dict of arguments")
        self._pending["call", self._calls] = monty_id
        self._tell(ToolCall(self._calls, tool[:TOOL_NAME_CHARACTERS], self._floats.mended(arguments_json)))

    def _progress(self, done: object, total: object, message: object) -> Any:
        if not isinstance(done, int | float) or not isinstance(total, int | float | None):
            raise TypeError("report_progress takes numbers: report_progress(done, total, message)")
        try:
            far, whole = float(done), None if total is None else float(total)
        except OverflowError:
            raise TypeError("report_progress takes numbers that are not huge") from None
        self._progressed += 1
        if self._progressed <= PROGRESS_EVENTS:
            self._tell(Progress(far, whole, str(message)[:PROGRESS_CHARACTERS]))
        return {"return_value": None}

    def _artifact(self, monty_id: int, action: object, name: object, file_type: object, content: object) -> None:
        if action not in ("create", "read") or not isinstance(name, str) or not isinstance(file_type, str):
            raise TypeError("artifacts have names")
        if isinstance(content, str):
            content = self._floats.mended(content).encode(errors="replace")
        if not isinstance(content, bytes):
            raise TypeError("the content of an artifact is text or bytes")
        self._artifact_calls += 1
        self._pending["artifact", self._artifact_calls] = monty_id
        do: Literal["create", "read"] = "create" if action == "create" else "read"
        self._tell(ArtifactCall(self._artifact_calls, do, name, file_type, content))

    def _answer_to(self, number: int) -> Any:
        """Wait until that call is answered, where the guest has no other under way."""
        while number not in self._settled:
            self._take(*self._answers.get())
        return self._settled.pop(number)

    def _next_answers(self, pending: list[int]) -> dict[int, Any]:
        """Wait until one of the calls that the guest waits for is answered, or a sleep of its over: all that are."""
        while True:
            now = time.monotonic()
            for number in [number for number, until in self._sleeping.items() if until <= now]:
                del self._sleeping[number]
                self._settled[number] = {"return_value": None}
            if ready := self._settled.keys() & set(pending):
                return {number: self._settled.pop(number) for number in ready}
            self._receive(min(self._sleeping.values(), default=None))

    def _wait_until(self, moment: float) -> None:
        while time.monotonic() < moment:
            self._receive(moment)

    def _receive(self, until: float | None) -> None:
        """Take the answers that are there; wait for one up to a moment, or for ever."""
        try:
            answer = self._answers.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            while True:
                self._take(*answer)
                answer = self._answers.get_nowait()
        except Empty:
            return

    def _take(self, kind: str, number: int, answer: Any) -> None:
        if kind == "stop":
            raise _Stopped
        monty_id = self._pending.pop((kind, number), None)
        if monty_id is None:
            return
        if isinstance(answer, ArtifactAnswer):
            read = answer.content or b""
            crossing = (json.dumps(dict(answer.values)), read.decode() if answer.is_text else read)
            self._settled[monty_id] = {"return_value": crossing}
            return
        misfit = None if self._plan.engine_reason is not None else self._unreadable(answer.json)
        if misfit is not None:  # the run ends before the script sees an answer with which it might go wrong
            raise _Unfit(f"after what a tool answered, this script needs full Python ({misfit}); nothing more was run")
        self._given.answers.append(answer.json)
        self._floats.given_more(answer.json)
        self._settled[monty_id] = (
            {"exception": RuntimeError(answer.json)} if answer.failed else {"return_value": _crossing(answer.json)}
        )

    def _unreadable(self, answer: str) -> Misfit | None:
        if not self._given.answers:
            self._seen = fits_python.numbers_seen(self._source, self._plan.names(), frozenset(self._plan.tools))
            if self._seen is not None:
                self._seen.add(self._given)
        return fits_python.unreadable(self._source, (answer,), self._seen)

    def _print(self, stream: Stream, text: str) -> None:
        self._tell(Output(stream, self._floats.printed(stream, text)))


class _Stopped(Exception):
    """The run is over for the host."""


class _Unfit(Exception):
    """What the script was given is not for this engine."""


_STOP: tuple[str, int, Any] = ("stop", 0, None)
_CANCELLED = Finished(
    Verdict.CANCELLED, error_type="Cancelled", error_message="Paddock was closed while the script ran"
)
"""How a run that was stopped ends; somebody hears of it only where it was for this reason."""


def _to_host(*_: object) -> None:
    """Stands for our functions: a name that a guest may call is one for which there is a callable."""


_TO_HOST: dict[str, Any] = dict.fromkeys((CALL, PROGRESS, ARTIFACT), _to_host)


def _is_large(text: str) -> bool:
    return len(text) > SMALL_INPUTS_BYTES


def _crossing(answer: str) -> Any:
    """An answer as it goes into the sandbox: an object where it is small, else its text, which is parsed inside."""
    # Half a character cannot cross as one; and what is no object would look like text that is to be parsed.
    if len(answer) > SMALL_ANSWER_CHARACTERS or "\\ud" in answer or not answer.startswith("{"):
        return answer
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return answer


class _Given:
    """All text that a run is given: in its code, its inputs, its files, what tools answered."""

    def __init__(self, plan: Plan, source: Source) -> None:
        self._plan = plan
        self._source = source
        self.answers: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
        yield from self._plan.inputs_json.values()
        yield from (file.file.content.decode(errors="replace") for file in self._plan.files)
        yield from self.answers


class _Cpu:
    """What a process spends from now on."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._before = _cpu_seconds(pid)

    def spent(self) -> float | None:
        after = _cpu_seconds(self._pid)
        return None if after is None or self._before is None else round(after - self._before, 6)


def _cpu_seconds(pid: int | None) -> float | None:
    """What a process has spent so far, all its threads together; None where the kernel does not say."""
    if pid is None or sys.platform != "linux":
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)  # what clock_getcpuclockid(3) computes
    except OSError:
        return None
