"""The first process of a guest's pid namespace. It never runs a script.

The kernel ends every process of a namespace when its first one ends: however a guest hides its children, they go when
the reaper goes. It goes when the guest ends, when the host lets go of its socket, and when the zygote dies.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from typing import NoReturn

REPORT = struct.Struct("!iddq")
"""How the guest ended: wait status, seconds of CPU in user mode and in the kernel, largest resident size in bytes."""
HELLO = b"r"


def reap(guest: int, host: socket.socket) -> NoReturn:
    """Wait for `guest`, tell the host how it ended, and end; in between, bury what it left behind."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    host.send(HELLO)
    poll = select.poll()
    poll.register(woken, select.POLLIN)
    poll.register(host.fileno(), select.POLLIN)
    user = system = 0.0
    while True:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                os._exit(0)
            if pid == 0:
                break
            user, system = user + usage.ru_utime, system + usage.ru_stime
            if pid == guest:
                host.send(REPORT.pack(status, user, system, usage.ru_maxrss * 1024))
                os._exit(0)
        for fd, _ in poll.poll():
            if fd == host.fileno():
                os._exit(0)  # it closed its end: nobody wants the guest any more
            os.read(woken, 4096)
