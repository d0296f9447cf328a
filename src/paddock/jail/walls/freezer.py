"""Stops the processes of a guest that has no run, and continues them: an idle session uses no processor time.

Signals do it, which works in every profile and without a control group. A process cannot catch SIGSTOP, but one that is
not stopped yet can continue another: `is_stopped` says whether that has happened. No timer can do it: see
`allowed_calls`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from paddock.jail.walls.watcher import those_of

ROUNDS = 20
"""How often new processes are looked for: one that is not stopped yet may start others, or continue them."""


def stop(find: Callable[[], Mapping[int, int]]) -> Mapping[int, int]:
    """Stop all processes that `find` returns: the time of its start by the pid of each. Returns those it stopped."""
    stopped: dict[int, int] = {}
    for _ in range(ROUNDS):
        found = find()
        if found.items() <= stopped.items():
            break
        for pid, start in found.items():
            if stopped.get(pid) != start and _send(pid, start, signal.SIGSTOP):
                stopped[pid] = start
    return stopped


def is_stopped(pids: Iterable[int]) -> bool:
    """Whether no thread of these processes, which were sent SIGSTOP, runs.

    One in state D stops before it runs again. It may wait for a stopped process that it has just started (vfork).
    """
    return all(state in b"TDZX" for pid in pids for state in _states(pid))


def _states(pid: int) -> Iterator[bytes]:
    """The state of each thread: the first one may have ended before the others."""
    with suppress(OSError):  # it is gone
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat", "rb") as stat:  # noqa: PTH123
                yield stat.read().rpartition(b")")[2].split()[0]


def resume(stopped: Mapping[int, int]) -> None:
    """Continue processes that `stop` returned."""
    for pid, start in stopped.items():
        _send(pid, start, signal.SIGCONT)


def kill(find: Callable[[], Mapping[int, int]]) -> None:
    """Kill all processes that `find` returns."""
    for pid, start in stop(find).items():
        _send(pid, start, signal.SIGKILL)


def _send(pid: int, start: int, number: signal.Signals) -> bool:
    """Send a signal to the process with this pid that was started then. Another process may have its pid by now."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        found = those_of([pid]).get(pid)
        if found is None or found.start != start:
            return False
        signal.pidfd_send_signal(pidfd, number)
    except OSError:
        return False
    finally:
        os.close(pidfd)
    return True
