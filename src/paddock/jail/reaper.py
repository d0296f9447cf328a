"""A small process beside each guest that ends all of its processes, where no pid namespace does.

It never runs a script. SIGUSR1 tells it that a script runs now: from then on it checks the guest's files. SIGTERM,
which also comes when the warden dies, tells it to end the guest. It exits after everything the guest has started.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Protocol

from paddock.jail.walls import privileges
from paddock.jail.walls.syscalls import fork
from paddock.jail.zygote import REPORT

BEGIN, END = signal.SIGUSR1, signal.SIGTERM
LOOK_SECONDS = 0.05


class Duty(Protocol):
    """What a reaper does, by profile."""

    def exceeds(self) -> bool:
        """Whether the guest keeps more on disk than it may."""
        ...

    def clean_up(self) -> None:
        """End all processes of the guest and remove what it left. Returns when nothing is left."""
        ...


def start(wall_in: Callable[[], Duty], report: int, *kept: int) -> int:
    """Fork a reaper; its pid. Nothing is open in it but `report` and `kept`."""
    warden = os.getpid()
    # Before the fork: the host may send a signal before the child runs.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {BEGIN, END})
    pid = fork()
    if pid == 0:
        try:
            _close_all_but(report, *kept)
            duty = wall_in()
            privileges.die_with_parent(warden, END)
            _reap(duty, report)
        except BaseException:  # noqa: BLE001  whatever happened, the warden's code must not run here
            os._exit(70)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pid


def _reap(duty: Duty, report: int) -> None:
    try:
        if signal.sigwait({BEGIN, END}) == BEGIN:
            while signal.sigtimedwait({END}, LOOK_SECONDS) is None:
                if duty.exceeds():
                    os.write(report, REPORT.pack(signal.SIGXFSZ, 0.0, 0.0, 0))  # before the zygote reports a kill
                    break
    finally:
        duty.clean_up()
    os._exit(0)


def _close_all_but(*kept: int) -> None:
    first = 0
    for fd in sorted(kept):
        os.closerange(first, fd)
        first = fd + 1
    os.closerange(first, 1 << 16)
