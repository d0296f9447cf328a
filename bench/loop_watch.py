"""`python -m bench.loop_watch FILE serve …`: the command `paddock`, whose event loop is watched.

Once FILE exists, a line is added to it whenever a callback of the loop has used more processor time than each one
before: the milliseconds, and what it was. Time in which the kernel let another process run does not count.
"""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio.base_events import _format_handle  # type: ignore[attr-defined]
from pathlib import Path

AT_LEAST_SECONDS = 0.001


def watch(file: Path) -> None:
    """Time every callback of every event loop in this process."""
    run = asyncio.Handle._run  # noqa: SLF001
    longest = AT_LEAST_SECONDS

    def timed(handle: asyncio.Handle) -> None:
        nonlocal longest
        began = time.thread_time()
        run(handle)
        seconds = time.thread_time() - began
        if seconds > longest and file.exists():
            longest = seconds
            with file.open("a") as lines:
                lines.write(f"{seconds * 1000:.1f} {_format_handle(handle)}\n")

    asyncio.Handle._run = timed  # type: ignore[assignment,method-assign]  # noqa: SLF001


def longest(file: Path) -> tuple[float, str]:
    """The milliseconds of the longest callback so far, and what it was."""
    milliseconds, _, what = (file.read_text().splitlines() or ["0.0 none"])[-1].partition(" ")
    return float(milliseconds), what


if __name__ == "__main__":
    from paddock.cli.main import entry

    watch(Path(sys.argv.pop(1)))
    sys.exit(entry())
