"""Connections of guests that have a network policy: made by the host, outside the guest's walls.

A guest with a policy lives in a network namespace in which there is nothing to connect to (`walls/own_network`). Its
filter reports each `connect` to the host and never makes the call. The host reads the address once, from the guest's
memory, and decides. If the policy allows it, the host connects a socket of its own to that address, and puts it in the
place of the guest's socket. The guest asks a name server on its own `lo`, which the host answers: an address is allowed
because an allowed name was resolved to it in this run, or because the policy names it.

One thread serves all guests. What it does for a guest is bounded: calls and queries beyond a rate wait in the kernel.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import select
import socket
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from paddock.jail import dns
from paddock.jail.sock_diag import Connected, Counter
from paddock.jail.walls import seccomp
from paddock.jail.walls.allowed_calls import refusal
from paddock.jail.walls.own_network import NAME_SERVER
from paddock.jail.walls.syscalls import syscall
from paddock.model.network import Address, NetworkPolicy, normalize_name
from paddock.model.result import Connection

CONNECT_SECONDS = 30.0
"""How long a blocking connect may take. A non-blocking one takes as long as its caller waits."""
RESOLVE_SECONDS = 10.0
LOOKUPS, GUEST_LOOKUPS = 32, 4
"""How many names are resolved at the same time, for all guests and for one. Each takes a thread."""
MAX_NAMES, MAX_PENDING = 1000, 256
"""How many names a run may resolve, and how many calls and queries of a guest are in progress at the same time."""
BURST, PER_SECOND = 1000, 200
"""How many calls and queries of a guest are handled at once, and then in a second."""
COUNT_SECONDS = 0.25
"""How often the bytes of connections are counted."""
LAST_COUNTS, LAST_COUNT_SECONDS = 10, 0.005
ADDRESS_BYTES = 128  # of sockaddr_storage
COPIED_OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    (socket.SOL_SOCKET, socket.SO_OOBINLINE),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY),
    *((socket.IPPROTO_TCP, getattr(socket, f"TCP_{name}", 0)) for name in ("KEEPIDLE", "KEEPINTVL", "KEEPCNT")),
    (socket.IPPROTO_TCP, getattr(socket, "TCP_USER_TIMEOUT", 0)),
)
"""Those that libraries set before they connect."""
COPIED_STRUCTS = ((socket.SO_LINGER, 8), (socket.SO_RCVTIMEO, 16), (socket.SO_SNDTIMEO, 16))
_NETNS_COOKIE = 71  # SO_NETNS_COOKIE, Linux 5.14
_ESTABLISHED, _CONNECTING = 1, 2  # states of TCP

log = logging.getLogger("paddock.denied")


@dataclass(slots=True)
class NetworkRun:
    """What the network of one run is, and what the run has done with it. The supervisor's thread changes it."""

    policy: NetworkPolicy
    max_connections: int
    attempts: list[Attempt] = field(default_factory=list)
    names: dict[Address, set[str]] = field(default_factory=lambda: defaultdict(set))  # that were resolved to it
    resolved: dict[str, asyncio.Future[tuple[Address, ...]]] = field(default_factory=dict)
    denied: dict[str, None] = field(default_factory=dict)  # names and addresses, in order
    connections: int = 0
    live: dict[bytes, tuple[Connected, Attempt]] = field(default_factory=dict)  # connections, by their cookie

    @property
    def bytes(self) -> int:
        """What all its connections have transferred."""
        return sum(each.bytes or 0 for each in list(self.attempts))

    def deny(self, host: str, address: Address | None = None, port: int | None = None, outcome: str = "denied") -> None:
        """Record a refused attempt, the same one only once: a script may try in a loop."""
        key = f"{host or address}:{port or ''}"
        if len(self.denied) < MAX_NAMES and key not in self.denied:
            self.denied[key] = None
            self.attempts.append(Attempt(host, address, port, outcome))

    def name_of(self, address: Address) -> str:
        """The name that was resolved to this address, or the empty string."""
        return min(self.names.get(address, ()), default="")

    def connections_made(self) -> tuple[Connection, ...]:
        return tuple(each.to_connection() for each in list(self.attempts))


@dataclass(slots=True)
class Attempt:
    """One connection that a script tried to make."""

    host: str
    address: Address | None
    port: int | None
    outcome: str = "connecting"
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    bytes: int | None = None
    is_closing: bool = False  # the kernel no longer finds it, and has not told yet how much it transferred

    def end(self, outcome: str) -> None:
        self.outcome, self.seconds = outcome, time.monotonic() - self.began

    def to_connection(self) -> Connection:
        shown = None if self.address is None else str(self.address)
        return Connection(self.host or None, shown, self.port, self.bytes, round(self.seconds * 1000, 3), self.outcome)


class Supervisor:
    """The thread that serves the doors of all guests. It starts with the first door and ends with the last."""

    _lock = threading.Lock()
    _current: Supervisor | None = None

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.lookups = threading.BoundedSemaphore(LOOKUPS)
        self.users = 0
        self._counter: Counter | None = None
        self._counting = threading.Lock()
        self._counted: list[NetworkRun] = []  # runs with live connections
        with suppress(OSError):  # a kernel without it: bytes are not known
            self._counter = Counter()
        threading.Thread(target=self._serve, name="paddock-doors", daemon=True).start()

    def _serve(self) -> None:
        self.loop.call_soon(self._count_regularly)
        self.loop.run_forever()
        self.loop.close()
        if self._counter is not None:
            self._counter.close()

    def _count_regularly(self) -> None:
        self.count()
        self.loop.call_later(COUNT_SECONDS, self._count_regularly)

    def add_connection(self, run: NetworkRun, sock: socket.socket, attempt: Attempt) -> None:
        """Count the bytes of a connection from now on."""
        with suppress(OSError), self._counting:  # it may be closed already
            connected = Connected(sock)
            run.live[connected.cookie] = connected, attempt
            if run not in self._counted:
                self._counted.append(run)

    def count(self) -> None:
        """Count the bytes of all connections. May be called from any thread."""
        with self._counting:
            if self._counter is None or not self._counted:
                return
            closed = self._counter.closed()
            for run in self._counted:
                for cookie, (connected, attempt) in list(run.live.items()):
                    if cookie in closed:
                        attempt.bytes = closed[cookie]
                        del run.live[cookie]
                    elif (count := self._counter.count(connected)) is not None:
                        attempt.bytes = count
                    else:
                        attempt.is_closing = True

    def end_counting(self, run: NetworkRun) -> None:
        with self._counting:
            if run in self._counted:
                self._counted.remove(run)

    @classmethod
    def share(cls) -> Supervisor:
        with cls._lock:
            if cls._current is None:
                cls._current = Supervisor()
            cls._current.users += 1
            return cls._current

    def release(self) -> None:
        with self._lock:
            self.users -= 1
            if not self.users:
                Supervisor._current = None
                self.loop.call_soon_threadsafe(self.loop.stop)


class Refusal(Exception):
    """Why a connect fails: the errno that the guest gets."""

    def __init__(self, error: int) -> None:
        super().__init__(os.strerror(error))
        self.error = error


class Door:
    """Serves one guest. `begin` says what its next run may do; until then, and after `end`, everything is refused."""

    def __init__(self, listener: int, name_server: int) -> None:
        self._listener = listener
        self._names = socket.socket(fileno=name_server)
        self._cookie = _netns_cookie(self._names)
        self._run: NetworkRun | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._tokens, self._filled_at = float(BURST), time.monotonic()
        self._supervisor = Supervisor.share()
        self._loop = self._supervisor.loop
        self._lookups = asyncio.Semaphore(GUEST_LOOKUPS)
        self._is_closed = False
        self._loop.call_soon_threadsafe(self._listen)

    def begin(self, run: NetworkRun) -> None:
        self._run = run

    async def end(self, run: NetworkRun) -> tuple[Connection, ...]:
        """Refuse everything from now on, and return what the run has done."""
        if self._run is run:
            self._run = None
        for _ in range(LAST_COUNTS if run.live else 0):
            self._supervisor.count()
            if not any(attempt.is_closing for _, attempt in list(run.live.values())):
                break
            await asyncio.sleep(LAST_COUNT_SECONDS)  # the kernel tells about a closed connection a little later
        self._supervisor.end_counting(run)
        return run.connections_made()

    def close(self) -> None:
        """Stop serving. From now on the guest's connects fail with ENOSYS."""
        self._run = None
        self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        self._is_closed = True
        self._ignore()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            self._loop.create_task(self._close_after(set(self._tasks)))
        else:
            self._release()

    async def _close_after(self, tasks: set[asyncio.Task[None]]) -> None:
        await asyncio.wait(tasks)
        self._release()

    def _release(self) -> None:
        os.close(self._listener)
        self._names.close()
        self._supervisor.release()

    def _listen(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._listener, self._take, self._on_call)
            self._loop.add_reader(self._names, self._take, self._on_query)

    def _ignore(self) -> None:
        self._loop.remove_reader(self._listener)
        self._loop.remove_reader(self._names)

    def _take(self, handle: Callable[[], Coroutine[Any, Any, None] | None]) -> None:
        """Handle one call or query, if the guest has not had too many. Otherwise they wait in the kernel."""
        now = time.monotonic()
        self._tokens = min(BURST, self._tokens + (now - self._filled_at) * PER_SECOND)
        self._filled_at = now
        if self._tokens < 1 or len(self._tasks) >= MAX_PENDING:
            self._ignore()
            self._loop.call_later(0.05, self._listen)
            return
        work = handle()
        if work is not None:
            self._tokens -= 1
            task = self._loop.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _on_call(self) -> Coroutine[Any, Any, None] | None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        if not any(event & select.POLLIN for _, event in poll.poll(0)):  # the last process is gone; receive would block
            self._loop.remove_reader(self._listener)
            return None
        notice = seccomp.receive(self._listener)
        if notice is None:
            return None
        if notice.name in ("connect", "bind"):
            return self._answer(notice, self._connect if notice.name == "connect" else self._bind)
        if seccomp.respond(self._listener, notice, refusal(notice.name)) and self._run is not None:
            log.info("%s", seccomp.describe(seccomp.Denied.from_notice(notice)))
        return None

    async def _answer(self, notice: seccomp.Notice, make: Callable[[seccomp.Notice], Awaitable[int]]) -> None:
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
                seccomp.respond(self._listener, notice, error)

    async def _connect(self, notice: seccomp.Notice) -> int:
        """Connect as the guest asks. Returns 0 or EINPROGRESS."""
        number = notice.arguments[0] & 0xFFFF_FFFF
        asked, theirs, flags = self._read(notice, number)
        with theirs:
            is_inner = self._is_inner(theirs)
            if not is_inner and (state := _tcp_state(theirs)) in (_ESTABLISHED, _CONNECTING):
                raise Refusal(errno.EISCONN if state == _ESTABLISHED else errno.EALREADY)
            address, port = parse_sockaddr(asked, theirs.family)
            is_name_server = (str(address), port) == NAME_SERVER
            if theirs.type == socket.SOCK_DGRAM:
                if not (is_name_server and is_inner):
                    raise Refusal(errno.ENETUNREACH)
                theirs.connect(NAME_SERVER)  # in the guest's network, where the host answers
                return 0
            if is_name_server:
                return self._serve_stream(notice, number, flags)
            run, attempt = self._admit(address, port)
            ours = socket.socket(theirs.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            try:
                _copy_options(theirs, ours)
            except BaseException:
                ours.close()
                raise
        with ours:
            return await self._open(notice, number, flags, ours, run, attempt)

    async def _bind(self, notice: seccomp.Notice) -> int:
        """Bind to any port of `lo` in the guest's network: libraries find out in this way whether there is IPv6."""
        asked, theirs, _ = self._read(notice, notice.arguments[0] & 0xFFFF_FFFF)
        with theirs:
            address, port = parse_sockaddr(asked, theirs.family)
            if port or not (address.is_loopback or address.is_unspecified) or not self._is_inner(theirs):
                raise Refusal(errno.EACCES)
            theirs.bind((str(address), 0))
        return 0

    def _is_inner(self, theirs: socket.socket) -> bool:
        """Whether a socket of the guest is in the guest's network: not a connection that the host has put there."""
        return bool(self._cookie) and _netns_cookie(theirs) == self._cookie

    def _read(self, notice: seccomp.Notice, number: int) -> tuple[bytes, socket.socket, int]:
        """The address in the guest's memory, its socket, and the flags of its descriptor. Each is read once."""
        length = notice.arguments[2] & 0xFFFF_FFFF
        if not 2 <= length <= ADDRESS_BYTES:
            raise Refusal(errno.EINVAL)
        process, flags = _process_and_flags(notice.thread, number)
        memory = os.open(f"/proc/{notice.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            pidfd = os.pidfd_open(process)
            try:
                if not seccomp.is_waiting(self._listener, notice):  # the pid may have been another process's
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
        try:
            return asked, socket.socket(fileno=theirs), flags
        except OSError:
            os.close(theirs)
            raise Refusal(errno.ENOTSOCK) from None

    def _admit(self, address: Address, port: int) -> tuple[NetworkRun, Attempt]:
        """Record an attempt to connect. Raises Refusal if the policy does not allow it."""
        run = self._run
        if run is None:
            raise Refusal(errno.ECONNREFUSED)
        name = run.name_of(address)
        if not run.policy.allows(address, port, run.names.get(address, ()), is_own=_is_own(address)):
            run.deny(name, address, port)
            raise Refusal(errno.ECONNREFUSED)
        if run.connections >= run.max_connections:
            run.deny(name, address, port, "limit")
            raise Refusal(errno.ECONNREFUSED)
        run.connections += 1
        attempt = Attempt(name, address, port)
        run.attempts.append(attempt)
        return run, attempt

    async def _open(
        self, notice: seccomp.Notice, number: int, flags: int, ours: socket.socket, run: NetworkRun, attempt: Attempt
    ) -> int:
        """Connect our socket and put it in the place of the guest's."""
        error = ours.connect_ex((str(attempt.address), attempt.port))
        is_blocking = not flags & os.O_NONBLOCK
        if error == errno.EINPROGRESS and is_blocking:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._wait_writable(ours)
                error = ours.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            except TimeoutError:
                error = errno.ETIMEDOUT
        if error not in (0, errno.EINPROGRESS):
            attempt.end(_outcome(error))
            raise Refusal(error)
        ours.setblocking(is_blocking)
        seccomp.put(self._listener, notice, ours.fileno(), number, close_on_exec=bool(flags & os.O_CLOEXEC))
        if error == 0:
            attempt.end("connected")
            self._supervisor.add_connection(run, ours, attempt)
            return 0
        seccomp.respond(self._listener, notice, error)
        # Our copy must not outlive the attempt: as long as it is open, the guest's close sends no FIN. The error stays
        # in the socket, where the guest reads it.
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._wait_writable(ours)
            is_connected = _tcp_state(ours) == _ESTABLISHED
            attempt.end("connected" if is_connected else "failed")
            if is_connected:
                self._supervisor.add_connection(run, ours, attempt)
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

    def _serve_stream(self, notice: seccomp.Notice, number: int, flags: int) -> int:
        """Connect the guest's stream to the name server: a pair of sockets, so that nothing has to listen."""
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.setblocking(not flags & os.O_NONBLOCK)
            ours.setblocking(False)
            try:
                seccomp.put(self._listener, notice, theirs.fileno(), number, close_on_exec=bool(flags & os.O_CLOEXEC))
            except OSError:
                ours.close()
                raise
        task = self._loop.create_task(self._answer_stream(ours))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return 0

    async def _answer_stream(self, stream: socket.socket) -> None:
        with stream, suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            reader, writer = await asyncio.open_unix_connection(sock=stream, limit=dns.MESSAGE_BYTES)
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    size = int.from_bytes(await reader.readexactly(2))
                    query = dns.parse_query(await reader.readexactly(min(size, dns.MESSAGE_BYTES)))
                    answer = b"" if query is None else await self._resolve(query)
                    writer.write(len(answer).to_bytes(2) + answer)
                    await writer.drain()
            finally:
                writer.close()

    def _on_query(self) -> Coroutine[Any, Any, None] | None:
        try:
            data, sender = self._names.recvfrom(dns.MESSAGE_BYTES + 1)
        except OSError:
            return None
        query = dns.parse_query(data)
        return None if query is None else self._answer_query(query, sender)

    async def _answer_query(self, query: dns.Query, sender: tuple[str, int]) -> None:
        answer = await self._resolve(query)
        with suppress(OSError):
            self._names.sendto(answer, sender)

    async def _resolve(self, query: dns.Query) -> bytes:
        run, name = self._run, normalize_name(query.name)
        if run is None or name is None:
            return dns.make_answer(query, dns.NO_NAME)
        if not run.policy.allows_name(name):
            run.deny(name)
            return dns.make_answer(query, dns.NO_NAME)
        if name not in run.resolved:
            if len(run.resolved) >= MAX_NAMES:
                return dns.make_answer(query, dns.FAILED)
            run.resolved[name] = asyncio.ensure_future(self._look_up(run, name))
        try:
            found = await asyncio.shield(run.resolved[name])
        except (OSError, TimeoutError):
            run.resolved.pop(name, None)  # the next query tries again
            return dns.make_answer(query, dns.FAILED)
        return dns.make_answer(query, dns.NO_ERROR if found else dns.NO_NAME, found)

    async def _look_up(self, run: NetworkRun, name: str) -> tuple[Address, ...]:
        """The addresses of a name that the policy lets the guest reach. The guest may connect to them in this run."""
        async with self._lookups, asyncio.timeout(RESOLVE_SECONDS):
            while not self._supervisor.lookups.acquire(blocking=False):  # noqa: ASYNC110
                await asyncio.sleep(0.05)  # until a thread of another guest has ended
            future: asyncio.Future[list[Address]] = self._loop.create_future()
            threading.Thread(target=self._look_up_in_thread, args=(name, future), daemon=True).start()
            addresses = await future
        allowed = tuple(each for each in addresses if run.policy.may_reach(each))
        for address in allowed:
            run.names[address].add(name)
        if addresses and not allowed:
            run.deny(name, addresses[0])
        return allowed

    def _look_up_in_thread(self, name: str, future: asyncio.Future[list[Address]]) -> None:
        try:
            found: list[Address] | OSError = look_up(name)
        except OSError as problem:
            found = problem
        finally:
            self._supervisor.lookups.release()

        def settle() -> None:
            if future.done():
                return
            if isinstance(found, OSError):
                future.set_exception(found)
            else:
                future.set_result(found)

        with suppress(RuntimeError):  # the supervisor has ended meanwhile
            self._loop.call_soon_threadsafe(settle)


def look_up(name: str) -> list[Address]:
    """The addresses of a name, as this host resolves it; empty if there is no such name. Raises OSError."""
    try:
        # The final dot keeps the host's search domains out.
        found = socket.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except UnicodeError:
        return []
    except socket.gaierror as problem:
        if problem.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return []
        raise
    texts = dict.fromkeys(str(entry[4][0]) for entry in found)
    v4 = [each for text in texts if isinstance(each := ip_address(text), IPv4Address)]
    v6 = [each for text in texts if isinstance(each := ip_address(text), IPv6Address)]
    return [*v4[: dns.MAX_ADDRESSES], *v6[: dns.MAX_ADDRESSES]]


def _process_and_flags(thread: int, number: int) -> tuple[int, int]:
    """The process of a thread, and the flags of one of its descriptors."""
    try:
        with open(f"/proc/{thread}/status", "rb") as status:  # noqa: PTH123
            process = next(int(line.split()[1]) for line in status if line.startswith(b"Tgid:"))
        with open(f"/proc/{thread}/fdinfo/{number}", "rb") as info:  # noqa: PTH123
            return process, next(int(line.split()[1], 8) for line in info if line.startswith(b"flags:"))
    except (OSError, StopIteration):
        raise Refusal(errno.EBADF) from None


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
    """Whether an address is one of this machine: what is sent to it would come from it."""
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as trial:
        try:
            trial.connect((str(address), 9))
        except OSError:
            return False  # no route: the connect will fail
        return bool(ip_address(trial.getsockname()[0]) == address)


def _copy_options(theirs: socket.socket, ours: socket.socket) -> None:
    for level, option in COPIED_OPTIONS:
        with suppress(OSError):
            if (value := theirs.getsockopt(level, option)) != ours.getsockopt(level, option):
                ours.setsockopt(level, option, value)
    for option, size in COPIED_STRUCTS:
        with suppress(OSError):
            data = theirs.getsockopt(socket.SOL_SOCKET, option, size)
            if any(data):
                ours.setsockopt(socket.SOL_SOCKET, option, data)


def _netns_cookie(sock: socket.socket) -> bytes:
    try:
        return sock.getsockopt(socket.SOL_SOCKET, _NETNS_COOKIE, 8)
    except OSError:
        return b""  # a family that has none


def _tcp_state(sock: socket.socket) -> int:
    try:
        return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    except OSError:
        return 0


def _outcome(error: int) -> str:
    return {errno.ETIMEDOUT: "timeout", errno.ECONNREFUSED: "refused"}.get(error, "failed")
