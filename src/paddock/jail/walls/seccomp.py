"""The filter on a guest's system calls: compiled from `allowed_calls`, installed once, never removed.

A call of a foreign architecture (32-bit) kills the process. A refused call gets EPERM, or another error that programs
handle better: unknown numbers (also x32's) and clone3 get ENOSYS, so that libc falls back to another call. `program`
takes milliseconds, once per policy; `install` is called in each guest.

With tracing, refused calls wait for the host (`notices`).
"""

from __future__ import annotations

import ctypes
import errno
import functools
import struct

from paddock.jail.walls import bpf, privileges
from paddock.jail.walls.allowed_calls import NOTIFY, PID_PLACEHOLDER, Policy, refusal, rules
from paddock.jail.walls.syscalls import MACHINE, NUMBERS, syscall

__all__ = ["Policy", "for_process", "install", "probe", "program", "programs"]

ALLOW, KILL, ERROR = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
LISTENER_HELD = "seccomp: a filter around this process has a listener already, probably that of a container runtime"
_SET_MODE_FILTER = 1
_NEW_LISTENER = 1 << 3
_WAIT_KILLABLE = 1 << 5  # once the host has received a call, only a fatal signal interrupts it (Linux 5.19)


@functools.cache
def program(policy: Policy, machine: str = MACHINE) -> bytes:
    """Compile the filter. The program of a confined policy must be passed through `for_process`."""
    permitted = rules(policy)

    def decision(name: str | None) -> bpf.Node:
        refuse = bpf.answer(NOTIFY if policy.trace else ERROR | refusal(name))
        rule = permitted.get(name) if name else None
        return rule(bpf.answer(ALLOW), refuse) if rule else refuse

    # The numbers of x32 have bit 30 set, so they are unknown numbers.
    by_number = bpf.search({number: decision(name) for name, number in NUMBERS[machine].items()}, decision(None))
    native = bpf.load(bpf.NUMBER, by_number)
    checked = bpf.branch(bpf.EQUAL, ARCHITECTURES[machine], native, bpf.answer(KILL))
    compiled = bpf.assemble(bpf.load(bpf.ARCHITECTURE, checked))
    _sock_fprog(compiled)  # cached now, so that guests share its memory
    return compiled


def programs(policy: Policy) -> dict[bool, bytes]:
    """The filter for guests that may start processes (True), and for those that may not (False)."""
    return {processes: program(policy._replace(processes=processes)) for processes in (True, False)}


def for_process(confined: bytes, pid: int) -> bytes:
    """The program of a confined policy for the process `pid`, which may signal itself: abort() needs that."""
    return confined.replace(struct.pack("=I", PID_PLACEHOLDER), struct.pack("=I", pid))


def install(program: bytes, *, listen: bool = False) -> int:
    """Put the calling thread, and whatever it forks, under the filter permanently. Needs no_new_privs.

    With `listen` returns the listener to which the filter reports calls. They wait until somebody reads it: send it
    to the host, and close this copy before user code runs.
    """
    description, _memory = _sock_fprog(program)
    if not listen:
        return syscall("seccomp", _SET_MODE_FILTER, 0, description)
    try:
        return syscall("seccomp", _SET_MODE_FILTER, _NEW_LISTENER | _WAIT_KILLABLE, description)
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise OSError(errno.EBUSY, LISTENER_HELD) from None
        if error.errno != errno.EINVAL:
            raise
        return syscall("seccomp", _SET_MODE_FILTER, _NEW_LISTENER, description)


@functools.lru_cache(maxsize=32)
def _sock_fprog(program: bytes) -> tuple[bytes, object]:
    """The struct that describes the program, and the memory that it points to."""
    memory = ctypes.create_string_buffer(program, len(program))
    return struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(memory)), memory


def probe() -> str | None:
    """Try a filter. Returns None if it works here, otherwise the reason."""
    if MACHINE not in ARCHITECTURES:
        return f"seccomp: no table of system calls for {MACHINE}; Paddock's jail needs x86-64 or aarch64"
    return privileges.attempt(_try)


def _try() -> str | None:
    privileges.no_new_privs()
    try:
        install(program(Policy()))
    except OSError as error:
        return f"{error}; the kernel needs CONFIG_SECCOMP_FILTER, and a container must allow seccomp(2)"
    try:
        syscall("chroot", b"/")
    except PermissionError:
        return None
    return "seccomp: a filter was installed but did not refuse chroot(2)"
