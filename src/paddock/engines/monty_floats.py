"""The last digit of floats, as CPython writes it.

A float that is an exact binary fraction can lie half-way between the two shortest texts that mean it. CPython takes the
one that ends in an even digit, Monty the larger one. What leaves the sandbox is put right; its length stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from paddock.model.events import Stream
from paddock.planning.light.arithmetic import is_tie

# An escape of JSON may end in a digit, which belongs to no number.
_LONG = re.compile(r"(\\u[0-9a-f]{4}|(?<![0-9.]))(?=[0-9.]{17,})([0-9]+\.[0-9]+(?:e[+-][0-9]+)?)(?![0-9]|e[+-]?[0-9])")
_BEGUN = re.compile(r"[0-9][0-9.e+-]{0,30}\Z")
WHOLE_PART_BYTES = 8000  # Monty hands on what is printed in parts of 8 KiB, which may end within a number


class Floats:
    """Puts right the floats in what leaves one run. What is in one of `given` is text that was not computed."""

    def __init__(self, given: Iterable[str]) -> None:
        self._given = given
        self._held: dict[Stream, str] = {}

    def mended(self, text: str) -> str:
        """`text` with its floats as CPython writes them."""
        if len(text) < 17 or "." not in text:
            return text
        return _LONG.sub(lambda match: match.group(1) + self._mended(match.group(2)), text)

    def printed(self, stream: Stream, text: str) -> str:
        """The same for one part of what is printed; a number that may go on is held back until the next."""
        text = self._held.pop(stream, "") + text
        begun = _BEGUN.search(text) if len(text.encode()) > WHOLE_PART_BYTES else None
        if begun is not None:
            self._held[stream] = begun.group()
            text = text[: begun.start()]
        return self.mended(text)

    def rest(self) -> list[tuple[Stream, str]]:
        """What was held back and will not go on."""
        held, self._held = self._held, {}
        return [(stream, self.mended(text)) for stream, text in held.items()]

    def _mended(self, number: str) -> str:
        value = float(number)
        right = repr(value)
        if right == number or len(right) != len(number) or not is_tie(value):
            return number
        return number if any(number in text for text in self._given) else right
