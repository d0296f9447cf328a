"""The last digit of floats, as CPython writes it.

A float that is an exact binary fraction can lie half-way between the two shortest texts that mean it. CPython takes the
one that ends in an even digit, Monty the larger one. What leaves the sandbox is put right; its length stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from paddock.model.events import Stream
from paddock.planning.light.arithmetic import is_tie

# The first character is looked for quickly; that no number is entered midway keeps long runs of digits linear.
_LONG = re.compile(r"[0-9](?<![0-9.][0-9])[0-9]*+\.[0-9]++(?<=[13579])(?:e-[0-9]{1,3}+)?(?!e[+-]?[0-9]|[0-9])")
_ESCAPE = re.compile(r"\\u[0-9a-f]{0,3}\Z")
_BEGUN = re.compile(r"[0-9][0-9.e+-]{0,30}\Z")
SHORTEST, LONGEST = 17, 40  # characters of such a number: 16 digits and a point, or zeros and an escape before them
WHOLE_PART_BYTES = 8000  # Monty hands on what is printed in parts of 8 KiB, which may end within a number


class Floats:
    """Puts right the floats in what leaves one run. What is in one of `given` is text that was not computed."""

    def __init__(self, given: Iterable[str]) -> None:
        self._given = given
        self._held: dict[Stream, str] = {}

    def mended(self, text: str) -> str:
        """`text` with its floats as CPython writes them."""
        if len(text) < SHORTEST or "." not in text:
            return text
        return _LONG.sub(self._put_right, text)

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

    def _put_right(self, match: re.Match[str]) -> str:
        number = match.group()
        if not SHORTEST <= len(number) <= LONGEST:
            return number
        # An escape of JSON may end in digits, which belong to no number.
        escape = _ESCAPE.search(match.string[max(0, match.start() - 5) : match.start()])
        before, number = (
            (number[: 6 - len(escape.group())], number[6 - len(escape.group()) :]) if escape else ("", number)
        )
        mantissa, _, exponent = number.partition("e-")
        # Of a fraction with one more decimal than are written, as many binary digits follow the point.
        places = len(mantissa.partition(".")[2]) + int(exponent or 0) + 1
        value = float(number)
        if places > 1000 or not (value * 2.0**places).is_integer():
            return match.group()
        right = repr(value)
        if right == number or len(right) != len(number) or not is_tie(value):
            return match.group()
        return match.group() if any(number in text for text in self._given) else f"{before}{right}"
