"""What Ctrl-C and SIGTERM do, from the command's first moment to its last.

Nearly everywhere they end the process on the spot: an exception in the middle of an import would show as a traceback.
Only what has something to put in order takes them as an exception, or as the end of its task (`Interrupts`).
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # `typing` itself would come too early
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import NoReturn

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """The user, or the system, asked the command to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """Say so, and end the process at once."""
    die_quietly()  # where nobody reads stderr, the next signal must not wait behind this one
    if sys.stderr is not None:
        with suppress(OSError):
            os.write(sys.stderr.fileno(), b"cancelled\n")
    os._exit(128 + number)


def watch(handle: Callable[[int, FrameType | None], object] = leave) -> None:
    """From now on, a signal calls `handle`."""
    for number in NUMBERS:
        signal.signal(number, handle)


def die_quietly() -> None:
    """From now on, a signal ends the process by itself: for when the work is done and Python closes down."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def raised() -> Iterator[None]:
    """The first signal is `Interrupted` here, so that what was started is ended too; the second ends the process."""
    watch(_raise)
    try:
        yield
    finally:
        watch()


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    watch()
    raise Interrupted(number)
