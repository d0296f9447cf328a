"""A limit on what a guest stores on a disk that it shares with others, checked repeatedly.

It is for profiles in which a guest cannot have its own file system. RLIMIT_FSIZE limits each file. Between two
checks a guest can write as fast as the disk accepts it. A deleted file counts while a process holds it open. A deleted
file that is only mapped counts as `mapped_bytes`; if that is 0, mappings are not looked at. A deleted file whose
descriptor waits in a socket is not seen. Because of such files, a part of the disk must stay free.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

RESERVE_BYTES = 1 << 30
RESERVE_PART = 20
"""A twentieth of the disk stays free, or RESERVE_BYTES if that is less."""
METADATA_PART = 64
"""The size of a file includes metadata blocks of the file system. Another 64th of the limit is allowed for these."""
CHECK_SECONDS = 0.25
"""A check that takes more of the processor than this counts as exceeded. 10,000 files take 0.03 s."""
LONG_PATH = 2000
VSIZE = 20  # index into the result of `_stat`
_GONE = (FileNotFoundError, ProcessLookupError, NotADirectoryError)


class Quota:
    """A limit on the content of some folders. The caller must be able to read them, and the guest's files in /proc."""

    def __init__(self, folders: Sequence[str], size_bytes: int, inodes: int, *, mapped_bytes: int = 0) -> None:
        self._folders = folders
        self._mapped_bytes = mapped_bytes
        self._size_bytes, self._inodes = size_bytes, inodes
        self._prefixes = tuple(f"{folder}/".encode() for folder in folders)
        self._disk = os.path.dirname(folders[0])  # noqa: PTH120
        self._most_free = 0

    def exceeded(self, pids: Iterable[int] = (), proc: int | None = None) -> bool:
        """Whether the quota is exceeded now. `pids` are searched for deleted files that are still open."""
        pids = tuple(pids)
        # A single check may count both a file that was deleted meanwhile and a file that was created meanwhile.
        return self._is_exceeded(pids, proc) and self._is_exceeded(pids, proc)

    def free_bytes(self) -> tuple[int, int]:
        """How much is free on the disk now, and how much of it the guest may take."""
        return _free(self._disk)[0], self._size_bytes

    def _is_exceeded(self, pids: tuple[int, ...], proc: int | None) -> bool:
        self._time_is_up_at = time.thread_time() + CHECK_SECONDS
        try:
            held = self._linked_files()
            if proc is not None and not self._is_too_much(held):  # a guest can make reading its /proc take long
                held |= self._deleted_files(pids, proc)
        except (OSError, _TooMany):
            return True  # a guest that hides files must not escape the limit
        return self._is_too_much(held)

    def _is_too_much(self, held: dict[tuple[int, int], int]) -> bool:
        size_bytes = self._size_bytes + self._size_bytes // METADATA_PART
        return len(held) > self._inodes or sum(held.values()) > size_bytes or self._disk_is_short()

    def _linked_files(self) -> dict[tuple[int, int], int]:
        held: dict[tuple[int, int], int] = {}
        opened: list[int] = []
        try:
            self._walk(held, opened)
        finally:
            for fd in opened:
                os.close(fd)
        return held

    def _walk(self, held: dict[tuple[int, int], int], opened: list[int]) -> None:
        """Visit every entry, however deep. If a path gets too long for the kernel, its folder stays open."""
        waiting: list[tuple[int | None, str, tuple[int, int] | None]] = [(None, each, None) for each in self._folders]
        count = 0
        while waiting:
            self._require_time()
            base, path, found = waiting.pop()
            with suppress(*_GONE):
                here = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=base)
                opened.append(here)
                status = os.fstat(here)
                if found not in (None, (status.st_dev, status.st_ino)):
                    os.close(opened.pop())
                    continue  # a folder above it was replaced by a link: in `confined` that can lead to the host's
                is_long = len(path) > LONG_PATH
                with os.scandir(here) as entries:
                    for entry in entries:
                        count += 1
                        if count > self._inodes:
                            raise _TooMany
                        with suppress(*_GONE):
                            # Not `entry.stat`, during which no other thread of the reaper can run.
                            status = os.stat(entry.name, dir_fd=here, follow_symlinks=False)
                            inode = status.st_dev, status.st_ino
                            held[inode] = status.st_blocks * 512
                            if stat.S_ISDIR(status.st_mode):
                                below = (here, entry.name) if is_long else (base, f"{path}/{entry.name}")
                                waiting.append((*below, inode))
                if not is_long:
                    os.close(opened.pop())

    def _deleted_files(self, pids: Iterable[int], proc: int) -> dict[tuple[int, int], int]:
        held: dict[tuple[int, int], int] = {}
        for pid in pids:
            try:
                held |= self._deleted_files_of(pid, proc)
            except PermissionError:
                # A process that is about to end is unreadable too, when it has no memory any more.
                if _has_memory(pid, proc):
                    raise
        return held

    def _deleted_files_of(self, pid: int, proc: int) -> dict[tuple[int, int], int]:
        """The deleted regular files that a process still holds, with their sizes."""
        held: dict[tuple[int, int], int] = {}
        with suppress(*_GONE):
            task = _living_task(pid, proc)
            fds = os.open(f"{task}/fd", os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY, dir_fd=proc)
            try:
                for name in os.listdir(fds):  # noqa: PTH208
                    self._require_time()
                    with suppress(*_GONE):
                        status = os.stat(name, dir_fd=fds)
                        if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                            held[status.st_dev, status.st_ino] = status.st_blocks * 512
            finally:
                os.close(fds)
            if self._mapped_bytes:
                opened = {inode for _, inode in held}
                held |= {(0, inode): self._mapped_bytes for inode in self._mapped(task, proc) if inode not in opened}
        return held

    def _mapped(self, task: str, proc: int) -> set[int]:
        """Inodes of deleted files in `folders` that are mapped. /proc does not show the size of such a file."""
        found: set[int] = set()
        fd = os.open(f"{task}/maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        with os.fdopen(fd, "rb") as lines:
            for line in lines:
                self._require_time()
                if line.endswith(b" (deleted)\n"):
                    *_, inode, path = line.split(None, 5)
                    if path.startswith(self._prefixes):
                        found.add(int(inode))
        return found

    def _require_time(self) -> None:
        """A guest must not write on for as long as it can make a check take."""
        if time.thread_time() > self._time_is_up_at:
            raise _TooMany

    def _disk_is_short(self) -> bool:
        """Whether the disk is nearly full and has lost more free space during the checks than the guest may use."""
        free, total = _free(self._disk)
        self._most_free = max(self._most_free, free)  # others may make room that the guest then takes
        return free < min(RESERVE_BYTES, total // RESERVE_PART) and free < self._most_free - self._size_bytes


class _TooMany(Exception):
    """There are more entries than allowed, or they cannot be counted, or not in time."""


def _living_task(pid: int, proc: int) -> str:
    """The directory in /proc that shows the descriptors of a process.

    It is the directory of the process, unless its first thread has ended: then that directory shows none. The
    directories of its other threads all show the same descriptors, because the filter lets no thread have descriptors
    of its own.
    """
    if not _has_ended(f"{pid}", proc):
        return f"{pid}"
    tasks = os.open(f"{pid}/task", os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY, dir_fd=proc)
    try:
        names = [f"{pid}/task/{name}" for name in os.listdir(tasks)]  # noqa: PTH208
    finally:
        os.close(tasks)
    return next((name for name in names if not _has_ended(name, proc)), f"{pid}")


def _has_ended(task: str, proc: int) -> bool:
    with suppress(*_GONE):
        return _stat(task, proc)[0] in (b"Z", b"X")
    return True


def _has_memory(pid: int, proc: int) -> bool:
    with suppress(*_GONE):
        return _stat(_living_task(pid, proc), proc)[VSIZE] != b"0"
    return False


def _stat(task: str, proc: int) -> list[bytes]:
    """The fields of a task's /proc/…/stat from the third on. The second is the name, which may contain anything."""
    fd = os.open(f"{task}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return os.read(fd, 4096).rpartition(b")")[2].split()
    finally:
        os.close(fd)


def _free(folder: str) -> tuple[int, int]:
    """Free and total bytes of the disk that holds `folder`."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize, status.f_blocks * status.f_frsize
