"""Guests of one environment, walled in ahead of demand, each used once.

Guests are forked from one of two templates, and each template has its own shelf of waiting guests. How many wait
follows demand: the number doubles when somebody finds none, up to a ceiling, and goes back to a floor when nobody has
come for a while. After a longer while none waits, and the zygote ends. A zygote that dies is replaced; the guests that
waited with it are forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from paddock.errors import EngineCrashed, JailUnavailable, PaddockError
from paddock.jail.guest import Guest, Template
from paddock.jail.limits import ResourceLimits
from paddock.jail.warden_client import WardenClient
from paddock.jail.zygote import FIRST_UID

if TYPE_CHECKING:
    from paddock.config import GuestsConfig

AT_ONCE = 4
"""How many guests of one template are made at the same time. They are forked in turn, and wall themselves in."""
ATTEMPTS = 3
DEATH_SECONDS = 1.0
HEAD_START_SECONDS = 0.005

log = logging.getLogger("paddock.jail")


class Shelf:
    """The guests of one template: those that wait, those that are being made, and who waits for one."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.wanted = 0  # to wait; nothing is made before somebody comes
        self.waiting: deque[Guest] = deque()
        self.asking: deque[asyncio.Future[Guest]] = deque()
        self.making = 0
        self.alive = 0  # made and not ended yet: waiting, in use, ending
        self.failures = 0
        self.blamed: asyncio.Future[None] | None = None  # the zygote that failed last, by its end
        self.came_at = 0.0
        self.filling: asyncio.TimerHandle | None = None
        self.tidying: asyncio.TimerHandle | None = None


class Pool:
    """Hands out guests. At most `max_guests` are in use at a time; whoever comes later waits."""

    def __init__(
        self,
        start: Callable[[], Awaitable[WardenClient]],
        settings: GuestsConfig,
        limits: ResourceLimits,
        templates: Sequence[Template],
        *,
        processes: bool,
    ) -> None:
        self._start = start
        self._limits = limits
        self._floor, self._ceiling = settings.min_waiting, settings.max_waiting
        self._idle_seconds, self._release_seconds = settings.idle_seconds, settings.release_seconds
        self._processes = processes
        self._shelves: dict[Template, Shelf] = {template: Shelf(template) for template in templates}
        self._room = asyncio.Semaphore(settings.max_guests)
        count = settings.max_guests + len(templates) * (self._ceiling + AT_ONCE)
        self._uids = deque(range(FIRST_UID, FIRST_UID + count))
        self._client: WardenClient | None = None
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Future[None]] = set()
        self._closed = False

    async def start(self) -> None:
        """Start the zygote if none runs."""
        await self._running()

    @property
    def waiting(self) -> list[Guest]:
        """The guests that wait, of every template."""
        return [guest for shelf in self._shelves.values() for guest in shelf.waiting]

    async def take(self, template: Template = "bare") -> Guest:
        """A guest that waits for a script. It must be given back, whatever became of it.

        Where the pool has one template, its guests serve for both.
        """
        shelf = self._shelves.get(template) or self._shelves["bare"]
        await self._room.acquire()
        if self._closed:
            self._room.release()
            raise EngineCrashed("Paddock was closed before the script began")
        try:
            self._tidy_later(shelf)
            while shelf.waiting:
                guest = shelf.waiting.popleft()
                if guest.is_waiting():
                    self._fill_soon(shelf)
                    return guest
                self._end(guest)
            shelf.wanted = min(self._ceiling, max(1, self._floor, 2 * shelf.wanted))
            asked: asyncio.Future[Guest] = asyncio.get_running_loop().create_future()
            shelf.asking.append(asked)
            self._fill(shelf)
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
        """End the guest of a finished run, in the background."""
        self._room.release()
        self._end(guest)
        waiting = self._shelves[guest.template].waiting
        while guest.is_lost and waiting:  # those that waited with it are dying too
            self._end(waiting.popleft())

    def _fill_soon(self, shelf: Shelf) -> None:
        """Fill the shelf; unless in a burst, a moment later, so that the run that has just begun has the CPU."""
        if self._is_burst(shelf):
            self._fill(shelf)
        elif shelf.filling is None:
            shelf.filling = asyncio.get_running_loop().call_later(HEAD_START_SECONDS, self._fill, shelf)

    def _is_burst(self, shelf: Shelf) -> bool:
        """Whether runs come faster than guests are made."""
        return shelf.wanted > self._floor and not shelf.waiting

    def _fill(self, shelf: Shelf) -> None:
        if shelf.filling is not None:
            shelf.filling.cancel()
            shelf.filling = None
        if self._closed:
            return
        missing = shelf.wanted + len(shelf.asking) - len(shelf.waiting) - shelf.making
        # A guest keeps its uid until it is gone. Where all uids are taken, the next guests wait.
        for _ in range(min(missing, AT_ONCE - shelf.making, len(self._uids))):
            shelf.making += 1
            self._in_background(asyncio.create_task(self._make(shelf, self._uids.popleft())))

    async def _make(self, shelf: Shelf, uid: int) -> None:
        try:
            guest = await self._made(shelf, uid)
        except BaseException as problem:
            self._uids.appendleft(uid)
            shelf.making -= 1
            self._fail(shelf, _told(problem))
            if not isinstance(problem, OSError | PaddockError):
                raise
            return
        shelf.making -= 1
        shelf.alive += 1
        while shelf.asking:
            asked = shelf.asking.popleft()
            if not asked.done():
                asked.set_result(guest)
                break
        else:
            shelf.waiting.append(guest)
        self._fill(shelf)

    async def _made(self, shelf: Shelf, uid: int) -> Guest:
        """Make a guest, from a new zygote if the old one died meanwhile."""
        resource_limit = await self._limits.take()
        # A guest that is used at once need not prepare anything for later, which takes CPU from the others.
        hurry = self._is_burst(shelf) or bool(shelf.asking)
        try:
            while True:
                client = await self._running()
                gone = await client.load(shelf.template)
                try:
                    guest = await client.guest(
                        uid=uid,
                        processes=self._processes,
                        resource_limit=resource_limit,
                        hurry=hurry,
                        template=shelf.template,
                    )
                except EngineCrashed:
                    await asyncio.wait([gone], timeout=DEATH_SECONDS)  # so that its guests are seen to die first
                    self._blame(shelf, gone)
                    if shelf.failures >= ATTEMPTS:
                        raise
                else:
                    shelf.failures = 0
                    await self._limit_ahead(guest)
                    return guest
        except BaseException:
            self._limits.give_back(resource_limit)
            raise

    async def _limit_ahead(self, guest: Guest) -> None:
        try:
            self._limits.ahead(guest.resource_limit)
        except (JailUnavailable, OSError) as problem:
            # A dead guest is in no group, and is noticed when it is taken. A living one is in the wrong group.
            if isinstance(problem, OSError) or guest.is_waiting():
                await guest.end()  # it must be gone before its uid and its group are used again
                raise

    def _blame(self, shelf: Shelf, gone: asyncio.Future[None]) -> None:
        """Count failures since a guest was last made. A zygote's death counts once for all guests it was making."""
        if gone is not shelf.blamed or not gone.done():
            shelf.failures += 1
        shelf.blamed = gone

    async def _running(self) -> WardenClient:
        if self._client is not None and not self._client.died.done():
            return self._client
        async with self._starting:
            if self._client is not None and self._client.died.done():
                dead, self._client = self._client, None
                await dead.close()
            if self._client is None:
                if self._closed:
                    raise EngineCrashed("Paddock was closed before the script began")
                self._client = await self._start()
            return self._client

    def _fail(self, shelf: Shelf, problem: PaddockError) -> None:
        """Fail one waiting caller if the zygote still serves, because only one guest failed; else fail all of them."""
        serves = not self._closed and self._client is not None and self._client.serves(shelf.template)
        while shelf.asking:
            asked = shelf.asking.popleft()
            if not asked.done():
                asked.set_exception(problem)
                if serves:
                    break
        if shelf.asking:
            self._fill(shelf)

    def _end(self, guest: Guest) -> None:
        shelf = self._shelves[guest.template]

        def ended(end: asyncio.Future[None]) -> None:
            problem = end.exception()
            if problem is None:
                self._uids.appendleft(guest.uid)  # to the front: some profiles keep files for each uid
            else:  # it may still be alive: its uid is not used again
                log.error("the end of a guest could not be observed: %s", problem, exc_info=problem)
            shelf.alive -= 1
            self._limits.give_back(guest.resource_limit)
            for each in self._shelves.values():
                if each.asking:
                    self._fill(each)

        ending = guest.end()
        ending.add_done_callback(ended)
        self._in_background(ending)

    def _tidy_later(self, shelf: Shelf) -> None:
        loop = asyncio.get_running_loop()
        shelf.came_at = loop.time()
        if shelf.tidying is None:
            shelf.tidying = loop.call_later(self._idle_seconds, self._tidy, shelf)

    def _tidy(self, shelf: Shelf) -> None:
        """Let waiting guests go: after `idle_seconds` without a run those above the floor, later all."""
        loop = asyncio.get_running_loop()
        idle_at, release_at = shelf.came_at + self._idle_seconds, shelf.came_at + self._release_seconds
        released = release_at <= loop.time()
        shelf.tidying = None
        if released or idle_at <= loop.time():
            shelf.wanted = 0 if released else self._floor
            while len(shelf.waiting) > shelf.wanted:
                self._end(shelf.waiting.popleft())
        if released and not (shelf.alive or shelf.making):
            self._in_background(asyncio.create_task(self._release(shelf)))
        elif released:  # a long run, or guests that are still ending
            shelf.tidying = loop.call_later(self._idle_seconds, self._tidy, shelf)
        else:
            shelf.tidying = loop.call_at(min(at for at in (idle_at, release_at) if at > loop.time()), self._tidy, shelf)

    async def _release(self, shelf: Shelf) -> None:
        """End the zygote of a template that nobody uses. If nobody uses any, end the warden too."""
        async with self._starting:
            if self._client is None or shelf.alive or shelf.making:
                return
            if any(each.alive or each.making for each in self._shelves.values()):
                self._client.unload(shelf.template)
            else:
                client, self._client = self._client, None
                await client.close()

    def _in_background(self, work: asyncio.Future[None]) -> None:
        self._tasks.add(work)
        work.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End every guest and the zygotes."""
        self._closed = True
        for shelf in self._shelves.values():
            for timer in (shelf.tidying, shelf.filling):
                if timer is not None:
                    timer.cancel()
            self._fail(shelf, EngineCrashed("Paddock was closed before the script began"))
        if self._client is not None:
            await self._client.close()  # and with it every guest
        while self.waiting or self._tasks:  # one that is being made may still arrive
            for shelf in self._shelves.values():
                while shelf.waiting:
                    self._end(shelf.waiting.popleft())
            await asyncio.wait(list(self._tasks))
        if self._client is not None:
            await self._client.close()  # one that was still being started
        await self._limits.close()


def _told(problem: BaseException) -> PaddockError:
    """The error for whoever waits for a guest that could not be made."""
    if isinstance(problem, PaddockError):
        return problem
    if isinstance(problem, OSError):  # in the host: no descriptor, no control group
        return JailUnavailable(f"a guest could not be made: {problem}")
    return EngineCrashed(f"a guest could not be made: {type(problem).__name__}: {problem}")
