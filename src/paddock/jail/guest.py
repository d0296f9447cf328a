"""The host's side of one guest: its control socket and pipes, and how to end it."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from paddock import descriptors
from paddock.errors import EngineCrashed, JailUnavailable
from paddock.jail.doors import Door, open_door
from paddock.jail.limits import ResourceLimit
from paddock.jail.reaper import BEGIN, END, REST
from paddock.jail.walls import freezer, notices
from paddock.jail.walls.shortage import find_in
from paddock.jail.walls.watcher import Process, those_of, tree
from paddock.jail.wire import PREFIX, Kind
from paddock.jail.zygote import REPORT
from paddock.model.limits import Limits

Callback = Callable[[], None]


class Epoll:
    """One epoll object for the descriptors of many guests. The event loop watches this one descriptor.

    It is edge-triggered, because unread input must not wake the loop again and again.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._callbacks: dict[int, Callback] = {}
        self._users = 1
        self._loop.add_reader(self._epoll.fileno(), self.poll)

    def share(self) -> Epoll:
        """Add a user. The epoll object is closed when the last user has called `release`."""
        self._users += 1
        return self

    def release(self) -> None:
        self._users -= 1
        if not self._users:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()

    def register(self, fd: int, callback: Callback) -> None:
        """Call `callback` when input arrives or has arrived. Raises OSError at the kernel's limit on watches.

        That limit is per user, and a guest may have the host's uid and use it up.
        """
        self._epoll.register(fd, select.EPOLLIN | select.EPOLLET)
        self._callbacks[fd] = callback

    def unregister(self, fds: Iterable[int]) -> None:
        """Stop listening. Call this before closing: a file that another process has open too would stay registered."""
        for fd in fds:
            if self._callbacks.pop(fd, None) is not None:
                with suppress(OSError):
                    self._epoll.unregister(fd)

    def poll(self) -> None:
        """Handle what has arrived now, without waiting for the event loop."""
        for fd, _ in self._epoll.poll(0):
            callback = self._callbacks.get(fd)  # None: a callback of this round unregistered it
            try:
                if callback is not None:
                    callback()
            except Exception as problem:  # noqa: BLE001  an edge is reported once: one failure must not lose the others
                self._loop.call_exception_handler({"message": "input of a guest was not handled", "exception": problem})


Template = Literal["bare", "warm"]
"""What a guest is forked from: `bare` has the standard library, `warm` also the preloads of its environment."""
READ_BYTES = 64 * 1024
UNREAD_BYTES = 1024 * 1024
"""A guest that has left more than this unread is behind: see `is_behind`."""
ANSWERS_BYTES = 256 * 1024 * 1024
"""A guest that has left more than this unread gets no more answers. Artifacts that a run reads have the same limit."""
FREEZE_SECONDS, CHECK_SECONDS = 0.1, 8.0
"""How long after its last run a guest is frozen. The time until it is first checked, and the longest between checks."""
STOP_SECONDS, STOP_POLL_SECONDS = 0.1, 0.001
"""How long `wait_until_stopped` waits, and how often it looks."""
SHARED_CHECK_SECONDS = 1.0
"""The longest time between checks of a guest whose forks, or whose source, can continue its processes from a run."""
FROZEN_CPU_SECONDS, MAX_FREEZES = 0.1, 20
"""How much CPU time a frozen guest may use, and how often it is stopped again, before it is killed."""
POLL_SECONDS = 0.02
"""How often the end of a process is polled if it cannot be registered with the epoll object."""
_CREDENTIALS = struct.Struct("3i")
_REAPER_DIED = "the reaper of a guest died before the guest"


class Report(NamedTuple):
    """How a guest ended, as reported by its parent, the zygote."""

    status: int
    cpu_seconds: float


class Guest:
    """A walled-in process that waits for one script, runs it, and is killed."""

    def __init__(  # noqa: PLR0913  a value for each
        self,
        uid: int,
        template: Template,
        fds: list[int],
        resource_limit: ResourceLimit,
        epoll: Epoll,
        arrived: asyncio.Future[None],
        *,
        has_namespaces: bool = True,
        traced: bool = False,
        has_network: bool = False,
    ) -> None:
        control, self._report, out, error, self._reaper = fds
        self.uid = uid
        self.template = template
        self._has_namespaces = has_namespaces
        self._traced, self._has_network = traced, has_network
        self._trace: notices.Trace | None = None
        self.door: Door | None = None  # of a guest with a network: see `doors`
        self._pidfd: int | None = None  # of the guest itself, in profiles where its reaper's death does not kill it
        self.is_shared = False  # other guests were forked from it, and live in the same jail
        self._is_frozen = False
        self._freeze_timer: asyncio.TimerHandle | None = None
        self._frozen: Mapping[int, int] = {}  # its other processes, while it is frozen
        self._freezes, self._frozen_cpu_seconds = 0, 0.0  # how often it was stopped since `thaw`; what it had used then
        self._checked_cpu_seconds = 0.0  # what it had used when it was last stopped or checked
        self.is_restless = False  # it was killed because it went on while it was frozen
        self.resource_limit = resource_limit
        self._pipes = {"stdout": out, "stderr": error}
        self._watched = [control, self._report, out, error]
        for fd in self._watched:
            os.set_blocking(fd, False)
        self.pid = 0
        self.is_lost = False  # its zygote is gone
        self._loop = asyncio.get_running_loop()
        self._awake = False  # whether input has arrived since the last wait
        self._may_be_out_of_memory = False
        self._waiter = arrived  # settled at the next input
        self._unsent: deque[memoryview] = deque()
        self._unsent_bytes = 0
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._is_killed = self._has_lost_reaper = False
        self._listen(epoll)
        self._epoll = epoll.share()
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=control)

    @property
    def reaper(self) -> int:
        """The pidfd of its reaper."""
        return self._reaper

    @property
    def epoll(self) -> Epoll:
        return self._epoll

    def _listen(self, epoll: Epoll) -> None:
        """Register all descriptors with the epoll object. If one cannot be registered, raise OSError and keep none."""
        callbacks = dict.fromkeys(self._watched, self.wake) | {self._reaper: self._lose_reaper}
        if self.resource_limit.oom_fd is not None:
            callbacks[self.resource_limit.oom_fd] = self._note_out_of_memory
        self._watched = list(callbacks)
        try:
            for fd, callback in callbacks.items():
                epoll.register(fd, callback)
        except OSError:
            epoll.unregister(self._watched)
            raise

    def _note_out_of_memory(self) -> None:
        self._may_be_out_of_memory = True
        self.wake()

    def _kill_for_memory(self) -> None:
        self._may_be_out_of_memory = True
        self.kill()

    def is_out_of_memory(self) -> bool:
        """Whether a process was ended for lack of memory, so that the others must end too."""
        return self._may_be_out_of_memory and self.resource_limit.was_out_of_memory()

    def _lose_reaper(self) -> None:
        """Kill a guest whose reaper died first: nothing would limit its files or end its processes."""
        if not self._is_killed:
            self._has_lost_reaper = True
            self.kill()
        self.wake()

    def wake(self) -> None:
        """End a wait in `wait_for_input`."""
        self._awake = True
        _settle(self._waiter)

    async def wait_for_input(self, within_seconds: float | None = None) -> None:
        """Wait until input has arrived since the last call, or until the time has passed."""
        if not self._awake:
            self._waiter = self._loop.create_future()
            timer = self._loop.call_later(within_seconds, _settle, self._waiter) if within_seconds else None
            await self._waiter
            if timer is not None:
                timer.cancel()
        self._awake = False

    async def wait_until_ready(self) -> None:
        """Wait until the guest sends READY from inside its walls. Only then may it be given a script."""
        if self._traced or self._has_network:
            await self._receive_listener()
        self._awake = False  # input so far is read below
        while not (pid := self._ready_pid()):
            await self.wait_for_input()
        self.pid = pid
        if not self._has_namespaces:
            self.hold()
        if self._has_lost_reaper:
            raise EngineCrashed(_REAPER_DIED)

    async def _receive_listener(self) -> None:
        """Receive the listener of the guest's filter. Calls that the filter reports wait until the host has it."""
        with suppress(EOFError):  # the guest ended instead; `_ready_pid` finds out why
            while (received := notices.receive_listener(self.control)) is None:
                await self.wait_for_input()
            if self._has_network:
                self.door = open_door(received)
            else:
                self._trace = notices.Trace(*received)

    def _ready_pid(self) -> int:
        """The pid of the process that sent READY, according to the kernel; 0 if none has yet."""
        ready = PREFIX.pack(Kind.READY, 0, 0, 0)
        try:
            data, ancillary, _, _ = self.control.recvmsg(len(ready), socket.CMSG_SPACE(_CREDENTIALS.size))
        except BlockingIOError:
            return 0
        if data != ready or not ancillary:
            why = self.read("stderr").decode(errors="replace").strip()
            raise self._not_ready(why)
        self.control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        descriptors.accept_none(self.control)
        pid, _, _ = _CREDENTIALS.unpack(ancillary[0][2][: _CREDENTIALS.size])
        return int(pid)

    def _not_ready(self, why: str) -> Exception:
        """The error for a guest that ended before READY, and wrote `why` on its stderr."""
        if not why:  # a guest writes why, unless its zygote has died
            return EngineCrashed("a guest ended before it was walled in")
        why = ": ".join(filter(None, (why, find_in(why))))
        return JailUnavailable(f"a guest could not be walled in: {why}")

    def is_waiting(self) -> bool:
        """Whether the guest still waits for a script: it has not ended, and has sent nothing since READY."""
        self._epoll.poll()
        return not self._awake

    def read(self, stream: str) -> bytes:
        """Read what was written to `stdout` or `stderr`; empty if there is nothing, or the guest has ended."""
        if stream not in self._pipes:
            return b""
        try:
            return os.read(self._pipes[stream], READ_BYTES)
        except BlockingIOError:
            return b""

    def read_control(self) -> bytes | None:
        """Read from the control socket. Returns None if nothing has arrived, and b"" if the guest closed its end."""
        try:
            return self.control.recv(READ_BYTES)
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""

    def report(self) -> Report | None:
        """How the guest ended; None until then. Raises LookupError if its zygote is gone and cannot report."""
        try:
            data = os.read(self._report, REPORT.size)
        except BlockingIOError:
            return None
        except ConnectionError:
            data = b""
        if len(data) != REPORT.size:
            self.is_lost = True
            raise LookupError("the zygote is gone")
        report = Report(*REPORT.unpack(data))
        if self._has_lost_reaper and report.status == signal.SIGKILL:
            raise LookupError(_REAPER_DIED)  # `_lose_reaper` killed the guest
        return report

    def limit(self, limits: Limits, *, hold: bool = False) -> None:
        """Limit what the process tree may use beyond what it uses now. Raises HostError if that fails.

        With `hold`, the guest can be frozen.
        """
        if self._trace is not None:
            self._trace.begin()
        try:
            self._tell_reaper(BEGIN)
            # The guest is not a child of its reaper, but the reaper adopts the guest's orphans.
            self.resource_limit.limit(limits, self._roots, self._kill_for_memory)
            if hold:
                self.hold()
        except ProcessLookupError:
            raise EngineCrashed(_REAPER_DIED) from None
        except OSError as problem:  # in the host: no descriptor or thread is free
            why = ": ".join(filter(None, (str(problem), find_in(str(problem)))))
            raise JailUnavailable(f"a guest could not be limited: {why}") from None

    def _tell_reaper(self, number: signal.Signals) -> None:
        """Send a signal to a reaper that polls."""
        if not self._has_namespaces:
            signal.pidfd_send_signal(self._reaper, number)

    def hold(self) -> None:
        """Get ready to be used for more than one run: see `interrupt` and `has_ended`."""
        if self._pidfd is not None:
            return
        with suppress(ProcessLookupError):
            pidfd = os.pidfd_open(self.pid)
            # If the guest has ended, its pid may be another process's by now, and its end of the socket is closed: no
            # code of a script has run yet, except in a fork, that could have kept it open.
            if _has_closed(self.control):
                os.close(pidfd)
            else:
                self._pidfd = pidfd

    def has_ended(self) -> bool:
        """Whether the process of a guest that is held has ended."""
        return self._pidfd is None or _has_ended(self._pidfd)

    def interrupt(self) -> None:
        """Interrupt the script of a guest that is held, as Ctrl-C does."""
        if self._pidfd is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGINT)

    def freeze_soon(self) -> None:
        """Freeze the guest if it is not used again at once, because that would only delay its next run."""
        if not self._is_frozen:
            self._set_freeze_timer(FREEZE_SECONDS, self.freeze)

    def freeze(self) -> None:
        """Stop all processes of a guest that is held, until `thaw`. It can be killed as ever."""
        is_first, self._is_frozen = not self._is_frozen, True
        self._cancel_freeze_timer()
        self._freezes = 1 if is_first else self._freezes + 1
        if self._pidfd is None:
            return
        with suppress(OSError):  # it has died
            signal.pidfd_send_signal(self._pidfd, signal.SIGSTOP)
            self._frozen = freezer.stop(self._other_processes)
            if not self.is_shared:
                self.resource_limit.rest()
            self._checked_cpu_seconds = self._used_cpu_seconds()
            if is_first:
                self._frozen_cpu_seconds = self._checked_cpu_seconds
        self._check_frozen_in(FREEZE_SECONDS)

    async def wait_until_stopped(self) -> None:
        """Wait until all processes of a frozen guest have stopped, but not for long.

        One that is in fork(2) when it gets SIGSTOP starts another before it stops.
        """
        deadline = self._loop.time() + STOP_SECONDS
        with suppress(OSError):  # it has died, or no descriptor is free
            while not self._is_stopped() and self._loop.time() < deadline:
                await asyncio.sleep(STOP_POLL_SECONDS)
                self._frozen = freezer.stop(self._other_processes)

    def _is_stopped(self) -> bool:
        """Whether no process of a frozen guest was found running."""
        is_stopped = freezer.is_stopped((self.pid, *self._frozen))
        return is_stopped and self._other_processes().items() <= self._frozen.items()

    def _check_frozen_in(self, seconds: float) -> None:
        with suppress(OSError):
            self._tell_reaper(REST)
        self._set_freeze_timer(seconds, self._check_frozen, seconds)

    def _set_freeze_timer(self, seconds: float, act: Callable[..., None], *arguments: float) -> None:
        self._cancel_freeze_timer()
        self._freeze_timer = self._loop.call_later(seconds, act, *arguments)

    def _cancel_freeze_timer(self) -> None:
        if self._freeze_timer is not None:
            self._freeze_timer.cancel()
            self._freeze_timer = None

    def _check_frozen(self, seconds: float) -> None:
        """Stop again what others have continued meanwhile. Kill a guest that goes on nevertheless."""
        self._freeze_timer = None
        if self._ended.done() or self.has_ended():
            return
        try:
            # Processes that take turns may all be found stopped: one after another is looked at.
            before, self._checked_cpu_seconds = self._checked_cpu_seconds, self._used_cpu_seconds()
            used_seconds = self._checked_cpu_seconds - self._frozen_cpu_seconds
            is_stopped = self._checked_cpu_seconds == before and self._is_stopped()
        except OSError:  # no descriptor is free
            self._check_frozen_in(seconds)
            return
        if used_seconds > FROZEN_CPU_SECONDS or self._freezes > MAX_FREEZES:
            self.is_restless = True
            self.kill_own() if self.is_shared else self.kill()
        elif is_stopped:
            self._check_frozen_in(min(2 * seconds, SHARED_CHECK_SECONDS if self.is_shared else CHECK_SECONDS))
        else:
            self.freeze()

    def _roots(self) -> tuple[int, ...]:
        """The first processes of this guest, the longest-lived first."""
        # The reaper has adopted the orphans of this guest, but also its forks, which are guests of their own.
        return (self.pid,) if self.is_shared else (self.reaper_pid, self.pid)

    def _own_processes(self) -> dict[int, Process]:
        """The processes of this guest, without the reaper, which polls in some profiles."""
        found = those_of(self.resource_limit.processes())
        if not found:  # no control group lists them
            found = tree(*self._roots())
            if self.has_ended():  # its pid may be another's by now
                found = {} if self.is_shared else tree(self.reaper_pid)
        found.pop(self.reaper_pid, None)
        return found

    def _other_processes(self) -> dict[int, int]:
        """The processes of this guest except the first: the start of each by its pid."""
        return {pid: each.start for pid, each in self._own_processes().items() if pid != self.pid}

    def _used_cpu_seconds(self) -> float:
        if (counted := self.resource_limit.group_cpu_seconds()) is not None:
            return counted
        return sum(each.cpu_seconds for each in self._own_processes().values())

    def thaw(self) -> None:
        self._cancel_freeze_timer()
        if self._is_frozen and self._pidfd is not None:
            self._is_frozen = False
            with suppress(OSError):
                self._tell_reaper(BEGIN)
                self.resource_limit.resume()
                freezer.resume(self._frozen)
                signal.pidfd_send_signal(self._pidfd, signal.SIGCONT)

    def kill_own(self) -> None:
        """Kill only the processes of a guest that is held, not those of its forks in the same jail.

        Without a control group, orphans go on until the jail ends: nothing shows whose they were.
        """
        self._is_killed = True
        if self._pidfd is not None:
            self.resource_limit.prevent_forks()  # otherwise processes that fork and exit fast enough escape
            for number in (signal.SIGSTOP, signal.SIGKILL):  # its children become orphans when it has ended
                with suppress(OSError):
                    signal.pidfd_send_signal(self._pidfd, number)
                with suppress(OSError):
                    freezer.kill(self._other_processes)

    def renew(self, limits: Limits) -> None:
        """Apply the limits of the next run of a session, and count its use from now on."""
        self.resource_limit.renew(limits)

    def usage(self) -> tuple[float | None, int | None]:
        """CPU seconds and peak memory of the process tree; None for a value that is not known."""
        cpu_seconds, memory_bytes = self.resource_limit.usage()
        return (self._cpu_seconds() if cpu_seconds is None else round(cpu_seconds, 6)), memory_bytes

    def _cpu_seconds(self) -> float | None:
        """CPU seconds of the guest's own process so far; None if it is gone."""
        try:
            return round(time.clock_gettime((~self.pid << 3) | 2), 6)  # what clock_getcpuclockid(3) computes
        except OSError:
            return None

    def send(self, data: bytes) -> None:
        """Queue `data`, to be sent as fast as the guest reads. The death of the guest is noticed elsewhere."""
        if not self._unsent:
            with suppress(BlockingIOError, ConnectionError):
                data = data[self.control.send(data) :]
            if not data:
                return
            self._loop.add_writer(self.control.fileno(), self._send_more)
        self._unsent.append(memoryview(data))
        self._unsent_bytes += len(data)

    @property
    def is_behind(self) -> bool:
        """Whether the guest has left too much unread. Then stop reading from it, or answers pile up in the host."""
        return self._unsent_bytes > UNREAD_BYTES

    @property
    def has_full_queue(self) -> bool:
        """Whether it has left so much unread that an answer is not queued: the calls were read before it was behind."""
        return self._unsent_bytes > ANSWERS_BYTES

    def _send_more(self) -> None:
        try:
            while self._unsent:
                sent = self.control.send(self._unsent[0])
                self._unsent[0] = self._unsent[0][sent:]
                self._unsent_bytes -= sent
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            return
        except ConnectionError:
            self._unsent.clear()
            self._unsent_bytes = 0
        self._loop.remove_writer(self.control.fileno())
        self.wake()

    def kill(self) -> None:
        """Kill every process in the guest's jail. May be called repeatedly and from any thread."""
        self._is_killed = True
        # Killing a list of pids races with fork(); killing the first process of a pid namespace does not.
        with suppress(OSError):
            signal.pidfd_send_signal(self._reaper, signal.SIGKILL if self._has_namespaces else END)
        if self._pidfd is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def end(self) -> asyncio.Future[None]:
        """Kill the guest. Returns a future that is done when the last process of its jail is gone. Call this once.

        If the future has an exception, the end could not be observed, and the guest may still be alive.
        """
        self._loop.call_soon(self._end_step, self._begin_end)
        return self._ended

    def _end_step(self, step: Callable[[], None]) -> None:
        """Do one step of ending the guest. If it fails, the future of `end` gets the exception."""
        try:
            step()
        except Exception as problem:  # noqa: BLE001  the event loop would only log it
            if not self._ended.done():
                self._ended.set_exception(problem)
                self._close()

    def _begin_end(self) -> None:
        self._cancel_freeze_timer()
        self.kill()
        self._epoll.unregister(self._watched)
        if self._unsent:
            self._loop.remove_writer(self.control.fileno())
        self._await_end(self._processes())

    def _processes(self) -> list[int]:
        """The processes whose end is the end of the guest. A fork does not wait for the reaper of its family."""
        return [pidfd for pidfd in (self._pidfd, self._reaper) if pidfd is not None]

    def _await_end(self, pidfds: list[int]) -> None:
        """Wait until each of these processes has ended, from the last to the first; then close."""

        def gone() -> None:
            self._epoll.unregister([pidfds.pop()])
            self._end_step(lambda: self._await_end(pidfds))

        if pidfds:
            self._await_one(pidfds[-1], gone)
        elif self._trace is not None:
            finishing = self._loop.run_in_executor(None, self._trace.finish)
            finishing.add_done_callback(lambda _: self._end_step(self._close))
        else:
            self._close()

    def _await_one(self, pidfd: int, gone: Callable[[], None]) -> None:
        try:
            self._epoll.register(pidfd, gone)
        except OSError:  # the kernel's limit on watches is reached: poll
            if _has_ended(pidfd):
                gone()
            else:
                self._loop.call_later(POLL_SECONDS, self._end_step, lambda: self._await_one(pidfd, gone))

    @property
    def reaper_pid(self) -> int:
        """The pid of the reaper in the host's pid namespace."""
        with open(f"/proc/self/fdinfo/{self._reaper}") as described:  # noqa: PTH123
            return next(int(line.split()[1]) for line in described if line.startswith("Pid:"))

    def _close(self) -> None:
        self.resource_limit.stop()  # first: it may use descriptors whose numbers are about to be reused
        pidfds = [fd for fd in (self._reaper, self._pidfd) if fd is not None]
        self._epoll.unregister([*self._watched, *pidfds])
        self._pidfd = None
        self.control.close()
        if self.door is not None:
            self.door.close()
        for fd in (self._report, *self._pipes.values(), *pidfds):
            os.close(fd)
        self._pipes.clear()
        self._epoll.release()
        _settle(self._ended)


def _has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def _has_closed(end: socket.socket) -> bool:
    """Whether no process has the other end any longer."""
    poll = select.poll()
    poll.register(end, 0)
    return bool(poll.poll(0))


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
