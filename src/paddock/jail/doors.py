"""Connections of guests that have a network policy: made by the host, outside the guest's walls.

A guest with a policy lives in a network namespace in which there is nothing to connect to (`walls/own_network`). Its
filter reports each `connect` to the host and never makes the call. The host reads the address once, from the guest's
memory, and decides. If the policy allows it, the host connects a socket of its own to that address, and puts it in the
place of the guest's socket. The guest asks a name server on its own `lo`, which the host answers: an address is allowed
because an allowed name was resolved to it in this run, or because the policy names it.

One thread serves all guests. What it does for a guest is bounded: calls and queries beyond a rate wait in the kernel.
Whatever waits for the guest itself is done in other threads once it has taken long (`Supervisor.call`).
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import fcntl
import logging
import os
import select
import socket
import stat
import struct
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import cache, partial
from io import FileIO
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, TypeVar

from paddock import descriptors
from paddock.jail.name_server import NameServer
from paddock.jail.network_run import Attempt, NetworkRun
from paddock.jail.supervisor import Supervisor
from paddock.jail.walls import notices
from paddock.jail.walls.allowed_calls import refusal
from paddock.jail.walls.own_network import NAME_SERVER
from paddock.jail.walls.syscalls import syscall
from paddock.model.network import Address, is_public
from paddock.model.result import Connection

CONNECT_SECONDS = 30.0
"""How long a blocking connect may take. A non-blocking one takes as long as its caller waits."""
MAX_PENDING = 256
"""How many calls and queries of a guest are in progress at the same time.

Each may hold a descriptor of this process. All guests together get an eighth of them, one guest a quarter of that."""
OWN_PENDING = 4
"""How many of them a guest can always have, whatever the others do."""
BURST, PER_SECOND = 1000, 200
"""How many calls and queries of a guest are handled at once, and then in a second."""
MAX_SOCKETS = 256
"""A guest whose own network has so many sockets gets no more for UDP."""
LAST_COUNTS, LAST_COUNT_SECONDS = 10, 0.005
ADDRESS_BYTES = 128  # of sockaddr_storage
_TCP = socket.IPPROTO_TCP
OPTIONS = ((socket.SOL_SOCKET, socket.SO_OOBINLINE), (_TCP, socket.TCP_NODELAY))
KEEPALIVE_OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    *((_TCP, getattr(socket, f"TCP_{name}", 0)) for name in ("KEEPIDLE", "KEEPINTVL", "KEEPCNT")),
)
SMALL_BUFFERS = ((socket.SO_RCVBUF, 96 * 1024), (socket.SO_SNDBUF, 48 * 1024))
"""Of connections beyond those whose usual buffers fit in the run's memory limit. The kernel doubles these sizes.

Nothing else limits what a guest leaves unread: the kernel counts the buffers for whoever made a socket, the host."""
TIMEOUTS = ((socket.SO_RCVTIMEO, 16), (socket.SO_SNDTIMEO, 16))
_DOMAIN, _NETNS_COOKIE = 39, 71  # SO_DOMAIN; SO_NETNS_COOKIE, Linux 5.14
_ESTABLISHED, _CONNECTING = 1, 2  # states of TCP
_NEW_ROUTE, _GET_ROUTE, _REQUEST, _DESTINATION = 24, 26, 1, 1  # of rtnetlink
_OWN_ROUTES = (2, 4)  # RTN_LOCAL, RTN_ANYCAST
_ACKNOWLEDGED = 120  # tcpi_bytes_acked in tcp_info; the SYN is one

T = TypeVar("T")

log = logging.getLogger("paddock.denied")
faults = logging.getLogger("paddock.jail")


class Refusal(Exception):
    """Why a connect fails: the errno that the guest gets."""

    def __init__(self, error: int) -> None:
        super().__init__(os.strerror(error))
        self.error = error


class Door:
    """Serves one guest. `begin` says what its next run may do; until then, and after `end`, everything is refused."""

    def __init__(self, listener: int, name_server: int) -> None:
        self._listener = listener
        self._tasks: set[asyncio.Task[None]] = set()
        self._tokens, self._filled_at = float(BURST), time.monotonic()
        self._supervisor = Supervisor.share()
        self._loop = self._supervisor.loop
        self._names = NameServer(name_server, self._loop)
        self._cookie = _netns_cookie(self._names.socket.fileno())
        self._last_run: NetworkRun | None = None  # of a session
        self._turn = asyncio.Lock()  # one thread at a time waits for this guest
        self._is_closed = False
        notices.wake_on_same_cpu(listener)
        self._loop.call_soon_threadsafe(self._listen)

    def begin(self, run: NetworkRun) -> None:
        self._supervisor.begin_counting(run, self._last_run)
        self._names.run = self._last_run = run

    def refuse(self) -> None:
        """Refuse everything until the next `begin`."""
        self._names.run = None

    async def end(self, run: NetworkRun) -> tuple[Connection, ...]:
        """Refuse everything from now on, and return what the run has done."""
        self.refuse()
        for _ in range(LAST_COUNTS if run.live else 0):
            await asyncio.to_thread(self._supervisor.count, run)
            if not any(attempt.checks_lost for _, attempt in list(run.live.values())):
                break
            await asyncio.sleep(LAST_COUNT_SECONDS)  # the kernel reports a closed connection a little later
        self._supervisor.end_counting(run)
        return run.connections_made()

    def close(self) -> None:
        """Stop serving. From now on the guest's connects fail with ENOSYS."""
        self.refuse()
        if self._last_run is not None:
            self._supervisor.forget(self._last_run)
        self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        self._is_closed = True
        self._ignore()
        self._loop.create_task(self._end_tasks({*self._tasks, *self._names.lookups}))

    async def _end_tasks(self, tasks: set[asyncio.Task[Any]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        os.close(self._listener)
        self._names.socket.close()
        self._supervisor.release()

    def _listen(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._listener, self._take, self._on_call)
            self._loop.add_reader(self._names.socket, self._take, self._names.receive)

    def _ignore(self) -> None:
        self._loop.remove_reader(self._listener)
        self._loop.remove_reader(self._names.socket)

    def _take(self, handle: Callable[[], Coroutine[Any, Any, None] | None]) -> None:
        """Handle one call or query, if the guest has not had too many. Otherwise they wait in the kernel."""
        now = time.monotonic()
        self._tokens = min(BURST, self._tokens + (now - self._filled_at) * PER_SECOND)
        self._filled_at = now
        supervisor = self._supervisor
        own, most = len(self._tasks), min(MAX_PENDING, supervisor.max_pending // 4)
        is_full = own >= OWN_PENDING and (own >= most or supervisor.pending >= supervisor.max_pending)
        if self._tokens < 1 or is_full:
            self._ignore()
            self._loop.call_later(0.05, self._listen)
            return
        self._tokens -= 1
        work = handle()
        if work is not None:
            self._start(work)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            self._supervisor.pending -= 1
            if not task.cancelled() and (problem := task.exception()) is not None:
                faults.error("a connection of a guest was refused: %s", problem, exc_info=problem)

        task = self._loop.create_task(work)
        self._tasks.add(task)
        self._supervisor.pending += 1
        task.add_done_callback(ended)

    def _on_call(self) -> Coroutine[Any, Any, None] | None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        if not any(event & select.POLLIN for _, event in poll.poll(0)):  # the last process is gone; receive would block
            self._loop.remove_reader(self._listener)
            return None
        notice = notices.receive(self._listener)
        if notice is None:
            return None
        if make := {"connect": self._connect, "bind": self._bind, "socket": self._socket}.get(notice.name or ""):
            return self._answer(notice, make)
        if notices.respond(self._listener, notice, refusal(notice.name)) and self._names.run is not None:
            log.info("%s", notices.describe(notices.Denied.from_notice(notice)))
        return None

    async def _answer(self, notice: notices.Notice, make: Callable[[notices.Notice], Awaitable[int]]) -> None:
        """Answer a call with what `make` returns, and whatever happens there."""
        error = errno.ECONNREFUSED
        try:
            error = await make(notice)
        except Refusal as refused:
            error = refused.error
        except OSError as problem:  # the guest is gone or has closed the descriptor, or the host has none left
            error = errno.EBADF if problem.errno == errno.EBADF else errno.ECONNREFUSED
        finally:
            with suppress(OSError):
                notices.respond(self._listener, notice, error)

    async def _connect(self, notice: notices.Notice) -> int:
        """Connect as the guest asks. Returns 0 or EINPROGRESS."""
        number = notice.arguments[0] & 0xFFFF_FFFF
        asked, theirs, flags = await self._wait_for_guest(partial(self._read, notice, number))
        with theirs:
            fd = theirs.fileno()
            is_inner = self._is_inner(fd)
            if not is_inner:
                state = await self._wait_for_guest(partial(_tcp_state, fd))
                if state in (_ESTABLISHED, _CONNECTING):
                    raise Refusal(errno.EISCONN if state == _ESTABLISHED else errno.EALREADY)
            family = _number_option(fd, _DOMAIN)
            address, port = parse_sockaddr(asked, family)
            is_name_server = (str(address), port) == NAME_SERVER
            if _number_option(fd, socket.SO_TYPE) == socket.SOCK_DGRAM:
                if not (is_name_server and is_inner):
                    raise Refusal(errno.ENETUNREACH)
                # In the guest's network, where the host answers.
                await self._wait_for_guest(partial(syscall, "connect", fd, asked, len(asked)))
                return 0
            if is_name_server:
                return await self._serve_stream(notice, number, flags)
            run, attempt = self._admit(address, port)
            ours = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            try:
                _copy_options(fd, ours)
                if (run.connections + len(run.kept)) * _usual_buffer_bytes() > run.memory_bytes:
                    for option, size in SMALL_BUFFERS:
                        ours.setsockopt(socket.SOL_SOCKET, option, size)
            except BaseException:
                ours.close()
                raise
        with ours:
            return await self._open(notice, number, flags, ours, run, attempt)

    async def _bind(self, notice: notices.Notice) -> int:
        """Bind to any port of `lo` in the guest's network: libraries find out in this way whether there is IPv6."""
        number = notice.arguments[0] & 0xFFFF_FFFF
        asked, theirs, _ = await self._wait_for_guest(partial(self._read, notice, number))
        with theirs:
            fd = theirs.fileno()
            address, port = parse_sockaddr(asked, _number_option(fd, _DOMAIN))
            if port or not (address.is_loopback or address.is_unspecified) or not self._is_inner(fd):
                raise Refusal(errno.EACCES)
            await self._wait_for_guest(partial(syscall, "bind", fd, asked, len(asked)))
        return 0

    async def _socket(self, notice: notices.Notice) -> int:
        """Let the guest make a UDP socket, if its network has few sockets.

        The kernel counts for nobody what waits in a UDP socket: 350 KB at most.
        """
        if _count_sockets(notice.thread) >= MAX_SOCKETS:
            raise Refusal(errno.EMFILE)
        if notices.is_waiting(self._listener, notice):  # the pid was not another process's
            notices.go_on(self._listener, notice)
        return 0

    async def _wait_for_guest(self, function: Callable[[], T]) -> T:
        async with self._turn:
            return await self._supervisor.call(function)

    def _is_inner(self, theirs: int) -> bool:
        """Whether a socket of the guest is in the guest's network: not a connection that the host has put there."""
        return bool(self._cookie) and _netns_cookie(theirs) == self._cookie

    def _read(self, notice: notices.Notice, number: int) -> tuple[bytes, FileIO, int]:
        """The address in the guest's memory, its socket, and the flags of that. Each is read once.

        Not a socket object: Python makes one with calls that wait for the guest while no other thread can run. Nothing
        is read from fdinfo: of a descriptor that is no socket, it can take the kernel seconds to write.
        """
        length = notice.arguments[2] & 0xFFFF_FFFF
        if not 2 <= length <= ADDRESS_BYTES:
            raise Refusal(errno.EINVAL)
        memory = os.open(f"/proc/{notice.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            pidfd = _open_thread(notice.thread)
            try:
                if not notices.is_waiting(self._listener, notice):  # the pid may have been another process's
                    raise Refusal(errno.EINTR)
                try:
                    asked = os.pread(memory, length, notice.arguments[1])
                except (OSError, OverflowError):
                    asked = b""
                if len(asked) != length:
                    raise Refusal(errno.EFAULT)
                theirs = syscall("pidfd_getfd", pidfd, number, 0)
            finally:
                os.close(pidfd)
        finally:
            os.close(memory)
        if not stat.S_ISSOCK(os.fstat(theirs).st_mode):
            os.close(theirs)
            raise Refusal(errno.ENOTSOCK)
        return asked, FileIO(theirs), fcntl.fcntl(theirs, fcntl.F_GETFL)

    def _admit(self, address: Address, port: int) -> tuple[NetworkRun, Attempt]:
        """Record an attempt to connect. Raises Refusal if the policy does not allow it."""
        run = self._names.run
        if run is None:
            raise Refusal(errno.ECONNREFUSED)
        name = run.name_of(address)
        is_own = is_public(address) and _is_own(address)
        if not run.policy.allows(address, port, run.names.get(address, ()), is_own=is_own):
            run.deny(name, address, port)
            raise Refusal(errno.ECONNREFUSED)
        if run.connections + len(run.kept) >= run.max_connections:
            run.deny(name, address, port, "limit")
            raise Refusal(errno.ECONNREFUSED)
        run.connections += 1
        attempt = Attempt(name, address, port)
        run.attempts.append(attempt)
        return run, attempt

    async def _open(
        self, notice: notices.Notice, number: int, flags: int, ours: socket.socket, run: NetworkRun, attempt: Attempt
    ) -> int:
        """Connect our socket and put it in the place of the guest's."""
        error = ours.connect_ex((str(attempt.address), attempt.port))
        is_blocking = not flags & os.O_NONBLOCK
        if error == errno.EINPROGRESS and _tcp_state(ours.fileno()) == _ESTABLISHED:
            error = 0  # on the same machine, it is connected by now
        if error == errno.EINPROGRESS and is_blocking:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._wait_writable(ours)
                error = ours.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            except TimeoutError:
                error = errno.ETIMEDOUT
        if error not in (0, errno.EINPROGRESS):
            attempt.end({errno.ETIMEDOUT: "timeout", errno.ECONNREFUSED: "refused"}.get(error, "failed"))
            raise Refusal(error)
        ours.setblocking(is_blocking)
        if not self._supervisor.add_connection(run, ours, attempt):
            raise Refusal(errno.ECONNREFUSED)
        await self._put(notice, ours, number)
        if error == 0:
            attempt.end("connected")  # before the guest goes on: its run may end at once
        notices.respond(self._listener, notice, error)
        if error == 0:
            return 0
        # Our copy must not outlive the attempt: as long as it is open, the guest's close sends no FIN. The error stays
        # in the socket, where the guest reads it.
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._wait_writable(ours)
            was_connected = await self._wait_for_guest(partial(_was_connected, ours.fileno()))
            attempt.end("connected" if was_connected else "failed")
        except TimeoutError:
            attempt.end("timeout")
        return error

    async def _wait_writable(self, ours: socket.socket) -> None:
        ready = self._loop.create_future()

        def settle() -> None:
            if not ready.done():
                ready.set_result(None)

        self._loop.add_writer(ours, settle)
        try:
            await ready
        finally:
            self._loop.remove_writer(ours)

    async def _put(self, notice: notices.Notice, sock: socket.socket, number: int) -> None:
        """Put a socket in the place of the guest's. The guest's own thread does that, when it gets the processor."""
        await self._wait_for_guest(partial(notices.put, self._listener, notice, sock.fileno(), number))

    async def _serve_stream(self, notice: notices.Notice, number: int, flags: int) -> int:
        """Connect the guest's stream to the name server: a pair of sockets, so that nothing has to listen."""
        ours, theirs = socket.socketpair()
        with theirs:
            descriptors.accept_none(ours)
            theirs.setblocking(not flags & os.O_NONBLOCK)
            ours.setblocking(False)
            try:
                await self._put(notice, theirs, number)
            except BaseException:
                ours.close()
                raise
        self._start(self._names.serve(ours))
        return 0


def open_door(received: list[int]) -> Door:
    """The door of a guest that has sent these descriptors. They are closed if that fails. Raises OSError."""
    try:
        listener, name_server = received
        return Door(listener, name_server)
    except BaseException as problem:
        for fd in received:
            with suppress(OSError):
                os.close(fd)
        if len(received) < 2:  # there was room for only one of them
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from problem
        raise


def _count_sockets(thread: int) -> int:
    """The number of sockets in the network of this thread."""
    return int(Path(f"/proc/{thread}/net/sockstat").read_text().split(None, 3)[2])  # sockets: used N


def _open_thread(thread: int) -> int:
    """A pidfd through which the descriptors of a thread can be taken: all threads of a process share them."""
    try:
        return os.pidfd_open(thread, os.O_EXCL)  # PIDFD_THREAD, Linux 6.9
    except OSError as problem:
        if problem.errno != errno.EINVAL:
            raise
    with open(f"/proc/{thread}/status", "rb") as status:  # noqa: PTH123
        return os.pidfd_open(next(int(line.split()[1]) for line in status if line.startswith(b"Tgid:")))


def parse_sockaddr(asked: bytes, family: int) -> tuple[Address, int]:
    """The address and port of a sockaddr for a socket of this family."""
    if int.from_bytes(asked[:2], sys.byteorder) != family or family not in (socket.AF_INET, socket.AF_INET6):
        raise Refusal(errno.EAFNOSUPPORT)
    if family == socket.AF_INET and len(asked) >= 16:
        return IPv4Address(asked[4:8]), int.from_bytes(asked[2:4])
    if family == socket.AF_INET6 and len(asked) >= 24:
        return IPv6Address(asked[8:24]), int.from_bytes(asked[2:4])
    raise Refusal(errno.EINVAL)


def _is_own(address: Address) -> bool:
    """Whether what is sent to an address stays on this machine, as the kernel's routes say. Raises OSError."""
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    to = address.packed
    asked = struct.pack("=BB10xHH", family, len(to) * 8, 4 + len(to), _DESTINATION) + to
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) as kernel:
        kernel.send(struct.pack("=IHHII", 16 + len(asked), _GET_ROUTE, _REQUEST, 0, 0) + asked)
        answer = kernel.recv(4096)
    is_route = answer[4:6] == struct.pack("=H", _NEW_ROUTE)
    return is_route and answer[23] in _OWN_ROUTES  # without a route, the connect will fail


def _option(fd: int, level: int, option: int, size: int = 4) -> bytes:
    """An option of a socket. Raises OSError.

    The kernel may wait until the guest no longer uses the socket. Python's `getsockopt` would keep all other threads
    from running meanwhile.
    """
    value, length = ctypes.create_string_buffer(size), ctypes.create_string_buffer(struct.pack("=I", size), 4)
    syscall("getsockopt", fd, level, option, value, length)
    return value.raw


def _number_option(fd: int, option: int) -> int:
    return int.from_bytes(_option(fd, socket.SOL_SOCKET, option), sys.byteorder)


def _copy_options(theirs: int, ours: socket.socket) -> None:
    """Copy the options that libraries set before they connect. Those left out, or 0, have their defaults."""
    with suppress(OSError):
        keeps_alive = _number_option(theirs, socket.SO_KEEPALIVE)
        for level, option in (*OPTIONS, *(KEEPALIVE_OPTIONS if keeps_alive else ())):
            if any(value := _option(theirs, level, option)):
                ours.setsockopt(level, option, value)
        for option, size in TIMEOUTS:
            if any(data := _option(theirs, socket.SOL_SOCKET, option, size)):
                ours.setsockopt(socket.SOL_SOCKET, option, data)


@cache
def _usual_buffer_bytes() -> int:
    """How far the kernel enlarges the buffers of one connection."""
    try:
        limits = [Path(f"/proc/sys/net/ipv4/tcp_{name}").read_text() for name in ("rmem", "wmem")]
        return sum(int(each.split()[2]) for each in limits)
    except (OSError, ValueError, IndexError):
        return 10 * 1024 * 1024


def _netns_cookie(fd: int) -> bytes:
    try:
        return _option(fd, socket.SOL_SOCKET, _NETNS_COOKIE, 8)
    except OSError:
        return b""  # a family that has none


def _tcp_state(fd: int) -> int:
    try:
        return _option(fd, socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    except OSError:
        return 0


def _was_connected(fd: int) -> bool:
    """Whether the peer has answered, even if either side has closed the connection since."""
    return any(_option(fd, socket.IPPROTO_TCP, socket.TCP_INFO, 128)[_ACKNOWLEDGED:])
