"""Measures the sides of a row in turn, so that a noisy machine is noisy for all of them, and compares medians."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from typing import Any

Act = Callable[[Any], Awaitable[float | None]]
"""One call of a side with a script. A side that measures itself returns milliseconds."""
Sides = Mapping[str, Act]
"""By name; the first is ours."""


@dataclass(frozen=True, slots=True)
class Target:
    """The most milliseconds that our median may take, given the medians of all sides."""

    text: str
    limit: Callable[[Mapping[str, float]], float]

    @classmethod
    def within(cls, milliseconds: float, text: str = "") -> Target:
        return cls(text or f"at most {milliseconds:g} ms", lambda p50: milliseconds)

    @classmethod
    def share(cls, side: str, share: float) -> Target:
        text = f"{share:g}" if share >= 1 else f"1/{1 / share:g}"
        return cls(f"at most {text} of {side}", lambda p50: p50[side] * share)


@dataclass(frozen=True, slots=True)
class Row:
    """A comparison to measure. `open` starts what the sides need, and stops it again."""

    name: str
    what: str
    open: Callable[[], AbstractAsyncContextManager[Sides]]
    rounds: int
    script: Callable[[int], Any] = lambda number: number
    """Makes what the sides are called with, untimed. All sides get the same, and no number comes twice."""
    calls: int = 1
    """Calls of each side in its turn: one call after another program's turn is measured with cold caches."""
    pause_seconds: float = 0.0
    """Before each call, untimed: where a row says that a guest is waiting, the pool needs time to make one."""
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A row with the median of each side in milliseconds."""

    name: str
    what: str
    sides: dict[str, float]
    target: str | None
    limit: float | None
    met: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.what}"]
        ours = next(iter(self.sides.values()))
        for side, p50 in self.sides.items():
            ratio = "" if p50 == ours else f"  ratio {ours / p50:.2f}" if ours > p50 else f"  ratio 1/{p50 / ours:.2f}"
            lines.append(f"    {side:40} p50 {p50:9.2f} ms{ratio}")
        if self.target is not None:
            lines.append(f"    target: {self.target} ({self.limit:.2f} ms): {'met' if self.met else 'MISSED'}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Figure:
    """Something counted rather than timed, with the most that it may be."""

    name: str
    what: str
    amount: float
    at_most: float

    @property
    def met(self) -> bool:
        return self.amount <= self.at_most

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}

    def __str__(self) -> str:
        return f"{self.name}: {self.amount:g} {self.what}; at most {self.at_most:g}: {'met' if self.met else 'MISSED'}"


async def measure(row: Row) -> Measured:
    """Call every side in each round, in alternating order. The first rounds warm up and are not recorded."""
    warm_up = max(1, row.rounds // 10)
    async with row.open() as sides:
        taken: dict[str, list[float]] = {side: [] for side in sides}
        for number in range(warm_up + row.rounds):
            scripts = [row.script(each) for each in range(number * row.calls, (number + 1) * row.calls)]
            for side, act in list(sides.items())[:: 1 if number % 2 else -1]:
                times = [await _timed(act, script, row.pause_seconds) for script in scripts]
                taken[side] += times if number >= warm_up else []
    p50 = {side: statistics.median(times) for side, times in taken.items()}
    ours = next(iter(p50.values()))
    limit = row.target.limit(p50) if row.target else None
    return Measured(
        name=row.name,
        what=row.what,
        sides=p50,
        target=row.target.text if row.target else None,
        limit=limit,
        met=limit is None or ours <= limit,
    )


def process(argv: Callable[[Any], Sequence[str]], env: Mapping[str, str] | None = None) -> Act:
    """Start a program and wait for its end."""

    async def act(script: Any) -> None:
        subprocess.run(argv(script), check=True, capture_output=True, env=env)

    return act


def process_in_flight(argv: Callable[[Any], Sequence[str]]) -> Act:
    """The same without blocking the event loop."""

    async def act(script: Any) -> None:
        started = await asyncio.create_subprocess_exec(*argv(script), stdout=asyncio.subprocess.DEVNULL)
        assert await started.wait() == 0

    return act


def in_flight(act: Act, at_once: int = 4) -> Act:
    """Call `act` with each of a list of scripts, so many at a time."""

    async def all_of_them(scripts: list[Any]) -> None:
        waiting = iter(scripts)

        async def some() -> None:
            for script in waiting:
                await act(script)

        await asyncio.gather(*(some() for _ in range(at_once)))

    return all_of_them


async def _timed(act: Act, script: Any, pause_seconds: float) -> float:
    await asyncio.sleep(pause_seconds)
    started = time.perf_counter()
    own_time = await act(script)
    return (time.perf_counter() - started) * 1000 if own_time is None else own_time
