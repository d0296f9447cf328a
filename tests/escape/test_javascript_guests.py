"""The engines for JavaScript, in what no program shows: sources that are hard to read, signals, memory."""

from __future__ import annotations

import asyncio
import signal

import pytest

from paddock.model.errors import RequestError
from paddock.model.result import Verdict
from tests.escape.conftest import Rig

ENGINES = ("quickjs", "node")
LAG_SECONDS = 1.0
"""How long the event loop may be busy on a loaded machine of two cores."""


CHARACTERS = 120_000
"""About as many as a script may have."""


def much(text: str) -> str:
    return text * (CHARACTERS // len(text))


def nested(before: str, after: str) -> str:
    depth = CHARACTERS // len(before + after)
    return before * depth + "1" + after * depth


SOURCES = {
    "open brackets": much("("),
    "brackets": nested("[", "]"),
    "blocks": nested("{", "}"),
    "functions": nested("(()=>", ")"),
    "templates": nested("`${", "}`"),
    "conditions": nested("1?", ":1"),
    "signs": much("+ -") + "1",
    "ifs": much("if (1) ") + "1",
    "sums": "1" + much("+1"),
    "dots": "a" + much(".a"),
    "a string without an end": "'" + much("x"),
    "a regular expression": "/" + much("(") + "/",
    "comments": much("/*"),
    "surplus brackets": much("}"),
    "surplus and more": much("1 })(); "),
    "statements": much("x;"),
    "lines": much("x\n"),
    "classes": much("class A extends ") + "B {}",
    "nothing that is text": much("\0\x01\ufffe\uffff")[:30_000],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SOURCES)
async def test_a_source_that_is_hard_to_read_harms_nobody(rig: Rig, engine: str, name: str) -> None:
    lag = 0.0

    async def heart() -> None:
        nonlocal lag
        clock = asyncio.get_running_loop().time
        while True:
            before = clock()
            await asyncio.sleep(0.01)
            lag = max(lag, clock() - before)

    beating = asyncio.create_task(heart())
    result = await rig.run(SOURCES[name], engine=engine, limits={"wall_seconds": 4})
    beating.cancel()
    assert result.verdict is not Verdict.LOST
    assert lag < LAG_SECONDS
    assert (await rig.run("1 + 1", engine=engine)).output == 2


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_source_of_megabytes_is_refused(rig: Rig, engine: str) -> None:
    with pytest.raises(RequestError):
        await rig.run("x" * (rig.paddock._config.code_bytes + 1), engine=engine)


@pytest.mark.parametrize("limits", [{"wall_seconds": 0}, {"wall_seconds": -1}, {"memory_bytes": float("nan")}])
async def test_senseless_limits_are_refused(rig: Rig, limits: dict[str, float]) -> None:
    for engine in ENGINES:
        with pytest.raises(RequestError):
            await rig.run("1", engine=engine, limits=limits)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV])
async def test_a_signal_to_itself_is_the_verdict(rig: Rig, number: signal.Signals) -> None:
    code = f"process.kill(process.pid, {int(number)})\nfor (;;);"
    result = await rig.run(code, engine="node", limits={"wall_seconds": 5})
    assert (result.verdict, result.signal) == (Verdict.CRASHED, int(number))


@pytest.mark.parametrize("engine", ENGINES)
async def test_two_that_want_memory_do_not_harm_a_third(rig: Rig, engine: str) -> None:
    greedy = "const kept = []\nfor (;;) kept.push(new Uint8Array(1 << 20).fill(1))"
    limits = {"memory_bytes": 128 * 1024 * 1024}
    *ended, third = await asyncio.gather(
        rig.run(greedy, engine=engine, limits=limits),
        rig.run(greedy, engine=engine, limits=limits),
        rig.run("let n = 0\nfor (let i = 0; i < 1e6; i++) n += i\nreturn n", engine=engine, limits=limits),
    )
    assert [result.verdict for result in ended] == [Verdict.OUT_OF_MEMORY] * 2
    assert third.output == 499999500000
