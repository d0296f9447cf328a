"""The filter on a guest's system calls: compiled from `allowed_calls`, installed once, never removed.

A call of a foreign architecture (32-bit) kills the process. A refused call gets EPERM, or another error that programs
handle better: unknown numbers (also x32's) and clone3 get ENOSYS, so that libc falls back to another call. `program`
takes milliseconds, once per policy; `install` is called in each guest.

With tracing, refused calls are sent to the host, which logs them to `paddock.denied`.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import logging
import os
import select
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from paddock.jail.walls import bpf, privileges
from paddock.jail.walls.allowed_calls import NOTIFY, PID_PLACEHOLDER, Policy, refusal, rules
from paddock.jail.walls.syscalls import MACHINE, NUMBERS, syscall

__all__ = ["Denied", "Policy", "denied_calls", "for_process", "install", "probe", "program"]

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
    return {processes: program(replace(policy, processes=processes)) for processes in (True, False)}


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


_RECEIVE, _SEND, _IS_VALID, _ADD_FD = 0xC050_2100, 0xC018_2101, 0x4008_2102, 0x4018_2103
_SET_FLAGS = 0x4008_2104
_NOTICE = struct.Struct("=QIIiIQ6Q")  # id, pid, flags; number, architecture, instruction pointer, arguments
_ANSWER = struct.Struct("=QqiI")  # id, value, error, flags
_NEW_FD = struct.Struct("=QIIII")  # id, flags, the host's descriptor, the guest's, its flags
_REPLACE = 1
_NAMES = {number: name for name, number in NUMBERS.get(MACHINE, {}).items()}


@dataclass(frozen=True, slots=True)
class Notice:
    """A call that waits for the host's answer. `thread` is 0 if it is not visible in the reader's pid namespace."""

    id: int
    thread: int
    name: str | None
    number: int
    arguments: tuple[int, ...]


def wake_on_same_cpu(listener: int) -> None:
    """Make the kernel switch between the guest and the host on one processor, which is quicker (Linux 6.6)."""
    with suppress(OSError):
        fcntl.ioctl(listener, _SET_FLAGS, 1)


def receive(listener: int) -> Notice | None:
    """The next call; None if its caller has died or was interrupted. Call it only when the listener is readable."""
    notice = bytearray(_NOTICE.size)  # the kernel requires zeros
    try:
        fcntl.ioctl(listener, _RECEIVE, notice)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EINTR):
            raise
        return None
    identity, thread, _, number, _, _, *arguments = _NOTICE.unpack(notice)
    return Notice(identity, thread, _NAMES.get(number), number, tuple(arguments))


def respond(listener: int, notice: Notice, error: int) -> bool:
    """Make the call return 0 or fail with `error`. Returns whether its caller was still waiting."""
    try:
        fcntl.ioctl(listener, _SEND, bytearray(_ANSWER.pack(notice.id, 0, -error, 0)))
    except OSError as problem:
        if problem.errno not in (errno.ENOENT, errno.EINTR):
            raise
        return False
    return True


def is_waiting(listener: int, notice: Notice) -> bool:
    """Whether the caller still waits. If so, what was opened by its pid before is the caller's own."""
    try:
        fcntl.ioctl(listener, _IS_VALID, struct.pack("=Q", notice.id))
    except OSError:
        return False
    return True


def put(listener: int, notice: Notice, fd: int, number: int, *, close_on_exec: bool) -> None:
    """Put our descriptor `fd` in the caller's place `number`. Raises OSError, also if the caller is gone."""
    flags = os.O_CLOEXEC if close_on_exec else 0
    fcntl.ioctl(listener, _ADD_FD, _NEW_FD.pack(notice.id, _REPLACE, fd, number, flags))


@dataclass(frozen=True, slots=True)
class Denied:
    """A refused call. `pid` is its process in the reader's pid namespace, or 0 if it is not visible there."""

    name: str
    pid: int
    arguments: tuple[int, ...]

    @classmethod
    def from_notice(cls, notice: Notice) -> Denied:
        return cls(notice.name or f"syscall {notice.number}", notice.thread, notice.arguments)


def denied_calls(listener: int) -> Iterator[Denied]:
    """Yield refused calls, each answered before it is yielded, until the last process under the filter ends.

    Blocks. If nobody reads, the guest's refused calls wait. If the listener is closed, they get ENOSYS.
    """
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while any(event & select.POLLIN for _, event in poll.poll()):
        notice = receive(listener)
        if notice is not None and respond(listener, notice, refusal(notice.name)):
            yield Denied.from_notice(notice)


_HELLO = b"L"
"""Sent with the listener, before anything else that a guest sends."""
_FINISH_SECONDS = 5.0
_RIGHTS = socket.CMSG_SPACE(8)
_CREDENTIALS = socket.CMSG_SPACE(12)

log = logging.getLogger("paddock.denied")


def install_in_guest(program: bytes, control: int, *more: int, listen: bool) -> None:
    """Put the guest under its filter. With `listen`, send the listener and `more` to the host over `control`."""
    if not listen:
        install(program)
        return
    # Prepare the socket before the filter is installed: after that, a refused call would hang, because the host does
    # not have the listener yet.
    with socket.socket(fileno=os.dup(control)) as host:
        listener = install(program, listen=True)
        socket.send_fds(host, [_HELLO], [listener, *more])
    for fd in (listener, *more):
        os.close(fd)


def receive_listener(control: socket.socket) -> list[int] | None:
    """The listener that a guest sent, and what it sent with it; None if they have not arrived yet.

    Raises EOFError if something else arrived.
    """
    try:
        data, ancillary, _, _ = control.recvmsg(len(_HELLO), _RIGHTS + _CREDENTIALS)
    except BlockingIOError:
        return None
    for level, kind, content in ancillary:
        if (level, kind, data) == (socket.SOL_SOCKET, socket.SCM_RIGHTS, _HELLO):
            return list(memoryview(content[: len(content) & ~3]).cast("i"))
    raise EOFError


class Trace:
    """Answers the calls that a guest's filter refuses, and logs them to `paddock.denied` after `begin`."""

    def __init__(self, listener: int) -> None:
        self._listener = listener
        self._begun = False
        self._thread = threading.Thread(target=self._follow, name="paddock-denied", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        self._begun = True

    def finish(self) -> None:
        """Wait until all refused calls of a guest that is gone are logged."""
        self._thread.join(_FINISH_SECONDS)

    def _follow(self) -> None:
        try:
            for denied in denied_calls(self._listener):
                if self._begun:
                    log.info("%s", describe(denied))
        finally:
            os.close(self._listener)


def describe(denied: Denied) -> str:
    """The call with its arguments, without pointers. Some calls have fewer arguments than are shown."""
    shown = [hex(argument) if argument < 1 << 32 else "…" for argument in denied.arguments]
    while shown and shown[-1] in {"0x0", "…"}:
        shown.pop()
    return f"{denied.name}({', '.join(shown)})"
