"""The control socket while a script runs. It is read while a send blocks, so that two full buffers do not deadlock."""

from __future__ import annotations

import select
import socket
from collections import deque
from os import _exit
from socket import MSG_DONTWAIT

from paddock.jail import wire
from paddock.jail.wire import Frame

READ_BYTES = 64 * 1024


class Channel:
    """Sends and receives frames on one thread."""

    def __init__(self, control: socket.socket) -> None:
        self._socket = control
        self._received = bytearray()
        self._frames: deque[Frame] = deque()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        control.setblocking(True)

    def send(self, kind: int, number: int, header: bytes, body: bytes, announced_bytes: int | None = None) -> None:
        """Send a frame. The prefix announces `announced_bytes` instead of the length of the body, if that is given."""
        body_bytes = len(body) if announced_bytes is None else announced_bytes
        data = memoryview(wire.PREFIX.pack(kind, number, len(header), body_bytes) + header + body)
        while data:
            try:
                data = data[self._socket.send(data, MSG_DONTWAIT) :]
            except BlockingIOError:
                self._wait_until_writable()

    def receive(self, milliseconds: float | None) -> Frame | None:
        """The next frame, or None if none arrives in time. Waits forever if `milliseconds` is None."""
        while not self._frames:
            if milliseconds is None:
                self._read(0)
            else:
                self._poll.poll(milliseconds)
                self._read(MSG_DONTWAIT)
                break
        return self._frames.popleft() if self._frames else None

    def _wait_until_writable(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN | select.POLLOUT)
        for _, events in poll.poll():
            if events & select.POLLIN:
                self._read(MSG_DONTWAIT)

    def _read(self, flags: int) -> None:
        try:
            data = self._socket.recv(READ_BYTES, flags)
        except BlockingIOError:
            return
        if not data:
            _exit(1)  # the host is gone
        self._received += data
        self._frames.extend(wire.take_frames(self._received))
