"""Which processes are alive: each holds a lock on a file of its own, which the kernel drops when it ends.

Not by pid: two servers in two containers that share a folder cannot see each other's, and a pid is used again.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path


class Owner:
    """This process, as the owner of what goes on in it. Its file is made when it first owns something."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"{os.getpid()}-{secrets.token_hex(8)}"  # the number is for people
        self._fd: int | None = None

    def hold(self) -> str:
        """Be alive from here on; the name by which others ask."""
        while self._fd is None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._fd = _locked(self._folder / self.name, os.O_RDWR | os.O_CREAT)
        return self.name

    def is_alive(self, name: str) -> bool:
        """Whether the process of that name still runs."""
        if name == self.name:
            return True
        path = self._folder / Path(name).name
        try:
            fd = _locked(path, os.O_RDWR)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        if fd is not None:
            path.unlink(missing_ok=True)
            os.close(fd)
        return False

    def release(self) -> None:
        """This process owns nothing any more."""
        if self._fd is not None:
            (self._folder / self.name).unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None


def _locked(path: Path, flags: int) -> int | None:
    """The file, locked; None where it was removed meanwhile, so that the lock would tell nobody."""
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
