"""What is measured. Each row opens what it needs, hands out a pair of acts, and closes it again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.jail_rows import JAIL_ROWS
from bench.javascript_rows import JAVASCRIPT_ROWS
from bench.runner import Act, Open, Pair, Row, Target, process
from bench.server_rows import SERVER_ROWS
from bench.store_rows import STORE_ROWS
from bench.tool_rows import TOOL_ROWS
from paddock import Paddock

MB = 1024 * 1024
TEN_MB = [
    {"id": number, "name": f"customer {number}", "tags": ["a", "b"], "total": number / 7} for number in range(133_000)
]
LARGE = {"output_bytes": 16 * MB, "memory_bytes": 2048 * MB}
SCRIPT = "\n".join(
    [
        "orders = [{'id': i, 'customer': 'c' + str(i % 7), 'total': i * 1.5} for i in range(100)]",
        "def add(totals, order):",
        "    name = order['customer']",
        "    totals[name] = totals.get(name, 0) + order['total']",
        "    return totals",
        *(f"step_{n} = [order['total'] + {n} for order in orders if order['id'] > {n}]" for n in range(30)),
        "totals = {}",
        "for order in orders:",
        "    add(totals, order)",
        "print('customers', len(totals))",
        "sorted(totals.items())",
    ]
)


@asynccontextmanager
async def _against_monty() -> AsyncIterator[Pair]:
    from pydantic_monty import AsyncMonty

    async with Paddock() as paddock, AsyncMonty() as pool:

        async def ours() -> object:
            return await paddock.run("1+1")

        async def bare() -> object:
            async with pool.checkout() as session:
                return await session.feed_run("1+1")

        yield Pair(ours, bare)


@asynccontextmanager
async def _against_subprocess() -> AsyncIterator[Pair]:
    async with Paddock() as paddock:

        async def ours() -> object:
            return await paddock.run("1+1")

        yield Pair(ours, process(sys.executable, "-I", "-c", "1+1"))


@asynccontextmanager
async def _ten_megabytes() -> AsyncIterator[Pair]:
    async with Paddock() as paddock:

        async def ours() -> Any:
            result = await paddock.run("value", inputs={"value": TEN_MB}, limits=LARGE)
            return result.output

        async def theirs() -> Any:
            return json.loads(json.dumps(TEN_MB))

        if await ours() != TEN_MB:
            raise AssertionError("10 MB did not come back as they went in")
        yield Pair(ours, theirs)


@asynccontextmanager
async def _at_once() -> AsyncIterator[Pair]:
    async with Paddock() as paddock:

        async def at_once() -> None:
            await asyncio.gather(*(paddock.run("sum(range(1000))") for _ in range(100)))

        async def in_sequence() -> None:
            for _ in range(100):
                await paddock.run("sum(range(1000))")

        yield Pair(at_once, in_sequence)


def _starting(ours: tuple[str, ...], baseline: tuple[str, ...]) -> Open:
    """Two programs of Python, with their bytecode written, as pip leaves it, whatever the environment says of it."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        with TemporaryDirectory() as bytecode:
            environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
            environ["PYTHONPYCACHEPREFIX"] = bytecode
            yield Pair(process(*ours, environ=environ), process(*baseline, environ=environ))

    return opened


ASYNCIO = (sys.executable, "-c", "import asyncio")
_importing = _starting((sys.executable, "-c", "import paddock"), ASYNCIO)
_importing_all = _starting((sys.executable, "-c", "from paddock import Paddock, Config, Limits, Verdict"), ASYNCIO)
PADDOCK, NOTHING = str(Path(sys.executable).parent / "paddock"), (sys.executable, "-c", "")
_help = _starting((PADDOCK, "--help"), NOTHING)
_run_help = _starting((PADDOCK, "run", "--help"), NOTHING)


def _planning(*, cached: bool) -> Act:
    from paddock.config import Config
    from paddock.model.request import Request
    from paddock.planning.plan import make_plan

    config, number = Config(), 0

    async def plan() -> None:
        nonlocal number
        number += not cached
        made = make_plan(Request(f"{SCRIPT}\n# {number}"), config, engines=("monty",), tools=())
        if made.engine != "monty":
            raise AssertionError(f"the script of the bench no longer fits: {made.engine_reason}")

    return plan


@asynccontextmanager
async def _plan_cold() -> AsyncIterator[Pair]:
    yield Pair(_planning(cached=False), _parsing)


@asynccontextmanager
async def _plan_cached() -> AsyncIterator[Pair]:
    yield Pair(_planning(cached=True), _parsing)


async def _parsing() -> None:
    import ast

    ast.parse(SCRIPT)


ROWS = (
    Row("run", 'paddock.run("1+1")', "a bare pydantic-monty checkout", Target.at_most(2), _against_monty, 400),
    Row(
        "process",
        'paddock.run("1+1")',
        "subprocess python -I -c 1+1",
        Target.faster_by(20),
        _against_subprocess,
        40,
        calls=10,
    ),
    Row("10mb", "10 MB in and out", "json.dumps + json.loads", Target.at_most(2), _ten_megabytes, 7),
    Row("at-once", "100 runs at once", "100 in sequence", Target.none(), _at_once, 10),
    Row("import", "import paddock", "import asyncio", Target.more_by(50), _importing, 15),
    Row("import-all", "from paddock import Paddock, …", "import asyncio", Target.more_by(50), _importing_all, 15),
    Row("help", "paddock --help", "python -c ''", Target.within(300), _help, 10),
    Row("run-help", "paddock run --help", "python -c ''", Target.within(300), _run_help, 10),
    Row("plan-cold", "planning 40 lines, new", "ast.parse of them", Target.none(), _plan_cold, 100),
    Row("plan-cached", "planning 40 lines, seen before", "ast.parse of them", Target.none(), _plan_cached, 100),
    *JAIL_ROWS,
    *TOOL_ROWS,
    *JAVASCRIPT_ROWS,
    *STORE_ROWS,
    *SERVER_ROWS,
)
