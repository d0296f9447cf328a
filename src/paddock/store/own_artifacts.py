"""The artifacts of one owner: made, found, replaced, appended to, listed, paged and searched."""

from __future__ import annotations

import os
import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from paddock.errors import BadArtifact
from paddock.model.artifacts import ARTIFACT_BYTES, NAME_CHARACTERS, Artifact, Owner, name_problem
from paddock.store.artifact_texts import Query
from paddock.store.artifact_values import Content, Filters, Kept, Listing, Part

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from paddock.store.artifacts import StoredArtifacts
    from paddock.store.text.paging import Page
    from paddock.store.text.places import Unit
    from paddock.store.text.searching import Search

MB = 1024 * 1024
MERGED_BYTES = 4 * MB
"""Small parts at the end of an artifact are written anew with what is appended, up to so much."""
MOST_LISTED = 200
MOST_REF = 2000
NO_FILTERS = Filters()
_ID = re.compile(r"a_[\w-]{20}", re.ASCII)
_CURSOR = re.compile(rf"(\d{{1,15}}(?:\.\d{{1,20}})?)~({_ID.pattern})", re.ASCII)


class OwnArtifacts:
    """What one owner keeps: the Protocol `Artifacts`, and more. What is not the principal's is as if not there."""

    def __init__(self, stored: StoredArtifacts, owner: Owner, run_id: str | None) -> None:
        self._stored, self.owner, self._run_id = stored, owner, run_id
        self._write = stored.store.writer.write

    async def create(self, filename: str, mime_type: str, content: Content) -> Artifact:
        """Keep bytes, or what a stream gives, under a new id."""
        problem = name_problem(filename)
        if problem is not None:
            raise BadArtifact(problem)
        stored, name = self._stored, f"a_{urlsafe_b64encode(os.urandom(15)).decode()}"
        async with stored.written(name, content, await self._most_bytes(content)) as part:
            values = {"id": name, "filename": filename, **self._values(mime_type, part.size)}
            now = values["created_at"]
            await self._write(
                lambda connection: records().add(connection, self.owner, values, part.key, stored.room, now)
            )
        return Artifact(name, filename, mime_type, part.size, stored.url_of(name))

    async def read(self, ref: str) -> tuple[Artifact, bytes] | None:
        """All of one, for a script. One that is larger than a script may have is refused."""
        kept = await self.find(ref)
        if kept is None:
            return None
        if kept.artifact.size > ARTIFACT_BYTES:
            raise BadArtifact(
                f"the artifact {kept.artifact.filename!r} has {kept.artifact.size} bytes, and a script reads at most "
                f"{ARTIFACT_BYTES // MB} MB at once; the tool read_artifact pages and searches it"
            )
        return kept.artifact, b"".join([chunk async for chunk in self.stream(kept)])

    async def find(self, ref: str, *, in_session_only: bool = False) -> Kept | None:
        """The one with this id or URL, else the newest of this name: of the session, else of the principal.

        With `in_session_only` a name finds none of another session; an id does.
        """
        stored, now = self._stored, self._stored.clock()

        def look(connection: Connection) -> Kept | None:
            known = records()
            row = known.find_id(connection, self.owner, stored.id_of(ref), now)
            if row is None:
                row = known.find_name(connection, self.owner, ref, now, in_session_only=in_session_only)
            return None if row is None else stored.kept(row, known.parts(connection, row.id))

        # What may not be a name is not one; a database might not even take it.
        return await stored.store.read(look) if len(ref) <= MOST_REF and ref.isprintable() else None

    def is_reference(self, ref: str) -> bool:
        """Whether `ref` is an id or a URL, of an artifact that may not be there."""
        return _ID.fullmatch(self._stored.id_of(ref)) is not None

    async def replace(self, kept: Kept, mime_type: str, content: Content) -> Artifact:
        """Give an artifact other bytes and another type. It keeps its id; readers see all old or all new bytes."""
        stored, name = self._stored, kept.artifact.id
        async with stored.written(name, content, await self._most_bytes(content)) as part:
            values = self._values(mime_type, part.size)
            now = values["created_at"]
            row = await self._write(
                lambda connection: records().replace(connection, self.owner, name, values, part.key, stored.room, now)
            )
        return stored.kept(row).artifact

    async def append(self, kept: Kept, content: Content) -> Artifact:
        """Put bytes at the end, never in the middle of what another appends. Little of the artifact is read for it."""
        if isinstance(content, bytes):
            merged = _small_end(kept.parts, len(content))
            before = [piece async for piece in self._stored.objects.read_parts(merged)]
            with suppress(_Overtaken):
                return await self._append(kept, b"".join([*before, content]), merged)
        return await self._append(kept, content, ())

    async def remove(self, kept: Kept) -> None:
        """Forget an artifact at once; its bytes are deleted when nobody can be reading them any more."""
        now = self._stored.clock()
        await self._write(lambda connection: records().remove_own(connection, self.owner, kept.artifact.id, now))

    def stream(self, kept: Kept, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes as they were when it was found, in pieces of a few megabytes."""
        return self._stored.objects.read_parts(kept.parts, start, end)

    async def list(self, filters: Filters = NO_FILTERS, *, limit: int = 50, cursor: str | None = None) -> Listing:
        """Those that fit, the newest first; `cursor` is that of the listing before."""
        stored, now, before = self._stored, self._stored.clock(), _place(cursor)
        limit = max(1, min(limit, MOST_LISTED))
        if not f"{filters.filename}{filters.mime_type}".isprintable() or len(filters.filename) > NAME_CHARACTERS:
            raise BadArtifact(f"a pattern has at most {NAME_CHARACTERS} characters, and no control characters")
        rows = await stored.store.read(
            lambda connection: records().listed(connection, self.owner, filters, before, limit + 1, now)
        )
        shown = tuple(stored.kept(row) for row in rows[:limit])
        return Listing(shown, _cursor(shown[-1]) if len(rows) > limit else None)

    async def is_text(self, kept: Kept) -> bool:
        """Whether it can be paged and searched."""
        return await self._stored.texts.is_text(kept)

    async def page(self, kept: Kept, unit: Unit, offset: int, limit: int) -> Page:
        """A page of its text."""
        return await self._stored.texts.page(kept, unit, offset, limit)

    async def search(self, kept: Kept, query: Query) -> Search:
        """What is found in its text."""
        return await self._stored.texts.search(kept, query)

    async def _append(self, kept: Kept, content: Content, merged: tuple[Part, ...]) -> Artifact:
        stored, name, added = self._stored, kept.artifact.id, kept.artifact.size - sum(part.size for part in merged)
        async with stored.written(name, content, await self._most_bytes(content, added)) as part:
            now = stored.clock()
            row = await self._write(
                lambda connection: records().append(
                    connection, self.owner, name, part, merged, stored.room, now, stored.expires_at(now)
                )
            )
            if row is None:
                raise _Overtaken
        return stored.kept(row).artifact

    def _values(self, mime_type: str, size: int) -> dict[str, Any]:
        now = self._stored.clock()
        expires_at = self._stored.expires_at(now)
        return {
            "run_id": self._run_id,
            "mime_type": mime_type,
            "size": size,
            "created_at": now,
            "expires_at": expires_at,
        }

    async def _most_bytes(self, content: Content, present: int = 0) -> int | None:
        """How much of a stream is taken before it is refused. Bytes are refused here; the rest is for the record."""
        room = self._stored.room
        if isinstance(content, bytes):
            room.check_size(present + len(content))
            return None
        now = self._stored.clock()
        left = await self._stored.store.read(lambda connection: records().bytes_left(connection, self.owner, room, now))
        own = room.artifact_bytes - present if room.artifact_bytes else None
        return min((each for each in (left, own) if each is not None), default=None)


class _Overtaken(Exception):
    """Another has appended in between."""


def _small_end(parts: tuple[Part, ...], size: int) -> tuple[Part, ...]:
    """The last parts that are not larger than what comes after them.

    To write these anew costs little each time, and many small appends leave few parts.
    """
    first = len(parts)
    while first and parts[first - 1].size <= size and size + parts[first - 1].size <= MERGED_BYTES:
        first -= 1
        size += parts[first].size
    return parts[first:]


def _cursor(last: Kept) -> str:
    return f"{last.created_at!r}~{last.artifact.id}"


def _place(cursor: str | None) -> tuple[float, str] | None:
    if cursor is None:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise BadArtifact("the cursor is none that a list has given")
    return float(found[1]), found[2]


def records() -> ModuleType:
    """Imported in the threads that use it: SQLAlchemy takes as long to import as a server to start."""
    from paddock.store import artifact_records

    return artifact_records
