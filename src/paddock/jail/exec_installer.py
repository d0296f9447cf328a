"""A process that walls itself in and then installs packages: `entry_point.py install`, with a job as JSON on stdin.

Package managers use the host's network, and read what an index sends. So they run behind walls: they read their own
program, the interpreter and the files that configure an index, and they write to a few folders. Mount and pid
namespaces hide everything else. Where the kernel refuses these, Landlock does, and without Landlock nothing is
installed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from paddock.jail import package_install  # imported now, because Paddock's files are not in the new root
from paddock.jail.walls import landlock, mounts, namespaces, privileges, seccomp

INSTALLER_UID = (1 << 20) - 2
"""The uid of an installer, if the host is root. No user has it, and no guest or worker."""
NAMESPACES = namespaces.NEW_MOUNT | namespaces.NEW_PID | namespaces.NEW_IPC | namespaces.NEW_UTS
ROOT_PATH = "/tmp"  # noqa: S108  hidden by the new root, in a mount namespace that no other process sees
SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/bin", "/bin", "/usr/share/zoneinfo"),
    *("/etc/ld.so.cache", "/etc/ssl", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"),
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/host.conf"),
)
"""Files of the host that a package manager needs: libraries, certificates, and how to find a host by its name."""
NO_WALLS = 80
"""The exit status if this machine has neither namespaces nor Landlock for an installer."""


def main() -> None:
    """Wall this process in, run the job from stdin, and report on stdout."""
    job = json.loads(sys.stdin.buffer.read())
    parent = os.getppid()
    privileges.limit({**privileges.DEFAULT_LIMITS, **job["limits"]})
    reason = privileges.attempt(_try_namespaces)
    if reason is None:
        _enter_namespaces(job, parent)
    elif landlock.abi() >= landlock.TRUNCATE_SINCE:
        _enter_landlock(job, parent)
    else:
        sys.stderr.write(f"neither namespaces ({reason}) nor Landlock 3 can wall an installer in\n")
        sys.exit(NO_WALLS)
    seccomp.install(seccomp.program(seccomp.Policy(processes=True, execute=True, sockets="host")))
    package_install.main(job)


def _enter_namespaces(job: dict[str, Any], parent: int) -> None:
    """Become the first process of a pid namespace, in a root with only the files of the job."""
    uid = os.getuid()
    _unshare(uid, os.getgid())
    sources = [mounts.Source(path) for path in (*SYSTEM, *job["reads"])]
    writable = [mounts.Source(folder) for folder in job["folders"]]
    privileges.die_with_parent(parent)
    child = os.fork()
    if child:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    mounts.build_root(ROOT_PATH, sources, ("null", "urandom", "random"), writable)
    privileges.drop_bounding()
    if uid == 0:
        _become_installer()
    privileges.drop_held()
    privileges.no_new_privs()
    privileges.die_with_parent(0)
    os.chdir(job["stage"])


def _unshare(uid: int, gid: int) -> None:
    if uid == 0:
        namespaces.unshare(NAMESPACES)
        return
    namespaces.unshare(NAMESPACES | namespaces.NEW_USER)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")
    (own / "gid_map").write_text(f"0 {gid} 1")
    (own / "uid_map").write_text(f"0 {uid} 1")


def _try_namespaces() -> None:
    _unshare(os.getuid(), os.getgid())
    mounts.mount("none", "/", None, mounts.REC | mounts.PRIVATE)
    mounts.mount("paddock", ROOT_PATH, "tmpfs", mounts.NO_SUID | mounts.NO_DEV, "size=64k")


def _enter_landlock(job: dict[str, Any], parent: int) -> None:
    readable = [path for path in (*SYSTEM, *job["reads"], "/dev/urandom") if os.path.exists(path)]  # noqa: PTH110
    opened = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in readable]
    folders = [os.open(folder, os.O_PATH | os.O_CLOEXEC) for folder in job["folders"]]
    os.chdir(job["stage"])
    if os.geteuid() == 0:
        _become_installer()
    privileges.drop_all()
    privileges.no_new_privs()
    readable = [f"/proc/self/fd/{fd}" for fd in opened]
    writable = [f"/proc/self/fd/{fd}" for fd in folders]
    landlock.enforce(landlock.prepare(read=readable, write=[*writable, "/dev/null"], tcp=True))
    privileges.die_with_parent(parent)


def _become_installer() -> None:
    os.setgroups([])
    os.setresgid(INSTALLER_UID, INSTALLER_UID, INSTALLER_UID)
    os.setresuid(INSTALLER_UID, INSTALLER_UID, INSTALLER_UID)
    privileges.make_dumpable()
