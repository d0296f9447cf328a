"""The engine `monty`: pydantic-monty's pool of workers, with a fresh session for each run.

Monty supports part of Python's syntax and 25 modules of the standard library; the wording of its errors is its own.
None of the modules can reach a network, so `refused_modules` has no effect here.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from pydantic_monty import (
    AsyncFunctionSnapshot,
    AsyncMontySession,
    Frame,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
)

from paddock.engines.base import CLOSED_DURING_RUN, Interpreter
from paddock.engines.monty_files import SystemCalls
from paddock.engines.monty_source import RESULT, InstrumentedScript, instrument
from paddock.engines.monty_warnings import NOTES, from_notes, is_wrapped, misread_answers
from paddock.engines.monty_workers import GRACE_SECONDS, WorkerPool
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
from paddock.model.json_depth import RESULT_DEPTH, TOO_DEEP, depths
from paddock.model.limits import Limits
from paddock.model.result import Connection, Verdict
from paddock.planning.plan import BRIDGE_NAMES, STANDARD_NAMES, Plan

if TYPE_CHECKING:
    from paddock.config import Config

SUSPENSIONS = 10_000_000  # calls, file operations and sleeps; Monty's default allows 1000
ARGUMENT_CHARACTERS = 16 * 1024 * 1024
TOOL_NAME_CHARACTERS = 600  # longer names are cut; the broker refuses them anyway, because no tool has a name this long
PROGRESS_CHARACTERS = 1000
NOTES_CHARACTERS = 100_000
PROGRESS_EVENTS = 10_000  # per run; later ones are dropped
MESSAGE_CHARACTERS = 64 * 1024
LINE_CHARACTERS = 500
SHOWN_FRAMES = 10  # at each end of a traceback; a deep recursion has a thousand
LONG_CODE_CHARACTERS = 16 * 1024  # longer code is instrumented in a thread
LONG_RESULT_CHARACTERS = 256 * 1024  # the depth of a longer result is counted in steps
CPU_CHECK_SECONDS = 0.25
"""How often the processor time of the worker is compared with the run's limit."""
COUNTS_CPU = sys.platform == "linux"
"""Whether the host can tell the processor time of a worker."""
_CANCELLED = Finished(Verdict.CANCELLED, error_type="Cancelled", error_message=CLOSED_DURING_RUN)


class MontyEngine:
    """Runs Python on Monty."""

    grace_seconds = GRACE_SECONDS

    def __init__(self, config: Config) -> None:
        self._config = config
        self._workers = self._new_workers()
        self._open: set[MontyExecution] = set()

    async def start(self) -> None:
        """Do nothing: workers start with the first run."""

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[MontyExecution]:
        memory_limit = draw_memory_limit(plan.limits)
        async with (
            self.open_session(plan, memory_limit) as session,
            self.watching(MontyExecution(session, plan, memory_limit)) as execution,
        ):
            yield execution

    def open_session(self, plan: Plan, memory_limit: int) -> AbstractAsyncContextManager[AsyncMontySession]:
        """A session of Monty's own with this run's limits."""
        return self._workers.session(**_session_options(plan.limits, memory_limit))

    @asynccontextmanager
    async def watching(self, execution: MontyExecution) -> AsyncIterator[MontyExecution]:
        """Stop the execution at the end, and if the engine is closed."""
        self._open.add(execution)
        try:
            yield execution
        finally:
            self._open.discard(execution)
            await execution.stop()

    async def network_problem(self) -> str | None:
        return "Monty has no network"

    async def prepare(self, plan: Plan, show: Callable[[str], None], principal: str) -> Plan:
        return plan  # a plan for Monty asks for no packages

    async def interpreter(self, plan: Plan) -> Interpreter:
        from paddock.engines.monty_interpreter import MontyInterpreter

        return MontyInterpreter(self)

    def waiting_guests(self) -> dict[tuple[str, str], int]:
        return {}

    async def close(self) -> None:
        """End every run and every worker. A later run starts new workers."""
        workers, self._workers = self._workers, self._new_workers()
        for execution in list(self._open):
            await execution.abandon()
        await workers.close()

    def _new_workers(self) -> WorkerPool:
        return WorkerPool(self._config, self._config.monty.min_workers, self._config.monty.max_workers)


def _import_statement(name: str) -> str:
    return "from pathlib import Path" if name == "Path" else f"import {name}"


def draw_memory_limit(limits: Limits) -> int:
    """The limit that Monty's error names: for each run up to 1/256 larger, so that no script can forge the error."""
    return limits.memory_bytes + secrets.randbelow((limits.memory_bytes >> 8) + 1)


def _session_options(limits: Limits, memory_limit: int) -> dict[str, Any]:
    return {
        "limits": {
            # Monty's clock stops while it waits for a tool, but goes on while others have the processor.
            "max_feed_duration_secs": limits.wall_seconds
            if COUNTS_CPU
            else min(limits.wall_seconds, limits.cpu_seconds),
            "max_memory": memory_limit,
            "max_recursion_depth": limits.recursion,
            "max_suspensions": SUSPENSIONS,
        },
        "assert_message_annotations": False,
        "os_policy": {"sleep": "call_host"},
    }


class MontyExecution:
    """One run in one session."""

    def __init__(
        self,
        session: AsyncMontySession,
        plan: Plan,
        memory_limit: int,
        token: str = "",
        feeds: int = 0,
        cell: int | None = None,
    ) -> None:
        self._session = session
        self._plan = plan
        self.memory_limit = memory_limit
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[EngineEvent | GuestCall] = asyncio.Queue()
        self._pending: dict[tuple[str, int], asyncio.Future[Any]] = {}
        self._task: asyncio.Task[None] | None = None
        self._counts = {"call": 0, "artifact": 0, "progress": 0}
        self._output_left: dict[Stream, int] = dict.fromkeys(
            ("stdout", "stderr"), max(plan.limits.output_bytes, plan.limits.stream_characters) + 1
        )
        self._cell = cell  # which run of a session this is
        self.has_result = False  # the script has ended, and its worker is idle
        self.verdict: Verdict | None = None
        self._pid: int | None = None  # of the worker
        self._cpu_before: float | None = None  # the processor time of the worker before the run
        self._token = token or secrets.token_hex(
            8
        )  # part of the host functions' names, so that scripts cannot guess them
        self._system = SystemCalls(plan.files, plan.limits.wall_seconds + 1)
        self.feeds = feeds  # how much code was passed to Monty, which numbers it
        self._has_wrapped_answer = False  # a list or a plain value under `result`
        self._has_bridge = False  # whether the script can call tools and create artifacts

    async def events(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        self._task = asyncio.create_task(self._drive())
        next_check = self._loop.time() + CPU_CHECK_SECONDS
        while True:
            if self._loop.time() >= next_check:
                spent = self._spent_seconds()
                if spent is not None and spent > self._plan.limits.cpu_seconds:  # Monty limits each feed alone
                    yield Finished(Verdict.TIMEOUT, limit="cpu_seconds", cpu_seconds=spent)
                    return
                next_check = self._loop.time() + CPU_CHECK_SECONDS
            try:
                async with asyncio.timeout_at(next_check):
                    # Calls share the queue with output, so that no call is made after output that ended the run.
                    event = await self._events.get()
            except TimeoutError:
                continue
            if isinstance(event, ToolCall | ArtifactCall):
                on_call(event)
                continue
            yield event
            if isinstance(event, Finished):
                return

    def go(self, tools: Collection[str]) -> None:
        """Do nothing: Monty yields no outline."""

    def pause(self) -> None:
        """Do nothing: Monty yields no outline."""

    def halt(self) -> None:
        """Kill the worker if it is busy. Monty's own limit counts only the time that the script has computed."""
        if self._task is not None and not self._task.done() and self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    async def interrupt(self) -> None:
        """Do nothing: a script that is still busy is killed, and the session has its state of before the run."""

    def answer(self, call_id: int, answer: Answer) -> None:
        self._settle("call", call_id, answer)

    def usage(self) -> tuple[None, None]:
        return None, None

    def unread_output(self) -> tuple[()]:
        return ()

    async def end_network(self) -> tuple[Connection, ...]:
        return ()

    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None:
        self._settle("artifact", call_id, answer)

    def cancel(self, reason: str) -> None:
        """End the run as cancelled, because its session was ended."""
        self._events.put_nowait(Finished(Verdict.CANCELLED, error_type="Cancelled", error_message=reason))

    async def abandon(self) -> None:
        """End the guest because the engine was closed. The run ends as cancelled."""
        await self.stop()
        self._events.put_nowait(_CANCELLED)

    async def stop(self) -> None:
        """End the guest. A worker that is still busy is killed; the pool replaces it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        for pending in self._pending.values():
            pending.cancel()

    async def _drive(self) -> None:
        self._pid = self._session.worker_pid  # which is not known while the worker is busy
        self._cpu_before = _cpu_seconds(self._pid)
        try:
            finished = await self._run()
        except MontyError as error:
            finished = _finished_from_error(error, None, self._plan, self.memory_limit)
        except Exception as problem:  # noqa: BLE001  the reader of the events waits for `Finished`
            finished = _lost(problem)
        self.has_result, self.verdict = True, finished.verdict
        self._events.put_nowait(replace(finished, cpu_seconds=self._spent_seconds()))

    def _spent_seconds(self) -> float | None:
        """The processor time of the run so far."""
        before, now = self._cpu_before, _cpu_seconds(self._pid)
        return None if before is None or now is None else round(now - before, 6)

    async def _run(self) -> Finished:
        """Run the preparation, then the script, and return its value as JSON."""
        await self._prepare()
        inputs: dict[str, Any] = {"files": [file.entry() for file in self._plan.files], RESULT: None}
        inputs = {name: value for name, value in inputs.items() if name not in self._plan.inputs_json}
        for script in await self._variants():
            try:
                await self._feed(script.text, inputs)
            except MontyError as error:
                if not _is_rejected(error) or not script.stores_value:
                    name = "main.py" if self._cell is None else f"cell {self._cell}"
                    failed_script = _Script(self._plan.code, script, f"<python-input-{self.feeds - 1}>", name)
                    return _finished_from_error(error, failed_script, self._plan, self.memory_limit)
            else:
                finished = await self._value() if script.stores_value else Finished(Verdict.OK)
                if self._cell is not None and finished.output_json not in (None, "null"):
                    await self._feed(f"_ = {RESULT}", {})
                return replace(finished, warnings=await self._warnings()) if self._has_bridge else finished
        raise AssertionError("the last variant is the original script")

    async def _variants(self) -> list[InstrumentedScript]:
        if len(self._plan.code) > LONG_CODE_CHARACTERS:
            return await asyncio.to_thread(lambda: list(instrument(self._plan.code)))
        return list(instrument(self._plan.code))

    async def _prepare(self) -> None:
        """Define the inputs, passed as JSON text because that is fastest, and the functions if the script names one."""
        code = self._plan.code
        texts = {f"__paddock_{name}": text for name, text in self._plan.inputs_json.items()}
        parts = [_import_statement(name) for name in STANDARD_NAMES if name in code and name not in self._plan.tools]
        parts += ["from json import loads as __paddock_loads"] if texts else []
        parts += [f"{name.removeprefix('__paddock_')} = __paddock_loads({name})" for name in texts]
        linked = [name for name in self._plan.tools if name not in BRIDGE_NAMES and name in code]
        if linked or any(name in code for name in BRIDGE_NAMES):
            parts.append(_guest_source("monty_bridge.py").replace("TOKEN", self._token))
            call = "return __paddock_function('{0}', arguments, fields)"
            parts += [f"def {name}(arguments=None, **fields): {call.format(name)}" for name in linked]
            self._has_bridge = True
        if parts:
            await self._feed("\n".join(parts), texts)

    async def _value(self) -> Finished:
        # One character more than allowed shows that the value is too large. An f-string is always text, whatever the
        # script has assigned to `dumps`.
        max_characters = self._plan.limits.output_bytes + 1
        try:
            dumps = f"__paddock_dumps({RESULT}, allow_nan=False)"
            complete = await self._feed(
                f"from json import dumps as __paddock_dumps\nf'{{{dumps}[:{max_characters}]}}'", {}
            )
        except MontyRuntimeError as error:
            if not isinstance(error.exception(), TypeError | ValueError | RecursionError):
                raise
            complete = await self._feed(
                f"{_guest_source('monty_result.py')}\nf'{{__paddock_json({RESULT})[:{max_characters}]}}'", {}
            )
        text = str(complete.output)
        if len(text) >= max_characters:
            return Finished(Verdict.OUTPUT_LIMIT)
        for level in depths(text.encode(errors="replace")):
            if level > RESULT_DEPTH:
                return Finished(Verdict.RAISED, error_type="ValueError", error_message=TOO_DEEP)
            if len(text) > LONG_RESULT_CHARACTERS:
                await asyncio.sleep(0)
        return Finished(Verdict.OK, text)

    async def _warnings(self) -> tuple[str, ...]:
        misread = misread_answers(self._plan.code) if self._has_wrapped_answer else ()
        try:
            complete = await self._feed(f"f'{{__paddock_dumps({NOTES})[:{NOTES_CHARACTERS}]}}'", {})
            return (*from_notes(str(complete.output)), *misread)
        except (MontyError, msgspec.MsgspecError, UnicodeError):
            return misread  # the script has replaced what this uses, or there is too much of it

    async def _feed(self, code: str, inputs: dict[str, Any]) -> MontyComplete:
        """Run `code` in the session to its end, answering its calls.

        `feed_run` is not used, because it converts every value that a script passes into objects.
        """
        self.feeds += 1
        functions = {"call": self._call, "progress": self._progress, "artifact": self._artifact}
        lookup = {f"__paddock_{name}_{self._token}": function for name, function in functions.items()}
        at: Any = await self._session.feed_start(
            code, inputs=inputs, external_lookup=lookup, print_callback=self._print, os=self._system
        )
        while not isinstance(at, MontyComplete):
            if isinstance(at, AsyncFunctionSnapshot) and at.function_name == "os.getenv":
                # Its arguments are not read, because the default may be any value.
                problem = OSError("os.getenv is not available here; use os.environ.get(name, default)")
                at = await at.resume({"exception": problem})
            else:
                at = await at.resume_auto()
        return at

    async def _call(self, tool: str, arguments_json: str, kind: str) -> str:
        if not arguments_json.startswith("{"):
            raise TypeError("call_tool takes the tool's name and one dict of arguments")
        if len(arguments_json) > ARGUMENT_CHARACTERS:
            raise ValueError(f"the arguments of a call must not exceed {ARGUMENT_CHARACTERS} characters of JSON")
        number = self._next("call")
        call = ToolCall(number, tool[:TOOL_NAME_CHARACTERS], arguments_json, kind == "function")
        answer: Answer = await self._ask("call", call)
        if answer.failed:
            raise RuntimeError(answer.json)
        self._has_wrapped_answer = self._has_wrapped_answer or is_wrapped(answer)
        return answer.json

    async def _progress(self, done: str, total: str, message: str) -> None:
        numbers = [float(text) for text in (done, total) if text]
        if not all(map(math.isfinite, numbers)):
            raise TypeError("report_progress: the number is too large")
        if self._next("progress") <= PROGRESS_EVENTS:
            self._events.put_nowait(Progress(numbers[0], numbers[1] if total else None, message[:PROGRESS_CHARACTERS]))

    async def _artifact(
        self, action: Literal["create", "read"], name: str, file_type: str, kind: str, text: str
    ) -> tuple[str, str | bytes]:
        content = bytes.fromhex(text) if kind == "bytes" else text.encode(errors="replace")
        number = self._next("artifact")
        answer: ArtifactAnswer = await self._ask("artifact", ArtifactCall(number, action, name, file_type, content))
        content = answer.content or b""
        return json.dumps(dict(answer.values)), content.decode() if answer.is_text else content

    def _next(self, kind: str) -> int:
        self._counts[kind] += 1
        return self._counts[kind]

    async def _ask(self, kind: str, call: GuestCall) -> Any:
        future = self._pending[kind, call.id] = self._loop.create_future()
        self._events.put_nowait(call)
        return await future

    def _settle(self, kind: str, number: int, answer: Answer | ArtifactAnswer) -> None:
        future = self._pending.pop((kind, number), None)
        if future is not None and not future.done():
            future.set_result(answer)

    def _print(self, stream: Stream, text: str) -> None:
        """Queue output; Monty calls this in a thread. To bound the queue, output far beyond the limit is dropped."""
        if self._output_left[stream] > 0:
            self._output_left[stream] -= len(text)
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._events.put_nowait, Output(stream, text))


@dataclass(frozen=True, slots=True)
class _Script:
    """A script as it was passed to Monty, for locating an error in it."""

    code: str
    instrumented: InstrumentedScript
    filename: str  # Monty's name for it in tracebacks
    shown_name: str = "main.py"

    def traceback(self, frames: list[Frame], last: str) -> str:
        lines = self.code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        hidden = len(frames) - 2 * SHOWN_FRAMES
        shown = frames if hidden <= 0 else [*frames[:SHOWN_FRAMES], *frames[-SHOWN_FRAMES:]]
        texts = [
            f'  File "{self.shown_name}", line {frame.line}, in {frame.function_name or "<module>"}\n'
            f"    {lines[frame.line - 1].strip()[:LINE_CHARACTERS]}"
            for frame in shown
            if frame.line <= len(lines)
        ]
        if hidden > 0:
            texts.insert(SHOWN_FRAMES, f"  [{hidden} more frames]")
        return "\n".join(["Traceback (most recent call last):", *texts, last])


def _finished_from_error(error: MontyError, script: _Script | None, plan: Plan, memory_limit: int) -> Finished:
    """How the run ended, given the worker's error. `script` is None if Paddock's own code failed."""
    is_cpu = not COUNTS_CPU and plan.limits.cpu_seconds < plan.limits.wall_seconds
    time_limit = "cpu_seconds" if is_cpu else "wall_seconds"
    if isinstance(error, MontyCrashedError):
        if error.timed_out:
            return Finished(Verdict.TIMEOUT, limit=time_limit)
        return Finished(Verdict.CRASHED, error_type="Crashed", error_message=f"the interpreter's process died: {error}")
    cause = error.exception()
    kind, text = type(cause).__name__, _cut(str(cause))
    frames = _frames(error)
    script_frames = [frame for frame in frames if script is not None and frame.filename == script.filename]
    line = column = None
    if script is not None and script_frames:
        line = script_frames[-1].line
        column = script.instrumented.column(line, script_frames[-1].column)
    # A script cannot catch a limit. An exception raised by a script has a traceback.
    if kind == "TimeoutError" and not frames:
        return Finished(Verdict.TIMEOUT, limit=time_limit)
    if kind == "MemoryError" and (not frames or text.endswith(f" > {memory_limit} bytes")):
        return Finished(Verdict.OUT_OF_MEMORY, line=line)
    if kind == "RuntimeError" and not frames and "exceeds the maximum" in text:
        return Finished(Verdict.OUTPUT_LIMIT)  # a message between worker and host was too large
    if _is_rejected(error):
        return Finished(Verdict.REJECTED, error_type=kind, error_message=text, line=line, column=column)
    traceback = script.traceback(script_frames, f"{kind}: {text}" if text else kind) if script is not None else ""
    return Finished(Verdict.RAISED, None, kind, text, line, column, traceback)


def _lost(problem: Exception) -> Finished:
    if "decode memory budget" in str(problem):
        return Finished(Verdict.OUTPUT_LIMIT)
    return Finished(Verdict.LOST, error_type="EngineCrashed", error_message=_cut(str(problem)))


def _is_rejected(error: MontyError) -> bool:
    """Whether the script was rejected before its first line ran.

    Only such an error has a single frame without a function name.
    """
    frames = _frames(error)
    is_early = len(frames) == 1 and frames[0].function_name is None
    return is_early and isinstance(error.exception(), SyntaxError | NotImplementedError)


def _frames(error: MontyError) -> list[Frame]:
    return error.traceback() if isinstance(error, MontyRuntimeError | MontySyntaxError) else []


def _cut(text: str) -> str:
    """Shorten guest text to the length that an error may have."""
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}… ({len(text)} characters)"


def _cpu_seconds(pid: int | None) -> float | None:
    """The CPU time of all threads of a process so far, or None if the kernel does not report it."""
    if pid is None or not COUNTS_CPU:
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)  # what clock_getcpuclockid(3) computes
    except OSError:
        return None


@lru_cache(maxsize=4)
def _guest_source(name: str) -> str:
    """The source of a file of `paddock.guest` that runs inside Monty."""
    return (resources.files("paddock.guest") / name).read_text(encoding="utf-8")
