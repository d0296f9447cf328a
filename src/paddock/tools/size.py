"""The size of values from upstreams. Work on large ones runs in a thread, so that it does not block the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar, TypeVarTuple, Unpack

LARGE = 128 * 1024
"""In bytes or characters. Parsing this much JSON takes a few milliseconds."""
MAX_CONTAINERS = 1_000_000
"""Lists and objects in one message, counted by brackets, including those inside texts. Each takes 100 bytes or so."""
TOO_MANY = f"it is made of more than {MAX_CONTAINERS:,} lists and objects"

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")


def containers(data: bytes | str) -> int:
    """An upper bound for the number of lists and objects in this JSON."""
    return data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")


def parse_seconds(data: bytes) -> float:
    """About how long the SDK takes to parse this JSON. Measured."""
    return 1e-7 * data.count(b",") + 4e-7 * (data.count(b":") + containers(data))


async def run_by_size(value: object, work: Callable[[Unpack[_Arguments]], _Result], *arguments: *_Arguments) -> _Result:
    """Return `work(*arguments)`. Runs it in a thread if `value`, on which it works, is large."""
    return await asyncio.to_thread(work, *arguments) if is_larger(value, LARGE) else work(*arguments)


def is_larger(value: object, limit: int) -> bool:
    """Whether `value` as JSON is longer than about `limit`. Stops at the limit, even in a cycle."""
    if isinstance(value, str | bytes):
        return len(value) > limit
    size, stack = 0, [value]
    while stack:
        one = stack.pop()
        size += 2 + (len(one) if isinstance(one, str | bytes) else one.bit_length() // 3 if isinstance(one, int) else 0)
        if size > limit:
            return True
        if isinstance(one, Mapping):
            stack.extend(one.keys())
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)
    return False
