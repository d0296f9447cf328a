"""Ctrl-C and SIGTERM as the orderly end of an asynchronous command."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from paddock.cli.ending import TOO_FEW_FILES
from paddock.cli.signals import Interrupted, watch
from paddock.errors import HostError

T = TypeVar("T")
SPARE_FILES = 20  # what an event loop, a pool of workers and the pipes to two of them open


class Interrupts:
    """Cancels the command's task on the first signal; the second ends the process on the spot."""

    def __init__(self) -> None:
        self._received: int | None = None
        self._in_write = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run `work` to its end, or to the end of its clean-up once a signal came: then `Interrupted`."""
        try:
            _check_spare_files()
            value = asyncio.run(self._guard(work))
        except asyncio.CancelledError:
            if self._received is None:
                raise
            raise Interrupted(self._received) from None
        finally:
            work.close()
        if self._received is not None:  # the guest got the same Ctrl-C and ended first
            raise Interrupted(self._received)
        return value

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A write that a slow reader may hold up: a signal ends it at once, and none begins after one."""
        self._in_write = True
        try:
            if self._received is not None:  # the task's own end waits for the loop, which a write would hold up
                raise asyncio.CancelledError
            yield
        finally:
            self._in_write = False

    async def _guard(self, work: Coroutine[object, object, T]) -> T:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        watch(self._handle)
        try:
            return await work
        finally:
            watch()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._received = number
        watch()
        if self._in_write:
            raise asyncio.CancelledError
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)


def _check_spare_files() -> None:
    # Without them the engine's runtime panics, and says so on stderr itself.
    opened: list[int] = []
    try:
        for _ in range(SPARE_FILES // 2):
            opened.extend(os.pipe())
    except OSError:
        raise HostError(TOO_FEW_FILES) from None
    finally:
        for number in opened:
            os.close(number)
