"""An interpreter of the light engine serves one run: whatever limit that one reached, nothing is fed to it again."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_monty import Monty, MontySession

from paddock.config import Config, MontyConfig
from paddock.engines.monty import MontyEngine
from paddock.model.result import Verdict
from paddock.run import Paddock

ONE_WORKER = Config(monty=MontyConfig(min_workers=1, max_workers=1))
MB = 1024 * 1024
LIMITED = {
    "wall time": ("while True:\n    pass", {"wall_seconds": 0.2}, Verdict.TIMEOUT),
    "waiting": ("import asyncio\nawait asyncio.sleep(60)", {"wall_seconds": 0.2}, Verdict.TIMEOUT),
    "processor time": ("while True:\n    pass", {"cpu_seconds": 0.2}, Verdict.TIMEOUT),
    "memory": ("x = []\nwhile True:\n    x.append('a' * 100_000)", {"memory_bytes": 64 * MB}, Verdict.OUT_OF_MEMORY),
    "output": ("while True:\n    print('x' * 1000)", {"output_bytes": 5000}, Verdict.OUTPUT_LIMIT),
    "a stream": ("while True:\n    print('x' * 1000)", {"stream_characters": 5000}, Verdict.OUTPUT_LIMIT),
    "a result": ("'x' * 10_000", {"output_bytes": 5000}, Verdict.OUTPUT_LIMIT),
    "recursion": ("def f():\n    return [f()]\nf()", {"recursion": 50}, Verdict.RAISED),
    "nothing": ("1", {}, Verdict.OK),
}


class Watched:
    """A real pool that remembers the sessions that it opened."""

    def __init__(self, pool: Monty) -> None:
        self._pool = pool
        self.sessions: list[MontySession] = []

    def checkout(self, **options: Any) -> Watched:
        self._next = self._pool.checkout(**options)
        return self

    def __enter__(self) -> MontySession:
        self.sessions.append(self._next.__enter__())
        return self.sessions[-1]

    def __exit__(self, *args: object) -> None:
        self._pool.__exit__(*args)


def is_over(session: MontySession) -> bool:
    try:
        session.feed_run("1")
    except RuntimeError as problem:
        return "already been finished" in str(problem)
    return False


@pytest.mark.parametrize(("code", "limits", "verdict"), LIMITED.values(), ids=LIMITED)
async def test_a_session_is_over_after_a_limit(code: str, limits: dict[str, Any], verdict: Verdict) -> None:
    engine = MontyEngine(ONE_WORKER)
    async with Paddock(engines={"monty": lambda config: engine}) as paddock:
        await paddock.run("1", engine="monty")
        drivers = await engine._start()
        (driver,) = drivers._all
        watched: Any = Watched(drivers.pool)
        drivers.pool = driver.pool = watched
        result = await paddock.run(f"mark = 5\n{code}", engine="monty", limits=limits)
        ready = await driver.did(lambda: driver.opened)  # after the thread has given back what the run used
        used = [session for session in watched.sessions if ready is None or session is not ready.session]
        assert (result.verdict, [is_over(session) for session in used]) == (verdict, [True] * len(used))
        assert used
        after = await paddock.run("mark", engine="monty", limits=limits)
        assert after.error is not None
        assert after.error.type == "NameError"
        assert len(watched.sessions) > len(used)
