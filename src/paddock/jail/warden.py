"""The first process inside: small, without preloads. It starts the zygote, and a reaper for each guest.

Forking a process costs by what it has in memory, and ending it again: so the reapers are not forked from the zygote,
which has everything preloaded. The zygote joins the namespace of a reaper and forks the guest into it.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import traceback
from typing import Protocol

from paddock.jail import reaper, zygote
from paddock.jail.reaper import Duty
from paddock.jail.spec import Order, Spec
from paddock.jail.walls.libc import fork

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

    def before_reaper(self, order: Order) -> None:
        """Called in the warden: the next process that it forks is the first of a jail of its own."""
        ...

    def wall_in_reaper(self, order: Order, keep: int) -> Duty:
        """Called in the reaper; afterwards nothing is open but `keep` and what the duty needs."""
        ...

    def place(self) -> int:
        """Called in the warden when the reaper is there: a descriptor of its jail, for the zygote."""
        ...

    def join(self, place: int) -> None:
        """Called in the zygote: the next process that it forks is in that jail."""
        ...

    def wall_in(self, order: Order, keep: int) -> None:
        """Called in the guest; afterwards nothing is open but 0, 1, 2 and `keep`."""
        ...


def main(control_fd: int) -> None:
    """Serve until the host closes the socket."""
    host = socket.socket(fileno=control_fd)
    spec = Spec.from_bytes(host.recv(MESSAGE_BYTES))
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")  # where memory runs out, guests go before the host; one at -1000 would never go
    try:
        module, _, name = spec.runtime.partition(":")
        loaded = importlib.import_module(module)  # our own files are not there any more when the root is built
        enclosure = _enclosure(spec)
        _enter(enclosure, host)
        orders = _start_zygote(spec, enclosure, getattr(loaded, name), getattr(loaded, "warm_up", None), host)
    except NoWalls as problem:
        host.send(json.dumps({"no_walls": str(problem)}).encode())
        os._exit(1)
    except Exception as problem:
        host.send(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}).encode())
        raise
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody here is waited for
    host.send(json.dumps({"serving": os.getpid()}).encode())
    poll = select.poll()
    poll.register(host, select.POLLIN)
    poll.register(orders, select.POLLIN)
    while True:
        if any(fd == orders.fileno() for fd, _ in poll.poll()):
            os._exit(1)  # the zygote is gone, and with this process everything else goes
        order, doors, _, _ = socket.recv_fds(host, MESSAGE_BYTES, MOST_DOORS)
        if not order:
            os._exit(0)
        _make(Order.from_bytes(order), doors, host, orders, enclosure)


class NoWalls(Exception):
    """The profile does not work on this machine. Another one may."""


def _enter(enclosure: Enclosure, host: socket.socket) -> None:
    try:
        enclosure.enter(host)
    except Exception as problem:
        raise NoWalls(f"{type(problem).__name__}: {problem}") from problem


def _enclosure(spec: Spec) -> Enclosure:
    module, name = ENCLOSURES[spec.profile]
    enclosure: Enclosure = getattr(importlib.import_module(module), name)(spec)
    return enclosure


def _start_zygote(
    spec: Spec,
    enclosure: Enclosure,
    runtime: zygote.Runtime,
    warm_up: zygote.WarmUp | None,
    host: socket.socket,
) -> socket.socket:
    orders, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            host.close()
            orders.close()
            zygote.serve(its, spec.preload, enclosure, runtime, warm_up)
        except BaseException:  # noqa: BLE001  what it was is for whoever reads the host's stderr
            traceback.print_exc()
        finally:
            os._exit(1)
    its.close()
    said = json.loads(orders.recv(MESSAGE_BYTES) or b'{"failed": "the zygote ended while it loaded"}')
    if "failed" in said:
        raise RuntimeError(said["failed"])
    return orders


def _make(order: Order, doors: list[int], host: socket.socket, orders: socket.socket, enclosure: Enclosure) -> None:
    try:
        enclosure.before_reaper(order)
    except OSError as problem:
        host.send(json.dumps({"refused": order.number, "why": str(problem)}).encode())
        for door in doors:
            os.close(door)
        return
    host_control, guest_control = socket.socketpair()
    host_reaper, guest_reaper = socket.socketpair()
    for end in (host_control, host_reaper):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel tells the host who is speaking
    host_out, guest_out = os.pipe()
    host_error, guest_error = os.pipe()
    if fork() == 0:
        try:
            reaper.reap(guest_reaper, enclosure.wall_in_reaper(order, guest_reaper.fileno()))
        finally:
            os._exit(70)
    place = enclosure.place()
    inside = [place, guest_control.fileno(), guest_reaper.fileno(), guest_out, guest_error]
    socket.send_fds(orders, [order.to_bytes()], [*inside, *doors])
    outside = [host_control.fileno(), host_reaper.fileno(), host_out, host_error]
    socket.send_fds(host, [json.dumps({"forked": order.number}).encode()], outside)
    for end in (host_control, guest_control, host_reaper, guest_reaper):
        end.close()
    for fd in (host_out, guest_out, host_error, guest_error, place, *doors):
        os.close(fd)
