"""Artifacts that outlive the process: records in the database, bytes in objects.

Bytes are written first, under a key of their own, and then a record is changed to name them, in one transaction: there
is no record without its bytes, and no moment at which an artifact has some of its old bytes and some of its new ones.
What belongs to no record, after a crash or because it was replaced, is deleted by `sweep`.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from paddock.errors import BadArtifact, StoreError
from paddock.model.artifacts import URL, Artifact, Owner
from paddock.store.artifact_texts import Texts
from paddock.store.artifact_values import Content, Kept, Part, Room
from paddock.store.objects import Objects
from paddock.store.own_artifacts import OwnArtifacts, records

if TYPE_CHECKING:
    from sqlalchemy import Row

    from paddock.config import Config
    from paddock.store.database import Store

DAY_SECONDS = 86_400.0


class StoredArtifacts:
    """Everyone's artifacts. `of` gives those of one owner, which is all that anyone else may get hold of."""

    def __init__(
        self,
        store: Store,
        objects: Objects,
        room: Room,
        *,
        days: float = 30.0,
        base_url: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store, self.objects, self.room, self.clock = store, objects, room, clock
        self.texts = Texts(objects)
        self._days = days
        self._base_url = f"{base_url.rstrip('/')}/" if base_url else URL

    @classmethod
    def from_config(cls, config: Config, store: Store, *, base_url: str = "") -> StoredArtifacts:
        """As `config` says. `base_url` is a server's own, where the setting does not name one."""
        asked = config.artifacts
        room = Room(asked.artifact_bytes, asked.principal_bytes, asked.principal_count)
        return cls(store, Objects.of(config), room, days=asked.days, base_url=asked.base_url or base_url)

    def of(self, owner: Owner, run_id: str | None = None) -> OwnArtifacts:
        """Those that `owner` sees; what is made is noted as made by the run."""
        return OwnArtifacts(self, owner, run_id)

    async def sweep(self) -> int:
        """Forget what has expired, and delete the bytes that belong to nothing; how many objects."""
        while await self.store.writer.write(lambda connection: records().remove_expired(connection, self.clock())):
            pass
        deleted = 0
        while keys := await self.store.writer.write(lambda connection: records().doom(connection, self.clock())):
            for key in keys:
                await self.objects.delete(key)
            await self.store.writer.write(partial(records().forget, keys=keys))
            deleted += len(keys)
        return deleted

    async def close(self) -> None:
        """End the threads. The store is its owner's to close."""
        await asyncio.to_thread(self.texts.close)

    def id_of(self, ref: str) -> str:
        """The id that is in a URL, else `ref` itself."""
        return ref.removeprefix(URL).removeprefix(self._base_url)

    def kept(self, row: Row[Any], parts: tuple[Part, ...] = ()) -> Kept:
        artifact = Artifact(row.id, row.filename, row.mime_type, row.size, self.url_of(row.id))
        return Kept(artifact, row.session, row.run_id, row.created_at, row.expires_at, parts)

    def expires_at(self, now: float) -> float | None:
        return now + self._days * DAY_SECONDS if self._days else None

    def url_of(self, artifact_id: str) -> str:
        return f"{self._base_url}{artifact_id}"

    @asynccontextmanager
    async def written(self, artifact_id: str, content: Content, most_bytes: int | None) -> AsyncIterator[Part]:
        """An object with `content`, for the block to give to an artifact; if that fails it is given up."""
        # Nothing of a caller's is in a key: two characters that spread them over folders, the id, and which object.
        key = f"{artifact_id[2:4]}/{artifact_id}.{secrets.token_hex(8)}"
        counted = _Counted(content, most_bytes)
        await self.store.writer.write(lambda connection: records().enter(connection, key, self.clock()))
        try:
            await self.objects.put(key, content if isinstance(content, bytes) else counted.chunks(content))
            yield Part(key, counted.size)
        except BaseException:
            now = self.clock()
            with suppress(StoreError):  # it is deleted a day later then
                self.store.writer.later(lambda connection: records().give_up(connection, key, now))
            raise


class _Counted:
    """How many bytes there are, or have been so far."""

    def __init__(self, content: Content, most_bytes: int | None) -> None:
        self.size = len(content) if isinstance(content, bytes) else 0
        self._most_bytes = most_bytes

    async def chunks(self, content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in content:
            self.size += len(chunk)
            if self._most_bytes is not None and self.size > self._most_bytes:
                raise BadArtifact(f"only {max(0, self._most_bytes)} bytes more may be kept here; keep less, or remove")
            yield chunk
