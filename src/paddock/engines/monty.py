"""The light Python engine: pydantic-monty workers, a session of its own for each run.

A worker is a process of its own, started through `jail/cell.py`, walled in, and dies with the host. Each run gets
a fresh session in it; after a limit, a crash or a cancelled run the session, and with it the interpreter, is dropped.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from pydantic_monty import Monty, MontyError

from paddock.engines.monty_drivers import Driver, Drivers
from paddock.engines.monty_execution import MontyExecution
from paddock.engines.monty_prelude import Prelude, prelude
from paddock.engines.monty_types import Stubs, check_types
from paddock.errors import EngineCrashed, EngineUnavailable
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.planning.plan import Plan
from paddock.planning.python_source import Source, SourceProblem, read

if TYPE_CHECKING:
    from paddock.config import Config


class MontyEngine:
    """A pool of workers, started on first use."""

    grace_seconds = 0.2  # then a worker that does not stop by itself is killed

    def __init__(self, config: Config) -> None:
        self._config = config.monty
        # A worker that stands still outside a script is bound by this alone; no script may run longer.
        self._request_seconds = config.caps.wall_seconds + 1
        self._drivers: Drivers | None = None
        self._open: set[MontyExecution] = set()
        self._starting = asyncio.Lock()

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[MontyExecution]:
        drivers = self._drivers or await self._start()
        source = read(plan.code)
        if isinstance(source, SourceProblem):
            from paddock.engines.javascript import Rejection

            problem = (source.type, source.message, source.line, source.column)
            yield Rejection(Finished(Verdict.REJECTED, None, *problem))  # type: ignore[misc]
            return
        wanted = prelude(source, plan.tools)
        driver = await drivers.take(plan.limits, wanted)
        execution: MontyExecution | None = None
        try:
            execution = MontyExecution(driver, plan, source, wanted)
            self._open.add(execution)
            yield execution
        finally:
            try:
                if execution is not None:
                    await execution.stop()
            finally:
                if execution is not None:
                    self._open.discard(execution)
                drivers.give_back(driver, plan.limits, wanted)

    async def start(self) -> None: ...

    async def check_types(self, plan: Plan, stubs: Stubs | None = None) -> Finished | None:
        """What is wrong with the script by its types, whatever Python engine it is for; None where nothing is.

        `stubs` declares the tools. Without it they take and give anything.
        """
        drivers = self._drivers or await self._start()
        driver = await drivers.take(plan.limits, Prelude())
        try:
            return await driver.did(lambda: _checked(driver, plan, stubs))
        except (MontyError, RuntimeError) as error:
            raise EngineCrashed(f"the type checker's worker died: {error}") from None
        finally:
            drivers.give_back(driver, plan.limits, Prelude())

    async def close(self) -> None:
        drivers, self._drivers = self._drivers, None
        if drivers is not None:
            drivers.refuse()
        for execution in list(self._open):
            await execution.abandon()
        if drivers is not None:
            await drivers.close()

    async def _start(self) -> Drivers:
        async with self._starting:
            if self._drivers is None:
                pool = Monty(
                    binary_path=_worker(),
                    min_processes=self._config.min_workers,
                    max_processes=self._config.max_workers,
                    request_timeout=self._request_seconds,
                    feed_duration_limit_grace=self.grace_seconds,
                )
                drivers = Drivers(pool, self._config.max_workers)
                try:
                    await drivers.start()
                except (OSError, MontyError) as problem:
                    raise EngineUnavailable(f"the light engine's worker could not be started: {problem}") from None
                self._drivers = drivers
            return self._drivers


def _checked(driver: Driver, plan: Plan, stubs: Stubs | None) -> Finished | None:
    driver.drop()  # the checker's session takes its place
    return check_types(driver.pool, plan, _source(plan), stubs)


def _source(plan: Plan) -> Source:
    source = read(plan.code)
    if not isinstance(source, Source):
        raise EngineCrashed("a plan for code that does not parse reached the engine")
    return source


def _worker() -> str:
    binary = worker_binary()
    return _launcher(binary, os.getpid()) if sys.platform == "linux" else binary


@lru_cache(maxsize=4)
def _launcher(binary: str, pid: int) -> str:
    """The program that a worker starts as: a script in memory, found through the host's own process.

    Nothing is on disk to be cleaned up, however the host ends. It is kept as long as the host: a number that is closed
    and given to another file would be executed in its place.
    """
    command = [sys.executable, "-I", "-S", "-B", str(resources.files("paddock.jail") / "start.py"), "cell", binary]
    script = os.memfd_create("paddock-monty-worker")
    os.write(script, f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'.encode())
    return f"/proc/{pid}/fd/{script}"


def worker_binary() -> str:
    """Where Monty's own binary is."""
    from pydantic_monty._binary import find_monty_binary

    try:
        return find_monty_binary()
    except FileNotFoundError as problem:
        raise EngineUnavailable(f"{problem}. Reinstall Paddock: pip install --force-reinstall paddock-mcp") from None
