"""Measures what a server needs, for the sizing guide in docs/operating.md: `python -m bench.sizing`.

Prints, for each engine, the processor time of a run, all processes included, and the memory of the engine's processes;
the processor time of a run over HTTP; and what a run takes in the store. Processor time says more than a rate where
other programs are running too. Scripts differ from run to run, as those of agents do.
"""

from __future__ import annotations

import asyncio
import os
import resource
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.http_servers import connect, mcp_client, serve_paddock
from bench.soak import descendants
from paddock import Config, Paddock
from paddock.config import StoreConfig
from paddock.server.mcp import make_server
from paddock.server.services import Services

RUNS = 160
AT_ONCE = 8
STORED_RUNS = 500
SCRIPTS = {
    "cpython": ("cpython", "python", "sum(range({n}))"),
    "cpython, pandas": ("cpython", "python", "import pandas\nint(pandas.Series(range({n})).sum())"),
    "monty": ("monty", "python", "sum(range({n}))"),
    "quickjs": ("quickjs", "javascript", "[1, 2, {n}].reduce((a, b) => a + b)"),
    "node": ("node", "javascript", "[1, 2, {n}].reduce((a, b) => a + b)"),
}


def memory_mb(pids: list[int]) -> float:
    """The memory of these processes. What several share is counted once."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


async def measure(name: str) -> tuple[float, float]:
    """The processor time of a run in milliseconds, without that of starting the engine, and its memory in MB."""
    engine, language, script = SCRIPTS[name]
    numbers = iter(range(10**6))
    async with Paddock(Config()) as paddock:

        async def work(runs: int) -> None:
            for _ in range(runs):
                result = await paddock.run(script.format(n=next(numbers)), engine=engine, language=language)
                assert result.verdict == "ok", result

        await asyncio.gather(*(work(5) for _ in range(AT_ONCE)))
        began = cpu_seconds(os.getpid())
        await asyncio.gather(*(work(RUNS // AT_ONCE) for _ in range(AT_ONCE)))
        return (cpu_seconds(os.getpid()) - began) / RUNS * 1000, memory_mb(list(descendants(os.getpid())))


def cpu_seconds(pid: int) -> float:
    """The processor time of a process and of those below it, those that have ended included."""
    ticks = 0
    for each in (pid, *descendants(pid)):
        try:
            ticks += sum(map(int, Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:15]))
        except OSError:  # it has ended, and its parent counts it
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


async def over_http() -> dict[str, float]:
    """The processor time of a run of a server over HTTP, all its processes included, in milliseconds."""
    taken = {}
    async with serve_paddock(["ann"], {}) as served, connect(served, "ann") as http, mcp_client(served, http) as client:
        numbers = iter(range(10**6))

        async def over_mcp(code: str) -> Any:
            return (await client.call_tool("run_code", {"code": code})).structured_content["output"]

        async def over_rest(code: str) -> Any:
            return (await http.post("/v1/runs", json={"code": code})).json()["output"]

        async def work(run: Callable[[str], Awaitable[Any]], runs: int) -> None:
            for _ in range(runs):
                n = next(numbers)
                assert await run(f"# {n}\n{n}") == n

        for name, run in {"MCP": over_mcp, "REST": over_rest}.items():
            await asyncio.gather(*(work(run, 5) for _ in range(AT_ONCE)))
            began = cpu_seconds(served.pid)
            await asyncio.gather(*(work(run, RUNS // AT_ONCE) for _ in range(AT_ONCE)))
            taken[name] = (cpu_seconds(served.pid) - began) / RUNS * 1000
    return taken


async def stored_kb() -> float:
    """What a small run takes in the store, in KB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paddock.db"
        async with Services(replace(Config(engine="monty"), store=StoreConfig(path=str(path)))) as services:
            from mcp import Client

            async with Client(make_server(services)) as client:
                for number in range(STORED_RUNS):
                    await client.call_tool("run_code", {"code": f"print('row {number}')\nsum(range({number}))"})
        return path.stat().st_size / STORED_RUNS / 1024


async def main() -> None:
    print("| engine | ms of processor time for each run | MB of memory |\n|---|---|---|")
    for name in SCRIPTS:
        milliseconds, memory = await measure(name)
        print(f"| {name} | {milliseconds:.1f} | {memory:.0f} |", flush=True)
    for name, milliseconds in (await over_http()).items():
        print(f"| cpython, over {name} and HTTP | {milliseconds:.1f} | |", flush=True)
    print(f"\na small run takes {await stored_kb():.1f} KB in the store")
    print(f"this process took {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


if __name__ == "__main__":
    asyncio.run(main())
