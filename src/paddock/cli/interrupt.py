"""Ctrl-C and SIGTERM as the orderly end of an asynchronous command."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from paddock.cli.ending import Interrupted

T = TypeVar("T")


class Interrupts:
    """Cancels the command's task on the first signal; the second acts as it always does."""

    def __init__(self) -> None:
        self._received: int | None = None
        self._in_write = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run `work` to its end, or to the end of its clean-up once a signal came: then `Interrupted`."""
        try:
            value = asyncio.run(self._guard(work))
        except asyncio.CancelledError:
            if self._received is None:
                raise
            raise Interrupted(self._received) from None
        if self._received is not None:  # the guest got the same Ctrl-C and ended first
            raise Interrupted(self._received)
        return value

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A write that a slow reader may hold up: a signal ends it at once."""
        self._in_write = True
        try:
            yield
        finally:
            self._in_write = False

    async def _guard(self, work: Coroutine[object, object, T]) -> T:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)
        try:
            return await work
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._received = number
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        if self._in_write:
            raise asyncio.CancelledError
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
