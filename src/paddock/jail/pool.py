"""Guests of one zygote, walled in ahead of demand, each used once.

How many wait follows demand: the number doubles when somebody finds none, up to a ceiling, and goes back to a floor
when nobody has come for a while. A zygote that dies is replaced; the guests that waited with it are forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from paddock.errors import EngineCrashed, JailUnavailable, PaddockError
from paddock.jail.bounds import Bounds
from paddock.jail.guest import Guest
from paddock.jail.keeper import Keeper

FIRST_UID = 1000
AT_ONCE = 4
"""Guests that are being made at the same time; the zygote forks one after the other, but they wall themselves in."""
ATTEMPTS = 3
DEATH_SECONDS = 1.0
HEAD_START_SECONDS = 0.005

log = logging.getLogger("paddock.jail")


class Pool:
    """Hands out guests; at most `most` are in use at a time, and whoever comes later waits."""

    def __init__(
        self,
        start: Callable[[], Awaitable[Keeper]],
        *,
        floor: int,
        ceiling: int,
        most: int,
        idle_seconds: float,
        recycle_seconds: float,
        bounds: Bounds,
        processes: bool,
    ) -> None:
        self._start = start
        self._bounds = bounds
        self._floor, self._ceiling = floor, ceiling
        self._idle_seconds, self._recycle_seconds = idle_seconds, recycle_seconds
        self._processes = processes
        self._wanted = floor
        self._waiting: deque[Guest] = deque()
        self._asking: deque[asyncio.Future[Guest]] = deque()
        self._making = 0
        self._room = asyncio.Semaphore(most)
        self._uids = deque(range(FIRST_UID, FIRST_UID + most + ceiling + AT_ONCE))
        self._keeper: Keeper | None = None
        self._blamed: Keeper | None = None
        self._failures = 0
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Future[None]] = set()
        self._tidying: asyncio.TimerHandle | None = None
        self._is_tidy = True
        self._came_at = 0.0
        self._filling: asyncio.TimerHandle | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the zygote if none runs."""
        await self._running()

    async def take(self) -> Guest:
        """A guest that waits for a script. It must be given back, whatever became of it."""
        await self._room.acquire()
        if self._closed:
            self._room.release()
            raise EngineCrashed("Paddock was closed before the script began")
        try:
            self._tidy_later()
            while self._waiting:
                guest = self._waiting.popleft()
                if guest.is_waiting():
                    self._fill_soon()
                    return guest
                self._end(guest)
            self._wanted = min(self._ceiling, max(1, self._wanted) * 2)
            asked: asyncio.Future[Guest] = asyncio.get_running_loop().create_future()
            self._asking.append(asked)
            self._fill()
            try:
                return await asked
            except asyncio.CancelledError:
                if asked.done() and not asked.cancelled() and asked.exception() is None:
                    self._end(asked.result())
                raise
        except BaseException:
            self._room.release()
            raise

    def give_back(self, guest: Guest) -> None:
        """The run is over: its guest ends, in the background."""
        self._room.release()
        self._end(guest)
        while guest.is_lost and self._waiting:  # those who waited with it are dying too, though it does not show yet
            self._end(self._waiting.popleft())

    def _fill_soon(self) -> None:
        """Making a guest takes a processor from the one that has just begun: where others wait, it has a moment."""
        if not self._waiting:
            self._fill()
        elif self._filling is None:
            self._filling = asyncio.get_running_loop().call_later(HEAD_START_SECONDS, self._fill)

    def _fill(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
            self._filling = None
        if self._closed:
            return
        missing = self._wanted + len(self._asking) - len(self._waiting) - self._making
        # Guests that take long to end keep their ids until they are gone: the next ones wait for that.
        for _ in range(min(missing, AT_ONCE - self._making, len(self._uids))):
            self._making += 1
            self._in_background(asyncio.create_task(self._make(self._uids.popleft())))

    async def _make(self, uid: int) -> None:
        try:
            guest = await self._made(uid)
        except BaseException as problem:
            self._uids.appendleft(uid)
            self._making -= 1
            self._fail(_told(problem))
            if not isinstance(problem, OSError | PaddockError):
                raise
            return
        self._making -= 1
        while self._asking:
            asked = self._asking.popleft()
            if not asked.done():
                asked.set_result(guest)
                break
        else:
            self._waiting.append(guest)
        self._fill()

    async def _made(self, uid: int) -> Guest:
        """A guest, from a new zygote where the old one died meanwhile."""
        bound, hurry = await self._bounds.take(), bool(self._asking)
        try:
            while True:
                keeper = await self._running()
                try:
                    guest = await keeper.guest(uid=uid, processes=self._processes, bound=bound, hurry=hurry)
                except EngineCrashed:
                    await asyncio.wait([keeper.died], timeout=DEATH_SECONDS)  # its guests are seen to die first
                    self._blame(keeper)
                    if self._failures >= ATTEMPTS:
                        raise
                else:
                    self._failures = 0
                    await self._bounded(guest)
                    return guest
        except BaseException:
            self._bounds.give_back(bound)
            raise

    async def _bounded(self, guest: Guest) -> None:
        try:
            self._bounds.ahead(guest.bound)
        except (JailUnavailable, OSError) as problem:
            # One that is dead, and so in no group, is noticed by who takes it. One that is alive is somewhere else.
            if isinstance(problem, OSError) or guest.is_waiting():
                await guest.end()  # whoever gets its id and its group next must not meet it
                raise

    def _blame(self, keeper: Keeper) -> None:
        """Count what failed since a guest was last made: a zygote's death once, however many it was making."""
        if keeper is not self._blamed or not keeper.died.done():
            self._failures += 1
        self._blamed = keeper

    async def _running(self) -> Keeper:
        if self._keeper is not None and not self._keeper.died.done():
            return self._keeper
        async with self._starting:
            if self._keeper is not None and self._keeper.died.done():
                dead, self._keeper = self._keeper, None
                await dead.close()
            if self._keeper is None:
                if self._closed:
                    raise EngineCrashed("Paddock was closed before the script began")
                self._keeper = await self._start()
            return self._keeper

    def _fail(self, problem: PaddockError) -> None:
        """Tell one who waits, where a zygote serves: it was that guest alone. Else all: nobody would get one."""
        serves = not self._closed and self._keeper is not None and not self._keeper.died.done()
        while self._asking:
            asked = self._asking.popleft()
            if not asked.done():
                asked.set_exception(problem)
                if serves:
                    break
        if self._asking:
            self._fill()

    def _end(self, guest: Guest) -> None:
        def ended(end: asyncio.Future[None]) -> None:
            problem = end.exception()
            if problem is None:
                self._uids.appendleft(guest.uid)  # some profiles keep something for each
            else:  # nobody has seen it die: nobody else gets its id
                log.error("a guest did not end as it should: %s", problem, exc_info=problem)
            self._bounds.give_back(guest.bound)
            if self._asking:
                self._fill()

        ending = guest.end()
        ending.add_done_callback(ended)
        self._in_background(ending)

    def _tidy_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._came_at = loop.time()
        if self._is_tidy:
            if self._tidying is not None:
                self._tidying.cancel()
            self._tidying = loop.call_later(self._idle_seconds, self._tidy)
            self._is_tidy = False

    def _tidy(self) -> None:
        """Nobody has come for a while: fewer wait, and those who waited longest go."""
        loop = asyncio.get_running_loop()
        if (idle_at := self._came_at + self._idle_seconds) > loop.time():
            self._tidying = loop.call_at(idle_at, self._tidy)
            return
        self._is_tidy = True
        self._wanted = self._floor
        while len(self._waiting) > self._floor:
            self._end(self._waiting.popleft())
        self._tidying = loop.call_later(self._recycle_seconds, self._recycle)

    def _recycle(self) -> None:
        """Those who have waited for long make room for new ones."""
        loop = asyncio.get_running_loop()
        while self._waiting and loop.time() - self._waiting[0].made_at >= self._recycle_seconds:
            self._end(self._waiting.popleft())
        self._fill()
        self._tidying = loop.call_later(self._recycle_seconds, self._recycle)

    def _in_background(self, work: asyncio.Future[None]) -> None:
        self._tasks.add(work)
        work.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End every guest and the zygote."""
        self._closed = True
        for timer in (self._tidying, self._filling):
            if timer is not None:
                timer.cancel()
        self._fail(EngineCrashed("Paddock was closed before the script began"))
        if self._keeper is not None:
            await self._keeper.close()  # and with it, every guest that there is
        while self._waiting or self._tasks:  # one that is being made may still come
            while self._waiting:
                self._end(self._waiting.popleft())
            await asyncio.wait(list(self._tasks))
        if self._keeper is not None:
            await self._keeper.close()  # one that was still being started
        await self._bounds.close()


def _told(problem: BaseException) -> PaddockError:
    """What those hear who wait for a guest that could not be made."""
    if isinstance(problem, PaddockError):
        return problem
    if isinstance(problem, OSError):  # of the host's own: no descriptor, no control group
        return JailUnavailable(f"a guest could not be made: {problem}")
    return EngineCrashed(f"a guest could not be made: {type(problem).__name__}: {problem}")
