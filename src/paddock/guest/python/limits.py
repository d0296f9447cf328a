"""What a script may use up, as far as the process itself can say so to the kernel or to Python.

The host has limits of its own around the process; these make the usual failures ordinary exceptions of the script.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import resource
import signal
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

RESERVE_BYTES = 1024 * 1024
"""Kept back while the script runs, and given up when it runs out of memory: its error has to be told."""
OWN_RECURSION = sys.getrecursionlimit()
TASKS = "PADDOCK_TASKS"
"""How many threads others have that the kernel counts together with ours, where this process shares their uid."""
ROOM = 10_000
"""How deep our own parsing of inputs and source may go; CPython's default is too little for what the host accepts."""


def data_bytes() -> int | None:
    """The private memory that this process has mapped; None where /proc does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(file, 200).split()[5]) * resource.getpagesize()
        finally:
            os.close(file)
    return None


def prepare() -> None:
    """What does not depend on the limits of a run."""
    _set(resource.RLIMIT_CORE, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the process that this one was forked from has another
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond RLIMIT_FSIZE is EFBIG, not the end of the process


def apply(limits: Mapping[str, Any], before_bytes: int | None) -> None:
    """Set what `limits` names. Memory counts from `before_bytes`, what there was before the script's inputs came."""
    memory = limits.get("memory_bytes")
    if memory is not None and before_bytes is not None:
        _set(resource.RLIMIT_DATA, before_bytes + RESERVE_BYTES + memory)
    if (seconds := limits.get("cpu_seconds")) is not None:
        whole = max(1, -(-seconds // 1))
        _set(resource.RLIMIT_CPU, int(whole), more=1)
    if (file_bytes := limits.get("file_bytes")) is not None:
        _set(resource.RLIMIT_FSIZE, file_bytes)
    if (processes := limits.get("processes")) is not None:
        _set(resource.RLIMIT_NPROC, processes + int(os.environ.get(TASKS, "0")))
    if (open_files := limits.get("open_files")) is not None:
        _set(resource.RLIMIT_NOFILE, open_files)


def _set(kind: int, amount: int, *, more: int = 0) -> None:
    try:
        resource.setrlimit(kind, (amount, amount + more))
    except ValueError:  # more than this process may have
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (min(amount, hard), min(amount + more, hard)))


def reserve() -> mmap.mmap:
    """Memory that is counted and never touched, until it is closed."""
    return mmap.mmap(-1, RESERVE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def is_short() -> bool:
    """Whether more than half of the memory that this process may have is taken."""
    most, taken = resource.getrlimit(resource.RLIMIT_DATA)[0], data_bytes()
    return most != resource.RLIM_INFINITY and taken is not None and taken > most // 2


def allow_recursion(depth: int) -> None:
    """Let the caller of this function go `depth` frames deeper than itself."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 (the way to count frames)
    here = 0
    while frame is not None:
        frame, here = frame.f_back, here + 1
    sys.setrecursionlimit(here + depth)
