"""Help for a word that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: object, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`, if one is at all."""
    from difflib import get_close_matches  # the slowest import of the core, needed only when something is wrong

    found = get_close_matches(str(word), list(known), 1)
    return found[0] if found else None
