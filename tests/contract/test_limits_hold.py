"""A limit ends the run, keeps what was printed, and leaves the next run untouched."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from paddock.model.result import RunError, Verdict
from tests.contract.conftest import Rig

QUICK = {"wall_seconds": 0.5, "memory_bytes": 64 * 1024 * 1024}

SPIN = {
    "a loop": "while True:\n    pass",
    "a loop that catches everything": (
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
    ),
    "a loop in a function": "def f():\n    while True:\n        pass\nf()",
    "a loop in a coroutine": "async def f():\n    while True:\n        pass\nawait f()",
    "a sleep": "import time\ntime.sleep(100)",
    "an asynchronous sleep": "import asyncio\nawait asyncio.sleep(100)",
    "many short sleeps": "import time\nwhile True:\n    time.sleep(0.01)",
    "a call that is never answered": "await hang()",
    "endless calls": "while True:\n    try:\n        await quick()\n    except RuntimeError:\n        pass",
    "endless calls over the limit, gathered": (
        "import asyncio\n"
        "async def one():\n    try:\n        await quick()\n    except RuntimeError:\n        pass\n"
        "while True:\n    await asyncio.gather(*[one() for _ in range(50)])"
    ),
    "endless progress": "while True:\n    await report_progress(1)",
    "endless files": "while True:\n    try:\n        open('/tmp/x', 'a').write('y')\n    except OSError:\n        pass",
    "a large sum": "sum(range(10 ** 15))",
    "a large comprehension": "sum([1 for _ in range(10 ** 9) if False])",
    "a pathological pattern": "import re\nre.match('(a|a|b)*(c|a)*(a|b)*x', 'ab' * 50000 + 'd')\nwhile True: pass",
}


async def hang() -> None:
    await asyncio.Event().wait()


async def quick() -> int:
    return 1


@pytest.mark.parametrize("code", SPIN.values(), ids=SPIN)
async def test_a_guest_that_never_ends_is_stopped_and_its_output_kept(rig: Rig, code: str) -> None:
    result = await rig.run(f"print('started')\n{code}", hang, quick, limits=QUICK)
    assert (result.verdict, result.stdout, result.output) == (Verdict.TIMEOUT, "started\n", None)
    assert result.error is not None
    assert (result.error.type, result.error.message) == (
        "TimeoutError",
        "the limit wall_seconds = 0.5 was reached: do less work in one run, or ask for a higher limit",
    )


GREEDY = {
    "a list": "x = []\nwhile True:\n    x.append('a' * 100_000)",
    "a string": "x = 'a' * 10_000_000_000",
    "a doubled string": "x = 'a'\nwhile True:\n    x += x",
    "a list multiplied": "x = [0] * 1_000_000_000_000",
    "a large number": "x = 9 ** 9 ** 9",
    "a shift": "x = 1 << 10_000_000_000",
    "a greed that catches everything": (
        "x = []\nwhile True:\n    try:\n        x.append('a' * 100_000)\n    except BaseException:\n        pass"
    ),
    "a dict": "x = {}\ni = 0\nwhile True:\n    x[i] = 'a' * 10_000 + str(i)\n    i += 1",
}


@pytest.mark.parametrize("code", GREEDY.values(), ids=GREEDY)
async def test_a_guest_that_takes_too_much_memory_is_stopped_and_its_output_kept(rig: Rig, code: str) -> None:
    if rig.engine == "cpython" and "**" in code:
        pytest.skip("CPython computes this number for minutes before it needs the memory")
    result = await rig.run(f"print('started')\n{code}", limits={**QUICK, "wall_seconds": 20})
    assert (result.verdict, result.stdout, result.output) == (Verdict.OUT_OF_MEMORY, "started\n", None)
    assert result.error is not None
    assert result.error.message == (
        "the limit memory_bytes = 67108864 was reached: hold less at once, or ask for a higher limit"
    )


@pytest.mark.parametrize("code", [SPIN["a loop"], GREEDY["a list"], "while True: print('x')", "1 / 0", "await hang()"])
async def test_the_next_run_works_and_sees_nothing_of_the_former(rig: Rig, code: str) -> None:
    before = f"import sys\nsecret = 5\nint = 7\nopen('/tmp/left', 'w').write('x')\n{code}"
    assert (await rig.run(before, hang, limits=QUICK)).verdict is not Verdict.OK
    after = """
found = []
try:
    found.append(secret)
except NameError:
    pass
try:
    found.append(open('/tmp/left').read())
except FileNotFoundError:
    pass
[found, int('3')]
"""
    result = await rig.run(after)
    assert (result.verdict, result.output, result.stdout) == (Verdict.OK, [[], 3], "")


async def test_runs_side_by_side_do_not_see_each_other(rig: Rig) -> None:
    meeting = asyncio.Barrier(4)

    async def meet() -> None:
        await meeting.wait()

    code = "mine = number\nopen('/tmp/mine', 'w').write(str(number))\nawait meet()\n[mine, open('/tmp/mine').read()]"
    results = await asyncio.gather(*(rig.run(code, meet, inputs={"number": number}) for number in range(4)))
    assert [result.output for result in results] == [[number, str(number)] for number in range(4)]


async def test_a_sleep_is_as_long_as_the_script_asks(rig: Rig) -> None:
    clock = asyncio.get_running_loop().time
    times: list[float] = []

    def tick() -> None:
        times.append(clock())

    await rig.run("import time\nawait tick()\ntime.sleep(0.2)\nawait tick()", tick)
    assert times[1] - times[0] >= 0.2  # a sleep that is cut short is a lie; a longer one is only a busy machine


async def test_waiting_for_a_tool_counts_as_time(rig: Rig) -> None:
    cancelled = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    result = await rig.run("await wait()", wait, limits=QUICK)
    assert (result.verdict, result.calls) == (Verdict.TIMEOUT, ())
    assert cancelled.is_set()


@pytest.mark.parametrize("code", ["1", "1 / 0", "x = (", "while True: pass"])
async def test_every_result_has_the_same_shape(rig: Rig, code: str) -> None:
    result: dict[str, Any] = (await rig.run(code, limits=QUICK)).to_dict()
    assert (result["error"] is None) == (result["verdict"] == "ok")
    assert len(result) == 21
    assert result["usage"].keys() == {"wall_seconds", "cpu_seconds", "memory_bytes", "output_bytes"}


async def test_what_the_light_engine_lacks_is_rejected_before_anything_runs(rig: Rig) -> None:
    if rig.engine != "monty":
        pytest.skip("full Python lacks nothing")
    result = await rig.run("print('x')\ndef f():\n    yield 1\nlist(f())")
    assert (result.verdict, result.stdout) == (Verdict.REJECTED, "")
    message = "the light engine does not support yield expressions"
    assert result.error == RunError("NotImplementedError", message, 3, 5)
