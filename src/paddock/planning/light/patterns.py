"""Regular expressions that both engines read the same way.

Monty's are those of Rust. Measured alike: patterns that cannot match the empty string, without `$`, `\\Z`, set
operations, inline flags or references that CPython would refuse.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

EMPTY_MATTERS = frozenset({"findall", "finditer", "sub", "split"})
UNSAFE = re.compile(
    r"\\[ZzAphHRKXQEGN<>]|\[\[|&&|--|~~|\[\^?\]|\(\?[aiLmsux]|\(\?\(|\{,|\\[0-7]|\(\?<[=!]|[^\x00-\x7f]|\(\?>|[+*?}]\+"
)
# Monty reads `\1_` as a reference to a group named `1_`.
UNSAFE_REPLACEMENT = re.compile(r"\\(?![1-9]|g<[1-9A-Za-z_])|\\[1-9]\w|\$")


@lru_cache(maxsize=512)
def problem(pattern: str, function: str, replacement: str | None = None) -> str | None:
    """Why `pattern` may not mean the same on both sides when used by `function`; None where it does."""
    if UNSAFE.search(pattern):
        return "uses a regular expression beyond the common ground"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError, Warning):
        return "has a regular expression that does not compile"
    if _has_end(tree):
        return "uses `$` in a regular expression"
    if function in EMPTY_MATTERS and tree.getwidth()[0] == 0:
        return "uses a regular expression that can match nothing"
    if replacement is not None:
        groups = tree.state.groups - 1
        if UNSAFE_REPLACEMENT.search(replacement):
            return "uses an escape in a replacement"
        for number in re.findall(r"\\([1-9])", replacement):
            if int(number) > groups:
                return "refers to a group that is not there"
        for name in re.findall(r"\\g<([^>]*)>", replacement):
            if not (name.isdigit() and int(name) <= groups) and name not in tree.state.groupdict:
                return "refers to a group that is not there"
    return None


def _has_end(tree: Any) -> bool:
    for operation, argument in tree:
        if operation is codes.AT and argument is codes.AT_END:
            return True
        if _any_inner(argument):
            return True
    return False


def _any_inner(argument: Any) -> bool:
    if isinstance(argument, parser.SubPattern):
        return _has_end(argument)
    if isinstance(argument, list | tuple):
        return any(_any_inner(item) for item in argument)
    return False
