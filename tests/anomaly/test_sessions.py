"""Sessions of the light engine: none is lost, none is used twice, and what a script sends through one is bounded."""

from __future__ import annotations

import asyncio
import gc
import random

import pytest

from paddock.config import Config, MontyConfig
from paddock.errors import EngineCrashed
from paddock.model.result import RunResult, Verdict
from paddock.run import Paddock
from tests.anomaly.processes import children, wait_until_gone


def with_workers(most: int) -> Config:
    return Config(engine="monty", monty=MontyConfig(min_workers=1, max_workers=most))


@pytest.mark.parametrize("config", [with_workers(1), with_workers(2), Config()], ids=["monty-1", "monty-2", "cpython"])
async def test_cancelling_runs_at_any_moment_loses_no_worker(config: Config) -> None:
    chance = random.Random(3)  # noqa: S311
    async with Paddock(config) as paddock:
        for _ in range(8):
            limits = [{"wall_seconds": chance.choice([20, 30])} for _ in range(20)]
            runs = [
                asyncio.create_task(paddock.run("sum(range(1000))", engine="monty", limits=limit)) for limit in limits
            ]
            for run in runs[::2]:
                asyncio.get_running_loop().call_later(chance.random() / 20, run.cancel)
            ended = await asyncio.wait_for(asyncio.gather(*runs, return_exceptions=True), 30)
            assert {type(end) for end in ended} <= {RunResult, asyncio.CancelledError}
        assert (await asyncio.wait_for(paddock.run("1 + 1", engine="monty"), 30)).output == 2
    assert children() == []


@pytest.mark.parametrize("most", [1, 4])
async def test_closing_ends_the_runs_that_wait_for_a_worker_too(most: int) -> None:
    paddock = Paddock(with_workers(most))
    await paddock.run("1", engine="monty")
    runs = [asyncio.create_task(paddock.run("sum(range(300_000))", engine="monty")) for _ in range(30)]
    await asyncio.sleep(0)
    await paddock.aclose()
    ended = await asyncio.wait_for(asyncio.gather(*runs, return_exceptions=True), 30)
    verdicts = {end.verdict for end in ended if isinstance(end, RunResult)}
    assert {type(end) for end in ended} <= {RunResult, EngineCrashed}
    assert verdicts <= {Verdict.OK, Verdict.CANCELLED}
    assert children() == []


async def test_a_type_check_finds_room_beside_the_session_in_waiting() -> None:
    async with Paddock(with_workers(1)) as paddock:
        await paddock.run("1", engine="monty")
        results = await asyncio.wait_for(
            asyncio.gather(*(paddock.run("1", engine="monty", type_check=n % 2 == 0) for n in range(6))), 30
        )
    assert {result.verdict for result in results} == {Verdict.OK}


@pytest.mark.parametrize("problem", [SystemExit(3), KeyboardInterrupt(), StopIteration("x")], ids=repr)
def test_what_a_tool_cannot_raise_through_a_future_is_its_answer_all_the_same(problem: BaseException) -> None:
    def tool() -> None:
        raise problem

    with Paddock(tools=[tool]) as paddock:
        result = paddock.run_sync("await tool()", engine="monty")
    assert result.verdict is Verdict.RAISED
    assert result.error is not None
    assert result.error.envelope is not None
    assert result.error.envelope["summary"].startswith(type(problem).__name__)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('x' * 10_000_000)", "… (10000000 characters)"),
        ("await call_tool('x' * 1000, {})", "TOOL_NOT_FOUND"),
        ("await call_tool('x', {'a': 'b' * 5_000_000})", "INPUT_VALIDATION_FAILED"),
        ("open('/tmp/' + 'a' * 5000, 'w')", "[Errno 36] File name too long"),
        ("await report_progress(10**400, 5, 'x')", "report_progress: the number is too large"),
        ("x = [1]\nfor _ in range(40): x = [x, x]\nawait report_progress(x)", "report_progress takes numbers"),
    ],
)
async def test_what_a_script_sends_to_the_host_is_bounded(code: str, said: str) -> None:
    async with Paddock() as paddock:
        result = await paddock.run(code, engine="monty")
    assert result.error is not None
    assert said in result.error.message
    assert len(result.to_json()) < 200_000


async def test_a_script_of_nothing_but_returns_is_prepared_in_one_go() -> None:
    async with Paddock() as paddock:
        assert (await paddock.run("return 1;" * 14_000, engine="monty")).output == 1


async def test_what_one_script_is_given_ahead_another_does_not_see() -> None:
    def double(n: int) -> int:
        return 2 * n

    calling, without = "(await double({'n': 4}))['result']", "double = len\n(double([1]), round(2.5))"
    missing = "try:\n    double\nexcept NameError as problem:\n    said = str(problem)\nsaid"
    async with Paddock(tools=[double]) as paddock:
        scripts: list[tuple[str, tuple[str, ...], object]] = [
            (calling, ("double",), 8),
            (without, (), [1, 2]),
            (missing, (), "name 'double' is not defined"),
            ("(await call_tool('double', {'n': 5}))['result']", ("double",), 10),
            ("2 + 2", (), 4),
        ]
        for code, tools, output in scripts * 3 + [each for each in scripts for _ in range(3)]:
            result = await paddock.run(code, tools=tools, engine="monty")
            assert (result.verdict, result.output) == (Verdict.OK, output), (code, result)


async def test_a_session_that_was_fed_ahead_names_the_lines_of_the_script() -> None:
    async with Paddock() as paddock:
        for _ in range(4):
            result = await paddock.run("x = 1\nreport_progress\n1 / (x - 1)", engine="monty")
            assert result.error is not None
            assert (result.error.line, result.error.message) == (3, "division by zero")


async def test_limits_that_the_functions_for_tools_exceed_end_the_run_and_no_more() -> None:
    async with Paddock() as paddock:
        for _ in range(4):
            tight = await paddock.run("await call_tool('x', {})", engine="monty", limits={"memory_bytes": 1})
            assert tight.verdict is Verdict.OUT_OF_MEMORY, tight
            assert (await paddock.run("1 + 1", engine="monty")).output == 2
    assert children() == []


def test_a_paddock_that_nobody_holds_any_more_leaves_no_process() -> None:
    before = set(children())

    async def use() -> tuple[object, list[int]]:
        paddock = Paddock()
        output = (await paddock.run("1 + 1", engine="monty")).output
        return output, sorted(set(children()) - before)

    output, started = asyncio.run(use())
    gc.collect()
    assert (output, len(started)) == (2, 1)
    wait_until_gone(started)
