"""What a script on Monty finds outside itself: a private file tree in memory, and sleep."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import PurePosixPath
from typing import Any

from pydantic_monty import MemoryFile, MontyFileHandle, OSAccess

from paddock.model.files import ROOT, PlacedFile

WRITTEN_BYTES = 64 * 1024 * 1024
ENTRIES = 10_000
PATH_CHARACTERS = 4096
PATH_PARTS = 64
_SLEEPS = ("time.sleep", "asyncio.sleep", "system.sleep", "system.async_sleep")
_WRITES = ("open", "Path.mkdir", "Path.rename", "Path.write_text", "Path.write_bytes", "Path.append_text",
           "Path.append_bytes")  # fmt: skip


class Surroundings:
    """Answers the system calls of one script. The tree is made when the script first touches a file.

    It lives in the host's memory, so what a script may add to it is capped: after that, ENOSPC.
    """

    def __init__(self, placed: tuple[PlacedFile, ...], sleep_seconds: float) -> None:
        self._placed = placed
        self._longest_sleep = sleep_seconds
        self._files: _Files | None = None
        self._bytes_left = WRITTEN_BYTES
        self._entries_left = ENTRIES

    def __call__(self, *, name: Any, args: Any, kwargs: Any, is_async: bool, **_: Any) -> Any:
        if name in _SLEEPS:
            return asyncio.sleep(min(args[0], self._longest_sleep))
        for argument in args:
            if isinstance(argument, PurePosixPath) and _is_long(str(argument)):
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        if name in _WRITES:
            self._spend(args)
        if self._files is None:
            self._files = _Files(self._placed)
        return self._files(name=name, args=args, kwargs=kwargs, is_async=is_async)

    def _spend(self, args: tuple[Any, ...]) -> None:
        self._entries_left -= 1
        for given in args[1:]:
            self._bytes_left -= len(given.encode(errors="replace") if isinstance(given, str) else bytes_of(given))
        if self._bytes_left < 0 or self._entries_left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def bytes_of(given: object) -> bytes:
    """What a written argument takes up; a path is counted by its length."""
    return given if isinstance(given, bytes) else str(given).encode(errors="replace")


class _Files(OSAccess):
    def __init__(self, placed: tuple[PlacedFile, ...]) -> None:
        super().__init__([MemoryFile(file.path, file.file.content) for file in placed], environ={})
        for folder in (ROOT, "/tmp"):  # noqa: S108  a folder of this tree, not of the host
            self.path_mkdir(PurePosixPath(folder), parents=True, exist_ok=True)

    def path_read_text(self, path: PurePosixPath | MontyFileHandle) -> str:
        text = super().path_read_text(path)
        # A file that was opened is read by Monty itself, which translates line ends.
        return text if isinstance(path, MontyFileHandle) else text.replace("\r\n", "\n").replace("\r", "\n")


def _is_long(path: str) -> bool:
    return len(path) > PATH_CHARACTERS or path.count("/") > PATH_PARTS
