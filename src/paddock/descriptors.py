"""The limit on open files and sockets (descriptors) of this process."""

from __future__ import annotations

import socket
from contextlib import suppress

HIGHEST_LIMIT = 65_536
"""`raise_limit` stops here: with a higher limit some programs take long to start."""
RESERVED, PER_GUEST, PER_SESSION = 128, 40, 12
"""Descriptors reserved for the host itself, for each guest in use, and for each idle session. PER_GUEST includes those
of guests that wait or are being created."""
_PASS_RIGHTS = 83  # SO_PASSRIGHTS
_original: int | None = None  # the soft limit that this process was started with


def limit() -> int:
    """How many descriptors this process may have open."""
    import resource  # not on Windows

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def max_connections() -> int:
    """How many connections a server may have open. Runs and sessions need the other descriptors."""
    return max(16, limit() // 4)


def max_guests() -> int:
    """How many guests may be in use or ending, in all pools together."""
    return max(2, (limit() // 2 - RESERVED) // PER_GUEST)


def max_sessions() -> int:
    """How many sessions there may be."""
    return max(2, (limit() - RESERVED) // 4 // PER_SESSION)


def raise_limit() -> None:
    """Raise the soft limit of this process to the hard one. Child processes should get `original_limit` instead."""
    import resource

    global _original  # noqa: PLW0603
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = HIGHEST_LIMIT if hard == resource.RLIM_INFINITY else min(hard, HIGHEST_LIMIT)
    if soft != resource.RLIM_INFINITY and soft < highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
        _original = soft


def original_limit() -> int:
    """The soft limit for child processes: many programs cannot use a descriptor above 1023."""
    return limit() if _original is None else _original


def accept_none(sock: socket.socket) -> None:
    """Refuse descriptors that a guest sends. They would be closed here, which can take a second."""
    with suppress(OSError):  # before Linux 6.16
        sock.setsockopt(socket.SOL_SOCKET, _PASS_RIGHTS, 0)
