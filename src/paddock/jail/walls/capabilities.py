"""Privileges of the calling process: give all of them up, and gain none again."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct

from paddock.jail.walls import child
from paddock.jail.walls.libc import prctl, syscall

_SET_PDEATHSIG, _SET_DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38
_BOUNDING_READ, _BOUNDING_DROP = 23, 24
_AMBIENT, _AMBIENT_IS_SET, _AMBIENT_CLEAR_ALL = 47, 1, 4
_HEADER = struct.pack("=Ii", 0x2008_0522, 0)  # version 3, oneself
_SETPCAP = 8
_Words = ctypes.c_char * 24  # making the type takes longer than the call


def no_new_privs() -> None:
    """No exec gains anything: setuid bits and file capabilities are ignored. seccomp and Landlock require it."""
    prctl(_NO_NEW_PRIVS, 1)


def not_dumpable() -> None:
    """No core dump, no tracing by the same uid. `/proc/self` then belongs to root, and exec undoes it."""
    prctl(_SET_DUMPABLE, 0)


def dumpable() -> None:
    """Own files under `/proc/self` again, which a change of uid gave to root."""
    prctl(_SET_DUMPABLE, 1)


def die_with_parent(parent_pid: int, by: signal.Signals = signal.SIGKILL) -> None:
    """This signal on the death of the parent, even if it is dead already. `parent_pid` as this process sees it.

    Call it after the change of uid, which clears it. It is the parent's *thread* that counts. Where the parent is
    outside the pid namespace both see 0: then an earlier death goes unnoticed, and a pipe has to tell.
    """
    prctl(_SET_PDEATHSIG, by)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), by)


def drop_bounding() -> None:
    """Empty the bounding set. Needs CAP_SETPCAP, so before the change of uid; a new user namespace fills it again.

    A millisecond, each drop being a copy of all credentials: do it once in the zygote, children inherit it.
    """
    for number in _bounding():
        prctl(_BOUNDING_DROP, number)


def drop_all() -> None:
    """Empty the ambient, bounding, effective, permitted and inheritable sets.

    Without CAP_SETPCAP the bounding set stays as it is: call `drop_bounding` while privileged. Under no_new_privs
    what it holds cannot be gained.
    """
    if sets()["effective"] >> _SETPCAP & 1:
        drop_bounding()
    drop_held()


def drop_held() -> None:
    """Empty all sets but the bounding one, which a parent has emptied: for the path of every guest."""
    prctl(_AMBIENT, _AMBIENT_CLEAR_ALL)
    syscall("capset", _HEADER, bytes(24))


def sets() -> dict[str, int]:
    """The sets that capget(2) tells, as bit masks."""
    words = _Words()
    syscall("capget", _HEADER, words)
    low = struct.unpack_from("=III", words, 0)
    high = struct.unpack_from("=III", words, 12)
    return {name: low[at] | high[at] << 32 for at, name in enumerate(("effective", "permitted", "inheritable"))}


def held() -> dict[str, set[int]]:
    """The capabilities in each of the five sets, by number. For tests and diagnosis."""
    listed = {name: {number for number in range(64) if mask >> number & 1} for name, mask in sets().items()}
    listed["bounding"] = _bounding()
    listed["ambient"] = {number for number in listed["permitted"] if prctl(_AMBIENT, _AMBIENT_IS_SET, number)}
    return listed


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


def probe() -> str | None:
    """None if privileges can be given up here, else why not."""
    return child.attempt(_try)


def _try() -> str | None:
    no_new_privs()
    drop_all()
    kept = {name for name, numbers in held().items() if numbers and name != "bounding"}
    return f"capabilities: {', '.join(sorted(kept))} not empty after capset(2)" if kept else None
