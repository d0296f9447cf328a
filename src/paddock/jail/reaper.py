"""A small process next to each guest that kills all processes of the guest, in profiles without a pid namespace.

It never runs a script. On SIGUSR1, when a script starts, it begins to poll the guest's disk use; on SIGHUP, when the
guest is frozen, it does so seldom. On SIGTERM, which the kernel also sends when the warden dies, it ends the guest. It
exits when no process of the guest is left.

A second thread checks the disk use: the kernel can let it wait for a guest for long.
"""

from __future__ import annotations

import _thread
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from paddock.jail.walls import privileges
from paddock.jail.walls.syscalls import fork
from paddock.jail.zygote import REPORT, close_all_but

BEGIN, END = signal.SIGUSR1, signal.SIGTERM
REST = signal.SIGHUP
"""Lower than BEGIN, and so delivered before it: a guest that is thawed at once is polled."""
POLL_SECONDS, REST_POLL_SECONDS = 0.05, 8.0
PATIENCE_SECONDS = 0.1
"""While a check takes longer than this, the disk may not lose as much as a guest may have."""
MAX_POLLS = 33
"""How often a check may be found unfinished, which takes 5 s. Not a time: a machine may be paused."""


class Duty(Protocol):
    """What a reaper does in its profile."""

    def exceeds_disk_limit(self) -> bool:
        """Whether the guest keeps more on disk than it may. Called in a thread of its own."""
        ...

    def free_bytes(self) -> tuple[int, int]:
        """How much is free on the disk now, and how much of it the guest may take."""
        ...

    def clean_up(self) -> None:
        """Kill all processes of the guest and remove its files. Returns when nothing is left."""
        ...


def start(wall_in: Callable[[], Duty], report: int, *kept: int) -> int:
    """Fork a reaper and return its pid. It has no open descriptors but `report` and `kept`."""
    warden = os.getpid()
    # Blocked before the fork, because the host may send a signal before the child runs.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {BEGIN, REST, END})
    pid = fork()
    if pid == 0:
        try:
            close_all_but(report, *kept)
            duty = wall_in()
            privileges.die_with_parent(warden, END)
            _reap(duty, report)
        except BaseException:  # noqa: BLE001  the warden's code must not run in the child
            os._exit(70)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pid


class Checks:
    """Checks in a second thread, one at a time."""

    def __init__(self, duty: Duty) -> None:
        self._duty = duty
        self._asked, self._answered = _thread.allocate_lock(), _thread.allocate_lock()
        self._asked.acquire()
        self._answered.acquire()
        self._polls = 0  # that found the check in progress unfinished
        self._is_in_progress = False
        self._free_bytes = 0
        self._exceeded = True
        _thread.start_new_thread(self._run, ())

    def exceeded(self) -> bool:
        """Whether the guest keeps too much. If the thread does not say so in time: whether it may be doing so now."""
        if not self._is_in_progress:
            self._is_in_progress, self._polls = True, 0
            self._free_bytes, _ = self._duty.free_bytes()
            self._asked.release()
        if self._answered.acquire(timeout=PATIENCE_SECONDS):
            self._is_in_progress = False
            return self._exceeded
        self._polls += 1
        free_bytes, most_bytes = self._duty.free_bytes()
        return self._polls > MAX_POLLS or free_bytes < self._free_bytes - most_bytes

    def _run(self) -> None:
        while True:
            self._asked.acquire()
            self._exceeded = True  # also if the check fails
            with suppress(Exception):
                self._exceeded = self._duty.exceeds_disk_limit()
            self._answered.release()


def _reap(duty: Duty, report: int) -> None:
    try:
        last: int = signal.sigwait({BEGIN, END})
        checks = Checks(duty)
        while last != END:
            received = signal.sigtimedwait({BEGIN, REST, END}, REST_POLL_SECONDS if last == REST else POLL_SECONDS)
            if received is not None:
                last = received.si_signo
            elif checks.exceeded():
                os.write(report, REPORT.pack(signal.SIGXFSZ, 0.0))  # before the zygote reports SIGKILL
                break
    finally:
        duty.clean_up()
    os._exit(0)
