"""Tells which processes are alive: each locks its own file, and the kernel releases the lock when the process ends.

A pid is not enough: two containers that share a folder do not see each other's pids, and pids are reused.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path


class ProcessLock:
    """The lock of this process. Its name marks the runs that the process owns. The file is created on first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"{os.getpid()}-{secrets.token_hex(8)}"  # the pid helps people who look into the folder
        self._fd: int | None = None

    def hold(self) -> str:
        """Take the lock. Returns its name, with which others can check whether this process is alive."""
        while self._fd is None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._fd = _lock(self._folder / self.name, os.O_RDWR | os.O_CREAT)
        return self.name

    def is_alive(self, name: str) -> bool:
        """Whether the process of that name still runs. If it does not, its file is removed."""
        if name == self.name:
            return True
        path = self._folder / Path(name).name
        try:
            fd = _lock(path, os.O_RDWR)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        if fd is not None:
            path.unlink(missing_ok=True)
            os.close(fd)
        return False

    def release(self) -> None:
        """Release the lock. Call this only when no run of this process is in progress."""
        if self._fd is not None:
            (self._folder / self.name).unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None


def _lock(path: Path, flags: int) -> int | None:
    """Open and lock the file. Returns None if the file was removed meanwhile: nobody would see the lock."""
    fd = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_nlink > 0:
            return fd
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    return None
