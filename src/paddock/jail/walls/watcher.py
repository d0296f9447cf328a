"""Limits the memory of a process tree if there is no cgroup: a thread checks it repeatedly, more often near the limit.

It counts the anonymous and shared memory that the tree maps and its page tables, minus what it had when the watch
began. For a process with very many mappings, it also counts the kernel's memory for them. A page that was there before
and is written later is not counted, so a tree can hold as much as its limit plus what it started with. Pages that no
process maps are not seen at all (tmpfs files, memfds that are not mapped, SysV segments, pipe and socket buffers).
Those need separate limits. RLIMIT_DATA limits each process between two checks. Nor is what a process held that has
ended, while others read it through /proc: the kernel keeps it for them, and only the number of processes limits it.

Between two checks a tree can exceed its limit, at about 1 GB/s for each core (more with huge pages). Measured in twenty
runs, eight processes that filled memory on two overloaded cores were typically stopped 15 MB above a limit of 128 MB
(at worst 46 MB), and 56 MB above 512 MB (at worst 148 MB). The reason: counting shared pages takes 1 ms per 40 MB. A
single process was stopped 13 MB above its limit (at worst 19 MB).
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import itertools
import logging
import mmap
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from paddock.jail.walls.shortage import thread_shortage_as_oserror, unless_shortage
from paddock.jail.walls.syscalls import syscall

_log = logging.getLogger(__name__)
FLOOR_SECONDS, IDLE_SECONDS, CEILING_SECONDS = 0.002, 0.01, 0.1
"""The shortest time between two checks of a tree, the shortest if the tree has done nothing, and the longest."""
REST_SECONDS = 1.0
"""The time between two checks of a tree whose processes are all stopped."""
MAPPED_TIMES = 4
"""A tree may map up to this many times its limit, counting a page once for each process that maps it."""
MAPPINGS_SECONDS = 0.5
"""How often the mappings of a tree are counted: that takes 1 ms for each 1,000."""
USUAL_MAPPINGS, MAPPING_BYTES, LINK_BYTES = 1024, 256, 64
"""Mappings of each process that are not counted, and what the kernel keeps for each of the others: a description, and
up to as many links to those it was copied from as there are processes (anon_vma_chain)."""
BLIND_SECONDS = 1.0
"""How long a tree may go unchecked because this process has no free descriptor."""
FILL_BYTES_PER_SECOND = 1.5e9 * min(os.cpu_count() or 1, 8)
"""How fast a tree can fill memory. The time until the next check follows from it."""


class Watched:
    """A process tree and what it has used.

    `on_exceeded` is called once: when the limit is exceeded or the tree cannot be read.
    """

    def __init__(
        self, root: int, memory_bytes: int, on_exceeded: Callable[[Watched], None], others: Sequence[int] = ()
    ) -> None:
        self._root, self._limit_bytes, self._on_exceeded = root, memory_bytes, on_exceeded
        self._others = list(others)
        self._first = tree(root, *others)
        if not self._first:
            raise ProcessLookupError(f"there is no process {root} to watch")
        self._reaper = root if others else None
        self._timed = self._without_reaper(self._first)  # those whose processor time counts
        self._cpu_before = sum(each.cpu_seconds for each in self._timed.values())
        self._inherited = max(each.memory_bytes for each in self._first.values())
        self._seen: dict[int, Process] = self._first
        self._relatives: tuple[int, Callable[[], Collection[int]]] | None = None
        self._exact, self._is_stale, self._visit_after = 0, False, 0.0
        self._has_all_mappings = True
        self._is_visited = False  # `visit` was asked for, and has not returned
        self._mapping_bytes, self._count_mappings_after = 0, time.monotonic() + MAPPINGS_SECONDS
        self._checked_at = time.monotonic()
        self._reporting = threading.Lock()
        self._stopped = False
        self.is_resting = False  # its processes are stopped
        self.entry = 0  # the number of its entry in the watcher's queue
        self.error: Exception | None = None
        self.memory_peak_bytes = self.held_bytes = 0
        self.cpu_seconds = 0.0
        self._cpu_of_gone = self._cpu_of_last_gone = 0.0  # of processes that ended, and that no other has inherited

    def renew(self, memory_bytes: int) -> None:
        """Count from now on, above the same baseline, and apply another limit: another run of the tree begins."""
        self._cpu_before += self.cpu_seconds
        self.cpu_seconds, self.memory_peak_bytes = 0.0, self.held_bytes
        self._limit_bytes = memory_bytes

    def share(self, reaper: int, others: Callable[[], Collection[int]]) -> None:
        """Leave out the processor time of the trees of `others`. Count that of all orphans, which `reaper` adopts."""
        self._relatives = reaper, others
        self._timed = self._find_timed()
        self._cpu_before = sum(each.cpu_seconds for each in self._timed.values()) + self._cpu_of_gone - self.cpu_seconds

    def _find_timed(self) -> dict[int, Process]:
        assert self._relatives is not None  # noqa: S101
        self._reaper, others = self._relatives
        return self._without_reaper(tree(self._root, *self._others, self._reaper, without=others()))

    def _without_reaper(self, processes: dict[int, Process]) -> dict[int, Process]:
        """`processes` without the time that a reaper takes for its checks, but with that of its children."""
        if self._reaper is None or (reaper := processes.get(self._reaper)) is None:
            return processes
        return processes | {self._reaper: replace(reaper, cpu_seconds=reaper.inherited_cpu_seconds)}

    def check(self) -> float | None:
        """Count once, and report if it is too much. Returns the seconds until the next check; None: never."""
        before = time.monotonic()
        try:
            seen = self._with_strays(tree(self._root, *self._others))
            # A pid may have been reused: that tree is not ours.
            self._others = [pid for pid in self._others if pid in seen and seen[pid].start == self._first[pid].start]
            if not seen or seen[self._root].start != self._first[self._root].start:
                return None
            held = self._count(seen) + self._mapping_bytes
            timed = self._without_reaper(seen) if self._relatives is None else self._find_timed()
            self._has_all_mappings = self._has_all_mappings and seen == self._seen
            self._checked_at = before
        except Exception as error:  # noqa: BLE001
            if (
                getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE)
                and before < self._checked_at + BLIND_SECONDS
            ):
                return IDLE_SECONDS
            # A tree that cannot be read must neither escape its limit nor stop the checks of others.
            self.error = error
            self._report()
            return None
        self._count_cpu(timed)
        idle, self._seen, self.held_bytes = seen == self._seen, seen, held
        self.memory_peak_bytes = max(self.memory_peak_bytes, held)
        if held > self._limit_bytes:
            self._report()
            return None
        if self.is_resting:
            return None if self._stopped else REST_SECONDS
        seconds_to_limit = 0.0 if self._is_visited else (self._limit_bytes - held) / FILL_BYTES_PER_SECOND
        min_seconds = max(IDLE_SECONDS if idle else FLOOR_SECONDS, 2 * (time.monotonic() - before))
        return None if self._stopped else max(min(seconds_to_limit, CEILING_SECONDS), min_seconds)

    def _with_strays(self, seen: dict[int, Process]) -> dict[int, Process]:
        """`seen` with the processes that are alive, and whose parents were not found: their thread had just ended."""
        if not seen:
            return seen
        lost = those_of(self._seen.keys() - seen.keys())
        return seen | {pid: each for pid, each in lost.items() if each.start == self._seen[pid].start}

    def _count_cpu(self, seen: dict[int, Process]) -> None:
        gone, inherited = 0.0, 0.0
        for pid in self._timed.keys() | seen.keys():
            before, now = self._timed.get(pid), seen.get(pid)
            if before is not None and now is not None and before.start == now.start:
                inherited += now.inherited_cpu_seconds - before.inherited_cpu_seconds
            else:
                gone += 0.0 if before is None else before.cpu_seconds
                if now is not None and self._relatives is not None:  # until now it may have been of another tree
                    self._cpu_before += now.cpu_seconds
                elif now is not None:
                    inherited += now.inherited_cpu_seconds
        # A child that its parent waited for after the parent was read here, and before the child was, is inherited at
        # the next check.
        self._cpu_of_gone += max(self._cpu_of_last_gone - max(inherited - gone, 0.0), 0.0)
        self._cpu_of_last_gone = max(gone - inherited, 0.0)
        used = sum(each.cpu_seconds for each in seen.values()) + self._cpu_of_gone - self._cpu_before
        self.cpu_seconds, self._timed = max(self.cpu_seconds, used), seen

    def wants_visit(self) -> bool:
        """Whether `visit` must be called now, in another thread. True once for each visit."""
        now = time.monotonic()
        is_due = now >= self._visit_after and self._is_stale
        is_due = is_due or (now >= self._count_mappings_after and not self._has_all_mappings)
        if self._is_visited or self._stopped or not is_due:
            return False
        self._is_visited = True
        return True

    def visit(self) -> None:
        """Count what takes long: each shared page once, and mappings. A script can make both take seconds."""
        try:
            self._visit(tree(self._root, *self._others))
        except Exception as error:  # noqa: BLE001
            if getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE):
                self._is_stale, self._has_all_mappings = True, False  # `check` fails too, and ends the tree soon
            else:
                self.error = error
                self._report()
        self._is_visited = False

    def _visit(self, seen: dict[int, Process]) -> None:
        now = time.monotonic()
        if now >= self._count_mappings_after and not self._has_all_mappings:
            self._has_all_mappings = True  # unless `check` sees a change meanwhile
            self._mapping_bytes = mapping_bytes(seen.values(), self._limit_bytes)
            self._count_mappings_after = time.monotonic() + max(MAPPINGS_SECONDS, time.monotonic() - now)
        now = time.monotonic()
        if now >= self._visit_after and self._is_stale:
            self._is_stale = False
            held = held_bytes(seen.values())
            if held > self._limit_bytes + self._inherited:
                # What a process shared that ended meanwhile counted again, in those that were counted later.
                held = min(held, held_bytes(tree(self._root, *self._others).values()))
            self._exact = max(held - self._inherited, 0)
            # Counting takes at most half of a core for one tree. The more pages it has, the longer counting takes.
            self._visit_after = 2 * time.monotonic() - now

    def stop(self) -> None:
        """Stop watching. `on_exceeded` is not called after this has returned."""
        with self._reporting:
            self._stopped = True

    def _report(self) -> None:
        with self._reporting:
            if not self._stopped:
                self._on_exceeded(self)
                self._stopped = True

    def _count(self, seen: dict[int, Process]) -> int:
        """Bytes above the baseline. Shared pages count in each process; if that is too much, what `visit` counted."""
        plain = sum(
            max(each.memory_bytes - self._first[pid].memory_bytes, 0) if pid in self._first else each.memory_bytes
            for pid, each in seen.items()
        )
        # Counting each shared page once is slow: it visits every page of every process. So the plain sum has a limit
        # too, not counting what each process was forked with. It holds while a visit takes its time.
        most = MAPPED_TIMES * self._limit_bytes + self._inherited * len(seen)
        if plain <= self._limit_bytes or plain > most or seen.keys() <= self._first.keys():
            return plain
        # Remember a change that is too early to be counted: the tree may do nothing afterwards.
        self._is_stale = self._is_stale or seen != self._seen
        return self._exact


class Watcher:
    """Watches any number of trees from one thread, which starts with the first tree and ends with `close()`.

    A check takes 25 µs for each process, every 2 to 100 ms, more often near the limit. A second thread does what takes
    longer, so that no tree keeps the others from being checked.
    """

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._due: list[tuple[float, int, Watched]] = []
        self._threads: list[threading.Thread] = []
        self._visits: queue.SimpleQueue[Watched | None] = queue.SimpleQueue()
        self._numbers = itertools.count()
        self._closing = False

    def watch(
        self, root: int, memory_bytes: int, on_exceeded: Callable[[Watched], None], others: Sequence[int] = ()
    ) -> Watched:
        """Watch the tree under `root` from now on. `on_exceeded` is called in the watcher's thread and must not block.

        `others` are watched too while they exist; then `root` is a reaper, whose own processor time does not count.
        What the tree holds now is its baseline, so call this before any user code is read.
        """
        watched = Watched(root, memory_bytes, on_exceeded, others)
        with self._wake:
            if self._closing:
                raise RuntimeError("the watcher is closed")
            for run in (self._visit, self._run)[len(self._threads) :]:
                thread = threading.Thread(target=run, name="paddock-watcher", daemon=True)
                with thread_shortage_as_oserror():
                    thread.start()
                self._threads.append(thread)
            self._put(time.monotonic() + FLOOR_SECONDS, watched)
            self._wake.notify()
        return watched

    def resume(self, watched: Watched) -> None:
        """Check a tree that was resting as often as before."""
        with self._wake:
            watched.is_resting = False
            self._put(time.monotonic() + FLOOR_SECONDS, watched)
            self._wake.notify()

    def close(self) -> None:
        """End the threads."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._visits.put(None)
        for thread in self._threads:
            thread.join()

    def _put(self, due: float, watched: Watched) -> None:
        watched.entry = next(self._numbers)
        heapq.heappush(self._due, (due, watched.entry, watched))

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._closing and (not self._due or self._due[0][0] > time.monotonic()):
                    self._wake.wait(self._due[0][0] - time.monotonic() if self._due else None)
                if self._closing:
                    return
                _, entry, watched = heapq.heappop(self._due)
            if entry != watched.entry:
                continue  # it has a newer one
            try:
                again = watched.check()
            except Exception:  # noqa: BLE001  the callback failed: call it again later, and go on with the others
                _log.exception("a process tree above its memory limit could not be ended")
                again = CEILING_SECONDS
            if again is not None:
                if watched.wants_visit():
                    self._visits.put(watched)
                with self._wake:
                    if entry == watched.entry:
                        self._put(time.monotonic() + again, watched)

    def _visit(self) -> None:
        while (watched := self._visits.get()) is not None:
            try:
                watched.visit()
            except Exception:  # noqa: BLE001  the callback failed, and `check` calls it again
                _log.exception("a process tree above its memory limit could not be ended")


_CHILD = """
import sys
sys.stdin.readline()
import ctypes
ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE
print(flush=True)
sys.stdin.read()
"""


def _hide(child: subprocess.Popen[bytes]) -> None:
    """Return when a process that runs _CHILD is no longer dumpable."""
    assert child.stdin is not None  # noqa: S101
    assert child.stdout is not None  # noqa: S101
    child.stdin.write(b"\n")
    child.stdin.flush()
    child.stdout.readline()


def probe() -> str | None:
    """None if the memory of a child can be read here, otherwise the reason and what to allow.

    Raises OSError in a shortage. A child with another uid is not tried: an ordinary user can read it only if it is
    dumpable. One that is not dumpable must be seen nevertheless: a program that cannot be read is executed as one.
    """
    waiting_command = [sys.executable, "-I", "-S", "-c", _CHILD]
    allow = "mount /proc without hidepid and subset, and allow reading smaps_rollup (Linux 5.4 or newer)"
    try:
        with subprocess.Popen(waiting_command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            try:
                if child.pid not in (seen := tree(os.getpid())) or not held_bytes([seen[child.pid]]):
                    return f"/proc does not show the memory of our own children: {allow}"
                _hide(child)
                if child.pid not in tree(os.getpid()):
                    return f"/proc hides processes whose memory cannot be read: {allow}"
            finally:
                child.kill()
    except OSError as error:
        return f"{unless_shortage(error)}: {allow}"
    return None


_RESIDENT = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
_ADDRESSES = re.compile(rb"^VmSize:\s+(\d+) kB$", re.MULTILINE)
_TABLES = re.compile(rb"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_DIVIDED = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_TICKS = os.sysconf("SC_CLK_TCK")
# CONFIG_PROC_CHILDREN; without it, all of /proc is scanned for parents.
_CHILDREN_LISTED = os.path.exists("/proc/thread-self/children")  # noqa: PTH110
_GONE = (FileNotFoundError, ProcessLookupError)


@dataclass(frozen=True, slots=True)
class Process:
    """One process at one moment.

    `memory_bytes` counts anonymous, shared and swapped pages, even if other processes map them too, and includes
    `table_bytes`: the page tables, which processes never share. Copying a shared page changes nothing but the number of
    page faults. `cpu_seconds` includes `inherited_cpu_seconds`, those of the children that it has waited for. `task` is
    a thread that still has the memory: the first thread may have ended before the others.
    """

    pid: int
    parent: int
    memory_bytes: int
    table_bytes: int
    faults: int
    cpu_seconds: float
    inherited_cpu_seconds: float
    start: int
    task: int


def tree(root: int, *others: int, without: Collection[int] = ()) -> dict[int, Process]:
    """The processes `root` and `others` and their living descendants; empty if `root` is gone. 25 µs for each.

    The processes in `without` are left out, with their descendants.
    The result is not a snapshot: a process that is born and orphaned meanwhile may be missed until the next time.
    """
    below = None if _CHILDREN_LISTED else _children_by_scan()
    found: dict[int, Process] = {}
    waiting = [root, *others]
    while waiting:
        pid = waiting.pop()
        if pid in found or pid in without:
            continue
        try:
            found[pid], tasks = _process(pid)
            waiting += _children(pid, tasks) if below is None else below.get(pid, ())
        except _GONE:
            continue
    return found if root in found else {}


def those_of(pids: Iterable[int]) -> dict[int, Process]:
    """Those of these processes that are alive, without their descendants."""
    found: dict[int, Process] = {}
    for pid in pids:
        with contextlib.suppress(*_GONE):
            found[pid], _ = _process(pid)
    return found


def held_bytes(processes: Iterable[Process]) -> int:
    """Page tables, and anonymous, shared and swapped pages, each page divided by how many processes map it.

    The kernel visits every page: 1 ms for 40 MB. A process that is not dumpable counts in full.
    """
    total = 0
    found = {process.pid: process for process in processes}
    for process in found.values():
        parent = found.get(process.parent)
        # After vfork() a child has its parent's memory until it executes a program.
        if parent and parent.memory_bytes == process.memory_bytes and _same_memory(parent.task, process.task):
            continue
        try:
            pages = _content(_open_as_owner(process.task, "smaps_rollup"))
            total += _kilobytes(_DIVIDED, pages) * 1024 + process.table_bytes
        except (PermissionError, *_GONE):  # it is not dumpable, or ends, or only this thread has ended
            with contextlib.suppress(*_GONE):
                total += _process(process.pid)[0].memory_bytes
    return total


def mapping_bytes(processes: Iterable[Process], most_bytes: int) -> int:
    """The kernel's memory for mappings, counted only for processes with very many mappings.

    Stops counting above `most_bytes`. Address space does not limit it: 16 GiB has room for millions of mappings of one
    page. A process that is not dumpable counts as if it had as many as it can have.
    """
    total = 0
    processes = list(processes)
    each_bytes = MAPPING_BYTES + LINK_BYTES * len(processes)
    for process in processes:
        with contextlib.suppress(*_GONE):
            try:
                fd = _open_as_owner(process.task, "maps")
            except PermissionError:
                count = _most_mappings(process.task)
            else:
                count = 0
                try:
                    while total + (count - USUAL_MAPPINGS) * each_bytes <= most_bytes and (lines := os.read(fd, 65536)):
                        count += lines.count(b"\n")
                finally:
                    os.close(fd)
            total += max(count - USUAL_MAPPINGS, 0) * each_bytes
    return total


def _most_mappings(task: int) -> int:
    """How many mappings a task can have: one for each page of its addresses, within the kernel's limit."""
    pages = _kilobytes(_ADDRESSES, _read(f"/proc/{task}/status")) * 1024 // mmap.PAGESIZE
    return min(pages, int(_read("/proc/sys/vm/max_map_count")))


def _open_as_owner(task: int, name: str) -> int:
    """Open a file in the folder of this task. Root without CAP_SYS_PTRACE has to open it as the task's owner."""
    path = f"/proc/{task}/{name}"
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        if os.geteuid() != 0:
            raise
    owner = os.stat(f"/proc/{task}")  # noqa: PTH116
    # Only for this thread, and only while the file is opened.
    syscall("setfsgid", owner.st_gid)
    syscall("setfsuid", owner.st_uid)
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        syscall("setfsuid", 0)
        syscall("setfsgid", 0)


def _process(pid: int) -> tuple[Process, list[int]]:
    """The process and its threads."""
    fields = _stat(pid)
    own, inherited = sum(map(int, fields[11:13])) / _TICKS, sum(map(int, fields[13:15])) / _TICKS
    tasks = [pid] if fields[17] == b"1" else [int(entry.name) for entry in os.scandir(f"/proc/{pid}/task")]
    if not tasks:  # it was reaped meanwhile
        raise ProcessLookupError(pid)
    memory, tables, task = _memory_of(tasks)
    numbers = (int(fields[7]), own + inherited, inherited, int(fields[19]))
    return Process(pid, int(fields[1]), memory, tables, *numbers, task), tasks


def _stat(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat, numbered from 3 in proc(5). The name before them may contain anything."""
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _memory_of(tasks: list[int]) -> tuple[int, int, int]:
    """The memory that the first living thread shows, the page tables in it, and that thread."""
    for task in tasks:
        with contextlib.suppress(*_GONE):
            status = _read(f"/proc/{task}/status")
            if kilobytes := _kilobytes(_RESIDENT, status):
                return kilobytes * 1024, _kilobytes(_TABLES, status) * 1024, task
    return 0, 0, tasks[0]


def _same_memory(one: int, other: int) -> bool:
    """Whether what is set for the memory of one task is set for the other. kcmp(2) would need CAP_SYS_PTRACE.

    It is what a core dump contains; guests dump none.
    """
    with contextlib.suppress(OSError, ValueError):  # ValueError: it has no memory any more
        before = _filter(one)
        if _filter(other) == before:
            _write_filter(one, before ^ 1)
            after = _filter(other)
            _write_filter(one, before)
            return after == before ^ 1
    return False


def _filter(task: int) -> int:
    return int(_read(f"/proc/{task}/coredump_filter"), 16)


def _write_filter(task: int, bits: int) -> None:
    fd = os.open(f"/proc/{task}/coredump_filter", os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, b"%d" % bits)
    finally:
        os.close(fd)


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
                parent = int(_stat(int(entry.name))[1])
            except _GONE:
                continue
            found.setdefault(parent, []).append(int(entry.name))
    return found


def _kilobytes(pattern: re.Pattern[bytes], text: bytes) -> int:
    return sum(map(int, pattern.findall(text)))


def _read(path: str) -> bytes:
    return _content(os.open(path, os.O_RDONLY | os.O_CLOEXEC))


def _content(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    finally:
        os.close(fd)
