"""Places in a text: how many bytes, characters and lines come before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["characters", "lines"]


@dataclass(frozen=True, slots=True)
class Place:
    """Between two characters. A line ends with a line feed; `line` counts those that have ended before."""

    byte: int = 0
    character: int = 0
    line: int = 0

    def moved(self, text: str) -> Place:
        """Behind `text`, which comes next. How many bytes it has nobody knows any more."""
        return Place(-1, self.character + len(text), self.line + text.count("\n"))


BEGINNING = Place()
SPACING_BYTES = 4 * 1024 * 1024
MOST_TEXTS = 256


class Landmarks:
    """Places that were passed in texts that were read, so that the next page is not counted from the beginning.

    Texts are known by the objects that hold them, which never change.
    """

    def __init__(self) -> None:
        self._texts: OrderedDict[Sequence[str], list[Place]] = OrderedDict()

    def note(self, text: Sequence[str], place: Place) -> None:
        places = self._texts.setdefault(text, [])
        self._texts.move_to_end(text)
        if place.byte - (places[-1].byte if places else 0) >= SPACING_BYTES:
            places.append(place)
        while len(self._texts) > MOST_TEXTS:
            self._texts.popitem(last=False)

    def before(self, text: Sequence[str], unit: Unit, offset: int) -> Place:
        """The last known place in front of the character or the line `offset`."""
        is_lines = unit == "lines"
        known = (
            place
            for place in reversed(self._texts.get(text, ()))
            if (place.line if is_lines else place.character) < offset
        )
        return next(known, BEGINNING)


def skipped(text: str, at: Place, unit: Unit, offset: int) -> tuple[str, str | None]:
    """What of `text`, which begins at `at`, comes before `offset`, and the rest; None where all of it does."""
    if unit == "characters":
        cut, is_there = offset - at.character, offset - at.character <= len(text)
    else:
        is_there = text.count("\n") >= offset - at.line
        cut = after_lines(text, offset - at.line) if is_there else len(text)
    return text[:cut], text[cut:] if is_there else None


def after_lines(text: str, count: int, start: int = 0) -> int:
    """Where in `text` the `count`th line from `start` has ended; `text` must have as many. Linear, without a list."""
    low, high = start, len(text)
    while high - low > 1 and count:
        middle = (low + high) // 2
        in_first_half = text.count("\n", low, middle)
        if in_first_half >= count:
            high = middle
        else:
            low, count = middle, count - in_first_half
    return high if count else low
