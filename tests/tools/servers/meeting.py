"""The well-behaved server, which begins once so many of its kind were started: `python meeting.py FOLDER COUNT`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import plain  # type: ignore[import-not-found]  # beside this file, which is run as a program


def is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


here, count = Path(sys.argv[1]), int(sys.argv[2])
(here / str(os.getpid())).touch()
while sum(is_running(file.name) for file in here.iterdir()) < count:
    time.sleep(0.005)
plain.server.run()
