"""What a script prints: in order, while the run goes on, and nowhere but in the result."""

from __future__ import annotations

import asyncio

import pytest

from paddock.model.events import Done, Output, Progress, ToolCall
from paddock.model.result import Verdict
from tests.contract.conftest import Rig


async def test_both_streams_are_kept_apart_and_in_order(rig: Rig) -> None:
    code = "import sys\nfor i in range(3):\n    print('o', i)\n    print('e', i, file=sys.stderr)"
    result = await rig.run(code)
    assert (result.stdout, result.stderr) == ("o 0\no 1\no 2\n", "e 0\ne 1\ne 2\n")


async def test_print_keeps_its_separators_and_ends(rig: Rig) -> None:
    result = await rig.run("print(1, 'ä', sep='-', end='!')\nprint()\nprint('a\\r\\nb')")
    assert result.stdout == "1-ä!\na\r\nb\n"


async def test_output_is_seen_before_the_run_is_over(rig: Rig) -> None:
    may_end = asyncio.Event()

    async def wait() -> None:
        await may_end.wait()

    seen: list[object] = []
    async for event in rig.stream("print('first')\nawait wait()\nprint('second')", wait):
        seen.append(event if not isinstance(event, Done) else event.result.stdout)
        if event == Output("stdout", "first\n"):
            may_end.set()  # the call is answered only once its output has been seen
    assert seen == [
        Output("stdout", "first\n"),
        ToolCall(1, "wait", "{}"),
        Output("stdout", "second\n"),
        "first\nsecond\n",
    ]


async def test_output_comes_before_the_call_that_follows_it(rig: Rig) -> None:
    def tool() -> None: ...

    code = "for i in range(20):\n    print(i)\n    await tool()"
    events = [event async for event in rig.stream(code, tool)]
    expected = [(Output("stdout", f"{i}\n"), ToolCall(i + 1, "tool", "{}")) for i in range(20)]
    assert events[:-1] == [event for pair in expected for event in pair]


async def test_progress_is_seen_and_is_no_tool_call(rig: Rig) -> None:
    code = "await report_progress(1, 4, 'quarter')\nawait report_progress(0.5)\nawait report_progress(done=2, total=4)"
    *events, done = [event async for event in rig.stream(code, limits={"calls": 0})]
    assert events == [Progress(1, 4, "quarter"), Progress(0.5, None, ""), Progress(2, 4, "")]
    assert isinstance(done, Done)
    assert (done.result.verdict, done.result.calls) == (Verdict.OK, ())


async def test_nothing_printed_reaches_the_hosts_own_streams(rig: Rig, capfd: pytest.CaptureFixture[str]) -> None:
    await rig.run("import sys\nprint('guest')\nprint('guest', file=sys.stderr)\n1 / 0")
    await rig.run("async def f():\n    print('guest')\nawait f()\nawait call_tool('x', {})")
    await rig.run("class A:\n    def __repr__(self):\n        print('guest')\n        return 'a'\nA()")
    assert capfd.readouterr() == ("", "")


async def test_output_of_exactly_the_limit_is_whole_and_one_byte_more_is_not(rig: Rig) -> None:
    whole = await rig.run("print('ä' * 50, end='')", limits={"output_bytes": 100})
    assert (whole.verdict, whole.stdout, whole.truncated) == (Verdict.OK, "ä" * 50, ())
    cut = await rig.run("print('ä' * 50)", limits={"output_bytes": 99})
    assert (cut.verdict, cut.stdout, cut.truncated) == (Verdict.OUTPUT_LIMIT, "ä" * 49, ("stdout",))


async def test_an_endless_flood_is_stopped_at_the_limit(rig: Rig) -> None:
    result = await rig.run("while True:\n    print('x' * 1000)", limits={"output_bytes": 100_000})
    assert (result.verdict, len(result.stdout), result.usage.output_bytes) == (Verdict.OUTPUT_LIMIT, 100_000, 100_000)


async def test_a_result_over_the_limit_is_dropped_and_what_was_printed_is_kept(rig: Rig) -> None:
    result = await rig.run("print('kept')\n'x' * 1000", limits={"output_bytes": 100})
    assert (result.verdict, result.output, result.stdout, result.truncated) == (
        Verdict.OUTPUT_LIMIT,
        None,
        "kept\n",
        ("output",),
    )


async def test_what_was_printed_before_an_exception_is_kept(rig: Rig) -> None:
    result = await rig.run("print('before')\n1 / 0")
    assert (result.verdict, result.stdout) == (Verdict.RAISED, "before\n")


async def test_leaving_a_stream_ends_the_run(rig: Rig) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    stream = rig.stream("print('on')\nawait hang()", hang)
    async for event in stream:
        if isinstance(event, ToolCall):
            break
    await called.wait()
    await stream.aclose()  # type: ignore[attr-defined]
    assert cancelled.is_set()
    assert (await rig.run("1 + 1")).output == 2
