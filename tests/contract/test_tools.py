"""Tool calls: by name, by function, at the same time, numbered, and catchable when they fail."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from paddock.model.envelope import envelope
from paddock.model.events import ToolCall
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.contract.rigs import Rig, Script


async def add(a: int, b: int = 1) -> int:
    return a + b


def orders(**filters: Any) -> dict[str, Any]:
    return {"filters": filters}


def fail() -> None:
    raise ValueError("no")


@pytest.mark.parametrize(
    "call",
    [
        Script("await call_tool('add', {'a': 1, 'b': 2})", "await callTool('add', { a: 1, b: 2 })"),
        Script("await call_tool('add', params={'a': 1, 'b': 2})", "await callTool('', 'add', { a: 1, b: 2 })"),
        Script("await call_tool('add', arguments={'a': 1, 'b': 2})", "await callTool('/add', { a: 1, b: 2 })"),
        Script("await call_tool(name='add', arguments={'a': 1, 'b': 2})", "return callTool('add', { a: 1, b: 2 })"),
        Script("await add({'a': 1, 'b': 2})", "await add({ a: 1, b: 2 })"),
        Script("await add(a=1, b=2)", "await add({ a: 1, b: 2 })"),
        Script("await add({'a': 1}, b=2)", "await add({ a: 1, b: 2 })"),
    ],
)
async def test_a_tool_is_called_by_name_or_by_its_function(rig: Rig, call: Script) -> None:
    result = await rig.run(call, add)
    assert (result.verdict, result.output) == (Verdict.OK, {"result": 3})
    assert [(call.id, call.tool, call.arguments, call.status) for call in result.calls] == [
        (1, "add", {"a": 1, "b": 2}, "ok")
    ]
    assert result.available_functions == ("add",)


async def test_a_call_without_an_answer_at_the_end_is_listed_and_warned_of(rig: Rig) -> None:
    calls: list[int] = []

    async def pay(amount: int) -> None:
        calls.append(amount)
        await asyncio.Event().wait()

    result = await rig.run("await pay({'amount': 5})", pay, limits={"wall_seconds": 1})
    assert (result.verdict, calls) == (Verdict.TIMEOUT, [5])
    assert [(call.id, call.tool, call.arguments, call.status) for call in result.calls] == [
        (1, "pay", {"amount": 5}, "cancelled")
    ]
    assert result.warnings == ("Without an answer at the end: pay; its effect is unknown.",)


@pytest.mark.parametrize(
    "call",
    [
        Script("await call_tool('orders')", "await callTool('orders')"),
        "await orders()",
        "await orders({})",
        Script("await call_tool('orders', None)", "await callTool('orders', null)"),
        Script("await orders(None)", "await callTool('', 'orders')"),
    ],
)
async def test_a_tool_may_be_called_without_arguments(rig: Rig, call: str | Script) -> None:
    assert (await rig.run(call, orders)).output == {"filters": {}}


async def test_arguments_and_answers_of_every_kind_cross_unchanged(rig: Rig) -> None:
    value = {"a": [1, 2.5, None, True, "ä\u2028😀", {"": []}], "big": 2**70, "text": "x" * 100_000}
    code = Script("(await orders(value))['filters'] == value", "(await orders(value)).filters")
    result = await rig.run(code, orders, inputs={"value": value})
    assert result.output == (True if rig.language == "python" else value)
    assert [call.arguments for call in result.calls] == [value]


@pytest.mark.parametrize("text", ["", "ä😀" * 60, "x" * 900, "x" * 50_000])
async def test_an_answer_is_the_same_whatever_its_size(rig: Rig, text: str) -> None:
    rows = [{"id": 2**70, "share": 0.1, "tags": [None, True, []]}]

    def report() -> dict[str, Any]:
        return {"text": text, "rows": rows}

    code = Script(
        "answer = await report()\nanswer['rows'].append(1)\nreturn answer",
        "const answer = await report()\nanswer.rows.push(1)\nreturn answer",
    )
    result = await rig.run(code, report)
    assert result.output == {"text": text, "rows": [*rows, 1]}


async def test_gathered_calls_overlap(rig: Rig) -> None:
    meeting = asyncio.Barrier(5)

    async def meet(number: int) -> int:
        await meeting.wait()  # would wait for ever if the calls came one after the other
        return number

    code = Script(
        "import asyncio\nawait asyncio.gather(*[meet({'number': n}) for n in range(5)])",
        "await Promise.all([0, 1, 2, 3, 4].map((number) => meet({ number })))",
    )
    result = await rig.run(code, meet)
    assert result.output == [{"result": number} for number in range(5)]


async def test_calls_are_numbered_in_the_order_of_the_program(rig: Rig) -> None:
    turns = [asyncio.Event() for _ in range(4)]
    turns[3].set()

    async def wait(number: int) -> int:
        await turns[number].wait()
        turns[number - 1].set()  # they end in the opposite order
        return number

    code = Script(
        "import asyncio\nawait asyncio.gather(*[wait({'number': n}) for n in range(4)])",
        "await Promise.all([0, 1, 2, 3].map((number) => wait({ number })))",
    )
    events = [event async for event in rig.stream(code, wait) if isinstance(event, ToolCall)]
    assert [(event.id, event.tool, json.loads(event.arguments_json)) for event in events] == [
        (number + 1, "wait", {"number": number}) for number in range(4)
    ]


async def test_an_uncaught_failure_shows_its_envelope(rig: Rig) -> None:
    result = await rig.run(Script("x = 1\nawait fail({})", "const x = 1\nawait fail({})"), fail)
    failure = envelope("internal_error", "fail", "ValueError: no", "INTERNAL_ERROR")
    assert result.error is not None
    kind = {"python": "RuntimeError", "javascript": "ToolError"}[rig.language]
    assert (result.verdict, result.error.type, result.error.line) == (Verdict.RAISED, kind, 2)
    assert (json.loads(result.error.message), result.error.envelope) == (failure, failure)
    assert ("ValueError: no" in result.error.traceback, "error_kind" in result.error.traceback) == (True, False)
    assert [call.status for call in result.calls] == ["error"]


async def test_a_traceback_has_the_summary_of_each_failed_call(rig: Rig) -> None:
    code = Script(
        "try:\n    await fail({})\nexcept RuntimeError as error:\n    raise ValueError('mine') from error",
        "try { await fail({}) } catch (error) { throw new TypeError('mine', { cause: error }) }",
    )
    error = (await rig.run(code, fail)).error
    assert error is not None
    assert (error.message, '"error_kind"' in error.traceback) == ("mine", False)


CAUGHT = Script(
    """
import json
try:
    await fail()
except RuntimeError as e:
    kind = json.loads(str(e))['error_kind']
[kind, (await add({'a': 1}))['result']]
""",
    """
let kind
try {
  await fail()
} catch (e) {
  if (!(e instanceof Error && e.name === 'ToolError' && e.message === 'fail: ValueError: no')) throw e
  kind = e.envelope.error_kind
}
[kind, (await add({ a: 1 })).result]
""",
)


async def test_a_failure_can_be_caught_and_read(rig: Rig) -> None:
    code = CAUGHT
    assert (await rig.run(code, fail, add)).output == ["internal_error", 2]


async def test_one_failure_among_gathered_calls_leaves_the_others(rig: Rig) -> None:
    code = Script(
        """
import asyncio
async def attempt(call):
    try:
        return await call
    except RuntimeError:
        return 'failed'
await asyncio.gather(attempt(add({'a': 1})), attempt(fail()), attempt(add({'a': 2})))
""",
        """
const settled = await Promise.allSettled([add({ a: 1 }), fail(), add({ a: 2 })])
settled.map(({ status, value }) => (status === 'fulfilled' ? value : 'failed'))
""",
    )
    assert (await rig.run(code, fail, add)).output == [{"result": 2}, "failed", {"result": 3}]


async def test_an_unknown_tool_is_named_with_its_nearest(rig: Rig) -> None:
    result = await rig.run(Script("await call_tool('ad', {})", "await callTool('ad', {})"), add)
    assert result.error is not None
    assert result.error.envelope == envelope(
        "tool_not_found", "ad", "There is no tool 'ad'.", "TOOL_NOT_FOUND", hints=["Did you mean 'add'?"]
    )


async def test_a_tool_that_was_not_linked_is_not_there(rig: Rig) -> None:
    code = Script("await call_tool('fail', {})", "await callTool('fail', {})")
    result = await rig.run(code, add, fail, tools=["add"])
    assert result.error is not None
    assert result.error.envelope is not None
    assert result.error.envelope["error_code"] == "TOOL_NOT_FOUND"


async def test_a_call_over_the_limit_fails_and_can_be_caught(rig: Rig) -> None:
    code = Script(
        """
import json
done = 0
try:
    while True:
        await add({'a': 1})
        done += 1
except RuntimeError as e:
    code = json.loads(str(e))['error_code']
[done, code]
""",
        """
let code, done = 0
try {
  for (;; done++) await add({ a: 1 })
} catch (e) {
  code = e.envelope.error_code
}
[done, code]
""",
    )
    result = await rig.run(code, add, limits={"calls": 3})
    assert (result.output, len(result.calls)) == ([3, "CALL_LIMIT_EXCEEDED"], 3)


async def test_thousands_of_calls_in_one_run_are_all_answered(costly_rig: Rig) -> None:
    code = Script(
        "n = 0\nfor i in range(2000):\n    n += (await add({'a': 0}))['result']\nn",
        "let n = 0\nfor (let i = 0; i < 2000; i++) n += (await add({ a: 0 })).result\nreturn n",
    )
    result = await costly_rig.run(code, add, limits={"calls": 10_000})
    assert (result.verdict, result.output) == (Verdict.OK, 2000)
    assert [call.id for call in result.calls] == list(range(1, 2001))


async def test_hundreds_of_calls_at_once_are_all_answered(rig: Rig) -> None:
    code = Script(
        "import asyncio\nsum([r['result'] for r in await asyncio.gather(*[add({'a': n}) for n in range(500)])])",
        "const all = await Promise.all(Array.from({ length: 500 }, (_, a) => add({ a })))\n"
        "all.reduce((sum, { result }) => sum + result, 0)",
    )
    result = await rig.run(code, add, limits={"calls": 1000})
    assert result.output == sum(n + 1 for n in range(500))


async def test_arguments_nested_too_deeply_are_refused_and_the_run_goes_on(rig: Rig) -> None:
    code = Script(
        """
x = []
for _ in range(depth):
    x = [x]
try:
    await orders({'x': x})
except (RuntimeError, RecursionError) as e:
    failed = True
failed
""",
        """
let x = [], failed = false
for (let i = 0; i < depth; i++) x = [x]
try {
  await orders({ x })
} catch (e) {
  failed = e.name === 'ToolError' || e instanceof RangeError
}
failed
""",
    )
    for depth in (150, 900, 3000):
        limits = {"recursion": 10_000, "wall_seconds": 10}
        result = await rig.run(code, orders, inputs={"depth": depth}, limits=limits)
        assert (result.verdict, result.output) == (Verdict.OK, True)
        assert isinstance(result.to_json(), str)


async def test_arguments_that_share_their_parts_cost_the_guest_alone(rig: Rig) -> None:
    code = Script(
        "x = ['a']\nfor _ in range(60):\n    x = [x, x]\nawait orders({'x': x})",
        "let x = ['a']\nfor (let i = 0; i < 60; i++) x = [x, x]\nawait orders({ x })",
    )
    result = await rig.run(code, orders, limits={"wall_seconds": 0.5})
    assert result.verdict in (Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
    assert result.calls == ()


async def test_a_lone_surrogate_in_an_argument_breaks_nothing(rig: Rig) -> None:
    result = await rig.run(Script("await orders({'a': '\\ud800'})\n1", "await orders({ a: '\\ud800' })\n1"), orders)
    assert (result.verdict, result.output) == (Verdict.OK, 1)
    assert json.loads(result.to_json()) == result.to_dict()


@pytest.mark.parametrize("code", ["call_tool('add', {'a': 1})", "add({'a': 1})", "x = add({'a': 1})\n[x]"])
async def test_a_call_without_await_is_a_clear_error(python_rig: Rig, code: str) -> None:
    result = await python_rig.run(code, add)
    assert result.error is not None
    assert (result.verdict, result.error.type, result.calls) == (Verdict.RAISED, "TypeError", ())
    assert "write `await` before the call" in result.error.message


async def test_a_call_that_nobody_awaited_is_a_warning(paddock: Paddock) -> None:
    code = "for n in (1, 2):\n    call_tool('add', {'a': n})\n{'saved': True}"
    result = await Rig("cpython", paddock).run(code, add)
    assert (result.verdict, result.output, result.calls) == (Verdict.OK, {"saved": True}, ())
    assert result.warnings == (
        "call_tool('add') on line 2 was never awaited, so it had no effect (2 times): write `await` before it.",
    )


async def test_monty_tells_it_without_the_line(paddock: Paddock) -> None:
    rig = Rig("monty", paddock)
    result = await rig.run("add({'a': 1})\nx = [call_tool('add', {}) for n in (1, 2)]\nawait add({'a': 1})\nx = 1", add)
    assert result.warnings == (
        "add() was never awaited, so it had no effect: write `await` before it.",
        "call_tool('add') was never awaited, so it had no effect (2 times): write `await` before it.",
    )
    assert (await rig.run("await add({'a': 1})\n__paddock_unawaited = {'\\ud800': 'x'}\n5", add)).output == 5


async def test_a_failed_call_that_nobody_awaited_fails_the_run(paddock: Paddock) -> None:
    code = "import asyncio\nasyncio.create_task(fail())\nawait asyncio.sleep(0)\n{'saved': True}"
    result = await Rig("cpython", paddock).run(code, fail)
    assert result.verdict is Verdict.RAISED
    assert result.error is not None
    assert result.error.envelope is not None
    assert (result.error.envelope["error_kind"], result.error.line) == ("internal_error", 2)


async def test_a_promise_of_a_call_within_the_result_is_a_clear_error(javascript_rig: Rig) -> None:
    assert (await javascript_rig.run("add({ a: 1 })", add)).output == {"result": 2}  # a promise alone is awaited
    result = await javascript_rig.run("const x = add({ a: 1 });\n({ x: [x] })", add)
    assert result.error is not None
    assert (result.verdict, result.error.type) == (Verdict.RAISED, "TypeError")
    assert result.error.message.startswith("result.x[0] is a promise that was never awaited")


async def test_a_script_may_define_the_name_of_a_tool_itself(rig: Rig) -> None:
    code = Script("def add(x):\n    return x + 1\nadd(1)", "const add = (x) => x + 1\nadd(1)")
    assert (await rig.run(code, add)).output == 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("NaN", "arguments.a is NaN, which JSON cannot represent"),
        ("[1, -Infinity]", "arguments.a[1] is -Infinity, which JSON cannot represent"),
        ("() => 1", "arguments.a is a function, which JSON cannot represent"),
        ("Symbol('s')", "arguments.a is a symbol, which JSON cannot represent"),
        ("new WeakMap()", "arguments.a is a WeakMap, which JSON cannot represent"),
        (
            "Promise.resolve(1)",
            "arguments.a is a promise that was never awaited; for several, await Promise.all(…)",
        ),
        ("globalThis.x = { 'y z': 1, get z() { return globalThis.x } }", "arguments.a.z contains itself"),
        ("10n ** 5000n", "arguments.a is an integer of 5001 digits; the limit is 4,300"),
    ],
)
async def test_what_json_lacks_is_no_argument(javascript_rig: Rig, value: str, said: str) -> None:
    result = await javascript_rig.run(f"await orders({{ a: {value} }})", orders)
    assert result.error is not None
    assert (result.verdict, result.error.message, result.calls) == (Verdict.RAISED, said, ())


def numbers() -> list[int]:
    return [1, 2, 3]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            Script("a = await numbers()\nlen(a)", "const a = await numbers()\na.length"),
            ('len(answer) counts its keys; its value is in answer["result"].', "no `length`"),
        ),
        (
            Script("a = await numbers()\n[x for x in a]", "const a = await numbers()\nreturn { first: a[0] }"),
            ("iterating over the answer gives its keys", "no item 0; its value is in answer.result."),
        ),
    ],
    ids=["length", "items"],
)
async def test_an_answer_that_is_taken_for_its_list_is_a_warning(
    rig: Rig, script: Script, told: tuple[str, str]
) -> None:
    result = await rig.run(script, numbers)
    assert result.verdict is Verdict.OK
    warning = next(text for text in result.warnings if text.startswith("On line 2, "))
    assert told[0 if rig.language == "python" else 1] in warning


async def test_an_answer_whose_value_is_under_result_is_an_ordinary_object(rig: Rig) -> None:
    script = Script(
        "import json\na = await numbers()\n"
        "[a, isinstance(a, dict), a == {'result': [1, 2, 3]}, json.dumps(a), dict(a), len(a['result']), bool(a)]",
        "const a = await numbers()\n;[a, typeof a === 'object', Object.keys(a).length === 1, "
        "JSON.stringify(a).replace(/[:,]/g, '$& '), { ...a }, a.result.length, Boolean(a)]",
    )
    result = await rig.run(script, numbers)
    answer = {"result": [1, 2, 3]}
    assert (result.output, result.warnings) == ([answer, True, True, json.dumps(answer), answer, 3, True], ())


async def test_the_warnings_of_a_failed_run_name_the_calls_that_a_rerun_would_repeat(rig: Rig) -> None:
    def create_contact(name: str) -> str:
        return name

    def list_contacts() -> list[str]:
        return []

    script = Script(
        "for name in ['a', 'b']:\n    await create_contact({'name': name})\nawait list_contacts()\n1 / 0",
        "for (const name of ['a', 'b']) await create_contact({ name })\nawait list_contacts()\nnull.x",
    )
    result = await rig.run(script, create_contact, list_contacts)
    assert (result.verdict, result.warnings) == (
        Verdict.RAISED,
        ("Succeeded before the failure: create_contact (2 times); a rerun repeats it.",),
    )


async def test_the_hints_of_an_error_are_those_of_its_envelope(rig: Rig) -> None:
    result = await rig.run(Script("await add({'aa': 1})", "await add({ aa: 1 })"), add)
    assert result.error is not None
    assert result.error.envelope is not None
    assert result.error.hints == tuple(result.error.envelope["hints"]) != ()
