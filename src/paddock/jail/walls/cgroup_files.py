"""The files of one directory of cgroupfs that are used again and again. An error is an OSError that names the file."""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

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


def _field(text: str, name: str) -> int | None:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return None
