"""What a traced filter refused: read from its listener, and answered as the filter would have without tracing."""

from __future__ import annotations

import errno
import fcntl
import select
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from paddock.jail.walls.rules import refusal
from paddock.jail.walls.syscalls import MACHINE, NUMBERS

_RECEIVE, _SEND = 0xC050_2100, 0xC018_2101
_NOTICE = struct.Struct("=QIIiIQ6Q")  # id, pid, flags; number, architecture, instruction pointer, arguments
_ANSWER = struct.Struct("=QqiI")  # id, value, error, flags


@dataclass(frozen=True, slots=True)
class Denied:
    """A refused call. `pid` as the reader's pid namespace sees it, 0 if it doesn't."""

    name: str
    pid: int
    arguments: tuple[int, ...]


def denied_calls(listener: int) -> Iterator[Denied]:
    """Refused calls as they come, each answered before it is yielded; ends with the last process under the filter.

    Blocks. If nobody reads, the guest's refused calls wait; if the listener is closed, they get ENOSYS.
    """
    names = {number: name for name, number in NUMBERS[MACHINE].items()}
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while any(event & select.POLLIN for _, event in poll.poll()):
        notice = bytearray(_NOTICE.size)  # the kernel insists on zeros
        try:
            fcntl.ioctl(listener, _RECEIVE, notice)
            identity, pid, _, number, _, _, *arguments = _NOTICE.unpack(notice)
            name = names.get(number)
            fcntl.ioctl(listener, _SEND, bytearray(_ANSWER.pack(identity, 0, -refusal(name), 0)))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINTR):  # the caller died, or was interrupted, meanwhile
                raise
            continue
        yield Denied(name or f"syscall {number}", pid, tuple(arguments))
