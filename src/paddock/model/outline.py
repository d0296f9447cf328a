"""Facts about a Python script that its guest found while compiling it. The host never parses source itself.

A hostile guest can send any outline. It then misleads the static check of its own script and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Outline:
    """The facts that the host needs before the script's first line runs."""

    returns: list[tuple[int, int, bool]] = field(default_factory=list)
    """Top-level `return` statements: line, byte offset in the line, and whether a value follows."""
    bound: list[str] = field(default_factory=list)
    """Names that the script assigns anywhere."""
    unbound: list[str] | None = field(default_factory=list)
    """Names that it uses without binding them. None: it may use any name, for example through `eval`."""
    unawaited: list[tuple[int, int, str]] = field(default_factory=list)
    """Top-level `return f(…)` without `await`: line, column counted from 1, and the function's name."""
    stored_keys: list[str] = field(default_factory=list)
    """Constant keys that it stores into some dict."""
    spread_lines: list[tuple[int, int]] = field(default_factory=list)
    """First and last line of each dict literal that unpacks another dict."""
