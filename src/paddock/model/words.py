"""Help for a word that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice


def nearest(word: object, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`, if one is at all. Of a long one only the beginning is looked at."""
    from difflib import get_close_matches  # the slowest import of the core, needed only when something is wrong

    found = get_close_matches(str(word)[:255], list(known), 1)
    return found[0] if found else None


def close(word: str, known: Iterable[str], distance: int = 2) -> list[str]:
    """The known words within `distance` edits of `word`, nearest first. Short words must be nearer; case costs nothing.

    Takes milliseconds at most, whatever the words: each is at most 64 characters long, at most a thousand are looked
    at, and where they are made to be nearly alike, fewer.
    """
    if len(word) > 64:
        return []
    found: list[tuple[int, str]] = []
    asked, rows = word.casefold(), ROWS
    for other in islice(known, 1000):
        longer = max(len(word), len(other))
        allowed = 0 if longer <= 2 else min(distance, 1) if longer <= 4 else distance
        if len(other) <= 64 and abs(len(word) - len(other)) <= allowed:
            edits, taken = _edits(asked, other.casefold(), allowed)
            rows -= taken
            if edits <= allowed:
                found.append((edits, other))
        if rows < 0:
            break
    return [other for _, other in sorted(found, key=lambda pair: pair[0])]


ROWS = 4000
"""Of letters compared in one search. Words that differ early take three each."""


def _edits(a: str, b: str, most: int) -> tuple[int, int]:
    """Letters inserted, left out, changed, or swapped with their neighbour, to make `b` of `a`; and what that took.

    Beyond `most` the number is only known to be more.
    """
    start, shorter = 0, min(len(a), len(b))
    while start < shorter and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    never = most + 1
    before: list[int] = []
    row = [place if place <= most else never for place in range(len(b) + 1)]
    for i, letter in enumerate(a, 1):
        above, older = row, before
        row = [never] * (len(b) + 1)
        row[0] = min(i, never)
        for j in range(max(1, i - most), min(len(b), i + most) + 1):  # further off there are more edits than `most`
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != b[j - 1]))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, older[j - 2] + 1)
            row[j] = min(best, never)
        before = above
        if min(row) > most and min(above) > most:  # a swap reaches two rows back
            return never, i
    return row[-1], len(a)
