"""Figures about full Python in its jail: what a waiting guest holds, and what many runs leave behind."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bench.figures import Amount
from paddock import Config, Paddock
from paddock.jail.guest import Guest

WAITING = 8
RUNS = 10_000
SETTLED = 500
MB = 1024 * 1024


def waiting_memory() -> Amount:
    return asyncio.run(_waiting_memory("cpython", "python", "pandas preloaded", 6))


def waiting_memory_of_quickjs() -> Amount:
    return asyncio.run(_waiting_memory("quickjs", "javascript", "quickjs", math.inf))


def waiting_memory_of_node() -> Amount:
    return asyncio.run(_waiting_memory("node", "javascript", "node", math.inf))


async def _waiting_memory(engine: str, language: str, what: str, most: float) -> Amount:
    """Proportional memory of a waiting guest and its reaper."""
    config = Config()
    guests_config = replace(getattr(config, engine), min_waiting=WAITING, max_waiting=WAITING)
    async with Paddock(replace(config, **{engine: guests_config})) as paddock:
        await asyncio.gather(*(paddock.run("1", engine=engine, language=language) for _ in range(WAITING)))
        guests: list[Guest] = []
        while len(guests) < WAITING:
            await asyncio.sleep(0.1)
            guests = list(paddock._engines.get(engine)._jail._pool._waiting)  # type: ignore[attr-defined] # noqa: SLF001
        held = [_proportional_bytes(guest.pid) + _of_reaper(guest, len(guests)) for guest in guests]
        name = "waiting-memory" if engine == "cpython" else f"waiting-memory-{engine}"
        return Amount(name, f"MB for a waiting guest with its reaper, {what}", sum(held) / len(held) / MB, most)


def _of_reaper(guest: Guest, others: int) -> int:
    """Where reapers have the warden's very memory, a share of it: the kernel tells each that all of it is its own."""
    held = _proportional_bytes(guest._reaper_pid())  # noqa: SLF001
    return held // (others + 1) if guest._has_namespaces else held  # noqa: SLF001


def _proportional_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


@dataclass(frozen=True, slots=True)
class Growth(Amount):
    """Bytes within a limit, and nothing else that there is more of."""

    more: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        return self.amount <= self.at_most and not self.more


def growth() -> Growth:
    """What the host has more of after many runs."""
    return asyncio.run(_growth())


async def _growth() -> Growth:
    # As many wait before as after: how many do follows demand.
    guests = replace(Config().cpython, min_waiting=WAITING, max_waiting=WAITING)
    async with Paddock(replace(Config(), cpython=guests)) as paddock:

        async def runs(count: int) -> None:
            async def some() -> None:
                for _ in range(count // 4):
                    await paddock.run("1", engine="cpython")

            await asyncio.gather(*(some() for _ in range(4)))

        await runs(SETTLED)
        before = await _settled()
        await runs(RUNS)
        after = await _settled()
    grown = ", ".join(f"{name} {before[name]} -> {after[name]}" for name in before)
    more = tuple(name for name in before if name != "bytes" and after[name] > before[name])
    megabytes = (after["bytes"] - before["bytes"]) / MB
    return Growth("growth", f"MB more after {RUNS} runs ({grown})", megabytes, 8, more)


async def _settled() -> dict[str, int]:
    """What there is, when it is the same twice."""
    seen: dict[str, int] = {}
    while (now := _counted()) != seen:
        seen = now
        await asyncio.sleep(0.5)
    return seen


def _counted() -> dict[str, int]:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "fds": sum(not _is_of_a_slot(fd) for fd in Path("/proc/self/fd").iterdir()),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "processes": len(list(_descendants(os.getpid()))),
        "bytes": pages * 4096 // MB * MB,
    }


def _is_of_a_slot(fd: Path) -> bool:
    """Slots of control groups are made as they are needed, up to a number, and keep some files open."""
    with suppress(FileNotFoundError):
        return "cgroup" in str(fd.readlink()) or "eventfd" in str(fd.readlink())
    return True


def _descendants(pid: int) -> Iterator[int]:
    with suppress(FileNotFoundError, ProcessLookupError):  # it may end while it is looked at
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from _descendants(int(child))
