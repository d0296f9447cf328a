"""The filter on a guest's system calls: an allow-list compiled for the machine, installed once and for good.

A foreign architecture (32-bit calls) kills. A refused call gets EPERM, a number that nobody knows (x32's among them)
and clone3 get ENOSYS, so that libc falls back. Costs: `program` milliseconds, once per policy; `install` per guest.
"""

from __future__ import annotations

import ctypes
import functools
import struct

from paddock.jail.walls import bpf, capabilities, child
from paddock.jail.walls.arguments import rules
from paddock.jail.walls.libc import syscall
from paddock.jail.walls.notices import Denied, denied_calls
from paddock.jail.walls.rules import NOBODY, Policy, refusal
from paddock.jail.walls.syscalls import MACHINE, NUMBERS

__all__ = ["Denied", "Policy", "denied_calls", "for_process", "install", "install_traced", "probe", "program"]

ALLOW, KILL, ERROR, NOTIFY = 0x7FFF_0000, 0x8000_0000, 0x0005_0000, 0x7FC0_0000
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_SET_MODE_FILTER = 1
_NEW_LISTENER = 1 << 3


@functools.cache
def program(policy: Policy, machine: str = MACHINE) -> bytes:
    """The filter, an array of struct sock_filter. Of a confined one, see `for_process`."""
    permitted = rules(policy)

    def decision(name: str | None) -> bpf.Node:
        refuse = bpf.answer(NOTIFY if policy.trace else ERROR | refusal(name))
        rule = permitted.get(name) if name else None
        return rule(bpf.answer(ALLOW), refuse) if rule else refuse

    # A number of x32 is a large one (bit 30), so it is among the unknown.
    by_number = bpf.search({number: decision(name) for name, number in NUMBERS[machine].items()}, decision(None))
    native = bpf.load(bpf.NUMBER, by_number)
    checked = bpf.branch(bpf.EQUAL, ARCHITECTURES[machine], native, bpf.answer(KILL))
    made = bpf.assembled(bpf.load(bpf.ARCHITECTURE, checked))
    _described(made)
    return made


def for_process(confined: bytes, pid: int) -> bytes:
    """A confined program that lets this process signal itself: without, even abort() sends nothing."""
    return confined.replace(struct.pack("=I", NOBODY), struct.pack("=I", pid))


def install(program: bytes) -> None:
    """Put the calling thread, and what it will fork, under the filter. Needs no_new_privs; cannot be undone."""
    _install(program, flags=0)


def install_traced(program: bytes) -> int:
    """Install a program with `trace`; the listener's fd, for `denied_calls`.

    Refused calls wait for whoever reads the listener: hand it to the host and close it before any user code runs.
    """
    return _install(program, flags=_NEW_LISTENER)


def _install(program: bytes, *, flags: int) -> int:
    description, _held = _described(program)
    return syscall("seccomp", _SET_MODE_FILTER, flags, description)


@functools.lru_cache(maxsize=32)
def _described(program: bytes) -> tuple[bytes, object]:
    """A struct sock_fprog and the memory that it points to, made before the fork: a child pays for each new page."""
    held = ctypes.create_string_buffer(program, len(program))
    return struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(held)), held


def probe() -> str | None:
    """None if a filter really holds here, else why not."""
    if MACHINE not in ARCHITECTURES:
        return f"seccomp: no table of system calls for {MACHINE}; Paddock's jail needs x86-64 or aarch64"
    return child.attempt(_try)


def _try() -> str | None:
    capabilities.no_new_privs()
    try:
        install(program(Policy()))
    except OSError as error:
        return f"{error}; the kernel needs CONFIG_SECCOMP_FILTER, and a container must allow seccomp(2)"
    try:
        syscall("chroot", b"/")
    except PermissionError:
        return None
    return "seccomp: a filter was installed but did not refuse chroot(2)"
