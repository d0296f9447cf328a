"""Runs `paddock serve` with a clock that is set: `time.time` is off by the seconds in a file, which may change."""

from __future__ import annotations

import os
import time
from pathlib import Path

VARIABLE = "SHIFTED_SERVER_FILE"


def shift(path: Path) -> None:
    """Set the clock of this process from now on. The monotonic clock goes on as it does."""
    now = time.time
    time.time = lambda: now() + float(path.read_text())


if __name__ == "__main__":
    shift(Path(os.environ[VARIABLE]))
    from paddock.cli.main import entry

    entry()
