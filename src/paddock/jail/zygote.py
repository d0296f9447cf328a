"""The process that guests are forked from: preloads imported, root built, no secret, one thread.

It is told what to be by a `Spec`, then answers each `Order` with a guest: a reaper and, below it, a process that walls
itself in, says so on its own socket, and waits there. A script's bytes never pass through here.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
from collections.abc import Callable
from typing import NoReturn, Protocol

from paddock.jail import reaper
from paddock.jail.spec import Order, Spec

Runtime = Callable[[socket.socket], NoReturn]
MESSAGE_BYTES = 64 * 1024
MOST_DOORS = 8


class Enclosure(Protocol):
    """How a profile walls in: the zygote once, each guest before it reads a byte."""

    def enter(self, host: socket.socket) -> None:
        """Called once. Returns in the process that is to be the zygote."""
        ...

    def before_fork(self) -> None: ...

    def wall_in_reaper(self, order: Order) -> None: ...

    def wall_in(self, order: Order, keep: int) -> None:
        """Called in the guest; afterwards nothing is open but 0, 1, 2 and `keep`."""
        ...


def main(control_fd: int) -> None:
    """Serve until the host closes the socket."""
    host = socket.socket(fileno=control_fd)
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")  # where memory runs out, guests go before the host; one at -1000 would never go
    spec = Spec.from_bytes(host.recv(MESSAGE_BYTES))
    try:
        module, _, name = spec.runtime.partition(":")
        loaded = importlib.import_module(module)  # our own files are not there any more when the root is built
        enclosure = _enclosure(spec)
        enclosure.enter(host)
        _preload(spec.preload, getattr(loaded, "warm_up", None))
    except Exception as problem:
        host.send(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}).encode())
        raise
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # reapers are not waited for
    host.send(json.dumps({"serving": os.getpid()}).encode())
    while True:
        order, doors, _, _ = socket.recv_fds(host, MESSAGE_BYTES, MOST_DOORS)
        if not order:
            return
        _fork(Order.from_bytes(order), doors, host, enclosure, getattr(loaded, name))


def _enclosure(spec: Spec) -> Enclosure:
    from paddock.jail.namespaced import Namespaced

    return {"namespaces": Namespaced}[spec.profile](spec)


def _preload(modules: tuple[str, ...], warm_up: Callable[[], None] | None) -> None:
    """Import what guests are to find in memory, once, and keep its pages from being written by the collector."""
    gc.disable()
    for name in modules:
        importlib.import_module(name)
    if warm_up is not None:
        warm_up()
    gc.collect()
    gc.freeze()
    gc.enable()


def _fork(order: Order, doors: list[int], host: socket.socket, enclosure: Enclosure, runtime: Runtime) -> None:
    if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208
        raise RuntimeError("a preloaded module left a thread running; a forked guest would hang on its locks")
    host_control, guest_control = socket.socketpair()
    host_reaper, guest_reaper = socket.socketpair()
    for end in (host_control, host_reaper):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel tells the host who is speaking
    host_out, guest_out = os.pipe()
    host_error, guest_error = os.pipe()
    enclosure.before_fork()
    if os.fork() == 0:
        _be_reaper(order, doors, enclosure, runtime, guest_control, guest_reaper, guest_out, guest_error)
    fds = [host_control.fileno(), host_reaper.fileno(), host_out, host_error]
    socket.send_fds(host, [json.dumps({"forked": order.number}).encode()], fds)
    for end in (host_control, guest_control, host_reaper, guest_reaper):
        end.close()
    for fd in (host_out, guest_out, host_error, guest_error, *doors):
        os.close(fd)


def _be_reaper(
    order: Order,
    doors: list[int],
    enclosure: Enclosure,
    runtime: Runtime,
    control: socket.socket,
    report: socket.socket,
    out: int,
    error: int,
) -> NoReturn:
    """Fork the guest, then watch over it. Whatever goes wrong ends the process: the host sees its socket close."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        guest = os.fork()
        if guest == 0:
            for door in doors:
                os.write(door, b"0")  # into its control group, before it allocates anything
            os.setsid()
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(error, 2)
            enclosure.wall_in(order, control.fileno())
            runtime(control)
        _close_all_but(report.fileno())
        enclosure.wall_in_reaper(order)
        reaper.reap(guest, report)
    except BaseException as problem:  # noqa: BLE001
        text = f"{type(problem).__name__}: {problem}\n".encode()
        os.write(error if os.getpid() == 1 else 2, text)
    finally:
        os._exit(70)


def _close_all_but(fd: int) -> None:
    os.closerange(0, fd)
    os.closerange(fd + 1, 1 << 16)
