"""User ids of the host for the guests of one warden."""

from __future__ import annotations

import socket
from contextlib import suppress

from paddock.jail.zygote import FIRST_UID

BLOCK_SIZE = 4096
HALF = BLOCK_SIZE // 2
"""Guests have the lower half of a block, their reapers the upper half."""


class UidBlock:
    """A block of uids that no other warden on this machine uses at the same time.

    An abstract socket name is the lock. The kernel releases it with the last process that holds the socket.
    """

    def __init__(self, base: int, count: int) -> None:
        for at in range(count // BLOCK_SIZE):
            self.first = base + at * BLOCK_SIZE
            self._lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            with suppress(OSError):
                self._lock.bind(f"\0paddock-uids-{self.first}")
                return
            self._lock.close()
        raise OSError(f"all {count} uids from {base} on are in use: set jail.uid_base to the start of another range")

    def close(self) -> None:
        """Release the block in this process."""
        self._lock.close()

    @property
    def fd(self) -> int:
        return self._lock.fileno()

    def of_guest(self, uid: int) -> int:
        """The uid on the host of the guest whose uid in the pool is `uid`."""
        return self.first + (uid - FIRST_UID) % HALF

    def of_reaper(self, uid: int) -> int:
        """The uid on the host of that guest's reaper."""
        return self.of_guest(uid) + HALF
