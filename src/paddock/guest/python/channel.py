"""The script's side of the control socket: any number of concurrent requests, each waiting for its answer.

Every event loop that waits for an answer reads the socket. A script may have several loops, one after the other or in
threads. While a send blocks, the socket is read: if both ends only wrote, both would block forever.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import socket
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping
from os import _exit, getpid
from typing import Any
from weakref import WeakKeyDictionary

from paddock.guest.python import streams
from paddock.jail import wire
from paddock.jail.wire import Frame, Kind

READ_BYTES = 64 * 1024
_FDS_BYTES = socket.CMSG_SPACE(3 * 4)
WAIT_MILLISECONDS = 20
# Bound now, because a script may replace `json.dumps`.
_text = json.JSONEncoder().encode
_pack_prefix = wire.PREFIX.pack


class Channel:
    """The control socket while a script runs."""

    _socket: socket.socket
    _owner = 0

    def __init__(self) -> None:
        self._requests = 0
        self.settled = 0
        """How many answers have arrived."""
        self._pending: dict[int, asyncio.Future[Frame]] = {}
        self._awaited: dict[int, Frame | None] = {}  # answers that a thread blocks for
        self._received = bytearray()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()  # with their threads
        self._sending, self._reading = threading.Lock(), threading.Lock()

    def attach(self, control: socket.socket) -> None:
        """Use this socket, in this process."""
        self._socket = control
        self._owner = getpid()

    def replace(self, control: socket.socket) -> None:
        """Use another socket, in a process that was forked from the one before."""
        self._socket.close()
        self._received.clear()
        self._pending.clear()
        self.attach(control)
        self.set_nonblocking()

    def set_nonblocking(self) -> None:
        """Make the socket non-blocking, for requests of a running script."""
        self._socket.setblocking(False)

    @contextlib.contextmanager
    def receiving(self) -> Iterator[_Rest]:
        """Between two runs of a session: only the caller reads the socket, in any thread of the script.

        What was received and not yet read comes first.
        """
        with self._reading:
            self._socket.setblocking(True)
            try:
                yield _Rest(self._socket, self._received)
            finally:
                self._socket.setblocking(False)

    async def request(self, kind: Kind, header: Mapping[str, Any], body: bytes = b"") -> Frame:
        """Send a request and wait for its answer. If the request is cancelled, the answer is dropped."""
        if getpid() != self._owner:
            raise RuntimeError("a forked process cannot call tools or create artifacts; do that in the main process")
        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            loop.add_reader(self._socket.fileno(), self._read)
            self._loops[loop] = get_ident()
        self._requests += 1
        number = self._requests
        future: asyncio.Future[Frame] = loop.create_future()
        self._pending[number] = future
        try:
            self.send(kind, number, header, body)
            return await future
        finally:
            self._pending.pop(number, None)

    def request_now(self, kind: Kind, header: Mapping[str, Any], body: bytes = b"") -> Frame:
        """Send a request and block until it is answered, also while an event loop runs.

        Raises RuntimeError if the run is being interrupted.
        """
        if getpid() != self._owner:
            raise RuntimeError("a forked process cannot create artifacts; do that in the main process")
        self._requests += 1
        number = self._requests
        self._awaited[number] = None
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        self.send(kind, number, header, body)
        while (answer := self._awaited[number]) is None:
            if poll.poll(WAIT_MILLISECONDS):  # another thread may have read the answer
                self._read()
        del self._awaited[number]
        if (values := answer.values()).get("interrupted"):
            raise RuntimeError(values["error"])
        return answer

    async def wait_for_answers(self, seconds: float) -> bool:
        """Wait until the requests that the running loop has made so far are answered.

        Returns False if there are none, or if they are not answered in time.
        """
        loop = asyncio.get_running_loop()
        waiting = [future for future in self._pending.values() if future.get_loop() is loop]
        if not waiting:
            return False
        _, unanswered = await asyncio.wait(waiting, timeout=max(0.0, seconds))
        return not unanswered

    def idle_loops(self) -> list[asyncio.AbstractEventLoop]:
        """The loops of this thread that made requests and were stopped before all their tasks had ended."""
        own = [loop for loop, thread in list(self._loops.items()) if thread == get_ident()]
        loops = [loop for loop in own if not loop.is_closed() and not loop.is_running()]
        return [loop for loop in loops if asyncio.all_tasks(loop)]

    def send(self, kind: Kind, number: int, header: Mapping[str, Any], body: bytes = b"") -> None:
        """Flush the output, then send a frame. Forked processes send nothing."""
        if getpid() != self._owner:
            return
        streams.flush()
        head = _text(header).encode()
        if len(head) > wire.HEADER_BYTES or len(body) > wire.BODY_BYTES:
            raise ValueError(f"too large to send: {(len(head) + len(body)) / 2**20:.1f} MB")
        start = _pack_prefix(kind, number, len(head), len(body)) + head
        # A large body is not copied: the script may have little memory left.
        self._send(*([start + body] if len(body) < READ_BYTES else [start, body]))

    def send_unsent(self, tag: int) -> None:
        """Send a RESULT whose value is too large to be sent."""
        self._send(_pack_prefix(Kind.RESULT, tag, 0, wire.UNSENT_BYTES))

    def _send(self, *parts: bytes) -> None:
        with self._sending:
            for part in parts:
                self._send_all(memoryview(part))

    def _send_all(self, data: memoryview) -> None:
        while data:
            try:
                data = data[self._socket.send(data) :]
            except BlockingIOError:
                self._wait_until_writable()

    def send_at_once(self, data: bytes) -> None:
        """Send a small frame from a signal handler, unless that interrupted the sending of another one."""
        if getpid() == self._owner and not self._sending.locked():
            with contextlib.suppress(BlockingIOError):
                self._socket.send(data)

    def _wait_until_writable(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN | select.POLLOUT)
        for _, events in poll.poll():
            if events & select.POLLIN:
                self._read()

    def _read(self) -> None:
        """Read what has arrived and settle the requests that are answered."""
        with self._reading:
            try:
                data = self._socket.recv(READ_BYTES)
            except BlockingIOError:
                return  # another loop was quicker
            if not data:
                _exit(1)  # the host closed its end
            self._received += data
            # Another thread may read what is for a session's next run. That stays for `receiving`.
            for frame in wire.take_frames(self._received, Kind.ANSWER):
                self.settled += 1
                if frame.id in self._awaited:
                    self._awaited[frame.id] = frame
                elif (future := self._pending.pop(frame.id, None)) is not None:
                    _settle(future, frame)


class _Rest:
    """A socket with received bytes in front of it. It has what `wire.receive` needs."""

    def __init__(self, control: socket.socket, received: bytearray) -> None:
        self._socket, self._received = control, received
        self.descriptors: list[int] = []  # that the host has sent

    def recv_into(self, view: memoryview) -> int:
        count = min(len(view), len(self._received))
        if count == 0:
            size, ancillary, _, _ = self._socket.recvmsg_into([view], _FDS_BYTES, socket.MSG_CMSG_CLOEXEC)
            for _, _, data in ancillary:
                self.descriptors += memoryview(data[: len(data) & ~3]).cast("i")
            return size
        view[:count] = self._received[:count]
        del self._received[:count]
        return count


def _settle(future: asyncio.Future[Frame], frame: Frame) -> None:
    loop = future.get_loop()
    if loop is _running_loop():
        _set_result(future, frame)
    else:
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits for the answer
            loop.call_soon_threadsafe(_set_result, future, frame)


def _set_result(future: asyncio.Future[Frame], frame: Frame) -> None:
    if not future.done():
        future.set_result(frame)


_running_loop: Callable[[], asyncio.AbstractEventLoop | None] = asyncio._get_running_loop  # noqa: SLF001 (returns None outside a loop)
