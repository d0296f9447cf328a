"""What a guest tells about where it is, shortly before its time is over."""

from __future__ import annotations

import pytest

from paddock.jail.wire import Kind
from tests.guest.conftest import Run
from tests.guest.harness import Ran

LIMITS = {"limits": {"wall_seconds": 1.0}}


def reached(ran: Ran) -> list[int]:
    return [frame.values()["line"] for frame in ran.frames if frame.kind == Kind.REACHED]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass", 3),
        ("import time\ndef f():\n    time.sleep(1.5)\nf()", 3),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(1.5)\nawait f()", 3),
    ],
)
@pytest.mark.parametrize("mode", ["expression", "script"])
def test_the_line_that_runs_or_waits(run: Run, code: str, line: int, mode: str) -> None:
    code = code.replace("await f()", "asyncio.run(f())") if mode == "script" else code
    ran = run(code, start={**LIMITS, "mode": mode})
    assert (ran.status, reached(ran)) == ("ok", [line])


def test_the_line_is_told_before_each_of_two_limits(run: Run) -> None:
    ran = run(
        "import time\ntime.sleep(1.2)\ntime.sleep(1)", start={"limits": {"cpu_seconds": 1.0, "wall_seconds": 2.0}}
    )
    assert reached(ran) == [2, 3]


def test_a_script_may_use_the_alarm_itself(run: Run) -> None:
    code = """
import signal, time
rung = []
signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.1)
time.sleep(1.5)
rung
"""
    ran = run(code, start=LIMITS)
    assert (ran.value, reached(ran)) == ([1], [])


def test_nothing_is_told_of_a_run_that_ends_in_time(run: Run) -> None:
    assert reached(run("1 + 1", start=LIMITS)) == []
