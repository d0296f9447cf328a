"""A small process next to each guest that kills all processes of the guest, in profiles without a pid namespace.

It never runs a script. On SIGUSR1, when a script starts, it begins to poll the guest's disk use; on SIGHUP, when the
guest is frozen, it does so seldom. On SIGTERM, which the kernel also sends when the warden dies, it ends the guest. It
exits when no process of the guest is left.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Protocol

from paddock.jail.walls import privileges
from paddock.jail.walls.syscalls import fork
from paddock.jail.zygote import REPORT, close_all_but

BEGIN, END = signal.SIGUSR1, signal.SIGTERM
REST = signal.SIGHUP
"""Lower than BEGIN, and so delivered before it: a guest that is thawed at once is polled."""
POLL_SECONDS, REST_POLL_SECONDS = 0.05, 8.0


class Duty(Protocol):
    """What a reaper does in its profile."""

    def exceeds_disk_limit(self) -> bool:
        """Whether the guest keeps more on disk than it may."""
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


def _reap(duty: Duty, report: int) -> None:
    try:
        last: int = signal.sigwait({BEGIN, END})
        while last != END:
            received = signal.sigtimedwait({BEGIN, REST, END}, REST_POLL_SECONDS if last == REST else POLL_SECONDS)
            if received is not None:
                last = received.si_signo
            elif duty.exceeds_disk_limit():
                os.write(report, REPORT.pack(signal.SIGXFSZ, 0.0, 0.0, 0))  # before the zygote reports SIGKILL
                break
    finally:
        duty.clean_up()
    os._exit(0)
