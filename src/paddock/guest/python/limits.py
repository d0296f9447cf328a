"""Resource limits that the process sets on itself, so that most failures become ordinary exceptions in the script.

They are not a security boundary: the host limits the process from outside as well.
"""

from __future__ import annotations

import _posixsubprocess
import contextlib
import functools
import math
import mmap
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType
from typing import Any

RESERVE_BYTES = 1024 * 1024
"""Reserved while the script runs and released when it runs out of memory, so that its error can be reported."""
DEFAULT_RECURSION = sys.getrecursionlimit()
LEAST_BYTES = 4 * 1024 * 1024
"""What a run of a session may always use beyond what the session holds already, for example to delete something."""
_justified_bytes = 0
"""The private memory that this process may hold: the limit of this run, or of an earlier one, accounts for it."""
TASKS = "PADDOCK_TASKS"
"""Environment variable: the number of threads that other processes of this uid have. RLIMIT_NPROC counts them too."""
SESSION_SECONDS = 3
"""How much later than the host the kernel ends a run of a session for its processor time: the host may keep it."""
DECODE_RECURSION = 10_000
"""Recursion limit while inputs are decoded; CPython's default is too low for the nesting that the host accepts."""
EARLY_SHARE, EARLY_SECONDS = 0.2, 1.0
"""How long before a limit the line is sent: this share of the limit, but not more than these seconds."""
LEAST_SECONDS = 1.0
"""A shorter limit is over before the line could be sent reliably."""


def data_bytes() -> int | None:
    """The private memory that this process has mapped; None if /proc is not readable."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(file, 200).split()[5]) * resource.getpagesize()
        finally:
            os.close(file)
    return None


def prepare() -> None:
    """Set the limits that are the same for every run."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the zygote installed another handler
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond RLIMIT_FSIZE fails with EFBIG instead of killing


def apply(limits: Mapping[str, Any], before_bytes: int | None, *, in_session: bool = False) -> None:
    """Apply a run's limits. The memory limit is added to `before_bytes`, which was mapped before the inputs arrived.

    In a session, hard limits of memory and time stay as they are, because the next run may have higher ones, and the
    host enforces them too. The processor time of earlier runs does not count, and the host notices the end of this
    run's time before the kernel does. Without a control group, the host sends `open_files`. With one, it limits the
    processes of each session; RLIMIT_NPROC would count those of all its forks together.
    """
    global _justified_bytes  # noqa: PLW0603
    set_one = set_soft_limit if in_session else set_limit
    open_files = limits.get("open_files")
    memory = limits.get("memory_bytes")
    if memory is not None and before_bytes is not None:
        limit, held = before_bytes + memory, min(data_bytes() or 0, _justified_bytes)
        _justified_bytes = max(limit, held)
        set_one(resource.RLIMIT_DATA, RESERVE_BYTES + (max(limit, held + LEAST_BYTES) if in_session else limit))
    if (seconds := limits.get("cpu_seconds")) is not None:
        whole = max(1, -(-seconds // 1))
        if in_session:
            set_one(resource.RLIMIT_CPU, int(whole + time.process_time()) + SESSION_SECONDS)
        else:
            set_limit(resource.RLIMIT_CPU, int(whole), more=1)
    if (file_bytes := limits.get("file_bytes")) is not None:
        set_limit(resource.RLIMIT_FSIZE, file_bytes)
    if (processes := limits.get("processes")) is not None and not (in_session and open_files is None):
        set_limit(resource.RLIMIT_NPROC, processes + int(os.environ.get(TASKS, "0")))
    if open_files is not None:
        set_limit(resource.RLIMIT_NOFILE, open_files)
        _make_groups_of_sessions()


@functools.cache
def _make_groups_of_sessions() -> None:
    """Give a child a process group where a session is asked for: without a control group, setsid(2) has no effect.

    Otherwise `os.killpg(os.getpgid(child.pid), ...)` would end the script.
    """
    fork_exec: Any = _posixsubprocess.fork_exec

    def in_group(*values: Any) -> Any:
        start_new_session = values[15]
        return fork_exec(*values[:15], False, 0, *values[17:]) if start_new_session else fork_exec(*values)

    _posixsubprocess.fork_exec = in_group
    if "subprocess" in sys.modules:
        vars(sys.modules["subprocess"])["_fork_exec"] = in_group
    os.setsid = lambda: os.setpgid(0, 0)


def set_soft_limit(kind: int, amount: int) -> None:
    """Set a soft limit, at most to the hard one."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))


def set_limit(kind: int, amount: int, *, more: int = 0) -> None:
    """Set a soft limit, and a hard limit that is higher by `more`. A hard limit that is lower already stays."""
    try:
        resource.setrlimit(kind, (amount, amount + more))
    except ValueError:  # above the hard limit
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (min(amount, hard), min(amount + more, hard)))


def reserve() -> mmap.mmap:
    """Map memory that counts against the limit but is never touched."""
    return mmap.mmap(-1, RESERVE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def is_memory_short() -> bool:
    """Whether more than half of the memory limit is used."""
    limit, used = resource.getrlimit(resource.RLIMIT_DATA)[0], data_bytes()
    return limit != resource.RLIM_INFINITY and used is not None and used > limit // 2


def free_bytes(folder: str) -> float:
    """How much this process may still write to `folder`, whose file system is in memory; inf if that is not known."""
    limit, used, files = resource.getrlimit(resource.RLIMIT_DATA)[0], data_bytes(), os.statvfs(folder)
    if limit == resource.RLIM_INFINITY or used is None:
        return math.inf
    return limit - used - (files.f_blocks - files.f_bfree) * files.f_frsize


def allow_recursion(depth: int) -> None:
    """Let the caller of this function recurse `depth` frames deeper than itself."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 (the way to count frames)
    here = 0
    while frame is not None:
        frame, here = frame.f_back, here + 1
    sys.setrecursionlimit(here + depth)


def early_seconds(limits: Mapping[str, Any]) -> list[float]:
    """The seconds of a run after which the line is sent, for each limit that is not too short."""
    given = [limits[name] for name in ("cpu_seconds", "wall_seconds") if (limits.get(name) or 0) >= LEAST_SECONDS]
    return sorted({seconds - min(seconds * EARLY_SHARE, EARLY_SECONDS) for seconds in given})
