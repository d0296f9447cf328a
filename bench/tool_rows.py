"""Rows about tools: what a call costs from a script, against the same call made without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from bench.runner import Act, Open, Pair, Row, Target
from paddock import Config, Paddock
from paddock.cli.demo import shop

CALLS = 100
IN_A_ROW = (10, 10, 0.01)
"""Calls of either side in its turn, where one alone would be measured with cold caches: the two are two processes. And
how long the other one has to settle."""
ADD = ("add", {"a": 1, "b": 2})
STOCK = ("inventory", {"sku": "LAMP-1"})

Tool = tuple[str, dict[str, Any]]


async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


def one_by_one(tool: Tool) -> str:
    name, arguments = tool
    return f"for _ in range({CALLS}):\n    answer = await call_tool({name!r}, {arguments!r})\nreturn answer"


def at_once(tool: Tool) -> str:
    name, arguments = tool
    calls = f"[call_tool({name!r}, {arguments!r}) for _ in range({CALLS})]"
    return f"import asyncio\nanswers = await asyncio.gather(*{calls})\nreturn answers[-1]"


def _run(paddock: Paddock, code: str, output: object) -> Act:
    async def run() -> None:
        result = await paddock.run(code)
        assert (result.engine, result.output) == ("monty", output), result

    return run


def _direct(client: Any, tool: Tool, *, is_at_once: bool) -> Act:
    name, arguments = tool

    async def together() -> None:
        await asyncio.gather(*(client.call_tool(name, arguments) for _ in range(CALLS)))

    async def in_sequence() -> None:
        for _ in range(CALLS):
            await client.call_tool(name, arguments)

    return together if is_at_once else in_sequence


def _in_process() -> tuple[Paddock, AbstractAsyncContextManager[Any]]:
    import mcp
    from mcp.server import MCPServer

    server = MCPServer("bench")
    server.tool()(add)
    return Paddock(tools=[add]), mcp.Client(server)


def _over_stdio() -> tuple[Paddock, AbstractAsyncContextManager[Any]]:
    """Two processes of one program: a stdio server has one client."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    return Paddock(Config(upstreams={"shop": shop()})), mcp.Client(stdio_client(StdioServerParameters(**shop())))


def _against_client(
    sides: Callable[[], tuple[Paddock, AbstractAsyncContextManager[Any]]], tool: Tool, *, is_at_once: bool
) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        ours, theirs = sides()
        async with ours as paddock, theirs as client:
            answer = await client.call_tool(*tool)
            code = at_once(tool) if is_at_once else one_by_one(tool)
            yield Pair(_run(paddock, code, answer.structured_content), _direct(client, tool, is_at_once=is_at_once))

    return opened


def _against_code_mode(code: str, output: object, answer: str) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        from bench.code_mode import code_mode

        async with Paddock(tools=[add]) as paddock, code_mode(code, answer) as theirs:
            yield Pair(_run(paddock, code, output), theirs)

    return opened


SUM, SUM_TEXT = {"sum": 3}, '{"sum":3}'
CODE_MODE = "FastMCP's CodeMode"
_returning = _against_code_mode("return 1", 1, "1")
_calling = _against_code_mode(f"return await call_tool('add', {ADD[1]!r})", SUM, SUM_TEXT)
_calling_often = _against_code_mode(one_by_one(ADD), SUM, SUM_TEXT)

TOOL_ROWS = (
    Row(
        "stdio",
        f"{CALLS} calls over stdio one by one",
        "mcp.Client itself",
        Target.at_most(2),
        _against_client(_over_stdio, STOCK, is_at_once=False),
        15,
    ),
    Row(
        "stdio-at-once",
        f"{CALLS} calls over stdio at once",
        "mcp.Client itself",
        Target.at_most(2),
        _against_client(_over_stdio, STOCK, is_at_once=True),
        15,
    ),
    Row(
        "in-process",
        f"{CALLS} calls of a function one by one",
        "mcp.Client in memory",
        Target.none(),
        _against_client(_in_process, ADD, is_at_once=False),
        30,
    ),
    Row(
        "in-process-at-once",
        f"{CALLS} calls of a function at once",
        "mcp.Client in memory",
        Target.none(),
        _against_client(_in_process, ADD, is_at_once=True),
        30,
    ),
    Row("code-mode", "return 1", CODE_MODE, Target.faster_by(8), _returning, 20, *IN_A_ROW),
    Row("code-mode-call", "1 call of a function", CODE_MODE, Target.faster_by(8), _calling, 20, *IN_A_ROW),
    Row(
        "code-mode-calls",
        f"{CALLS} calls one by one",
        CODE_MODE,
        Target.faster_by(3),
        _calling_often,
        30,
        1,
        1,
        IN_A_ROW[2],
    ),
)
