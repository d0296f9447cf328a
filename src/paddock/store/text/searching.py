"""Search a text line by line, with the lines around what is found.

The text is looked through in stretches of whole lines. A line that is longer than a stretch is looked through in
several that overlap: what is found there is at most as long as they overlap.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from paddock.store.text.places import Place, Unit, skipped

STRETCH = 64 * 1024
OVERLAP = 4 * 1024
SHOWN = 500
"""Characters of a line that are shown: all of a short one, else those around what was found."""
LEAD = 200
"""Of these, what comes before what was found."""


@dataclass(slots=True)
class Match:
    """Something found: its line (the first is 1), its offset in characters, its line or the part around it.

    `before` and `after` are lines around it, without those that another match shows.
    """

    line: int
    offset: int
    text: str
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


class Search:
    """Reads a text, and keeps what was found in it up to `limit` or `most_characters`, or until `deadline`."""

    def __init__(
        self,
        pattern: Any,
        unit: Unit,
        offset: int,
        *,
        limit: int,
        context_lines: int,
        most_characters: int,
        deadline: float,
        start: Place,
    ) -> None:
        self._pattern, self._unit, self._offset = pattern, unit, offset
        self._limit, self._context, self._room = limit, context_lines, most_characters
        self._deadline = deadline
        self._at = start  # where `_held` begins
        self._has_begun = self._is_stopped = False
        self._previous = ""  # the character before `_held`; none at the very beginning
        self._held = ""
        self._recent: deque[str] = deque(maxlen=context_lines)  # whole lines, cut, just before `_at.line`
        self._line_head = ""  # how a long line begins, of which a part was looked through
        self._shown_line = -1  # the last one that is in a match
        self.matches: list[Match] = []
        self.next_character: int | None = None
        """Where to go on; None where all was searched."""
        self.is_timeout = False

    def feed(self, text: str) -> bool:
        if not self._has_begun:
            before, rest = skipped(text, self._at, self._unit, self._offset)
            self._pass(before)
            self._has_begun, text = rest is not None, rest or ""
        return self._has_begun and self._look(text, is_last=False)

    def end(self) -> None:
        self._look("", is_last=True)

    def stop(self) -> None:
        self._is_stopped = True

    def _pass(self, text: str) -> None:
        self._at = self._at.moved(text)
        self._previous = text[-1:] or self._previous

    def _look(self, text: str, *, is_last: bool) -> bool:
        """Look through what is held and `text`, but for what is not long enough yet."""
        text, begin = self._held + text, 0
        while begin < len(text) and (is_last or len(text) - begin >= STRETCH):
            if self._is_stopped or time.monotonic() > self._deadline:
                self.next_character, self.is_timeout = self._at.character, True
                return True
            end = text.rfind("\n", begin, begin + STRETCH) + 1
            if end == 0 and is_last and len(text) - begin <= STRETCH:
                end = len(text)
            is_part = end == 0
            stretch = text[begin : begin + STRETCH] if is_part else text[begin:end]
            accepted = STRETCH - OVERLAP if is_part else len(stretch)
            if self._stretch(stretch, accepted, is_part=is_part):
                return True
            begin += accepted
        self._held = text[begin:]
        return False

    def _stretch(self, text: str, accepted: int, *, is_part: bool) -> bool:
        """Look through lines, or with `is_part` through a part of one; whether that is enough."""
        lead = self._previous.encode()  # what comes before decides whether a line begins here, or a word
        data = lead + text.encode().replace(b"\r\n", b"\n")
        end = len(data) - len(text[-1].encode()) if is_part else len(data)
        limit = len(lead) + len(text[:accepted].encode()) if is_part else len(data) + 1
        lines = text.split("\n") if self._context else []
        position, line, line_start, counted = len(lead), 0, 0, len(lead)
        while (found := self._pattern.search(data, position, end)) is not None and found.start() < limit:
            start = found.start()
            lines = lines or text.split("\n")
            passed = data.count(b"\n", counted, start)
            line_start += sum(map(len, lines[line : line + passed])) + passed
            line, counted = line + passed, start
            byte_start = max(data.rfind(b"\n", len(lead), start) + 1, len(lead))
            if line == len(lines) - 1 and not lines[line]:
                break  # after the last line's end there is no line
            column = len(data[byte_start:start].decode())
            shown = lines[line].removesuffix("\r")
            first, last = _shown_part(shown, column)
            if not self._keep(lines, line, line_start + column, _marked(shown, first, last)):
                return True
            line_end = data.find(b"\n", start)
            if last < len(shown):
                position = byte_start + len(shown[:last].encode())
            elif line_end < 0:
                break
            else:
                position = line_end + 1
        self._leave(text, accepted, lines, is_part=is_part)
        return False

    def _keep(self, lines: list[str], line: int, column: int, shown: str) -> bool:
        """Keep a match; False where there is no room for another."""
        number = self._at.line + line
        self._give_after(lines, line)
        if len(self.matches) >= self._limit or self._room <= 0:
            self.next_character = self._at.character + column
            return False
        before = self._before(lines, line) if number > self._shown_line else []
        self.matches.append(Match(number + 1, self._at.character + column, shown, before))
        self._room -= len(shown) + sum(map(len, before))
        self._shown_line = max(self._shown_line, number)
        return True

    def _before(self, lines: list[str], line: int) -> list[str]:
        """The lines before `line` that no match shows yet."""
        count = min(self._context, self._at.line + line - self._shown_line - 1)
        if count <= 0:
            return []
        inside = [_cut(self._whole(lines, index)) for index in range(max(0, line - count), line)]
        return [*self._recent, *inside][-count:]

    def _whole(self, lines: list[str], index: int) -> str:
        return (self._line_head + lines[index]) if index == 0 else lines[index]

    def _give_after(self, lines: list[str], until: int) -> None:
        """Lines before `until` go to the last match, as far as they belong to it and no match shows them."""
        if not self.matches or not self._context:
            return
        match = self.matches[-1]
        first = max(0, self._shown_line + 1 - self._at.line)
        last = min(until, match.line + self._context - self._at.line)
        for index in range(first, last):
            match.after.append(_cut(self._whole(lines, index)))
            self._room -= len(match.after[-1])
            self._shown_line = self._at.line + index

    def _leave(self, text: str, accepted: int, lines: list[str], *, is_part: bool) -> None:
        """Go on behind what was looked through."""
        if self._context:
            ended = len(lines) - 1  # the last of them is empty, or goes on
            if not is_part:
                at_the_end = len(lines) if lines[-1] else ended
                self._give_after(lines, at_the_end)
                self._recent.extend(
                    _cut(self._whole(lines, index)) for index in range(max(0, ended - self._context), ended)
                )
            self._line_head = (self._line_head + text[:SHOWN])[:SHOWN] if is_part else ""
        self._pass(text[:accepted])


def _shown_part(line: str, column: int) -> tuple[int, int]:
    if len(line) <= SHOWN:
        return 0, len(line)
    first = max(0, min(column - LEAD, len(line) - SHOWN))
    return first, first + SHOWN


def _marked(line: str, first: int, last: int) -> str:
    return ("…" if first else "") + line[first:last] + ("…" if last < len(line) else "")


def _cut(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"
