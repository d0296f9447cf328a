"""A limit ends the run, keeps what was printed, and leaves the next run untouched."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from paddock.model.result import RunError, Verdict
from paddock.run import Paddock
from tests.contract.rigs import Rig, Script

QUICK = {"wall_seconds": 0.2, "memory_bytes": 64 * 1024 * 1024}
"""For guests of whom nothing is expected before they are stopped."""

SPIN = {
    "a loop": Script("while True:\n    pass", "for (;;);"),
    "a loop that catches everything": Script(
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        "for (;;) try {\n  for (;;);\n} catch {}",
    ),
    "a loop in a function": Script(
        "def f():\n    while True:\n        pass\nf()", "function f() {\n  while (true) {}\n}\nf()"
    ),
    "a loop in a coroutine": Script(
        "async def f():\n    while True:\n        pass\nawait f()", "async function f() {\n  for (;;);\n}\nawait f()"
    ),
    "a sleep": Script("import time\ntime.sleep(100)", "await new Promise((done) => setTimeout(done, 100_000))"),
    "an asynchronous sleep": Script(
        "import asyncio\nawait asyncio.sleep(100)", "setInterval(() => {}, 1000)\nawait new Promise(() => {})"
    ),
    "many short sleeps": Script(
        "import time\nwhile True:\n    time.sleep(0.01)",
        "for (;;) await new Promise((done) => setTimeout(done, 10))",
    ),
    "a call that is never answered": Script("await hang()", "await hang()"),
    "a large sum": Script("sum(range(10 ** 15))", "let sum = 0\nfor (let i = 0; i < 1e15; i++) sum += i"),
    "a large comprehension": Script(
        "sum([1 for _ in range(10 ** 9) if False])", "for (const x of (function* () { for (;;) yield 1 })());"
    ),
    "a pathological pattern": Script(
        "import re\nre.match('(a|a|b)*(c|a)*(a|b)*x', 'ab' * 50000 + 'd')\nwhile True: pass",
        "const found = /^(a+)+$/.test('a'.repeat(50) + 'b')\nfor (;;);",
    ),
    "microtasks": Script(
        "while True:\n    pass", "const again = () => queueMicrotask(again)\nagain()\nawait new Promise(() => {})"
    ),
    "a finally": Script(
        "try:\n    1 / 0\nfinally:\n    while True:\n        pass", "try {\n  null.x\n} finally {\n  for (;;);\n}"
    ),
}
FLOODS = {
    "endless calls": Script(
        "while True:\n    try:\n        await quick()\n    except RuntimeError:\n        pass",
        "for (;;) try {\n  await quick()\n} catch {}",
    ),
    "endless calls over the limit, gathered": Script(
        "import asyncio\n"
        "async def one():\n    try:\n        await quick()\n    except RuntimeError:\n        pass\n"
        "while True:\n    await asyncio.gather(*[one() for _ in range(50)])",
        "for (;;) await Promise.allSettled(Array.from({ length: 50 }, () => quick()))",
    ),
    "endless progress": Script("while True:\n    await report_progress(1)", "for (;;) await reportProgress(1)"),
    "endless files": Script(
        "while True:\n    try:\n        open('/tmp/x', 'a').write('y')\n    except OSError:\n        pass",
        "for (;;) try {\n  readFile('/files/none')\n} catch {}",
    ),
}
"""Endless too, and the host has no rest from them."""


async def hang() -> None:
    await asyncio.Event().wait()


async def quick() -> int:
    return 1


def started(code: Script) -> Script:
    return Script(f"print('started')\n{code.python}", f"console.log('started')\n{code.javascript}")


async def stopped(rig: Rig, code: Script, wall_seconds: float) -> tuple[object, ...]:
    """How a guest that never ends was ended, and what is left of it."""
    result = await rig.run(started(code), hang, quick, limits={**QUICK, "wall_seconds": wall_seconds})
    message = re.sub(
        r" at about line \d+(?=:)", "", "" if result.error is None else result.error.message
    )  # Python says it
    return result.verdict, result.stdout, result.output, result.error and (result.error.type, message)


def at_its_limit(wall_seconds: float) -> tuple[object, ...]:
    words = f"the limit wall_seconds = {wall_seconds} s was reached: do less work in one run"
    return Verdict.TIMEOUT, "started\n", None, ("TimeoutError", words)


async def test_guests_that_never_end_are_stopped_and_their_output_is_kept(costly_rig: Rig) -> None:
    # All at once: for that long they share the cores, where each alone would have one to itself.
    ended = await asyncio.gather(*(stopped(costly_rig, code, 3) for code in SPIN.values()))
    assert dict(zip(SPIN, ended, strict=True)) == dict.fromkeys(SPIN, at_its_limit(3))


async def test_a_line_without_an_end_is_kept_when_the_time_is_over(python_rig: Rig) -> None:
    code = "print('whole')\nprint('half', end='')\nwhile True:\n    pass"
    limits = (
        [{"wall_seconds": 1.0}, {"cpu_seconds": 1.0}] if python_rig.engine == "cpython" else [{"wall_seconds": 1.0}]
    )
    for limit in limits:
        result = await python_rig.run(code, limits=limit)
        assert (result.verdict, result.stdout) == (Verdict.TIMEOUT, "whole\nhalf")


async def test_what_was_written_to_the_other_stream_before_a_limit_is_kept(rig: Rig) -> None:
    code = Script(
        "import sys\nprint('important', file=sys.stderr)\nprint('x' * 2000)",
        "console.error('important')\nconsole.log('x'.repeat(2000))",
    )
    result = await rig.run(code, limits={"stream_characters": 1000})
    assert (result.verdict, len(result.stdout), result.stderr) == (Verdict.OUTPUT_LIMIT, 1000, "important\n")


@pytest.mark.parametrize("code", FLOODS.values(), ids=FLOODS)
async def test_a_guest_that_keeps_the_host_busy_is_stopped_and_its_output_is_kept(
    costly_rig: Rig, code: Script
) -> None:
    assert await stopped(costly_rig, code, 0.5) == at_its_limit(0.5)


GREEDY = {
    "a list": Script(
        "x = []\nwhile True:\n    x.append('a' * 100_000)",
        "const x = []\nfor (;;) x.push(new Array(10_000).fill(0).map((_, i) => i * 0.5))",
    ),
    "a string": Script("x = 'a' * 10_000_000_000", "let x = Array(30_000_000).fill('abc').join(',')"),
    "a doubled string": Script(
        "x = 'a'\nwhile True:\n    x += x",
        "const x = ['a']\nfor (;;) x.push(`${x.at(-1)}${x.at(-1)}`.split('').join(''))",
    ),
    "a list multiplied": Script("x = [0] * 1_000_000_000_000", "let x = Array(30_000_000).fill(0.5)"),
    "large numbers": Script(
        "x, n = [], 9 ** 200_000\nwhile True:\n    n += 1\n    x.append(n)",
        "const x = []\nfor (let n = 9n ** 200_000n; ; n++) x.push(n)",
    ),
    "a shift": Script("x = 1 << 10_000_000_000", "const x = []\nfor (;;) x.push(1n << 800_000n)"),
    "a dict": Script(
        "x = {}\ni = 0\nwhile True:\n    x[i] = 'a' * 10_000 + str(i)\n    i += 1",
        "const x = new Map()\nfor (let i = 0; ; i++) x.set(i, [`a${i}`, { i }])",
    ),
    "bytes outside the heap": Script(
        "x = []\nwhile True:\n    x.append(b'a' * 1_000_000)",
        "const x = []\nfor (;;) x.push(new Uint8Array(1_000_000).fill(1))",
    ),
    "promises": Script(
        "x = []\nwhile True:\n    x.append([0] * 10_000)",
        "const x = []\nfor (;;) {\n  await null\n  for (let i = 0; i < 1000; i++) x.push(new Promise(() => x))\n}",
    ),
}


@pytest.mark.parametrize("code", GREEDY.values(), ids=GREEDY)
async def test_a_guest_that_takes_too_much_memory_is_stopped_and_its_output_kept(costly_rig: Rig, code: Script) -> None:
    result = await costly_rig.run(started(code), limits={**QUICK, "wall_seconds": 20})
    # One allocation beyond the limit fails at once. The host has seen no limit reached, only the script's exception.
    verdicts = {Verdict.OUT_OF_MEMORY, *([Verdict.RAISED] if costly_rig.engine == "cpython" else [])}
    assert (result.verdict in verdicts, result.stdout, result.output) == (True, "started\n", None)
    assert result.error is not None
    assert result.error.type == "MemoryError"
    if result.verdict is Verdict.RAISED:
        assert result.error.message.startswith("an allocation failed; the limit is memory_bytes = 64 MB: ")
        return
    assert result.error.message.endswith("the limit memory_bytes = 64 MB was reached: keep less in memory")


async def test_a_guest_that_catches_every_failed_allocation_is_stopped(rig: Rig) -> None:
    greed = Script(
        "x = []\nwhile True:\n    try:\n        x.append('a' * 100_000)\n    except BaseException:\n        pass",
        "const x = []\nfor (;;) try {\n  x.push(new Float64Array(10_000).fill(1))\n} catch {}",
    )
    result = await rig.run(started(greed), limits={**QUICK, "wall_seconds": 3})
    # If the guest's own limit is a little below the host's, every allocation fails and the script runs on until then.
    assert (result.verdict in (Verdict.OUT_OF_MEMORY, Verdict.TIMEOUT), result.stdout) == (True, "started\n")


async def test_a_power_is_too_large_for_the_light_engine_before_it_is_computed(paddock: Paddock) -> None:
    result = await Rig("monty", paddock).run("print('started')\nx = 9 ** 9 ** 9")
    assert (result.verdict, result.stdout) == (Verdict.OUT_OF_MEMORY, "started\n")


FORGED = {
    "words": Script(
        "raise MemoryError('memory limit')", "class MemoryError extends Error {}\nthrow new MemoryError('x')"
    ),
    "Monty's words": Script(
        "raise MemoryError('memory limit exceeded: 67108865 bytes > 67108864 bytes')",
        "throw Object.assign(new Error('out of memory'), { name: 'MemoryError' })",
    ),
}


@pytest.mark.parametrize("code", FORGED.values(), ids=FORGED)
async def test_a_script_that_raises_the_error_of_a_limit_has_not_reached_it(rig: Rig, code: Script) -> None:
    result = await rig.run(code, limits={**QUICK, "wall_seconds": 30})
    assert (result.verdict, result.error and result.error.type) == (Verdict.RAISED, "MemoryError")


ENDS = {
    "loops": SPIN["a loop"],
    "greed": GREEDY["a list"],
    "a flood": Script("while True: print('x')", "for (;;) console.log('x')"),
    "an error": Script("1 / 0", "null.nothing"),
    "a call": Script("await hang()", "await hang()"),
}
BEFORE = Script(
    "import sys\nsecret = 5\nint = 7\nopen('/tmp/left', 'w').write('x')\n",
    "globalThis.secret = 5\nparseInt = 7\nArray.prototype.left = 1\nJSON.stringify = () => 1\nPromise.all = 1\n"
    "try {\n  require('fs').writeFileSync('/tmp/left', 'x')\n} catch {}\n",  # the light engine has no way to write
)
AFTER = Script(
    """
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
""",
    """
const found = [...(typeof secret === 'undefined' ? [] : [secret]), ...([].left ? ['left'] : [])]
try {
  found.push(readFile('/tmp/left'))
} catch {}
[found, parseInt(JSON.stringify(3))]
""",
)


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
async def test_the_next_run_works_and_sees_nothing_of_the_former(rig: Rig, code: Script) -> None:
    before = Script(BEFORE.python + code.python, BEFORE.javascript + code.javascript)
    assert (await rig.run(before, hang, limits=QUICK)).verdict is not Verdict.OK
    result = await rig.run(AFTER)
    assert (result.verdict, result.output, result.stdout) == (Verdict.OK, [[], 3], "")


async def test_runs_side_by_side_do_not_see_each_other(rig: Rig) -> None:
    meeting = asyncio.Barrier(4)

    async def meet() -> None:
        await meeting.wait()

    code = Script(
        "mine = number\nopen('/tmp/mine', 'w').write(str(number))\nawait meet()\n[mine, open('/tmp/mine').read()]",
        """
globalThis.mine = number
const fs = typeof require === 'undefined' ? null : require('fs')
fs?.writeFileSync('/tmp/mine', `${number}`)
await meet()
return [mine, fs === null ? `${number}` : readFile('/tmp/mine')]
""",
    )
    results = await asyncio.gather(*(rig.run(code, meet, inputs={"number": number}) for number in range(4)))
    assert [result.output for result in results] == [[number, str(number)] for number in range(4)]


async def test_a_sleep_is_as_long_as_the_script_asks(rig: Rig) -> None:
    clock = asyncio.get_running_loop().time
    times: list[float] = []

    def tick() -> None:
        times.append(clock())

    code = Script(
        "import time\nawait tick()\ntime.sleep(0.2)\nawait tick()",
        "await tick()\nawait new Promise((done) => setTimeout(done, 200))\nawait tick()",
    )
    await rig.run(code, tick)
    assert times[1] - times[0] >= 0.2  # a sleep that is cut short is a lie; a longer one is only a busy machine


async def test_waiting_for_a_tool_counts_as_time(rig: Rig) -> None:
    cancelled = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    result = await rig.run("await wait()", wait, limits={"wall_seconds": 0.5})
    calls = [(call.tool, call.status) for call in result.calls]
    assert (result.verdict, calls) == (Verdict.TIMEOUT, [("wait", "cancelled")])
    assert cancelled.is_set()


@pytest.mark.parametrize("code", ["1", ENDS["an error"], "x = (", SPIN["a loop"]])
async def test_every_result_has_the_same_shape(rig: Rig, code: str | Script) -> None:
    result: dict[str, Any] = (await rig.run(code, limits=QUICK)).to_dict()
    assert (result["error"] is None) == (result["verdict"] == "ok")
    assert len(result) == 23
    assert result["usage"].keys() == {"wall_seconds", "cpu_seconds", "memory_bytes", "output_bytes"}


async def test_the_processor_is_limited_apart_from_the_clock(costly_rig: Rig) -> None:
    result = await costly_rig.run(SPIN["a loop"], limits={"cpu_seconds": 1, "wall_seconds": 30})
    assert result.verdict is Verdict.TIMEOUT
    assert result.error is not None
    assert "cpu_seconds" in result.error.message


@pytest.mark.parametrize("code", ["setTimeout(() => console.log('late'), 50)\n1", "setInterval(() => {}, 1)\nreturn 1"])
async def test_timers_end_with_the_run(javascript_rig: Rig, code: str) -> None:
    result = await javascript_rig.run(code)
    assert (result.verdict, result.stdout) == (Verdict.OK, "")


async def test_what_the_light_engine_lacks_is_rejected_before_anything_runs(paddock: Paddock) -> None:
    result = await Rig("monty", paddock).run("print('x')\ndef f():\n    yield 1\nlist(f())")
    assert (result.verdict, result.stdout) == (Verdict.REJECTED, "")
    message = "The monty syntax parser does not yet support yield expressions"
    assert result.error == RunError("NotImplementedError", message, 3, 5)


async def test_a_tiny_memory_limit_is_a_verdict_and_not_a_fault_of_the_host(rig: Rig) -> None:
    result = await rig.run("1 + 1", limits={"memory_bytes": 1})
    assert result.verdict in (Verdict.OK, Verdict.OUT_OF_MEMORY, Verdict.RAISED, Verdict.CRASHED)
