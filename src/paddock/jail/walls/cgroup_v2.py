"""A slot on cgroup v2: one group with all controllers."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from paddock.jail.walls.cgroup_end import end_members, remove, write
from paddock.jail.walls.cgroup_files import Files, Usage
from paddock.jail.walls.cgroup_v1 import SETTLED_BYTES, USUAL_WEIGHT

TOLD_AT_THE_END = ("memory.current", "memory.events", "cpu.stat")


class SlotV2:
    """One group. The kernel itself ends all of it when one of its processes is killed for memory.

    That needs Linux 4.19 (`memory.oom.group`). Before 6.12 a peak cannot be reset: the slot is then used once.
    """

    oom_fd: int | None = None

    def __init__(self, group: Path, *, kept: bool = True) -> None:
        self._group = group
        self._files = Files(group, kept=kept)
        self._peak_fd: int | None = None
        try:
            self._make(group)
        except OSError:
            # No descriptor, no room: what was opened until then would be missing for ever.
            with contextlib.suppress(OSError):
                self.remove()
            raise

    def _make(self, group: Path) -> None:
        group.mkdir()
        write(f"{group}/memory.oom.group", "1")
        if (group / "memory.swap.max").exists():
            write(f"{group}/memory.swap.max", "0")
        self._weighted = (group / "cpu.weight").exists()
        self._limits: tuple[int, int, int] | None = None
        self._peak_fd, self.reusable = self._open_peak()
        self._take_baseline()
        self._count_from_here()

    def _open_peak(self) -> tuple[int | None, bool]:
        # A reset is seen by the descriptor that wrote it alone, so it stays open.
        for flags, reusable in ((os.O_RDWR, True), (os.O_RDONLY, False)):
            with contextlib.suppress(OSError):
                return os.open(self._group / "memory.peak", flags | os.O_CLOEXEC), reusable
        return None, False

    def enter(self, pid: int) -> None:
        """Move a process with its threads; what it has allocated stays with its old group.

        Takes 5 to 30 ms after a quiet moment (the kernel waits for RCU), 0.2 ms in a row: a thread's work.
        """
        write(f"{self._group}/cgroup.procs", str(pid))

    def doors(self) -> list[int]:
        """A descriptor to which a child writes b"0" to enter by itself; it stays ours. Never left open in a guest.

        The kernel asks whether who opened it may move a process here, and not what the child may.
        """
        return [self._files.fd("cgroup.procs", os.O_WRONLY)]

    def limit(self, memory_bytes: int, processes: int, cpu_weight: int = USUAL_WEIGHT) -> None:
        """Allow this much above the baseline, which is what is charged now, and so many tasks; those of now are one.

        The first call after `reset()` takes the baseline (0.2 ms); a later one only changes the numbers, at no cost
        where they are the same. So call it once while the guest waits, with the usual limits.
        """
        if self._limits is None:
            self._take_baseline()
        wanted = (memory_bytes, processes, cpu_weight)
        memory_now, processes_now, weight_now = self._limits or (None, None, USUAL_WEIGHT)
        if memory_bytes != memory_now:
            self._files.write("memory.max", str(self._baseline + memory_bytes))
        if processes != processes_now:
            self._files.write("pids.max", str(self._others + processes))
        if self._weighted and cpu_weight != weight_now:
            self._files.write("cpu.weight", str(cpu_weight))
        self._limits = wanted
        self._files.rest(but=TOLD_AT_THE_END)

    def _take_baseline(self) -> None:
        self._baseline = self._files.number("memory.current")
        if self._peak_fd is not None and self.reusable:
            os.pwrite(self._peak_fd, b"reset", 0)
        self._others = max(self._files.number("pids.current") - 1, 0)
        self._cpu_before = self._cpu_microseconds()
        # Now: at the end of a run, it would be lost where no descriptor is free.
        self._files.fd("memory.events", os.O_RDONLY)

    def usage(self) -> Usage:
        """What was used since `limit()`. Before Linux 5.19 there is no peak: the memory is that of this moment."""
        spent = self._cpu_microseconds()
        return Usage(
            max(self._peak() - self._baseline, 0),
            None if spent is None or self._cpu_before is None else (spent - self._cpu_before) / 1e6,
        )

    def processes(self) -> int:
        """How many are in it now, threads counted."""
        return self._files.number("pids.current")

    def was_out_of_memory(self) -> bool:
        """Whether the group's own limit, or the kernel for want of memory, ended a process of it since `reset()`."""
        return self._oom_kills() > self._kills_before

    def is_settled(self) -> bool:
        """Whether a guest that came all the way in is gone with all of its own: `kill` and `reset` are then quick."""
        return (
            self._limits is not None and self.processes() == 0 and self._files.number("memory.current") <= SETTLED_BYTES
        )

    def kill(self) -> bool:
        """Kill everything in the group; whether it is empty now. Takes as long as its memory takes to free."""
        if (self._group / "cgroup.kill").exists():
            write(f"{self._group}/cgroup.kill", "1")
        else:
            # Before Linux 5.14.
            write(f"{self._group}/pids.max", "0")
        return end_members(self._group)

    def reset(self) -> None:
        """Make an empty group as new: unlimited, without cached pages, counting from here. Milliseconds if full."""
        self._files.write("memory.max", "max")
        self._files.write("pids.max", "max")
        if self._weighted and self._limits and self._limits[2] != USUAL_WEIGHT:
            self._files.write("cpu.weight", str(USUAL_WEIGHT))
        left = self._files.number("memory.current")
        if left > SETTLED_BYTES:
            # EAGAIN: not all of it could be dropped. What stays is in the baseline of the next guest.
            with contextlib.suppress(FileNotFoundError, BlockingIOError):
                write(f"{self._group}/memory.reclaim", str(left))
        self._count_from_here()

    def remove(self) -> None:
        """Remove the group, which must be empty."""
        if self._peak_fd is not None:
            os.close(self._peak_fd)
            self._peak_fd = None
        self._files.close()
        remove(self._group)

    def _count_from_here(self) -> None:
        self._limits = None
        self._kills_before = self._oom_kills()
        self._files.rest()

    def _peak(self) -> int:
        if self._peak_fd is None:
            return self._files.number("memory.current")
        return int(os.pread(self._peak_fd, 64, 0))

    def _oom_kills(self) -> int:
        kills = self._files.field("memory.events", "oom_kill")
        if kills is None:
            raise OSError(f"{self._group}/memory.events counts no oom_kill")
        return kills

    def _cpu_microseconds(self) -> int | None:
        return self._files.field("cpu.stat", "usage_usec")
