"""From the bytes of an artifact to whoever reads its text, off the event loop."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from typing import Protocol

from paddock.store.text.places import Place

SLICE_BYTES = 512 * 1024


class Reading(Protocol):
    """Takes a text piece by piece. Not asynchronous: it is called in a thread, one call at a time."""

    def feed(self, text: str) -> bool:
        """Whether it has seen enough."""
        ...

    def end(self) -> None:
        """There is no more text."""
        ...

    def stop(self) -> None:
        """Nobody waits any more; from another thread."""
        ...


class Decoding:
    """UTF-8 from `start` on, cut anywhere; what is not UTF-8 becomes replacement characters."""

    def __init__(self, start: Place) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._fed = start.byte
        self.place = start
        """Where what was decoded so far ends."""

    def decode(self, chunk: bytes, *, is_last: bool = False) -> str:
        text = self._decoder.decode(chunk, is_last)
        self._fed += len(chunk)
        pending = len(self._decoder.getstate()[0])  # the beginning of a character whose end has not come yet
        self.place = Place(self._fed - pending, self.place.character + len(text), self.place.line + text.count("\n"))
        return text


async def scan(
    chunks: AsyncIterator[bytes],
    reading: Reading,
    start: Place,
    passed: Callable[[Place], None],
    executor: Executor,
) -> None:
    """Feed `reading` with what `chunks` hold, which begin at `start`, until it has enough or they end."""
    decoding, loop = Decoding(start), asyncio.get_running_loop()

    def step(chunk: bytes) -> bool:
        # A character takes up to four times the memory that its bytes take.
        slices = (chunk[at : at + SLICE_BYTES] for at in range(0, len(chunk), SLICE_BYTES))
        return any(reading.feed(decoding.decode(each)) for each in slices)

    def finish() -> None:
        if not reading.feed(decoding.decode(b"", is_last=True)):
            reading.end()

    try:
        async for chunk in chunks:
            has_enough = await loop.run_in_executor(executor, step, chunk)
            passed(decoding.place)
            if has_enough:
                return
        await loop.run_in_executor(executor, finish)
    finally:
        reading.stop()
