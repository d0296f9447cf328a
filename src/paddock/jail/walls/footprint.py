"""What a process tree holds, from /proc: its processes, their memory and CPU time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass

_RESIDENT = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$", re.MULTILINE)
_DIVIDED = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_libc = ctypes.CDLL(None, use_errno=True)
_KCMP = {"x86_64": 312, "aarch64": 272}
_KCMP_VM = 1
_TICKS = os.sysconf("SC_CLK_TCK")
# CONFIG_PROC_CHILDREN; where it is missing, all of /proc is read for the parents instead.
_CHILDREN_LISTED = os.path.exists("/proc/thread-self/children")  # noqa: PTH110
_GONE = (FileNotFoundError, ProcessLookupError)


@dataclass(frozen=True, slots=True)
class Process:
    """One process at one moment. `memory_bytes`: anonymous, shared and swapped pages, whoever else has them too.

    `task` is a thread of it that still has the memory: the first one may have ended before the others.
    """

    memory_bytes: int
    cpu_seconds: float
    start: int
    task: int


def tree(root: int, *others: int) -> dict[int, Process]:
    """The process, further ones, and their living descendants; empty when the first is gone. 25 µs for each.

    Not a snapshot: a process that is born and orphaned while the tree is read may be missed, until the next time.
    """
    below = None if _CHILDREN_LISTED else _children_by_scan()
    found: dict[int, Process] = {}
    waiting = [root, *others]
    while waiting:
        pid = waiting.pop()
        if pid in found:
            continue
        try:
            found[pid], tasks = _process(pid)
            waiting += _children(pid, tasks) if below is None else below.get(pid, ())
        except _GONE:
            continue
    return found if root in found else {}


def held_bytes(processes: Iterable[Process]) -> int:
    """Anonymous, shared and swapped pages of the processes, each page divided by the number that map it.

    The kernel visits every page: 1 ms for 40 MB. A process that hides its pages (not dumpable) counts in full.
    """
    total = 0
    counted: dict[int, list[int]] = {}
    for process in processes:
        # After vfork() two processes have one memory until the child's exec.
        twins = counted.setdefault(process.memory_bytes, [])
        if any(_same_memory(twin, process.task) for twin in twins):
            continue
        twins.append(process.task)
        try:
            total += _kilobytes(_DIVIDED, _pages(process.task)) * 1024
        except PermissionError:
            total += process.memory_bytes
        except _GONE:
            continue
    return total


def _pages(task: int) -> bytes:
    """What the kernel tells of its pages. Root without CAP_SYS_PTRACE has to ask as the owner."""
    path = f"/proc/{task}/smaps_rollup"
    try:
        return _read(path)
    except PermissionError:
        if os.geteuid() != 0:
            raise
    owner = os.stat(f"/proc/{task}")  # noqa: PTH116
    # Of this thread alone, and only while the file is opened.
    _libc.setfsgid(owner.st_gid)
    _libc.setfsuid(owner.st_uid)
    try:
        return _read(path)
    finally:
        _libc.setfsuid(0)
        _libc.setfsgid(0)


def _process(pid: int) -> tuple[Process, list[int]]:
    """The process and its threads."""
    # The name in parentheses may contain anything; the fields after it are numbered from 3 in proc(5).
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    ticks = sum(map(int, fields[11:15]))  # its own, and those of children that it waited for
    tasks = [pid] if fields[17] == b"1" else [int(entry.name) for entry in os.scandir(f"/proc/{pid}/task")]
    if not tasks:  # it was buried between the two
        raise ProcessLookupError(pid)
    memory, task = _memory_of(tasks if fields[0] == b"Z" else [pid])
    return Process(memory, ticks / _TICKS, int(fields[19]), task), tasks


def _memory_of(tasks: list[int]) -> tuple[int, int]:
    """The memory of the first thread that still has it, and which one that is."""
    for task in tasks:
        with contextlib.suppress(*_GONE):
            if kilobytes := _kilobytes(_RESIDENT, _read(f"/proc/{task}/status")):
                return kilobytes * 1024, task
    return 0, tasks[0]


def _same_memory(one: int, other: int) -> bool:
    number = _KCMP.get(platform.machine())
    return number is not None and _libc.syscall(number, one, other, _KCMP_VM, 0, 0) == 0


def _children(pid: int, tasks: list[int]) -> list[int]:
    found: list[int] = []
    for task in tasks:
        with contextlib.suppress(*_GONE):
            found += map(int, _read(f"/proc/{pid}/task/{task}/children").split())
    return found


def _children_by_scan() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = int(_read(f"/proc/{entry.name}/stat").rpartition(b")")[2].split()[1])
            except _GONE:
                continue
            found.setdefault(parent, []).append(int(entry.name))
    return found


def _kilobytes(pattern: re.Pattern[bytes], text: bytes) -> int:
    return sum(map(int, pattern.findall(text)))


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 65536)
    finally:
        os.close(fd)
