"""JSON that is nested too deeply for Python's decoder. A hostile guest can nest its values arbitrarily deeply."""

from __future__ import annotations

import json
import re
from typing import Any

_PART = r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s,:\[\]{}"]+'


def is_deeper(value: object, limit: int) -> bool:
    """Whether `value` has more than `limit` levels of lists and objects."""
    level = [value]
    for _ in range(limit + 1):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def loads(text: str) -> Any:
    """`json.loads` for any depth. Text that is too deep for `json` is decoded iteratively, which is slower."""
    try:
        return json.loads(text)
    except RecursionError:
        return _loads_iteratively(text)


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _loads_iteratively(text: str) -> Any:
    """Decode JSON whose syntax was checked already."""
    done: list[Any] = []
    stack: list[tuple[bool, list[Any]]] = []
    for part in re.findall(_PART, text):
        if part in "[{":
            stack.append((part == "{", []))
            continue
        if part in "]}":
            is_object, items = stack.pop()
            value = dict(zip(items[::2], items[1::2], strict=True)) if is_object else items
        else:
            value = json.loads(part)
        (stack[-1][1] if stack else done).append(value)
    return done[0]
