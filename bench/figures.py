"""Figures other than a comparison of times: answers, memory, what runs leave behind, search, the size of tools/list."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.programs import VERBS, VOCABULARY, pandas_program, program
from bench.runner import Figure
from bench.servers import command, connect
from bench.soak import descendants
from paddock import Config, Paddock
from tests.models.all_cases import ALL
from tests.models.answers import answer, open_server, problems

MB = 1024 * 1024
SERVER_MB = {"idle": 80, "after a plain script": 120, "after pandas": 220}
GROWTH_RUNS, GROWTH_WARM_UP, GROWTH_WAITING = 10_000, 500, 8
SEARCHED_TOOLS, SEARCH_MS = 2000, 10
LISTED_TOKENS = 1500
LACKING_PERCENT = 5
KCMP, KCMP_VM = {"x86_64": 312, "aarch64": 272}, 1


def answers() -> list[Figure]:
    """The share of answers to faulty scripts that do not name line, cause and fix in at most 120 tokens."""
    return asyncio.run(_answers())


async def _answers() -> list[Figure]:
    async with open_server() as services:
        lacks = [problems(case, *await answer(services, case)) for case in ALL.values()]
    share = round(100 * sum(map(bool, lacks)) / len(lacks), 1)
    what = f"% of {len(lacks)} answers lack the line, the cause or the fix of a mistake, or exceed 120 tokens"
    return [Figure("answers", what, share, LACKING_PERCENT)]


def memory() -> list[Figure]:
    """PSS of `paddock mcp` and all its processes: after it has listed its tools, then after two scripts."""
    return asyncio.run(_memory())


async def _memory() -> list[Figure]:
    scripts = dict(zip(SERVER_MB, [None, program(0).code, pandas_program(0)], strict=True))
    figures = []
    async with connect(sys.executable, "-m", "paddock", "mcp") as client:
        await client.list_tools()
        for when, code in scripts.items():
            if code is not None:
                answer = await client.call_tool("run_code", {"code": code})
                assert answer.structured_content["verdict"] == "ok", answer
            megabytes, processes = await settled(server_memory)
            name = f"memory-{when.replace(' ', '-')}"
            figures.append(Figure(name, f"MB of paddock mcp {when}, {processes} processes", megabytes, SERVER_MB[when]))
    return figures


def server_memory() -> tuple[int, int]:
    """Megabytes of all processes below this one, and their number. Processes that share one memory count once."""
    pids = list(descendants(os.getpid()))
    own = [pid for at, pid in enumerate(pids) if not any(_shares_memory(pid, other) for other in pids[:at])]
    return round(sum(map(_pss, own)) / MB), len(pids)


def _shares_memory(pid: int, other: int) -> bool:
    same: int = ctypes.CDLL(None).syscall(KCMP[os.uname().machine], pid, other, KCMP_VM, 0, 0)
    return same == 0


def _pss(pid: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
    return 0


async def settled(look: Callable[[], Any]) -> Any:
    """What `look` returns once it returns the same three times in a row, half a second apart."""
    seen: list[Any] = []
    while len(seen) < 3 or len({str(each) for each in seen[-3:]}) > 1:
        seen.append(look())
        await asyncio.sleep(0.5)
    return seen[-1]


def growth() -> list[Figure]:
    """What the host has more of after many runs of one script."""
    return asyncio.run(_growth())


async def _growth() -> list[Figure]:
    # Fixed, because the number of waiting guests follows demand.
    guests = replace(Config().cpython, min_waiting=GROWTH_WAITING, max_waiting=GROWTH_WAITING)
    async with Paddock(replace(Config(), cpython=guests)) as paddock:

        async def runs(count: int) -> None:
            async def some() -> None:
                for number in range(count // 4):
                    await paddock.run(f"# {number}\n1", engine="cpython")

            await asyncio.gather(*(some() for _ in range(4)))

        await runs(GROWTH_WARM_UP)
        before = await settled(_resources)
        await runs(GROWTH_RUNS)
        after = await settled(_resources)
    most = {"MB": 8}
    return [
        Figure(
            f"growth-{name}", f"more {name} after {GROWTH_RUNS:,} runs", after[name] - before[name], most.get(name, 0)
        )
        for name in before
    ]


def _resources() -> dict[str, int]:
    return {
        "descriptors": sum(not _is_of_a_control_group(fd) for fd in Path("/proc/self/fd").iterdir()),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "processes": len(list(descendants(os.getpid()))),
        "MB": int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // MB,
    }


def _is_of_a_control_group(fd: Path) -> bool:
    """Control groups are created as needed, up to a fixed number, and keep some files open."""
    with suppress(FileNotFoundError):
        return "cgroup" in str(fd.readlink()) or "eventfd" in str(fd.readlink())
    return True


def search() -> list[Figure]:
    """The median of the slowest of some queries, over tools with six parameters and descriptions of sixty words."""
    from paddock.model.tools import Tool
    from paddock.tools.search import Index

    chance = random.Random(1)  # noqa: S311  the same tools every time
    words = ["".join(chance.choices("aeioubcdfglmnprst", k=chance.randint(3, 9))) for _ in range(4000)]
    words += [*VERBS, *VOCABULARY]

    def tool(number: int) -> Tool:
        named = {chance.choice(words): " ".join(chance.choices(words, k=10)) for _ in range(6)}
        properties = {name: {"type": "string", "description": text} for name, text in named.items()}
        name = f"{chance.choice(VERBS)}_{chance.choice(VOCABULARY)}_{number}"
        schema = {"type": "object", "properties": properties}
        return Tool(f"server{number % 40}", name, " ".join(chance.choices(words, k=60)), schema)

    def milliseconds(query: str) -> float:
        started = time.perf_counter()
        index.search(query)
        return (time.perf_counter() - started) * 1000

    index = Index([tool(number) for number in range(SEARCHED_TOOLS)])
    queries = ["count cedar", "cuont ceder", "se", "", " ".join(VERBS), "find all open tickets and export a report"]
    slowest = max(statistics.median(milliseconds(query) for _ in range(20)) for query in queries)
    what = f"ms for the slowest query over {SEARCHED_TOOLS:,} tools, each query repeated"
    return [Figure("search", what, round(slowest, 2), SEARCH_MS)]


def tools_list() -> list[Figure]:
    """The tokens of the whole answer to tools/list, at four characters each, with many tools upstream."""
    return [asyncio.run(_listed(count)) for count in (0, 2000)]


async def _listed(count: int) -> Figure:
    with TemporaryDirectory() as folder:
        program, *arguments = command("many", str(count))
        config = Path(folder, "mcp.json")
        config.write_text(json.dumps({"mcpServers": {"many": {"command": program, "args": arguments}}}))
        options = ["--mcp-config", str(config)] if count else []
        async with connect(sys.executable, "-m", "paddock", "mcp", *options) as client:
            listed = await client.list_tools()
    characters = len(listed.model_dump_json(by_alias=True, exclude_none=True))
    return Figure(
        f"tools-list-{count}", f"tokens of tools/list, {count:,} tools upstream", characters // 4, LISTED_TOKENS
    )


FIGURES: dict[str, Callable[[], list[Figure]]] = {
    "answers": answers,
    "memory": memory,
    "growth": growth,
    "search": search,
    "tools-list": tools_list,
}
"""By the name that `--only` takes."""
