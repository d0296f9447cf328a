"""Warnings about a run, in sentences for the model that wrote the script. They are sent with the RESULT."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

MAX_WARNINGS = 20
CHARACTERS = 400
_texts: dict[str, None] = {}


def warn(text: str) -> None:
    """Add a warning, unless it was added already."""
    if len(_texts) < MAX_WARNINGS:
        _texts[text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}…"] = None


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Forget the warnings that are added in this block."""
    before = dict(_texts)
    yield
    _texts.clear()
    _texts.update(before)


def forget(beginning: str) -> None:
    """Forget the warnings that begin so."""
    for text in [text for text in _texts if text.startswith(beginning)]:
        del _texts[text]


def collected() -> list[str]:
    """The warnings so far."""
    return list(_texts)


def clear() -> None:
    """Forget all warnings."""
    _texts.clear()
