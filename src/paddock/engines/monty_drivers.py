"""Threads that drive Monty's sessions, each with its next session ready before it is asked for.

Monty's blocking calls cost a third of its asynchronous ones. So a run is driven by a thread, which waits for the guest
and for answers; the event loop hears of what happens. Ending a session, opening the next one and feeding it a prelude
cost more than a small script: a thread does all three after a run, while nobody waits.
"""

from __future__ import annotations

import asyncio
import atexit
import math
import os
import signal
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

from pydantic_monty import Monty, MontyError, MontySession

from paddock.engines.monty_prelude import Prelude
from paddock.errors import EngineCrashed
from paddock.model.limits import Limits

T = TypeVar("T")
SUSPENSIONS = 10_000_000  # calls, file operations, sleeps: the run's own limits end it long before
EXIT_SECONDS = 1.0
CLOSED = "Paddock was closed before the script began"
DIED = "the light engine's worker died before the script began"


class Opened(NamedTuple):
    """A session that no script has run in."""

    session: MontySession
    limits: Limits
    fed: Prelude
    pid: int | None
    pidfd: int | None

    @property
    def feeds(self) -> int:
        return 1 if self.fed.text else 0

    def suits(self, limits: Limits, prelude: Prelude) -> bool:
        """Whether a script that needs `prelude` may run in it: it must not find what another one needed."""
        return (self.fed == prelude or self.fed.is_common) and self.limits == limits

    def is_alive(self) -> bool:
        """Whether its worker was not killed meanwhile. Where the system cannot say, its next feed finds out."""
        if not hasattr(os, "waitid"):  # macOS, before Python 3.13
            return True
        try:
            # Asks without waiting, and leaves the answer for the pool.
            return self.pid is None or os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False


class Driver:
    """One thread and the session that it has open. It does what it is given in order; no job may raise."""

    def __init__(self, pool: Monty) -> None:
        self.pool = pool
        self.opened: Opened | None = None
        """Only the thread changes it."""
        self.ready: Opened | None = None
        """The same, once it only waits for a script. The thread sets it, and who takes the driver clears it."""
        self._is_ended = False
        self._holding = threading.Lock()  # a descriptor that is closed may be another file's a moment later
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # A daemon: who does not close Paddock is not kept from ending. `_end_all` ends it in time.
        self._thread = threading.Thread(target=self._work, name="paddock-monty", daemon=True)
        self._thread.start()

    def do(self, job: Callable[[], None]) -> None:
        if self._is_ended:
            raise EngineCrashed(CLOSED)
        self._jobs.put(job)

    async def did(self, job: Callable[[], T]) -> T:
        """Let the thread do `job`: what it gives, or raises. Cancelled, its guest is killed."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                tell = partial(_settle, done, job(), None)
            except BaseException as problem:  # noqa: BLE001  it belongs to who waits
                tell = partial(_settle, done, None, problem)
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(tell)

        self.do(work)
        try:
            return await done
        except asyncio.CancelledError:
            self.kill()
            raise

    def kill(self) -> None:
        """End the guest at once, whatever it does. For who has the driver: its session is given back by nobody else."""
        with self._holding, suppress(ProcessLookupError):
            opened = self.opened
            if opened is not None and opened.pidfd is not None:
                signal.pidfd_send_signal(opened.pidfd, signal.SIGKILL)
            elif opened is not None and opened.pid is not None:
                os.kill(opened.pid, signal.SIGKILL)

    def end(self) -> None:
        """Let the thread end its session, and itself, after what it still has to do."""
        self._is_ended = True
        self._jobs.put(None)

    def join(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    def session(self, limits: Limits, prelude: Prelude) -> Opened:
        """In the thread: a fresh session under `limits`, at best with `prelude` fed."""
        if self.opened is None or not (self.opened.suits(limits, prelude) and self.opened.is_alive()):
            self.drop()
            self._open(limits, Prelude())
        if self.opened is None:
            raise AssertionError("a session was opened")
        return self.opened

    def renew(self, limits: Limits, prelude: Prelude) -> None:
        """In the thread: end the session and open the next one. What fails is tried again when it is needed."""
        self.drop()
        with suppress(MontyError, RuntimeError, OSError):
            self._open(limits, Prelude())
            if prelude.text and self.opened is not None:
                try:
                    self.opened.session.feed_run(prelude.text)
                except MontyError:  # too much for these limits, perhaps; the run is to find that out
                    self.drop()
                else:
                    self.opened = self.opened._replace(fed=prelude)
            self.ready = self.opened

    def drop(self) -> None:
        """In the thread: end the session."""
        with self._holding:
            opened, self.opened = self.opened, None
            if opened is not None and opened.pidfd is not None:
                os.close(opened.pidfd)
        if opened is not None:
            with suppress(MontyError, RuntimeError):  # its worker is gone; the pool has replaced it
                opened.session.__exit__(None, None, None)

    def _open(self, limits: Limits, fed: Prelude) -> None:
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
        ).__enter__()
        pid = session.worker_pid
        self.opened = Opened(session, limits, fed, pid, _pidfd(pid))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # it holds on to a run
        self.drop()


class Drivers:
    """Hands out drivers; never more than `most`, the one that is ready ahead of demand included."""

    def __init__(self, pool: Monty, most: int) -> None:
        self.pool = pool
        self._most = most
        self._all: list[Driver] = []
        self._idle: list[Driver] = []
        self._waiting: deque[asyncio.Future[Driver]] = deque()
        self._asked = 0
        self._closed = False
        _open_drivers.add(self)

    def __del__(self) -> None:
        # Who was never closed leaves no thread and no worker behind. Nothing may be waited for here, but in a thread.
        if self._all:
            first, *others = self._all
            first.do(first.drop)
            first.do(partial(_end, others, first.pool))
            first.end()

    async def start(self) -> None:
        """Start the pool's workers, from a thread that lives as long as they: a worker dies with who started it."""
        driver = self._new()
        self._idle.append(driver)
        entering = asyncio.ensure_future(driver.did(self.pool.__enter__))
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:  # half started, they would outlive the host
            with suppress(OSError, MontyError):
                await entering
            await self.close()
            raise

    async def take(self, limits: Limits, prelude: Prelude) -> Driver:
        """A driver with a session for such a script; waits while all are busy."""
        if self._closed:
            raise EngineCrashed(CLOSED)
        driver = self._ready(limits, prelude) or await self._freed()
        if self._closed:  # while it waited
            raise EngineCrashed(CLOSED)
        self._think_ahead(limits, prelude)
        if driver.ready is None or not driver.ready.suits(limits, prelude):
            try:
                await driver.did(lambda: driver.session(limits, prelude))
            except BaseException as problem:
                self.give_back(driver, limits, prelude)
                if isinstance(problem, MontyError | RuntimeError | OSError):
                    raise EngineCrashed(f"{DIED}: {problem}") from None
                raise
        driver.ready = None
        if self._closed:
            raise EngineCrashed(CLOSED)
        return driver

    def give_back(self, driver: Driver, limits: Limits, prelude: Prelude) -> None:
        """The run is over: its session ends, and the next one is made ready."""
        if self._closed:
            return
        driver.do(partial(driver.renew, limits, prelude) if self._asked > 1 else driver.drop)
        self._free(driver)

    def refuse(self) -> None:
        """Hand out no more; runs that still wait fail."""
        self._closed = True
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(EngineCrashed(CLOSED))

    async def close(self) -> None:
        """End every session, and the pool. Who has a driver must be done with it."""
        self.refuse()
        drivers, self._all, self._idle = self._all, [], []
        await asyncio.to_thread(_end, drivers, self.pool)

    def abandon(self) -> None:
        """The host ends without having closed: no thread may be in the middle of something then."""
        drivers, self._all = self._all, []
        for driver in drivers:
            driver.end()
            driver.kill()
        for driver in drivers:
            driver.join(EXIT_SECONDS)

    def _think_ahead(self, limits: Limits, prelude: Prelude) -> None:
        if self._asked and not self._idle and len(self._all) < self._most:
            # Who comes again may come at once; the very first run may be the only one.
            ahead = self._new()
            ahead.do(partial(ahead.renew, limits, prelude))
            self._idle.append(ahead)
        self._asked += 1

    def _ready(self, limits: Limits, prelude: Prelude) -> Driver | None:
        def fitness(driver: Driver) -> tuple[bool, bool]:
            ready = driver.ready
            return ready is not None and ready.suits(limits, prelude), ready is not None and ready.fed == prelude

        if not self._idle:
            return None
        best = self._idle[0] if len(self._idle) == 1 else max(self._idle, key=fitness)
        self._idle.remove(best)
        return best

    async def _freed(self) -> Driver:
        if len(self._all) < self._most:
            return self._new()
        waiting: asyncio.Future[Driver] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self._free(waiting.result())
            raise

    def _free(self, driver: Driver) -> None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(driver)
                return
        self._idle.append(driver)

    def _new(self) -> Driver:
        driver = Driver(self.pool)
        self._all.append(driver)
        return driver


def _end(drivers: list[Driver], pool: Monty) -> None:
    for driver in drivers:
        driver.end()
    # Nobody joins a thread that has not dropped its session: the pool would wait for it in vain.
    for driver in drivers:
        driver.join()
    pool.__exit__(None, None, None)


def _settle(done: asyncio.Future[Any], value: Any, problem: BaseException | None) -> None:
    if done.done():
        return
    if problem is None:
        done.set_result(value)
    else:
        done.set_exception(problem)


def _pidfd(pid: int | None) -> int | None:
    """A hold on the worker that no other process can come into, where the system has such."""
    if pid is None or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


_open_drivers: WeakSet[Drivers] = WeakSet()


@atexit.register
def _end_all() -> None:
    for drivers in list(_open_drivers):
        drivers.abandon()
