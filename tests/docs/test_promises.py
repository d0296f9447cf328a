"""What the pages say of values and of workers is so."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime as dt
import decimal
import math
import os
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock import BadInput, Paddock
from tests.anomaly.processes import children
from tests.docs.pages import ROOT, code

VALUES = ROOT / "docs" / "values.md"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock() as opened:
        yield opened


def value_rows() -> list[list[str]]:
    return _value_rows(VALUES.read_text(encoding="utf-8").partition("## JavaScript\n")[0])


def javascript_value_rows() -> list[list[str]]:
    return _value_rows(VALUES.read_text(encoding="utf-8").partition("## JavaScript\n")[2])


def _value_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines[1:]]


async def differing(paddock: Paddock, scripts: list[tuple[str, str]], **options: Any) -> dict[str, str | None]:
    """The scripts of which something else came back than is shown, with that."""
    found: dict[str, str | None] = {}
    for script, shown in scripts:
        result = await paddock.run(script, **options)
        given = result.output_json if result.error is None else f"{result.error.type}: {result.error.message}"
        if given is None or not re.fullmatch(re.escape(shown).replace("…", ".*"), given):
            found[script] = given
    return found


@pytest.mark.asyncio(loop_scope="module")
async def test_a_value_comes_back_as_the_table_says(paddock: Paddock) -> None:
    scripts = [(code(row[3]), code(row[4])) for row in value_rows() if code(row[4])]
    assert await differing(paddock, scripts, engine="cpython") == {}


@pytest.mark.parametrize("engine", ["quickjs", "node"])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_value_of_javascript_comes_back_as_the_table_says(paddock: Paddock, engine: str) -> None:
    scripts = [(code(row[2]), code(row[3])) for row in javascript_value_rows()]
    assert await differing(paddock, scripts, language="javascript", engine=engine) == {}


@dataclasses.dataclass
class Point:
    x: int


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


async def coroutine() -> None: ...


def unawaited() -> Any:
    made = coroutine()
    made.close()
    return made


SAME, REFUSED = "the same", BadInput
# By the first cell of the table: what is passed as an input, and what arrives. Every row has its entries.
INPUTS: dict[str, list[tuple[Callable[[], Any], Any]]] = {
    "`None`": [(lambda: None, SAME)],
    "`bool`": [(lambda: True, SAME)],
    "`int`": [(lambda: -(2**200), SAME), (lambda: 10**5000, REFUSED)],
    "`float`": [(lambda: 0.1, SAME), (lambda: -0.0, SAME)],
    "NaN, infinities": [(lambda: math.nan, REFUSED), (lambda: [math.inf], REFUSED)],
    "`str`": [(lambda: "größe\0\n😀", SAME)],
    "`bytes`": [(lambda: b"a", REFUSED)],
    "`list`": [(lambda: [1, [2.0, None]], SAME)],
    "`tuple`, namedtuple": [(lambda: (1, (2,)), [1, [2]])],
    "`set`, `frozenset`": [(lambda: {1}, REFUSED), (frozenset, REFUSED)],
    "`dict`": [(lambda: {"b": 1, "a": {}}, SAME)],
    "`dict` with other keys": [
        (lambda: {1: 1, None: 2, 1.5: 3}, {"1": 1, "null": 2, "1.5": 3}),
        (lambda: {(1, 2): 3}, REFUSED),
    ],
    "`Counter`, `defaultdict`, `deque`": [
        (lambda: collections.Counter("aab"), {"a": 2, "b": 1}),
        (lambda: collections.defaultdict(int, a=1), {"a": 1}),
        (lambda: collections.deque([1]), REFUSED),
    ],
    "`datetime`, `date`, `time`": [(lambda: dt.date(2026, 1, 2), REFUSED)],
    "`timedelta`": [(lambda: dt.timedelta(1), REFUSED)],
    "`Path`": [(lambda: Path("a"), REFUSED)],
    "`Decimal`": [(lambda: decimal.Decimal(1), REFUSED)],
    "dataclass": [(lambda: Point(1), REFUSED)],
    "`range`, `dict` views": [(lambda: range(2), REFUSED), ({1: 2}.keys, REFUSED)],
    "`map`, `zip`, generator expression": [(lambda: map(str, [1]), REFUSED), (lambda: (n for n in [1]), REFUSED)],
    "functions, classes, modules, other objects": [(lambda: len, REFUSED), (object, REFUSED), (lambda: math, REFUSED)],
    "coroutine": [(unawaited, REFUSED)],
    "a value that contains itself": [(cyclic, REFUSED)],
    "nested too deeply": [(lambda: nested(500), SAME), (lambda: nested(100_000), REFUSED)],
    "too large": [(lambda: "x" * 3_000_000, SAME)],
    "lone surrogate": [(lambda: ["a\ud800"], REFUSED), (lambda: "\ud800" * 10_000, REFUSED)],
}


def test_every_row_of_the_table_is_tried_as_an_input() -> None:
    assert {row[0] for row in value_rows()} == INPUTS.keys()
    refusing = {row[0] for row in value_rows() if "refused" in row[1]}
    assert refusing == {name for name, tried in INPUTS.items() if any(wanted is REFUSED for _, wanted in tried)}


@pytest.mark.asyncio(loop_scope="module")
async def test_an_input_arrives_as_the_table_says(paddock: Paddock) -> None:
    for make, wanted in (trial for trials in INPUTS.values() for trial in trials):
        value = make()
        if wanted is REFUSED:
            with pytest.raises(BadInput):
                await paddock.run("value", inputs={"value": value})
            continue
        result = await paddock.run("value", inputs={"value": value}, limits={"output_bytes": 4_000_000})
        assert result.error is None
        assert repr(result.output) == repr(value if wanted == SAME else wanted)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows a process's environment")
async def test_a_worker_has_none_of_the_hosts_environment() -> None:
    before = set(children())
    async with Paddock() as opened:
        await opened.run("1 + 1", engine="monty")
        workers = set(children()) - before
        seen = [variables for worker in workers if (variables := await variables_of(worker)) is not None]
    assert seen
    # What the shell and Python set on the way, from nothing.
    assert set().union(*seen) <= {"PWD", "LC_CTYPE", "_", "SHLVL", "OLDPWD"}


async def variables_of(pid: int) -> set[str] | None:
    """Those that a child was started with. Until it becomes another program it shows ours; None where it is gone."""
    try:
        async with asyncio.timeout(30):
            while Path(f"/proc/{pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes():
                await asyncio.sleep(0.001)
        lines = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return {os.fsdecode(line.partition(b"=")[0]) for line in lines if line}
