"""The process that guests are forked from: everything preloaded, no secret, one thread.

A guest is a fork of it that walls itself in, says so on its own socket, and waits there. A script's bytes never pass
through here. When a guest ends, the zygote, its parent, tells the host how.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from paddock.jail.spec import Order
from paddock.jail.walls.libc import fork, name_process

if TYPE_CHECKING:
    from paddock.jail.warden import Enclosure

Runtime = Callable[[socket.socket, bool], NoReturn]
"""Gets the guest's socket, and whether somebody waits for the guest already."""
WarmUp = Callable[[], None]
MESSAGE_BYTES = 64 * 1024
MOST_FDS = 16
REPORT = struct.Struct("!iddq")
"""How a guest ended: wait status, seconds of CPU in user mode and in the kernel, largest resident size in bytes."""


def serve(
    orders: socket.socket,
    preload: tuple[str, ...],
    enclosure: Enclosure,
    runtime: Runtime,
    warm_up: WarmUp | None,
) -> None:
    """Load, say so, and fork a guest for each order, until the warden closes its end."""
    name_process("paddock-zygote")
    try:
        _load(preload, warm_up)
    except BaseException as problem:
        orders.send(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}).encode())
        raise
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(orders, select.POLLIN)
    poll.register(woken, select.POLLIN)
    orders.send(b"{}")
    reports: dict[int, socket.socket] = {}
    while True:
        ready = {fd for fd, _ in poll.poll()}
        if woken in ready:
            os.read(woken, 4096)
            _report(reports)
        if orders.fileno() in ready:
            order, fds, _, _ = socket.recv_fds(orders, MESSAGE_BYTES, MOST_FDS)
            if not order:
                return
            pid, report = _fork(Order.from_bytes(order), fds, enclosure, runtime)
            reports[pid] = report


def _load(preload: tuple[str, ...], warm_up: WarmUp | None) -> None:
    """Import what guests are to find in memory, once, and keep its pages from being written by the collector."""
    gc.disable()
    for name in preload:
        importlib.import_module(name)
    if warm_up is not None:
        warm_up()
    with suppress(FileNotFoundError):
        if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208
            raise RuntimeError("a preloaded module left a thread running; a forked guest would hang on its locks")
    gc.collect()
    gc.freeze()
    gc.enable()


def _fork(order: Order, fds: list[int], enclosure: Enclosure, runtime: Runtime) -> tuple[int, socket.socket]:
    reaper_pidfd, control, report, out, error, *doors = fds
    enclosure.join(reaper_pidfd)
    pid = fork()
    if pid == 0:
        try:
            name_process("paddock-guest")
            for door in doors:
                os.write(door, b"0")  # into its control group, before it allocates anything
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(error, 2)
            enclosure.wall_in(order, control)
            runtime(socket.socket(fileno=control), order.hurry)
        except BaseException as problem:  # noqa: BLE001  the host reads it there, and sees the sockets close
            os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        finally:
            os._exit(70)
    for fd in (reaper_pidfd, control, out, error, *doors):
        os.close(fd)
    return pid, socket.socket(fileno=report)


def _report(reports: dict[int, socket.socket]) -> None:
    """Tell the host of every guest that has ended."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid not in reports:
            continue  # a guest's orphan
        with reports.pop(pid) as report, suppress(OSError):  # the host may have let go of it
            report.send(REPORT.pack(status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024))
