"""One slot, a control group for one guest at a time, on cgroup v1 and on cgroup v2."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.jail.walls.cleanup import end_members, remove, write

FILE_BYTES = 4096
"""More than any file of numbers has."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of a slot have used since `limit()`.

    `memory_peak_bytes` is above the baseline. `cpu_seconds` is None where no controller counts it.
    """

    memory_peak_bytes: int
    cpu_seconds: float | None


class Files:
    """The files of one group that are used for every guest. With `kept` they stay open, because opening takes longest.

    Not for reading `cgroup.procs`: on v1 a descriptor that was read before shows an old list.
    """

    def __init__(self, group: Path, *, kept: bool) -> None:
        self._group = group
        self._kept = kept
        self._fds: dict[tuple[str, int], int] = {}

    def fd(self, name: str, mode: int) -> int:
        """A descriptor of the file. Do not close it."""
        fd = self._fds.get((name, mode))
        if fd is None:
            fd = self._fds[name, mode] = os.open(self._group / name, mode | os.O_CLOEXEC)
        return fd

    def number(self, name: str) -> int:
        """Read a file that holds one number."""
        return int(os.pread(self.fd(name, os.O_RDONLY), FILE_BYTES, 0))

    def field(self, name: str, key: str) -> int | None:
        """Read a number from a file of `name number` lines; None if this kernel does not count it."""
        return _field(os.pread(self.fd(name, os.O_RDONLY), FILE_BYTES, 0).decode(), key)

    def write(self, name: str, text: str) -> None:
        """Write a value. Lowering a limit may block for milliseconds; the rest takes microseconds."""
        try:
            os.pwrite(self.fd(name, os.O_WRONLY), text.encode(), 0)
        except OSError as error:
            raise OSError(error.errno, f"cannot write {text}: {error.strerror}", f"{self._group}/{name}") from error

    def rest(self, but: Container[str] = ()) -> None:
        """Close the files until they are used again, unless they are kept, `but` for these, which will be read."""
        if not self._kept:
            for name, mode in list(self._fds):
                if name not in but or mode != os.O_RDONLY:
                    os.close(self._fds.pop((name, mode)))

    def close(self) -> None:
        while self._fds:
            os.close(self._fds.popitem()[1])


def _field(text: str, name: str) -> int | None:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return None


UNLIMITED = "-1"
TOLD_AT_THE_END_V1 = ("memory.max_usage_in_bytes", "memory.oom_control", "cpuacct.usage")
USUAL_WEIGHT = 100
SETTLED_BYTES = 4 * 1024 * 1024
"""How much of one guest may be left in the baseline of the next: dropping it takes half a millisecond."""


class SlotV1:
    """Groups of one name in the hierarchies of memory and pids and, if mounted, cpu and cpuacct.

    `oom_fd` becomes readable when the group runs out of memory: v1 kills one process, and the host must end the rest.
    It also fires for a parent group: ask `was_out_of_memory()`, which resets it.
    """

    reusable = True

    def __init__(self, groups: Mapping[str, Path], *, kept: bool = True) -> None:
        # Controllers may be mounted together: one directory is then made, and entered, once.
        self._groups = {group: Files(group, kept=kept) for group in groups.values()}
        self._memory, self._pids = self._groups[groups["memory"]], self._groups[groups["pids"]]
        self._cpu, self._cpuacct = (self._groups.get(groups.get(name, Path())) for name in ("cpu", "cpuacct"))
        self.oom_fd: int | None = None
        try:
            self._make(groups)
        except OSError:
            # No descriptor, no room: what was opened until then must be closed.
            with contextlib.suppress(OSError):
                self.remove()
            raise

    def _make(self, groups: Mapping[str, Path]) -> None:
        for group in self._groups:
            group.mkdir()
        self._swap_counts = (groups["memory"] / "memory.memsw.limit_in_bytes").exists()
        if not self._swap_counts:
            write(f"{groups['memory']}/memory.swappiness", "0")
        if self._memory.field("memory.oom_control", "oom_kill_disable"):
            write(f"{groups['memory']}/memory.oom_control", "0")
        self._limits: tuple[int, int, int] | None = None
        self.oom_fd = self._notified(groups["memory"])
        self._take_baseline()
        self._count_from_here()

    def _notified(self, group: Path) -> int:
        fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        try:
            write(f"{group}/cgroup.event_control", f"{fd} {self._memory.fd('memory.oom_control', os.O_RDONLY)}")
        except OSError:
            os.close(fd)
            raise
        return fd

    def enter(self, pid: int) -> None:
        """Move a process with its threads. What it has allocated stays with its old group.

        Takes 5 to 30 ms after a quiet moment (the kernel waits for RCU), 0.2 ms in a row: call it in a thread.
        """
        for group in self._groups:
            write(f"{group}/cgroup.procs", str(pid))

    def doors(self) -> list[int]:
        """Descriptors to which a single-threaded child writes b"0" to enter by itself, in 0.1 ms. Do not close them.

        The kernel takes no system-wide lock for a thread that moves itself. They must not stay open in a guest.
        """
        return [files.fd("tasks", os.O_WRONLY) for files in self._groups.values()]

    def limit(self, memory_bytes: int, processes: int, cpu_weight: int = USUAL_WEIGHT) -> None:
        """Allow this much memory above the baseline, and so many tasks, where those of the baseline count as one.

        The first call after `reset()` takes the baseline (0.2 ms). A later call only changes the numbers, and is free
        if they are the same. So call it once while the guest waits, with the usual limits.
        """
        if self._limits is None:
            self._take_baseline()
        wanted = (memory_bytes, processes, cpu_weight)
        memory_now, processes_now, weight_now = self._limits or (None, None, USUAL_WEIGHT)
        if memory_bytes != memory_now:
            files = ["memory.limit_in_bytes"] + ["memory.memsw.limit_in_bytes"] * self._swap_counts
            # The memory limit may never be above that of memory and swap together, not even between two writes.
            for file in reversed(files) if memory_now is not None and memory_bytes > memory_now else files:
                self._memory.write(file, str(self._baseline + memory_bytes))
        if processes != processes_now:
            self._pids.write("pids.max", str(self._others + processes))
        if self._cpu and cpu_weight != weight_now:
            self._cpu.write("cpu.shares", str(shares(cpu_weight)))
        self._limits = wanted
        self._rest(but=TOLD_AT_THE_END_V1)

    def _take_baseline(self) -> None:
        self._baseline = self._memory.number("memory.usage_in_bytes")
        self._memory.write("memory.max_usage_in_bytes", "0")
        self._others = max(self._pids.number("pids.current") - 1, 0)
        self._cpu_before = self._cpu_nanoseconds()
        # Opened now: at the end of a run there may be no free descriptor.
        for name in ("memory.max_usage_in_bytes", "memory.oom_control"):
            self._memory.fd(name, os.O_RDONLY)

    def usage(self) -> Usage:
        """What was used since `limit()`."""
        spent = self._cpu_nanoseconds()
        return Usage(
            max(self._memory.number("memory.max_usage_in_bytes") - self._baseline, 0),
            None if spent is None or self._cpu_before is None else (spent - self._cpu_before) / 1e9,
        )

    def processes(self) -> int:
        """How many tasks are in it now: processes and threads."""
        return self._pids.number("pids.current")

    def was_out_of_memory(self) -> bool:
        """Whether the kernel killed a process of the group for lack of memory since `reset()`."""
        if self.oom_fd is not None:
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self.oom_fd)
                self._noticed = True
        if self._oom_kills() > self._kills_before:
            return True
        # The host may have killed the tree on the notice, before the kernel killed, and counted, a process.
        return self._noticed and self._reached_limit()

    def is_settled(self) -> bool:
        """Whether the guest is gone with everything of its own, so that `reset` is quick and `kill` not needed."""
        # No process leaves a group alive, and one that was born in the group of pids is in the others too.
        return (
            self._limits is not None
            and self.processes() == 0
            and self._memory.number("memory.usage_in_bytes") <= SETTLED_BYTES
        )

    def kill(self) -> bool:
        """Kill everything in the group; whether it is empty now. Takes as long as freeing its memory."""
        self._pids.write("pids.max", "0")
        return not [group for group in self._groups if not end_members(group)]

    def reset(self) -> None:
        """Make an empty group as new: no limits, no cached pages, counters reset. Takes milliseconds if it was full."""
        if self._swap_counts:
            self._memory.write("memory.memsw.limit_in_bytes", UNLIMITED)
        self._memory.write("memory.limit_in_bytes", UNLIMITED)
        if self._memory.number("memory.usage_in_bytes") > SETTLED_BYTES:
            self._memory.write("memory.force_empty", "0")
        self._pids.write("pids.max", "max")
        if self._cpu and self._limits and self._limits[2] != USUAL_WEIGHT:
            self._cpu.write("cpu.shares", str(shares(USUAL_WEIGHT)))
        self._count_from_here()

    def remove(self) -> None:
        """Remove the groups, which must be empty."""
        if self.oom_fd is not None:
            os.close(self.oom_fd)
            self.oom_fd = None
        for files in self._groups.values():
            files.close()
        for group in self._groups:
            remove(group)

    def _rest(self, but: Container[str] = ()) -> None:
        for files in self._groups.values():
            files.rest(but)

    def _count_from_here(self) -> None:
        self._limits = None
        self._noticed = False
        if self.oom_fd is not None:
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self.oom_fd)
        self._kills_before = self._oom_kills()
        self._rest()

    def _oom_kills(self) -> int:
        kills = self._memory.field("memory.oom_control", "oom_kill")
        if kills is None:
            raise OSError("memory.oom_control counts no oom_kill: it needs Linux 4.13 or newer")
        return kills

    def _reached_limit(self) -> bool:
        """Whether a notice is about our own limit and not a parent's. The allocation that failed is small."""
        if self._limits is None:
            return False
        # Not memory.failcnt: recent kernels do not count in it.
        ceiling = self._baseline + self._limits[0]
        return self._memory.number("memory.max_usage_in_bytes") > ceiling - 2**20

    def _cpu_nanoseconds(self) -> int | None:
        return self._cpuacct.number("cpuacct.usage") if self._cpuacct else None


def shares(cpu_weight: int) -> int:
    """A weight of cgroup v2 (1 to 10,000, 100 is usual) as shares of v1."""
    return max(cpu_weight * 1024 // 100, 2)


TOLD_AT_THE_END_V2 = ("memory.current", "memory.events", "cpu.stat")


class SlotV2:
    """One group. When a process of it is killed for memory, the kernel kills the whole group.

    That needs Linux 4.19 (`memory.oom.group`). Before 6.12 the peak cannot be reset, and the slot is used once.
    """

    oom_fd: int | None = None

    def __init__(self, group: Path, *, kept: bool = True) -> None:
        self._group = group
        self._files = Files(group, kept=kept)
        self._peak_fd: int | None = None
        try:
            self._make(group)
        except OSError:
            # No descriptor, no room: what was opened until then must be closed.
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
        # Only the descriptor that wrote a reset sees it, so it stays open.
        for flags, reusable in ((os.O_RDWR, True), (os.O_RDONLY, False)):
            with contextlib.suppress(OSError):
                return os.open(self._group / "memory.peak", flags | os.O_CLOEXEC), reusable
        return None, False

    def enter(self, pid: int) -> None:
        """Move a process with its threads. What it has allocated stays with its old group.

        Takes 5 to 30 ms after a quiet moment (the kernel waits for RCU), 0.2 ms in a row: call it in a thread.
        """
        write(f"{self._group}/cgroup.procs", str(pid))

    def doors(self) -> list[int]:
        """A descriptor to which a child writes b"0" to enter by itself. Do not close it.

        The kernel checks the permissions of the process that opened it. It must not stay open in a guest.
        """
        return [self._files.fd("cgroup.procs", os.O_WRONLY)]

    def limit(self, memory_bytes: int, processes: int, cpu_weight: int = USUAL_WEIGHT) -> None:
        """Allow this much memory above the baseline, and so many tasks, where those of the baseline count as one.

        The first call after `reset()` takes the baseline (0.2 ms). A later call only changes the numbers, and is free
        if they are the same. So call it once while the guest waits, with the usual limits.
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
        self._files.rest(but=TOLD_AT_THE_END_V2)

    def _take_baseline(self) -> None:
        self._baseline = self._files.number("memory.current")
        if self._peak_fd is not None and self.reusable:
            os.pwrite(self._peak_fd, b"reset", 0)
        self._others = max(self._files.number("pids.current") - 1, 0)
        self._cpu_before = self._cpu_microseconds()
        # Opened now: at the end of a run there may be no free descriptor.
        self._files.fd("memory.events", os.O_RDONLY)

    def usage(self) -> Usage:
        """What was used since `limit()`. Before Linux 5.19 there is no peak, and the current memory is returned."""
        spent = self._cpu_microseconds()
        return Usage(
            max(self._peak() - self._baseline, 0),
            None if spent is None or self._cpu_before is None else (spent - self._cpu_before) / 1e6,
        )

    def processes(self) -> int:
        """How many tasks are in it now: processes and threads."""
        return self._files.number("pids.current")

    def was_out_of_memory(self) -> bool:
        """Whether the kernel killed a process of the group for lack of memory since `reset()`."""
        return self._oom_kills() > self._kills_before

    def is_settled(self) -> bool:
        """Whether the guest is gone with everything of its own, so that `reset` is quick and `kill` not needed."""
        return (
            self._limits is not None and self.processes() == 0 and self._files.number("memory.current") <= SETTLED_BYTES
        )

    def kill(self) -> bool:
        """Kill everything in the group; whether it is empty now. Takes as long as freeing its memory."""
        if (self._group / "cgroup.kill").exists():
            write(f"{self._group}/cgroup.kill", "1")
        else:
            # Before Linux 5.14.
            write(f"{self._group}/pids.max", "0")
        return end_members(self._group)

    def reset(self) -> None:
        """Make an empty group as new: no limits, no cached pages, counters reset. Takes milliseconds if it was full."""
        self._files.write("memory.max", "max")
        self._files.write("pids.max", "max")
        if self._weighted and self._limits and self._limits[2] != USUAL_WEIGHT:
            self._files.write("cpu.weight", str(USUAL_WEIGHT))
        left = self._files.number("memory.current")
        if left > SETTLED_BYTES:
            # EAGAIN: not all of it could be dropped. The rest is in the baseline of the next guest.
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
