"""A small process beside each guest, which never runs a script and ends after everything that the guest started.

With a pid namespace it is the first process there, and the kernel ends all others with it, however they hide. Without
one it ends them itself. It goes when the host lets go of its socket, and when the host dies.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from typing import NoReturn, Protocol

REPORT = struct.Struct("!iddq")
"""How the guest ended: wait status, seconds of CPU in user mode and in the kernel, largest resident size in bytes."""
HELLO = b"r"
BEGIN = b"b"


class Duty(Protocol):
    """What a profile leaves to the reaper."""

    look_seconds: float | None  # between two looks; None where there is nothing to look at

    def exceeds(self) -> bool:
        """Whether the guest keeps more on disk than it may."""
        ...

    def bury(self) -> None:
        """End all processes of the guest and remove what it left; returns when there is nothing any more."""
        ...


def reap(host: socket.socket, duty: Duty) -> NoReturn:
    """Wait until the host lets go, then clear up. Where the host says BEGIN, a script runs: look at what it keeps."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    host.send(HELLO)
    if host.recv(1) and duty.look_seconds is not None:
        poll = select.poll()
        poll.register(host, select.POLLIN)
        while not poll.poll(duty.look_seconds * 1000):
            if duty.exceeds():
                host.send(REPORT.pack(signal.SIGXFSZ, 0.0, 0.0, 0))  # before the zygote can say that it was killed
                break
    duty.bury()
    os._exit(0)
