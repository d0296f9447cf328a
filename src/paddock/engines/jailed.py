"""The engines whose scripts run in a jail: CPython, QuickJS, and the base class of Node's engine.

Each engine has a pool of waiting guests. A guest runs one script and is thrown away. Its frames are untrusted data. The
verdict follows from what the host and the kernel observed; a guest's report is believed only about matters that affect
the guest alone.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paddock.engines.base import CLOSED_DURING_RUN, Interpreter
from paddock.errors import NetworkDenied, RequestError
from paddock.jail.fork import UNKNOWN_STATUS
from paddock.jail.frames import (
    ArtifactFrame,
    CallFrame,
    FrameDecoder,
    LogFrame,
    Message,
    OutlineFrame,
    OutputFrame,
    OversizedResult,
    ProgressFrame,
    ReachedFrame,
    ResultFrame,
    StartedFrame,
    check,
)
from paddock.jail.guest import ANSWERS_BYTES, Guest, Report, Template
from paddock.jail.jail import Jail
from paddock.jail.limits import narrow
from paddock.jail.network_run import NetworkRun
from paddock.jail.packages import PackageSets
from paddock.jail.wire import CHUNK_BYTES, DISPLAYS, RUN_DISPLAY_BYTES, UNSENT_BYTES, Kind, WireError, pack
from paddock.model import envelope
from paddock.model.events import (
    Answer,
    ArtifactAnswer,
    ArtifactCall,
    EngineEvent,
    Finished,
    GuestCall,
    Log,
    OnCall,
    Outline,
    Output,
    Progress,
    Reached,
    Stream,
    ToolCall,
)
from paddock.model.limits import Limits, format_bytes
from paddock.model.outputs import Display
from paddock.model.result import Connection, Verdict
from paddock.planning.plan import Plan

if TYPE_CHECKING:
    from paddock.config import Config

PROGRESS_EVENTS = 10_000
"""How many progress reports of one run are passed on; later ones are dropped."""
STREAMS: tuple[Stream, ...] = ("stdout", "stderr")
CPU_CHECK_SECONDS = 0.25
"""How often the CPU time of the guest's whole process tree is compared with its limit."""
INTERRUPT_SECONDS, INTERRUPT_CPU_SECONDS = 1.0, 1.0
"""How long an interrupted script may take to stop and to take its last answers. Then its interpreter ends.

How much CPU time beyond its limit it may use for that."""
READS_AT_ONCE = 16
"""How many reads are made before the event loop gets a turn."""
TURN_SECONDS = 0.005
"""How long messages are handled before the event loop gets a turn: one may take a thousand times as long as another."""
CALLS_AT_ONCE = 500
"""Unanswered calls at which the host stops reading from the guest: all of them take their turn in the event loop."""
ARTIFACTS_AT_ONCE = 2
"""Artifact requests in progress at which the host stops reading: each holds many bytes in memory."""
MAX_UNCOUNTED = 16
"""Connections of a run whose bytes cannot be counted because it keeps their sockets, at which it is ended."""
NEAR_LIMIT = 0.5
"""A MemoryError or SIGXCPU of the guest is put down to a limit only if this share of the limit has been used."""
WARNINGS, WARNING_CHARACTERS = 20, 500
NAMES, NAME_CHARACTERS = 20, 100
"""Limit for what a guest reports about its script's mistakes. The rest is dropped."""
_TAGGED = (StartedFrame, OutlineFrame, ResultFrame, OversizedResult)
_DECODER = codecs.getincrementaldecoder("utf-8")
_UNREAD = f"The answer was dropped: {format_bytes(ANSWERS_BYTES)} of other answers wait until the script takes them."
_TAMPERED = "the script tampered with the runtime that it runs in"


class JailedEngine:
    """Runs scripts in the guests of a jail, which starts on first use."""

    grace_seconds = 0.0

    def __init__(self, jail: Jail) -> None:
        self._jail = jail
        self._executions: set[JailedExecution] = set()  # in progress, without those of sessions

    async def start(self) -> None:
        await self._jail.start()

    async def prepare(self, plan: Plan, show: Callable[[str], None], principal: str) -> Plan:
        return plan

    async def network_problem(self) -> str | None:
        return "this engine has no network"

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[JailedExecution]:
        async with take_guest(self._jail) as guest:
            with self._running(JailedExecution(guest, plan, may_fork=self._jail.may_fork)) as execution:
                yield execution

    @contextmanager
    def _running(self, execution: JailedExecution) -> Iterator[JailedExecution]:
        """Note an execution in progress during a block, so that `close` can tell it why it ends."""
        self._executions.add(execution)
        try:
            yield execution
        finally:
            self._executions.remove(execution)

    async def interpreter(self, plan: Plan) -> Interpreter:
        raise RequestError(f"engine {plan.engine!r} has no sessions")

    def _all_jails(self) -> Iterable[Jail]:
        return (self._jail,)

    def waiting_guests(self) -> Counter[tuple[str, str]]:
        waiting = Counter[tuple[str, str]]()
        for jail in self._all_jails():
            waiting.update(jail.waiting_guests())  # unlike `+`, this keeps zeros
        return waiting

    async def close(self) -> None:
        for execution in self._executions:
            execution.ended_by = CLOSED_DURING_RUN
        for jail in self._all_jails():
            await jail.close()


@asynccontextmanager
async def take_guest(jail: Jail, template: Template = "bare") -> AsyncIterator[Guest]:
    guest = await jail.take(template)
    try:
        yield guest
    finally:
        jail.give_back(guest)


class CPythonEngine(JailedEngine):
    """Full Python: CPython with the packages of its environment.

    Guests come from two templates: warm ones have the environment's preloads imported, bare ones do not. Each
    environment that a run names has a jail of its own, started on first use.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sets = PackageSets(config.packages, config.data_directory)
        self._jails: dict[tuple[str, bool], Jail] = {}  # by environment, and by whether guests have a network
        super().__init__(self._jail_of(config.cpython.environment))

    def _jail_of(self, environment: str, *, network: bool = False) -> Jail:
        key = (environment, network)
        if key not in self._jails:
            config = self._config
            is_default = environment == config.cpython.environment
            few_waiting = {} if is_default else {"min_waiting": 0, "max_waiting": min(1, config.cpython.max_waiting)}
            self._jails[key] = Jail(
                config,
                replace(config.cpython, environment=environment, **few_waiting),
                "paddock.guest.python.main:serve",
                # If no run may have a second process, the seccomp filter forbids guests to start one.
                processes=config.caps.processes > 1,
                two_templates=True,
                shows_sets=True,
                network=network,
            )
        return self._jails[key]

    async def network_problem(self) -> str | None:
        try:
            await self._jail_of(self._config.cpython.environment, network=True).start()
        except NetworkDenied as problem:
            return str(problem)
        return None

    async def prepare(self, plan: Plan, show: Callable[[str], None], principal: str) -> Plan:
        environment = plan.environment or self._config.cpython.environment
        built = await self._jail_of(environment).built()
        found = await self._sets.get(plan.packages, built, show, principal)
        return replace(plan, package_set=found)

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[JailedExecution]:
        jail, packages = self._jail_for(plan), plan.package_set
        # A name in a comment or string selects a warm guest too. That costs only a few milliseconds.
        warm = await jail.warm_modules()
        is_warm = any(module in plan.code for module in warm) or (packages and not warm.isdisjoint(packages.uses))
        if packages is not None and packages.shadows:
            is_warm = False  # a preload would hide the version that the set has
        async with take_guest(jail, "warm" if is_warm else "bare") as guest:
            if packages is not None:
                await jail.show_set(guest, packages.path)
            with self._running(JailedExecution(guest, plan, may_fork=jail.may_fork)) as execution:
                yield execution

    async def interpreter(self, plan: Plan) -> Interpreter:
        from paddock.engines.interpreter import JailedInterpreter

        jail = self._jail_for(plan)
        # Warm, whatever the first run names: importing a preload later takes its time, and memory of the session's own.
        # Lean, because sessions stay.
        shadows = plan.package_set is not None and plan.package_set.shadows
        return JailedInterpreter(jail, await jail.take("bare" if shadows else "warm", lean=True), JailedExecution)

    def _jail_for(self, plan: Plan) -> Jail:
        return self._jail_of(plan.environment or self._config.cpython.environment, network=bool(plan.network))

    def _all_jails(self) -> Iterable[Jail]:
        return self._jails.values()

    async def close(self) -> None:
        await self._sets.close()
        await super().close()


class QuickJSEngine(JailedEngine):
    """ECMAScript and Paddock's functions: quickjs-ng, with a fresh context for each run."""

    def __init__(self, config: Config) -> None:
        # JavaScript alone cannot start a process: a script that does has broken out of the interpreter.
        super().__init__(Jail(config, config.quickjs, "paddock.guest.javascript.main:serve", processes=False))


@dataclass(frozen=True, slots=True)
class Cell:
    """The place of a run in its session."""

    number: int
    tag: int  # random; the guest marks STARTED, OUTLINE and RESULT with it
    unread: bytes = b""  # that the guest sent after the RESULT of the cell before
    is_first: bool = True  # in its guest


class JailedExecution:
    """One run in one guest."""

    def __init__(self, guest: Guest, plan: Plan, *, may_fork: bool = True, cell: Cell | None = None) -> None:
        self._guest = guest
        self._plan = plan
        self._may_fork = may_fork
        self._cell = cell
        self._tag = 0 if cell is None else cell.tag
        self._decoder = FrameDecoder(
            plan.limits.output_bytes,
            outline_of=plan.code if plan.sends_outline else None,
            displays=plan.keep_files and not plan.check_only,
        )
        self._decoder.add(b"" if cell is None else cell.unread)
        self._text_decoders = {stream: _DECODER("replace") for stream in STREAMS}
        self._calls_made = 0
        self._calls: dict[int, tuple[int, str]] = {}  # unanswered calls: the guest's id and the tool, by the host's id
        self._artifacts: list[int] = []  # the guest's ids of unanswered artifact requests
        self._progress_count = 0
        self._displays, self._display_bytes = 0, 0
        self._report: Report | None = None  # how the guest ended, as the zygote saw it
        self._has_outlined = False
        self._next_check = 0.0  # when `_exceeded` looks again
        self._has_started = False  # the guest compiled the source and was about to run the first line
        self.ended_by: str | None = None  # why the host ended the guest, if a caller asked for it or Paddock was closed
        self.has_result = False  # the guest sent its RESULT, whole, and can run the next cell
        self._network: NetworkRun | None = None
        if plan.network and guest.door is not None:
            self._network = NetworkRun(plan.network, plan.max_connections, plan.limits.memory_bytes)
            guest.door.begin(self._network)

    async def events(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        limits, open_files = narrow(self._plan.limits, self._guest.resource_limit, may_fork=self._may_fork)
        self._set_limits(limits)
        self._send_script(limits, open_files)
        self._next_check = CPU_CHECK_SECONDS + time.monotonic()
        more = has_ended = False
        while True:
            await (asyncio.sleep(0) if more else self._guest.wait_for_input(CPU_CHECK_SECONDS))
            if (exceeded := self._exceeded()) is not None:
                yield self._with_usage(exceeded)
                return
            # Checked before reading, so that everything the guest sent before it died has arrived by now. The socket
            # itself may stay open forever: a child of the guest can hold it.
            has_ended = has_ended or self._has_ended()
            # Frames are received before output is read: what was printed before a frame is then in the pipe.
            more = self._receive()
            for output in self._read_output():
                yield output
            try:
                began = time.monotonic()
                for message in self._messages():
                    for _ in () if self._is_late(message) else check(message):  # it can take seconds
                        began = await _give_turn(began)
                        if (exceeded := self._exceeded()) is not None:
                            yield self._with_usage(exceeded)
                            return
                    for event in self._events(message, on_call):
                        yield event
                        if isinstance(event, Finished):
                            return
                    began = await _give_turn(began)
            except WireError as problem:
                yield Finished(Verdict.CRASHED, error_type="ProtocolError", error_message=f"{_TAMPERED}: {problem}")
                return
            if self._guest.is_out_of_memory():
                yield self._with_usage(Finished(Verdict.OUT_OF_MEMORY))
                return
            if has_ended and not more and not self._is_paused():
                for output in (*self._read_output(), *self._flush_decoders()):
                    yield output
                yield self._with_usage(self._finished_without_result())
                return

    def _exceeded(self, more_cpu_seconds: float = 0.0) -> Finished | None:
        """How the run ends because it has used too much, if it has. Looks only every CPU_CHECK_SECONDS."""
        if time.monotonic() < self._next_check:
            return None
        self._next_check = CPU_CHECK_SECONDS + time.monotonic()
        if (self._guest.usage()[0] or 0) > self._plan.limits.cpu_seconds + more_cpu_seconds:
            return Finished(Verdict.TIMEOUT, limit="cpu_seconds")
        if self._network is not None and self._network.bytes > self._plan.network_bytes:
            size = format_bytes(self._plan.network_bytes)
            why = f"the run transferred more than {size} (network.max_bytes): transfer less in one run"
            return Finished(Verdict.DENIED, None, "NetworkDenied", why)
        if self._network is not None and self._network.uncounted > MAX_UNCOUNTED:
            why = f"more than {MAX_UNCOUNTED} connections have ended whose sockets are still open: close them"
            return Finished(Verdict.DENIED, None, "NetworkDenied", why)
        return None

    def pause(self) -> None:
        if self._cell is not None or self._plan.package_set is not None:
            self._guest.freeze()

    def halt(self) -> None:
        if self._cell is None:
            self._guest.kill()
        else:
            self._guest.freeze()

    def go(self, tools: Collection[str]) -> None:
        self._guest.thaw()
        self._guest.send(pack(Kind.GO, body=json.dumps({"tools": list(tools)}).encode()))

    def usage(self) -> tuple[float | None, int | None]:
        cpu_seconds, memory_bytes = self._guest.usage()
        if cpu_seconds is None and self._report is not None:
            cpu_seconds = self._report.cpu_seconds
        return cpu_seconds, memory_bytes

    def unread_output(self) -> Iterable[Output]:
        return [*self._read_output(), *self._flush_decoders()]

    async def end_network(self) -> tuple[Connection, ...]:
        if self._network is None or self._guest.door is None:
            return ()
        self.halt()  # counting waits while the script sends or receives
        if self._cell is not None:
            await self._guest.wait_until_stopped()
        return await self._guest.door.end(self._network)

    @property
    def unread(self) -> bytes:
        """What the guest has sent after its RESULT."""
        return self._decoder.rest

    async def interrupt(self) -> None:
        """Interrupt a run of a session, and wait until it has stopped and taken its answers, but not for long.

        Its output and calls are dropped. Artifacts are refused, because the guest's runtime waits for the answer: it
        keeps files when the script has stopped. The wait also ends when the run has used too much.
        """
        if self._cell is None or self.ended_by is not None or self._guest.is_out_of_memory():
            return
        if self._guest.door is not None:
            self._guest.door.refuse()
        now = time.monotonic()
        again, deadline = now + INTERRUPT_SECONDS / 2, now + INTERRUPT_SECONDS
        more = not self.has_result  # a guest that waits for answers does not wake up the host
        if not self.has_result:
            self._guest.thaw()
            self._guest.interrupt()
            self._refuse(*self._artifacts)
            self._artifacts.clear()
            self._calls.clear()
        while (not self.has_result or self._guest.is_behind) and now < deadline and not self._has_ended():
            if self._exceeded(INTERRUPT_CPU_SECONDS) is not None:
                return
            wait_seconds = min((again if now < again else deadline) - now, CPU_CHECK_SECONDS)
            await (asyncio.sleep(0) if more else self._guest.wait_for_input(wait_seconds))
            now = time.monotonic()
            if now >= again and not self.has_result:
                self._guest.interrupt()  # asyncio treats the first one as a request to cancel
                again = deadline
            try:
                more = not self.has_result and await self._receive_result()
            except WireError:
                return

    async def _receive_result(self) -> bool:
        """Receive what an interrupted script sends, up to its RESULT. Returns True if more may be waiting."""
        more = self._receive()
        for _ in self._read_output():
            pass
        began = time.monotonic()
        for message in self._decoder.messages():
            if isinstance(message, ArtifactFrame | Display):
                self._refuse(message.id)
            elif not isinstance(message, CallFrame) and not self._is_late(message):
                self._event(message)
            if self.has_result:
                return False  # the rest is for the next run
            began = await _give_turn(began)
        return more

    def _refuse(self, *artifact_ids: int) -> None:
        header = {"success": False, "error": "the run has been interrupted", "interrupted": True}
        for number in artifact_ids:
            self._guest.send(pack(Kind.ANSWER, number, header))

    def answer(self, call_id: int, answer: Answer) -> None:
        if self._is_ahead():
            self._guest.wake()
        number, tool = self._calls.pop(call_id, (None, ""))
        if number is not None:
            if self._guest.has_full_queue:
                answer = Answer(json.dumps(envelope.internal_error(tool, _UNREAD)), failed=True)
            self._guest.send(pack(Kind.ANSWER, number, {"failed": answer.failed}, answer.json.encode()))

    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None:
        if call_id not in self._artifacts:  # the interrupt has refused it
            return
        header = dict(answer.values)
        if answer.content is not None:
            header["text"] = answer.is_text
        self._artifacts.remove(call_id)
        self._guest.wake()
        self._guest.send(pack(Kind.ANSWER, call_id, header, answer.content or b""))

    def _set_limits(self, limits: Limits) -> None:
        if self._cell is None or self._cell.is_first:
            self._guest.limit(limits, hold=self._plan.package_set is not None)
        else:
            self._guest.renew(limits)

    def _send_script(self, limits: Limits, open_files: int | None) -> None:
        plan = self._plan
        start = _start_body(plan, limits, open_files)
        if self._cell is not None:
            start["session"] = {"cell": self._cell.number, "tag": self._tag}
        frames = [pack(Kind.START, body=json.dumps(start).encode())]
        for name, text in plan.inputs_json.items():
            frames.append(pack(Kind.INPUT, header={"name": name}, body=text.encode()))
        for placed in plan.files:
            content = placed.file.content
            parts = [content[at : at + CHUNK_BYTES] for at in range(0, max(1, len(content)), CHUNK_BYTES)]
            frames += [pack(Kind.FILE, header={"path": placed.path}, body=part) for part in parts]
        frames.append(pack(Kind.CODE, body=plan.code.encode()))
        self._guest.send(b"".join(frames))
        if self._cell is not None:
            self._guest.thaw()  # only now: a guest that wakes up finds its script

    def _receive(self) -> bool:
        """Receive what has arrived. Returns True if more may be waiting after the reads of one turn."""
        if self._is_paused() or self._is_ahead():
            return False
        if self._decoder.has_frame:
            return True  # left by a pause: if more were received at each turn, the host's memory would grow
        for _ in range(READS_AT_ONCE):
            data = self._guest.read_control()
            if not data:
                return False
            self._decoder.add(data)
        return True

    def _messages(self) -> Iterator[Message]:
        """The messages that have arrived, up to the one after which the host must pause."""
        if not self._is_paused():
            for message in self._decoder.messages():
                yield message
                if self._is_paused():
                    return

    def _is_paused(self) -> bool:
        """Whether the guest must take earlier answers before the host reads more requests."""
        return self._guest.is_behind or len(self._artifacts) >= ARTIFACTS_AT_ONCE

    def _is_ahead(self) -> bool:
        """Whether the guest has so many unanswered calls that the host stops reading."""
        return len(self._calls) > CALLS_AT_ONCE

    def _read_output(self) -> Iterator[Output]:
        for stream in STREAMS:
            for _ in range(READS_AT_ONCE):
                data = self._guest.read(stream)
                if not data:
                    break
                if text := self._text_decoders[stream].decode(data):
                    yield Output(stream, text)

    def _flush_decoders(self) -> Iterator[Output]:
        """The incomplete character that a stream ended with, if any, as a replacement character."""
        for stream, decoder in self._text_decoders.items():
            if text := decoder.decode(b"", final=True):
                yield Output(stream, text)

    def _events(self, message: Message, on_call: OnCall) -> Iterator[EngineEvent]:
        event = None if self._is_late(message) else self._event(message)
        if isinstance(event, Finished):
            yield from self._flush_decoders()
        if isinstance(event, ToolCall | ArtifactCall):
            on_call(event)
        elif event is not None:
            yield event
        if isinstance(event, Display):
            on_call(event)

    def _is_late(self, message: Message) -> bool:
        """Whether the guest sent this during an earlier cell, or a thread of it did before this one started."""
        if self._cell is None:
            return False
        if isinstance(message, _TAGGED):
            return message.tag != self._tag
        return not self._has_started

    def _event(self, message: Message) -> EngineEvent | GuestCall | None:
        if isinstance(message, CallFrame | ArtifactFrame | Display) and not self._has_started:
            raise WireError("a call before STARTED")  # a script that does not run must not call anything
        if isinstance(message, CallFrame):
            self._calls_made += 1
            self._calls[self._calls_made] = message.id, message.tool
            return ToolCall(self._calls_made, message.tool, message.arguments_json, message.function)
        if isinstance(message, ProgressFrame):
            self._progress_count += 1
            if self._progress_count > PROGRESS_EVENTS:
                return None
            return Progress(message.done, message.total, message.message)
        if isinstance(message, ArtifactFrame):
            self._artifacts.append(message.id)
            name = message.filename if message.do == "create" else message.ref
            return ArtifactCall(message.id, message.do, name, message.mime_type, message.content)
        if isinstance(message, Display):
            return self._counted(message)
        if isinstance(message, LogFrame | ReachedFrame):
            return Log(message.level, message.text) if isinstance(message, LogFrame) else Reached(message.line)
        if isinstance(message, OutputFrame):
            text = self._text_decoders[message.stream].decode(message.data)
            return Output(message.stream, text) if text else None
        if isinstance(message, OutlineFrame | StartedFrame):
            return self._begin(message)
        if isinstance(message, OversizedResult):
            limit = self._plan.limits.output_bytes
            is_unsent = self.has_result = message.size == UNSENT_BYTES
            size = f"more than {format_bytes(limit)}" if is_unsent else format_bytes(message.size)
            return self._with_usage(Finished(Verdict.OUTPUT_LIMIT, error_message=f"the result is {size} of JSON"))
        return self._finished_from(message)

    def _begin(self, message: OutlineFrame | StartedFrame) -> Outline | None:
        if isinstance(message, OutlineFrame):
            if self._has_outlined or self._has_started:
                raise WireError("an unexpected OUTLINE")
            self._has_outlined = True
            return message.outline
        if self._has_started or self._plan.check_only or self._has_outlined != self._plan.sends_outline:
            raise WireError("an unexpected STARTED")
        self._has_started = True
        return None

    def _counted(self, display: Display) -> Display:
        """`display`, if the run may display it. The guest's runtime never exceeds these limits."""
        self._artifacts.append(display.id)
        self._displays += 1
        self._display_bytes += len(display.data)
        if self._displays > DISPLAYS or self._display_bytes > RUN_DISPLAY_BYTES:
            raise WireError("too many values to display")
        return display

    def _finished_from(self, result: ResultFrame) -> Finished:
        """The guest's own report of how it ended. Raises WireError for a report that the host must not believe."""
        verdict = {"ok": Verdict.OK, "raised": Verdict.RAISED, "rejected": Verdict.REJECTED}.get(result.status)
        if result.status == "exited":
            verdict = Verdict.RAISED if result.exit_code else Verdict.OK
        if verdict is None or (verdict is Verdict.REJECTED and self._has_started):
            raise WireError(f"a RESULT with the unexpected status {result.status[:20]!r}")
        self.has_result = result.status != "exited"
        if result.type == "MemoryError" and self._was_out_of_memory():
            verdict = Verdict.OUT_OF_MEMORY
        error = (result.type, result.message, result.line, result.column, result.traceback)
        finished = Finished(
            verdict,
            result.output_json,
            *error,
            exit_code=result.exit_code,
            warnings=_shortened(result.warnings, WARNINGS, WARNING_CHARACTERS),
            near=_shortened(result.near, NAMES, NAME_CHARACTERS),
            keys=_shortened(result.keys, NAMES, NAME_CHARACTERS),
            values=_shortened(result.values, NAMES, NAME_CHARACTERS),
        )
        return self._with_usage(finished)

    def _was_out_of_memory(self) -> bool:
        """Whether a MemoryError is due to the limit. A script can raise one at any time."""
        is_near = (self._guest.usage()[1] or 0) >= self._plan.limits.memory_bytes * NEAR_LIMIT
        return is_near or self._guest.resource_limit.was_out_of_memory()

    def _was_out_of_time(self) -> bool:
        """Whether SIGXCPU is due to the limit. A script can send itself that signal at any time."""
        used = self._guest.usage()[0] or 0.0
        if self._report is not None and (self._cell is None or self._cell.is_first):  # it includes earlier runs
            used = max(used, self._report.cpu_seconds)
        return used >= self._plan.limits.cpu_seconds * NEAR_LIMIT

    def _has_ended(self) -> bool:
        try:
            self._report = self._report or self._guest.report()
        except LookupError:
            return True
        return self._report is not None

    def _finished_without_result(self) -> Finished:
        """How the run ended, for a guest that ended without a RESULT."""
        if self.ended_by is not None:
            return Finished(Verdict.CANCELLED, error_type="Cancelled", error_message=self.ended_by)
        if self._report is None:
            lost = "the zygote process died, and the run was lost with it; run the script again"
            return Finished(Verdict.LOST, error_type="EngineCrashed", error_message=lost)
        status = self._report.status
        code = 0 if status == UNKNOWN_STATUS else os.waitstatus_to_exitcode(status)
        if (failure := self._guest.resource_limit.failure) is not None:
            return Finished(Verdict.LOST, error_type="JailUnavailable", error_message=failure)
        if self._guest.resource_limit.was_out_of_memory():
            return Finished(Verdict.OUT_OF_MEMORY)
        if status == UNKNOWN_STATUS:
            return Finished(Verdict.CRASHED, None, "Crashed", "the script's process ended before it returned")
        if code >= 0 and self._plan.mode == "script":
            return Finished(Verdict.RAISED if code else Verdict.OK, None, "SystemExit", str(code), exit_code=code)
        if code >= 0:
            message = f"the script ended its process with exit code {code} before it returned"
            return Finished(Verdict.CRASHED, None, "Crashed", message, exit_code=code)
        if -code == signal.SIGXCPU and self._was_out_of_time():
            return Finished(Verdict.TIMEOUT, limit="cpu_seconds")
        name = signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"
        # Neither a limit nor the compiler sends SIGKILL. An earlier cell or a package can.
        is_alone = (self._cell is None or self._cell.is_first) and self._plan.package_set is None
        if not self._has_started and -code == signal.SIGKILL and is_alone:
            killed = "something on this host killed the script's process before the script began; run it again"
            return Finished(Verdict.LOST, error_type="EngineCrashed", error_message=killed)
        if not self._has_started and is_alone:
            message = f"the source could not be compiled: {name} ended the compiler; it may be nested too deeply"
            return Finished(Verdict.REJECTED, None, "SyntaxError", message)
        return Finished(Verdict.CRASHED, None, "Crashed", f"the script's process was ended by {name}", signal=-code)

    def _with_usage(self, finished: Finished) -> Finished:
        cpu_seconds, memory_bytes = self.usage()
        if self._guest.is_out_of_memory():  # a result can arrive before that is noticed
            finished = Finished(Verdict.OUT_OF_MEMORY)
        return replace(finished, cpu_seconds=cpu_seconds, memory_bytes=memory_bytes)


async def _give_turn(began: float) -> float:
    """Give the event loop a turn if this one has been long. Returns when the current one began."""
    if time.monotonic() - began < TURN_SECONDS:
        return began
    await asyncio.sleep(0)
    return time.monotonic()


def _shortened(texts: list[str], count: int, characters: int) -> tuple[str, ...]:
    return tuple(text[:characters] for text in texts[:count])


def _start_body(plan: Plan, limits: Limits, open_files: int | None) -> dict[str, object]:
    """The body of the START frame. These values are not in the header, which is too small for many files."""
    return {
        "language": plan.language,
        "globals": plan.globals,
        "mode": plan.mode,
        "argv": plan.argv,
        "limits": {
            "memory_bytes": limits.memory_bytes,
            "wall_seconds": limits.wall_seconds,
            "cpu_seconds": limits.cpu_seconds,
            "processes": max(1, limits.processes),
            "recursion": limits.recursion,
            "output_bytes": limits.output_bytes,
            "file_bytes": limits.file_bytes,
            "open_files": open_files,
        },
        "tools": plan.tools,
        "files": [placed.entry() for placed in plan.files],
        "refused_modules": plan.refused_modules,
        "keep_files": plan.keep_files,
        "outline": plan.sends_outline,
        "check_only": plan.check_only,
        **({"packages": [plan.package_set.path, plan.package_set.shadows]} if plan.package_set else {}),
    }
