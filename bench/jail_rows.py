"""Rows about full Python in its jail."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bench.runner import Act, Open, Pair, Row, Target, process
from paddock import Config, Paddock
from paddock.config import GuestsConfig
from paddock.jail.environment_build import build
from paddock.jail.environments import configured
from paddock.model.environments import EnvironmentConfig

PANDAS = """
import pandas as pd
frame = pd.DataFrame({"city": ["a", "b", "a", "c"], "amount": [1.5, 2.0, 3.5, 4.0]})
frame.groupby("city")["amount"].sum().to_dict()
"""
IN_FLIGHT = 4
RUNS = 40
CALLS = 100
REFILL_SECONDS = 0.03


def bare() -> Config:
    """Full Python without packages, as `python -I` is."""
    return Config(environments={"bare": EnvironmentConfig()}, cpython=GuestsConfig(environment="bare"))


def without_waiting() -> Config:
    """Every run must have its guest made."""
    return Config(cpython=GuestsConfig(min_waiting=0, max_waiting=0))


def _run(paddock: Paddock, code: str) -> Act:
    async def run() -> None:
        result = await paddock.run(code, engine="cpython")
        if result.error is not None:
            raise AssertionError(result.error)

    return run


def in_flight(act: Act, runs: int = RUNS) -> Act:
    """So many of it, some at a time."""

    async def all_of_them() -> None:
        async def some() -> None:
            for _ in range(runs // IN_FLIGHT):
                await act()

        await asyncio.gather(*(some() for _ in range(IN_FLIGHT)))

    return all_of_them


def spawned(*argv: str) -> Act:
    """A process of its own, which others need not wait for."""

    async def run() -> None:
        started = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.DEVNULL)
        await started.wait()

    return run


def _environment_python() -> str:
    config = Config()
    return build(configured(config, "default"), config.data_directory).executable


def _against(config: Callable[[], Config], code: str, baseline: Callable[[], Act]) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        async with Paddock(config()) as paddock:
            yield Pair(_run(paddock, code), baseline())

    return opened


def _sustained(config: Callable[[], Config], code: str, python: Callable[[], str]) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        async with Paddock(config()) as paddock:
            yield Pair(in_flight(_run(paddock, code)), in_flight(spawned(python(), "-I", "-c", code)))

    return opened


def _calls(code: str) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        async def tool(n: int) -> int:
            return n

        async with Paddock(tools=[tool]) as paddock:
            yield Pair(_run(paddock, code), _run(paddock, "import asyncio\nawait asyncio.sleep(0)"))

    return opened


def _bwrap() -> Act:
    walls = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    return process("bwrap", *walls, "--tmpfs", "/tmp", sys.executable, "-I", "-c", "1")  # noqa: S108


ONE_BY_ONE = f"for n in range({CALLS}):\n    await tool({{'n': n}})"
TOGETHER = f"import asyncio\nawait asyncio.gather(*[tool({{'n': n}}) for n in range({CALLS})])"
CALLED = Target.more_by(0.5 * CALLS)

JAIL_ROWS = (
    Row(
        "jail",
        "1+1 on cpython, a guest waiting",
        "python -I -c 1",
        Target.faster_by(8),
        _against(Config, "1+1", lambda: process(sys.executable, "-I", "-c", "1")),
        100,
        pause_seconds=REFILL_SECONDS,
    ),
    *(
        [
            Row(
                "jail-bwrap",
                "1+1 on cpython, a guest waiting",
                "bwrap python -I -c 1",
                Target.faster_by(15),
                _against(Config, "1+1", _bwrap),
                50,
                pause_seconds=REFILL_SECONDS,
            )
        ]
        if shutil.which("bwrap")
        else []
    ),
    Row(
        "pandas",
        "import pandas, a groupby, a guest waiting",
        "a fresh interpreter",
        Target.faster_by(60),
        _against(Config, PANDAS, lambda: process(_environment_python(), "-I", "-c", PANDAS)),
        20,
        calls=3,
        pause_seconds=REFILL_SECONDS,
    ),
    Row(
        "sustained",
        f"{RUNS} runs, {IN_FLIGHT} in flight, no packages",
        "as many python -I -c 1",
        Target.faster_by(3),
        _sustained(bare, "1", lambda: sys.executable),
        10,
    ),
    Row(
        "sustained-pandas",
        f"{RUNS} runs of the groupby, {IN_FLIGHT} in flight",
        "as many fresh interpreters",
        Target.faster_by(45),
        _sustained(Config, PANDAS, _environment_python),
        2,
    ),
    Row(
        "jail-empty",
        "1+1 on cpython, nobody waiting",
        "python -I -c 1",
        Target.none(),
        _against(without_waiting, "1+1", lambda: process(sys.executable, "-I", "-c", "1")),
        100,
    ),
    Row("calls", f"{CALLS} tool calls one by one", "a run without", CALLED, _calls(ONE_BY_ONE), 20),
    Row("calls-at-once", f"{CALLS} tool calls at once", "a run without", CALLED, _calls(TOGETHER), 20),
)
