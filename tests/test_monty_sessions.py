"""Sessions on Monty: the state of one run is loaded before the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from paddock.config import Config, MontyConfig
from paddock.model.result import RunResult, Verdict
from paddock.run import Paddock

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    def echo(value: int) -> dict[str, int]:
        return {"value": value}

    async with Paddock(Config(monty=MontyConfig(max_workers=2)), tools=[echo]) as made:
        yield made


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(abs(hash(request.node.name)))


async def ran(paddock: Paddock, name: str, *cells: str, **options: Any) -> RunResult:
    """The result of the last of these cells."""
    for code in cells:
        result = await paddock.run(code, session=name, engine="monty", **options)
    return result


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        (["x = 1\ndef f(n):\n    return n + x", "f(2)"], 3),
        (["import json", "json.dumps([1])"], "[1]"),
        (["20 + 1", "x = 5", "_ * 2"], 42),
        (["async def g():\n    return await echo({'value': 3})", "await g()"], {"value": 3}),
        (["x = 1", "1 / 0", "1 +", "x"], 1),
    ],
)
async def test_a_later_cell_finds_what_earlier_ones_left(
    paddock: Paddock, name: str, cells: list[str], value: Any
) -> None:
    assert (await ran(paddock, name, *cells)).output == value


@pytest.mark.parametrize(
    ("code", "limits"),
    [
        ("x = 2\nwhile True:\n    pass", {"wall_seconds": 0.3}),
        ("x = 2\ny = 'a' * 100_000_000", {"memory_bytes": 50_000_000}),
        ("x = 2\nprint('a' * 10_000)", {"output_bytes": 1000}),
    ],
)
async def test_a_limit_keeps_the_session(paddock: Paddock, name: str, code: str, limits: dict[str, float]) -> None:
    result = await ran(paddock, name, "x = 1")
    result = await ran(paddock, name, code, limits=limits)
    assert (result.verdict is Verdict.OK, result.session and result.session.kept) == (False, True)
    assert (await ran(paddock, name, "x")).output in (1, 2)


@pytest.mark.parametrize("count", [70, 300])  # the second takes the worker more memory to save than it may have
async def test_a_session_that_holds_too_much_to_be_kept_says_so(paddock: Paddock, name: str, count: int) -> None:
    result = await ran(paddock, name, f"x = 'a' * {count * 1024 * 1024}\nlen(x)")
    assert result.output == count * 1024 * 1024
    assert result.session is not None
    assert (result.session.kept, "the most that is kept" in str(result.session.reason)) == (False, True)


async def test_errors_name_the_cell(paddock: Paddock, name: str) -> None:
    error = (await ran(paddock, name, "def f():\n    return 1 / 0", "\nf()")).error
    assert error is not None
    assert (error.line, 'File "cell 2", line 2' in error.traceback) == (2, True)


async def test_a_fork_is_independent(paddock: Paddock, name: str) -> None:
    await ran(paddock, name, "x = [1]")
    assert (await ran(paddock, f"{name}.b", "x.append(2)\nx", fork_from=name)).output == [1, 2]
    assert (await ran(paddock, name, "x")).output == [1]


async def test_idle_sessions_take_no_worker(paddock: Paddock, name: str) -> None:
    names = [f"{name}.{number}" for number in range(6)]
    await asyncio.gather(*(ran(paddock, each, f"x = {each!r}") for each in names))
    results = await asyncio.gather(*(ran(paddock, each, "x") for each in names))
    assert [each.output for each in results] == names


async def test_a_run_that_reaches_the_lower_memory_limit_of_an_earlier_one_says_so_and_does_not_show_how_to_forge_that(
    paddock: Paddock, name: str
) -> None:
    await paddock.run("x = 1", session=name, engine="monty", limits={"memory_bytes": 32 << 20})
    lower: dict[str, Any] = {"session": name}
    for options in (lower, {"session": f"{name}-copy", "fork_from": name}):
        result = await paddock.run("'a' * 300_000_000", engine="monty", limits={"memory_bytes": 64 << 20}, **options)
        assert result.verdict is Verdict.OUT_OF_MEMORY
        assert result.error is not None
        assert " bytes > " not in result.error.message
