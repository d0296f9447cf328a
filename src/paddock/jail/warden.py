"""The first process inside: small, without preloads. It starts the zygotes, and a reaper for each guest.

The cost of fork() and exit() grows with the memory of the process, so reapers are forked from the warden and not from
a zygote. A zygote joins the namespace of a reaper and forks the guest into it.

The first zygote is there from the start, and the warden ends with it. The warm one, which has preloads that not every
script needs, is started when the host asks for it, and may fail or end without any other guest being harmed.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from paddock.jail import zygote
from paddock.jail.walls.syscalls import ProcessName
from paddock.jail.zygote import Order, Spec, decode_command

MESSAGE_BYTES = 64 * 1024
MOST_DOORS = 8
PROFILES = {
    "namespaces": ("paddock.jail.profile_namespaces", "NamespacesProfile"),
    "chroot": ("paddock.jail.profile_chroot", "ChrootProfile"),
    "confined": ("paddock.jail.profile_confined", "ConfinedProfile"),
}


class Profile(Protocol):
    """A profile at work: it walls in the warden once, each reaper, and each guest before it reads a byte."""

    def enter(self, host: socket.socket) -> None:
        """Called once. Returns in the process that is to be the warden."""
        ...

    def start_reaper(self, order: Order, report: int) -> int:
        """Called in the warden. Start the first process of a guest's jail, whose end ends all others; its pid.

        It may report to the host through `report` how the guest ended, before the zygote does.
        """
        ...

    def reaper_ended(self, pid: int) -> None: ...

    def give_up(self, pid: int) -> None:
        """Called in the warden. End a reaper, and whatever is in its jail."""
        ...

    def join(self, reaper_pidfd: int) -> None:
        """Called in the zygote. The next process that it forks is in the jail of this reaper."""
        ...

    def wall_in(self, order: Order, keep: int) -> None:
        """Called in the guest. Afterwards no descriptor is open but 0, 1, 2 and `keep`."""
        ...


def main(control_fd: int) -> None:
    """Serve until the host closes the socket."""
    ProcessName("paddock-warden").take()
    host = socket.socket(fileno=control_fd)
    spec = Spec.from_bytes(host.recv(MESSAGE_BYTES))
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")  # the kernel kills guests before the host; one at -1000 would never be killed
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # a shell may have started us with some of them ignored
    try:
        module, _, name = spec.runtime.partition(":")
        loaded = importlib.import_module(module)  # our own files are not in the new root
        if spec.program:
            loaded.become(spec.program)
        profile = _profile(spec)
        sys.dont_write_bytecode = True  # what is imported from here on is not ours
        proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # the new root may have none
        _enter(profile, host)
        proc = _own_proc(proc)
        warden = Warden(spec, profile, getattr(loaded, name), getattr(loaded, "warm_up", None), host, proc)
        warden.start_first()
    except NoWalls as problem:
        host.send(json.dumps({"no_walls": str(problem)}).encode())
        os._exit(1)
    except Exception as problem:
        host.send(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}).encode())
        raise
    host.send(json.dumps({"serving": os.getpid()}).encode())
    warden.serve()


class Reaper(NamedTuple):
    """The reaper of one guest."""

    pid: int
    number: int
    warm: bool


class Warden:
    """Serves the host: zygotes, and a reaper with a guest for each order."""

    def __init__(
        self,
        spec: Spec,
        profile: Profile,
        runtime: zygote.Runtime,
        warm_up: zygote.WarmUp | None,
        host: socket.socket,
        proc: int,
    ) -> None:
        self._spec = spec
        self._profile = profile
        self._runtime, self._warm_up = runtime, warm_up
        self._host = host
        self._proc = proc
        self._first: socket.socket | None = None
        self._warm: socket.socket | None = None
        self._warm_number = 0  # by which the host knows the warm zygote
        self._reapers: dict[int, Reaper] = {}  # by pidfd
        self._poll = select.poll()

    def start_first(self) -> None:
        """Start the first zygote and wait until it has loaded. RuntimeError: it has not."""
        self._first = self._start_zygote(self._spec.preload)
        said = json.loads(self._first.recv(MESSAGE_BYTES) or b'{"failed": "the zygote ended while it loaded"}')
        if "failed" in said:
            raise RuntimeError(said["failed"])
        self._poll.register(self._host, select.POLLIN)
        self._poll.register(self._first, select.POLLIN)

    def _start_zygote(self, preload: tuple[str, ...]) -> socket.socket:
        """Fork a zygote. On the returned socket it says first whether it could load; then it takes orders."""
        orders, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            try:
                orders.close()
                self._let_go()
                zygote.serve(its, preload, self._profile, self._runtime, self._warm_up, self._proc)
            except BaseException:  # noqa: BLE001  the traceback goes to the host's stderr
                traceback.print_exc()
            finally:
                os._exit(1)
        its.close()
        return orders

    def _let_go(self) -> None:
        """Close what only the warden needs. A zygote with the order socket of another would keep that one alive."""
        self._host.close()
        if self._first is not None:
            self._first.close()
        for pidfd in self._reapers:
            os.close(pidfd)

    def serve(self) -> None:
        """Never returns: ends with the host, or with the first zygote."""
        while True:
            for fd, _ in self._poll.poll():
                if self._first is not None and fd == self._first.fileno():
                    os._exit(1)  # the kernel or the reapers kill everything else
                if fd == self._host.fileno():
                    self._hear_host()
                elif self._warm is not None and fd == self._warm.fileno():
                    self._hear_warm(self._warm)
                elif fd in self._reapers:
                    self._poll.unregister(fd)
                    os.close(fd)
                    self._profile.reaper_ended(self._reapers.pop(fd).pid)

    def _tell(self, **values: object) -> None:
        self._host.send(json.dumps(values).encode())

    def _hear_host(self) -> None:
        message, doors, flags, _ = socket.recv_fds(self._host, MESSAGE_BYTES, MOST_DOORS)
        if not message:
            os._exit(0)
        if (command := decode_command(message)) is None:
            self._make(Order.from_bytes(message), doors, flags)
        elif "dismiss" in command:
            self._give_up(lambda reaper: reaper.number == command["dismiss"])
        elif "load" in command:
            self._load(command["load"])
        elif self._warm is not None and command["unload"] == self._warm_number:
            self._end_warm(self._warm)

    def _load(self, number: int) -> None:
        """Start the warm zygote. It says later whether it could load."""
        if self._warm is not None:
            self._end_warm(self._warm)
        self._warm_number = number
        try:
            self._warm = self._start_zygote(self._spec.warm)
            self._poll.register(self._warm, select.POLLIN)
        except OSError as problem:
            self._tell(lost=number, why=str(problem))

    def _hear_warm(self, warm: socket.socket) -> None:
        try:
            data = warm.recv(MESSAGE_BYTES)
        except ConnectionError:  # it died with orders that it had not read
            data = b""
        said = json.loads(data or b'{"failed": "it has died"}')
        if "failed" in said:
            self._tell(lost=self._warm_number, why=said["failed"])
            self._end_warm(warm)
        else:
            self._tell(loaded=self._warm_number)

    def _end_warm(self, warm: socket.socket) -> None:
        """End the warm zygote and its guests, whose ends nobody would report any more."""
        self._poll.unregister(warm)
        warm.close()  # it ends when it sees this
        self._warm = None
        self._give_up(lambda reaper: reaper.warm)

    def _give_up(self, which: Callable[[Reaper], bool]) -> None:
        for reaper in self._reapers.values():
            if which(reaper):
                with suppress(ProcessLookupError):
                    self._profile.give_up(reaper.pid)

    def _make(self, order: Order, doors: list[int], flags: int) -> None:
        orders = self._warm if order.warm else self._first
        try:
            _require_all(doors, flags)
            if orders is None:
                for door in doors:
                    os.close(door)
                self._tell(unmade=order.number, lost=True, why="the zygote has died")
                return
            reaper, pidfd = _make(order, doors, self._host, orders, self._profile)
        except OSError as problem:  # only this guest fails: no descriptor, no process, no room on the disk
            self._tell(unmade=order.number, why=str(problem))
            return
        self._poll.register(pidfd, select.POLLIN)
        self._reapers[pidfd] = Reaper(reaper, order.number, order.warm)


def _profile(spec: Spec) -> Profile:
    module, name = PROFILES[spec.profile]
    profile: Profile = getattr(importlib.import_module(module), name)(spec)
    return profile


class NoWalls(Exception):
    """The profile does not work on this machine. Another one may."""


def _enter(profile: Profile, host: socket.socket) -> None:
    try:
        profile.enter(host)
    except OSError as problem:
        raise NoWalls(str(problem)) from problem


def _own_proc(host_proc: int) -> int:
    """A descriptor of /proc: that of the root which guests will have, or the host's where the new root has none."""
    with suppress(OSError):
        os.stat("/proc/self/maps")  # noqa: PTH116
        own = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.close(host_proc)
        return own
    return host_proc


def _make(
    order: Order, doors: list[int], host: socket.socket, orders: socket.socket, profile: Profile
) -> tuple[int, int]:
    """Start a reaper and have the zygote fork a guest into its jail. OSError: a part failed, and nothing is left."""
    opened = list(doors)
    try:
        for _ in range(2):
            opened += (end.detach() for end in _pair())
            opened += os.pipe()
        host_control, guest_control, host_out, guest_out, host_report, report, host_error, guest_error = opened[-8:]
        pid, pidfd = profile.start_reaper(order, report), -1
        try:
            pidfd = os.pidfd_open(pid)
            # To the host first: if the zygote does not get its ends, the host sees them close.
            outside = [host_control, host_report, host_out, host_error, pidfd]
            socket.send_fds(host, [json.dumps({"forked": order.number}).encode()], outside)
        except OSError:
            opened += [pidfd] if pidfd >= 0 else []
            profile.give_up(pid)
            raise
        with suppress(OSError):
            inside = [pidfd, guest_control, report, guest_out, guest_error]
            socket.send_fds(orders, [order.to_bytes()], [*inside, *doors])
    finally:
        for fd in opened:
            os.close(fd)
    return pid, pidfd


def _pair() -> tuple[socket.socket, socket.socket]:
    ours, its = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel tells the host which process speaks
    return ours, its


def _require_all(doors: list[int], flags: int) -> None:
    """OSError if a descriptor is missing: a guest that cannot enter its control group would have no limits."""
    if flags & socket.MSG_CTRUNC:
        for door in doors:
            os.close(door)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
