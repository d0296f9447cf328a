"""Did you mean …? Finds known words that are close to a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

COMPARED_CHARACTERS = 100
COMPARED_WORDS = 20_000
EDITED_WORDS = 1000
"""Known words that are compared, which bounds the time: whoever wrote them may be hostile."""
SIMILARITY_PERCENT = 60


def nearest(word: object, known: Iterable[str]) -> str | None:
    """The known word most like `word`, if any is."""
    return next(iter(most_alike(word, known, 1)), None)


def most_alike(word: object, known: Iterable[str], limit: int) -> list[str]:
    """Up to `limit` known words like `word`, the most alike first. Only the start of a long word is compared."""
    from rapidfuzz import fuzz, process

    some = [other for other in islice(known, COMPARED_WORDS) if len(other) <= COMPARED_CHARACTERS]
    found = process.extract(
        str(word)[:COMPARED_CHARACTERS], some, scorer=fuzz.ratio, score_cutoff=SIMILARITY_PERCENT, limit=limit
    )
    return [other for other, _, _ in found]


def within_edits(word: str, known: Iterable[str], distance: int = 2) -> list[str]:
    """The known words within `distance` edits of `word`, nearest first. Short words must be nearer; case is ignored.

    An edit inserts, removes or changes a letter, or swaps two neighbours.
    """
    from rapidfuzz.distance import OSA

    if len(word) > COMPARED_CHARACTERS:
        return []
    found: list[tuple[int, str]] = []
    for other in islice(known, EDITED_WORDS):
        longer = max(len(word), len(other))
        allowed = 0 if longer <= 2 else min(distance, 1) if longer <= 4 else distance
        if abs(len(word) - len(other)) <= allowed:
            edits = OSA.distance(word.casefold(), other.casefold(), score_cutoff=allowed)
            if edits <= allowed:
                found.append((edits, other))
    return [other for _, other in sorted(found, key=lambda pair: pair[0])]


def did_you_mean(word: object, known: Iterable[str], otherwise: str = "") -> str:
    """The end of a message about an unknown word: the nearest known one, or `otherwise`, or all that are known."""
    known = list(known)
    near = nearest(word, known)
    return f"did you mean {near!r}?" if near else otherwise or f"known here: {', '.join(known) or 'none'}"
