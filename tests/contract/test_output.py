"""What a script prints: in order, while the run goes on, and nowhere but in the result."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from paddock.model.events import Done, Event, Output, Progress, ToolCall, ToolResult
from paddock.model.result import Verdict
from tests.contract.rigs import Rig, Script

FAILS = Script("1 / 0", "null.nothing")


def prints(*texts: str) -> Script:
    return Script(
        "\n".join(f"print({text!r})" for text in texts), "\n".join(f"console.log({text!r})" for text in texts)
    )


def both(*scripts: Script) -> Script:
    return Script("\n".join(each.python for each in scripts), "\n".join(each.javascript for each in scripts))


def without_time(event: Event) -> Event:
    return replace(event, milliseconds=0) if isinstance(event, ToolResult) else event


async def test_both_streams_are_kept_apart_and_in_order(rig: Rig) -> None:
    code = Script(
        "import sys\nfor i in range(3):\n    print('o', i)\n    print('e', i, file=sys.stderr)",
        "for (let i = 0; i < 3; i++) {\n  console.log('o', i)\n  console.error('e', i)\n}",
    )
    result = await rig.run(code)
    assert (result.stdout, result.stderr) == ("o 0\no 1\no 2\n", "e 0\ne 1\ne 2\n")


async def test_print_keeps_its_separators_and_ends(python_rig: Rig) -> None:
    result = await python_rig.run("print(1, 'ä', sep='-', end='!')\nprint()\nprint('a\\r\\nb')")
    assert result.stdout == "1-ä!\na\r\nb\n"


async def test_each_line_of_the_console_has_its_level_and_its_stream(javascript_rig: Rig) -> None:
    levels = ("log", "info", "debug", "warn", "error")
    code = "".join(f"console.{level}('{level} ä', 1, [{{ a: 'b\\r\\nc' }}])\n" for level in levels)
    result = await javascript_rig.run(f"{code}console.log()\nconsole.log('%s-%d%%', 'a', 2)")
    shown = {level: f"{level} ä 1 [ {{ a: 'b\\r\\nc' }} ]" for level in levels}
    assert result.stdout == "".join(f"{shown[level]}\n" for level in levels[:3]) + "\na-2%\n"
    assert result.stderr == "".join(f"{shown[level]}\n" for level in levels[3:])
    assert [dict(log) for log in result.logs] == [
        *({"level": level, "text": text} for level, text in shown.items()),
        {"level": "log", "text": ""},
        {"level": "log", "text": "a-2%"},
    ]


async def test_output_is_seen_before_the_run_is_over(rig: Rig) -> None:
    may_end = asyncio.Event()

    async def wait() -> None:
        await may_end.wait()

    seen: list[object] = []
    code = both(prints("first"), Script("await wait()", "await wait()"), prints("second"))
    async for event in rig.stream(code, wait):
        seen.append(event.result.stdout if isinstance(event, Done) else without_time(event))
        if event == Output("stdout", "first\n"):
            may_end.set()  # the call is answered only once its output has been seen
    assert seen == [
        Output("stdout", "first\n"),
        ToolCall(1, "wait", "{}", is_function=True),
        ToolResult(1, "wait", "ok", 0),
        Output("stdout", "second\n"),
        "first\nsecond\n",
    ]


async def test_output_comes_before_the_call_that_follows_it(rig: Rig) -> None:
    def tool() -> None: ...

    code = Script(
        "for i in range(20):\n    print(i)\n    await tool()",
        "for (let i = 0; i < 20; i++) {\n  console.log(i)\n  await tool()\n}",
    )
    events = [without_time(event) async for event in rig.stream(code, tool)]
    assert events[:-1] == [
        event
        for i in range(20)
        for event in (
            Output("stdout", f"{i}\n"),
            ToolCall(i + 1, "tool", "{}", is_function=True),
            ToolResult(i + 1, "tool", "ok", 0),
        )
    ]


async def test_progress_is_seen_and_is_no_tool_call(rig: Rig) -> None:
    code = Script(
        "await report_progress(1, 4, 'quarter')\nawait report_progress(0.5)\nawait report_progress(done=2, total=4)",
        "await reportProgress(1, 4, 'quarter')\nreportProgress(0.5)\nawait reportProgress(2, 4)",
    )
    *events, done = [event async for event in rig.stream(code, limits={"calls": 0})]
    assert events == [Progress(1, 4, "quarter"), Progress(0.5, None, ""), Progress(2, 4, "")]
    assert isinstance(done, Done)
    assert (done.result.verdict, done.result.calls) == (Verdict.OK, ())


PRINTING = (
    Script(
        "import sys\nprint('guest')\nprint('guest', file=sys.stderr)\n1 / 0",
        "console.log('guest')\nconsole.error('guest')\nnull.nothing",
    ),
    Script(
        "async def f():\n    print('guest')\nawait f()\nawait call_tool('x', {})",
        "async function f() {\n  console.log('guest')\n}\nawait f()\nawait callTool('x', {})",
    ),
    Script(
        "class A:\n    def __repr__(self):\n        print('guest')\n        return 'a'\nA()",
        "({ toJSON() {\n  console.log('guest')\n  return 'a'\n} })",
    ),
)


@pytest.mark.parametrize("code", PRINTING)
async def test_nothing_printed_reaches_the_hosts_own_streams(
    rig: Rig, code: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (await rig.run(code)).stdout == "guest\n"
    assert capfd.readouterr() == ("", "")


async def test_output_of_exactly_the_limit_is_whole_and_one_byte_more_is_not(rig: Rig) -> None:
    code, text = prints("ä" * 50), "ä" * 50
    whole = await rig.run(code, limits={"output_bytes": 101})
    assert (whole.verdict, whole.stdout, whole.truncated) == (Verdict.OK, f"{text}\n", ())
    for output_bytes, kept in ((100, text), (99, text[:49])):
        cut = await rig.run(code, limits={"output_bytes": output_bytes})
        assert (cut.verdict, cut.stdout, cut.truncated) == (Verdict.OUTPUT_LIMIT, kept, ("stdout",))


@pytest.mark.parametrize(
    "code",
    [
        Script("while True:\n    print('x' * 1000)", "for (;;) console.log('x'.repeat(1000))"),
        Script("print('x' * 10_000_000)", "console.log('x'.repeat(10_000_000))"),
    ],
)
async def test_a_flood_is_stopped_at_the_limit(rig: Rig, code: Script) -> None:
    result = await rig.run(code, limits={"output_bytes": 100_000})
    assert (result.verdict, len(result.stdout), result.usage.output_bytes) == (Verdict.OUTPUT_LIMIT, 100_000, 100_000)
    assert result.usage.cpu_seconds is not None or rig.engine == "monty"


async def test_a_long_line_comes_in_one_piece(rig: Rig) -> None:
    code = Script("print('€' * 1_000_000 + '|')", "console.log('€'.repeat(1_000_000) + '|')")
    result = await rig.run(code, limits={"output_bytes": 4_000_000})
    assert (result.verdict, result.stdout) == (Verdict.OK, "€" * 1_000_000 + "|\n")


async def test_a_result_over_the_limit_is_dropped_and_what_was_printed_is_kept(rig: Rig) -> None:
    code = both(prints("kept"), Script("'x' * 1000", "'x'.repeat(1000)"))
    result = await rig.run(code, limits={"output_bytes": 100})
    assert (result.verdict, result.output, result.stdout, result.truncated) == (
        Verdict.OUTPUT_LIMIT,
        None,
        "kept\n",
        ("output",),
    )


async def test_what_was_printed_before_an_exception_is_kept(rig: Rig) -> None:
    result = await rig.run(both(prints("before"), FAILS))
    assert (result.verdict, result.stdout) == (Verdict.RAISED, "before\n")


async def test_leaving_a_stream_ends_the_run(rig: Rig) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    stream = rig.stream(both(prints("on"), Script("await hang()", "await hang()")), hang)
    async for event in stream:
        if isinstance(event, ToolCall):
            break
    await called.wait()
    await stream.aclose()  # type: ignore[attr-defined]
    assert cancelled.is_set()
    assert (await rig.run("1 + 1")).output == 2


async def test_a_run_that_is_cancelled_takes_its_calls_with_it(rig: Rig) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    running = asyncio.create_task(rig.run("await hang()", hang))
    await called.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert cancelled.is_set()
    assert (await rig.run("1 + 1")).output == 2
