"""Runs `paddock serve`, and writes down each callback of its event loop that takes more than LIMIT_SECONDS of CPU."""

from __future__ import annotations

import asyncio.events
import os
import time
from pathlib import Path

LIMIT_SECONDS = 0.1
VARIABLE = "WATCHED_SERVER_FILE"


def watch(path: Path) -> None:
    """Watch the event loops of this process from now on."""
    run = asyncio.events.Handle._run

    def run_watched(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        if (seconds := time.thread_time() - began) > LIMIT_SECONDS:
            with path.open("a") as file:
                file.write(f"{seconds:.3f} s: {handle!r:.500}\n")

    asyncio.events.Handle._run = run_watched  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    watch(Path(os.environ[VARIABLE]))
    from paddock.cli.main import entry

    entry()
