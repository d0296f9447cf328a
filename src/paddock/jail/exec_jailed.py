"""A process that walls itself in and then executes a program: `entry_point.py exec_jailed BINARY ARG…`.

For programs that need only a CPU and their pipes, such as Monty's workers and Ruff. There is no mount namespace:
Landlock denies every file but the program and its libraries.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from paddock.jail.walls import landlock, namespaces, privileges, seccomp

UNPRIVILEGED = (1 << 20) - 1
"""The uid of a process that is walled in here, if the host is root. No user has it, and it is below guests' uids."""
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/etc/localtime")
LIMITS = {**privileges.DEFAULT_LIMITS, "file_bytes": 0}


def main(arguments: list[str]) -> None:
    """Wall this process in, and execute the program that `arguments` names. Never returns.

    Walls that this kernel lacks are skipped, except seccomp. `paddock doctor` lists the missing ones.
    """
    os.closerange(3, 1 << 16)  # what the host inherited itself, or made inheritable
    program = os.open(arguments[0], os.O_RDONLY | os.O_CLOEXEC)  # opened before Landlock forbids it
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    wall_in((*LIBRARIES, arguments[0]))
    if os.isatty(2):  # the message of a crash may quote the script
        os.dup2(nowhere, 2)
    os.execve(program, arguments, {})  # noqa: S606
    sys.exit(1)


def wall_in(readable: Sequence[str]) -> None:
    """Wall this process in permanently. It can read the files in `readable` and no others."""
    host = os.getppid()
    readable = [path for path in readable if os.path.exists(path)]  # noqa: PTH110
    shown = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in readable]
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
        os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
        privileges.make_dumpable()  # otherwise /proc/self belongs to root
    with suppress(OSError):
        namespaces.unshare(namespaces.NEW_USER | namespaces.NEW_NET | namespaces.NEW_IPC | namespaces.NEW_UTS)
    privileges.limit(LIMITS)
    privileges.drop_all()
    privileges.no_new_privs()
    if landlock.abi():
        landlock.enforce(landlock.prepare(read=[f"/proc/self/fd/{fd}" for fd in shown], write=[]))
    privileges.die_with_parent(host)
    filtered = seccomp.program(seccomp.Policy(processes=False, execute=True, confined=True))
    try:
        seccomp.install(seccomp.for_process(filtered, os.getpid()))
    except OSError as problem:
        sys.exit(f"paddock: a worker was not started, because its system calls could not be filtered: {problem}")
