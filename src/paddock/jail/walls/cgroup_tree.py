"""Where groups can be made on this machine, read from /proc/self/mountinfo and /proc/self/cgroup."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.jail.walls.cgroup_end import members, read, write

NEEDED = ("memory", "pids")
WANTED = ("memory", "pids", "cpu", "cpuacct")
LEAF = "paddock-host"
ALLOW = (
    "run as a service with Delegate=yes, in `systemd-run --user --scope -p Delegate=yes`, "
    "or in a container whose cgroup is its own and writable"
)


@dataclass(frozen=True, slots=True)
class Controllers:
    """The groups in which ours are made, by controller; on v2 it is one directory for all."""

    version: int
    parents: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted hierarchy: the part of it that is visible, and where."""

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
    """The group of this process by controller; v2's is under the empty name."""
    found: dict[str, str] = {}
    for line in (proc / "self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        found.update(dict.fromkeys(names.split(","), path))
    return found


def candidates(proc: Path = Path("/proc")) -> Iterator[Controllers | str]:
    """Places worth trying, the best first, or why one is not. Enables controllers on v2 where that is possible."""
    try:
        mounted, own = mounts(proc), own_groups(proc)
    except OSError as error:
        yield f"{error}: which control groups there are is told by /proc"
        return
    for mount in mounted:
        if mount.version == 2 and (group := _inside(mount, own.get(""))):
            yield from _candidates_v2(group, mount.point)
    parents: dict[str, Path] = {}
    for name in WANTED:
        for mount in mounted:
            if mount.version == 1 and name in mount.options and (group := _inside(mount, own.get(name))):
                parents.setdefault(name, group)
    missing = [name for name in NEEDED if name not in parents]
    if not missing:
        yield Controllers(1, parents)
    elif len(missing) < len(NEEDED):
        yield f"cgroup v1 is mounted writable without {' and '.join(missing)}"


def _candidates_v2(own: Path, point: Path) -> Iterator[Controllers | str]:
    """Our own group first, because its limits then hold for guests too; then the groups that it is in."""
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
            yield f"{group} (cgroup v2) is not ours to write: {ALLOW}"
            continue
        if reason := _enable(group):
            yield reason
            continue
        # Weights are worth having and not worth failing for: the kernel refuses them where real-time tasks run.
        with contextlib.suppress(OSError):
            write(f"{group}/cgroup.subtree_control", "+cpu")
        yield Controllers(2, dict.fromkeys(NEEDED, group))


def _enable(group: Path) -> str | None:
    """Let groups inside this one have the needed controllers, or say why not."""
    if set(NEEDED) <= set(read(f"{group}/cgroup.subtree_control").split()):
        return None
    wanted = " ".join(f"+{name}" for name in NEEDED)
    try:
        write(f"{group}/cgroup.subtree_control", wanted)
    except OSError as error:
        if not _step_aside(group):
            return f"{error}: other processes are in that group; {ALLOW}"
        try:
            write(f"{group}/cgroup.subtree_control", wanted)
        except OSError as again:
            return str(again)
    return None


def _step_aside(group: Path) -> bool:
    """Move ourselves into a leaf, where nobody else is in the group: a group of processes can have no controllers."""
    if members(group) != {os.getpid()}:
        return False
    leaf = group / LEAF
    with contextlib.suppress(OSError):
        leaf.mkdir(exist_ok=True)
        write(f"{leaf}/cgroup.procs", str(os.getpid()))
        return True
    return False


def _inside(mount: Mount, path: str | None) -> Path | None:
    """Where the group is in the file system, if the mounted part of the hierarchy has it."""
    if path is None or ".." in path.split("/"):
        return None
    relative = os.path.relpath(path, mount.root)
    if relative.startswith(".."):
        return None
    group = mount.point / relative
    return group if group.is_dir() else None


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
