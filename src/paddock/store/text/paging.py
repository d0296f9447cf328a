"""One page of a text: so many characters or lines, from an offset on."""

from __future__ import annotations

from dataclasses import dataclass

from paddock.store.text.places import Place, Unit, after_lines, skipped


@dataclass(frozen=True, slots=True)
class Page:
    """A page, where it begins and ends (in characters and lines), and whether the text ends there too."""

    text: str
    start: Place
    end: Place
    is_last: bool
    total_lines: int | None
    """Known where the text ends; a last line without a line feed is one too."""

    @property
    def is_cut(self) -> bool:
        """Whether it ends within a line, so that only characters say where to go on."""
        return not self.is_last and bool(self.text) and not self.text.endswith("\n")


class Pager:
    """Reads one page. A page of lines that would be too long ends after fewer of them; one line alone is cut."""

    def __init__(self, unit: Unit, offset: int, limit: int, *, most_characters: int, start: Place) -> None:
        self._unit: Unit = unit
        self._offset, self._limit, self._most = offset, limit, most_characters
        self._start = self._at = start
        self._has_begun = False
        self._pieces: list[str] = []
        self._characters = self._lines = 0
        self._is_last = True
        self._tail = "\n"  # the last character so far

    def feed(self, text: str) -> bool:
        self._tail = text[-1:] or self._tail
        if not self._has_begun:
            before, rest = skipped(text, self._at, self._unit, self._offset)
            self._at, self._has_begun, text = self._at.moved(before), rest is not None, rest or ""
        if not text:
            return False
        taken = text[: self._room(text)]
        self._pieces.append(taken)
        self._characters += len(taken)
        self._lines += taken.count("\n")
        self._is_last = len(taken) == len(text)
        return not self._is_last

    def end(self) -> None:
        """Nothing is owed."""

    def stop(self) -> None:
        """A step is short."""

    def page(self) -> Page:
        text = "".join(self._pieces)
        if self._unit == "lines" and not self._is_last and "\n" in text:
            text = text[: text.rindex("\n") + 1]
        end = self._at.moved(text)
        total = end.line + (self._tail != "\n") if self._is_last else None
        return Page(text, self._at, end, self._is_last, total)

    def _room(self, text: str) -> int:
        """How much of `text` belongs to the page."""
        room = self._most - self._characters
        if self._unit == "characters":
            return min(room, self._limit - self._characters)
        lines = self._limit - self._lines
        return min(room, after_lines(text, lines)) if text.count("\n", 0, room) >= lines else room
