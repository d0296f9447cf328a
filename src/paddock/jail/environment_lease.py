"""An environment in use: built on first use, and not removed while anyone holds it.

What a name stands for changes only when a build has succeeded. A lease is of the content that is configured, if that is
built or can be; where it cannot, of what the name stood for before, with the problem beside it for the caller to show.
Only where there is nothing before does the problem become the caller's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from paddock.errors import EnvironmentFailed
from paddock.jail import environment_store as store
from paddock.jail.build_command import Stop
from paddock.jail.environment import Built, Environment
from paddock.jail.environment_build import Tell, build, silent
from paddock.jail.file_lock import FileLock

T = TypeVar("T")
ATTEMPTS = 3


class Lease:
    """A build that stays until `release`. `problem` says why it is not the one that is configured, if it is not."""

    def __init__(self, built: Built, problem: EnvironmentFailed | None, lock: FileLock) -> None:
        self.built = built
        self.problem = problem
        self._lock = lock

    def release(self) -> None:
        """Let the build be removed, as far as this lease is concerned."""
        self._lock.release()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lease(environment: Environment, data_directory: str | Path, tell: Tell = silent, stop: Stop | None = None) -> Lease:
    """Hold the environment, built if it is not yet. Raises `EnvironmentFailed` where there is none to hold."""
    stop = stop or Stop()
    for _ in range(ATTEMPTS):
        built, problem = _built(environment, data_directory, tell, stop)
        lock = store.lock_of(data_directory, built.key, exclusive=False)
        lock.take(stop.pause)
        # Between finding and locking it, someone may have removed it.
        if store.read_build(data_directory, built.key) is not None:
            return Lease(built, problem, lock)
        lock.release()
    raise EnvironmentFailed(f"environment {environment.name!r} was removed by another process while it was opened")


def _built(
    environment: Environment, data_directory: str | Path, tell: Tell, stop: Stop
) -> tuple[Built, EnvironmentFailed | None]:
    try:
        return build(environment, data_directory, tell, stop), None
    except EnvironmentFailed as problem:
        before = store.current(environment.name, data_directory)
        if before is None:
            raise
        return before, problem


async def alease(environment: Environment, data_directory: str | Path, tell: Tell = silent) -> Lease:
    """`lease` in a thread, where `tell` is called too. Cancelling it ends the build."""
    return await _in_thread(lambda stop: lease(environment, data_directory, tell, stop), Lease.release)


async def abuild(environment: Environment, data_directory: str | Path, tell: Tell = silent) -> Built:
    """`build` in a thread, where `tell` is called too. Cancelling it ends the build."""
    return await _in_thread(lambda stop: build(environment, data_directory, tell, stop), lambda built: None)


async def _in_thread(work: Callable[[Stop], T], undo: Callable[[T], None]) -> T:
    stop = Stop()
    task = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        with suppress(EnvironmentFailed):
            undo(await task)
        raise
