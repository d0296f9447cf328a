"""A uid of its own for each guest, where there is no pid namespace: whom it can signal, and how all of it is ended.

Two ids for each: the guest's, and one for its reaper, whose effective uid is the guest's and whose others are not. So
the reaper may signal every process of the guest, and none of them may signal the reaper.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress

FIRST = 1000
"""What the host calls the first guest."""
OF_A_BLOCK = 4096
HALF = OF_A_BLOCK // 2
PAUSE_SECONDS = 0.0005
LONGEST_PAUSE_SECONDS = 0.05


class Block:
    """Ids that no other Paddock on this machine uses at the same time.

    The name of an abstract socket is the lock: the kernel frees it when the last process that holds it is gone.
    """

    def __init__(self, base: int, count: int) -> None:
        for at in range(count // OF_A_BLOCK):
            self._first = base + at * OF_A_BLOCK
            self._lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            with suppress(OSError):
                self._lock.bind(f"\0paddock-uids-{self._first}")
                return
            self._lock.close()
        raise OSError(f"all ids from {base} on are in use by other Paddocks: jail.uid_base says where they begin")

    def close(self) -> None:
        """Let others use them, as far as this process is concerned."""
        self._lock.close()

    @property
    def fd(self) -> int:
        return self._lock.fileno()

    def of_guest(self, number: int) -> int:
        return self._first + (number - FIRST) % HALF

    def of_reaper(self, number: int) -> int:
        return self.of_guest(number) + HALF


def become(uid: int) -> None:
    """An ordinary user with nothing but this id."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def become_reaper(own: int, guest: int) -> None:
    os.setgroups([])
    os.setresgid(own, guest, own)
    os.setresuid(own, guest, own)


def end_all(guest: int, proc: int) -> None:
    """Kill every process of the guest and return when the last one is gone. Called by its reaper; `proc` is /proc.

    kill(-1) holds the lock that fork() takes: a process is signalled, or its parent was before it could fork.
    """
    pause = PAUSE_SECONDS
    while True:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        if not of_uid(guest, proc):
            return
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def of_uid(uid: int, proc: int) -> list[int]:
    """The processes with this real uid. Not zombies: they hold nothing, and who sees them off may take its time.

    One whose first thread alone has ended looks like a zombie, and is none.
    """
    found = []
    for name in os.listdir(proc):
        if name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError):
                status = _status(name, proc)
                if _real_uid(status) == uid and (b"\nState:\tZ" not in status or b"\nThreads:\t1\n" not in status):
                    found.append(int(name))
    return found


def _status(pid: str, proc: int) -> bytes:
    fd = os.open(f"{pid}/status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def _real_uid(status: bytes) -> int:
    return int(status.partition(b"\nUid:\t")[2].split(None, 1)[0])
