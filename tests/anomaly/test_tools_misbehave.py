"""Tools are foreign code: they raise, hang, give back nonsense, and the run still ends with a verdict."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from paddock.config import ToolsConfig
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.anomaly.processes import BUSY, are_busy, children, computes
from tests.tools.upstreams import bare_config

CATCH = """
import json
try:
    await tool()
except RuntimeError as e:
    kind = json.loads(str(e))['error_kind']
kind
"""


async def run(tool: Callable[..., Any], code: str = CATCH, **limits: Any) -> tuple[Verdict, Any]:
    tool.__name__ = "tool"
    async with Paddock(tools=[tool]) as paddock:
        result = await paddock.run(code, engine="monty", limits=limits)
        assert (await paddock.run("1 + 1", engine="monty")).output == 2
    return result.verdict, result.output


def raising(problem: BaseException) -> Callable[..., Any]:
    async def tool() -> None:
        raise problem

    return tool


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


async def assert_that_each_fails_alone(tools: list[Callable[..., Any]]) -> None:
    for number, tool in enumerate(tools):
        tool.__name__ = f"tool{number}"
    async with Paddock(tools=tools) as paddock:
        for tool in tools:
            result = await paddock.run(CATCH.replace("tool", tool.__name__), engine="monty")
            assert (tool.__name__, result.verdict, result.output) == (tool.__name__, Verdict.OK, "internal_error")
            assert (await paddock.run("1 + 1", engine="monty")).output == 2, tool.__name__


async def test_a_tool_that_raises_anything_fails_its_call_and_no_more() -> None:
    problems = [
        ValueError("no"),
        asyncio.CancelledError(),
        TimeoutError(),
        StopAsyncIteration(),
        UnprintableError(),
        RecursionError(),
        MemoryError(),
        ExceptionGroup("g", [ValueError()]),
    ]
    await assert_that_each_fails_alone([raising(problem) for problem in problems])


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


def giving(value: object) -> Callable[..., Any]:
    return lambda: value


async def test_a_tool_that_gives_back_what_is_not_json_fails_its_call() -> None:
    values = [object(), b"\xff", float("nan"), CYCLE, {(1, 2): 3}, {"a": object()}]
    await assert_that_each_fails_alone([giving(value) for value in values])


async def test_a_tool_that_hangs_is_ended_with_its_run() -> None:
    async def tool() -> None:
        await asyncio.Event().wait()

    assert await run(tool, wall_seconds=1.0) == (Verdict.TIMEOUT, None)


async def test_a_tool_that_will_not_be_cancelled_does_not_outlast_its_patience() -> None:
    ended = asyncio.Event()

    async def tool() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.set()
            raise ValueError("instead") from None

    assert await run(tool, wall_seconds=1.0) == (Verdict.TIMEOUT, None)
    assert ended.is_set()


async def test_a_tool_that_gives_back_a_generator_fails_its_call() -> None:
    async def tool() -> AsyncIterator[int]:
        yield 1

    assert await run(tool) == (Verdict.OK, "internal_error")


async def test_an_answer_of_ten_megabytes_arrives() -> None:
    code = "len((await tool())['result'])"
    assert await run(lambda: "x" * 10_000_000, code) == (Verdict.OK, 10_000_000)


async def test_a_call_that_the_script_does_not_wait_for_ends_with_the_run() -> None:
    entered = asyncio.Event()

    async def tool() -> None:
        entered.set()
        await asyncio.Event().wait()

    code = "import asyncio\nasync def other():\n    raise ValueError('first')\nawait asyncio.gather(tool(), other())"
    assert await run(tool, code, wall_seconds=5) == (Verdict.RAISED, None)


def test_tools_that_never_return_hold_up_neither_other_calls_nor_the_end_of_the_host() -> None:
    script = """
import asyncio, threading
from paddock import Paddock

def stuck():
    threading.Event().wait()

def quick():
    return 5

async def main():
    async with Paddock(tools=[stuck, quick]) as paddock:
        many = "import asyncio\\nawait asyncio.gather(*[stuck() for _ in range(50)])"
        print((await paddock.run(many, limits={"wall_seconds": 1})).verdict.value)
        print((await paddock.run("await quick()")).output)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("timeout\n{'result': 5}\n", "", 0)


async def until_idle() -> None:
    async with asyncio.timeout(20):
        while are_busy():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize("ending", ["await tool({})", "import asyncio\nasyncio.ensure_future(tool({}))\n1"])
async def test_a_script_goes_no_further_while_its_tool_takes_long_to_be_cancelled(
    ending: str, session: str | None
) -> None:
    is_idle = False

    async def tool() -> None:
        nonlocal is_idle
        try:
            await asyncio.Event().wait()
        finally:
            await until_idle()
            is_idle = True

    async with Paddock(tools=[tool]) as paddock:
        result = await paddock.run(f"{BUSY}{ending}", limits={"wall_seconds": 2}, session=session)
        assert (result.verdict, is_idle) == (Verdict.TIMEOUT if "await" in ending else Verdict.OK, True)
        if session is not None:
            assert (await paddock.run("1 + 1", session=session)).output == 2


async def test_a_script_on_monty_goes_no_further_while_its_tool_takes_long_to_be_cancelled() -> None:
    is_idle = False

    async def tool() -> None:
        nonlocal is_idle
        try:
            await asyncio.Event().wait()
        finally:
            async with asyncio.timeout(20):
                while any(map(computes, children())):
                    await asyncio.sleep(0.01)
            is_idle = True

    rest = "async def rest():\n    await asyncio.sleep(1)\n    while True: pass\n"
    code = f"import asyncio\n{rest}await asyncio.gather(tool({{}}), rest())"
    async with Paddock(tools=[tool]) as paddock:
        result = await paddock.run(code, engine="monty", limits={"wall_seconds": 2})
        assert (result.verdict, is_idle) == (Verdict.TIMEOUT, True)
        assert (await paddock.run("1 + 1", engine="monty")).output == 2


async def test_a_session_goes_no_further_while_its_next_run_waits_for_a_server() -> None:
    config = bare_config({"slow": {"command": "sleep", "args": ["100"]}}, tools=ToolsConfig(connect_seconds=3.0))
    async with Paddock(config) as paddock:
        assert (await paddock.run(f"{BUSY}1", session="s")).output == 1
        waiting = asyncio.create_task(paddock.run("await call_tool('slow.x', {})", session="s"))
        async with asyncio.timeout(20):
            while (await paddock.upstreams())["slow"].state != "connecting":
                await asyncio.sleep(0.01)
        await until_idle()
        assert not waiting.done()
        assert (await waiting).verdict is Verdict.RAISED
        assert (await paddock.run("1 + 1", session="s")).output == 2
