"""System calls of guests that wait for the host's answer: their filter reports them to a listener.

A traced guest reports the calls that its filter refuses, and the host logs them to `paddock.denied` (`Trace`). A guest
with a network reports its connections, and the host makes them (`jail/doors`).
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import select
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from paddock.jail.walls.allowed_calls import refusal
from paddock.jail.walls.seccomp import install
from paddock.jail.walls.syscalls import MACHINE, NUMBERS

_RECEIVE, _SEND, _IS_VALID, _ADD_FD = 0xC050_2100, 0xC018_2101, 0x4008_2102, 0x4018_2103
_SET_FLAGS = 0x4008_2104
_NOTICE = struct.Struct("=QIIiIQ6Q")  # id, pid, flags; number, architecture, instruction pointer, arguments
_ANSWER = struct.Struct("=QqiI")  # id, value, error, flags
_NEW_FD = struct.Struct("=QIIII")  # id, flags, the host's descriptor, the guest's, its flags
_REPLACE = _CONTINUE = 1
_NAMES = {number: name for name, number in NUMBERS.get(MACHINE, {}).items()}


class Notice(NamedTuple):
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


def put(listener: int, notice: Notice, fd: int, number: int) -> None:
    """Put our descriptor `fd` in the caller's place `number`. Raises OSError, also if the caller is gone."""
    fcntl.ioctl(listener, _ADD_FD, _NEW_FD.pack(notice.id, _REPLACE, fd, number, os.O_CLOEXEC))


def go_on(listener: int, notice: Notice) -> None:
    """Let the kernel make the call. Only for arguments that are numbers: what others point to can change meanwhile."""
    with suppress(OSError):  # the caller is gone
        fcntl.ioctl(listener, _SEND, bytearray(_ANSWER.pack(notice.id, 0, 0, _CONTINUE)))


class Denied(NamedTuple):
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

    Raises EOFError if something else arrived, and OSError if this process has no descriptor free for them.
    """
    try:
        data, ancillary, _, _ = control.recvmsg(len(_HELLO), _RIGHTS + _CREDENTIALS)
    except BlockingIOError:
        return None
    for level, kind, content in ancillary:
        if (level, kind, data) == (socket.SOL_SOCKET, socket.SCM_RIGHTS, _HELLO):
            return list(memoryview(content[: len(content) & ~3]).cast("i"))
    if data == _HELLO:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
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
