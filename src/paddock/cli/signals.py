"""Ctrl-C and SIGTERM, from the command's first moment to its last.

Nearly everywhere a signal ends the process on the spot: an exception in the middle of an import would show as a
traceback. Work that has something to clean up takes it as an exception (`raised`) or a cancelled task (`Interrupts`).
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # importing `typing` takes 9 ms, in which Ctrl-C would be a traceback
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterator
    from types import FrameType
    from typing import NoReturn, TypeVar

    T = TypeVar("T")

NUMBERS = (signal.SIGINT, signal.SIGTERM)
SPARE_FILES = 20  # what an event loop, a pool of workers and the pipes to two of them open
TOO_FEW_FILES = "this process may not open enough files; allow more, for example with `ulimit -n 256`"


class Interrupted(BaseException):
    """The user or the system asked the command to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """Print `cancelled` and end the process at once."""
    die_quietly()  # where nobody reads stderr, the next signal must not wait behind this one
    if sys.stderr is not None:
        with suppress(OSError):
            os.write(sys.stderr.fileno(), b"cancelled\n")
    os._exit(128 + number)


def watch(handle: Callable[[int, FrameType | None], object] = leave) -> None:
    """Let `handle` take both signals from now on."""
    for number in NUMBERS:
        signal.signal(number, handle)


def die_quietly() -> None:
    """Restore the default action: the work is done, and Python is closing down."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def raised() -> Iterator[None]:
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
    """Runs a coroutine; the first signal cancels it, the second ends the process on the spot."""

    def __init__(self) -> None:
        self._received: int | None = None
        self._in_write = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run `work` to its end; after a signal, let it clean up and raise `Interrupted`."""
        import asyncio

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
        """Wrap a write that a slow reader may block: a signal ends it at once, and none starts after a signal."""
        from asyncio import CancelledError

        self._in_write = True
        try:
            if self._received is not None:  # the task is cancelled by the loop, which a write would hold up
                raise CancelledError
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


def _check_spare_files() -> None:
    # Without them the runtime of `monty` panics, and writes that to stderr itself.
    from paddock.errors import HostError

    opened: list[int] = []
    try:
        for _ in range(SPARE_FILES // 2):
            opened.extend(os.pipe())
    except OSError:
        raise HostError(TOO_FEW_FILES) from None
    finally:
        for number in opened:
            os.close(number)
