"""A guest's filter that tells the host what it refuses: the guest's end and the host's."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading

from paddock.jail.walls import seccomp
from paddock.jail.walls.notices import Denied, denied_calls

HELLO = b"L"
"""Comes with the listener, before anything else that a guest says."""
PATIENCE_SECONDS = 5.0
_RIGHTS = socket.CMSG_SPACE(4)
_CREDENTIALS = socket.CMSG_SPACE(12)

log = logging.getLogger("paddock.denied")


def install(program: bytes, control: int, *, told: bool) -> None:
    """Put the guest under its filter; one that is `told` of goes to the host with its listener, over `control`."""
    if not told:
        seccomp.install(program)
        return
    # Made before: what is refused from here on waits until the host has the listener.
    with socket.socket(fileno=os.dup(control)) as host:
        listener = seccomp.install_traced(program)
        socket.send_fds(host, [HELLO], [listener])
    os.close(listener)


def received(control: socket.socket) -> int | None:
    """The listener that a guest hands over; None while it has not, EOFError where it says something else."""
    try:
        said, more, _, _ = control.recvmsg(len(HELLO), _RIGHTS + _CREDENTIALS)
    except BlockingIOError:
        return None
    for level, kind, data in more:
        if (level, kind, said) == (socket.SOL_SOCKET, socket.SCM_RIGHTS, HELLO):
            return int.from_bytes(data[:4], sys.byteorder)
    raise EOFError


class Trace:
    """Answers what a guest's filter refuses, and from `begin` on names it in the log `paddock.denied`."""

    def __init__(self, listener: int) -> None:
        self._listener = listener
        self._begun = False
        self._thread = threading.Thread(target=self._follow, name="paddock-denied", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        self._begun = True

    def finish(self) -> None:
        """The guest is gone: wait until everything that it was refused is named."""
        self._thread.join(PATIENCE_SECONDS)

    def _follow(self) -> None:
        try:
            for denied in denied_calls(self._listener):
                if self._begun:
                    log.info("%s", described(denied))
        finally:
            os.close(self._listener)


def described(denied: Denied) -> str:
    """A call by its name and its arguments, without pointers; more of them are shown than some calls have."""
    shown = [hex(argument) if argument < 1 << 32 else "…" for argument in denied.arguments]
    while shown and shown[-1] in {"0x0", "…"}:
        shown.pop()
    return f"{denied.name}({', '.join(shown)})"
