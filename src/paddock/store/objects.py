"""The bytes of artifacts: objects in a folder or a bucket that are written once, read in ranges, and deleted.

A key contains nothing that a caller or a script chose.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from paddock.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

RANGE_BYTES = 4 * 1024 * 1024
"""Size of one read: a compromise between requests to a bucket and memory."""
PART_BYTES = 8 * 1024 * 1024
"""Size of one part of an upload."""
PARTS_AT_ONCE = 2
STAGED_SUFFIX = "#"
"""The first character of the suffix that obstore gives to the name of a file while it writes the file."""


@dataclass(frozen=True, slots=True)
class Part:
    """An object that holds part of an artifact."""

    key: str
    size: int


class Objects:
    """Objects in one folder or bucket, by key. Opened on first use."""

    def __init__(self, url: str, folder: str | Path) -> None:
        """Use the bucket, folder or memory that `url` names, or `folder` if `url` is empty."""
        self._url = url
        scheme, _, path = url.partition("://")
        local = Path(unquote(path)) if scheme == "file" else Path(folder)
        self.folder: Path | None = local if scheme in ("", "file") else None
        self._probe = f"probe-{secrets.token_hex(8)}/probe"  # always the same, so that a problem has one text
        self._store: ObjectStore | None = None
        self._lock = threading.Lock()

    async def put(self, key: str, content: bytes | AsyncIterator[bytes]) -> None:
        """Write an object completely and sync it to disk. A failure or cancellation leaves nothing behind."""
        import obstore

        store = await self._get_store()
        with _store_errors("written"):
            await obstore.put_async(store, key, content, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)
            if self.folder is not None:
                await asyncio.to_thread(_sync, self.folder / key)

    async def probe(self) -> None:
        """Write and delete a small object in a new folder, as most artifacts are. Raises StoreError if that fails."""
        await self.put(self._probe, b"paddock")
        await self.delete(self._probe)
        if self.folder is not None:
            with suppress(OSError):
                await asyncio.to_thread((self.folder / self._probe).parent.rmdir)

    async def read(self, parts: Sequence[Part], start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Stream the bytes from `start` to `end` of several objects, as if they were one."""
        first = 0  # where the part begins
        for part in parts:
            part_end = part.size if end is None else min(part.size, end - first)
            for offset in range(max(0, start - first), part_end, RANGE_BYTES):
                yield await self._read_range(part.key, offset, min(RANGE_BYTES, part_end - offset))
            first += part.size

    async def _read_range(self, key: str, start: int, length: int) -> bytes:
        import obstore

        store = await self._get_store()
        with _store_errors("read"):
            try:
                piece = await obstore.get_range_async(store, key, start=start, length=length)
            except FileNotFoundError:
                raise StoreError("the artifact was changed or removed while it was read; read it again") from None
        if len(piece) != length:
            raise StoreError("the stored bytes of the artifact are incomplete; create it again")
        return piece.to_bytes()

    async def delete(self, key: str) -> None:
        """Delete an object, or the remains of an interrupted write. A missing object is not an error."""
        import obstore

        store = await self._get_store()
        with _store_errors("deleted"), suppress(FileNotFoundError):
            await obstore.delete_async(store, key)
        if self.folder is not None:
            await asyncio.to_thread(_delete_staged, self.folder / key)

    async def _get_store(self) -> ObjectStore:
        return await asyncio.to_thread(self._open) if self._store is None else self._store

    def _open(self) -> ObjectStore:
        import obstore
        from obstore.store import LocalStore, from_url

        with self._lock:
            if self._store is not None:
                return self._store
            try:
                if self.folder is not None:
                    self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    self._store = LocalStore(self.folder)
                else:
                    self._store = from_url(self._url)
            except OSError as problem:
                raise StoreError(f"the artifacts' folder {self.folder} cannot be used: {problem.strerror}") from None
            except (obstore.exceptions.BaseError, ValueError) as problem:
                raise ConfigError(f"artifacts.url {self._url!r} cannot be used: {_first_line(problem)}") from None
            return self._store


@contextmanager
def _store_errors(action: str) -> Iterator[None]:
    """Raise the errors of obstore and of the disk as StoreError."""
    import obstore

    try:
        yield
    except (obstore.exceptions.BaseError, OSError) as problem:
        raise StoreError(f"the bytes of an artifact cannot be {action}: {_first_line(problem)}") from None


def _sync(path: Path) -> None:
    """Wait until the file and its directory entry are on disk, because the record is written after them."""
    for each in (path, path.parent):
        descriptor = os.open(each, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _delete_staged(path: Path) -> None:
    """Delete the remains of a write that was interrupted by a crash."""
    if path.parent.is_dir():
        for file in path.parent.glob(f"{path.name}{STAGED_SUFFIX}*"):
            file.unlink(missing_ok=True)


def _first_line(problem: Exception) -> str:
    """Return the message without the debugging output that obstore adds."""
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
