"""Regular expressions that both engines read the same way.

Monty's are those of Rust. Measured alike: patterns that cannot match the empty string, without `$`, `\\Z`, set
operations, inline flags or references that CPython would refuse.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

EMPTY_MATTERS = frozenset({"findall", "finditer", "sub", "split"})
# Characters beyond ASCII, as escapes too: a class of them takes CPython milliseconds to compile, here on the host.
UNSAFE = re.compile(r"\\[uUZzAphHRKXQEGN<>]|\[\[|&&|--|~~|\[\^?\]|\(\?[aLmsux]|\{,|\\[0-7]|[^\x00-\x7f]|\(\?>|[+*?}]\+")
# Monty reads `\1_` as a reference to a group named `1_`.
UNSAFE_REPLACEMENT = re.compile(r"\\(?![1-9]|g<[1-9A-Za-z_])|\\[1-9]\w|\$")


def mended(nodes: Iterable[ast.AST]) -> list[tuple[ast.Constant, list[int]]]:
    """Literals of patterns whose `$` are mended before they reach Monty, with the places of the `$` in each.

    In CPython `$` matches before a last newline too; in Monty it does not, and `(?=\\n?$)` does.
    """
    found: list[tuple[ast.Constant, list[int]]] = []
    for node in nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in FUNCTIONS):
            continue
        literal = node.args[0]
        text = literal.value if isinstance(literal, ast.Constant) else None
        if not isinstance(literal, ast.Constant) or not isinstance(text, str) or not text.isascii():
            continue
        if "$" not in text or _has_flags(node) or literal.lineno != literal.end_lineno:
            continue
        places = [place for place, char in enumerate(text) if char == "$"]
        if _ends(text) == len(places):
            found.append((literal, places))
    return found


FUNCTIONS = frozenset({"match", "search", "fullmatch", "findall", "finditer", "sub", "split", "compile"})


def _has_flags(node: ast.Call) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr in ("M", "MULTILINE") for inner in ast.walk(node))


def _ends(pattern: str) -> int:
    """How many `$` of a pattern stand for the end of the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _count_ends(parser.parse(pattern))
    except (re.error, RecursionError, OverflowError):
        return -1


def _repeats_nothing(item: Any) -> bool:
    if isinstance(item, tuple) and len(item) == 2 and item[0] in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        inner = item[1][2]
        if item[1][1] > 1 and inner.getwidth()[0] == 0:
            return True
    if isinstance(item, parser.SubPattern | list | tuple):
        return any(_repeats_nothing(part) for part in item)
    return False


def _has(item: Any, code: Any) -> bool:
    if isinstance(item, parser.SubPattern | list | tuple):
        return any(inner is code or _has(inner, code) for inner in item)
    return False


def _count_ends(item: Any) -> int:
    if isinstance(item, parser.SubPattern | list):
        return sum(_count_ends(inner) for inner in item)
    if isinstance(item, tuple):
        if len(item) == 2 and item[0] is codes.AT:
            return int(item[1] is codes.AT_END)
        return sum(_count_ends(inner) for inner in item)
    return 0


@lru_cache(maxsize=512)
def problem(pattern: str, function: str, replacement: str | None = None, *, ends: bool = False) -> str | None:
    """Why `pattern` may not mean the same on both sides when used by `function`; None where it does."""
    if UNSAFE.search(pattern):
        return "uses a regular expression beyond the common ground"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
            tree = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError, Warning):
        return "has a regular expression that does not compile"
    if _repeats_nothing(tree):
        return "repeats a group that can match nothing"
    if _has(tree, codes.GROUPREF_EXISTS):
        return "uses a regular expression beyond the common ground"
    if not ends and _count_ends(tree):
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
        for name in (part.partition(">")[0] for part in replacement.split("\\g<")[1:]):
            if not (name.isdigit() and int(name) <= groups) and name not in tree.state.groupdict:
                return "refers to a group that is not there"
    return None
