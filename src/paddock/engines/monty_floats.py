"""The last digit of floats, as CPython writes it.

A float that is an exact binary fraction can lie half-way between the two shortest texts that mean it. CPython takes the
one that ends in an even digit, Monty the larger one. What leaves the sandbox is put right; its length stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from paddock.model.events import Stream
from paddock.planning.light.arithmetic import is_tie

# From the point on. The exact value has one digit more and as many binary digits: it ends in 25 (or in 75, where both
# take the even one) and Monty's text in 3; with three decimals in one of four endings, which leaves few to look at. Of
# its 16 digits, half or more are on one side of the point.
_FRACTION = re.compile(
    r"\.(?:(?<=[0-9]{8}\.)|(?=[0-9]{8}))[0-9]*+(?<=063|313|563|813|\.13|\.63|[0-9]\.3)"
    r"(?:e-[0-9]{1,3}+)?(?!e[+-]?[0-9]|[0-9])"
)
_ESCAPE = re.compile(r"\\u[0-9a-f]{0,3}\Z")
_BEGUN = re.compile(r"[0-9][0-9.e+-]{0,30}\Z")
SHORTEST, LONGEST = 17, 40  # characters of such a number: 16 digits and a point, or zeros before them
WHOLE_PART_BYTES = 8000  # Monty hands on what is printed in parts of 8 KiB, which may end within a number


class Floats:
    """Puts right the floats in what leaves one run. What is in one of `given` is text that was not computed."""

    def __init__(self, given: Iterable[str]) -> None:
        self._given = given
        self._known: set[str] | None = None  # the numbers in it, looked for once and only when a number is put right
        self._held: dict[Stream, str] = {}

    def given_more(self, text: str) -> None:
        """That `text` is now among what is given."""
        if self._known is not None:
            self._known.update(_numbers(text))

    def mended(self, text: str) -> str:
        """`text` with its floats as CPython writes them."""
        if len(text) < SHORTEST or "." not in text:
            return text
        return _FRACTION.sub(self._put_right, text)

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
        fraction = match.group()
        number = _number(match)
        if not number or not is_tie(float(number)):
            return fraction
        digits, exponent, power = fraction.partition("e-")
        right = f"{digits[:-1]}2{exponent}{power}"
        whole = number.removesuffix(fraction)
        return right if repr(float(number)) == whole + right and not self._is_given(number) else fraction

    def _is_given(self, number: str) -> bool:
        if self._known is None:
            self._known = {each for text in self._given for each in _numbers(text)}
        return number in self._known


def _numbers(text: str) -> Iterator[str]:
    return filter(None, map(_number, _FRACTION.finditer(text)))


def _number(match: re.Match[str]) -> str:
    """The number whose point and decimals were found; nothing where it is none that could lie half-way."""
    before = match.string[max(0, match.start() - LONGEST) : match.start()]
    stem = before.rstrip("0123456789")
    if not SHORTEST <= len(before) - len(stem) + len(match.group()) <= LONGEST or stem.endswith("."):
        return ""
    # An escape of JSON may end in digits, which belong to no number.
    escape = _ESCAPE.search(stem)
    whole = before[escape.start() + 6 if escape else len(stem) :]
    return whole + match.group() if whole else ""
