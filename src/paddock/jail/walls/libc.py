"""System calls that Python does not offer, through libc. An error is an OSError that names the call."""

from __future__ import annotations

import ctypes
import errno
import os

from paddock.jail.walls import syscalls
from paddock.jail.walls.syscalls import MACHINE

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
# As wide as a register, all of them: what is not passed would be whatever was there. Converting them here, and not by
# code of ours, spares a guest that has just been forked the copies of a hundred pages.
_libc.syscall.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * 6]
_PAUSE = ctypes.cast(_libc.pause, ctypes.c_void_p)
_with_interpreter = ctypes.PyDLL(None, use_errno=True)
if hasattr(_libc, "prctl"):  # Linux; elsewhere this module can at least be imported
    _libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]

Argument = int | bytes | ctypes.Array[ctypes.c_char] | None

NUMBERS = syscalls.NUMBERS.get(MACHINE, {})
_ABSENT = [(None,) * (6 - count) for count in range(7)]


def syscall(name: str, *arguments: Argument) -> int:
    """Make the call; its result, or OSError."""
    if name not in NUMBERS:
        raise OSError(errno.ENOSYS, f"{name}: unknown on {MACHINE}")
    result: int = _libc.syscall(NUMBERS[name], *arguments, *_ABSENT[len(arguments)])
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prctl(option: int, *arguments: int) -> int:
    """prctl(2); its result, or OSError."""
    result: int = _libc.prctl(option, *[*arguments, 0, 0, 0, 0][:4])
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
    return result


class ProcessName:
    """What `ps` and `top` show of a process; at most 15 bytes."""

    def __init__(self, name: str) -> None:
        self._held = ctypes.create_string_buffer(name.encode())
        self._address = ctypes.addressof(self._held)

    def take(self) -> None:
        set_name = 15
        prctl(set_name, self._address)


def fork() -> int:
    """fork(2) as it is, for a process of one thread.

    os.fork() then puts threads, locks and random generators in order, which writes to 200 pages of the child: there is
    one thread, no lock is held, and a guest is seeded anew.
    """
    pid: int = _with_interpreter.fork()
    if pid < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"fork: {os.strerror(number)}")
    return pid


def sleeping_child(stack_top: int, flags: int) -> int:
    """A child that shares our memory and our descriptors, and sleeps until it is killed; `flags` are of clone(2)."""
    # A table of its own would keep open whatever we had open when it was made.
    clone_vm, clone_files, sigchld = 0x100, 0x400, 17
    pid: int = _libc.clone(_PAUSE, ctypes.c_void_p(stack_top), flags | clone_vm | clone_files | sigchld, None)
    if pid < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"clone: {os.strerror(number)}")
    return pid
