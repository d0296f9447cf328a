"""Pages and searches the text of an artifact, which is read in pieces because it may be larger than memory.

Lines end with a line feed. Invalid UTF-8 becomes replacement characters.
"""

from __future__ import annotations

import asyncio
import codecs
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakValueDictionary

from paddock.errors import BadArtifact

Unit = Literal["characters", "lines"]
PAGE_CHARACTERS = 100_000
FOUND_CHARACTERS = 100_000
"""A search stops when its matches and their context have this many characters."""
SEARCH_SECONDS = 20.0
THREADS = 2
SLICE_BYTES = 128 * 1024
"""How much is decoded at once. A character may need four times the memory of its bytes."""
PATTERN_CHARACTERS = 1000
PATTERN_BYTES = 8 * 1024 * 1024
COMPILED_BYTES = 256 * 1024
"""Compiling takes a millisecond for each 256 KB, on the event loop."""
TOO_LARGE = "the regular expression is too large; lower its repetition counts"
PATTERN_INSTRUCTIONS = 5000
"""Limit for a compiled expression: in the worst case a character takes as many steps as there are instructions."""
STRETCH_CHARACTERS = 64 * 1024
"""How much is searched at once, at most. No other thread runs meanwhile: RE2 holds the interpreter's lock."""
STRETCH_STEPS = 5_000_000
"""How many steps a search of one stretch may take; 10 ns each. Expressions with many instructions get less at once."""
SHORTEST_STRETCH = 2048
OVERLAP_CHARACTERS = 4 * 1024
"""A line longer than a stretch is searched in stretches that overlap by this many characters, or by half."""
SHOWN_CHARACTERS = 500
"""Characters of a line that a match shows."""
LEAD_CHARACTERS = 200
"""How many of SHOWN_CHARACTERS come before the match."""


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a text: how many characters and ended lines come before it."""

    character: int = 0
    line: int = 0

    def after(self, text: str) -> Position:
        """Return the position after `text`, which starts here."""
        return Position(self.character + len(text), self.line + text.count("\n"))


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a text, where it begins and ends, and whether the text ends there too."""

    text: str
    start: Position
    end: Position
    is_last: bool
    total_lines: int | None
    """Known on the last page. A last line without a line feed counts."""

    @property
    def is_cut(self) -> bool:
        """Whether the page ends within a line, so that only a character offset says where the next page begins."""
        return not self.is_last and bool(self.text) and not self.text.endswith("\n")


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, where to start, how many matches to return, and how many lines of context."""

    search: str
    is_regex: bool = False
    unit: Unit = "characters"
    offset: int = 0
    limit: int = 50
    context_lines: int = 0


@dataclass(slots=True)
class Match:
    """A match: its line number (from 1), its character offset, the text of its line or part of it, and context lines.

    `count` says how often the pattern matches in that text. A line that belongs to an earlier match is not repeated.
    """

    line: int
    offset: int
    text: str
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    count: int = 1


class TextReader:
    """Pages and searches texts in its own threads."""

    def __init__(self, *, search_seconds: float = SEARCH_SECONDS) -> None:
        self._search_seconds = search_seconds
        # Searches may be slow, so pages have separate threads.
        self._page_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="paddock-artifact-pages")
        self._search_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="paddock-artifact-search")
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()  # by work and principal

    async def page(
        self, chunks: AsyncIterator[bytes], unit: Unit, offset: int, limit: int, principal: str = ""
    ) -> Page:
        """Read a page of the text in `chunks`. A principal's pages take turns, like searches."""
        pager = Pager(unit, offset, limit)
        async with self._turns.setdefault(("page", principal), asyncio.Lock()):
            await _scan(chunks, pager, self._page_threads)
        return pager.page()

    async def search(self, chunks: AsyncIterator[bytes], query: Query, principal: str = "") -> Search:
        """Search the text in `chunks`. A principal's searches take turns, so that they do not take all threads."""
        search = Search(query, deadline=time.monotonic() + self._search_seconds)
        async with self._turns.setdefault(("search", principal), asyncio.Lock()):
            await _scan(chunks, search, self._search_threads)
        return search

    def close(self) -> None:
        """End the threads, each after its current step."""
        self._page_threads.shutdown()
        self._search_threads.shutdown()


async def _scan(chunks: AsyncIterator[bytes], consumer: Pager | Search, threads: ThreadPoolExecutor) -> None:
    """Feed `consumer` until it has enough or the text ends."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    loop = asyncio.get_running_loop()

    def feed(chunk: bytes) -> bool:
        pieces = (chunk[at : at + SLICE_BYTES] for at in range(0, len(chunk), SLICE_BYTES))
        return any(consumer.feed(decoder.decode(piece)) for piece in pieces)

    def feed_rest() -> None:
        consumer.feed(decoder.decode(b"", final=True), is_last=True)

    try:
        async for chunk in chunks:
            if await loop.run_in_executor(threads, feed, chunk):
                return
        await loop.run_in_executor(threads, feed_rest)
    finally:
        consumer.is_stopped = True


class Pager:
    """Collects one page. If its lines are too long in total, it has fewer lines; if one line is too long, it is cut."""

    def __init__(self, unit: Unit, offset: int, limit: int) -> None:
        self._unit: Unit = unit
        self._offset, self._limit, self._start = offset, limit, Position()
        self._has_begun, self._is_last = False, True
        self._text = ""
        self._last = "\n"  # the last character of the text so far
        self.is_stopped = False

    def feed(self, text: str, *, is_last: bool = False) -> bool:
        """Add the next piece of the text. Returns whether the page is complete."""
        self._last = text[-1:] or self._last
        if not self._has_begun:
            before, rest = _skip(text, self._start, self._unit, self._offset)
            self._start, self._has_begun, text = self._start.after(before), rest is not None, rest or ""
        if not text:
            return False
        room = PAGE_CHARACTERS - len(self._text)
        if self._unit == "characters":
            room = min(room, self._limit - len(self._text))
        elif text.count("\n", 0, room) >= (lines := self._limit - self._text.count("\n")):
            room = min(room, _end_of_lines(text, lines))
        self._text += text[:room]
        self._is_last = room >= len(text)
        return not self._is_last

    def page(self) -> Page:
        text = self._text
        if self._unit == "lines" and not self._is_last and "\n" in text:
            text = text[: text.rindex("\n") + 1]
        end = self._start.after(text)
        total = end.line + (self._last != "\n") if self._is_last else None
        return Page(text, self._start, end, self._is_last, total)


class Search:
    """Collects matches up to a limit or a deadline. Searches stretches of the text: whole lines, or parts of a line."""

    def __init__(self, query: Query, *, deadline: float) -> None:
        self._pattern = compile_pattern(query.search, is_regex=query.is_regex)
        possible = STRETCH_STEPS // max(1, self._pattern.programsize)
        self._stretch = min(STRETCH_CHARACTERS, max(SHORTEST_STRETCH, possible))
        self._accepted = self._stretch - min(OVERLAP_CHARACTERS, self._stretch // 2)
        self._unit, self._offset, self._limit = query.unit, query.offset, query.limit
        self._context = query.context_lines
        self._characters_left, self._deadline = FOUND_CHARACTERS, deadline
        self._at = Position()  # where `_buffer` begins
        self._has_begun = False
        self._previous = ""  # the character before `_buffer`; decides whether a line or a word begins there
        self._buffer = ""
        self._recent: deque[str] = deque(maxlen=query.context_lines)  # the last lines before `_at`, each cut
        self._line_head = ""  # the beginning of the line at `_at`, if part of that line was searched already
        self._shown_line = -1  # the last line that a match shows
        self.is_stopped = False
        self.matches: list[Match] = []
        self.next_character: int | None = None
        """Where the next search continues; None if everything was searched."""
        self.is_timeout = False

    def feed(self, text: str, *, is_last: bool = False) -> bool:
        """Search the next piece of the text. Returns whether to stop. Only with `is_last` is everything searched."""
        if not self._has_begun:
            before, rest = _skip(text, self._at, self._unit, self._offset)
            self._advance(before)
            self._has_begun, text = rest is not None, rest or ""
        return self._has_begun and self._search(text, is_last=is_last)

    def _advance(self, text: str) -> None:
        self._at = self._at.after(text)
        self._previous = text[-1:] or self._previous

    def _search(self, text: str, *, is_last: bool) -> bool:
        """Search the buffer and `text`. Returns whether to stop. Less than a stretch stays in the buffer."""
        text, begin = self._buffer + text, 0
        while begin < len(text) and (is_last or len(text) - begin >= self._stretch):
            if self.is_stopped or time.monotonic() > self._deadline:
                self.next_character, self.is_timeout = self._at.character, True
                return True
            end = text.rfind("\n", begin, begin + self._stretch) + 1
            if end == 0 and is_last and len(text) - begin <= self._stretch:
                end = len(text)
            is_part = end == 0
            stretch = text[begin : begin + self._stretch] if is_part else text[begin:end]
            accepted = self._accepted if is_part else len(stretch)
            if self._search_stretch(stretch, accepted, is_part=is_part):
                return True
            begin += accepted
        self._buffer = text[begin:]
        return False

    def _search_stretch(self, text: str, accepted: int, *, is_part: bool) -> bool:
        """Search whole lines, or with `is_part` part of one line. Returns whether there are enough matches.

        Matches that begin after `accepted` characters are left to the next stretch, which begins there.
        """
        # RE2 searches bytes. `lead`, and the last character of a part, are not searched: they are context for `^`, `$`
        # and `\b`.
        lead = self._previous.encode()
        data = lead + text.encode().replace(b"\r\n", b"\n")
        end = len(data) - len(text[-1].encode()) if is_part else len(data)
        limit = len(lead) + len(text[:accepted].encode()) if is_part else len(data) + 1
        lines = text.split("\n") if self._context else []
        line, line_offset = 0, 0  # the line of the last match, and where it begins in `text`
        line_start = position = len(lead)  # where that line begins in `data`, and where the search continues
        while (match := self._pattern.search(data, position, end)) is not None and match.start() < limit:
            passed = data.count(b"\n", line_start, match.start())
            line, line_offset = line + passed, line_offset + _end_of_lines(text[line_offset:], passed)
            line_start = max(line_start, data.rfind(b"\n", line_start, match.start()) + 1)
            if line_start == len(data):
                break  # there is no line after the last line feed
            line_bytes = data[line_start:].partition(b"\n")[0]
            whole = line_bytes.decode()
            column = len(data[line_start : match.start()].decode())
            shown, shown_end = _excerpt(whole, column)
            # What is shown is not searched again, except for a match that ends after it.
            shown_until = line_start + len(whole[:shown_end].encode())
            is_whole = shown_end == len(whole) and not is_part
            count, position = self._count(data, match, shown_until if is_whole else min(shown_until, limit, end) - 1)
            if not self._add(lines, line, line_offset, column, shown, count):
                return True
            if is_whole:
                position = shown_until + 1
            if position > end:
                break
        self._finish_stretch(text, accepted, lines, is_part=is_part)
        return False

    def _count(self, data: bytes, match: Any, last: int) -> tuple[int, int]:
        """Count this match and those after it that end at `last` or before. Returns also where the rest begins."""
        count = 1
        while match.start() < match.end() <= last:  # an empty match has no end from which to go on
            # One byte more is searched, to see whether a match goes on there.
            following = self._pattern.search(data, match.end(), last + 1)
            if following is None or following.end() > last:
                return count, match.end()
            count, match = count + 1, following
        return count, max(match.end(), last + 1)

    def _add(self, lines: list[str], line: int, line_offset: int, column: int, shown: str, times: int) -> bool:
        """Add a match at `column` of the line at `line_offset`. Returns False if there is no room for another."""
        number, character = self._at.line + line, self._at.character + line_offset
        self._add_after(lines, line)
        if len(self.matches) >= self._limit or self._characters_left <= 0:
            # The next search begins with the line, to show all of it, unless this one shows another match in it.
            is_begun = self.matches[-1].line == number + 1 or (line == 0 and self._previous not in ("", "\n"))
            self.next_character = character + (column if is_begun else 0)
            return False
        before: list[str] = []
        count = min(self._context, number - self._shown_line - 1)
        if count > 0:
            before = [*self._recent, *(self._line(lines, index) for index in range(max(0, line - count), line))][
                -count:
            ]
        self.matches.append(Match(number + 1, character + column, shown, before, count=times))
        self._characters_left -= len(shown) + sum(map(len, before))
        self._shown_line = max(self._shown_line, number)
        return True

    def _line(self, lines: list[str], index: int) -> str:
        """Return a line of context, cut to `SHOWN_CHARACTERS`."""
        line = (self._line_head + lines[index] if index == 0 else lines[index]).removesuffix("\r")
        return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"

    def _add_after(self, lines: list[str], until: int) -> None:
        """Add the lines before `until` that belong to the context of the last match and are not shown yet."""
        if not self.matches or not self._context:
            return
        match = self.matches[-1]
        first = max(0, self._shown_line + 1 - self._at.line)
        for index in range(first, min(until, match.line + self._context - self._at.line)):
            match.after.append(self._line(lines, index))
            self._characters_left -= len(match.after[-1])
            self._shown_line = self._at.line + index

    def _finish_stretch(self, text: str, accepted: int, lines: list[str], *, is_part: bool) -> None:
        """Advance to the end of a stretch."""
        if self._context:
            ended = len(lines) - 1  # the last one is empty or incomplete
            if not is_part:
                self._add_after(lines, len(lines) if lines[-1] else ended)
                self._recent.extend(self._line(lines, index) for index in range(max(0, ended - self._context), ended))
            self._line_head = (self._line_head + text[:SHOWN_CHARACTERS])[:SHOWN_CHARACTERS] if is_part else ""
        self._advance(text[:accepted])


def compile_pattern(search: str, *, is_regex: bool) -> Any:
    """Compile `search` with RE2, which matches in linear time. Raises BadArtifact if it is not valid."""
    import re2  # type: ignore[import-untyped]

    if not search:
        raise BadArtifact("the search is empty; pass words or a regular expression")
    if len(search) > PATTERN_CHARACTERS:
        raise BadArtifact(f"a search may have at most {PATTERN_CHARACTERS} characters; this one has {len(search)}")
    if "\n" in search:
        raise BadArtifact(
            "a search matches within one line, and this one contains a line feed; search for a part of it"
        )
    options = re2.Options()
    options.max_mem, options.log_errors = COMPILED_BYTES, False
    options.never_nl = options.never_capture = True
    try:
        if is_regex:  # without our prefix, so that an error message does not show it
            re2.compile(search, options)
        options.max_mem = PATTERN_BYTES
        pattern = re2.compile(f"(?m){search}" if is_regex else f"(?i){re2.escape(search)}", options)
    except UnicodeEncodeError:
        raise BadArtifact("the search is not valid Unicode: it contains a lone surrogate") from None
    except re2.error as problem:
        reason = problem.args[0] if problem.args else problem
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        if reason.startswith("pattern too large"):
            raise BadArtifact(TOO_LARGE) from None
        raise BadArtifact(
            f"not a regular expression: {reason}. The syntax is RE2's: like Python's, but without look-around and "
            "back-references. Without is_regex the search is literal"
        ) from None
    finally:
        re2.purge()  # otherwise the module caches 128 patterns forever
    if pattern.programsize > PATTERN_INSTRUCTIONS:
        raise BadArtifact(TOO_LARGE)
    return pattern


def _excerpt(line: str, column: int) -> tuple[str, int]:
    """Return what a match at `column` shows of its line, and where that part of the line ends."""
    begin = max(0, min(column - LEAD_CHARACTERS, len(line) - SHOWN_CHARACTERS))
    end = min(begin + SHOWN_CHARACTERS, len(line))
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else ""), end


def _skip(text: str, at: Position, unit: Unit, offset: int) -> tuple[str, str | None]:
    """Split `text`, which begins at `at`, at `offset`. The second part is None if `offset` is after the text."""
    if unit == "characters":
        cut, is_inside = offset - at.character, offset - at.character <= len(text)
    else:
        is_inside = text.count("\n") >= offset - at.line
        cut = _end_of_lines(text, offset - at.line) if is_inside else len(text)
    return text[:cut], text[cut:] if is_inside else None


def _end_of_lines(text: str, count: int) -> int:
    """Return where the first `count` lines end in `text`, which has at least as many."""
    return len(text) - len(text.split("\n", count)[-1])
