"""Namespaces decide what a process can see and name.

A warden owns a user namespace and, inside it, pid, mount, network, IPC and UTS namespaces. So nothing in it has
privileges outside. Each guest gets its own pid, mount and IPC namespaces. The network namespace, which has no
interface up, and the UTS namespace, whose name no guest may change, are shared.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from paddock.jail.walls.syscalls import sleeping_child, syscall

NEW_MOUNT = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PID = 0x20000000
NEW_NET = 0x40000000

WARDEN = NEW_USER | NEW_MOUNT | NEW_PID | NEW_NET | NEW_IPC | NEW_UTS
GUEST = NEW_MOUNT | NEW_IPC
"""What a guest unshares itself. Its pid namespace exists already: see `PidNamespaces`."""


class Identities(NamedTuple):
    """The id map of a user namespace: `size` ids, which start at `inside` there and at the outside ids on the host."""

    inside: int
    outside_uid: int
    outside_gid: int
    size: int


def unshare(flags: int) -> None:
    """Enter new namespaces. Raises OSError: with ENOSPC if there are too many, but not if none are allowed."""
    try:
        syscall("unshare", flags)
    except OSError as error:
        limits = [Path(f"/proc/sys/user/max_{kind}_namespaces") for kind in ("user", "mnt", "pid", "net", "ipc", "uts")]
        if error.errno == errno.ENOSPC and (off := [limit.name for limit in limits if limit.read_text() == "0\n"]):
            raise PermissionError(errno.EPERM, f"the sysctl user.{off[0]} is 0") from None
        raise


def give_identities(pid: int, identities: Identities) -> None:
    """Map the ids of the user namespace that `pid` has just made. Call this from outside it."""
    inside, outside_uid, outside_gid, size = identities
    folder = Path("/proc") / str(pid)
    if size == 1:
        (folder / "setgroups").write_text("deny")  # the kernel demands this of unprivileged users
    (folder / "gid_map").write_text(f"{inside} {outside_gid} {size}")
    (folder / "uid_map").write_text(f"{inside} {outside_uid} {size}")


def join_pids(pidfd: int) -> None:
    """Make the next children start in the pid namespace of the process `pidfd`."""
    syscall("setns", pidfd, NEW_PID)


class PidNamespaces:
    """Makes pid namespaces, each with a first process that only sleeps.

    That process shares our memory and sleeps in the kernel. It starts in 50 µs, while a fork takes a millisecond. It
    runs no code and no signal handler. It adopts the orphans of a guest, and because SIGCHLD is ignored here the kernel
    reaps them. Create this object while the host's /proc is mounted.
    """

    STACK_BYTES = 16 * 1024

    def __init__(self) -> None:
        # This process's own pid namespace is opened now, because the root that is built later may have no /proc.
        proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
        self._own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        os.close(proc)
        self._stacks: dict[int, mmap.mmap] = {}
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a handler would run in the shared memory

    def start(self) -> int:
        """Start the first process of a new namespace and return its pid."""
        syscall("setns", self._own, NEW_PID)
        # The mapping is private, so that zygotes that are forked later, and their guests, do not share it.
        stack = mmap.mmap(-1, self.STACK_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        pid = sleeping_child(ctypes.addressof(ctypes.c_char.from_buffer(stack)) + self.STACK_BYTES, NEW_PID)
        self._stacks[pid] = stack
        return pid

    def ended(self, pid: int) -> None:
        """Free the stack of a process that is gone."""
        with suppress(BufferError):
            self._stacks.pop(pid).close()
