"""Makes this process look like one of the places that Paddock runs in, and becomes another program.

`setting.py SETTING UID MISSING COMMAND…`, started by root. Settings: `root`, `ordinary`, `container` (root without user
namespaces, mounts and control groups, with the capabilities that containers have by default), `bare` (an ordinary user
in such a place), `masked` (an ordinary user, with a part of /proc covered as containers do). The uid is the ordinary
user's. MISSING is what the place lacks besides, joined by commas: system calls that its kernel does not have, `/proc`,
`hidepid`: the processes of others in /proc.
"""

from __future__ import annotations

import errno
import os
import struct
import sys

from paddock.jail.walls import bpf, mounts, namespaces, privileges, seccomp
from paddock.jail.walls.allowed_calls import any_of_bits
from paddock.jail.walls.syscalls import MACHINE, NUMBERS, prctl, syscall

REFUSED = ("unshare", "setns", "mount", "umount2", "pivot_root", "mount_setattr", "open_tree", "fsopen", "move_mount")
NEW = 0x7E02_0080  # every namespace
CONTAINER = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, NET_RAW, SYS_CHROOT, MKNOD,
AUDIT_WRITE, SETFCAP: what containers have by default."""
BOUNDING_DROP = 24
PROC, HIDEPID = "/proc", "hidepid"
COVERED = ("/proc/keys", "/proc/kcore", "/proc/timer_list")


def main(setting: str, uid: int, missing: list[str], command: list[str]) -> None:
    if setting in ("container", "bare", "masked") or {PROC, HIDEPID} & {*missing}:
        namespaces.unshare(namespaces.NEW_MOUNT)
        mounts.mount("none", "/", None, mounts.REC | mounts.PRIVATE)
    if setting in ("container", "bare"):
        mounts.mount("none", "/sys/fs/cgroup", "tmpfs", mounts.READ_ONLY)
    if setting in ("container", "bare", "masked"):
        cover()
    if PROC in missing:
        mounts.mount("none", PROC, "tmpfs", mounts.READ_ONLY)
    if HIDEPID in missing:
        mounts.mount("proc", PROC, "proc", 0, "hidepid=2")
    if setting in ("container", "bare"):
        refuse_namespaces()
    # The last filter: seccomp(2) itself may be among them.
    lack([name for name in missing if name not in (PROC, HIDEPID)])
    if setting in ("container", "bare"):
        keep_capabilities(CONTAINER)
    if setting in ("ordinary", "bare", "masked"):
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        os.environ.update(HOME=os.environ["SETTING_HOME"], USER="ordinary")
        os.chdir(os.environ["SETTING_HOME"])
    os.execv(command[0], command)  # noqa: S606


def cover() -> None:
    """Cover a part of /proc: the kernel then lets no user namespace mount another /proc."""
    covered = [path for path in COVERED if os.path.exists(path)]  # noqa: PTH110
    for path in covered:
        mounts.mount("/dev/null", path, None, mounts.BIND)
    if not covered:
        raise SystemExit(f"none of {', '.join(COVERED)} is here to be covered")


def lack(calls: list[str]) -> None:
    absent = bpf.answer(seccomp.ERROR | errno.ENOSYS)
    refused = {NUMBERS[MACHINE][name]: absent for name in calls}
    if refused:
        seccomp.install(bpf.assemble(bpf.load(bpf.NUMBER, bpf.search(refused, bpf.answer(seccomp.ALLOW)))))


def refuse_namespaces() -> None:
    allow, refuse = bpf.answer(seccomp.ALLOW), bpf.answer(seccomp.ERROR | errno.EPERM)
    calls = {NUMBERS[MACHINE][name]: refuse for name in REFUSED}
    calls[NUMBERS[MACHINE]["clone"]] = any_of_bits(0, NEW)(refuse, allow)
    calls[NUMBERS[MACHINE]["clone3"]] = bpf.answer(seccomp.ERROR | errno.ENOSYS)
    seccomp.install(bpf.assemble(bpf.load(bpf.NUMBER, bpf.search(calls, allow))))


def keep_capabilities(kept: tuple[int, ...]) -> None:
    for number in range(41):
        if number not in kept:
            prctl(BOUNDING_DROP, number)
    low, high = sum(1 << number for number in kept), 0
    syscall("capset", privileges._HEADER, struct.pack("=IIIIII", low, low, low, high, high, high))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [name for name in sys.argv[3].split(",") if name], sys.argv[4:])
