"""Drops a process's capabilities and its means to gain others, and lowers its rlimits. Neither can be undone."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import struct
from collections.abc import Callable, Mapping

from paddock.jail.walls.syscalls import prctl, syscall

_SET_PDEATHSIG, _SET_DUMPABLE, _NO_NEW_PRIVS, _SET_THP_DISABLE = 1, 4, 38, 41
_BOUNDING_READ, _BOUNDING_DROP = 23, 24
_AMBIENT, _AMBIENT_CLEAR_ALL = 47, 4
_HEADER = struct.pack("=Ii", 0x2008_0522, 0)  # version 3, this process
_SETPCAP = 8
_Words = ctypes.c_char * 24  # defined once, because defining it takes longer than the call


def no_new_privs() -> None:
    """Make exec ignore setuid bits and file capabilities. seccomp and Landlock require it."""
    prctl(_NO_NEW_PRIVS, 1)


def make_dumpable() -> None:
    """Make this process own its files under `/proc/self` again, which a change of uid gave to root."""
    prctl(_SET_DUMPABLE, 1)


def use_small_pages() -> None:
    """Let this process, and whatever it forks or executes, have no transparent huge pages.

    The kernel keeps all 2 MB of one as long as a process maps 4 KB of it, and no process shows the rest.
    """
    prctl(_SET_THP_DISABLE, 1)


def die_with_parent(parent_pid: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send this process the signal `by` when its parent dies, or now if the parent is dead already.

    Call this after a change of uid, which clears it. The kernel also sends the signal if only the parent's thread that
    forked this process ends. `parent_pid` is the pid of the parent in this pid namespace, or 0 if the parent is
    outside. If an outside parent is dead already, that is not noticed here: use a pipe.
    """
    prctl(_SET_PDEATHSIG, by)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), by)


def drop_bounding() -> None:
    """Empty the bounding set. Needs CAP_SETPCAP, so do it before a change of uid. A new user namespace refills it.

    Takes a millisecond, because each drop copies all credentials. So the warden does it once, and children inherit it.
    """
    for number in _bounding():
        prctl(_BOUNDING_DROP, number)


def drop_all() -> None:
    """Empty the ambient, bounding, effective, permitted and inheritable sets.

    Without CAP_SETPCAP the bounding set stays as it is, but under no_new_privs nothing in it can be gained.
    """
    if capability_sets()["effective"] >> _SETPCAP & 1:
        drop_bounding()
    drop_held()


def drop_held() -> None:
    """Empty all sets but the bounding set, which a parent has emptied. Every guest calls this."""
    prctl(_AMBIENT, _AMBIENT_CLEAR_ALL)
    syscall("capset", _HEADER, bytes(24))


def capability_sets() -> dict[str, int]:
    """The effective, permitted and inheritable sets, as bit masks."""
    words = _Words()
    syscall("capget", _HEADER, words)
    low = struct.unpack_from("=III", words, 0)
    high = struct.unpack_from("=III", words, 12)
    return {name: low[at] | high[at] << 32 for at, name in enumerate(("effective", "permitted", "inheritable"))}


def _bounding() -> set[int]:
    found = set()
    for number in range(64):
        try:
            if prctl(_BOUNDING_READ, number):
                found.add(number)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            break  # past the last capability of this kernel
    return found


LIMITS = {
    "address_bytes": resource.RLIMIT_AS,  # V8 and BLAS reserve gigabytes: prefer data_bytes
    "core": resource.RLIMIT_CORE,
    "cpu_seconds": resource.RLIMIT_CPU,
    "data_bytes": resource.RLIMIT_DATA,
    "file_bytes": resource.RLIMIT_FSIZE,
    "memlock": resource.RLIMIT_MEMLOCK,
    "msgqueue": resource.RLIMIT_MSGQUEUE,  # per uid
    "nice": resource.RLIMIT_NICE,
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,  # per uid; does not bind root
    "rtprio": resource.RLIMIT_RTPRIO,
    "sigpending": resource.RLIMIT_SIGPENDING,  # per uid
    "stack_bytes": resource.RLIMIT_STACK,
}

# For every guest, whatever the request says.
DEFAULT_LIMITS: Mapping[str, int] = {
    # With 1 the kernel dumps no core. With 0 it still starts a crash handler of the host (a `core_pattern` that is a
    # pipe), outside the jail and with the guest's memory as input. The filter keeps guests from setting 0.
    "core": 1,
    "memlock": 64 * 1024,
    "msgqueue": 0,
    "nice": 0,
    "open_files": 1024,
    "rtprio": 0,
    "sigpending": 1024,
    "stack_bytes": 16 * 1024 * 1024,
}
SOFT_LIMITS = {"stack_bytes": 8 * 1024 * 1024}
"""Lower limits that a guest may raise. The soft limit is also the size of each thread's stack; QuickJS raises it."""


def limit(limits: Mapping[str, int]) -> None:
    """Set these limits, soft and hard, for the calling process and its children. A soft one may be lower.

    A limit that is already lower stays. Beyond `cpu_seconds` the kernel sends SIGKILL, beyond `file_bytes` SIGXFSZ.
    """
    for name, value in limits.items():
        if value < 0:
            raise ValueError(f"rlimit {name} is {value}; it must be 0 or more")  # -1 would be "unlimited"
        _, hard = resource.getrlimit(LIMITS[name])
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(LIMITS[name], (min(lower, SOFT_LIMITS.get(name, lower)), lower))


def attempt(trial: Callable[[], str | None]) -> str | None:
    """Call `trial` in a forked child and return its result: None if it works, otherwise the reason."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _report(trial, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    _, status = os.waitpid(pid, 0)
    if status:
        return text or f"the trial ended with exit code {os.waitstatus_to_exitcode(status)}"
    return text or None


def _report(trial: Callable[[], str | None], writer: int) -> None:
    code = 1
    try:
        os.write(writer, (trial() or "").encode())
        code = 0
    except BaseException as error:  # noqa: BLE001 - the child must not return into the caller's code
        os.write(writer, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(code)
