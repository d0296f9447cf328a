"""`python -m bench.loop_watch FILE serve …`: the command `paddock`, whose event loop is watched.

Once FILE exists, a line is added to it whenever a callback of the loop has used more processor time than each one
before: the milliseconds, how many of them were garbage collection, and what it was. Time in which the kernel let
another process run does not count.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from asyncio.base_events import _format_handle  # type: ignore[attr-defined]
from pathlib import Path

AT_LEAST_SECONDS = 0.001


def watch(file: Path) -> None:
    """Time every callback of every event loop in this process."""
    run = asyncio.Handle._run  # noqa: SLF001
    longest = AT_LEAST_SECONDS
    collecting = began_collecting = 0.0

    def note_collection(phase: str, info: dict[str, int]) -> None:
        nonlocal collecting, began_collecting
        if threading.current_thread() is not threading.main_thread():
            return
        if phase == "start":
            began_collecting = time.thread_time()
        else:
            collecting += time.thread_time() - began_collecting

    def timed(handle: asyncio.Handle) -> None:
        nonlocal longest, collecting
        collecting = 0.0
        began = time.thread_time()
        run(handle)
        seconds = time.thread_time() - began
        if seconds > longest and file.exists():
            longest = seconds
            with file.open("a") as lines:
                lines.write(
                    f"{seconds * 1000:.1f} (garbage collection {collecting * 1000:.1f}) {_format_handle(handle)}\n"
                )

    gc.callbacks.append(note_collection)
    asyncio.Handle._run = timed  # type: ignore[assignment,method-assign]  # noqa: SLF001


def longest(file: Path) -> tuple[float, str]:
    """The milliseconds of the longest callback so far, and what it was."""
    milliseconds, _, what = (file.read_text().splitlines() or ["0.0 none"])[-1].partition(" ")
    return float(milliseconds), what


if __name__ == "__main__":
    from paddock.cli.main import entry

    watch(Path(sys.argv.pop(1)))
    sys.exit(entry())
