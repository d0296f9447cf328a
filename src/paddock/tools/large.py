"""Large values from upstreams: detects them, and processes them in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

LARGE = 128 * 1024
"""In bytes or characters. Parsing this much JSON takes a few milliseconds."""

_Result = TypeVar("_Result")


async def run(work: Callable[[], _Result], *, is_large: bool) -> _Result:
    """Return the result of `work`, which runs in a thread if it is large."""
    return await asyncio.to_thread(work) if is_large else work()


def is_larger(value: object, limit: int) -> bool:
    """Whether `value` as JSON is longer than about `limit`. Stops at the limit, even in a cycle."""
    size, stack = 0, [value]
    while stack:
        one = stack.pop()
        size += len(one) + 2 if isinstance(one, str) else 2
        if size > limit:
            return True
        if isinstance(one, Mapping):
            stack.extend(one.keys())
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)
    return False
