"""The process that guests are forked from. It has modules preloaded, no secrets, and one thread.

A guest is a fork that walls itself in, sends READY on its own socket, and waits there. The bytes of a script never pass
through a zygote. When a guest ends, the zygote, which is its parent, reports to the host how it ended.

`Spec`, `Order` and commands are the messages from the host to a warden and its zygotes.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # what `signal` wraps in enums
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from paddock.jail.walls.syscalls import ProcessName, fork

if TYPE_CHECKING:
    from paddock.jail.warden import Profile

MB = 1024 * 1024
FIRST_UID = 1000
"""The uid of the first guest in a pool. `chroot` maps it to the first uid of its block."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What all guests of one warden have in common. `profiles.make_spec` adds the profile and what depends on it."""

    python: str  # the warden's interpreter
    runtime: str  # `module:function` that a guest calls with its socket when it is walled in
    profile: str = ""
    reads: tuple[str, ...] = ()  # directories and files of the host that guests see, read-only, at the same path
    whole: tuple[str, ...] = ()  # the paths in `reads` that `chroot` copies completely
    hidden: tuple[str, ...] = ()  # directories in `reads` of which guests read nothing; `chroot` knows them by name
    live: tuple[str, ...] = ()  # more such directories, whose content grows while guests run; not in `chroot`
    preload: tuple[str, ...] = ()  # modules that the bare zygote imports before it forks
    warm: tuple[str, ...] = ()  # modules of the warm zygote, which starts on demand; empty if there is none
    program: tuple[str, ...] = ()  # what guests execute when they are walled in: path, arguments
    own_uids: bool = False  # each guest has its own uid; needs a range of uids
    uid_base: int = 0  # the first uid of that range, as the host sees it
    uid_count: int = 0
    roots_directory: str = ""  # of the host, where `chroot` keeps its roots
    memory_folders: tuple[str, ...] = ()  # tmpfs directories in which `confined` may make folders
    counted: bool = False  # a memory control group counts what no process maps: see `seccomp.Policy`
    sessions: bool = False  # setsid works: see `seccomp.Policy`
    rlimits: Mapping[str, int] = field(default_factory=dict)  # of guests, besides `privileges.DEFAULT_LIMITS`
    tmp_bytes: int = 64 * MB
    tmp_inodes: int = 10_000
    hash_seed: str = "random"  # PYTHONHASHSEED of the warden; all its guests have the same hashes
    trace: bool = False  # report refused system calls to the host
    network: bool = False  # guests have their own network, and the host opens the connections that they may have

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Spec:
        values: dict[str, Any] = json.loads(data)
        lists: dict[str, Any] = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**(values | lists))


_ORDER = struct.Struct("!QI???")


class Order(NamedTuple):
    """The host's order for one guest. It comes with the descriptors of `ResourceLimit.cgroup_fds`."""

    number: int
    uid: int  # the guest's uid in the pool; ignored if all guests have the same uid
    processes: bool = True  # whether it may start processes
    is_urgent: bool = False  # a run is waiting for it: skip preparations
    warm: bool = False  # forked from the warm zygote

    def to_bytes(self) -> bytes:
        return _ORDER.pack(*self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Order:
        return cls(*_ORDER.unpack(data))


def encode_command(**values: int) -> bytes:
    """Encode a command for a warden, other than an order.

    `dismiss=N`: end guest N, which the host cannot end. `load=N`: start a warm zygote with the number N.
    `unload=N`: end warm zygote N, which has no guests. `move=N`: start a `Mover` for N groups.
    """
    return json.dumps(values).encode()


def decode_command(message: bytes) -> dict[str, int] | None:
    """Decode a command; None if the message is an order, which never starts like JSON."""
    return json.loads(message) if message.startswith(b"{") else None


MOVED = b"1"
"""The answer of a `Mover` when it has moved a process."""
Runtime = Callable[[socket.socket, bool], NoReturn]
"""Called with the guest's socket, and whether a run is already waiting for the guest."""
WarmUp = Callable[[], None]
MESSAGE_BYTES = 64 * 1024
FDS_BYTES = socket.CMSG_SPACE(16 * 4)
UNIX, STREAM, TRUNCATED = int(socket.AF_UNIX), int(socket.SOCK_STREAM), int(socket.MSG_CTRUNC)
CLOSE_ON_EXEC = int(getattr(socket, "MSG_CMSG_CLOEXEC", 0))  # only on Linux; the import works elsewhere too
GUEST_NAME = ProcessName("paddock-guest")
REPORT = struct.Struct("!id")
"""How a guest ended: wait status and CPU seconds."""


def serve(
    orders: socket.socket,
    preload: tuple[str, ...],
    profile: Profile,
    runtime: Runtime,
    warm_up: WarmUp | None,
    proc: int,
) -> None:
    """Import the preloads, report that, and fork a guest for each order until the warden closes its end.

    `proc` is a descriptor of /proc.
    """
    ProcessName("paddock-zygote").apply()
    try:
        _load(preload, warm_up)
        _require_nothing_shared(proc)
        os.close(proc)
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
    _serve(orders, woken, poll, profile, runtime)


def _serve(orders: socket.socket, woken: int, poll: select.poll, profile: Profile, runtime: Runtime) -> None:
    """Fork guests. Makes few objects and plain calls, because each page that is written after a fork is copied."""
    reports: dict[int, int] = {}  # the descriptor to report to, by the pid of the guest
    while True:
        for fd, _ in poll.poll():
            if fd == woken:
                os.read(woken, 4096)
                _report(reports)
                continue
            order, more, flags, _ = orders.recvmsg(MESSAGE_BYTES, FDS_BYTES, CLOSE_ON_EXEC)
            if not order:
                return
            if flags & TRUNCATED:  # no descriptor is free; the host sees the dropped ones close
                for _, _, data in more:
                    for received in memoryview(data[: len(data) & ~3]).cast("i"):
                        os.close(received)
                continue
            with memoryview(more[0][2]) as fds:
                _fork(Order.from_bytes(order), fds.cast("i"), reports, profile, runtime)


def _load(preload: tuple[str, ...], warm_up: WarmUp | None) -> None:
    """Import the preloads, and keep the garbage collector from writing to their pages."""
    gc.disable()
    for name in preload:
        importlib.import_module(name)
    if warm_up is not None:
        warm_up()
    gc.collect()
    gc.freeze()
    gc.enable()


def _require_nothing_shared(proc: int) -> None:
    """Raise RuntimeError if a loaded module has a thread, or memory that guests would share with the zygote."""
    tasks = os.open("self/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc)
    count = len(os.listdir(tasks))  # noqa: PTH208
    os.close(tasks)
    if count != 1:
        raise RuntimeError("a preloaded module left a thread running; a forked guest would hang on its locks")
    with os.fdopen(os.open("self/maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc), "rb") as maps:
        for line in maps:
            _, permissions, _, _, _, *name = line.split(None, 5)
            # fork() does not copy shared memory: what one guest writes, the zygote and all other guests read.
            if permissions[1:2] == b"w" and permissions[3:4] == b"s":
                shown = b"".join(name).decode(errors="replace").strip() or "an anonymous mapping"
                raise RuntimeError(f"a preloaded module has memory that all guests would share: {shown}")


def _fork(order: Order, fds: Sequence[int], reports: dict[int, int], profile: Profile, runtime: Runtime) -> None:
    """Fork a guest into the jail of its reaper. Never returns in the guest."""
    reaper_pidfd, control, report, out, error, *cgroup_fds = fds
    try:
        profile.join(reaper_pidfd)
        pid = fork()
    except OSError as problem:  # only this guest fails; the host reads why from its stderr
        with suppress(OSError):  # the host may have given this guest up
            os.write(error, f"{problem}\n".encode())
        for fd in fds:
            os.close(fd)
        return
    if pid == 0:
        try:
            GUEST_NAME.apply()
            for fd in cgroup_fds:
                os.write(fd, b"0")  # enter the control group before allocating anything
            _signal.set_wakeup_fd(-1)
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)  # `signal.signal` would copy 40 pages
            os.setsid()
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(error, 2)
            profile.wall_in(order, control)
            runtime(socket.socket(UNIX, STREAM, 0, control), order.is_urgent)
        except BaseException as problem:  # noqa: BLE001  the host reads it, and sees the sockets close
            os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        finally:
            os._exit(70)
    reports[pid] = report
    for fd in fds:
        if fd != report:
            os.close(fd)


def _report(reports: dict[int, int]) -> None:
    """Send the host a report about each guest that has ended."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        report = reports.pop(pid, None)
        if report is None:
            continue  # an orphan of a guest
        with suppress(OSError):  # the host may have closed its end
            os.write(report, REPORT.pack(status, usage.ru_utime + usage.ru_stime))
        os.close(report)


def close_all_but(*kept: int) -> None:
    """Close every descriptor of this process except `kept`."""
    first = 0
    for fd in sorted(kept):
        if first < fd:  # os.closerange(0, 0) would close every descriptor
            os.closerange(first, fd)
        first = fd + 1
    os.closerange(first, 1 << 16)
