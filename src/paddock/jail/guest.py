"""The host's end of one guest: its sockets, its pipes, and how to end it."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import struct
import time
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from paddock.jail.bounds import Bound
from paddock.jail.reaper import BEGIN, HELLO, REPORT
from paddock.jail.wire import PREFIX, Kind
from paddock.model.errors import JailUnavailable
from paddock.model.limits import Limits

READ_BYTES = 64 * 1024
_CREDENTIALS = struct.Struct("3i")


class Report(NamedTuple):
    """How a guest ended, as its reaper saw it."""

    status: int
    cpu_seconds: float
    resident_bytes: int


class Guest:
    """A walled-in process that waits for a script, gets one, and is thrown away."""

    def __init__(self, uid: int, fds: list[int], bound: Bound, *, looked_at: bool = False) -> None:
        control, reaper, out, error = fds
        self.uid = uid
        self._looked_at = looked_at  # by its reaper, while a script runs
        self.bound = bound
        self.control = socket.socket(fileno=control)
        self._reaper = socket.socket(fileno=reaper)
        self._pipes = {"stdout": out, "stderr": error}
        for fd in fds:
            os.set_blocking(fd, False)
        self.pid = 0
        self._reaper_pid = 0
        self._reaper_pidfd: int | None = None
        self._pidfd: int | None = None
        self._loop = asyncio.get_running_loop()
        # Edge-triggered, in an epoll of its own: what nobody reads yet must not wake the loop again and again.
        self._edges = select.epoll()
        for fd in fds if bound.oom_fd is None else [*fds, bound.oom_fd]:
            self._edges.register(fd, select.EPOLLIN | select.EPOLLET)
        self._awake = False
        self.out_of_memory = False  # perhaps: the slot knows
        self._waiter: asyncio.Future[None] | None = None
        self._loop.add_reader(self._edges.fileno(), self._wake)
        self._unsent: deque[memoryview] = deque()

    def _wake(self) -> None:
        for fd, _ in self._edges.poll(0):
            if fd == self.bound.oom_fd:
                self.out_of_memory = True
        self._awake = True
        if self._waiter is not None:
            _settle(self._waiter)

    async def something(self, within_seconds: float | None = None) -> None:
        """Wait until anything has come from the guest since the last time, or so many seconds have passed."""
        if not self._awake:
            self._waiter = self._loop.create_future()
            timer = self._loop.call_later(within_seconds, _settle, self._waiter) if within_seconds else None
            await self._waiter
            if timer is not None:
                timer.cancel()
        self._awake = False

    async def walled_in(self) -> None:
        """Wait until the guest says, from inside, that it is ready; only then it may be given a script."""
        while not self.pid or self._reaper_pidfd is None:
            if not self.pid and (pid := self._speaker(self.control, PREFIX.pack(Kind.READY, 0, 0, 0))):
                self.pid, self._pidfd = pid, os.pidfd_open(pid)
            if self._reaper_pidfd is None and (pid := self._speaker(self._reaper, HELLO)):
                self._reaper_pid, self._reaper_pidfd = pid, os.pidfd_open(pid)
            if not self.pid or self._reaper_pidfd is None:
                await self.something()

    def _speaker(self, end: socket.socket, expected: bytes) -> int:
        """The process that said `expected`, as the kernel knows it; 0 if it has not spoken yet."""
        try:
            said, more, _, _ = end.recvmsg(len(expected), socket.CMSG_SPACE(_CREDENTIALS.size))
        except BlockingIOError:
            return 0
        if said != expected or not more:
            why = self.read("stderr").decode(errors="replace").strip() or "it ended"
            raise JailUnavailable(f"a guest could not be walled in: {why}")
        end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        pid, _, _ = _CREDENTIALS.unpack(more[0][2][: _CREDENTIALS.size])
        return int(pid)

    def is_waiting(self) -> bool:
        """Whether nothing has come from it since it was walled in: not even its end."""
        return not self._awake and not self._edges.poll(0)

    def read(self, stream: str) -> bytes:
        """What was written to `stdout` or `stderr`; no bytes where there is nothing."""
        try:
            return os.read(self._pipes[stream], READ_BYTES)
        except BlockingIOError:
            return b""

    def read_control(self, most: int = READ_BYTES) -> bytes | None:
        """What has come; None where nothing has, and no bytes where the guest has closed its end."""
        try:
            return self.control.recv(most)
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""

    def report(self) -> Report | None:
        """How the guest ended, as its reaper saw it; None while it has not said so. LookupError: it never will."""
        try:
            said = self._reaper.recv(REPORT.size)
        except BlockingIOError:
            return None
        except ConnectionError:
            said = b""
        if len(said) != REPORT.size:
            raise LookupError("the reaper is gone")
        status, user, system, size = REPORT.unpack(said)
        return Report(status, user + system, size)

    def limit(self, limits: Limits) -> None:
        """Bound the whole tree, from now on; what it holds already does not count."""
        if self._looked_at:
            with suppress(OSError):  # it has just died, which is noticed elsewhere
                self._reaper.send(BEGIN)
        # The guest is no child of its reaper, but what it leaves behind is adopted there.
        self.bound.limit(limits, (self._reaper_pid, self.pid), self.kill)

    def usage(self) -> tuple[float | None, int | None]:
        """Seconds of processor time and the most bytes of memory that the tree has used, as far as the host can say."""
        cpu_seconds, memory_bytes = self.bound.usage()
        return (self._cpu_seconds() if cpu_seconds is None else round(cpu_seconds, 6)), memory_bytes

    def _cpu_seconds(self) -> float | None:
        """What the guest's process has spent so far; None where it is gone."""
        try:
            return round(time.clock_gettime((~self.pid << 3) | 2), 6)  # what clock_getcpuclockid(3) computes
        except OSError:
            return None

    def send(self, data: bytes) -> None:
        """All of `data`, as fast as the guest reads it. One that is gone is noticed elsewhere."""
        if not self._unsent:
            with suppress(BlockingIOError, ConnectionError):
                data = data[self.control.send(data) :]
            if not data:
                return
            self._loop.add_writer(self.control.fileno(), self._send_more)
        self._unsent.append(memoryview(data))

    def _send_more(self) -> None:
        try:
            while self._unsent:
                sent = self.control.send(self._unsent[0])
                self._unsent[0] = self._unsent[0][sent:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            return
        except ConnectionError:
            self._unsent.clear()
        self._loop.remove_writer(self.control.fileno())

    def kill(self) -> None:
        """End every process in the guest's jail."""
        if self._pidfd is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        # What the guest has started is its reaper's to end: a list of pids would race with fork().
        with suppress(OSError):
            self._reaper.shutdown(socket.SHUT_WR)

    def abandon(self) -> None:
        """Let go of it before it is walled in; its reaper ends when nobody holds the other end of its socket."""
        self._loop.remove_reader(self._edges.fileno())
        self._close()

    async def end(self) -> None:
        """Kill, and return when the last process of the jail is gone."""
        self.kill()
        self._loop.remove_reader(self._edges.fileno())
        self._loop.remove_writer(self.control.fileno())
        pidfds = [pidfd for pidfd in (self._reaper_pidfd, self._pidfd) if pidfd is not None]
        self._reaper_pidfd = self._pidfd = None
        for pidfd in pidfds:
            try:
                await self._gone(pidfd)
            finally:
                os.close(pidfd)
        self._close()

    async def _gone(self, pidfd: int) -> None:
        gone: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(pidfd, _settle, gone)
        try:
            await gone
        finally:
            self._loop.remove_reader(pidfd)

    def _close(self) -> None:
        self._edges.close()
        self.control.close()
        self._reaper.close()
        for fd in self._pipes.values():
            os.close(fd)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
