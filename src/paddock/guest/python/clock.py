"""Tells the host which line the script has reached, and what it has printed on a line without an end, shortly before
its time is over: a killed process cannot.

SIGALRM does it. A script that uses SIGALRM or its timer itself replaces this, and its time-out then names no line.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterable, Mapping
from types import CoroutineType, FrameType
from typing import Any

from paddock.guest.python import streams
from paddock.guest.python.channel import Channel
from paddock.guest.python.errors import Source
from paddock.guest.python.limits import early_seconds
from paddock.jail import wire
from paddock.jail.wire import Kind

AWAITED_DEPTH = 100
CLOCK_SECONDS = 0.05
"""By how much the timer may be early, because the two clocks differ."""
_set_timer = signal.setitimer


def start(limits: Mapping[str, Any], channel: Channel) -> None:
    """Send the line and the output shortly before the limits of processor time and of wall-clock time."""
    if not (moments := early_seconds(limits)):
        return
    waits = [later - earlier for earlier, later in zip([0.0, *moments], moments, strict=False)]

    due = time.monotonic() + waits[0]

    def tell(number: int, frame: FrameType | None) -> None:
        nonlocal due
        if time.monotonic() < due - CLOCK_SECONDS:  # the script sent the signal to itself, which ends a process
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGALRM)
        with contextlib.suppress(Exception):
            if (line := _line(frame)) is not None:
                channel.send_at_once(wire.pack(Kind.REACHED, 0, {"line": line}))
        streams.flush()
        if waits:
            due = time.monotonic() + waits[0]
            _set_timer(signal.ITIMER_REAL, waits.pop(0))

    signal.signal(signal.SIGALRM, tell)
    _set_timer(signal.ITIMER_REAL, waits.pop(0))


def stop() -> None:
    """Stop the timer, at the end of a run of a session."""
    _set_timer(signal.ITIMER_REAL, 0)


def _line(frame: FrameType | None) -> int | None:
    """The script's innermost line that runs, or that the oldest task waits on."""
    is_loop = False  # whether a loop is between the script's frame and what runs now
    while frame is not None and frame.f_code.co_filename != Source.name:
        is_loop = is_loop or frame.f_code.co_filename == asyncio.base_events.__file__
        frame = frame.f_back
    if frame is None or is_loop:
        with contextlib.suppress(RuntimeError):  # no loop is running
            waiting = next((line for task in _by_age(asyncio.all_tasks()) if (line := _awaited_line(task))), None)
            return waiting or (frame and frame.f_lineno)
    return frame and frame.f_lineno


def _by_age(tasks: Iterable[asyncio.Task[Any]]) -> list[asyncio.Task[Any]]:
    return sorted(tasks, key=lambda task: (len(task.get_name()), task.get_name()))  # Task-1, Task-2, … Task-10


def _awaited_line(task: asyncio.Task[Any]) -> int | None:
    line: int | None = None
    waiting: Any = task.get_coro()
    for _ in range(AWAITED_DEPTH):
        if type(waiting) is not CoroutineType or waiting.cr_frame is None:
            break
        if waiting.cr_frame.f_code.co_filename == Source.name:
            line = waiting.cr_frame.f_lineno
        waiting = waiting.cr_await
    return line
