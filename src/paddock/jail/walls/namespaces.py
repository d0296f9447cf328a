"""Namespaces: what a process can see and name of the machine.

A zygote owns a user namespace, so that nothing in it has a privilege outside, and pid, mount, network, IPC and UTS
namespaces in that. Each guest gets pid, mount, IPC and UTS namespaces of its own; the network one is the zygote's,
with no interface up.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from paddock.jail.walls.libc import syscall

NEW_MOUNT = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PID = 0x20000000
NEW_NET = 0x40000000

ZYGOTE = NEW_USER | NEW_MOUNT | NEW_PID | NEW_NET | NEW_IPC | NEW_UTS
GUEST = NEW_MOUNT | NEW_IPC | NEW_UTS


@dataclass(frozen=True, slots=True)
class Identities:
    """The ids of a user namespace: `count` of them, from `inside` on, are those from `outside` on."""

    inside: int
    outside_uid: int
    outside_gid: int
    count: int


def unshare(flags: int) -> None:
    syscall("unshare", flags)


def give_identities(pid: int, identities: Identities, proc: str = "/proc") -> None:
    """Map the ids of the user namespace that `pid` has just made; to be called from outside it."""
    inside, count = identities.inside, identities.count
    folder = Path(proc) / str(pid)
    if count == 1:
        (folder / "setgroups").write_text("deny")  # the kernel asks this of who has no privilege
    (folder / "gid_map").write_text(f"{inside} {identities.outside_gid} {count}")
    (folder / "uid_map").write_text(f"{inside} {identities.outside_uid} {count}")


def join_pids(namespace: int) -> None:
    """Fork the next children into this pid namespace."""
    syscall("setns", namespace, NEW_PID)


class PidNamespaces:
    """Fresh pid namespaces for one child after another. To be made while /proc is the host's.

    unshare() gives children a new namespace once only; going back to the own one first allows it again.
    """

    def __init__(self) -> None:
        # Kept open: the root that is built later may have no /proc.
        self._proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
        self._own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)

    def next_child_in_a_new_one(self) -> None:
        syscall("setns", self._own, NEW_PID)
        syscall("unshare", NEW_PID)

    def of_last_child(self) -> int:
        """A descriptor of its namespace. Asked of ourselves: the child may already hide from us."""
        return os.open("self/ns/pid_for_children", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)
