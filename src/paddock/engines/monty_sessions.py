"""Sessions of a Monty pool, with the next one ready before it is asked for.

Opening a session, feeding it a prelude and giving it back cost more than a small script. All happen while nobody waits:
when a session is taken one more is opened with the same limits and prelude, and after a run its session is given back
in the background.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from pydantic_monty import AsyncMonty, AsyncMontySession, MontyError

from paddock.engines.monty_prelude import Prelude
from paddock.model.errors import EngineCrashed
from paddock.model.limits import Limits

SUSPENSIONS = 10_000_000  # calls, file operations, sleeps: the run's own limits end it long before
CLOSING_SECONDS = 5.0


class Session(NamedTuple):
    """One that no script has run in."""

    session: AsyncMontySession
    fed: Prelude = Prelude()

    @property
    def feeds(self) -> int:
        return 1 if self.fed.text else 0


Opening = asyncio.Task[Session]


class _Spare(NamedTuple):
    limits: Limits
    prelude: Prelude
    opening: Opening

    def suits(self, limits: Limits, prelude: Prelude) -> bool:
        """Whether a script that needs `prelude` may run in it: it must not find what another one needed."""
        return (
            self.limits == limits and (self.prelude.is_common or self.prelude == prelude) and _is_usable(self.opening)
        )


class Sessions:
    """Hands out sessions; never more than `most` at a time, the one in waiting included."""

    def __init__(self, pool: AsyncMonty, most: int) -> None:
        self.pool = pool
        self._most = most
        self._taken = 0
        self._asked = 0
        self._spare: _Spare | None = None
        self._wanted: set[Opening] = set()  # that a run waits for
        self._background: set[asyncio.Task[None]] = set()
        self._closed = False

    async def take(self, limits: Limits, prelude: Prelude) -> Session:
        """A fresh session under `limits`, at best with `prelude` fed; waits while all workers are busy."""
        if self._closed:
            raise EngineCrashed("Paddock was closed before the script began")
        self._taken += 1
        opening = self._from_spare(limits, prelude) or asyncio.create_task(self._open(limits))
        self._wanted.add(opening)
        if self._asked:
            # Who comes again may come at once; the very first run may be the only one.
            self._make_spare(limits, prelude)
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

    def give_back(self, session: Session, limits: Limits, prelude: Prelude) -> None:
        """The run is over: its session ends, and the next one is made ready."""
        self._in_background(self._return(session, limits, prelude))

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

    def _from_spare(self, limits: Limits, prelude: Prelude) -> Opening | None:
        if self._spare is not None and self._spare.suits(limits, prelude):
            spare, self._spare = self._spare, None
            return spare.opening
        self._drop_spare()
        return None

    def _drop_spare(self) -> None:
        if self._spare is not None:
            spare, self._spare = self._spare, None
            self._in_background(self._discard(spare.opening))

    async def _return(self, session: Session, limits: Limits, prelude: Prelude) -> None:
        try:
            await _end(session)
        finally:
            self._taken -= 1
        self._make_spare(limits, prelude)

    def _make_spare(self, limits: Limits, prelude: Prelude) -> None:
        if self._spare is None and not self._closed and self._taken < self._most:
            opening = self._open(limits) if not prelude.text else self._open_fed(limits, prelude)
            self._spare = _Spare(limits, prelude, asyncio.create_task(opening))

    async def _open_fed(self, limits: Limits, prelude: Prelude) -> Session:
        opened = await self._open(limits)
        try:
            await opened.session.feed_run(prelude.text)
        except MontyError:  # too much for these limits, perhaps; the run is to find that out
            await _end(opened)
            return await self._open(limits)
        except BaseException:
            await _end(opened)
            raise
        return opened._replace(fed=prelude)

    async def _open(self, limits: Limits) -> Session:
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
        return Session(await session.__aenter__())

    async def _discard(self, opening: Opening) -> None:
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            await _end(opening.result())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _end(session: Session) -> None:
    with suppress(MontyError, RuntimeError):  # its worker is gone; the pool has replaced it
        await session.session.__aexit__(None, None, None)


def _is_usable(opening: Opening) -> bool:
    """Whether a session in waiting can be used: still opening, or open and its worker not killed meanwhile."""
    if not opening.done():
        return True
    if opening.cancelled() or opening.exception() is not None:
        return False
    pid = opening.result().session.worker_pid
    try:
        # Asks without waiting, and leaves the answer for the pool.
        return pid is None or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False
