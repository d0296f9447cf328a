"""Tool calls: by name, by function, at the same time, numbered, and catchable when they fail."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from paddock.model.envelope import envelope
from paddock.model.events import ToolCall
from paddock.model.result import Verdict
from tests.contract.conftest import Rig


async def add(a: int, b: int = 1) -> int:
    return a + b


def orders(**filters: Any) -> dict[str, Any]:
    return {"filters": filters}


def fail() -> None:
    raise ValueError("no")


@pytest.mark.parametrize(
    "call",
    [
        "call_tool('add', {'a': 1, 'b': 2})",
        "call_tool('add', params={'a': 1, 'b': 2})",
        "call_tool('add', arguments={'a': 1, 'b': 2})",
        "call_tool(name='add', arguments={'a': 1, 'b': 2})",
        "add({'a': 1, 'b': 2})",
    ],
)
async def test_a_tool_is_called_by_name_or_by_its_function(rig: Rig, call: str) -> None:
    result = await rig.run(f"await {call}", add)
    assert (result.verdict, result.output) == (Verdict.OK, {"result": 3})
    assert [(call.id, call.tool, call.arguments, call.status) for call in result.calls] == [
        (1, "add", {"a": 1, "b": 2}, "ok")
    ]
    assert result.available_functions == ("add",)


@pytest.mark.parametrize("call", ["call_tool('orders')", "orders()", "orders({})", "call_tool('orders', None)"])
async def test_a_tool_may_be_called_without_arguments(rig: Rig, call: str) -> None:
    assert (await rig.run(f"await {call}", orders)).output == {"filters": {}}


async def test_arguments_and_answers_of_every_kind_cross_unchanged(rig: Rig) -> None:
    value = {"a": [1, 2.5, None, True, "ä\u2028😀", {"": []}], "big": 2**70, "text": "x" * 100_000}
    result = await rig.run("(await orders(value))['filters'] == value", orders, inputs={"value": value})
    assert result.output is True
    assert [call.arguments for call in result.calls] == [value]


@pytest.mark.parametrize("text", ["", "ä😀" * 60, "x" * 900, "x" * 50_000])
async def test_an_answer_is_the_same_whatever_its_size(rig: Rig, text: str) -> None:
    rows = [{"id": 2**70, "share": 0.1, "tags": [None, True, []]}]

    def report() -> dict[str, Any]:
        return {"text": text, "rows": rows}

    result = await rig.run("answer = await report()\nanswer['rows'].append(1)\nreturn answer", report)
    assert result.output == {"text": text, "rows": [*rows, 1]}


async def test_gathered_calls_overlap(rig: Rig) -> None:
    meeting = asyncio.Barrier(5)

    async def meet(number: int) -> int:
        await meeting.wait()  # would wait for ever if the calls came one after the other
        return number

    code = "import asyncio\nawait asyncio.gather(*[meet({'number': n}) for n in range(5)])"
    result = await rig.run(code, meet)
    assert result.output == [{"result": number} for number in range(5)]


async def test_calls_are_numbered_in_the_order_of_the_program(rig: Rig) -> None:
    turns = [asyncio.Event() for _ in range(4)]
    turns[3].set()

    async def wait(number: int) -> int:
        await turns[number].wait()
        turns[number - 1].set()  # they end in the opposite order
        return number

    code = "import asyncio\nawait asyncio.gather(*[wait({'number': n}) for n in range(4)])"
    events = [event async for event in rig.stream(code, wait) if isinstance(event, ToolCall)]
    assert events == [ToolCall(number + 1, "wait", f'{{"number": {number}}}') for number in range(4)]


async def test_an_uncaught_failure_shows_its_envelope(rig: Rig) -> None:
    result = await rig.run("x = 1\nawait fail({})", fail)
    failure = envelope("internal_error", "fail", "ValueError: no", "INTERNAL_ERROR")
    assert result.error is not None
    assert (result.verdict, result.error.type, result.error.line) == (Verdict.RAISED, "RuntimeError", 2)
    assert (json.loads(result.error.message), result.error.envelope) == (failure, failure)
    assert [call.status for call in result.calls] == ["error"]


async def test_a_failure_can_be_caught_and_read(rig: Rig) -> None:
    code = """
import json
try:
    await fail()
except RuntimeError as e:
    kind = json.loads(str(e))['error_kind']
[kind, (await add({'a': 1}))['result']]
"""
    assert (await rig.run(code, fail, add)).output == ["internal_error", 2]


async def test_one_failure_among_gathered_calls_leaves_the_others(rig: Rig) -> None:
    code = """
import asyncio
async def attempt(call):
    try:
        return await call
    except RuntimeError:
        return 'failed'
await asyncio.gather(attempt(add({'a': 1})), attempt(fail()), attempt(add({'a': 2})))
"""
    assert (await rig.run(code, fail, add)).output == [{"result": 2}, "failed", {"result": 3}]


async def test_an_unknown_tool_is_named_with_its_nearest(rig: Rig) -> None:
    result = await rig.run("await call_tool('ad', {})", add)
    assert result.error is not None
    assert result.error.envelope == envelope(
        "tool_not_found", "ad", "There is no tool 'ad'.", "TOOL_NOT_FOUND", hints=["Did you mean 'add'?"]
    )


async def test_a_tool_that_was_not_linked_is_not_there(rig: Rig) -> None:
    result = await rig.run("await call_tool('fail', {})", add, fail, tools=["add"])
    assert result.error is not None
    assert result.error.envelope is not None
    assert result.error.envelope["error_code"] == "TOOL_NOT_FOUND"


async def test_a_call_over_the_limit_fails_and_can_be_caught(rig: Rig) -> None:
    code = """
import json
done = 0
try:
    while True:
        await add({'a': 1})
        done += 1
except RuntimeError as e:
    code = json.loads(str(e))['error_code']
[done, code]
"""
    result = await rig.run(code, add, limits={"calls": 3})
    assert (result.output, len(result.calls)) == ([3, "CALL_LIMIT_EXCEEDED"], 3)


async def test_thousands_of_calls_in_one_run_are_all_answered(rig: Rig) -> None:
    code = "n = 0\nfor i in range(2000):\n    n += (await add({'a': 0}))['result']\nn"
    result = await rig.run(code, add, limits={"calls": 10_000})
    assert (result.verdict, result.output) == (Verdict.OK, 2000)
    assert [call.id for call in result.calls] == list(range(1, 2001))


async def test_hundreds_of_calls_at_once_are_all_answered(rig: Rig) -> None:
    code = "import asyncio\nsum([r['result'] for r in await asyncio.gather(*[add({'a': n}) for n in range(500)])])"
    result = await rig.run(code, add, limits={"calls": 1000})
    assert result.output == sum(n + 1 for n in range(500))


async def test_arguments_nested_too_deeply_are_refused_and_the_run_goes_on(rig: Rig) -> None:
    code = """
x = []
for _ in range(depth):
    x = [x]
try:
    await orders({'x': x})
except (RuntimeError, RecursionError) as e:
    failed = True
failed
"""
    for depth in (150, 900, 3000):
        limits = {"recursion": 10_000, "wall_seconds": 10}
        result = await rig.run(code, orders, inputs={"depth": depth}, limits=limits)
        assert (result.verdict, result.output) == (Verdict.OK, True)
        assert isinstance(result.to_json(), str)


async def test_arguments_that_share_their_parts_cost_the_guest_alone(rig: Rig) -> None:
    code = "x = ['a']\nfor _ in range(60):\n    x = [x, x]\nawait orders({'x': x})"
    result = await rig.run(code, orders, limits={"wall_seconds": 0.5})
    assert result.verdict in (Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
    assert result.calls == ()


async def test_a_lone_surrogate_in_an_argument_breaks_nothing(rig: Rig) -> None:
    result = await rig.run("await orders({'a': '\\ud800'})\n1", orders)
    assert (result.verdict, result.output) == (Verdict.OK, 1)
    assert json.loads(result.to_json()) == result.to_dict()


@pytest.mark.parametrize("code", ["call_tool('add', {'a': 1})", "add({'a': 1})", "x = add({'a': 1})\n[x]"])
async def test_a_call_without_await_is_a_clear_error(rig: Rig, code: str) -> None:
    result = await rig.run(code, add)
    assert result.error is not None
    assert (result.verdict, result.error.type, result.calls) == (Verdict.RAISED, "TypeError", ())
    assert "write `await` before the call" in result.error.message


async def test_a_script_may_define_the_name_of_a_tool_itself(rig: Rig) -> None:
    assert (await rig.run("def add(x):\n    return x + 1\nadd(1)", add)).output == 2
