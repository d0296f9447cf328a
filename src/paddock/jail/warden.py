"""The first process inside: small, without preloads. It starts the zygote, and a reaper for each guest.

Forking a process costs by what it has in memory, and ending it again: so the reapers are not forked from the zygote,
which has everything preloaded. The zygote joins the namespace of a reaper and forks the guest into it.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import select
import signal
import socket
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from paddock.jail import zygote
from paddock.jail.spec import Order, Spec, dismissed
from paddock.jail.walls.libc import ProcessName

MESSAGE_BYTES = 64 * 1024
MOST_DOORS = 8
ENCLOSURES = {
    "namespaces": ("paddock.jail.namespaced", "Namespaced"),
    "chroot": ("paddock.jail.chrooted", "Chrooted"),
    "confined": ("paddock.jail.confined", "Confined"),
}


class Enclosure(Protocol):
    """How a profile walls in: what all share, once; each reaper; each guest, before it reads a byte."""

    def enter(self, host: socket.socket) -> None:
        """Called once. Returns in the process that is to be the warden."""
        ...

    def start_reaper(self, order: Order, report: int) -> int:
        """Called in the warden: a process, the first of a guest's jail, whose end is the end of all in it.

        Through `report` it may tell the host how the guest ended, before the zygote does.
        """
        ...

    def reaper_ended(self, pid: int) -> None: ...

    def give_up(self, pid: int) -> None:
        """Called in the warden: end a reaper that got no guest, and that nobody will hear of."""
        ...

    def join(self, reaper_pidfd: int) -> None:
        """Called in the zygote: the next process that it forks is in that jail."""
        ...

    def wall_in(self, order: Order, keep: int) -> None:
        """Called in the guest; afterwards nothing is open but 0, 1, 2 and `keep`."""
        ...


def main(control_fd: int) -> None:
    """Serve until the host closes the socket."""
    ProcessName("paddock-warden").take()
    host = socket.socket(fileno=control_fd)
    spec = Spec.from_bytes(host.recv(MESSAGE_BYTES))
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")  # where memory runs out, guests go before the host; one at -1000 would never go
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # a shell starts background jobs with some of them ignored
    try:
        module, _, name = spec.runtime.partition(":")
        loaded = importlib.import_module(module)  # our own files are not there any more when the root is built
        if spec.program:
            loaded.become(spec.program)
        enclosure = _enclosure(spec)
        proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # a new root may have none
        _enter(enclosure, host)
        orders = _start_zygote(spec, enclosure, getattr(loaded, name), getattr(loaded, "warm_up", None), host, proc)
        os.close(proc)
    except NoWalls as problem:
        host.send(json.dumps({"no_walls": str(problem)}).encode())
        os._exit(1)
    except Exception as problem:
        host.send(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}).encode())
        raise
    host.send(json.dumps({"serving": os.getpid()}).encode())
    _serve(host, orders, enclosure)


def _serve(host: socket.socket, orders: socket.socket, enclosure: Enclosure) -> None:
    poll = select.poll()
    poll.register(host, select.POLLIN)
    poll.register(orders, select.POLLIN)
    reapers: dict[int, tuple[int, int]] = {}  # the guest's number and the pid, by pidfd
    while True:
        for fd, _ in poll.poll():
            if fd == orders.fileno():
                os._exit(1)  # the zygote is gone, and with this process everything else goes
            if fd == host.fileno():
                order, doors, flags, _ = socket.recv_fds(host, MESSAGE_BYTES, MOST_DOORS)
                if not order:
                    os._exit(0)
                if (unwanted := dismissed(order)) is not None:
                    _dismiss(unwanted, reapers, enclosure)
                    continue
                asked = Order.from_bytes(order)
                try:
                    _require_all(doors, flags)
                    pid, pidfd = _make(asked, doors, host, orders, enclosure)
                except OSError as problem:  # this guest's alone: no descriptor, no process, no room on the disk
                    host.send(json.dumps({"unmade": asked.number, "why": str(problem)}).encode())
                    continue
                poll.register(pidfd, select.POLLIN)
                reapers[pidfd] = asked.number, pid
            else:
                poll.unregister(fd)
                os.close(fd)
                enclosure.reaper_ended(reapers.pop(fd)[1])


def _dismiss(unwanted: int, reapers: Mapping[int, tuple[int, int]], enclosure: Enclosure) -> None:
    for number, pid in reapers.values():
        if number == unwanted:
            with suppress(ProcessLookupError):
                enclosure.give_up(pid)


def _enclosure(spec: Spec) -> Enclosure:
    module, name = ENCLOSURES[spec.profile]
    enclosure: Enclosure = getattr(importlib.import_module(module), name)(spec)
    return enclosure


class NoWalls(Exception):
    """The profile does not work on this machine. Another one may."""


def _enter(enclosure: Enclosure, host: socket.socket) -> None:
    try:
        enclosure.enter(host)
    except OSError as problem:
        raise NoWalls(str(problem)) from problem


def _start_zygote(
    spec: Spec,
    enclosure: Enclosure,
    runtime: zygote.Runtime,
    warm_up: zygote.WarmUp | None,
    host: socket.socket,
    proc: int,
) -> socket.socket:
    orders, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            host.close()
            orders.close()
            zygote.serve(its, spec.preload, enclosure, runtime, warm_up, proc)
        except BaseException:  # noqa: BLE001  what it was is for whoever reads the host's stderr
            traceback.print_exc()
        finally:
            os._exit(1)
    its.close()
    said = json.loads(orders.recv(MESSAGE_BYTES) or b'{"failed": "the zygote ended while it loaded"}')
    if "failed" in said:
        raise RuntimeError(said["failed"])
    return orders


def _make(
    order: Order, doors: list[int], host: socket.socket, orders: socket.socket, enclosure: Enclosure
) -> tuple[int, int]:
    """A reaper, and a guest that the zygote is told to fork for it. OSError where a part cannot be had: then none."""
    opened = list(doors)
    try:
        for _ in range(2):
            opened += (end.detach() for end in _pair())
            opened += os.pipe()
        host_control, guest_control, host_out, guest_out, host_report, report, host_error, guest_error = opened[-8:]
        pid, pidfd = enclosure.start_reaper(order, report), -1
        try:
            pidfd = os.pidfd_open(pid)
            # To the host first: what the zygote does not get, the host sees close.
            outside = [host_control, host_report, host_out, host_error, pidfd]
            socket.send_fds(host, [json.dumps({"forked": order.number}).encode()], outside)
        except OSError:
            opened += [pidfd] if pidfd >= 0 else []
            enclosure.give_up(pid)
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
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel tells the host who is speaking
    return ours, its


def _require_all(doors: list[int], flags: int) -> None:
    """A guest without all its doors would have no bound."""
    if flags & socket.MSG_CTRUNC:
        for door in doors:
            os.close(door)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
