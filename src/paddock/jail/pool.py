"""A pool of guests for one environment. Guests are walled in ahead of demand, and each is used once.

Guests are forked from one of two templates, and each template has its own shelf of waiting guests. The number of
waiting guests follows demand. It doubles, up to a maximum, when a caller finds none. It falls to a minimum when no
caller has come for `idle_seconds`. After `release_seconds` no guest waits, and the zygote ends. A zygote that dies is
replaced, and the guests that waited with it are dropped.

All guests of one warden share its address layout and hash seed. So a warden is replaced after a number of guests or
some time. The old warden ends with its last guest.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from paddock import descriptors
from paddock.errors import EngineCrashed, JailUnavailable, PaddockError
from paddock.jail.guest import Guest, Template
from paddock.jail.limits import ResourceLimit, ResourceLimits
from paddock.jail.walls.shortage import REMEDIES
from paddock.jail.warden_client import Mover, WardenClient
from paddock.jail.zygote import FIRST_UID

if TYPE_CHECKING:
    from paddock.config import GuestsConfig

AT_ONCE = 4
"""How many guests of one template are created at the same time."""
ATTEMPTS = 3
"""After this many failures in a row to create a guest of one template, a caller gets the error."""
DEATH_SECONDS = 1.0
"""How long to wait for the end of a zygote after one of its guests has failed."""
HEAD_START_SECONDS = 0.005
"""How long a new run has the CPU before the next guest is created."""
CLOSED = "Paddock was closed before the script began"

log = logging.getLogger("paddock.jail")
_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
"""For all pools of an event loop: how many further guests may be in use or ending, as descriptors allow."""


class Shelf:
    """The waiting guests of one template, the number being created, and the callers that wait for a guest."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.target = 0  # how many guests should wait; none before the first caller
        self.waiting: deque[Guest] = deque()
        self.callers: deque[asyncio.Future[Guest]] = deque()
        self.making = 0
        self.alive = 0  # created and not gone yet: waiting, in use, ending
        self.failures = 0
        self.last_failed: asyncio.Future[None] | None = None  # of the zygote that failed last; done when it has ended
        self.taken_at = 0.0
        self.fill_timer: asyncio.TimerHandle | None = None
        self.tidy_timer: asyncio.TimerHandle | None = None


class Pool:
    """Hands out guests. At most `max_guests` are in use at a time, fewer if descriptors are few; later callers wait.

    `start` starts a warden. A warden is replaced after `warden_guests` guests or `warden_seconds`. `max_aside` guests
    of idle sessions may exist besides, which do not count as in use.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[WardenClient]],
        settings: GuestsConfig,
        limits: ResourceLimits,
        templates: Sequence[Template],
        *,
        processes: bool,
        warden_guests: int,
        warden_seconds: float,
        max_aside: int = 0,
    ) -> None:
        self._start = start
        self._warden_guests, self._warden_seconds = warden_guests, warden_seconds
        self._limits = limits
        self._idle_seconds, self._release_seconds = settings.idle_seconds, settings.release_seconds
        self._processes = processes
        self._shelves: dict[Template, Shelf] = {template: Shelf(template) for template in templates}
        self._ceiling = min(settings.max_waiting, descriptors.max_guests() // 4)
        self._floor = min(settings.min_waiting, self._ceiling)
        self._room = asyncio.Semaphore(settings.max_guests)
        self._shared_room = _rooms.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(descriptors.max_guests()))
        self._aside: set[Guest] = set()
        count = settings.max_guests + max_aside + len(templates) * (self._ceiling + AT_ONCE)
        self._uids = deque(range(FIRST_UID, FIRST_UID + count))
        self._client: WardenClient | None = None  # of the newest warden
        self._started_at, self._ordered = 0.0, 0  # when that warden started, how many guests were ordered from it
        self._users: Counter[WardenClient] = Counter()  # guests of each warden, alive or being created
        self._client_of: dict[Guest, WardenClient] = {}
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Future[Any]] = set()
        self._closed = False

    async def start(self) -> None:
        """Start a warden if none runs."""
        await self._running_client()

    @property
    def waiting(self) -> list[Guest]:
        """The waiting guests of all templates."""
        return [guest for shelf in self._shelves.values() for guest in shelf.waiting]

    async def take(self, template: Template = "bare", *, lean: bool = False) -> Guest:
        """Return a guest that is ready for a script. Every guest must be given back.

        If the pool has only one template, its guests are used for both. A `lean` guest is a new one: the guests that
        wait have rehearsed, for which a warm one has copied 10 MB of its zygote's memory.
        """
        shelf = self._shelves.get(template) or self._shelves["bare"]
        await self._enter_room()
        if self._closed:
            self._leave_room()
            raise EngineCrashed(CLOSED)
        try:
            self._tidy_later(shelf)
            while shelf.waiting and not lean:
                guest = shelf.waiting.popleft()
                if guest.is_waiting():
                    self._fill_soon(shelf)
                    return guest
                self._end(guest)
            if not lean:
                shelf.target = min(self._ceiling, max(1, self._floor, 2 * shelf.target))
            caller: asyncio.Future[Guest] = asyncio.get_running_loop().create_future()
            shelf.callers.append(caller)
            self._fill(shelf)
            try:
                return await caller
            except asyncio.CancelledError:
                if caller.done() and not caller.cancelled() and caller.exception() is None:
                    self._end(caller.result())
                raise
        except BaseException:
            self._leave_room()
            raise

    async def _enter_room(self) -> None:
        await self._room.acquire()
        try:
            await self._shared_room.acquire()
        except BaseException:
            self._room.release()
            raise

    def _leave_room(self) -> None:
        self._room.release()
        self._shared_room.release()

    def set_aside(self, guest: Guest) -> None:
        """Keep the guest of a session while it has no run: it no longer counts as in use."""
        self._aside.add(guest)
        self._leave_room()

    async def resume(self, guest: Guest) -> None:
        """Use a guest again that was set aside. Waits while too many guests are in use."""
        await self._enter_room()
        self._aside.remove(guest)

    async def take_limit(self) -> ResourceLimit:
        """A limit for a fork of a guest."""
        return await self._limits.take()

    def give_limit_back(self, resource_limit: ResourceLimit) -> None:
        self._limits.give_back(resource_limit)

    def start_mover(self, guest: Guest, groups: list[int]) -> Mover:
        return self._client_of[guest].start_mover(guest, groups)

    def adopt(self, fork: Guest) -> None:
        """Count a fork of a guest among those that are set aside."""
        self._aside.add(fork)

    def settle(self, resource_limit: ResourceLimit) -> bool:
        return self._limits.settle(resource_limit)

    def end_fork(self, fork: Guest) -> asyncio.Task[bool]:
        """End a fork that is set aside, in the background. Its limit stays, because others may use its memory.

        The task returns whether no process is left in it.
        """

        async def end(ended: asyncio.Future[None]) -> bool:
            await ended
            return await self._limits.empty(fork.resource_limit)

        self._aside.remove(fork)
        ending = asyncio.create_task(end(fork.end()))
        self._in_background(ending)
        return ending

    def give_back(self, guest: Guest) -> None:
        """End the guest of a finished run, in the background."""
        was_used = guest not in self._aside
        if was_used:
            self._room.release()
        self._aside.discard(guest)
        self._end(guest, was_used=was_used)
        waiting = self._shelves[guest.template].waiting
        while guest.is_lost and waiting:  # the waiting guests came from the same zygote
            self._end(waiting.popleft())

    def _fill_soon(self, shelf: Shelf) -> None:
        """Fill the shelf: at once in a burst, otherwise a little later, so that the new run gets the CPU first."""
        if self._is_burst(shelf):
            self._fill(shelf)
        elif shelf.fill_timer is None:
            shelf.fill_timer = asyncio.get_running_loop().call_later(HEAD_START_SECONDS, self._fill, shelf)

    def _is_burst(self, shelf: Shelf) -> bool:
        """Whether runs arrive faster than guests are created."""
        return shelf.target > self._floor and not shelf.waiting

    def _fill(self, shelf: Shelf) -> None:
        if shelf.fill_timer is not None:
            shelf.fill_timer.cancel()
            shelf.fill_timer = None
        if self._closed:
            return
        # Callers that wait while guests wait, too, want a lean one.
        missing = max(shelf.target - len(shelf.waiting), 0) + len(shelf.callers) - shelf.making
        # A guest keeps its uid until it is gone. If all uids are taken, the next guests are created later.
        for _ in range(min(missing, AT_ONCE - shelf.making, len(self._uids))):
            shelf.making += 1
            self._in_background(asyncio.create_task(self._make(shelf, self._uids.popleft())))

    async def _make(self, shelf: Shelf, uid: int) -> None:
        try:
            guest = await self._make_guest(shelf, uid)
        except BaseException as problem:
            self._uids.appendleft(uid)
            shelf.making -= 1
            self._fail(shelf, _as_paddock_error(problem))
            if not isinstance(problem, OSError | PaddockError):
                raise
            return
        shelf.making -= 1
        shelf.alive += 1
        while shelf.callers:
            caller = shelf.callers.popleft()
            if not caller.done():
                caller.set_result(guest)
                break
        else:
            shelf.waiting.append(guest)
        self._fill(shelf)

    async def _make_guest(self, shelf: Shelf, uid: int) -> Guest:
        """Create a guest. If its zygote dies meanwhile, try again with a new one."""
        resource_limit = await self._limits.take()
        # A guest that is used at once skips its preparations, which would take CPU from other guests.
        is_urgent = self._is_burst(shelf) or bool(shelf.callers)
        try:
            while True:
                client = await self._running_client()
                self._users[client] += 1
                self._ordered += 1
                guest = None
                try:
                    guest = await self._order(client, shelf, uid, resource_limit, is_urgent=is_urgent)
                finally:
                    if guest is None:
                        self._remove_user(client)
                if guest is not None:
                    self._client_of[guest] = client
                    return guest
        except BaseException:
            self._limits.give_back(resource_limit)
            raise

    async def _order(
        self, client: WardenClient, shelf: Shelf, uid: int, resource_limit: ResourceLimit, *, is_urgent: bool
    ) -> Guest | None:
        """Order a guest from a warden. Returns None if its zygote died and another attempt is worthwhile."""
        gone = await client.load(shelf.template)
        try:
            guest = await client.guest(
                uid=uid,
                processes=self._processes,
                resource_limit=resource_limit,
                is_urgent=is_urgent,
                template=shelf.template,
            )
        except EngineCrashed:
            await asyncio.wait([gone], timeout=DEATH_SECONDS)  # the zygote may have died
            self._count_failure(shelf, gone)
            if shelf.failures >= ATTEMPTS:
                raise
            return None
        shelf.failures = 0
        try:
            await self._apply_usual_limits(guest)
        except JailUnavailable:  # a guest that is killed with its zygote leaves its group first
            await asyncio.wait([gone], timeout=DEATH_SECONDS)
            if not gone.done():
                raise
            return None
        return guest

    async def _apply_usual_limits(self, guest: Guest) -> None:
        try:
            self._limits.apply_usual(guest.resource_limit)
        except (JailUnavailable, OSError) as problem:
            # A dead guest is in no group, and `take` drops it later. A living guest outside its group has no limits.
            if isinstance(problem, OSError) or guest.is_waiting():
                await guest.end()  # its uid and its group may be reused only after its end
                raise

    def _count_failure(self, shelf: Shelf, gone: asyncio.Future[None]) -> None:
        """Count a failure to create a guest. The death of a zygote counts once, however many guests it was creating."""
        if gone is not shelf.last_failed or not gone.done():
            shelf.failures += 1
        shelf.last_failed = gone

    async def _running_client(self) -> WardenClient:
        if self._client is not None and self._is_usable(self._client):
            return self._client
        async with self._starting:
            if self._client is not None and not self._is_usable(self._client):
                old, self._client = self._client, None
                if old.died.done() or not self._users[old]:
                    await old.close()
            if self._client is None:
                if self._closed:
                    raise EngineCrashed(CLOSED)
                self._client = await self._start()
                self._started_at, self._ordered = asyncio.get_running_loop().time(), 0
            return self._client

    def _is_usable(self, client: WardenClient) -> bool:
        """Whether this warden, the newest, is alive and may create another guest."""
        age_seconds = asyncio.get_running_loop().time() - self._started_at
        is_fresh = self._ordered < self._warden_guests and age_seconds < self._warden_seconds
        return is_fresh and not client.died.done()

    def _remove_user(self, client: WardenClient) -> None:
        """Note that this warden has one guest fewer. A warden that was replaced ends with its last guest."""
        self._users[client] -= 1
        if not self._users[client]:
            del self._users[client]
            if client is not self._client:
                self._in_background(asyncio.create_task(client.close()))

    def _fail(self, shelf: Shelf, problem: PaddockError) -> None:
        """Pass a failure on to one caller, or to all callers if the zygote is gone."""
        serves = not self._closed and self._client is not None and self._client.serves(shelf.template)
        while shelf.callers:
            caller = shelf.callers.popleft()
            if not caller.done():
                caller.set_exception(problem)
                if serves:
                    break
        if shelf.callers:
            self._fill(shelf)

    def _end(self, guest: Guest, *, was_used: bool = False) -> None:
        """End a guest in the background. Its uid and its control group are reused when it is gone."""
        shelf = self._shelves[guest.template]

        def ended(end: asyncio.Future[None]) -> None:
            if was_used:
                self._shared_room.release()
            problem = end.exception()
            if problem is None:
                self._uids.appendleft(guest.uid)  # to the front: `chroot` keeps files for each uid
            else:  # the guest may still be alive, so its uid is not used again
                log.error("the end of a guest could not be observed: %s", problem, exc_info=problem)
            shelf.alive -= 1
            self._remove_user(self._client_of.pop(guest))
            self._limits.give_back(guest.resource_limit)
            for each in self._shelves.values():
                if each.callers:
                    self._fill(each)

        ending = guest.end()
        ending.add_done_callback(ended)
        self._in_background(ending)

    def _tidy_later(self, shelf: Shelf) -> None:
        """Note that a caller has come. `_tidy` is called when none has come for a while."""
        loop = asyncio.get_running_loop()
        shelf.taken_at = loop.time()
        if shelf.tidy_timer is None:
            shelf.tidy_timer = loop.call_later(self._idle_seconds, self._tidy, shelf)

    def _tidy(self, shelf: Shelf) -> None:
        """End waiting guests: those above the minimum after `idle_seconds`, all of them after `release_seconds`."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        idle_at, release_at = shelf.taken_at + self._idle_seconds, shelf.taken_at + self._release_seconds
        released = release_at <= now
        shelf.tidy_timer = None
        if released or idle_at <= now:
            shelf.target = 0 if released else self._floor
            while len(shelf.waiting) > shelf.target:
                self._end(shelf.waiting.popleft())
        if released and not (shelf.alive or shelf.making):
            self._in_background(asyncio.create_task(self._release(shelf)))
        elif released:  # a guest is still in use or ending
            shelf.tidy_timer = loop.call_later(self._idle_seconds, self._tidy, shelf)
        else:
            shelf.tidy_timer = loop.call_at(min(at for at in (idle_at, release_at) if at > now), self._tidy, shelf)

    async def _release(self, shelf: Shelf) -> None:
        """End the zygote of an unused template, or the warden if no template is in use."""
        async with self._starting:
            if self._client is None or shelf.alive or shelf.making:
                return
            if any(each.alive or each.making for each in self._shelves.values()):
                self._client.unload(shelf.template)
            else:
                client, self._client = self._client, None
                await client.close()

    def _in_background(self, work: asyncio.Future[Any]) -> None:
        self._tasks.add(work)
        work.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all guests and zygotes."""
        self._closed = True
        for shelf in self._shelves.values():
            for timer in (shelf.tidy_timer, shelf.fill_timer):
                if timer is not None:
                    timer.cancel()
            self._fail(shelf, EngineCrashed(CLOSED))
        for client in [*self._users, *([self._client] if self._client is not None else [])]:
            await client.close()  # ends all its guests
        while self.waiting or self._tasks:  # a guest that is being created may still arrive
            for shelf in self._shelves.values():
                while shelf.waiting:
                    self._end(shelf.waiting.popleft())
            await asyncio.wait(list(self._tasks))
        async with self._starting:  # a warden may be starting for a caller that has gone
            if self._client is not None:
                await self._client.close()
        await self._limits.close()


def _as_paddock_error(problem: BaseException) -> PaddockError:
    """The error for the callers of a guest that could not be created."""
    if isinstance(problem, PaddockError):
        return problem
    if isinstance(problem, OSError):  # in the host: no descriptor, no control group
        return JailUnavailable(f"a guest could not be created: {problem}")
    if "start new thread" in str(problem):  # Python's RuntimeError if there are too many threads or processes
        return JailUnavailable(f"a guest could not be created: {REMEDIES[errno.EAGAIN]}")
    return EngineCrashed(f"a guest could not be created: {type(problem).__name__}: {problem}")
