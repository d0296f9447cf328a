"""User ids of the host for the guests of one warden."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct

from paddock.jail.zygote import FIRST_UID

BLOCK_SIZE = 4096
HALF = BLOCK_SIZE // 2
"""Guests have the lower half of a block, their reapers the upper half."""
LOCK_FILE = "/run/paddock-uids"
_NOT_WRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR}
"""Errors of open(2) where nobody can create the file. After others, such as a shortage, another Paddock may use it."""
_IN_USE = {errno.EAGAIN, errno.EADDRINUSE}
_FLOCK = struct.Struct("hhqqi4x")  # type, whence, start, length, pid


class UidBlock:
    """A block of uids that no other warden on this machine uses at the same time.

    A byte of a file that only root can open is the lock. Where nobody can create that file, it is the name of a socket,
    which any user can take. The kernel releases both with the last process that has the descriptor. Raises OSError
    in a shortage of descriptors, and EUSERS if all blocks are in use.
    """

    def __init__(self, base: int, count: int) -> None:
        # Multiples of the size: blocks of Paddocks with different bases are the same or do not overlap.
        for self.first in range(-(-base // BLOCK_SIZE) * BLOCK_SIZE, base + count - BLOCK_SIZE + 1, BLOCK_SIZE):
            try:
                self.fd = _lock(self.first)
            except OSError as problem:
                if problem.errno not in _IN_USE:
                    raise
            else:
                return
        raise OSError(errno.EUSERS, f"all {count} uids from {base} on are in use")

    def close(self) -> None:
        """Release the block in this process. Does nothing the second time."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def of_guest(self, uid: int) -> int:
        """The uid on the host of the guest whose uid in the pool is `uid`."""
        return self.first + (uid - FIRST_UID) % HALF

    def of_reaper(self, uid: int) -> int:
        """The uid on the host of that guest's reaper."""
        return self.of_guest(uid) + HALF


def _lock(first: int) -> int:
    """Lock the block that starts with this uid. Raises OSError, one of `_IN_USE` if another process has it."""
    try:
        fd = os.open(LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        if problem.errno not in _NOT_WRITABLE:
            raise
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as name:
            name.bind(f"\0paddock-uids-{first}")
            return name.detach()
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, first, 1, 0))
    except OSError:
        os.close(fd)
        raise
    return fd
