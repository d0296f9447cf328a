"""Shortages: errors because descriptors, processes or memory have run out, not because a feature is missing."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

REMEDIES = {
    errno.EMFILE: "this process has no free file descriptor: raise its limit (ulimit -n), or run fewer scripts at once",
    errno.ENFILE: "this machine has no free file descriptor: raise the sysctl fs.file-max",
    errno.EAGAIN: "no further process or thread can be started: raise the limit (ulimit -u or -v, TasksMax, pids.max)",
    errno.EFBIG: "no file may be as large as Paddock needs: raise the limit (ulimit -f)",
    errno.ENOMEM: "this machine, or the control group that Paddock is in, has no free memory, or ulimit -v is too low",
    errno.ETOOMANYREFS: "too many file descriptors are on their way through sockets: raise the limit (ulimit -n)",
    errno.EUSERS: "no user ids are free for guests: set jail.uid_base to the start of another range",
}

OUT_OF_MEMORY = "Fatal process out of memory"
"""What V8 says."""
NO_THREAD = "uv_thread_create"
"""What Node's assertion names if it cannot start one of its threads."""
NOT_READY = (
    "a guest was not ready in time: this machine is too busy, or too few threads can be started (ulimit -u, pids.max)"
)


def unless_shortage(error: OSError) -> OSError:
    """Return `error`, or raise it if it is a shortage."""
    if error.errno in REMEDIES:
        raise error
    return error


def explain(error: OSError) -> str:
    """The text of an error. For a shortage, the text says what to do."""
    remedy = REMEDIES.get(error.errno or 0)
    return str(error) if remedy is None else f"{remedy} ({error.strerror})"


def find_in(text: str) -> str | None:
    """What to do about the shortage that another process reports in `text`; None if it reports none."""
    if OUT_OF_MEMORY in text:
        return REMEDIES[errno.ENOMEM]
    if NO_THREAD in text:
        return REMEDIES[errno.EAGAIN]
    if NOT_READY in text:
        return NOT_READY
    return next((remedy for number, remedy in REMEDIES.items() if f"[Errno {number}]" in text), None)


def oom_kills() -> int:
    """How many processes the kernel has killed for lack of memory since boot, in any control group; 0 if unknown."""
    with suppress(OSError), open("/proc/vmstat", encoding="ascii") as counters:  # noqa: PTH123
        return next((int(line.split()[1]) for line in counters if line.startswith("oom_kill ")), 0)
    return 0


@contextmanager
def thread_shortage_as_oserror() -> Iterator[None]:
    """Raise OSError instead of Python's RuntimeError if a thread cannot be started."""
    try:
        yield
    except RuntimeError as problem:
        if not is_thread_shortage(problem):
            raise
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None


def is_thread_shortage(error: BaseException) -> bool:
    """Whether Python could not start a thread."""
    return isinstance(error, RuntimeError) and "start new thread" in str(error)


def require_threads(number: int) -> None:
    """Raise OSError unless this process can have `number` further threads now."""
    import threading

    done, started = threading.Event(), []
    try:
        with thread_shortage_as_oserror():
            for _ in range(number):
                thread = threading.Thread(target=done.wait)
                thread.start()
                started.append(thread)
    finally:
        done.set()
        for thread in started:
            thread.join()
