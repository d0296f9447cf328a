"""The profile `chroot`: for root where nothing may be mounted and no namespace made, as in a container's default.

Each guest has a root of its own, made of links, and a uid of its own, whose processes all end when one kill(-1) says
so. There is no namespace of the network: the filter refuses every socket but a pair. Nobody hides how many processes
there are: a guest can find out which numbers are in use, and nothing else about them.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress

from paddock.jail import reaper
from paddock.jail.spec import Order, Spec
from paddock.jail.walls import capabilities, landlock, quota, rlimits, roots, seccomp, tracing, uids
from paddock.jail.walls.libc import prctl

WRITABLE = ("/tmp", "/files", "/dev")  # noqa: S108  inside
NOT_COPIED = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32", "/lib32")
"""Too much to copy: the folders below them that the interpreter loads from are named apart."""
_SET_CHILD_SUBREAPER = 36


class Chrooted:
    """chroot(2), a uid for each guest, Landlock and seccomp."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        policies = {
            processes: seccomp.Policy(
                processes=processes,
                execute=bool(spec.program),
                sockets="none",
                memfds=spec.memfds,
                trace=spec.trace,
            )
            for processes in (True, False)
        }
        self._programs = {processes: seccomp.program(policy) for processes, policy in policies.items()}

    def enter(self, host: socket.socket) -> None:
        if os.geteuid() != 0:
            raise PermissionError("only root can change the root directory")
        capabilities.die_with_parent(os.getppid())
        root, self._root_lock = roots.built(self._spec.place, _copied(self._spec.reads), complete=self._spec.whole)
        self._ids = uids.Block(self._spec.uid_base, self._spec.uid_count)
        self._proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.chroot(root)
        os.chdir("/")
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        prctl(_SET_CHILD_SUBREAPER, 1)  # orphans of guests come here and are buried, not to the first process
        with suppress(PermissionError):
            capabilities.drop_bounding()
        rlimits.apply(rlimits.DEFAULTS)

    def start_reaper(self, order: Order, report: int) -> int:
        uid = self._ids.of_guest(order.uid)
        roots.slot(str(uid), uid)
        return reaper.start(lambda: self._wall_in_reaper(order), report, self._proc, self._ids.fd)

    def reaper_ended(self, pid: int) -> None: ...

    def give_up(self, pid: int) -> None:
        os.kill(pid, reaper.END)

    def join(self, reaper_pidfd: int) -> None: ...

    def _wall_in_reaper(self, order: Order) -> Burial:
        guest = self._ids.of_guest(order.uid)
        self._enter_slot(guest)
        uids.become_reaper(self._ids.of_reaper(order.uid), guest)
        capabilities.drop_held()
        capabilities.no_new_privs()
        return Burial(guest, self._proc, self._spec)

    def wall_in(self, order: Order, keep: int) -> None:
        uid = self._ids.of_guest(order.uid)
        self._enter_slot(uid)
        os.chdir("/tmp")  # noqa: S108
        os.closerange(3, keep)
        os.closerange(keep + 1, 1 << 16)
        # Its orphans stay below it, where they are counted.
        prctl(_SET_CHILD_SUBREAPER, 1)
        rlimits.apply({"file_bytes": self._spec.tmp_bytes})
        uids.become(uid)
        capabilities.dumpable()
        capabilities.drop_held()
        capabilities.no_new_privs()
        if landlock.abi():
            landlock.restrict(read=["/"], write=WRITABLE)
        tracing.install(self._programs[order.processes], keep, told=self._spec.trace)

    def _enter_slot(self, uid: int) -> None:
        os.chroot(f"/{roots.SLOTS}/{uid}")
        os.chdir("/")


def _copied(reads: tuple[str, ...]) -> set[str]:
    loaders = {os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in roots.LOADERS}  # noqa: PTH118, PTH119, PTH120
    return {path for path in reads if path not in NOT_COPIED or os.path.islink(path)} | loaders  # noqa: PTH114


class Burial:
    """What a reaper does without namespaces: look at the disk, kill by uid, remove the files."""

    def __init__(self, guest: int, proc: int, spec: Spec) -> None:
        self._guest, self._proc = guest, proc
        self._quota = quota.Quota(WRITABLE, spec.tmp_bytes, spec.tmp_inodes)

    def exceeds(self) -> bool:
        return self._quota.exceeded(uids.of_uid(self._guest, self._proc), self._proc)

    def bury(self) -> None:
        uids.end_all(self._guest, self._proc)
        for folder in roots.WRITABLE:
            roots.empty(f"/{folder}")
        with suppress(OSError):
            os.truncate("/dev/null", 0)  # where it is a file
