"""Ending all that is in a directory of cgroupfs, and removing it. Imports little: each tidier has it loaded."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

PATIENCE_SECONDS = 2.0

Group = str | os.PathLike[str]


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


def members(group: Group) -> set[int]:
    """The processes of the group. One of a foreign pid namespace is listed as 0 and left out: nobody can name it."""
    return {int(line) for line in read(f"{group}/cgroup.procs").split()} - {0}


def end_members(group: Group, *, within_seconds: float = PATIENCE_SECONDS) -> bool:
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


def _kill(group: Group, pids: set[int]) -> None:
    handles: dict[int, int] = {}
    try:
        for pid in pids:
            with suppress(ProcessLookupError):
                handles[pid] = os.pidfd_open(pid)
        # A number can be reused before it is opened; one that is still listed afterwards was ours when opened.
        for pid in members(group) & handles.keys():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handles[pid], signal.SIGKILL)
    finally:
        for handle in handles.values():
            os.close(handle)


def remove(group: Group, *, within_seconds: float = PATIENCE_SECONDS) -> None:
    """Remove the group and the groups in it. OSError where a process in one of them does not end."""
    with suppress(OSError):
        return os.rmdir(group)  # noqa: PTH106  one with nothing in it: no descriptor is needed for that
    with suppress(FileNotFoundError):
        for inside in groups_in(group):
            remove(inside, within_seconds=within_seconds)
    deadline = time.monotonic() + within_seconds
    while True:
        try:
            return os.rmdir(group)  # noqa: PTH106
        except FileNotFoundError:
            return None
        except OSError:
            # The last process is off the list a moment before the kernel lets go of the group.
            if time.monotonic() > deadline:
                raise
        time.sleep(0.0005)


def groups_in(group: Group) -> list[str]:
    """The groups directly in this one."""
    with os.scandir(group) as entries:
        return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
