"""The thread that serves the doors of all guests (`doors`), apart from the event loop of the runs.

Reading a guest's memory takes locks that the guest can hold, so it must not hold up anything else: if it takes long,
other threads do it for a while. Counting the bytes of the connections that were put into guests can wait for a guest
too, so it has a thread of its own. So has hearing which were closed: what is not heard at once is lost.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from paddock import descriptors
from paddock.jail.network_run import Attempt, NetworkRun
from paddock.jail.sock_diag import Connected, Counter

COUNT_SECONDS = 0.25
"""How often the bytes of connections are counted."""
HEAR_SECONDS = 0.001
"""How long reports about closed connections wait, so that one look is for many of them."""
SLOW_SECONDS, THREAD_SECONDS = 0.01, 3600.0
"""A call that waits for a guest longer than this makes all of them use threads, for the time after it."""
THREADS = 64
T = TypeVar("T")


class Supervisor:
    """The thread that serves the doors of all guests. It starts with the first door and ends with the last."""

    _lock = threading.Lock()
    _current: Supervisor | None = None
    _uses_threads_until = 0.0  # also of the next thread, after there was no guest for a while

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.users = 0
        self.max_pending = max(16, descriptors.limit() // 8)
        self.pending = 0
        self.loop.set_default_executor(ThreadPoolExecutor(THREADS, "paddock-doors"))
        self._counter: Counter | None = None
        self._counting = threading.Lock()
        self._counted: list[NetworkRun] = []  # runs in progress, and the last ones of idle sessions
        self._is_over = threading.Event()
        threading.Thread(target=self._serve, name="paddock-doors", daemon=True).start()
        with suppress(OSError):  # a kernel without it: bytes are not known
            self._counter = counter = Counter()
            counter.hear(is_wanted=False)
            threading.Thread(target=self._count_regularly, name="paddock-counter", daemon=True).start()
            threading.Thread(target=self._hear, args=(counter,), name="paddock-closes", daemon=True).start()

    def _serve(self) -> None:
        self.loop.run_forever()
        self.loop.close()

    async def call(self, function: Callable[[], T]) -> T:
        """Call a function that may wait for a guest. Its result is not closed if the caller is cancelled meanwhile."""
        began = time.monotonic()
        try:
            if began >= self._uses_threads_until:
                return function()
            work = self.loop.run_in_executor(None, function)
            try:
                return await asyncio.shield(work)
            finally:
                if not work.done():
                    await asyncio.wait([work])  # it uses descriptors that whoever cancels this will close
        finally:
            now = time.monotonic()
            if now - began > SLOW_SECONDS:
                Supervisor._uses_threads_until = now + THREAD_SECONDS

    def _count_regularly(self) -> None:
        while not self._is_over.wait(COUNT_SECONDS):
            self.count()

    def _hear(self, counter: Counter) -> None:
        """Note the bytes of connections as they are closed."""
        while not self._is_over.wait(HEAR_SECONDS):
            if counter.wait(COUNT_SECONDS):
                with self._counting:
                    self._note_closed(counter)

    def _note_closed(self, counter: Counter) -> None:
        closed = counter.closed()
        for run in self._counted:
            for cookie in closed.keys() & run.live.keys():
                if run.has_ended:
                    run.closed[cookie] = closed[cookie]  # for the next run
                else:
                    run.live.pop(cookie)[1].count(closed[cookie])

    def begin_counting(self, run: NetworkRun, before: NetworkRun | None) -> None:
        """Count the bytes of a run, also on connections that the run before it has left open."""
        with self._counting:
            if self._counter is not None and not self._counted:
                self._counter.hear(is_wanted=True)
            self._counted.append(run)
            if before is not None:
                before.has_ended = True
                run.keep(before)
                self._counted.remove(before)

    def add_connection(self, run: NetworkRun, sock: socket.socket, attempt: Attempt) -> bool:
        """Count the bytes of a connection that the guest does not have yet. Returns False if the run has ended."""
        with self._counting:
            if run.has_ended:
                return False
            if self._counter is not None and attempt.address is not None and attempt.port is not None:
                connected = Connected(sock, attempt.address, attempt.port)
                run.live[connected.cookie] = connected, attempt
            return True

    def count(self, only: NetworkRun | None = None) -> None:
        """Count the bytes of all connections, or of those of one run. May be called from any thread."""
        with self._counting:
            if self._counter is None or not self._counted:
                return
            self._note_closed(self._counter)
            runs = [run for run in self._counted if not run.has_ended]
            live = [each for run in (runs if only is None else [only]) for each in run.live.values()]
        for connected, attempt in live:  # not under the lock, which the event loop waits for
            try:
                count = self._counter.count(connected)
            except OSError:  # no descriptor is free
                continue
            attempt.checks_lost = 0 if count is not None else attempt.checks_lost + 1
            if count is not None:
                attempt.count(count)

    def end_counting(self, run: NetworkRun) -> None:
        """From now on note only which connections are closed."""
        with self._counting:
            run.has_ended = True

    def forget(self, run: NetworkRun) -> None:
        """Note nothing more: its guest ends."""
        with self._counting:
            run.has_ended = True
            self._counted.remove(run)
            if self._counter is not None and not self._counted:
                self._counter.hear(is_wanted=False)

    @classmethod
    def share(cls) -> Supervisor:
        with cls._lock:
            if cls._current is None:
                cls._current = Supervisor()
            cls._current.users += 1
            return cls._current

    def release(self) -> None:
        with self._lock:
            self.users -= 1
            if not self.users:
                Supervisor._current = None
                self._is_over.set()
                if self._counter is not None:
                    self._counter.close()
                self.loop.call_soon_threadsafe(self.loop.stop)
