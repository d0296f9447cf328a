"""Processes as a test sees them: which ones there are, and waiting for one to be gone without polling a clock."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PATIENCE_SECONDS = 30


def children(pid: int | None = None) -> list[int]:
    """The children of `pid`, whichever thread of it started them."""
    found: list[int] = []
    for task in Path(f"/proc/{pid or os.getpid()}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found += map(int, (task / "children").read_text().split())
    return sorted(found)


def wait_until_gone(pids: list[int]) -> None:
    """Return when every process of `pids` has ended. Fails if that takes too long."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            ready, _, _ = select.select([descriptor], [], [], PATIENCE_SECONDS)
            assert ready, f"process {pid} is still there"
        finally:
            os.close(descriptor)


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    """A host of its own, which runs `program`."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
