"""How much a guest's whole tree may use: by a control group where there is one, else by a watcher.

Both count above what the guest had when it was still waiting. What a control group forbids does not happen; what a
watcher sees has happened, by as much as a tree can take between two looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from paddock.errors import JailUnavailable
from paddock.jail.walls.cgroup import Slot, Slots, available
from paddock.jail.walls.cgroup import probe as cgroup_probe
from paddock.jail.walls.watcher import Watched, Watcher
from paddock.jail.walls.watcher import probe as watcher_probe
from paddock.model.limits import Limits


class Bound(Protocol):
    """The bound of one guest."""

    oom_fd: int | None  # readable when memory may have run out: then `was_out_of_memory` knows

    def doors(self) -> list[int]:
        """Descriptors through which the guest enters by itself; they stay the bound's."""
        ...

    def limit(self, limits: Limits, roots: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        """From now on; `roots` are the first processes of the tree, the one that ends last first; `kill` ends it."""
        ...

    def was_out_of_memory(self) -> bool: ...

    def stop(self) -> None:
        """The guest is gone: `kill` is not called once this has returned."""
        ...

    def usage(self) -> tuple[float | None, int | None]:
        """Seconds of processor time and the most bytes of memory since `limit`; None for what cannot be told."""
        ...


class Bounds:
    """The bounds of all guests. Making it blocks, for a tenth of a second until `data_directory` has a note of it."""

    def __init__(self, usual: Limits, data_directory: str | None = None) -> None:
        record = None if data_directory is None else Path(data_directory).expanduser() / "control-groups"
        controllers = available(record)
        self._source: Slots | Watcher = Watcher() if controllers is None else Slots(controllers)
        if controllers is None and (reason := watcher_probe()) is not None:
            raise JailUnavailable(f"nothing bounds the memory of guests here. {cgroup_probe()}; or: {reason}")
        self._usual = usual
        # Emptying a slot that was left full can take milliseconds, and nobody waits for it: a thread of its own.
        self._emptying = ThreadPoolExecutor(1, "paddock-slots")

    @property
    def counts_unmapped(self) -> bool:
        """Whether memory counts that no process maps."""
        return isinstance(self._source, Slots)

    async def take(self) -> Bound:
        if isinstance(self._source, Watcher):
            return UnderWatch(self._source)
        free = self._source.take_free()
        return InSlot(await asyncio.to_thread(self._source.take) if free is None else free)

    def ahead(self, bound: Bound) -> None:
        """The guest is there and waits: limit it as most runs will, so that little is left to do when one comes.

        JailUnavailable where it is not in its control group: then nothing would be limited.
        """
        if isinstance(bound, InSlot):
            if bound.slot.processes() == 0:
                raise JailUnavailable("a guest did not come into its control group, so nothing would bound its memory")
            bound.set(self._usual)

    def give_back(self, bound: Bound) -> None:
        """The guest is gone."""
        if isinstance(bound, InSlot) and isinstance(self._source, Slots):
            is_settled = False
            with suppress(OSError):  # no descriptor is free just now; the thread may find one
                is_settled = self._source.settle(bound.slot)
            if not is_settled:
                self._emptying.submit(self._source.give_back, bound.slot)

    async def close(self) -> None:
        def close() -> None:
            self._emptying.shutdown()
            self._source.close()

        await asyncio.to_thread(close)


class InSlot:
    """A bound that the kernel keeps."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.oom_fd = slot.oom_fd

    def doors(self) -> list[int]:
        return self.slot.doors()

    def set(self, limits: Limits) -> None:
        self.slot.limit(limits.memory_bytes, max(1, limits.processes))

    def limit(self, limits: Limits, roots: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        self.set(limits)

    def was_out_of_memory(self) -> bool:
        return self.slot.was_out_of_memory()

    def stop(self) -> None: ...

    def usage(self) -> tuple[float | None, int | None]:
        try:
            used = self.slot.usage()
        except OSError:
            return None, None  # what a run has used is not worth the run
        return used.cpu_seconds, used.memory_peak_bytes


class UnderWatch:
    """A bound that the host keeps."""

    oom_fd: int | None = None

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._watched: Watched | None = None
        self._exceeded = False

    def doors(self) -> list[int]:
        return []

    def limit(self, limits: Limits, roots: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        def exceeded(watched: Watched) -> None:
            self._exceeded = True
            kill()  # at once, in the watcher's thread: the event loop may be busy

        first, *others = roots()
        with suppress(ProcessLookupError):  # it has just died, which is noticed elsewhere
            self._watched = self._watcher.watch(first, limits.memory_bytes, exceeded, others)

    def was_out_of_memory(self) -> bool:
        return self._exceeded

    def usage(self) -> tuple[float | None, int | None]:
        if self._watched is None:
            return None, None
        self._watched.look()
        return self._watched.cpu_seconds, self._watched.memory_peak_bytes

    def stop(self) -> None:
        if self._watched is not None:
            self._watched.stop()


class Unbounded:
    """No bound: for a guest that is tried and gets no script."""

    oom_fd: int | None = None

    def doors(self) -> list[int]:
        return []

    def limit(self, limits: Limits, roots: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        raise AssertionError("a guest without a bound gets no script")

    def was_out_of_memory(self) -> bool:
        return False

    def stop(self) -> None: ...

    def usage(self) -> tuple[float | None, int | None]:
        return None, None
