"""The first process of the jail. It is small, has no preloads, and starts the zygotes and a reaper for each guest.

The cost of fork() and exit() grows with the memory of the process, so reapers are forked from the warden and not from
a zygote. A zygote joins the namespace of a reaper and forks the guest into it.

The bare zygote starts with the warden, and when this zygote ends, the warden exits. The warm zygote starts when the
host asks for it. It may fail or end without affecting guests of the bare zygote.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import select
import signal
import site
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from paddock.jail import zygote
from paddock.jail.walls import privileges
from paddock.jail.walls.syscalls import ProcessName, fork
from paddock.jail.zygote import MOVED, Order, Spec, decode_command

MESSAGE_BYTES = 64 * 1024
MAX_FDS = 8
PROFILES = {
    "namespaces": ("paddock.jail.profile_namespaces", "NamespacesProfile"),
    "chroot": ("paddock.jail.profile_chroot", "ChrootProfile"),
    "confined": ("paddock.jail.profile_confined", "ConfinedProfile"),
}


class Profile(Protocol):
    """Builds the walls of one profile: around the warden, around each reaper, and around each guest."""

    def enter(self, host: socket.socket) -> None:
        """Wall in the warden. Called once; returns in the process that becomes the warden."""
        ...

    def start_reaper(self, order: Order, report: int) -> int:
        """Called in the warden. Start a guest's reaper and return its pid. When it ends, so do the guest's processes.

        The reaper may report to the host through `report` how the guest ended, before the zygote does.
        """
        ...

    def reaper_ended(self, pid: int) -> None:
        """Called in the warden when a reaper is gone. Free what the warden kept for it."""
        ...

    def end_reaper(self, pid: int) -> None:
        """Called in the warden. End a reaper and all processes of its guest."""
        ...

    def join(self, reaper_pidfd: int) -> None:
        """Called in the zygote. Make the next fork a process in the jail of this reaper."""
        ...

    def wall_in(self, order: Order, keep: int) -> None:
        """Called in the guest, before it reads any input. Leaves no descriptor open but 0, 1, 2 and `keep`."""
        ...


def main(control_fd: int) -> None:
    """Serve until the host closes the socket."""
    ProcessName("paddock-warden").apply()
    host = socket.socket(fileno=control_fd)
    spec = Spec.from_bytes(host.recv(MESSAGE_BYTES))
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")  # the kernel kills guests before the host; an inherited -1000 would exempt them
    if not spec.counted:
        privileges.use_small_pages()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # the host may have been started with some of them ignored
    try:
        # `.pth` files of packages run code, so the environment is on the path only behind the walls, unless the
        # runtime itself needs a package of its own environment: QuickJS.
        if spec.preload:
            site.main()
        # Imported now, because Paddock's files are not in the new root.
        module, _, name = spec.runtime.partition(":")
        loaded = importlib.import_module(module)
        if spec.program:
            loaded.set_program(spec.program)
        profile_module, profile_class = PROFILES[spec.profile]
        profile: Profile = getattr(importlib.import_module(profile_module), profile_class)(spec)
        sys.dont_write_bytecode = True  # modules imported from here on are not Paddock's
        proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # the new root may have none
        try:
            profile.enter(host)
        except OSError as problem:  # another profile may work on this machine
            host.send(json.dumps({"no_walls": str(problem)}).encode())
            os._exit(1)
        proc = _own_proc(proc)
        if not spec.preload:
            site.main()
        warden = Warden(spec, profile, getattr(loaded, name), getattr(loaded, "warm_up", None), host, proc)
        warden.start_bare()
    except Exception as problem:
        host.send(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}).encode())
        raise
    host.send(json.dumps({"serving": os.getpid()}).encode())
    warden.serve()


class Reaper(NamedTuple):
    """The reaper of one guest."""

    pid: int
    number: int  # of the guest's order
    warm: bool  # whether the guest is of the warm zygote


class Warden:
    """Serves the host: starts zygotes, and for each order a reaper and a guest."""

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
        self._bare: socket.socket | None = None
        self._warm: socket.socket | None = None
        self._warm_number = 0  # the host's number for the warm zygote
        self._reapers: dict[int, Reaper] = {}  # by pidfd
        self._poll = select.poll()

    def start_bare(self) -> None:
        """Start the bare zygote and wait until it has loaded. Raises RuntimeError if it cannot."""
        self._bare = self._start_zygote(self._spec.preload)
        reply = json.loads(self._bare.recv(MESSAGE_BYTES) or b'{"failed": "it was killed while loading"}')
        if "failed" in reply:
            raise RuntimeError(reply["failed"])
        self._poll.register(self._host, select.POLLIN)
        self._poll.register(self._bare, select.POLLIN)

    def _start_zygote(self, preload: tuple[str, ...]) -> socket.socket:
        """Fork a zygote. On the returned socket it reports whether it could load, and then takes orders."""
        orders, zygote_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            try:
                orders.close()
                self._close_inherited()
                zygote.serve(zygote_end, preload, self._profile, self._runtime, self._warm_up, self._proc)
            except BaseException:  # noqa: BLE001  the traceback goes to the host's stderr
                traceback.print_exc()
            finally:
                os._exit(1)
        zygote_end.close()
        return orders

    def _close_inherited(self) -> None:
        """Close the warden's descriptors in a new zygote. A copy of an order socket would keep another zygote alive."""
        self._host.close()
        if self._bare is not None:
            self._bare.close()
        for pidfd in self._reapers:
            os.close(pidfd)

    def serve(self) -> None:
        """Never returns: exits when the host or the bare zygote ends."""
        while True:
            for fd, _ in self._poll.poll():
                if self._bare is not None and fd == self._bare.fileno():
                    os._exit(1)  # then the kernel or the reapers kill everything else
                if fd == self._host.fileno():
                    self._handle_host()
                elif self._warm is not None and fd == self._warm.fileno():
                    self._handle_warm(self._warm)
                elif fd in self._reapers:
                    self._poll.unregister(fd)
                    os.close(fd)
                    self._profile.reaper_ended(self._reapers.pop(fd).pid)

    def _notify_host(self, **values: object) -> None:
        self._host.send(json.dumps(values).encode())

    def _handle_host(self) -> None:
        message, fds, flags, _ = socket.recv_fds(self._host, MESSAGE_BYTES, MAX_FDS)
        if not message:
            os._exit(0)
        if (command := decode_command(message)) is None:
            self._make(Order.from_bytes(message), fds, flags)
        elif "move" in command:
            self._start_mover(fds)
        elif "dismiss" in command:
            self._end_reapers(lambda reaper: reaper.number == command["dismiss"])
        elif "load" in command:
            self._load(command["load"])
        elif self._warm is not None and command["unload"] == self._warm_number:
            self._end_warm(self._warm)

    def _start_mover(self, fds: list[int]) -> None:
        """Fork a process into a guest's pid namespace that writes a pid to control groups: see `Mover`."""
        with suppress(OSError):  # no free pid: the host sees the descriptors close
            if fork() == 0:
                try:
                    reaper, *groups, channel = fds
                    self._profile.join(reaper)
                    if fork() == 0:
                        pid = os.read(channel, MESSAGE_BYTES)
                        for group in groups if pid else ():
                            os.write(group, pid)
                        os.write(channel, MOVED)
                finally:
                    os._exit(0)
        for fd in fds:
            os.close(fd)

    def _load(self, number: int) -> None:
        """Start the warm zygote. It reports later whether it could load."""
        if self._warm is not None:
            self._end_warm(self._warm)
        self._warm_number = number
        try:
            self._warm = self._start_zygote(self._spec.warm)
            self._poll.register(self._warm, select.POLLIN)
        except OSError as problem:
            self._notify_host(lost=number, why=str(problem))

    def _handle_warm(self, warm: socket.socket) -> None:
        try:
            data = warm.recv(MESSAGE_BYTES)
        except ConnectionError:  # it died with unread orders
            data = b""
        reply = json.loads(data or b'{"failed": "it has died"}')
        if "failed" in reply:
            self._notify_host(lost=self._warm_number, why=reply["failed"])
            self._end_warm(warm)
        else:
            self._notify_host(loaded=self._warm_number)

    def _end_warm(self, warm: socket.socket) -> None:
        """End the warm zygote and its guests, because nothing else would report how they end."""
        self._poll.unregister(warm)
        warm.close()  # the zygote then exits
        self._warm = None
        self._end_reapers(lambda reaper: reaper.warm)

    def _end_reapers(self, which: Callable[[Reaper], bool]) -> None:
        for reaper in self._reapers.values():
            if which(reaper):
                with suppress(ProcessLookupError):
                    self._profile.end_reaper(reaper.pid)

    def _make(self, order: Order, cgroup_fds: list[int], flags: int) -> None:
        """Start a reaper and a guest, or report why not."""
        orders = self._warm if order.warm else self._bare
        try:
            if flags & socket.MSG_CTRUNC:  # descriptors were lost: the guest would have no limits
                why = str(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
                self._notify_host(not_forked=order.number, why=why)
                return
            if orders is None:
                self._notify_host(not_forked=order.number, lost=True, why="the zygote has died")
                return
            reaper, pidfd = self._start_guest(order, cgroup_fds, orders)
        except OSError as problem:  # only this guest fails: no free descriptor, no free pid, no space on disk
            self._notify_host(not_forked=order.number, why=str(problem))
            return
        finally:
            for fd in cgroup_fds:
                os.close(fd)
        self._poll.register(pidfd, select.POLLIN)
        self._reapers[pidfd] = Reaper(reaper, order.number, order.warm)

    def _start_guest(self, order: Order, cgroup_fds: list[int], orders: socket.socket) -> tuple[int, int]:
        """Start a reaper and have the zygote fork a guest into its jail; return the reaper's pid and pidfd.

        Raises OSError if that fails. Nothing is left running or open then.
        """
        opened: list[int] = []
        try:
            for _ in range(2):
                opened += (end.detach() for end in _pair())
                opened += os.pipe()
            host_control, guest_control, host_out, guest_out, host_report, report, host_error, guest_error = opened
            pid, pidfd = self._profile.start_reaper(order, report), -1
            try:
                pidfd = os.pidfd_open(pid)
                # The host first: if the zygote then does not get its ends, the host sees them close.
                outside = [host_control, host_report, host_out, host_error, pidfd]
                socket.send_fds(self._host, [json.dumps({"forked": order.number}).encode()], outside)
            except OSError:
                opened += [pidfd] if pidfd >= 0 else []
                self._profile.end_reaper(pid)
                raise
            with suppress(OSError):
                inside = [pidfd, guest_control, report, guest_out, guest_error]
                socket.send_fds(orders, [order.to_bytes()], [*inside, *cgroup_fds])
        finally:
            for fd in opened:
                os.close(fd)
        return pid, pidfd


def _own_proc(host_proc: int) -> int:
    """A descriptor of the new root's /proc, or of the host's if the new root has none."""
    with suppress(OSError):
        os.stat("/proc/self/maps")  # noqa: PTH116
        own = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.close(host_proc)
        return own
    return host_proc


def _pair() -> tuple[socket.socket, socket.socket]:
    host_end, guest_end = socket.socketpair()
    host_end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel tells the host which process sent READY
    return host_end, guest_end
