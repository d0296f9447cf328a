"""How deeply JSON is nested. A hostile guest can nest its values arbitrarily deeply, and decoders recurse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

RESULT_DEPTH = 500
"""How many levels of lists and objects a result may have. Decoders and encoders fail at about twice as many."""
TOO_DEEP = f"the result is nested more than {RESULT_DEPTH} levels deep"
_NOT_NESTING = bytes(set(range(256)) - set(b'"[]{}'))
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_STEPS = bytes.maketrans(b"[]", b"\x01\xff")  # as signed bytes: a level down, a level up


_PART = 1 << 20
"""How many brackets are counted at once, in about 20 ms."""


def depth(text: bytes) -> int:
    """How many levels of lists and objects valid JSON has. Takes about 30 ms for a megabyte of brackets."""
    return max(depths(text))


def depths(text: bytes) -> Iterator[int]:
    """The depth of each part of the text, 0 first. No part takes long, so that others can run in between."""
    unescaped = text.replace(b"\\\\", b"")
    yield 0
    unescaped = unescaped.replace(b'\\"', b"")
    yield 0
    marks = unescaped.translate(_BRACKETS, _NOT_NESTING).replace(b'""', b"")
    yield 0
    brackets = re.sub(rb'"[^"]*+"', b"", marks)
    yield 0
    steps = memoryview(brackets.translate(_STEPS)).cast("b")
    level = 0
    for start in range(0, len(steps), _PART):
        part = steps[start : start + _PART]
        yield max(accumulate(part, initial=level))
        level += sum(part)


def is_deeper(value: object, limit: int) -> bool:
    """Whether `value` has more than `limit` levels of lists and objects."""
    level = [value]
    for _ in range(limit + 1):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def flatten(value: Any, levels: int) -> Any:
    """Return `value` with at most so many levels. What is nested more deeply becomes JSON text."""
    if not isinstance(value, dict | list):
        return value
    if not levels:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return {name: flatten(inner, levels - 1) for name, inner in value.items()}
    return [flatten(inner, levels - 1) for inner in value]


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
