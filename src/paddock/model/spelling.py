"""Finds known words that are similar to a mistyped one, for "did you mean" hints.

The hints for a misspelt tool are in `tools/catalogue`, those for its arguments in `tools/schema_errors`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

COMPARED_CHARACTERS = 100
COMPARED_WORDS = 20_000
EDITED_WORDS = 1000
"""How many known words `most_similar` and `within_edits` compare: a hostile upstream may list very many."""
SIMILARITY_PERCENT = 60


def load() -> None:
    """Import what the functions below use, which takes a tenth of a second on a busy machine."""
    import rapidfuzz  # noqa: F401


def nearest(word: object, known: Iterable[str]) -> str | None:
    """The known word that is most similar to `word`, or None."""
    return next(iter(most_similar(word, known, 1)), None)


def most_similar(word: object, known: Iterable[str], limit: int) -> list[str]:
    """Up to `limit` known words similar to `word`, most similar first. Only the start of a long word is compared."""
    from rapidfuzz import fuzz, process

    candidates = [other for other in islice(known, COMPARED_WORDS) if len(other) <= COMPARED_CHARACTERS]
    matches = process.extract(
        str(word)[:COMPARED_CHARACTERS], candidates, scorer=fuzz.ratio, score_cutoff=SIMILARITY_PERCENT, limit=limit
    )
    return [other for other, _, _ in matches]


def within_edits(word: str, known: Iterable[str], distance: int = 2) -> list[str]:
    """The known words within `distance` edits of `word`, nearest first. Short words allow fewer edits; case is ignored.

    An edit inserts, removes or changes a letter, or swaps two neighbours.
    """
    from rapidfuzz.distance import OSA

    if len(word) > COMPARED_CHARACTERS:
        return []
    matches: list[tuple[int, str]] = []
    for other in islice(known, EDITED_WORDS):
        longer = max(len(word), len(other))
        allowed = 0 if longer <= 2 else min(distance, 1) if longer <= 4 else distance
        if abs(len(word) - len(other)) <= allowed:
            edits = OSA.distance(word.casefold(), other.casefold(), score_cutoff=allowed)
            if edits <= allowed:
                matches.append((edits, other))
    return [other for _, other in sorted(matches, key=lambda pair: pair[0])]


def did_you_mean(word: object, known: Iterable[str], otherwise: str = "") -> str:
    """The end of a message about an unknown word: the nearest known word, else `otherwise`, else all known words."""
    known = list(known)
    start = f"{str(word)[:COMPARED_CHARACTERS]}_"  # `wall_seconds` for "wall"
    near = next((each for each in known if each.startswith(start)), None) or nearest(word, known)
    return f"did you mean {near!r}?" if near else otherwise or f"known here: {', '.join(known) or 'none'}"
