"""Stored artifacts: records in the database, bytes in objects.

Bytes are written first, under a new key; then one transaction updates the record to refer to them. So every record has
its bytes, and a reader sees either all old or all new bytes. `sweep` deletes objects that no artifact uses.

    scope = stored.of(Owner("ann", session="s1"))
    artifact = await scope.create("report.csv", "text/csv", b"a,b")
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from paddock.errors import BadArtifact, StoreError
from paddock.model.artifacts import (
    ARTIFACT_BYTES,
    NAME_CHARACTERS,
    URL,
    Artifact,
    Owner,
    looks_like_text,
    name_problem,
)
from paddock.model.limits import MB, format_bytes
from paddock.store.artifact_links import ArtifactLinks
from paddock.store.artifact_text import Page, Query, Search, TextReader, Unit
from paddock.store.memory import new_artifact_id
from paddock.store.objects import Objects, Part

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from paddock.config import ArtifactsConfig, Config
    from paddock.store.artifact_records import Records
    from paddock.store.database import Store

T = TypeVar("T")
MERGED_BYTES = 4 * MB
"""Small parts at the end of an artifact are merged with appended bytes, up to this size."""
WAITING_BYTES = 256 * MB
"""If more waits to be deleted, it waits a minute instead of an hour. When so much was written, a sweep is due."""
LIST_LIMIT = 200
REF_CHARACTERS = 2000
HEAD_BYTES = 8192
_ID = re.compile(r"a_[\w-]{20}", re.ASCII)
_CURSOR = re.compile(rf"(\d{{1,15}}(?:\.\d{{1,20}})?)~({_ID.pattern})", re.ASCII)
Content: TypeAlias = bytes | AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """An artifact with the objects that held its bytes when it was found. They stay readable for a minute or more."""

    artifact: Artifact
    session: str | None
    run_id: str | None
    created_at: float
    expires_at: float | None
    parts: tuple[Part, ...] = ()
    """Empty for the artifacts of a `Listing`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the artifact as JSON values."""
        more = {"run_id": self.run_id, "created_at": self.created_at, "expires_at": self.expires_at}
        return {**asdict(self.artifact), **more}


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of artifacts, newest first. Pass `cursor` to get the next page; it is None on the last page."""

    artifacts: tuple[StoredArtifact, ...]
    cursor: str | None


class StoredArtifacts:
    """Everyone's artifacts. Callers get an `ArtifactScope`, which is limited to one owner."""

    def __init__(
        self,
        store: Store,
        objects: Objects,
        settings: ArtifactsConfig,
        *,
        base_url: str = "",
        links: ArtifactLinks | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`base_url` is used if `settings` has none."""
        self.store, self.objects, self.settings, self.clock = store, objects, settings, clock
        self.texts = TextReader()
        self.written_bytes = 0
        """What this process has written. What waits to be deleted grows by no more, apart from what counted before."""
        base_url = settings.base_url or base_url
        self._base_url = f"{base_url.rstrip('/')}/" if base_url else URL
        self._links = links if self._base_url.startswith(("http://", "https://")) else None

    @classmethod
    def from_config(cls, config: Config, store: Store, *, base_url: str = "") -> StoredArtifacts:
        """Create the artifacts that `config` describes."""
        objects = Objects(config.artifacts.url, Path(config.data_directory) / "artifacts")
        links = ArtifactLinks(Path(config.data_directory) / "artifact-links.key")
        return cls(store, objects, config.artifacts, base_url=base_url, links=links)

    def of(self, owner: Owner, run_id: str | None = None) -> ArtifactScope:
        """Return the artifacts that `owner` sees. New artifacts are recorded as created by the run `run_id`."""
        return ArtifactScope(self, owner, run_id)

    async def sweep(self) -> int:
        """Remove expired artifacts, and delete objects that no artifact uses. Returns how many objects it deleted."""
        from paddock.store import artifact_records as records

        write = self.store.writer.write
        while await write(lambda connection: records.remove_expired(connection, self.clock())):
            pass
        deleted = 0
        is_hurried = await self.store.read(records.waiting_bytes) > WAITING_BYTES
        mark = partial(records.mark_doomed, is_hurried=is_hurried)
        while keys := await write(lambda connection: mark(connection, self.clock())):
            for key in keys:
                await self.objects.delete(key)
            await write(partial(records.forget_objects, keys=keys))
            deleted += len(keys)
        return deleted

    async def close(self) -> None:
        """End the threads. The store stays open."""
        await asyncio.to_thread(self.texts.close)

    def url_of(self, artifact_id: str) -> str:
        return f"{self._base_url}{artifact_id}"

    def id_of(self, ref: str) -> str:
        """Return the id in a URL, else `ref` itself."""
        if ref.startswith(self._base_url):
            return ref.removeprefix(self._base_url).partition("?")[0]
        return ref.removeprefix(URL)

    async def of_link(self, artifact_id: str, until: int, signature: str) -> ArtifactScope | None:
        """Return the artifacts of the principal whose artifact a link is for; None if the link is not valid now."""
        from paddock.store import artifact_records as records

        principal = await self.store.read(lambda connection: records.principal_of(connection, artifact_id))
        if principal is None or self._links is None:
            return None
        is_valid = self._links.is_valid(principal, artifact_id, until, signature, self.clock())
        return self.of(Owner(principal)) if is_valid else None

    def from_row(self, row: Row[Any], parts: tuple[Part, ...] = ()) -> StoredArtifact:
        url = self.url_of(row.id)
        if self._links is not None:
            url = f"{url}?{self._links.query(row.principal, row.id, self.clock())}"
        artifact = Artifact(row.id, row.filename, row.mime_type, row.size, url)
        return StoredArtifact(artifact, row.session, row.run_id, row.created_at, row.expires_at, parts)

    def check_size(self, size: int) -> None:
        """Raise BadArtifact for an artifact above the size limit."""
        limit = self.settings.artifact_bytes
        if limit and size > limit:
            raise BadArtifact(
                f"an artifact may be at most {format_bytes(limit)}; this one is larger, so create several"
            )


class ArtifactScope:
    """The artifacts of one owner. Implements the Protocol `Artifacts`. Never shows artifacts of other principals."""

    def __init__(self, stored: StoredArtifacts, owner: Owner, run_id: str | None) -> None:
        self._stored, self.owner, self._run_id = stored, owner, run_id

    async def create(self, filename: str, mime_type: str, content: Content) -> Artifact:
        """Store bytes, or the bytes of a stream, under a new id."""
        problem = name_problem(filename)
        if problem is not None:
            raise BadArtifact(problem)
        artifact_id = new_artifact_id()
        async with self._new_object(artifact_id, content) as part:
            row = await self._write(lambda records: records.add(artifact_id, filename, mime_type, part))
        return self._stored.from_row(row).artifact

    async def read(self, ref: str) -> tuple[Artifact, bytes] | None:
        """Return an artifact with its bytes, for a script. Raises BadArtifact if it is too large for a script."""
        stored = await self.find(ref)
        if stored is None:
            return None
        if stored.artifact.size > ARTIFACT_BYTES:
            raise BadArtifact(
                f"the artifact {stored.artifact.filename!r} has {format_bytes(stored.artifact.size)}, and a script "
                f"reads at most {format_bytes(ARTIFACT_BYTES)} at once; the tool read_artifact pages and searches it"
            )
        return stored.artifact, b"".join([chunk async for chunk in self.stream(stored)])

    async def find(self, ref: str, *, in_session_only: bool = False) -> StoredArtifact | None:
        """Find the artifact with this id or URL, else the newest with this name: of the session, else of the principal.

        With `in_session_only`, a name finds only artifacts of the session; an id or URL finds any of the principal.
        """
        stored = self._stored

        def find(records: Records) -> StoredArtifact | None:
            row = records.find_id(stored.id_of(ref)) or records.find_name(ref, in_session_only=in_session_only)
            return None if row is None else stored.from_row(row, records.parts(row.id))

        # A text that cannot be a name is not looked up, because the database may not accept it.
        return await self._read(find) if len(ref) <= REF_CHARACTERS and ref.isprintable() else None

    def is_reference(self, ref: str) -> bool:
        """Whether `ref` has the form of an id or a URL. The artifact may not exist."""
        return _ID.fullmatch(self._stored.id_of(ref)) is not None

    async def replace(self, found: StoredArtifact, mime_type: str, content: Content) -> Artifact:
        """Replace an artifact's bytes and type. It keeps its id."""
        artifact_id = found.artifact.id
        async with self._new_object(artifact_id, content) as part:
            row = await self._write(lambda records: records.replace(artifact_id, mime_type, part))
        return self._stored.from_row(row).artifact

    async def append(self, found: StoredArtifact, content: Content) -> Artifact:
        """Append bytes. Concurrent appends are all kept, each in one piece."""
        if isinstance(content, bytes):
            merged = _small_parts(found.parts, len(content))
            before = [piece async for piece in self._stored.objects.read(merged)]
            with suppress(_ConcurrentAppend):
                return await self._append(found, b"".join([*before, content]), merged)
        return await self._append(found, content, ())

    async def remove(self, found: StoredArtifact) -> None:
        """Remove an artifact at once. Its bytes are deleted later, when no reader can need them."""
        await self._write(lambda records: records.remove(found.artifact.id))

    def stream(self, found: StoredArtifact, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Stream the bytes that the artifact had when it was found, in pieces of a few megabytes."""
        return self._stored.objects.read(found.parts, start, end)

    async def list(
        self,
        *,
        session_only: bool = False,
        filename: str = "",
        mime_type: str = "",
        limit: int = 50,
        cursor: str | None = None,
    ) -> Listing:
        """List artifacts, newest first. `cursor` is the one that the previous page returned.

        `filename` and `mime_type` are patterns with `*` and `?`, which ignore case.
        """
        before, limit = _parse_cursor(cursor), max(1, min(limit, LIST_LIMIT))
        if max(len(filename), len(mime_type)) > NAME_CHARACTERS or not f"{filename}{mime_type}".isprintable():
            raise BadArtifact(f"a pattern may have at most {NAME_CHARACTERS} characters, and no control characters")
        patterns = {"filename": filename, "mime_type": mime_type}
        rows = await self._read(lambda records: records.list(patterns, before, limit + 1, in_session_only=session_only))
        page = tuple(self._stored.from_row(row) for row in rows[:limit])
        next_cursor = f"{page[-1].created_at!r}~{page[-1].artifact.id}" if len(rows) > limit else None
        return Listing(page, next_cursor)

    async def is_text(self, found: StoredArtifact) -> bool:
        """Whether the artifact can be paged and searched, judging by its type and its first bytes."""
        head = b"".join([piece async for piece in self.stream(found, 0, HEAD_BYTES)])
        return looks_like_text(found.artifact.mime_type, head)

    async def page(self, found: StoredArtifact, unit: Unit, offset: int, limit: int) -> Page:
        """Read a page of the artifact's text."""
        async with self._text(found, offset, limit) as chunks:
            return await self._stored.texts.page(chunks, unit, offset, limit, self.owner.principal)

    async def search(self, found: StoredArtifact, query: Query) -> Search:
        """Search the artifact's text."""
        async with self._text(found, query.offset, query.limit) as chunks:
            return await self._stored.texts.search(chunks, query, self.owner.principal)

    @asynccontextmanager
    async def _text(self, found: StoredArtifact, offset: int, limit: int) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open the artifact's text. Raises BadArtifact if it is binary, or if `offset` or `limit` is not valid."""
        if offset < 0 or limit < 1:
            raise BadArtifact(f"an offset is at least 0 and a limit at least 1, not {offset} and {limit}")
        if not await self.is_text(found):
            raise BadArtifact(
                f"the artifact {found.artifact.filename!r} is binary ({found.artifact.mime_type}): only text is paged "
                "and searched; a script reads its bytes with the function read_artifact"
            )
        async with aclosing(self.stream(found)) as chunks:
            yield chunks

    async def _append(self, found: StoredArtifact, content: Content, merged: tuple[Part, ...]) -> Artifact:
        artifact_id, present = found.artifact.id, found.artifact.size - sum(part.size for part in merged)
        async with self._new_object(artifact_id, content, present) as part:
            row = await self._write(lambda records: records.append(artifact_id, part, merged))
            if row is None:
                raise _ConcurrentAppend
        return self._stored.from_row(row).artifact

    @asynccontextmanager
    async def _new_object(self, artifact_id: str, content: Content, present: int = 0) -> AsyncIterator[Part]:
        """Write `content` to a new object, which the block records. If the block fails, the object is deleted soon.

        The artifact has `present` other bytes. The transaction that records the object checks the quota again.
        """
        from paddock.store import artifact_records as records

        stored, writer, size = self._stored, self._stored.store.writer, 0

        async def counted(chunks: AsyncIterator[bytes], max_bytes: int | None) -> AsyncIterator[bytes]:
            nonlocal size
            async for chunk in chunks:
                size += len(chunk)
                if max_bytes is not None and size > max_bytes:
                    raise BadArtifact(
                        f"only {format_bytes(max(0, max_bytes))} more may be stored; store less, or remove some"
                    )
                yield chunk

        if isinstance(content, bytes):
            size = len(content)
            stored.check_size(present + size)
        else:
            content = counted(content, await self._read(lambda records: records.bytes_left(present)))
        # A key contains nothing that a caller chose: two characters for a folder, the id, and a random suffix.
        key = f"{artifact_id[2:4]}/{artifact_id}.{secrets.token_hex(8)}"
        await writer.write(lambda connection: records.add_object(connection, key, stored.clock()))
        try:
            await stored.objects.put(key, content)
            yield Part(key, size)
        except BaseException:
            now = stored.clock()
            with suppress(StoreError):  # if this fails, `sweep` deletes the object a day later
                writer.put_nowait(lambda connection: records.delete_soon(connection, key, now))
            raise
        finally:
            stored.written_bytes += size + records.FILE_BYTES

    async def _write(self, change: Callable[[Records], T]) -> T:
        """Change records of this owner in one transaction."""
        return await self._stored.store.writer.write(self._with_records(change))

    async def _read(self, query: Callable[[Records], T]) -> T:
        return await self._stored.store.read(self._with_records(query), principal=self.owner.principal)

    def _with_records(self, work: Callable[[Records], T]) -> Callable[[Connection], T]:
        now = self._stored.clock()

        def run(connection: Connection) -> T:
            from paddock.store.artifact_records import Records

            return work(Records(connection, self._stored, self.owner, self._run_id, now))

        return run


class _ConcurrentAppend(Exception):
    """Another append to the artifact finished first."""


def _small_parts(parts: tuple[Part, ...], size: int) -> tuple[Part, ...]:
    """Return the last parts that are merged with `size` appended bytes.

    Each is no larger than all bytes after it, so that many appends leave few parts.
    """
    first = len(parts)
    while first and parts[first - 1].size <= size and size + parts[first - 1].size <= MERGED_BYTES:
        first -= 1
        size += parts[first].size
    return parts[first:]


def _parse_cursor(cursor: str | None) -> tuple[float, str] | None:
    if cursor is None:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise BadArtifact("the cursor is not valid; pass the cursor of the previous page unchanged")
    return float(match[1]), match[2]
