"""Sessions of a Monty pool, with the next one ready before it is asked for.

Opening a session and giving it back cost as much as a small script. Both happen while nobody waits: when a session is
taken one more is opened with the same limits, and after a run its session is given back in the background.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from pydantic_monty import AsyncMonty, AsyncMontySession, MontyError

from paddock.model.errors import EngineCrashed
from paddock.model.limits import Limits

SUSPENSIONS = 10_000_000  # calls, file operations, sleeps: the run's own limits end it long before
CLOSING_SECONDS = 5.0

Opening = asyncio.Task[AsyncMontySession]


class Sessions:
    """Hands out sessions; never more than `most` at a time, the one in waiting included."""

    def __init__(self, pool: AsyncMonty, most: int) -> None:
        self.pool = pool
        self._most = most
        self._taken = 0
        self._asked = 0
        self._spare: tuple[Limits, Opening] | None = None
        self._wanted: set[Opening] = set()  # that a run waits for
        self._background: set[asyncio.Task[None]] = set()
        self._closed = False

    async def take(self, limits: Limits) -> AsyncMontySession:
        """A fresh session under `limits`; waits while all workers are busy."""
        if self._closed:
            raise EngineCrashed("Paddock was closed before the script began")
        self._taken += 1
        opening = self._from_spare(limits) or asyncio.create_task(self._open(limits))
        self._wanted.add(opening)
        if self._asked:
            self._make_spare(limits)  # who comes again may come at once; the very first run may be the only one
        self._asked += 1
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            self._wanted.discard(opening)
            return opening.result()
        try:
            # Whoever waits may be cancelled when the session is already there: it must not be lost with them.
            return await asyncio.shield(opening)
        except BaseException as problem:
            self._taken -= 1
            self._in_background(self._discard(opening))
            if isinstance(problem, asyncio.CancelledError) and opening.cancelled() and self._closed:
                raise EngineCrashed("Paddock was closed before the script began") from None
            raise
        finally:
            self._wanted.discard(opening)

    def give_back(self, session: AsyncMontySession, limits: Limits) -> None:
        """The run is over: its session ends, and the next one is made ready."""
        self._in_background(self._return(session, limits))

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[AsyncMonty]:
        """The pool itself, for one session of another kind; the one in waiting makes room for it."""
        if self._closed:
            raise EngineCrashed("Paddock was closed before the script began")
        self._taken += 1
        self._drop_spare()
        try:
            yield self.pool
        finally:
            self._taken -= 1

    async def close(self) -> None:
        """End every session, and the pool. Runs that still wait for a session fail; those that have one must end it."""
        self._closed = True
        self._drop_spare()
        for opening in list(self._wanted):
            opening.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                while self._background or self._taken:
                    await asyncio.wait(self._background) if self._background else await asyncio.sleep(0.001)
        await self.pool.__aexit__(None, None, None)

    def _from_spare(self, limits: Limits) -> Opening | None:
        if self._spare is not None and self._spare[0] == limits and _is_usable(self._spare[1]):
            (_, opening), self._spare = self._spare, None
            return opening
        self._drop_spare()
        return None

    def _drop_spare(self) -> None:
        if self._spare is not None:
            (_, opening), self._spare = self._spare, None
            self._in_background(self._discard(opening))

    async def _return(self, session: AsyncMontySession, limits: Limits) -> None:
        try:
            await _end(session)
        finally:
            self._taken -= 1
        self._make_spare(limits)

    def _make_spare(self, limits: Limits) -> None:
        if self._spare is None and not self._closed and self._taken < self._most:
            self._spare = (limits, asyncio.create_task(self._open(limits)))

    async def _open(self, limits: Limits) -> AsyncMontySession:
        session = self.pool.checkout(
            limits={
                # Its clock stands still while it waits for a tool: it counts what the script itself spends.
                "max_feed_duration_secs": min(limits.wall_seconds, limits.cpu_seconds),
                "max_memory": limits.memory_bytes,
                "max_recursion_depth": limits.recursion,
                "max_suspensions": SUSPENSIONS,
            },
            assert_message_annotations=False,
            os_policy={"sleep_system_max": math.inf},
        )
        return await session.__aenter__()

    async def _discard(self, opening: Opening) -> None:
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            await _end(opening.result())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _end(session: AsyncMontySession) -> None:
    with suppress(MontyError, RuntimeError):  # its worker is gone; the pool has replaced it
        await session.__aexit__(None, None, None)


def _is_usable(opening: Opening) -> bool:
    """Whether a session in waiting can be used: still opening, or open and its worker not killed meanwhile."""
    if not opening.done():
        return True
    if opening.cancelled() or opening.exception() is not None:
        return False
    pid = opening.result().worker_pid
    try:
        # Asks without waiting, and leaves the answer for the pool.
        return pid is None or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False
