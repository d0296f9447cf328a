"""Measures pairs alternately in one run, so that a noisy machine is noisy for both, and reports ratios."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from typing import Any

Act = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Pair:
    """What is measured, and what it is measured against."""

    ours: Act
    baseline: Act


Open = Callable[[], AbstractAsyncContextManager[Pair]]


@dataclass(frozen=True, slots=True)
class Target:
    """When a row is met, given the medians of ours and of the baseline in milliseconds."""

    text: str
    met: Callable[[float, float], bool]

    @classmethod
    def none(cls) -> Target:
        return cls("-", lambda ours, baseline: True)

    @classmethod
    def at_most(cls, times: float) -> Target:
        return cls(f"at most {times:g}x", lambda ours, baseline: ours / baseline <= times)

    @classmethod
    def faster_by(cls, times: float) -> Target:
        return cls(f"at most 1/{times:g}", lambda ours, baseline: ours / baseline <= 1 / times)

    @classmethod
    def more_by(cls, most: float) -> Target:
        return cls(f"at most {most:g} ms more", lambda ours, baseline: ours - baseline <= most)

    @classmethod
    def within(cls, most: float) -> Target:
        return cls(f"at most {most:g} ms", lambda ours, baseline: ours <= most)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table, not yet measured."""

    name: str
    what: str
    baseline: str
    target: Target
    open: Open
    rounds: int
    calls: int = 1
    """How often ours is called in one round, each call timed. Beside a process that takes much longer, one call alone
    would be measured with cold caches."""
    baseline_calls: int = 1
    """The same for the other side."""
    settle_seconds: float = 0.0
    """Before each turn of either side: what the other one still does after its answer is not measured with this one."""
    pause_seconds: float = 0.0
    """Before each call of either side, untimed: where a row says that something waits, it needs the time to come."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table. Times are milliseconds; `ratio` compares the medians, `ratio_of_minima` the best."""

    name: str
    what: str
    baseline: str
    ours_p50: float
    ours_minimum: float
    ours_p99: float
    baseline_p50: float
    baseline_minimum: float
    ratio: float
    ratio_of_minima: float
    target: str
    met: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def process(*argv: str, environ: Mapping[str, str] | None = None) -> Act:
    """A program, from its start to its end."""

    async def run() -> None:
        subprocess.run(argv, check=True, capture_output=True, env=environ)

    return run


async def measure(row: Row) -> Measured:
    """Run both sides in turn, the first few rounds unrecorded, and compare. The medians decide whether a row is met."""
    ours: list[float] = []
    baseline: list[float] = []
    async with row.open() as pair:
        sides = [(pair.ours, ours, row.calls), (pair.baseline, baseline, row.baseline_calls)]
        for number in range(-max(1, row.rounds // 10), row.rounds):
            for act, taken, calls in sides if number % 2 else reversed(sides):
                await asyncio.sleep(row.settle_seconds)
                times = [await _timed(act, row.pause_seconds) for _ in range(calls)]
                taken.extend(times if number >= 0 else [])
    middle, best = statistics.median(ours), min(ours)
    middle_baseline, best_baseline = statistics.median(baseline), min(baseline)
    met = row.target.met(middle, middle_baseline)
    return Measured(
        name=row.name,
        what=row.what,
        baseline=row.baseline,
        ours_p50=middle,
        ours_minimum=best,
        ours_p99=sorted(ours)[int(len(ours) * 0.99)],
        baseline_p50=middle_baseline,
        baseline_minimum=best_baseline,
        ratio=middle / middle_baseline,
        ratio_of_minima=best / best_baseline,
        target=row.target.text,
        met=met,
    )


async def _timed(act: Act, pause_seconds: float) -> float:
    await asyncio.sleep(pause_seconds)
    started = time.perf_counter()
    await act()
    return (time.perf_counter() - started) * 1000
