"""The full JavaScript engine: Node in a jail, started ahead of demand, used once."""

from __future__ import annotations

import resource
import signal
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from paddock.engines.javascript import JavaScriptEngine, JavaScriptExecution
from paddock.engines.node_guests import RUNTIME, node_program
from paddock.engines.typescript import TypeScript
from paddock.errors import JailUnavailable
from paddock.jail.bounds import UnderWatch
from paddock.jail.jail import Jail
from paddock.jail.wire import Kind, pack
from paddock.model.events import EngineEvent, Finished, OnCall, Output
from paddock.model.limits import Limits
from paddock.model.result import Verdict

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.engines.typescript import Stripped
    from paddock.jail.guest import Guest
    from paddock.planning.plan import Plan

THREADS = 16
"""Those of Node itself, which the kernel counts as it does processes."""
REPORT = "<--- Last few GCs --->"
"""How V8 begins what it says on stderr when its heap is full, before it ends the process."""
_FULL = ("heap out of memory", "process out of memory", "Allocation failed")
_ABORTED = (signal.SIGABRT, signal.SIGTRAP, signal.SIGILL)


class NodeEngine(JavaScriptEngine):
    """Two pools: V8 learns how large its heap may be when it starts, so runs that ask for more have one of their own.

    The heap may be as large as the run's memory: V8 then collects in time, and the jail, which counts all, decides.
    """

    def __init__(self, config: Config) -> None:
        self._usual_bytes = config.limits.memory_bytes
        self._tmp_bytes = config.jail.tmp_bytes
        super().__init__(config, config.node, RUNTIME, node_program(self._usual_bytes))
        roomy = replace(config.node, min_waiting=0, max_waiting=min(1, config.node.max_waiting))
        self._roomy = Jail(config, roomy, RUNTIME, node_program(config.caps.memory_bytes))
        self._typescript = TypeScript(self._jail)

    def _jail_for(self, plan: Plan) -> Jail:
        return self._jail if plan.limits.memory_bytes <= self._usual_bytes else self._roomy

    def _execution(self, guest: Guest, plan: Plan, stripped: Stripped | None) -> NodeExecution:
        counts_tasks = self._jail_for(plan).profile != "confined"
        return NodeExecution(guest, plan, stripped, counts_tasks=counts_tasks, tmp_bytes=self._tmp_bytes)

    async def close(self) -> None:
        self._typescript.close()
        await self._roomy.close()
        await super().close()


class NodeExecution(JavaScriptExecution):
    """One run in one Node."""

    def __init__(
        self, guest: Guest, plan: Plan, stripped: Stripped | None, *, counts_tasks: bool, tmp_bytes: int
    ) -> None:
        super().__init__(guest, plan)  # its places need no more mapping: the guest has done it
        self._map = None if stripped is None else stripped.map
        self._counts_tasks = counts_tasks
        self._tmp_bytes = tmp_bytes
        self._report_text = ""  # V8's own, or what begins like it

    def _send_script(self) -> None:
        if self._map is not None:
            self._guest.send(pack(Kind.INPUT, header={"map": True}, body=msgspec.json.encode(self._map)))
        super()._send_script()

    def _limit(self, limits: Limits) -> None:
        tasks = max(1, limits.processes) + THREADS
        super()._limit(replace(limits, processes=tasks))
        # Where no control group counts them. A confined guest is counted with the host's own.
        if self._counts_tasks and isinstance(self._guest.bound, UnderWatch):
            with suppress(OSError):  # it has just died, which is noticed elsewhere
                resource.prlimit(self._guest.pid, resource.RLIMIT_NPROC, (tasks, tasks))
        if limits.file_bytes < self._tmp_bytes:  # what the jail has room for bounds every file
            self._limit_files(limits.file_bytes)

    def _limit_files(self, most: int) -> None:
        """From outside: Node cannot do so itself. Of a guest with another uid, that takes CAP_SYS_RESOURCE."""
        try:
            resource.prlimit(self._guest.pid, resource.RLIMIT_FSIZE, (most, most))
        except ProcessLookupError:
            pass  # it has just died, which is noticed elsewhere
        except OSError as problem:
            raise JailUnavailable(
                f"file_bytes = {most} cannot be held for Node here ({problem.strerror}): allow CAP_SYS_RESOURCE, "
                f"or ask for no less than jail.tmp_bytes = {self._tmp_bytes}"
            ) from None

    def _printed(self) -> Iterator[Output]:
        for output in super()._printed():
            if output.stream == "stderr" and (self._report_text or REPORT in output.text):
                before, mark, report = output.text.partition(REPORT) if not self._report_text else ("", "", output.text)
                self._report_text += mark + report
                if before.strip("\n"):
                    yield Output("stderr", before)
            else:
                yield output

    async def feed(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        async with aclosing(super().feed(on_call)) as events:
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
