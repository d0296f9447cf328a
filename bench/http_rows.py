"""The rows that are timed over HTTP: many clients at once against a tool that does nothing, and REST against MCP."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from bench.http_servers import Served, connect, mcp_client, serve_no_op, serve_paddock
from bench.programs import Program, program
from bench.runner import Act, Row, Sides, Target

PRINCIPALS = ("ann", "bob", "cyd", "dan")
CLIENTS, RUNS = 200, 10
RATE = 0.6
REFILL_SECONDS = 0.03
BARE = {"ENVIRONMENTS__BARE__PACKAGES": "[]", "CPYTHON__ENVIRONMENT": "bare"}
"""Python without packages, as in the row `sustained`."""
OURS, NO_OP = "run_code", "a no-op tool"


async def _clients(stack: AsyncExitStack, served: Served, principals: tuple[str | None, ...]) -> list[Any]:
    https = [await stack.enter_async_context(connect(served, each)) for each in principals]
    turns = itertools.islice(itertools.cycle(https), CLIENTS)
    return [await stack.enter_async_context(mcp_client(served, http)) for http in turns]


def _by_all(clients: list[Any], *, p99: bool) -> Act:
    """Let every client make its runs, one after another; with `p99`, return what only one call in 100 exceeds."""

    async def act(number: int) -> float | None:
        taken: list[float] = []

        async def use(client: Any, first: int) -> None:
            for each in range(first, first + RUNS):
                began = time.perf_counter()
                answer = await client.call_tool("run_code", {"code": f"# {number} {each}\n{each}"})
                taken.append((time.perf_counter() - began) * 1000)
                found = answer.structured_content["output"] if answer.structured_content else answer.content[0].text
                assert found in (each, "1"), answer

        await asyncio.gather(*(use(client, at * RUNS) for at, client in enumerate(clients)))
        return sorted(taken)[len(taken) * 99 // 100] if p99 else None

    return act


@asynccontextmanager
async def _load(*, p99: bool) -> AsyncIterator[Sides]:
    async with AsyncExitStack() as stack:
        ours = await _clients(stack, await stack.enter_async_context(serve_paddock(PRINCIPALS, BARE)), PRINCIPALS)
        idle = await _clients(stack, await stack.enter_async_context(serve_no_op()), (None,))
        yield {OURS: _by_all(ours, p99=p99), NO_OP: _by_all(idle, p99=p99)}


@asynccontextmanager
async def _rest() -> AsyncIterator[Sides]:
    """One run at a time. Each side has a principal of its own."""
    async with (
        serve_paddock(PRINCIPALS, {}) as served,
        connect(served, "ann") as rest,
        connect(served, "bob") as http,
        mcp_client(served, http) as client,
    ):

        async def over_rest(script: Program) -> None:
            answer = (await rest.post("/v1/runs", json={"code": script.code})).json()
            assert answer["output"] == script.answer, answer

        async def over_mcp(script: Program) -> None:
            answer = await client.call_tool("run_code", {"code": script.code})
            assert answer.structured_content["output"] == script.answer, answer

        yield {"REST": over_rest, "MCP": over_mcp}


HTTP_ROWS = (
    Row(
        "load",
        f"{CLIENTS * RUNS:,} one-line scripts by {CLIENTS} MCP clients at once over HTTP, no packages",
        lambda: _load(p99=False),
        rounds=3,
        target=Target(f"at least {RATE} of the rate of {NO_OP}", lambda p50: p50[NO_OP] / RATE),
    ),
    Row(
        "load-p99",
        f"the same: what only one in 100 of the {CLIENTS * RUNS:,} calls exceeds",
        lambda: _load(p99=True),
        rounds=3,
    ),
    Row(
        "rest",
        "one run over REST against one over MCP, both over HTTP, a guest waiting",
        _rest,
        rounds=20,
        calls=2,
        script=program,
        pause_seconds=REFILL_SECONDS,
    ),
)
