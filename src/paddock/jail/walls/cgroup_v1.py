"""A slot on cgroup v1: one group in each of several hierarchies, mounted separately."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from paddock.jail.walls.cgroup_files import Usage, end_members, field, number, read, remove, write

UNLIMITED = "-1"


class SlotV1:
    """Groups of one name in the hierarchies of memory and pids and, where there are any, cpu and cpuacct.

    `oom_fd` becomes readable when the group runs out of memory: v1 kills one process, and the host must end the rest.
    It fires for want of memory in a parent group too: ask `was_out_of_memory()`, which also reads it empty.
    """

    reusable = True

    def __init__(self, groups: Mapping[str, Path]) -> None:
        self._memory, self._pids = groups["memory"], groups["pids"]
        self._cpu, self._cpuacct = groups.get("cpu"), groups.get("cpuacct")
        # Controllers may be mounted together: one directory is then made, and entered, once.
        self._groups = tuple(dict.fromkeys(groups.values()))
        for group in self._groups:
            group.mkdir()
        self._swap_counts = (self._memory / "memory.memsw.limit_in_bytes").exists()
        if not self._swap_counts:
            write(self._memory / "memory.swappiness", "0")
        if field(self._memory / "memory.oom_control", "oom_kill_disable"):
            write(self._memory / "memory.oom_control", "0")
        self._weight = 100
        self.oom_fd: int | None = self._notified()
        self._count_from_here()

    def _notified(self) -> int:
        fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        control = os.open(self._memory / "memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
        try:
            write(self._memory / "cgroup.event_control", f"{fd} {control}")
        except OSError:
            os.close(fd)
            raise
        finally:
            os.close(control)
        return fd

    def enter(self, pid: int) -> None:
        """Move a process with its threads; what it has allocated stays with its old group.

        Takes 5 to 30 ms after a quiet moment (the kernel waits for RCU), 0.2 ms in a row: a thread's work.
        """
        for group in self._groups:
            write(group / "cgroup.procs", str(pid))

    def doors(self) -> list[int]:
        """Descriptors to which a single-threaded child writes b"0" to enter by itself, in 0.1 ms; close them in both.

        The kernel takes no system-wide lock for a thread that moves itself. Never left open in a guest.
        """
        return [os.open(group / "tasks", os.O_WRONLY | os.O_CLOEXEC) for group in self._groups]

    def limit(self, memory_bytes: int, processes: int, cpu_weight: int = 100) -> None:
        """Allow this much above what is charged now, and this many tasks where those of now count as one."""
        self._baseline = number(self._memory / "memory.usage_in_bytes")
        # Downwards from unlimited: memory first, because it must never be above memory and swap together.
        ceiling = str(self._baseline + memory_bytes)
        write(self._memory / "memory.limit_in_bytes", ceiling)
        if self._swap_counts:
            write(self._memory / "memory.memsw.limit_in_bytes", ceiling)
        write(self._memory / "memory.max_usage_in_bytes", "0")
        others = max(number(self._pids / "pids.current") - 1, 0)
        write(self._pids / "pids.max", str(others + processes))
        if self._cpu and cpu_weight != self._weight:
            write(self._cpu / "cpu.shares", str(shares(cpu_weight)))
            self._weight = cpu_weight
        self._cpu_before = self._cpu_nanoseconds()

    def usage(self) -> Usage:
        """What was used since `limit()`."""
        spent = self._cpu_nanoseconds()
        return Usage(
            max(number(self._memory / "memory.max_usage_in_bytes") - self._baseline, 0),
            None if spent is None or self._cpu_before is None else (spent - self._cpu_before) / 1e9,
            self._oom_kills() - self._kills_before,
            number(self._pids / "pids.current"),
        )

    def was_out_of_memory(self) -> bool:
        """Whether the group's own limit, or the kernel for want of memory, ended a process of it since `reset()`."""
        if self.oom_fd is not None:
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self.oom_fd)
                self._notices += 1
        if self._oom_kills() > self._kills_before:
            return True
        # The host may have killed the tree on the notice, before the kernel chose, and counted, a victim of its own.
        return self._notices > 0 and self._refusals() > self._refusals_before

    def kill(self) -> bool:
        """Kill everything in the group; whether it is empty now. Takes as long as its memory takes to free."""
        write(self._pids / "pids.max", "0")
        return not [group for group in self._groups if not end_members(group)]

    def reset(self) -> None:
        """Make an empty group as new: unlimited, without cached pages, counting from here. Milliseconds if full."""
        if self._swap_counts:
            write(self._memory / "memory.memsw.limit_in_bytes", UNLIMITED)
        write(self._memory / "memory.limit_in_bytes", UNLIMITED)
        write(self._memory / "memory.force_empty", "0")
        write(self._pids / "pids.max", "max")
        self._count_from_here()

    def remove(self) -> None:
        """Remove the groups, which must be empty."""
        if self.oom_fd is not None:
            os.close(self.oom_fd)
            self.oom_fd = None
        for group in self._groups:
            remove(group)

    def _count_from_here(self) -> None:
        self._baseline = number(self._memory / "memory.usage_in_bytes")
        self._cpu_before = self._cpu_nanoseconds()
        self._notices = 0
        if self.oom_fd is not None:
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self.oom_fd)
        self._kills_before = self._oom_kills()
        self._refusals_before = self._refusals()

    def _oom_kills(self) -> int:
        kills = field(self._memory / "memory.oom_control", "oom_kill")
        if kills is None:
            raise OSError(f"{self._memory}/memory.oom_control counts no oom_kill: it needs Linux 4.13 or newer")
        return kills

    def _refusals(self) -> int:
        files = ("memory.failcnt", "memory.memsw.failcnt") if self._swap_counts else ("memory.failcnt",)
        return sum(number(self._memory / name) for name in files)

    def _cpu_nanoseconds(self) -> int | None:
        return int(read(self._cpuacct / "cpuacct.usage")) if self._cpuacct else None


def shares(cpu_weight: int) -> int:
    """A weight of cgroup v2 (1 to 10,000, 100 is usual) as shares of v1."""
    return max(cpu_weight * 1024 // 100, 2)
