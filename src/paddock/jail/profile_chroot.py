"""The profile `chroot`: for root where mounts and namespaces are forbidden, as in most containers.

Each guest has its own uid and its own root directory, made of hard links to copies of the host's files. One kill(-1)
ends all processes of that uid. There is no network namespace: the system call filter refuses every socket but a socket
pair. Pids are not hidden: a guest can find out which pids are in use, but nothing else about those processes.

The reaper has the guest's uid as its effective uid, and another as its real and saved uid. So it may signal every
process of the guest, and none of them may signal it.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

from paddock.jail import reaper
from paddock.jail.uid_block import BLOCK_SIZE, UidBlock
from paddock.jail.walls import landlock, notices, privileges, quota, roots, seccomp
from paddock.jail.walls.syscalls import prctl
from paddock.jail.zygote import Order, Spec, close_all_but

WRITABLE = ("/tmp", "/files", "/dev")  # noqa: S108  paths in the guest's root
NOT_COPIED = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32", "/lib32")
"""Folders that are too large to copy. `Spec.reads` lists the folders below them that the interpreter loads from."""
_SET_CHILD_SUBREAPER = 36


class ChrootProfile:
    """chroot(2), a uid for each guest, Landlock and seccomp."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        policy = seccomp.Policy(
            execute=bool(spec.program),
            own_pids=False,
            counted=spec.counted,
            sessions=spec.sessions,
            trace=spec.trace,
        )
        self._programs = seccomp.programs(policy)

    def enter(self, host: socket.socket) -> None:
        if os.geteuid() != 0:
            raise PermissionError("only root can change the root directory")
        privileges.die_with_parent(os.getppid())
        root, self._root_lock = roots.acquire(
            self._spec.roots_directory, _copied(self._spec.reads), complete=self._spec.whole
        )
        self._ids = UidBlock(self._spec.uid_base, self._spec.uid_count)
        self._remove_leftovers(root)
        self._proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.chroot(root)
        os.chdir("/")
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        prctl(_SET_CHILD_SUBREAPER, 1)  # the warden adopts and reaps the orphans of guests
        with suppress(PermissionError):
            privileges.drop_bounding()
        privileges.limit(privileges.DEFAULT_LIMITS)

    def _remove_leftovers(self, root: Path) -> None:
        """Remove what guests have left whose reapers were killed with their host. Nobody uses their uids."""
        roots.empty_slots(root, self._ids.first, BLOCK_SIZE)
        last = self._spec.uid_base + self._spec.uid_count
        for first in {uid - uid % BLOCK_SIZE for uid in roots.slots(root) if self._spec.uid_base <= uid < last}:
            with suppress(OSError):  # somebody uses them
                block = UidBlock(first, BLOCK_SIZE)
                # One block at a time: a warden that starts meanwhile needs another.
                try:
                    roots.empty_slots(root, first, BLOCK_SIZE)
                finally:
                    block.close()

    def start_reaper(self, order: Order, report: int) -> int:
        uid = self._ids.of_guest(order.uid)
        roots.make_slot(str(uid), uid)
        return reaper.start(lambda: self._wall_in_reaper(order), report, self._proc, self._ids.fd)

    def reaper_ended(self, pid: int) -> None: ...

    def end_reaper(self, pid: int) -> None:
        os.kill(pid, reaper.END)

    def join(self, reaper_pidfd: int) -> None: ...

    def _wall_in_reaper(self, order: Order) -> ChrootDuty:
        guest = self._ids.of_guest(order.uid)
        self._enter_slot(guest)
        own = self._ids.of_reaper(order.uid)
        os.setgroups([])
        os.setresgid(own, guest, own)
        os.setresuid(own, guest, own)
        privileges.drop_held()
        privileges.no_new_privs()
        return ChrootDuty(guest, self._proc, self._spec)

    def wall_in(self, order: Order, keep: int) -> None:
        uid = self._ids.of_guest(order.uid)
        # If memory runs out, the kernel must not kill the reaper first: nothing would end the guest's other processes.
        score = os.open("self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._proc)
        os.write(score, b"1000")
        self._enter_slot(uid)
        os.chdir("/tmp")  # noqa: S108
        close_all_but(0, 1, 2, keep)
        # Orphans stay in the guest's process tree, where they are counted.
        prctl(_SET_CHILD_SUBREAPER, 1)
        privileges.limit({"file_bytes": self._spec.tmp_bytes, **self._spec.rlimits})
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _end_left_processes()
        privileges.make_dumpable()
        privileges.drop_held()
        privileges.no_new_privs()
        if landlock.abi():
            landlock.enforce(landlock.prepare(read=["/"], write=WRITABLE))
        notices.install_in_guest(self._programs[order.processes], keep, listen=self._spec.trace)

    def _enter_slot(self, uid: int) -> None:
        os.chroot(f"/{roots.SLOTS}/{uid}")
        os.chdir("/")


def _end_left_processes() -> None:
    """Called in a guest. End processes of an earlier one with its uid, whose reaper was killed, and what they wrote."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)
    for folder in roots.WRITABLE:
        roots.empty(f"/{folder}")


def show_set(spec: Spec, uid: int, path: str) -> None:
    """Called in the host. Show a package set to the guest with this uid, which waits for a script or is stopped."""
    roots.add_to_slot(spec.roots_directory, _copied(spec.reads), str(uid), path)


def _copied(reads: tuple[str, ...]) -> set[str]:
    """The paths in `reads` that are copied into the root, and the dynamic loaders."""
    loaders = {os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in roots.LOADERS}  # noqa: PTH118, PTH119, PTH120
    return {path for path in reads if path not in NOT_COPIED or os.path.islink(path)} | loaders  # noqa: PTH114


class ChrootDuty:
    """The duty of a reaper in this profile: check disk use, kill by uid, remove files."""

    def __init__(self, guest: int, proc: int, spec: Spec) -> None:
        self._guest, self._proc = guest, proc
        self._quota = quota.Quota(WRITABLE, spec.tmp_bytes, spec.tmp_inodes)

    def exceeds_disk_limit(self) -> bool:
        return self._quota.exceeded(pids_of_uid(self._guest, self._proc), self._proc)

    def free_bytes(self) -> tuple[int, int]:
        return self._quota.free_bytes()

    def clean_up(self) -> None:
        kill_all(self._guest, self._proc)
        for folder in roots.WRITABLE:
            roots.empty(f"/{folder}")
        with suppress(OSError):  # it is a device of root's, if one could be created
            os.chmod("/dev/null", 0o600)  # noqa: PTH101
            os.truncate("/dev/null", 0)


PAUSE_SECONDS = 0.0005
LONGEST_PAUSE_SECONDS = 0.05


def kill_all(guest: int, proc: int) -> None:
    """Kill every process of the guest, and return when the last one is gone. Called by its reaper.

    kill(-1) holds the lock that fork() takes, so no process escapes by forking: it or its parent gets the signal.
    """
    pause = PAUSE_SECONDS
    while True:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        if not pids_of_uid(guest, proc):
            return
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def pids_of_uid(uid: int, proc: int) -> list[int]:
    """The pids of processes with this real uid, except zombies, which hold nothing and may stay a while.

    A process whose first thread has ended has the state of a zombie too, but counts while other threads run.
    """
    found = []
    for name in os.listdir(proc):
        if name.isdigit():
            # PermissionError: a process of another user, where /proc is mounted with hidepid=1.
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                status = _status(name, proc)
                real_uid = int(status.partition(b"\nUid:\t")[2].split(None, 1)[0])
                if real_uid == uid and (b"\nState:\tZ" not in status or b"\nThreads:\t1\n" not in status):
                    found.append(int(name))
    return found


def _status(pid: str, proc: int) -> bytes:
    fd = os.open(f"{pid}/status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)
