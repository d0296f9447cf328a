"""Monty's worker processes: each jails itself before it runs anything (`exec_jailed`), and dies with the host."""

from __future__ import annotations

import asyncio
import atexit
import os
import shlex
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic_monty import AsyncMonty, AsyncMontySession, MontyError

from paddock.errors import EngineCrashed, EngineUnavailable
from paddock.jail.entry_point import command
from paddock.jail.walls.shortage import explain, require_threads
from paddock.uncancelled import uncancelled

if TYPE_CHECKING:
    from paddock.config import Config

GRACE_SECONDS = 0.2
"""How long Monty may take to stop by itself after a script's time is up. Then its worker is killed."""
SETTLE_SECONDS = 0.05
"""How long the process waits at exit for the threads of Monty's runtime."""
OWN_BYTES = 512 * 1024 * 1024
"""Memory that a worker may use beyond the highest limit of a script. Monty enforces the script's limit itself."""
RUNTIME_THREADS = 10
"""Threads and processes that Monty's runtime needs for its first workers, besides one thread for each processor."""
CLOSED = "Paddock was closed before the script began"
WORKER_DIED = "Monty's worker died before the script began"


class WorkerPool:
    """Monty's jailed workers, started on first use, and the sessions that are open in them."""

    def __init__(self, config: Config, min_workers: int, max_workers: int) -> None:
        self._request_seconds = config.caps.wall_seconds + 1  # ends a worker that hangs outside a script
        self._memory_bytes = config.caps.memory_bytes + OWN_BYTES
        self._min_workers = min_workers
        self._max_workers = max_workers
        self._pool: AsyncMonty | None = None
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(max_workers)
        self._leases: set[_Lease] = set()
        self._is_closed = False

    @asynccontextmanager
    async def session(self, **options: Any) -> AsyncIterator[AsyncMontySession]:
        """A session with exclusive use of a worker. Waits while all workers are busy."""
        async with self._slots:
            session = (await self._start_pool()).checkout(**options)
            lease = _Lease(session)
            self._leases.add(lease)
            try:
                try:
                    await lease.taken
                except (MontyError, RuntimeError) as problem:
                    raise EngineCrashed(CLOSED if self._is_closed else f"{WORKER_DIED}: {problem}") from None
                if self._is_closed:
                    raise EngineCrashed(CLOSED)
                yield session
            finally:
                await uncancelled(lease.end())
                self._leases.discard(lease)

    async def close(self) -> None:
        """End every session, and the workers."""
        self._is_closed = True
        for lease in list(self._leases):
            await lease.end()
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.__aexit__(None, None, None)

    async def _start_pool(self) -> AsyncMonty:
        async with self._starting:
            if self._is_closed:
                raise EngineCrashed(CLOSED)
            if self._pool is None:
                pool = AsyncMonty(
                    binary_path=_worker_command(self._memory_bytes),
                    min_processes=self._min_workers,
                    max_processes=self._max_workers,
                    request_timeout=self._request_seconds,
                    feed_duration_limit_grace=GRACE_SECONDS,
                )
                atexit.register(_let_runtime_settle)
                try:
                    await uncancelled(pool.__aenter__())
                except asyncio.CancelledError:
                    await pool.__aexit__(None, None, None)
                    raise
                except BaseException as problem:
                    # Without a free descriptor or thread, Monty panics. PanicException is not an Exception.
                    if not isinstance(problem, OSError | RuntimeError) and type(problem).__name__ != "PanicException":
                        raise
                    raise EngineUnavailable(f"Monty's worker could not be started: {problem}") from None
                self._pool = pool
            return self._pool


class _Lease:
    """A session in a worker. A separate task enters and leaves it, so a cancelled run cannot interrupt either."""

    def __init__(self, session: AsyncMontySession) -> None:
        self._session = session
        self._is_over = asyncio.Event()
        self.taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold_session())

    async def end(self) -> None:
        """Give the worker back. A worker that is still busy is killed, and the pool replaces it."""
        self._is_over.set()
        await asyncio.wait([self._task])

    async def _hold_session(self) -> None:
        try:
            await self._session.__aenter__()
        except (MontyError, RuntimeError, OSError) as problem:
            if not self.taken.done():
                self.taken.set_exception(problem)
            return
        if not self.taken.done():
            self.taken.set_result(None)
        await self._is_over.wait()
        with suppress(MontyError, RuntimeError):  # the worker is gone
            await self._session.__aexit__(None, None, None)


def _let_runtime_settle() -> None:
    # A thread of Monty's runtime releases Python objects shortly after the call that used them has returned. If the
    # interpreter is shutting down by then, the process aborts.
    atexit.unregister(_let_runtime_settle)
    time.sleep(SETTLE_SECONDS)


def _worker_command(memory_bytes: int) -> str:
    binary = worker_binary()
    try:
        # Monty's runtime waits forever for a thread that it cannot start.
        require_threads((os.cpu_count() or 1) + RUNTIME_THREADS)
        return _launcher(binary, os.getpid(), memory_bytes) if sys.platform == "linux" else binary
    except OSError as problem:
        raise EngineUnavailable(f"Monty's worker could not be started: {explain(problem)}") from None


@lru_cache(maxsize=4)
def _launcher(binary: str, pid: int, memory_bytes: int) -> str:
    """The path of the program that starts a worker: a script in memory, reachable through /proc of the host process.

    Nothing on disk needs cleaning up, however the host ends. The descriptor is never closed: if its number were reused
    for another file, that file would be executed.
    """
    script = os.memfd_create("paddock-monty-worker")
    start = shlex.join(command("exec_jailed", binary))
    try:
        os.write(script, f'#!/bin/sh\nulimit -d {memory_bytes // 1024} && exec {start} "$@"\n'.encode())
    except OSError:
        os.close(script)
        raise
    return f"/proc/{pid}/fd/{script}"


def worker_binary() -> str:
    """The path of Monty's binary."""
    from pydantic_monty._binary import find_monty_binary

    try:
        return find_monty_binary()
    except FileNotFoundError as problem:
        raise EngineUnavailable(f"{problem}. Reinstall Paddock: pip install --force-reinstall paddock-mcp") from None
