"""Reading, writing and emptying one directory of cgroupfs. An error is an OSError that names the file."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

PATIENCE_SECONDS = 2.0
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
    """The files of one group that are used for every guest. They stay open with `kept`: to open one takes longer than
    to read or write it. Not for `cgroup.procs`, where a descriptor of v1 that was read before shows an old list."""

    def __init__(self, group: Path, *, kept: bool) -> None:
        self._group = group
        self._kept = kept
        self._fds: dict[tuple[str, int], int] = {}

    def fd(self, name: str, mode: int) -> int:
        """Stays ours: do not close it."""
        fd = self._fds.get((name, mode))
        if fd is None:
            fd = self._fds[name, mode] = os.open(self._group / name, mode | os.O_CLOEXEC)
        return fd

    def number(self, name: str) -> int:
        """A file that holds one number."""
        return int(os.pread(self.fd(name, os.O_RDONLY), FILE_BYTES, 0))

    def field(self, name: str, key: str) -> int | None:
        """A number of a file of `name number` lines, or None where this kernel does not count it."""
        return _field(os.pread(self.fd(name, os.O_RDONLY), FILE_BYTES, 0).decode(), key)

    def write(self, name: str, text: str) -> None:
        """Write a value. Lowering a limit may block for milliseconds; the rest takes microseconds."""
        try:
            os.pwrite(self.fd(name, os.O_WRONLY), text.encode(), 0)
        except OSError as error:
            raise OSError(error.errno, f"cannot write {text}: {error.strerror}", f"{self._group}/{name}") from error

    def rest(self, but: Container[str] = ()) -> None:
        """They are not used for a while: those that are not kept are closed, `but` these, which are to be read."""
        if not self._kept:
            for name, mode in list(self._fds):
                if name not in but or mode != os.O_RDONLY:
                    os.close(self._fds.pop((name, mode)))

    def close(self) -> None:
        while self._fds:
            os.close(self._fds.popitem()[1])


def write(path: str, text: str) -> None:
    """Write a value. Moving a process or lowering a limit may block for milliseconds; the rest takes microseconds."""
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        raise OSError(error.errno, f"cannot write {text}: {error.strerror}", path) from error
    finally:
        os.close(fd)


def read(path: str) -> str:
    """The file's text, without surrounding white space."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # The kernel hands out cgroup.procs a page at a time.
        parts = iter(lambda: os.read(fd, 65536), b"")
        return b"".join(parts).decode().strip()
    finally:
        os.close(fd)


def _field(text: str, name: str) -> int | None:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return None


def members(group: Path) -> set[int]:
    """The processes of the group. One of a foreign pid namespace is listed as 0 and left out: nobody can name it."""
    return {int(line) for line in read(f"{group}/cgroup.procs").split()} - {0}


def end_members(group: Path, *, within_seconds: float = PATIENCE_SECONDS) -> bool:
    """SIGKILL until no process is left in the group; whether that was reached in time. Stop forks first.

    A killed process stays in the group until it has let go of its memory.
    """
    deadline = time.monotonic() + within_seconds
    # Again and again: what was being forked while the list was read is in the next one.
    while alive := members(group):
        _kill(group, alive)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.0005)
    return True


def _kill(group: Path, pids: set[int]) -> None:
    handles: dict[int, int] = {}
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                handles[pid] = os.pidfd_open(pid)
        # A number can be reused before it is opened; one that is still listed afterwards was ours when opened.
        for pid in members(group) & handles.keys():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handles[pid], signal.SIGKILL)
    finally:
        for handle in handles.values():
            os.close(handle)


def remove(group: Path, *, within_seconds: float = PATIENCE_SECONDS) -> None:
    """Remove the group and the groups in it. OSError where a process in one of them does not end."""
    with contextlib.suppress(OSError):
        return group.rmdir()  # one with nothing in it: no descriptor is needed for that
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(group):
            if entry.is_dir(follow_symlinks=False):
                remove(Path(entry.path), within_seconds=within_seconds)
    deadline = time.monotonic() + within_seconds
    while True:
        try:
            return group.rmdir()
        except FileNotFoundError:
            return None
        except OSError:
            # The last process is off the list a moment before the kernel lets go of the group.
            if time.monotonic() > deadline:
                raise
        time.sleep(0.0005)
