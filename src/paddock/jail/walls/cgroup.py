"""Control groups, v1 or v2: limits on the memory and the number of processes of a whole process tree.

A slot is a group that one guest after another is placed in: `take` a slot; `enter` it while the guest waits in the pool
(or the child enters by itself, see `entry_fds`); `limit` it to the usual numbers, which sets the baseline; `limit` it
to the run's own numbers when the run starts (25 µs, nothing if they are the same); read `usage` and `was_out_of_memory`
after the run; `give_back` the slot. Slots are reused because a removed group stays in the kernel until its last page is
freed.

`limit`, `usage`, `was_out_of_memory` and `settle` take microseconds. `take`, `enter`, `give_back` and `close` may take
milliseconds: call them in a thread.

A page is charged to the group of the process that first touches it. Preloaded pages stay with the zygote's group;
copies that a guest's writes make are the guest's. Cached pages of files that a guest reads are charged to it too, but
the kernel drops them before it kills anyone.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from weakref import WeakSet

from paddock.jail.walls.cgroup_slots import Slot, SlotV1, SlotV2
from paddock.jail.walls.cleanup import Cleanup, members, read, remove, write
from paddock.jail.walls.shortage import unless_shortage

NAME = re.compile(r"paddock-(?P<pid>\d+)-(?P<start>\d+)-(?P<namespace>\d+)-[0-9a-f]{8}")

CPU_WEIGHTS = {"cpu.shares": "512", "cpu.weight": "50"}
"""The CPU weight of all guests in total, on v1 and on v2: half of the default."""
MAX_FREE = 16
"""How many empty slots are kept for later guests. Others are removed."""
MAX_RECORDED = 8
"""How many lines the record file holds. A machine and its containers may share one data directory."""
KEPT_FILES = 14
"""The most files that a slot keeps open. All slots together, of whatever `Slots`, keep at most a sixteenth of what this
process may open.
Beyond that, a slot keeps only the three files that show how its guest ended, and only while a guest is in it."""


class Slots:
    """The slots of this process, in groups named after it. All guests in total have half of an ordinary CPU weight.

    Safe to use from several threads. `close()` removes everything; if this process is killed, `Cleanup` does.
    """

    _keeping: ClassVar[WeakSet[Slot]] = WeakSet()  # the slots, of all `Slots`, that keep files open

    def __init__(self, controllers: Controllers) -> None:
        self._controllers = controllers
        name = own_name()
        self._parents = {controller: parent / name for controller, parent in controllers.parents.items()}
        self._lock = threading.Lock()
        self._free: list[Slot] = []
        self._all: list[Slot] = []
        self._left: list[Slot] = []  # given back when no descriptor was free to empty them
        self._made = 0
        sweep(controllers)
        self._cleanup = Cleanup(groups=dict.fromkeys(self._parents.values()))
        try:
            self._make_parents()
        except OSError:
            self.close()
            raise

    def _make_parents(self) -> None:
        for parent in dict.fromkeys(self._parents.values()):
            parent.mkdir()
            if (parent / "cgroup.subtree_control").exists():
                given = (parent / "cgroup.controllers").read_text().split()
                enabled = [f"+{name}" for name in ("memory", "pids", "cpu") if name in given]
                write(f"{parent}/cgroup.subtree_control", " ".join(enabled))
            for file, weight in CPU_WEIGHTS.items():
                if (parent / file).exists():
                    write(f"{parent}/{file}", weight)

    def take_free(self) -> Slot | None:
        """A free slot, if there is one. Does not block."""
        with self._lock:
            return self._free.pop() if self._free else None

    def take(self) -> Slot:
        """A slot without limits: a free one, or a new one (0.3 ms)."""
        free = self.take_free()
        if free is not None:
            return free
        with self._lock:
            self._made += 1
            number, keeping = self._made, len(self._keeping)
        groups = {controller: parent / f"slot-{number}" for controller, parent in self._parents.items()}
        kept = (keeping + 1) * KEPT_FILES <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 16
        slot = (SlotV1 if self._controllers.version == 1 else SlotV2)(groups, kept=kept)
        with self._lock:
            self._all.append(slot)
            if kept:
                self._keeping.add(slot)
        return slot

    def settle(self, slot: Slot) -> bool:
        """Take back a slot that is empty already, in 50 µs. If this returns False, call `give_back` instead."""
        if self._left or len(self._free) >= MAX_FREE or not (slot.reusable and slot.is_settled()):
            return False
        slot.reset()
        with self._lock:
            self._free.append(slot)
        return True

    def give_back(self, slot: Slot) -> None:
        """Kill what is left in the slot, then reuse or remove it. If a process does not end, `close()` removes it.

        If no descriptor is free for that, the slot closes its own. If that is not enough, the next call tries again.
        """
        with self._lock:
            given, self._left = [slot, *self._left], []
        for each in given:
            if not (self._empty(each) or self._empty(each)):
                with self._lock:
                    self._left.append(each)

    def _empty(self, slot: Slot) -> bool:
        """Reuse or remove a slot that was given back. If that fails, close its files and return False."""
        try:
            if not slot.kill():
                slot.close()
            elif slot.reusable and len(self._free) < MAX_FREE:
                slot.reset()
                with self._lock:
                    self._free.append(slot)
            else:
                slot.remove()
                with self._lock:
                    self._all.remove(slot)
        except OSError:
            slot.close()
            return False
        return True

    def close(self) -> None:
        """Kill everything in every slot and remove all groups. Raises OSError if a process does not end."""
        with self._lock:
            slots, self._all, self._free, self._left = self._all, [], [], []
        for slot in slots:
            # A slot that cannot be removed fails again below, after all the others are gone.
            with contextlib.suppress(OSError):
                slot.kill()
            with contextlib.suppress(OSError):
                slot.remove()
        for parent in dict.fromkeys(self._parents.values()):
            remove(parent)
        self._cleanup.dismiss()


def find(record: Path | None = None) -> Controllers | str:
    """The first controllers that work here, or the reason why none do and what to allow.

    Finding out takes a tenth of a second, because each is tried. The file `record` notes what worked, so that it is not
    tried again until the next boot. Raises OSError if a shortage keeps them from being tried (`shortage`).
    """
    reasons = []
    for candidate in candidates():
        if isinstance(candidate, str):
            reasons.append(candidate)
            continue
        line = _record_line(candidate)
        if record is not None and line in _recorded(record) and _may_make_groups(candidate):
            return candidate
        reason = _try(candidate)
        if reason is None:
            if record is not None:
                _add_record(record, line)
            return candidate
        reasons.append(reason)
    return "; ".join(reasons) or f"no cgroup hierarchy with memory and pids is mounted writable: {ALLOW}"


def _record_line(controllers: Controllers) -> str:
    """A line for the record file: everything that decides whether the kernel enforces limits in these hierarchies.

    Whether this process may make groups there, and whether a guest is in its group, is checked each time. A user may
    have been given one group of a hierarchy, and start Paddock outside it later.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    containers = [Path(f"/proc/self/ns/{kind}").stat().st_ino for kind in ("mnt", "cgroup", "user")]
    oom = Path("/proc/self/oom_score_adj").read_text().strip()
    hierarchies = {name: parent.stat().st_dev for name, parent in sorted(controllers.parents.items())}
    return f"{boot} {containers} {oom} {os.geteuid()} v{controllers.version} {hierarchies}"


def _may_make_groups(controllers: Controllers) -> bool:
    return all(os.access(parent, os.W_OK) for parent in controllers.parents.values())


def _recorded(record: Path) -> list[str]:
    with contextlib.suppress(OSError, ValueError):
        return record.read_text(encoding="utf-8").splitlines()
    return []


def _add_record(record: Path, line: str) -> None:
    new = record.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):  # then the next process tries again
        record.parent.mkdir(parents=True, exist_ok=True)
        new.write_text("\n".join([*_recorded(record)[1 - MAX_RECORDED :], line]), encoding="utf-8")
        new.replace(record)


def _try(controllers: Controllers) -> str | None:
    """Let a child run into a memory limit. Returns what failed, or None."""
    command = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read(); bytearray(b'x') * (64 << 20)"]
    where = controllers.parents["memory"]
    try:
        with contextlib.ExitStack() as undo:
            slots = Slots(controllers)
            undo.callback(slots.close)
            slot = slots.take()
            child = undo.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
            undo.callback(child.kill)
            slot.enter(child.pid)
            slot.limit(16 * 2**20, 8)
            if slot.tasks() < 1:
                return f"a process that was moved into {controllers.parents['pids']} is not counted there"
            child.communicate(timeout=10)
            if child.returncode == 0 or not slot.was_out_of_memory():
                return f"a limit in {where} has no effect: is the memory controller on, and oom_score_adj above -1000?"
    except subprocess.TimeoutExpired as error:
        return f"{error}: {ALLOW}"
    except OSError as error:
        return f"{unless_shortage(error)}: {ALLOW}"
    return None


def sweep(controllers: Controllers) -> int:
    """Remove the empty groups of hosts that have ended, and return how many. Groups of another pid namespace stay."""
    swept = 0
    namespace = _pid_namespace()
    for parent in dict.fromkeys(controllers.parents.values()):
        for group in parent.iterdir():
            name = NAME.fullmatch(group.name)
            if (
                name is None
                or int(name["namespace"]) != namespace
                or start_time(int(name["pid"])) == int(name["start"])
            ):
                continue
            with contextlib.suppress(OSError):
                if not any(members(file.parent) for file in group.rglob("cgroup.procs")):
                    remove(group, within_seconds=0.1)
                    swept += 1
    return swept


def own_name() -> str:
    """A name for our groups that identifies this process, even after its pid has been reused."""
    pid = os.getpid()
    return f"paddock-{pid}-{start_time(pid)}-{_pid_namespace()}-{secrets.token_hex(4)}"


def start_time(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may contain anything, spaces and parentheses too.
    return int(stat.rpartition(b")")[2].split()[19])


def _pid_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


NEEDED = ("memory", "pids")
WANTED = ("memory", "pids", "cpu", "cpuacct")
LEAF = "paddock-host"
ALLOW = (
    "run as a service with Delegate=yes, in `systemd-run --user --scope -p Delegate=yes`, "
    "or in a container whose cgroup is its own and writable"
)


@dataclass(frozen=True, slots=True)
class Controllers:
    """The groups in which Paddock creates its own, by controller. On v2 all are the same directory."""

    version: int
    parents: Mapping[str, Path]

    @property
    def share_cpu(self) -> bool:
        """Whether groups made here have the CPU controller, so that each gets one share of the CPU."""
        if self.version == 1:
            return "cpu" in self.parents
        return "cpu" in read(f"{self.parents['memory']}/cgroup.subtree_control").split()


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted hierarchy: the group at its root, and where it is mounted."""

    version: int
    root: str
    point: Path
    options: frozenset[str]


def mounts(proc: Path = Path("/proc")) -> list[Mount]:
    """The mounted hierarchies that are writable."""
    found = []
    for line in (proc / "self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        _, _, _, root, point, flags, *_ = left.split(" ")
        kind, _, options = right.split(" ", 2)
        if kind in {"cgroup", "cgroup2"} and "rw" in flags.split(","):
            version = 2 if kind == "cgroup2" else 1
            found.append(Mount(version, root, Path(_unescaped(point)), frozenset(options.split(","))))
    return found


def own_groups(proc: Path = Path("/proc")) -> dict[str, str]:
    """The group of this process, by controller; for v2 the key is an empty string."""
    found: dict[str, str] = {}
    for line in (proc / "self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        found.update(dict.fromkeys(names.split(","), path))
    return found


def candidates(proc: Path = Path("/proc")) -> Iterator[Controllers | str]:
    """Yield the controllers to try, best first, and a reason for each that cannot work. Enables controllers on v2."""
    try:
        mounted, own = mounts(proc), own_groups(proc)
    except OSError as error:
        yield f"{unless_shortage(error)}: control groups are found through /proc"
        return
    for mount in mounted:
        if mount.version == 2 and (group := _group_in(mount, own.get(""))):
            yield from _candidates_v2(group, mount.point)
    parents: dict[str, Path] = {}
    for name in WANTED:
        for mount in mounted:
            if mount.version == 1 and name in mount.options and (group := _group_in(mount, own.get(name))):
                parents.setdefault(name, group)
    missing = [name for name in NEEDED if name not in parents]
    if not missing:
        yield Controllers(1, parents)
    elif len(missing) < len(NEEDED):
        yield f"cgroup v1 is mounted writable without {' and '.join(missing)}"


def _candidates_v2(own: Path, point: Path) -> Iterator[Controllers | str]:
    """Yield our own group first, because its limits then apply to guests too, and then its parents."""
    for group in (own, *own.parents):
        if not group.is_relative_to(point):
            return
        offered = set(read(f"{group}/cgroup.controllers").split())
        if missing := [name for name in NEEDED if name not in offered]:
            yield f"{group} (cgroup v2) offers no {' and no '.join(missing)} controller"
            continue
        if group.name == LEAF:
            continue
        if not os.access(group, os.W_OK):
            yield f"{group} (cgroup v2) is not writable: {ALLOW}"
            continue
        if reason := _enable(group):
            yield reason
            continue
        # Weights are optional: the kernel refuses them where real-time tasks run.
        with contextlib.suppress(OSError):
            write(f"{group}/cgroup.subtree_control", "+cpu")
        yield Controllers(2, dict.fromkeys(NEEDED, group))


def _enable(group: Path) -> str | None:
    """Enable the needed controllers for groups inside this one. Returns what failed, or None."""
    if set(NEEDED) <= set(read(f"{group}/cgroup.subtree_control").split()):
        return None
    wanted = " ".join(f"+{name}" for name in NEEDED)
    try:
        write(f"{group}/cgroup.subtree_control", wanted)
    except OSError as error:
        if not _move_to_leaf(group):
            return f"{unless_shortage(error)}: other processes are in that group; {ALLOW}"
        try:
            write(f"{group}/cgroup.subtree_control", wanted)
        except OSError as again:
            return str(again)
    return None


def _move_to_leaf(group: Path) -> bool:
    """Move this process into a leaf if it is alone in the group: a group with processes cannot enable controllers."""
    if members(group) != {os.getpid()}:
        return False
    leaf = group / LEAF
    with contextlib.suppress(OSError):
        leaf.mkdir(exist_ok=True)
        write(f"{leaf}/cgroup.procs", str(os.getpid()))
        return True
    return False


def _group_in(mount: Mount, path: str | None) -> Path | None:
    """The path of the group, if it is in the mounted part of the hierarchy."""
    if path is None or ".." in path.split("/"):
        return None
    relative = os.path.relpath(path, mount.root)
    if relative.startswith(".."):
        return None
    group = mount.point / relative
    return group if group.is_dir() else None


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
