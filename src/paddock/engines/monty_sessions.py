"""Sessions of a Monty pool, with the next one ready before it is asked for.

Opening a session and giving it back cost as much as a small script. Both happen while nobody waits: after a run its
session is given back in the background, and one more is opened with the same limits.
"""

from __future__ import annotations

import asyncio
import math
import os
from contextlib import suppress

from pydantic_monty import AsyncMonty, AsyncMontySession, MontyError

from paddock.model.limits import Limits

SUSPENSIONS = 10_000_000  # calls, file operations, sleeps: the run's own limits end it long before


class Sessions:
    """Hands out sessions; never more than `most` at a time, the one in waiting included."""

    def __init__(self, pool: AsyncMonty, most: int) -> None:
        self.pool = pool
        self._most = most
        self._taken = 0
        self._spare: asyncio.Task[AsyncMontySession] | None = None
        self._spare_limits: Limits | None = None
        self._returning: set[asyncio.Task[None]] = set()
        self._closed = False

    async def take(self, limits: Limits) -> AsyncMontySession:
        """A fresh session under `limits`; waits while all workers are busy."""
        self._taken += 1
        spare, self._spare = self._spare, None
        if spare is not None:
            if self._spare_limits == limits and _is_alive(spare):
                return spare.result()
            self._in_background(self._discard(spare))
        try:
            return await self._open(limits)
        except BaseException:
            self._taken -= 1
            raise

    def give_back(self, session: AsyncMontySession, limits: Limits) -> None:
        """The run is over: its session ends, and the next one is made ready."""
        self._in_background(self._return(session, limits))

    async def close(self) -> None:
        self._closed = True
        if self._spare is not None:
            self._in_background(self._discard(self._spare))
        while self._returning:
            await asyncio.wait(self._returning)

    async def _return(self, session: AsyncMontySession, limits: Limits) -> None:
        await _end(session)
        self._taken -= 1
        if self._spare is None and not self._closed and self._taken < self._most:
            self._spare_limits = limits
            self._spare = asyncio.create_task(self._open(limits))

    async def _open(self, limits: Limits) -> AsyncMontySession:
        session = self.pool.checkout(
            limits={
                "max_feed_duration_secs": limits.wall_seconds,
                "max_memory": limits.memory_bytes,
                "max_recursion_depth": limits.recursion,
                "max_suspensions": SUSPENSIONS,
            },
            assert_message_annotations=False,
            os_policy={"sleep_system_max": math.inf},
        )
        return await session.__aenter__()

    async def _discard(self, spare: asyncio.Task[AsyncMontySession]) -> None:
        await asyncio.wait([spare])
        if not spare.cancelled() and spare.exception() is None:
            await _end(spare.result())

    def _in_background(self, work: object) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)  # type: ignore[arg-type]
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)


async def _end(session: AsyncMontySession) -> None:
    with suppress(MontyError, RuntimeError):  # its worker is gone; the pool has replaced it
        await session.__aexit__(None, None, None)


def _is_alive(spare: asyncio.Task[AsyncMontySession]) -> bool:
    """Whether the session in waiting can be used: opened, and its worker not killed meanwhile."""
    if not spare.done() or spare.cancelled() or spare.exception() is not None:
        return False
    pid = spare.result().worker_pid
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  on the path of every run
            return b") Z" not in file.read(64)
    except OSError:
        return not os.path.isdir("/proc/self")  # noqa: PTH112  nothing can be told on this platform
