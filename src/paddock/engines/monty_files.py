"""System calls of a script on Monty: a private file tree in memory, and sleep."""

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


class SystemCalls:
    """Answers the system calls of one script. The file tree is created when the script first uses a file.

    The tree lives in the host's memory, so its growth is capped. Beyond the cap, writes fail with ENOSPC.
    """

    def __init__(self, attached: tuple[PlacedFile, ...], sleep_seconds: float) -> None:
        self._attached = attached
        self._longest_sleep = sleep_seconds
        self._files: _Files | None = None
        self._bytes_left = WRITTEN_BYTES
        self._entries_left = ENTRIES

    def __call__(self, *, name: Any, args: Any, kwargs: Any, is_async: bool, **_: Any) -> Any:
        if name in _SLEEPS:
            return asyncio.sleep(max(0.0, min(args[0], self._longest_sleep)))  # NaN becomes 0
        for path in (str(argument) for argument in args if isinstance(argument, PurePosixPath)):
            if len(path) > PATH_CHARACTERS or path.count("/") > PATH_PARTS:
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        if name in _WRITES:
            entries = str(args[0]).count("/") if name == "Path.mkdir" else 1  # mkdir may create all parent folders
            self._spend(entries, args[1:])
        if self._files is None:
            self._files = _Files(self._attached)
        return self._files(name=name, args=args, kwargs=kwargs, is_async=is_async)

    def _spend(self, entries: int, written_values: tuple[Any, ...]) -> None:
        self._entries_left -= entries
        for written in written_values:  # text, bytes, or a path
            self._bytes_left -= len(written if isinstance(written, bytes) else str(written).encode(errors="replace"))
        if self._bytes_left < 0 or self._entries_left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _Files(OSAccess):
    def __init__(self, attached: tuple[PlacedFile, ...]) -> None:
        super().__init__([MemoryFile(file.path, file.file.content) for file in attached], environ={})
        for folder in (ROOT, "/tmp"):  # noqa: S108  a folder of this tree, not of the host
            self.path_mkdir(PurePosixPath(folder), parents=True, exist_ok=True)

    def path_read_text(self, path: PurePosixPath | MontyFileHandle) -> str:
        text = super().path_read_text(path)
        # For an open file, Monty translates line ends itself.
        return text if isinstance(path, MontyFileHandle) else text.replace("\r\n", "\n").replace("\r", "\n")
