"""Limits the total memory of HTTP requests. Each counts from its first byte until its answer and its run have ended.

Its memory is estimated as it will be once the request is parsed: lists of empty lists take twenty times their size.
One caller gets at most three quarters of the memory. So do all large requests together, so that small ones are still
served.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from weakref import WeakValueDictionary

from paddock.errors import Overloaded

SHARE = 0.75
"""The largest share of the memory that one caller may have, and that all requests with large bodies may have."""
SMALL_BYTES = 64 * 1024
"""A body of more than this size is large."""
RETRY_SECONDS = 1.0
_VALUE_BYTES = 80
"""The memory for a JSON value besides its text. An object takes more, but also counts more punctuation."""


def parsed_bytes(body: bytes | bytearray) -> int:
    """Estimate the memory for `body`, its text and its values. Commas and brackets inside strings count as well."""
    # If one character of a text is not ASCII, all of them may take four bytes.
    copies = 4 if body.isascii() and b"\\u" not in body else 8
    punctuation = len(body) - len(body.translate(None, b"[{,:"))  # faster than `count` if there are many
    return len(body) * copies + _VALUE_BYTES * punctuation


class RequestMemory:
    """The memory that all requests of one server take."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held: Counter[str] = Counter()  # bytes, by caller
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by caller

    @property
    def largest_bytes(self) -> int:
        """The most memory that one request with a large body may take."""
        return int(self._limit_bytes * SHARE * SHARE)

    def turn(self, caller: str) -> asyncio.Lock:
        """The lock of this caller, whose large requests are parsed and checked one at a time: others must not wait."""
        return self._turns.setdefault(caller, asyncio.Lock())

    def change(self, caller: str, more_bytes: int) -> None:
        self._held[caller] += more_bytes
        if not self._held[caller]:
            del self._held[caller]

    def require_room(self, caller: str, more_bytes: int, *, is_large: bool) -> None:
        """Raise Overloaded unless this caller may take `more_bytes` in addition."""
        room = self._limit_bytes * (SHARE if is_large else 1)
        if self._held.total() + more_bytes > room or self._held[caller] + more_bytes > room * SHARE:
            raise Overloaded("the requests in progress leave too little memory for this one", RETRY_SECONDS)


class HeldMemory:
    """The memory of one request. It counts while it is entered by the request itself, or by the run that it started."""

    def __init__(self, memory: RequestMemory, caller: str) -> None:
        self._memory, self._caller = memory, caller
        self.turn = memory.turn(caller)
        self.size_bytes = self._users = 0

    def grow(self, size_bytes: int, *, is_large: bool) -> None:
        """Count `size_bytes` from now on. Raises Overloaded if there is no room for it."""
        more = size_bytes - self.size_bytes
        self._memory.require_room(self._caller, more, is_large=is_large)
        self._memory.change(self._caller, more)
        self.size_bytes = size_bytes

    def shrink(self) -> None:
        """Count nothing from now on."""
        self._memory.change(self._caller, -self.size_bytes)
        self.size_bytes = 0

    def __enter__(self) -> None:
        if not self._users:
            self._memory.change(self._caller, self.size_bytes)
        self._users += 1

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if not self._users:
            self._memory.change(self._caller, -self.size_bytes)
