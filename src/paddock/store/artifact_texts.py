"""The text of artifacts: pages of it, and what is found in it. Bounded in memory, in time and in what is answered."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from paddock.errors import BadArtifact
from paddock.model.artifacts import looks_like_text
from paddock.store.text.paging import Page, Pager
from paddock.store.text.pattern import compiled
from paddock.store.text.places import MOST_TEXTS, Landmarks, Place, Unit
from paddock.store.text.scanning import Reading, scan
from paddock.store.text.searching import Search

if TYPE_CHECKING:
    from paddock.store.artifact_values import Kept
    from paddock.store.objects import Objects

PAGE_CHARACTERS = 100_000
FOUND_CHARACTERS = 100_000
SEARCH_SECONDS = 20.0
HEAD_BYTES = 8192
THREADS = 2


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for and from where; at most `limit` matches with so many lines around each."""

    search: str
    is_regex: bool = False
    unit: Unit = "characters"
    offset: int = 0
    limit: int = 50
    context_lines: int = 0


class Texts:
    """Reads artifacts as UTF-8, in threads of its own. What is not text is refused."""

    def __init__(self, objects: Objects, *, search_seconds: float = SEARCH_SECONDS) -> None:
        self._objects, self._search_seconds = objects, search_seconds
        self._landmarks = Landmarks()
        self._is_text: dict[tuple[str, ...], bool] = {}  # of versions, the oldest first
        # Searches may be slow and many; pages, which never are, do not wait for them.
        self._page_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="paddock-artifact-pages")
        self._search_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="paddock-artifact-search")

    async def is_text(self, kept: Kept) -> bool:
        """Whether it can be paged and searched, by its type and how it begins."""
        known = self._is_text.get(kept.version)
        if known is None:
            head = b"".join([piece async for piece in self._objects.read_parts(kept.parts, 0, HEAD_BYTES)])
            known = self._is_text[kept.version] = looks_like_text(kept.artifact.mime_type, head)
            if len(self._is_text) > MOST_TEXTS:
                del self._is_text[next(iter(self._is_text))]
        return known

    async def page(self, kept: Kept, unit: Unit, offset: int, limit: int) -> Page:
        _check_numbers(offset, limit)
        start = self._landmarks.before(kept.version, unit, offset)
        pager = Pager(unit, offset, limit, most_characters=PAGE_CHARACTERS, start=start)
        await self._read(kept, pager, start, self._page_threads)
        return pager.page()

    async def search(self, kept: Kept, query: Query) -> Search:
        _check_numbers(query.offset, query.limit)
        pattern = compiled(query.search, is_regex=query.is_regex)
        start = self._landmarks.before(kept.version, query.unit, query.offset)
        search = Search(
            pattern,
            query.unit,
            query.offset,
            limit=query.limit,
            context_lines=query.context_lines,
            most_characters=FOUND_CHARACTERS,
            deadline=time.monotonic() + self._search_seconds,
            start=start,
        )
        await self._read(kept, search, start, self._search_threads)
        return search

    def close(self) -> None:
        """End the threads, which takes as long as the step that a search is at."""
        self._page_threads.shutdown()
        self._search_threads.shutdown()

    async def _read(self, kept: Kept, reading: Reading, start: Place, threads: ThreadPoolExecutor) -> None:
        if not await self.is_text(kept):
            raise BadArtifact(
                f"the artifact {kept.artifact.filename!r} is binary ({kept.artifact.mime_type}): only text is paged "
                "and searched; a script reads its bytes with the function read_artifact"
            )
        passed = partial(self._landmarks.note, kept.version)
        async with aclosing(self._objects.read_parts(kept.parts, start.byte)) as chunks:
            await scan(chunks, reading, start, passed, threads)


def _check_numbers(offset: int, limit: int) -> None:
    if offset < 0 or limit < 1:
        raise BadArtifact(f"an offset is at least 0 and a limit at least 1, not {offset} and {limit}")
