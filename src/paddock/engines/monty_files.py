"""The files that a script on the light engine sees: what was attached, and what it writes itself, all in memory."""

from __future__ import annotations

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


class Files(OSAccess):
    """A private file tree. It lives in the host's memory, so what a script may add to it is capped: then ENOSPC."""

    def __init__(self, placed: tuple[PlacedFile, ...]) -> None:
        super().__init__([MemoryFile(file.path, file.file.content) for file in placed], environ={})
        for folder in (ROOT, "/tmp"):  # noqa: S108  a folder of this tree, not of the host
            super().path_mkdir(PurePosixPath(folder), parents=True, exist_ok=True)
        self._bytes_left = WRITTEN_BYTES
        self._entries_left = ENTRIES

    def path_open(self, path: PurePosixPath, mode: str) -> MontyFileHandle:
        self._spend(0)
        return super().path_open(path, mode)

    def path_read_text(self, path: PurePosixPath | MontyFileHandle) -> str:
        text = super().path_read_text(path)
        # What was opened is read by Monty's own file, which does this itself.
        return text if isinstance(path, MontyFileHandle) else text.replace("\r\n", "\n").replace("\r", "\n")

    def path_write_text(self, path: PurePosixPath | MontyFileHandle, data: str) -> int:
        self._spend(len(data.encode()))
        return super().path_write_text(path, data)

    def path_write_bytes(self, path: PurePosixPath | MontyFileHandle, data: bytes) -> int:
        self._spend(len(data))
        return super().path_write_bytes(path, data)

    def path_append_text(self, path: PurePosixPath | MontyFileHandle, data: str) -> int:
        self._spend(len(data.encode()))
        return super().path_append_text(path, data)

    def path_append_bytes(self, path: PurePosixPath | MontyFileHandle, data: bytes) -> int:
        self._spend(len(data))
        return super().path_append_bytes(path, data)

    def path_mkdir(self, path: PurePosixPath, parents: bool, exist_ok: bool) -> None:
        self._spend(len(str(path)))
        super().path_mkdir(path, parents, exist_ok)

    def path_rename(self, path: PurePosixPath, target: PurePosixPath) -> None:
        self._spend(len(str(target)))
        super().path_rename(path, target)

    def _spend(self, size: int) -> None:
        self._bytes_left -= size
        self._entries_left -= 1
        if self._bytes_left < 0 or self._entries_left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _is_long(path: str) -> bool:
    return len(path) > PATH_CHARACTERS or path.count("/") > PATH_PARTS


class LazyFiles:
    """`Files`, made when a script first touches one; most never do."""

    def __init__(self, placed: tuple[PlacedFile, ...]) -> None:
        self._placed = placed
        self._files: Files | None = None

    def __call__(self, *, name: Any, args: Any, kwargs: Any, is_async: bool, **_: Any) -> Any:
        for argument in args:
            if isinstance(argument, PurePosixPath) and _is_long(str(argument)):
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        if self._files is None:
            self._files = Files(self._placed)
        return self._files(name=name, args=args, kwargs=kwargs, is_async=is_async)
