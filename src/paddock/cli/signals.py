"""Handling of Ctrl-C and SIGTERM during the whole command.

By default a signal ends the process at once, because an exception during an import would show as a traceback. Work that
must clean up gets an exception (`raise_interrupted`) or a cancelled task (`Interrupts`) instead. `paddock mcp` and
`paddock serve` handle both signals themselves (`serve`).
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # importing `typing` takes 9 ms, during which Ctrl-C would show a traceback
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterator
    from types import FrameType
    from typing import NoReturn, TypeVar

    T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
MIN_FILES = 24
"""How many files a process that runs a script must be able to open. With fewer, Monty's runtime panics."""
TOO_FEW_FILES = "this process cannot open enough files; raise the limit, for example with `ulimit -n 256`"


class Interrupted(BaseException):
    """The user or the system asked the command to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def exit_cancelled(number: int, frame: FrameType | None) -> NoReturn:
    """Print `cancelled` and end the process at once."""
    restore_defaults()  # if nobody reads stderr, the next signal must still end the process
    if sys.stderr is not None:
        with suppress(OSError):
            os.write(sys.stderr.fileno(), b"cancelled\n")
    os._exit(128 + number)


def watch(handle: Callable[[int, FrameType | None], object] = exit_cancelled) -> None:
    """Install `handle` for both signals."""
    for number in SIGNALS:
        signal.signal(number, handle)


def restore_defaults() -> None:
    """Restore the default signal handlers, when Python is about to exit."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def raise_interrupted() -> Iterator[None]:
    """Raise `Interrupted` for the first signal inside the block; the second ends the process."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        watch()
        raise Interrupted(number)

    watch(stop)
    try:
        yield
    finally:
        watch()


class Interrupts:
    """Runs a coroutine. The first signal cancels it, the second ends the process at once."""

    def __init__(self) -> None:
        self._received: int | None = None
        self._in_write = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run `work` to its end. After a signal, let it clean up, then raise `Interrupted`."""
        import asyncio

        from paddock.descriptors import limit
        from paddock.errors import HostError

        try:
            if 0 <= limit() < MIN_FILES:  # -1: no limit
                raise HostError(TOO_FEW_FILES)
            value = asyncio.run(self._guard(work))
        except asyncio.CancelledError:
            if self._received is None:
                raise
            raise Interrupted(self._received) from None
        finally:
            work.close()
        if self._received is not None:
            # The work ended despite the signal, for example because the guest got the same Ctrl-C.
            raise Interrupted(self._received)
        return value

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Wrap a write that a slow reader may block. A signal interrupts it, and no write starts after a signal."""
        from asyncio import CancelledError

        self._in_write = True
        try:
            if self._received is not None:
                raise CancelledError  # a write that blocks would keep the loop from cancelling the task
            yield
        finally:
            self._in_write = False

    async def _guard(self, work: Coroutine[object, object, T]) -> T:
        import asyncio

        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        watch(self._handle)
        try:
            return await work
        finally:
            watch()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        from asyncio import CancelledError

        self._received = number
        watch()
        if self._in_write:
            raise CancelledError
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
