"""Sessions: a run in an open one, a fork of one that holds a large table, and the memory of idle ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from bench.figures import MB, server_memory, settled
from bench.runner import Figure, Row, Sides, Target
from paddock import Config, Paddock
from paddock.config import SessionsConfig

TABLE = "import numpy as np, pandas as pd\ntable = pd.DataFrame(np.random.rand(13_000_000, 1))"
"""104 MB."""
IDLE_SESSIONS, IDLE_MB = 100, 1200
FRESH = "a fresh run"


@asynccontextmanager
async def open_session() -> AsyncIterator[Sides]:
    async with Paddock() as paddock:

        async def cell(number: int) -> None:
            assert (await paddock.run(f"{number} + 1", session="bench")).output == number + 1

        async def fresh(number: int) -> None:
            assert (await paddock.run(f"{number} + 1")).output == number + 1

        yield {"an open session": cell, FRESH: fresh}


@asynccontextmanager
async def open_table() -> AsyncIterator[Sides]:
    async with Paddock() as paddock:
        await paddock.run(TABLE, session="table", limits={"memory_bytes": 1024 * MB})

        async def fork(number: int) -> float:
            started = time.perf_counter()
            result = await paddock.run("len(table)", session=f"fork{number}", fork_from="table")
            milliseconds = (time.perf_counter() - started) * 1000
            assert result.output == 13_000_000, result
            await paddock.delete_session(f"fork{number}")
            return milliseconds

        yield {"fork and first run": fork}


SESSION_ROWS = (
    Row(
        "session",
        "a run in an open session, and one in a new jail",
        open_session,
        rounds=100,
        pause_seconds=0.03,
        target=Target.share(FRESH, 1.0),
    ),
    Row(
        "fork",
        "a fork of a session that holds a 100 MB table",
        open_table,
        20,
        pause_seconds=0.3,
        target=Target.within(30),
    ),
)


def idle_sessions() -> list[Figure]:
    """PSS of all processes of Paddock with many idle sessions, each of which has run a script."""
    return [asyncio.run(_idle_sessions())]


async def _idle_sessions() -> Figure:
    sessions = SessionsConfig(max_count=IDLE_SESSIONS, principal_count=IDLE_SESSIONS)
    async with Paddock(replace(Config(), sessions=sessions)) as paddock:
        for number in range(IDLE_SESSIONS):
            await paddock.run("import pandas as pd\ntable = pd.DataFrame({'n': range(100)})", session=f"idle{number}")
        megabytes, processes = await settled(server_memory)
    what = f"MB of {IDLE_SESSIONS} idle sessions with pandas, {processes} processes"
    return Figure("idle-sessions", what, megabytes, IDLE_MB)
