"""Work on megabytes of JSON in a thread without holding up the event loop.

A thread alone is not enough: one call into C holds the interpreter's lock, and `json.loads` of 16 MB is one call. Here
the work is many short calls: a decoder that calls back into Python for every object and number, an encoder and a
substitution that take a piece at a time. That costs half as much again, so small values do not use it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

LARGE = 128 * 1024
"""Bytes or characters. Decoding this much takes a few milliseconds."""
MANY = 4096
"""Values inside a value, which take as long as LARGE characters."""
BATCH = 256
PIECE = 64 * 1024
OVERLAP = 4096
"""Characters after a piece in which a match that begins in it can be recognised."""
_DEPTH = 6

_Given = TypeVar("_Given")


async def worked(work: Callable[[], _Given], *, is_large: bool) -> _Given:
    """Return what `work` returns, computed in a thread if it is large."""
    return await asyncio.to_thread(work) if is_large else work()


def loads(data: str | bytes, **options: Any) -> Any:
    """`json.loads` that lets other threads run meanwhile."""
    return json.loads(data, object_hook=_same, parse_int=_int, parse_float=_float, **options)


def dumps(value: Any, **options: Any) -> str:
    """`json.dumps` that lets other threads run meanwhile."""
    return "".join(_pieces(value, options, _DEPTH))


def sub(
    pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], text: str, may_hold: Callable[[str], bool]
) -> str:
    """`pattern.sub` that lets other threads run meanwhile. OVERLAP characters must show that a match begins.

    Pieces for which `may_hold` is False are not searched.
    """
    parts: list[str] = []
    done = 0
    while done < len(text):
        end = min(done + PIECE, len(text))
        found = pattern.search(text, done, end + OVERLAP) if may_hold(text[done : end + OVERLAP]) else None
        if found is not None and found.end() == end + OVERLAP:  # it may go on
            found = pattern.match(text, found.start())
        if found is None or found.start() >= end:
            parts.append(text[done:end])
            done = end
        else:
            parts += (text[done : found.start()], replacement(found))
            done = max(found.end(), found.start() + 1)
    return "".join(parts)


def is_large(value: Any) -> bool:
    """Whether a JSON value is worth a thread. Looks only at as much of it as it takes to know."""
    left, waiting = MANY, [value]
    while waiting and left > 0:
        inner = waiting.pop()
        left -= 1
        kind = type(inner)
        if kind is str:
            left -= len(inner) * MANY // LARGE
        elif (kind is dict or kind is list) and len(inner) < left:
            waiting.extend(inner.values() if kind is dict else inner)
        elif kind is dict or kind is list:
            return True
    return left <= 0


def _pieces(value: Any, options: dict[str, Any], depth: int) -> Iterator[str]:
    if depth and isinstance(value, dict) and value and all(type(key) is str for key in value):
        before = "{"
        for key, inner in value.items():
            yield f"{before}{json.dumps(key, **options)}: "
            yield from _pieces(inner, options, depth - 1)
            before = ", "
        yield "}"
    elif depth and isinstance(value, list) and len(value) > BATCH:
        yield "["
        for start in range(0, len(value), BATCH):
            yield ", " if start else ""
            yield json.dumps(value[start : start + BATCH], **options)[1:-1]
        yield "]"
    elif isinstance(value, str) and len(value) > PIECE:
        yield '"'
        yield from (json.dumps(value[start : start + PIECE], **options)[1:-1] for start in range(0, len(value), PIECE))
        yield '"'
    else:
        yield json.dumps(value, **options)


def _same(value: dict[str, Any]) -> dict[str, Any]:
    return value


def _int(text: str) -> int:
    return int(text)


def _float(text: str) -> float:
    return float(text)
