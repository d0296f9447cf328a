"""Limits on the memory and processes of a guest: a control group if one can be created, otherwise a watcher.

Neither counts the memory that the guest used while it was waiting. A control group prevents use above the limit. A
watcher polls and kills, so a guest can exceed its limit by what it allocates between two polls. A watcher also does not
see bytes that wait in sockets. So without a control group, a guest may have fewer processes and open files.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from paddock.errors import JailUnavailable
from paddock.jail.walls.cgroup import Slots, find
from paddock.jail.walls.cgroup_slots import Slot
from paddock.jail.walls.shortage import REMEDIES, explain
from paddock.jail.walls.watcher import Watched, Watcher
from paddock.jail.walls.watcher import probe as watcher_probe
from paddock.model.limits import Limits

log = logging.getLogger("paddock.jail.limits")

SLOWER = "a script with many processes can slow others down"
BEST_EFFORT = (
    "no control group limits guests here: their memory is polled and can exceed its limit, the kernel's own "
    f"memory is counted only in part, and {SLOWER}"
)
REMEDY = "`paddock doctor` says how to get one, and jail.require_control_group requires one"
NO_CPU_GROUP = f"no control group divides the CPU between guests here: {SLOWER}"
REQUIRED = "jail.require_control_group is set, and no control group can be used here"
FEWEST_PROCESSES, FEWEST_OPEN_FILES, USUAL_OPEN_FILES = 16, 32, 40
LEAST_MEMORY_BYTES = 4 * 1024 * 1024
"""What a run may always use: a control group refuses a limit below what the guest uses already."""
RETRY_SECONDS = 0.1
"""When a control group that no descriptor was free for is emptied."""
DEFAULT_BUFFER_BYTES = 212_992


class ResourceLimit:
    """The limit of one guest. This base class limits nothing; it is for guests that only test the walls."""

    oom_fd: int | None = None  # readable when memory may have run out: then ask `was_out_of_memory`
    counts_sockets = True  # bytes that wait in sockets count too
    failure: str | None = None  # why the host could no longer enforce the limit, and killed the guest
    justified_bytes = 0  # the memory that a session may hold: a limit of this or an earlier run accounts for it

    def cgroup_fds(self) -> list[int]:
        """Descriptors through which the guest enters its control group by itself. Do not close them."""
        return []

    def limit(self, limits: Limits, roots: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        """Apply `limits` from now on. `roots`: the first processes of the tree, the longest-lived first."""
        raise AssertionError("a guest without limits must not get a script")

    def entrances(self) -> list[int]:
        """Descriptors to which the pid of a process is written to apply the limit to it. Do not close them.

        Until `limit` is called, that process may use only what every run may use, and start no other process.
        """
        return []

    def follow(self, source: ResourceLimit) -> None:
        """Note that the guest is a fork of the guest of `source`."""

    def share(self, reaper: int, others: Callable[[], Collection[int]]) -> None:
        """Note that guests with these pids live in the same jail, whose orphans `reaper` adopts."""

    def processes(self) -> list[int]:
        """The processes that the limit applies to, as far as that is known."""
        return []

    def prevent_forks(self) -> None:
        """Keep the guest, which is about to be killed, from starting more processes, if the limit can do that."""

    def renew(self, limits: Limits) -> None:
        """Apply the limits of the next run of a session. Memory that the session holds already counts too."""

    def rest(self) -> None:
        """Note that all processes are stopped, until `resume`."""

    def resume(self) -> None:
        """Note that the processes are about to go on."""

    def renewed_bytes(self, limits: Limits) -> int:
        """The memory limit of the next run of a session.

        The kernel refuses, or enforces by killing, a limit below what is in use. What the session holds may be more
        than this run's limit only because of an earlier run with a higher one: a little more for each run would add up.
        """
        held_bytes = min(self.held_bytes(), self.justified_bytes)
        self.justified_bytes = max(limits.memory_bytes, held_bytes)
        return max(limits.memory_bytes, held_bytes + LEAST_MEMORY_BYTES)

    def held_bytes(self) -> int:
        """The memory that the guest holds now, beyond what it held when it was made; 0 if that is not known."""
        return 0

    def left_bytes(self) -> int:
        """The memory that counts for this guest, which has ended, although others use it."""
        return 0  # where nothing counts, or where memory counts for those that map it

    def was_out_of_memory(self) -> bool:
        return False

    def stop(self) -> None:
        """Stop watching: `kill` is not called after this has returned."""

    def usage(self) -> tuple[float | None, int | None]:
        """CPU seconds and peak memory since `limit`; None for a value that is not known."""
        return None, None

    def group_cpu_seconds(self) -> float | None:
        """CPU seconds of all processes, those that have ended included; None if no control group counts them."""
        return None


class ResourceLimits:
    """The limits of all guests of one jail.

    The constructor blocks: once per boot it tries out control groups, which takes a tenth of a second, and records the
    outcome in `data_directory`. Raises JailUnavailable if nothing limits guests here, or if a control group is
    `required` and none can be used.
    """

    def __init__(self, usual: Limits, data_directory: str | None = None, *, required: bool = False) -> None:
        record = None if data_directory is None else Path(data_directory).expanduser() / "control-groups"
        try:
            found = find(record)
            if isinstance(found, str):
                _require_watcher(found, required=required)
            self._source: Slots | Watcher = Watcher() if isinstance(found, str) else Slots(found)
            self.shares_cpu = not isinstance(found, str) and found.share_cpu
            """Whether a guest has one share of the CPU, however many sessions its processes make."""
        except OSError as problem:
            raise JailUnavailable(f"the limits of guests could not be set up: {explain(problem)}") from None
        self._usual = usual
        # Emptying a control group can take milliseconds, so it is done in a thread.
        self._emptying = ThreadPoolExecutor(1, "paddock-slots")

    @property
    def counts_unmapped(self) -> bool:
        """Whether memory that no process has mapped counts too, such as the memory of an unmapped memfd."""
        return isinstance(self._source, Slots)

    async def take(self) -> ResourceLimit:
        if isinstance(self._source, Watcher):
            return WatchedLimit(self._source)
        free = self._source.take_free()
        return GroupLimit(await asyncio.to_thread(self._source.take) if free is None else free)

    def apply_usual(self, resource_limit: ResourceLimit) -> None:
        """Apply the usual limits to a waiting guest, so that a run with these limits starts faster.

        Raises JailUnavailable if the guest is not in its control group, because nothing would limit it.
        """
        if isinstance(resource_limit, GroupLimit):
            if resource_limit.slot.tasks() == 0:
                raise JailUnavailable("a guest did not enter its control group, so nothing would limit its memory")
            resource_limit.set(self._usual)

    def give_back(self, resource_limit: ResourceLimit) -> None:
        """Reuse the control group of a guest whose processes are all gone."""
        if isinstance(resource_limit, GroupLimit) and isinstance(self._source, Slots):
            is_settled = False
            with suppress(OSError):  # no descriptor is free just now; the thread may find one
                is_settled = self._source.settle(resource_limit.slot)
            if not is_settled:
                self._emptying.submit(self._source.give_back, resource_limit.slot).add_done_callback(_log_failure)

    async def empty(self, resource_limit: ResourceLimit) -> bool:
        """Kill what is left of a fork, and return whether it is gone.

        What it shares with its family stays, until `settle` finds it gone.
        """
        if not isinstance(resource_limit, GroupLimit):
            return True
        with suppress(OSError, RuntimeError):  # RuntimeError: all groups are being removed
            while True:
                try:
                    return await asyncio.get_running_loop().run_in_executor(self._emptying, resource_limit.slot.empty)
                except OSError as problem:
                    if problem.errno not in REMEDIES:
                        raise
                await asyncio.sleep(RETRY_SECONDS)  # no descriptor is free just now
        return False

    def settle(self, resource_limit: ResourceLimit) -> bool:
        """Reuse the control group of a fork that has ended, unless others still use its memory."""
        if isinstance(resource_limit, GroupLimit) and isinstance(self._source, Slots):
            with suppress(OSError):  # no descriptor is free
                if resource_limit.slot.is_settled():
                    self.give_back(resource_limit)
                    return True
            return False
        return True

    async def close(self) -> None:
        def close() -> None:
            self._emptying.shutdown()
            self._source.close()

        await asyncio.to_thread(close)


def _log_failure(done: Future[None]) -> None:
    if (problem := done.exception()) is not None:
        log.error("a control group could not be emptied: %s", problem, exc_info=problem)


def _require_watcher(no_group: str, *, required: bool) -> None:
    """Raise JailUnavailable if memory cannot be watched here, or if a control group is required."""
    if required:
        raise JailUnavailable(f"{REQUIRED}. {no_group}")
    if (reason := watcher_probe()) is not None:
        raise JailUnavailable(f"nothing limits the memory of guests here. {no_group}; or: {reason}")
    _warn_once()


@cache
def _warn_once() -> None:
    log.warning("%s; %s", BEST_EFFORT, REMEDY)


def narrow(limits: Limits, resource_limit: ResourceLimit, *, may_fork: bool) -> tuple[Limits, int | None]:
    """The limits for this guest, and how many files each of its processes may have open; None for the usual number.

    If nothing counts the bytes in sockets, processes x open files x `socket_bytes` is at most the memory limit, or
    160 MB if the limit is lower: ordinary scripts need a few processes and files. Threads count as processes. A process
    always has FEWEST_OPEN_FILES, however large the machine's sockets are.
    """
    if resource_limit.counts_sockets:
        return limits, None
    sockets = limits.memory_bytes // socket_bytes()
    if not may_fork:
        return limits, max(FEWEST_OPEN_FILES, sockets)
    usual = FEWEST_PROCESSES * FEWEST_OPEN_FILES * DEFAULT_BUFFER_BYTES * 3 // 2 // socket_bytes()
    fewest = min(FEWEST_PROCESSES, max(usual, sockets) // FEWEST_OPEN_FILES)
    processes = max(1, min(limits.processes, max(fewest, sockets // USUAL_OPEN_FILES)))
    return replace(limits, processes=processes), max(FEWEST_OPEN_FILES, sockets // processes)


@cache
def socket_bytes() -> int:
    """The most bytes that can wait in a socket. The last message may exceed the buffer by half its size."""
    with suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text()) * 3 // 2
    return DEFAULT_BUFFER_BYTES * 3 // 2


class GroupLimit(ResourceLimit):
    """A limit that the kernel enforces."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.oom_fd = slot.oom_fd

    def cgroup_fds(self) -> list[int]:
        return self.slot.entry_fds()

    def set(self, limits: Limits) -> None:
        self.slot.limit(max(limits.memory_bytes, LEAST_MEMORY_BYTES), max(1, limits.processes))

    def limit(self, limits: Limits, roots: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        self.justified_bytes = limits.memory_bytes
        self.set(limits)

    def entrances(self) -> list[int]:
        self.slot.limit(LEAST_MEMORY_BYTES, 1)
        return self.slot.entrances()

    def processes(self) -> list[int]:
        return self.slot.processes()

    def prevent_forks(self) -> None:
        with suppress(OSError):  # no descriptor is free
            self.slot.prevent_forks()

    def renew(self, limits: Limits) -> None:
        self.slot.count_anew()
        self.slot.limit(self.renewed_bytes(limits), max(1, limits.processes))

    def held_bytes(self) -> int:
        try:
            return self.slot.held_bytes()
        except OSError:
            return 0

    def left_bytes(self) -> int:
        return self.held_bytes()

    def was_out_of_memory(self) -> bool:
        return self.slot.was_out_of_memory()

    def usage(self) -> tuple[float | None, int | None]:
        try:
            used = self.slot.usage()
        except OSError:
            return None, None  # missing statistics must not fail a run
        return used.cpu_seconds, used.memory_peak_bytes

    def group_cpu_seconds(self) -> float | None:
        return self.usage()[0]


class WatchedLimit(ResourceLimit):
    """A limit that the host enforces."""

    counts_sockets = False

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._watched: Watched | None = None
        self._exceeded = False
        self._source: ResourceLimit | None = None  # counts this guest too, and ends both
        self._relatives: tuple[int, Callable[[], Collection[int]]] | None = None

    def limit(self, limits: Limits, roots: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        def exceeded(watched: Watched) -> None:
            if watched.error is None:
                self._exceeded = True
            else:
                reason = explain(watched.error) if isinstance(watched.error, OSError) else repr(watched.error)
                self.failure = f"the host could no longer check the script's memory, and ended the script: {reason}"
            kill()  # in the watcher's thread, because the event loop may be busy

        self.justified_bytes = limits.memory_bytes
        first, *others = roots()
        with suppress(ProcessLookupError):  # its death is noticed elsewhere
            self._watched = self._watcher.watch(first, limits.memory_bytes, exceeded, others)
            if self._relatives is not None:
                self._watched.share(*self._relatives)

    def follow(self, source: ResourceLimit) -> None:
        self._source = source

    def share(self, reaper: int, others: Callable[[], Collection[int]]) -> None:
        self._relatives = reaper, others
        if self._watched is not None:
            self._watched.share(reaper, others)

    def renew(self, limits: Limits) -> None:
        if self._watched is not None:
            self._watched.renew(self.renewed_bytes(limits))

    def rest(self) -> None:
        if self._watched is not None:
            self._watched.is_resting = True

    def resume(self) -> None:
        if self._watched is not None:
            self._watcher.resume(self._watched)

    def held_bytes(self) -> int:
        if self._watched is None:
            return 0
        if not self._watched.is_resting:  # what is stopped holds what it held
            self._watched.check()
        return self._watched.held_bytes

    def was_out_of_memory(self) -> bool:
        return self._exceeded or (self._source is not None and self._source.was_out_of_memory())

    def usage(self) -> tuple[float | None, int | None]:
        if self._watched is None:
            return None, None
        self._watched.check()
        return self._watched.cpu_seconds, self._watched.memory_peak_bytes

    def stop(self) -> None:
        if self._watched is not None:
            self._watched.stop()
