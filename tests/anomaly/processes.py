"""Processes as a test sees them: which ones there are, and waiting for one to be gone without polling a clock."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PATIENCE_SECONDS = 30
BUSY = "import subprocess\nsubprocess.Popen(['sh', '-c', 'while true; do :; done', 'busy-for-a-tool'])\n"
"""A script that begins like this leaves a process that computes."""


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


def are_busy() -> bool:
    """Whether a process that BUSY has started goes on."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"\0busy-for-a-tool\0" in (process / "cmdline").read_bytes():
                return state_of(int(process.name)) not in "TZX"
    return False


def state_of(pid: int) -> str:
    """The state of a process, such as R for one that computes; Z for one that is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "Z"


def computes(pid: int) -> bool:
    """Whether a process or one below it computes."""
    with suppress(OSError):
        return state_of(pid) == "R" or any(map(computes, children(pid)))
    return False
