"""Text that Monty reads otherwise than CPython does, by what a script does with text.

Measured over all of Unicode. What is written in the script, passed to it or answered by a tool can be looked at; the
characters named here are then a reason not to run it on the light engine.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

DIGITS, WORDS, SPACES, CASE, NUMERALS = "digits", "words", "spaces", "case", "numerals"
JSON, BASE64 = "json", "base64"

NEWER_CASE = frozenset("\u019b\u0264\u0295\u10fc\u1d2c\ua7f2\ua7f3\ua7f4\uab69")
"""Letters whose case was changed in a later version of Unicode."""
NEWER_NUMERALS = frozenset("\u4e24\u4eac\u4fe9\u5006\u62d0\u6d1e\u7695\u79ed\u920e\u94a9")
SEPARATORS = frozenset("\x1c\x1d\x1e\x1f")
DOTTED = frozenset("\u0130\u0131")
JOINERS = frozenset("\u200c\u200d")
DOINGS = {
    DIGITS: "reads numbers", WORDS: "searches for words", SPACES: "searches for spaces",
    CASE: "searches whatever the case", NUMERALS: "asks for numerals",
}  # fmt: skip

DEEPEST = 190
"""The most levels of data that both sides are sure to read."""

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ROUNDS = 8
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)  # one without an end goes to the end of the text
_ESCAPE = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\+u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})")
_HALF = re.compile(r"\\u[dD][89a-fA-F]|\\u[0-9a-fA-F]{0,3}$")
_AFTER_PADDING = re.compile(r"=(?:[^\w+/\"=]|\\[nrt])*[A-Za-z0-9+/]")
_NAMED = {
    "int": DIGITS, "float": DIGITS, "strptime": DIGITS, "loads": JSON, "load": JSON, "b64decode": BASE64,
    "isnumeric": NUMERALS, "I": CASE, "IGNORECASE": CASE,
}  # fmt: skip


def uses(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """What a script does with text that depends on more than its ASCII characters."""
    found: set[str] = set()
    patterns: set[str] = set()
    searches = False
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(_NAMED.get(node.id, ""))
        elif isinstance(node, ast.Attribute):
            found.add(_NAMED.get(node.attr, ""))
        elif isinstance(node, ast.alias):
            found.add(_NAMED.get(node.name, ""))
            searches = searches or node.name == "re"
        elif isinstance(node, ast.ImportFrom):
            searches = searches or node.module == "re"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\\" in node.value:
            patterns |= asked_of(node.value)
    return frozenset(found - {""}) | (frozenset(patterns) if searches else frozenset())


def asked_of(pattern: str) -> frozenset[str]:
    """What a regular expression asks of characters."""
    found = {WORDS for _ in re.finditer(r"\\[wWbB]", pattern)}
    found |= {SPACES for _ in re.finditer(r"\\[sS]", pattern)}
    return frozenset(found | {CASE for _ in re.finditer(r"\(\?i", pattern)})


def problem(done: frozenset[str], text: str) -> str | None:
    """Why `text`, plain or as JSON, must not be given to a script that does these things; None where it may be."""
    if is_deep(text):
        return f"is given data that is nested more than {DEEPEST} times"
    if BASE64 in done and _AFTER_PADDING.search(text):
        return "decodes base64 where something may follow its end"
    if JSON in done and "\\u" in text and _HALF.search(_ESCAPE.sub(_without_pair, text)):
        return "reads JSON where half a surrogate pair may be written"
    if text.isascii() and "\\u" not in text and not (SPACES in done and SEPARATORS & set(text)):
        return None
    for char in sorted(_characters(text)):
        what = _odd(done, char)
        if what is not None:
            return f"{what} where the character U+{ord(char):04X} may be"
    return None


def is_deep(text: str) -> bool:
    """Whether a text, plain or as JSON, holds data nested so many times that Monty gives up on it."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    if text.startswith('"'):
        try:
            return is_deep(" " + json.loads(text))
        except ValueError:
            return True
    brackets = text.encode(errors="replace").translate(None, _NO_BRACKETS)
    if _depth(brackets) <= DEEPEST:
        return False
    bare = _STRING.sub(lambda match: "" if match[1] else match[0], text)
    return _depth(bare.encode(errors="replace").translate(None, _NO_BRACKETS)) > DEEPEST


def _depth(brackets: bytes) -> int:
    """How deep they nest at most, or somewhat more where that is not deep."""
    left = brackets
    for rounds in range(1, _ROUNDS + 1):  # each takes away what is innermost, two levels at most
        left = left.replace(b"[]", b"").replace(b"{}", b"")
        if (most := 2 * rounds + len(left)) <= DEEPEST:
            return most
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _without_pair(match: re.Match[str]) -> str:
    return "" if match.group(1) else match.group(0)


def _characters(text: str) -> set[str]:
    """The characters of a text, also those that it writes as escapes of JSON."""
    found = set(text) if not text.isascii() else set(text) & SEPARATORS
    for high, low, plain in set(_ESCAPE.findall(text)):
        if high:
            found.add(chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00))
        else:
            found.add(chr(int(plain, 16)))
    return {char for char in found if char in SEPARATORS or not char.isascii()}


def _odd(done: frozenset[str], char: str) -> str | None:
    category = unicodedata.category(char)
    if category == "Cn" or char in NEWER_CASE:
        return "has text"  # what this Python's tables do not know, Monty's newer ones may
    for doing, what in DOINGS.items():
        if doing in done and _is_odd(doing, char, category):
            return what
    return None


def _is_odd(doing: str, char: str, category: str) -> bool:
    if doing == DIGITS:
        return category == "Nd" and not char.isascii()
    if doing == SPACES:
        return char in SEPARATORS
    if doing == CASE:
        return char in DOTTED
    if doing == NUMERALS:
        return char in NEWER_NUMERALS
    # Changing the case can take a letter apart into one and a mark.
    cased = {char, *char.upper(), *char.lower(), *char.title(), *char.casefold()}
    return any(_is_odd_in_words(one, unicodedata.category(one)) for one in cased)


def _is_odd_in_words(char: str, category: str) -> bool:
    if category in ("Mn", "Mc", "Me", "No"):
        return True
    if category == "So":  # of the symbols, letters in circles and squares
        return "\u24b6" <= char <= "\u24e9" or "\U0001f130" <= char <= "\U0001f189"
    return char in JOINERS or (category == "Pc" and char != "_")


def in_script(nodes: Iterable[ast.AST]) -> Mapping[str, str]:
    """For each thing that can be done with text: the first odd character of the script's own text, as `U+0661`."""
    found: dict[str, str] = {}
    texts = [plain(node.value) for node in nodes if isinstance(node, ast.Constant)]
    for text in texts:
        if text.isascii() and "\\u" not in text and not SEPARATORS & set(text):
            continue
        for char in sorted(_characters(text)):
            for doing in DOINGS:
                if doing not in found and _is_odd(doing, char, unicodedata.category(char)):
                    found[doing] = f"U+{ord(char):04X}"
    return found


def plain(value: Any) -> str:
    """The text of a constant; nothing where it is none."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else ""
