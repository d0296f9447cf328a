"""Facts about a Python script that its guest found while compiling it. The host never parses source itself.

A hostile guest can send any outline. It then misleads the static check of its own script and nothing else.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

Place = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
"""A line counted from 1, or an offset counted from 0."""


class Outline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the host needs to know about a script before its first line runs."""

    returns: list[tuple[Place, Place, bool]] = []
    """Top-level `return` statements: line, byte offset in the line, and whether a value follows."""
    bound: list[str] = []
    """Names that the script assigns anywhere."""
    unbound: list[str] | None = []
    """Names that it uses without binding them first. None: it may use any name, through `eval` or the like."""
    unawaited: list[tuple[Place, Place, str]] = []
    """Top-level `return f(…)` without `await`: line, column counted from 1, and the function's name."""
    stored_keys: list[str] = []
    """Constant keys that it stores into some dict."""
    spread_lines: list[tuple[Place, Place]] = []
    """First and last line of each dict literal that unpacks another dict."""
