"""A slot, which is a control group for one guest at a time, on cgroup v1 and on cgroup v2."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paddock.jail.walls.cleanup import end_members, members, remove, write

FILE_BYTES = 4096
"""An upper bound on the length of the files that are read here."""
SETTLED_BYTES = 4 * 1024 * 1024
"""How much memory of one guest may stay, as part of the next guest's baseline. Freeing it takes half a millisecond."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of a slot have used since `limit()`.

    `memory_peak_bytes` does not include the baseline. `cpu_seconds` is None if no controller counts it.
    """

    memory_peak_bytes: int
    cpu_seconds: float | None


class Files:
    """The files of one group that are used for every guest. With `kept` they stay open, because opening them is slow.

    Do not read `cgroup.procs` through this: on v1 a descriptor that was read before shows an old list.
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
        for line in os.pread(self.fd(name, os.O_RDONLY), FILE_BYTES, 0).decode().splitlines():
            found, _, value = line.partition(" ")
            if found == key:
                return int(value)
        return None

    def write(self, name: str, text: str) -> None:
        """Write a value. Lowering a limit may block for milliseconds; other writes take microseconds."""
        try:
            os.pwrite(self.fd(name, os.O_WRONLY), text.encode(), 0)
        except OSError as error:
            raise OSError(error.errno, f"cannot write {text}: {error.strerror}", f"{self._group}/{name}") from error

    def close_unused(self, needed: Container[str] = ()) -> None:
        """Without `kept`, close all files except those in `needed`, which will be read. Files reopen when used."""
        if not self._kept:
            for name, mode in list(self._fds):
                if name not in needed or mode != os.O_RDONLY:
                    os.close(self._fds.pop((name, mode)))

    def close(self) -> None:
        while self._fds:
            os.close(self._fds.popitem()[1])


class Slot(ABC):
    """A control group for one guest at a time. On v1 it is a group in each hierarchy, all with the same name.

    `oom_fd` becomes readable when the group runs out of memory and the host must end the process tree. If it is None,
    the kernel ends the tree.
    """

    oom_fd: int | None = None
    reusable = True
    _entrance: ClassVar[str]  # where a child writes to enter by itself
    _usage_file: ClassVar[str]
    _oom_file: ClassVar[str]
    _final_files: ClassVar[tuple[str, ...]]
    """Read when a guest has ended. They are open while it runs, because later there may be no free descriptor."""

    def __init__(self, groups: Mapping[str, Path], *, kept: bool = True) -> None:
        # Controllers may be mounted together: their directory is then made, and entered, once.
        self._groups = {group: Files(group, kept=kept) for group in groups.values()}
        self._memory, self._pids = self._groups[groups["memory"]], self._groups[groups["pids"]]
        self._cpuacct = self._groups.get(groups.get("cpuacct", Path()))
        self._limits: tuple[int, int] | None = None
        try:
            for group in self._groups:
                group.mkdir()
            self._set_up(groups["memory"])
            self._take_baseline()
            self._start_counting()
        except OSError:
            # Out of descriptors or memory: close the files that were opened so far.
            with contextlib.suppress(OSError):
                self.remove()
            raise

    def enter(self, pid: int) -> None:
        """Move a process with its threads. What it has allocated stays with its old group.

        Takes 5 to 30 ms (the kernel waits for RCU), or 0.2 ms right after another move. Call it in a thread.
        """
        for group in self._groups:
            write(f"{group}/cgroup.procs", str(pid))

    def entrances(self) -> list[int]:
        """Descriptors to which a pid is written, as `enter` does. The kernel looks for it in the writer's namespace.

        The group of pids is first: if it allows one process, none can be started that would be in some groups only.
        """
        groups = sorted(self._groups.values(), key=lambda files: files is not self._pids)
        return [files.fd("cgroup.procs", os.O_WRONLY) for files in groups]

    def entry_fds(self) -> list[int]:
        """Descriptors to which a single-threaded child writes b"0" to enter by itself, in 0.1 ms. Do not close them.

        The kernel checks the permissions of the process that opened them. They must not stay open in a guest.
        """
        return [files.fd(self._entrance, os.O_WRONLY) for files in self._groups.values()]

    def limit(self, memory_bytes: int, processes: int) -> None:
        """Allow this much memory above the baseline, and this many tasks. The tasks of the baseline count as one.

        The first call after `reset()` takes the baseline (0.2 ms). A later call only changes the numbers, and is free
        if they are the same. So call it once while the guest waits, with the usual limits.
        """
        if self._limits is None:
            self._take_baseline()
        memory_now, processes_now = self._limits or (None, None)
        if memory_bytes != memory_now:
            self._limit_memory(memory_bytes)
        if processes != processes_now:
            self._pids.write("pids.max", str(self._others + processes))
        self._limits = memory_bytes, processes
        self._close_unused(self._final_files)

    def _take_baseline(self) -> None:
        self._baseline = self._memory.number(self._usage_file)
        self._reset_peak()
        self._others = max(self._pids.number("pids.current") - 1, 0)  # tasks that are not counted
        self._cpu_before = self._cpu_nanoseconds()
        self._memory.fd(self._oom_file, os.O_RDONLY)

    def count_anew(self) -> None:
        """Let `usage` count from now on, above the same baseline: another run of the same guest begins."""
        self._reset_peak()
        self._cpu_before = self._cpu_nanoseconds()

    def held_bytes(self) -> int:
        """The memory in use now, above the baseline."""
        return max(self._memory.number(self._usage_file) - self._baseline, 0)

    def usage(self) -> Usage:
        """What was used since `limit()`. On v2 before Linux 5.19 the peak is the current memory."""
        spent = self._cpu_nanoseconds()
        return Usage(
            max(self._peak() - self._baseline, 0),
            None if spent is None or self._cpu_before is None else (spent - self._cpu_before) / 1e9,
        )

    def tasks(self) -> int:
        """How many tasks, that is processes and threads, are in the group now."""
        return self._pids.number("pids.current")

    def processes(self) -> list[int]:
        """The processes in the group now."""
        return sorted(members(next(iter(self._groups))))

    def was_out_of_memory(self) -> bool:
        """Whether the kernel killed a process of the group for lack of memory since `reset()`."""
        return self._oom_kills() > self._kills_before

    def is_settled(self) -> bool:
        """Whether the guest and nearly all its memory are gone, so that `reset` is quick and `kill` is not needed."""
        # A guest cannot leave its group, and a process in the group of pids is in the other groups too.
        return self._limits is not None and self.tasks() == 0 and self._memory.number(self._usage_file) <= SETTLED_BYTES

    def kill(self) -> bool:
        """Kill everything in the group. Returns whether it is empty now. Takes as long as freeing its memory."""
        self.prevent_forks()
        return not [group for group in self._groups if not end_members(group)]

    def empty(self) -> bool:
        """Kill everything in the group, and free its cached pages. Returns whether no process is left.

        What is left is memory that other groups use.
        """
        is_empty = self.kill()
        if is_empty:
            self._reclaim()
        return is_empty

    def reset(self) -> None:
        """Reset an empty group: no limits, no cached pages, new counters. Takes milliseconds if it was full."""
        self._pids.write("pids.max", "max")
        self._reset_memory()
        self._start_counting()

    def close(self) -> None:
        """Close all files, for ever. The groups stay."""
        self.reusable = False
        for files in self._groups.values():
            files.close()

    def remove(self) -> None:
        """Remove the groups, which must be empty."""
        self.close()
        for group in self._groups:
            remove(group)

    def _start_counting(self) -> None:
        self._limits = None
        self._kills_before = self._oom_kills()
        self._close_unused()

    def _close_unused(self, needed: Container[str] = ()) -> None:
        for files in self._groups.values():
            files.close_unused(needed)

    def _oom_kills(self) -> int:
        kills = self._memory.field(self._oom_file, "oom_kill")
        if kills is None:
            raise OSError(f"{self._oom_file} has no oom_kill counter: that needs Linux 4.13 or newer")
        return kills

    @abstractmethod
    def _set_up(self, group: Path) -> None:
        """Prepare the new groups; `group` is the group of the memory controller."""

    @abstractmethod
    def prevent_forks(self) -> None:
        """Prevent forks before a kill, and kill everything if the kernel can do that at once."""

    @abstractmethod
    def _limit_memory(self, memory_bytes: int) -> None: ...
    @abstractmethod
    def _reset_memory(self) -> None: ...
    @abstractmethod
    def _reclaim(self) -> None: ...
    @abstractmethod
    def _peak(self) -> int: ...
    @abstractmethod
    def _reset_peak(self) -> None: ...
    @abstractmethod
    def _cpu_nanoseconds(self) -> int | None: ...


class SlotV1(Slot):
    """Groups in the hierarchies of memory and pids and, if mounted, cpu and cpuacct.

    The kernel kills one process that runs out of memory, and the host must end the others. `oom_fd` also fires for a
    parent group: ask `was_out_of_memory()`, which resets it.
    """

    _entrance = "tasks"  # unlike cgroup.procs, it takes no system-wide lock for a thread that moves itself
    _usage_file = "memory.usage_in_bytes"
    _oom_file = "memory.oom_control"
    _final_files = ("memory.max_usage_in_bytes", "memory.oom_control", "cpuacct.usage")

    def _set_up(self, group: Path) -> None:
        self._limit_files = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
        if not (group / self._limit_files[1]).exists():
            self._limit_files.pop()
            write(f"{group}/memory.swappiness", "0")
        if self._memory.field("memory.oom_control", "oom_kill_disable"):
            write(f"{group}/memory.oom_control", "0")
        fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        try:
            write(f"{group}/cgroup.event_control", f"{fd} {self._memory.fd('memory.oom_control', os.O_RDONLY)}")
        except OSError:
            os.close(fd)
            raise
        self.oom_fd = fd

    def _limit_memory(self, memory_bytes: int) -> None:
        # The limit on memory may never exceed the limit on memory and swap together, not even between two writes.
        is_higher = self._limits is not None and memory_bytes > self._limits[0]
        for file in reversed(self._limit_files) if is_higher else self._limit_files:
            self._memory.write(file, str(self._baseline + memory_bytes))

    def _reset_memory(self) -> None:
        for file in reversed(self._limit_files):
            self._memory.write(file, "-1")
        if self._memory.number(self._usage_file) > SETTLED_BYTES:
            self._reclaim()

    def _reclaim(self) -> None:
        self._memory.write("memory.force_empty", "0")

    def was_out_of_memory(self) -> bool:
        self._read_notice()
        # The host may have killed the tree on the notice, before the kernel killed, and counted, a process.
        return super().was_out_of_memory() or (self._was_notified and self._reached_limit())

    def _read_notice(self) -> None:
        if self.oom_fd is not None:
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self.oom_fd)
                self._was_notified = True

    def _reached_limit(self) -> bool:
        """Whether a notice is about the slot's own limit, not a parent's: then the peak is within 1 MB of it."""
        if self._limits is None:
            return False
        # Not memory.failcnt: recent kernels no longer update it.
        return self._peak() > self._baseline + self._limits[0] - 2**20

    def prevent_forks(self) -> None:
        self._pids.write("pids.max", "0")

    def close(self) -> None:
        if self.oom_fd is not None:
            os.close(self.oom_fd)
            self.oom_fd = None
        super().close()

    def _start_counting(self) -> None:
        self._read_notice()
        self._was_notified = False
        super()._start_counting()

    def _peak(self) -> int:
        return self._memory.number("memory.max_usage_in_bytes")

    def _reset_peak(self) -> None:
        self._memory.write("memory.max_usage_in_bytes", "0")
        self._memory.fd("memory.max_usage_in_bytes", os.O_RDONLY)

    def _cpu_nanoseconds(self) -> int | None:
        return self._cpuacct.number("cpuacct.usage") if self._cpuacct else None


class SlotV2(Slot):
    """One group. If the kernel kills one of its processes for lack of memory, it kills the whole group.

    That needs Linux 4.19 (`memory.oom.group`). Before 6.12 the peak cannot be reset, and the slot is used once.
    """

    _entrance = "cgroup.procs"
    _usage_file = "memory.current"
    _oom_file = "memory.events"
    _final_files = ("memory.current", "memory.events", "cpu.stat")
    _peak_fd: int | None = None

    def _set_up(self, group: Path) -> None:
        self._group = group
        write(f"{group}/memory.oom.group", "1")
        if (group / "memory.swap.max").exists():
            write(f"{group}/memory.swap.max", "0")
        self.reusable = False
        # Only the descriptor that wrote a reset sees it, so it stays open.
        for flags in (os.O_RDWR, os.O_RDONLY):
            with contextlib.suppress(OSError):
                self._peak_fd = os.open(group / "memory.peak", flags | os.O_CLOEXEC)
                self.reusable = flags == os.O_RDWR
                break

    def _limit_memory(self, memory_bytes: int) -> None:
        self._memory.write("memory.max", str(self._baseline + memory_bytes))

    def _reset_memory(self) -> None:
        self._memory.write("memory.max", "max")
        if self._memory.number(self._usage_file) > SETTLED_BYTES:
            self._reclaim()

    def _reclaim(self) -> None:
        # EAGAIN: not all of it could be freed. The rest is in the baseline of the next guest.
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            write(f"{self._group}/memory.reclaim", str(self._memory.number(self._usage_file)))

    def prevent_forks(self) -> None:
        if (self._group / "cgroup.kill").exists():
            write(f"{self._group}/cgroup.kill", "1")
        else:
            # Before Linux 5.14.
            write(f"{self._group}/pids.max", "0")

    def close(self) -> None:
        if self._peak_fd is not None:
            os.close(self._peak_fd)
            self._peak_fd = None
        super().close()

    def _peak(self) -> int:
        if self._peak_fd is None:
            return self._memory.number("memory.current")
        return int(os.pread(self._peak_fd, 64, 0))

    def _reset_peak(self) -> None:
        if self._peak_fd is not None and self.reusable:
            os.pwrite(self._peak_fd, b"reset", 0)

    def _cpu_nanoseconds(self) -> int | None:
        microseconds = self._memory.field("cpu.stat", "usage_usec")
        return None if microseconds is None else microseconds * 1000
