"""A lock on a file, between processes. The kernel drops it with the last process that has the file open."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

WAIT_SECONDS = 0.05


class FileLock:
    """Shared by many, or exclusive to one. Several of one process exclude each other like those of several."""

    def __init__(self, path: Path, *, exclusive: bool) -> None:
        self.path = path
        self._kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        """The open file; a child that inherits it holds the lock too."""
        if self._fd is None:
            raise ValueError(f"{self.path} is not locked")
        return self._fd

    def try_take(self) -> bool:
        """Take the lock if nobody is in the way."""
        while True:
            fd = os.open(self.path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(fd, self._kind | fcntl.LOCK_NB)
                # The file may have been removed between the two calls: then this lock excludes nobody.
                if os.fstat(fd).st_ino == os.stat(self.path).st_ino:  # noqa: PTH116
                    self._fd = fd
                    return True
            except BlockingIOError:
                os.close(fd)
                return False
            except FileNotFoundError:
                pass
            os.close(fd)

    def take(self, pause: Callable[[float], object], waiting: Callable[[], None] = lambda: None) -> None:
        """Take the lock, however long others hold it. `waiting` is called once if they do; `pause` may raise."""
        if self.try_take():
            return
        waiting()
        while not self.try_take():
            pause(WAIT_SECONDS)

    def release(self, *, remove: bool = False) -> None:
        """Give the lock back; with `remove`, which an exclusive holder may ask for, its file goes too."""
        if self._fd is not None:
            if remove:
                self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> FileLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
