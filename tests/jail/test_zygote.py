"""What a zygote must not have in memory when guests are forked from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import paddock

PROGRAM = """
import mmap, os, threading
from paddock.jail.zygote import _require_nothing_shared
{}
_require_nothing_shared(os.open("/proc", os.O_RDONLY))
"""


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("kept = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)", ""),
        ("kept = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, prot=mmap.PROT_READ)", ""),
        ("kept = mmap.mmap(-1, 4096)", "RuntimeError: a preloaded module has memory that all guests would share"),
        (
            "threading.Thread(target=threading.Event().wait, daemon=True).start()",
            "RuntimeError: a preloaded module left a thread running",
        ),
    ],
    ids=["private", "shared and read only", "shared", "a thread"],
)
def test_a_zygote_has_no_thread_and_no_memory_that_guests_would_share(first: str, reason: str) -> None:
    variables = {**os.environ, "PYTHONPATH": str(Path(paddock.__file__).parents[1])}
    command = [sys.executable, "-c", PROGRAM.format(first)]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert (done.returncode == 0, reason in done.stderr) == (not reason, True)
