"""The engines for JavaScript, in what no program shows: sources that are hard to read, signals, memory."""

from __future__ import annotations

import asyncio
import signal
import time

import pytest

from paddock.errors import RequestError
from paddock.model.result import Verdict
from tests.escape.conftest import Rig

ENGINES = ("quickjs", "node")
BUSY_SECONDS = 1.0
"""How much this process may compute while its event loop stands still, whatever else the machine does."""


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
    "spaces after a word": "function" + much(" ") + "(",
    "spaces on the event loop": "function" + " " * 19_000 + "(",  # a longer one is read in a thread
    "spaces after a name": "process" + much(" ") + "(",
    "lines after an import": "import" + much("\n") + "(",
    "questions": "process" + much(" ?") + "(",
    "keys of one name": much("process:"),
    "slashes in classes": much("=/[" * 66 + "]"),
    "slashes": much("=/[a"),
    "quotes": much("'\\'"),
    "backticks": much("`\\`"),
    "consoles": much("{ a } = console\n"),
    "spaces of other scripts": "export" + much("\u00a0\u2003\ufeff")[:40_000] + "(",
}


@pytest.mark.thorough  # the next one reads each source on the engine that is chosen for it
@pytest.mark.parametrize("rig", ["namespaces"], indirect=True)  # what reads it is the same in each
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SOURCES)
async def test_a_source_that_is_hard_to_read_harms_nobody(rig: Rig, engine: str, name: str) -> None:
    await harms_nobody(rig, engine, "javascript", name)


@pytest.mark.parametrize("rig", ["namespaces"], indirect=True)
@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize("name", SOURCES)
async def test_nor_where_the_host_reads_it_to_choose_an_engine(rig: Rig, language: str, name: str) -> None:
    await harms_nobody(rig, "auto", language, name)


async def harms_nobody(rig: Rig, engine: str, language: str, name: str) -> None:
    busy = 0.0

    async def heart() -> None:
        nonlocal busy
        while True:
            before = time.process_time()
            await asyncio.sleep(0.01)
            busy = max(busy, time.process_time() - before)

    beating = asyncio.create_task(heart())
    result = await rig.run(SOURCES[name], engine=engine, language=language, limits={"wall_seconds": 4})
    beating.cancel()
    assert result.verdict is not Verdict.LOST
    assert busy < BUSY_SECONDS
    assert (await rig.run("1 + 1", engine=engine, language=language)).output == 2


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_source_of_megabytes_is_refused(rig: Rig, engine: str) -> None:
    with pytest.raises(RequestError):
        await rig.run("x" * (rig.paddock._config.code_bytes + 1), engine=engine)


@pytest.mark.parametrize(
    "limits",
    [
        {"wall_seconds": 0},
        {"wall_seconds": -1},
        {"wall_seconds": 10**30},
        {"wall_seconds": float("inf")},
        {"memory_bytes": float("nan")},
        {"memory_bytes": 10**30},
        {"memory_bytes": float("inf")},
        {"output_bytes": 10**30},
    ],
)
async def test_senseless_limits_are_refused(rig: Rig, limits: dict[str, float]) -> None:
    for engine in ENGINES:
        with pytest.raises(RequestError):
            await rig.run("1", engine=engine, limits=limits)


IGNORED = {
    *(signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGPIPE, signal.SIGXFSZ),
    signal.SIGUSR1,  # would start the inspector, of which nothing comes
}
"""By default, or by Node."""
MAY_STOP = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
"""They stop nobody who has no terminal."""


@pytest.mark.parametrize("number", sorted(set(signal.Signals) - MAY_STOP), ids=lambda number: number.name)
async def test_a_signal_to_itself_is_the_verdict(rig: Rig, number: signal.Signals) -> None:
    after = "'after'" if number in IGNORED else "for (;;);"
    code = f"console.log('before')\nprocess.kill(process.pid, {int(number)})\n{after}"
    wall_seconds = 1 if number == signal.SIGSTOP else 20
    result = await rig.run(code, engine="node", limits={"wall_seconds": wall_seconds})
    if number in IGNORED:
        assert (result.verdict, result.output) == (Verdict.OK, "after")
    elif number == signal.SIGSTOP:
        assert result.verdict is Verdict.TIMEOUT
    else:
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
