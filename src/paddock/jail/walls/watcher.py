"""Limits the memory of a whole process tree where there is no cgroup: one thread that looks, more often near the limit.

What counts is anonymous and shared memory that the tree maps, above what it mapped when it was first watched. A page
that was there before and is written later is not counted: a tree may hold its limit and, once more, what it started
with. Not seen at all: pages that no process maps (tmpfs files, memfds written and not mapped, SysV segments, pipe and
socket buffers). Those need caps of their own; RLIMIT_DATA bounds each process between two looks.

Overshoot: what is filled between two looks, at about 1 GB/s and core (more with huge pages). Eight processes filling
as fast as they can on two overloaded cores were stopped 15 MB above a limit of 128 MB (the worst of twenty: 46), and
56 MB above 512 MB (worst: 148), because telling shared pages apart takes 1 ms for 40 MB. One process: 13 MB (19).
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence

from paddock.jail.walls.footprint import Process, held_bytes, tree

_log = logging.getLogger(__name__)
FLOOR_SECONDS = 0.002
IDLE_SECONDS = 0.01
CEILING_SECONDS = 0.1
MAPPED_TIMES = 4
FILL_BYTES_PER_SECOND = 1.5e9 * min(os.cpu_count() or 1, 8)


class Watched:
    """A tree and what it was seen to use. `exceeded` is set once: it held too much, or (`error`) could not be read."""

    def __init__(
        self, root: int, memory_bytes: int, on_exceeded: Callable[[Watched], None], others: Sequence[int] = ()
    ) -> None:
        self._root, self._limit_bytes, self._on_exceeded = root, memory_bytes, on_exceeded
        self._others = list(others)
        self._first = tree(root, *others)
        if not self._first:
            raise ProcessLookupError(f"there is no process {root} to watch")
        self._cpu_before = sum(each.cpu_seconds for each in self._first.values())
        self._inherited = max(each.memory_bytes for each in self._first.values())
        self._seen: dict[int, Process] = self._first
        self._exact, self._visit_after = 0, 0.0
        self._telling = threading.Lock()
        self._stopped = False
        self.exceeded = asyncio.Event()
        self.error: Exception | None = None
        self.memory_peak_bytes = 0
        self.cpu_seconds = 0.0

    def look(self) -> float | None:
        """Count once, tell when it is too much, and say in how many seconds to look again; None for never."""
        before = time.monotonic()
        try:
            seen = tree(self._root, *self._others)
            # A number that was freed may be another process by now: its tree is not ours.
            self._others = [pid for pid in self._others if pid in seen and seen[pid].start == self._first[pid].start]
            if not seen or seen[self._root].start != self._first[self._root].start:
                return None
            held = self._held(seen)
        except Exception as error:  # noqa: BLE001
            # Whatever hides the tree from us must not be a way out of its limit, nor end the watch over others.
            self.error = error
            self._tell()
            return None
        self.cpu_seconds = max(self.cpu_seconds, sum(each.cpu_seconds for each in seen.values()) - self._cpu_before)
        idle, self._seen = seen == self._seen, seen
        self.memory_peak_bytes = max(self.memory_peak_bytes, held)
        if held > self._limit_bytes:
            self._tell()
            return None
        soon = (self._limit_bytes - held) / FILL_BYTES_PER_SECOND
        least = max(IDLE_SECONDS if idle else FLOOR_SECONDS, 2 * (time.monotonic() - before))
        return None if self._stopped else max(min(soon, CEILING_SECONDS), least)

    def stop(self) -> None:
        """Look no more; `on_exceeded` is not called once this has returned."""
        with self._telling:
            self._stopped = True

    def _tell(self) -> None:
        with self._telling:
            if not self._stopped:
                self._on_exceeded(self)
                self._stopped = True

    def _held(self, seen: dict[int, Process]) -> int:
        """Bytes above the baseline. Pages shared between processes are told apart only if the plain sum is too much."""
        plain = sum(
            max(each.memory_bytes - self._first[pid].memory_bytes, 0) if pid in self._first else each.memory_bytes
            for pid, each in seen.items()
        )
        # Telling apart visits every page of every process, so what they map together is capped too; but not what each
        # was forked with.
        most = MAPPED_TIMES * self._limit_bytes + self._inherited * len(seen)
        if plain <= self._limit_bytes or plain > most or seen.keys() <= self._first.keys():
            return plain
        now = time.monotonic()
        if now >= self._visit_after and (seen != self._seen or not self._visit_after):
            self._exact = max(held_bytes(seen.values()) - self._inherited, 0)
            # At most half of a core for one tree: visiting takes longer the more there is.
            self._visit_after = 2 * time.monotonic() - now
        return self._exact


class Watcher:
    """Watches any number of trees from one thread, which starts with the first and ends with `close()`.

    A look costs 25 µs for each process and is due every 2 to 100 ms, by the room that is left.
    """

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._due: list[tuple[float, int, Watched]] = []
        self._thread: threading.Thread | None = None
        self._numbers = itertools.count()
        self._closing = False

    def watch(
        self, root: int, memory_bytes: int, on_exceeded: Callable[[Watched], None], others: Sequence[int] = ()
    ) -> Watched:
        """Watch the tree under `root` from now; `on_exceeded` is called in the watcher's thread and must not block.

        `others` are watched too, as long as they are there. What the tree holds now is its baseline, so call this
        before any byte of user code is read.
        """
        watched = Watched(root, memory_bytes, on_exceeded, others)
        with self._wake:
            if self._closing:
                raise RuntimeError("the watcher is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="paddock-watcher", daemon=True)
                self._thread.start()
            self._put(time.monotonic() + FLOOR_SECONDS, watched)
            self._wake.notify()
        return watched

    @contextlib.asynccontextmanager
    async def watching(
        self, root: int, memory_bytes: int, *, at_once: Callable[[], None] | None = None
    ) -> AsyncIterator[Watched]:
        """Watch while the block runs. `at_once` is called in the watcher's thread before `exceeded` is set: a kill
        there does not wait for the event loop."""
        loop = asyncio.get_running_loop()

        def exceeded(watched: Watched) -> None:
            if at_once is not None:
                at_once()
            with contextlib.suppress(RuntimeError):  # the loop was closed
                loop.call_soon_threadsafe(watched.exceeded.set)

        watched = self.watch(root, memory_bytes, exceeded)
        try:
            yield watched
        finally:
            watched.stop()

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()

    def _put(self, due: float, watched: Watched) -> None:
        heapq.heappush(self._due, (due, next(self._numbers), watched))

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._closing and (not self._due or self._due[0][0] > time.monotonic()):
                    self._wake.wait(self._due[0][0] - time.monotonic() if self._due else None)
                if self._closing:
                    return
                watched = heapq.heappop(self._due)[2]
            try:
                again = watched.look()
            except Exception:  # noqa: BLE001  whoever was told failed: told again, and the watch over others goes on
                _log.exception("a tree of processes that holds too much could not be ended")
                again = CEILING_SECONDS
            if again is not None:
                with self._wake:
                    self._put(time.monotonic() + again, watched)


def probe() -> str | None:
    """None where the memory of a child can be read here, else the reason and what to allow. Says nothing of guests
    with another uid: as an ordinary user those are readable only if they are dumpable."""
    waits = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]
    allow = "mount /proc without hidepid and subset, and allow reading smaps_rollup (Linux 5.4 or newer)"
    try:
        with subprocess.Popen(waits, stdin=subprocess.PIPE) as child:
            try:
                if child.pid not in (seen := tree(os.getpid())) or not held_bytes([seen[child.pid]]):
                    return f"/proc does not show the memory of our own children: {allow}"
            finally:
                child.kill()
    except OSError as error:
        return f"{error}: {allow}"
    return None
