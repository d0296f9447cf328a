"""Large values of upstreams: how they are recognised, and that they are worked on in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

LARGE = 128 * 1024
"""Bytes or characters. Parsing this much JSON takes a few milliseconds."""

_Result = TypeVar("_Result")


async def run(work: Callable[[], _Result], *, is_large: bool) -> _Result:
    """Return what `work` returns, computed in a thread if it is large."""
    return await asyncio.to_thread(work) if is_large else work()


def is_larger(value: object, limit: int) -> bool:
    """Whether `value` as JSON is longer than about `limit`. Stops there, even in a cycle."""
    size, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        size += len(one) + 2 if isinstance(one, str) else 2
        if size > limit:
            return True
        if isinstance(one, Mapping):
            waiting.extend(one.keys())
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False
