"""Counts what runs could leave on the machine, apart from the pool's waiting guests."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from paddock.engines.jailed import CPythonEngine, JailedEngine
from paddock.jail import profiles
from paddock.jail.jail import Jail
from paddock.jail.pool import Pool
from paddock.jail.walls import roots
from paddock.jail.walls.cgroup import Slots
from paddock.run import Paddock
from tests.mounts import mounts

PATIENCE_SECONDS = 10
MARK = "paddock-escape"
"""Hostile programs put it in the name of everything that they make."""
PER_GUEST = 2  # the guest and its reaper
_NUMBER = re.compile(r"\[?\d+\]?")
OPEN_PER_GUEST = {"socket:": 2, "pipe:": 2, "anon_inode:[pidfd]": 1}


@dataclass(frozen=True)
class Traces:
    """Everything that is compared before and after a run."""

    processes: int  # those of the host and of its guests, without those that wait
    descriptors: Counter[str]
    mounts: frozenset[str]
    marked: frozenset[str]
    temporary: frozenset[str]
    folders: int  # of guests, in memory, without those of guests that wait
    groups: int  # that are there, without the slots that the pool knows
    members: int  # processes in them, without those that wait
    networks: frozenset[str]  # namespaces that the host's processes are in
    written: frozenset[str]  # files of guests in the profile `chroot`
    threads: int


def pool_of(paddock: Paddock) -> Pool:
    engine = paddock._engines.get("cpython")
    assert isinstance(engine, CPythonEngine)
    pool = engine._jail._pool
    assert pool is not None
    return pool


def pools_of(paddock: Paddock) -> list[Pool]:
    """All that have been started: an engine for JavaScript may have a second one."""
    engines = [engine for engine in paddock._engines._loaded.values() if isinstance(engine, JailedEngine)]
    jails = [jail for engine in engines for jail in vars(engine).values() if isinstance(jail, Jail)]
    return [jail._pool for jail in jails if jail._pool is not None]


async def settled(paddock: Paddock) -> Traces:
    """The traces when no guest is being made or ended any more."""
    pools = pools_of(paddock)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            for pool in pools:
                for shelf in pool._shelves.values():
                    if shelf.fill_timer is not None:  # it would begin in a moment
                        pool._fill(shelf)
            if not (tasks := [task for pool in pools for task in pool._tasks]):
                break
            await asyncio.wait(tasks)
            await asyncio.sleep(0)
    return _traces(paddock, pools)


async def same_as(before: Traces, paddock: Paddock) -> Traces:
    """Wait until there are no traces but those of before. Fails if that takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while _excess(before, now := await settled(paddock)) and time.monotonic() < deadline:
        await asyncio.sleep(0.01)  # the kernel buries a process after it has told of its death
    left = _excess(before, now)
    assert left == {}, left
    return now


def _excess(before: Traces, now: Traces) -> dict[str, object]:
    found = {
        "processes": max(0, now.processes - before.processes),
        "descriptors": {k: n - before.descriptors[k] for k, n in now.descriptors.items() if n > before.descriptors[k]},
        "mounts": now.mounts - before.mounts,
        "marked": now.marked,
        "temporary": now.temporary - before.temporary,
        "folders": max(0, now.folders),
        "groups": now.groups,
        "members": max(0, now.members),
        # A zygote that was replaced has another one; then the old one is gone.
        "networks": now.networks - before.networks if len(now.networks) > len(before.networks) else None,
        "written": now.written,
        "threads": max(0, now.threads - before.threads),
    }
    return {name: value for name, value in found.items() if value}


def _traces(paddock: Paddock, pools: list[Pool]) -> Traces:
    guests = [guest for pool in pools for guest in pool.waiting]
    waiting = len(guests)
    known = [slots for pool in pools if isinstance(slots := pool._limits._source, Slots)]
    descriptors = Counter(_descriptors({fd for slots in known for fd in _of_slots(slots)}))
    for kind, count in OPEN_PER_GUEST.items():
        descriptors[kind] -= waiting * count
    descriptors["anon_inode:[pidfd]"] -= sum(guest._pidfd is not None for guest in guests)
    groups = members = 0
    for pool in pools:
        slots = pool._limits._source
        if not isinstance(slots, Slots):
            continue
        for parent in dict.fromkeys(slots._parents.values()):
            found = [entry.path for entry in os.scandir(parent) if entry.is_dir()]
            groups = max(groups, len(found) - len(slots._all))
            inside = sum(len(_read(f"{group}/cgroup.procs").split()) for group in found)
            members = max(members, inside - len(pool.waiting))
        descriptors["anon_inode:[eventfd]"] -= sum(slot.oom_fd is not None for slot in slots._all)
    below = set(descendants())
    return Traces(
        processes=len(below) - PER_GUEST * waiting,
        descriptors=descriptors,
        mounts=mounts(),
        marked=frozenset(_marked()),
        temporary=frozenset(path.name for path in Path(tempfile.gettempdir()).iterdir()),
        folders=len(memory_folders()) - waiting,
        groups=groups,
        members=members,
        networks=frozenset(_networks(below)),
        written=frozenset(_written(paddock)),
        # The pool has one thread that empties slots, from when it first has to.
        threads=sum(not thread.name.startswith(("asyncio_", "paddock-slots")) for thread in threading.enumerate()),
    )


def _read(path: str) -> bytes:
    # Not with pathlib: this is done thousands of times.
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


def _descriptors(known: set[int]) -> Iterator[str]:
    """What else is open in this process, without the numbers that differ from one to the next."""
    for fd in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(fd) not in known:
            with suppress(FileNotFoundError):
                yield _NUMBER.sub("", os.readlink(f"/proc/self/fd/{fd}"))  # noqa: PTH115


def _of_slots(slots: Slots) -> Iterator[int]:
    """The files of control groups that the pool keeps open, of slots that it knows."""
    for slot in slots._all:
        for files in slot._groups.values():
            yield from files._fds.values()


def _networks(pids: Iterable[int]) -> Iterator[str]:
    for pid in pids:
        with suppress(OSError):  # it has ended, or hides it from an ordinary user
            yield os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115


def _written(paddock: Paddock) -> Iterator[str]:
    """What is there in the private folders of the guests that this suite has, waiting ones included: they have none."""
    base = paddock._config.jail.uid_base
    for slot in Path(paddock._config.data_directory, "roots").expanduser().glob(f"*/{roots.SLOTS}/*"):
        if slot.name.isdigit() and base <= int(slot.name) < base + profiles.UIDS:
            for folder in roots.WRITABLE:
                with suppress(FileNotFoundError):  # the tree of a guest is being made
                    yield from map(str, (slot / folder).iterdir())


def memory_folders() -> list[Path]:
    """Those of this user's guests in the profile `confined`, but for those of another host that is alive."""
    found = []
    for path in Path("/dev/shm").glob("paddock-*"):  # noqa: S108
        with suppress(FileNotFoundError):
            is_ours = path.stat().st_uid == os.geteuid() and not _is_of_another(int(path.name.split("-")[2]))
            found += [path] if is_ours else []
    return found


def _is_of_another(pid: int) -> bool:
    return pid != os.getpid() and Path(f"/proc/{pid}").exists() and pid not in descendants()


def _marked() -> Iterator[str]:
    for folder in ("/tmp", "/dev/shm", "/run", "/var/tmp", "/files"):  # noqa: S108
        with suppress(FileNotFoundError):
            yield from (f"{folder}/{name}" for name in os.listdir(folder) if MARK in name)  # noqa: PTH208
    sockets = _read("/proc/net/unix").decode(errors="replace").splitlines()
    yield from (line for line in sockets if MARK in line and "host" not in line)


def _numbers() -> list[int]:
    """Of all processes that there are."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def descendants(root: int | None = None) -> list[int]:
    """Every process below `root`, this one without it, however deep."""
    parents: dict[int, int] = {}
    for name in _numbers():
        with suppress(FileNotFoundError, ProcessLookupError):
            parents[name] = int(_read(f"/proc/{name}/stat").rpartition(b")")[2].split()[1])
    root = root or os.getpid()
    found: list[int] = []
    for pid in parents:
        above = pid
        while above in parents and above != root:
            above = parents[above]
        if above == root and pid != root:
            found.append(pid)
    return found


def of_ids(first: int, count: int) -> list[int]:
    """Every process with a real uid in a range that is not dead yet; who buries the dead is not ours."""
    found: list[int] = []
    for name in _numbers():
        with suppress(FileNotFoundError, ProcessLookupError):
            status = Path(f"/proc/{name}/status").read_text()
            uid = int(status.partition("Uid:")[2].split()[0])
            if first <= uid < first + count and "State:\tZ" not in status:
                found.append(name)
    return found


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """The most memory that this process has had since `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024
