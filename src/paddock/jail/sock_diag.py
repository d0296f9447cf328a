"""Counts the bytes of TCP connections that other processes hold, through the kernel's `sock_diag`.

A connection is known by its cookie, which the kernel gives to no other socket. `Counter.count` asks about an
open one. `Counter.closed` reports those that were closed since, because a script may close one at any time.
"""

from __future__ import annotations

import errno
import select
import socket
import struct
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address

_SOCK_DIAG, _BY_FAMILY = 4, 20
_GROUPS = {socket.AF_INET: 1, socket.AF_INET6: 3}  # closed TCP sockets of each family
_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_ID = struct.Struct("!HH16s16s")  # ports and addresses; an interface and a cookie follow
_INFO = 2  # the attribute with tcp_info
_SENT_AND_RECEIVED = struct.Struct("=QQ")
_BYTES_AT = 120  # of tcpi_bytes_acked in tcp_info; tcpi_bytes_received follows
_WAITING_AT = 60  # of idiag_wqueue in inet_diag_msg: what the peer has not acknowledged
_BUFFER_BYTES = 4 * 1024 * 1024
"""For 2,000 closed connections. The kernel lets only root have so much, and others as a rule a tenth of it."""
_BUFFER_OPTIONS = (33, socket.SO_RCVBUF)  # SO_RCVBUFFORCE, which needs a capability
_MAX_MESSAGES = 10_000
_SOL_NETLINK, _JOIN, _LEAVE = 270, 1, 2


class Connected:
    """How the kernel knows a socket that is connected, or is connecting, to this address."""

    def __init__(self, sock: socket.socket, address: IPv4Address | IPv6Address, port: int) -> None:
        self.cookie = sock.getsockopt(socket.SOL_SOCKET, 57, 8)  # SO_COOKIE
        near = sock.getsockname()
        addresses = (each.packed.ljust(16, b"\0") for each in (ip_address(near[0]), address))
        name = _ID.pack(near[1], port, *addresses) + bytes(4) + self.cookie
        everything = 0xFFFF_FFFF
        self.request = struct.pack("=BBBBI", sock.family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, everything) + name


class Counter:
    """A netlink socket in the network of this process. Raises OSError if the kernel has no `sock_diag`."""

    def __init__(self) -> None:
        self._hearing = _open()
        for option in _BUFFER_OPTIONS:
            with suppress(OSError):
                self._hearing.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
                break
        self._hearing.bind((0, 0))  # before it joins groups, or it hears nothing
        self.hear(is_wanted=True)

    def hear(self, *, is_wanted: bool) -> None:
        """Whether `closed` is to report what is closed from now on."""
        for group in _GROUPS.values():
            self._hearing.setsockopt(_SOL_NETLINK, _JOIN if is_wanted else _LEAVE, group)

    def wait(self, seconds: float) -> bool:
        """Wait until `closed` has something to report. Returns False if the time has passed, or after `close`."""
        poll = select.poll()
        with suppress(OSError, ValueError):  # it is closed
            poll.register(self._hearing, select.POLLIN)
            return bool(poll.poll(seconds * 1000))
        return False

    def count(self, connected: Connected) -> int | None:
        """The bytes sent and received so far; None if the connection is closed. Raises OSError in a shortage.

        Waits while a process sends or receives on it, so threads must not wait for each other's question.
        """
        request = _HEADER.pack(_HEADER.size + len(connected.request), _BY_FAMILY, 1, 0, 0) + connected.request
        with _open() as asking:
            asking.send(request)
            return next((count for cookie, count in _parse(asking.recv(8192)) if cookie == connected.cookie), None)

    def closed(self) -> dict[bytes, int]:
        """The bytes of each connection of this network that was closed since the last call, by its cookie.

        All programs of the machine close connections, and the kernel keeps a few hundred of these reports.
        """
        found: dict[bytes, int] = {}
        for _ in range(_MAX_MESSAGES):
            try:
                found.update(_parse(self._hearing.recv(8192)))
            except OSError as problem:
                if problem.errno != errno.ENOBUFS:  # some were lost; what is left can be read
                    break
        return found

    def close(self) -> None:
        self._hearing.close()


def _open() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, _SOCK_DIAG)


def _parse(data: bytes) -> list[tuple[bytes, int]]:
    """The cookie and the bytes of each socket in a message of the kernel. The SYN counts as a byte there, not here.

    What waits to be sent counts as sent: the kernel goes on sending it after the run.
    """
    found, at = [], 0
    while at + _HEADER.size <= len(data):
        length, kind, *_ = _HEADER.unpack_from(data, at)
        if length < _HEADER.size:
            break
        if kind == _BY_FAMILY:
            cookie = data[at + _HEADER.size + 4 + 40 : at + _HEADER.size + 4 + 48]
            info = _attribute(data[at + _HEADER.size + 72 : at + length])
            if len(info) >= _BYTES_AT + _SENT_AND_RECEIVED.size:
                (waiting,) = struct.unpack_from("=I", data, at + _HEADER.size + _WAITING_AT)
                found.append((cookie, max(0, sum(_SENT_AND_RECEIVED.unpack_from(info, _BYTES_AT)) + waiting - 1)))
        at += (length + 3) & ~3
    return found


def _attribute(data: bytes) -> bytes:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if kind == _INFO:
            return data[at + 4 : at + length]
        at += max(4, (length + 3) & ~3)
    return b""
