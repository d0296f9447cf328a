"""Help for a word that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice


def nearest(word: object, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`, if one is at all."""
    from difflib import get_close_matches  # the slowest import of the core, needed only when something is wrong

    found = get_close_matches(str(word), list(known), 1)
    return found[0] if found else None


def close(word: str, known: Iterable[str], distance: int = 2) -> list[str]:
    """The known words within `distance` edits of `word`, nearest first. Short words must be nearer; case costs nothing.

    Linear in the number of words: each is at most 64 characters long, and at most a thousand are looked at.
    """
    if len(word) > 64:
        return []
    found: list[tuple[int, str]] = []
    for other in islice(known, 1000):
        longer = max(len(word), len(other))
        allowed = 0 if longer <= 2 else min(distance, 1) if longer <= 4 else distance
        if len(other) <= 64 and abs(len(word) - len(other)) <= allowed:
            edits = _edits(word.casefold(), other.casefold())
            if edits <= allowed:
                found.append((edits, other))
    return [other for _, other in sorted(found, key=lambda pair: pair[0])]


def _edits(a: str, b: str) -> int:
    """Letters inserted, left out, changed, or swapped with their neighbour, to make `b` of `a`."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        above, row, older = row, [i], before
        for j, other in enumerate(b, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                best = min(best, older[j - 2] + 1)
            row.append(best)
        before = above
    return row[-1]
