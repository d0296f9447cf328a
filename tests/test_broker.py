"""Every failure of a call is an envelope. The broker never raises, whatever a tool does."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import math
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from paddock.calls import RunArtifacts
from paddock.model.envelope import envelope
from paddock.model.events import Answer, ToolCall
from paddock.model.journal import Intent, Journal, Outcome
from paddock.model.result import Call
from paddock.store.memory import MemoryArtifacts
from paddock.tools import broker as broker_module
from paddock.tools.broker import Broker
from paddock.tools.functions import Function, FunctionTool
from paddock.tools.policy import Rules
from paddock.tools.schema import Validator
from paddock.tools.toolbox import Scope, Toolbox
from tests.journals import MemoryJournal


@dataclass
class Size:
    width: int
    height: int


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


async def add(a: int, b: int = 1) -> int:
    return a + b


def failed(kind: str, tool: str, summary: str, code: str, *hints: str) -> Answer:
    return Answer(json.dumps(envelope(kind, tool, summary, code, hints=hints)), failed=True)


def internal(summary: str, tool: str = "tool") -> Answer:
    return failed("internal_error", tool, summary, "INTERNAL_ERROR")


async def answer_of(function: Function, arguments: str = "{}") -> Answer:
    return await broker_of({"tool": function}).answer(ToolCall(1, "tool", arguments))


def broker_of(
    functions: dict[str, Function],
    call_limit: int = 10,
    rules: Rules | None = None,
    journal: Journal | None = None,
) -> Broker:
    toolbox = Toolbox({name: FunctionTool(name, function) for name, function in functions.items()}, wait_seconds=0)
    scope = Scope(toolbox, {name: name for name in functions}, None)
    artifacts_of_run = RunArtifacts(MemoryArtifacts())
    return Broker(
        toolbox,
        scope,
        call_limit,
        run_id="r_1",
        journal=journal,
        create_artifact=artifacts_of_run.create,
        rules=rules,
    )


async def test_calls_that_arrive_together_are_checked_in_turns_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand invalid calls of a tool with a thousand fields held the event loop for 16 s."""
    turns: list[int] = []
    number = 0

    def check(*_: Any) -> None:
        turns.append(number)

    async def count() -> None:
        nonlocal number
        while len(turns) < 50:
            number += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(Validator, "problems", check)
    broker = broker_of({"add": add}, call_limit=50)
    await asyncio.gather(count(), *(broker.answer(ToolCall(call, "add", '{"a": 1}')) for call in range(1, 51)))
    assert len(set(turns)) == 50


def untimed(calls: tuple[Call, ...]) -> list[tuple[int, str, Any, str]]:
    assert all(call.milliseconds >= 0 for call in calls)
    return [(call.id, call.tool, call.arguments, call.status) for call in calls]


async def test_a_coroutine_function_is_awaited_with_its_arguments() -> None:
    assert await answer_of(add, '{"a": 2, "b": 3}') == Answer('{"result": 5}')


async def test_a_plain_function_runs_off_the_event_loop() -> None:
    assert await answer_of(threading.get_ident) != Answer(json.dumps({"result": threading.get_ident()}))


async def test_a_plain_function_may_return_an_awaitable() -> None:
    assert await answer_of(lambda: add(1)) == Answer('{"result": 2}')


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1}, '{"a": 1}'),
        ([1], '{"result": [1]}'),
        (None, '{"result": null}'),
        ("ä\ud800", '{"result": "\\u00e4\\ud800"}'),
        ({1: 2}, '{"1": 2}'),
        ({1}, '{"result": [1]}'),
        (b"x", '{"result": "x"}'),
        (Size(1, 2), '{"width": 1, "height": 2}'),
        ([dt.date(2026, 11, 15)], '{"result": ["2026-11-15"]}'),
    ],
)
async def test_an_object_is_returned_as_it_is_and_any_other_value_as_result(value: object, text: str) -> None:
    assert await answer_of(lambda: value) == Answer(text)


@pytest.mark.parametrize("value", [object(), math.nan, {"a": math.inf}, b"\xff", {(1, 2): 3}])
async def test_a_value_that_is_not_json_is_a_failure_of_the_tool(value: object) -> None:
    answer = await answer_of(lambda: value)
    assert answer.failed
    assert json.loads(answer.json)["error_code"] == "INTERNAL_ERROR"


@pytest.mark.parametrize(
    ("problem", "summary"),
    [
        (ValueError("no"), "ValueError: no"),
        (KeyError("x"), "KeyError: 'x'"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (UnprintableError(), "UnprintableError"),
        (asyncio.CancelledError(), "CancelledError"),
        (TimeoutError("late"), "TimeoutError: late"),
        (ExceptionGroup("many", [ValueError()]), "ExceptionGroup: many (1 sub-exception)"),
    ],
)
async def test_what_a_tool_raises_becomes_an_envelope(problem: BaseException, summary: str) -> None:
    async def fail() -> None:
        raise problem

    assert await answer_of(fail) == internal(summary)


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        ('{"a": 1, "c": 2}', "SCHEMA_ADDITIONAL_PROPERTIES", "Unknown field 'c'."),
        ('{"b": 2}', "SCHEMA_REQUIRED", "Required field missing: 'a'."),
        ('{"a": "x"}', "SCHEMA_TYPE_MISMATCH", None),
    ],
)
async def test_arguments_that_the_function_does_not_take_are_refused(
    arguments: str, code: str, hint: str | None
) -> None:
    answer = await answer_of(add, arguments)
    said = json.loads(answer.json)
    assert (answer.failed, said["error_kind"], said["error_code"]) == (True, "mcp_input_validation", code)
    assert hint is None or hint in said["hints"]


async def test_an_unknown_tool_is_answered_with_near_names() -> None:
    answer = await broker_of({"orders": add, "users": add}, 10).answer(ToolCall(1, "order", "{}"))
    assert answer == failed(
        "tool_not_found", "order", "There is no tool 'order'.", "TOOL_NOT_FOUND", "Did you mean 'orders'?"
    )


async def test_a_call_over_the_limit_is_refused_and_not_made() -> None:
    made: list[int] = []
    broker = broker_of({"tool": lambda: made.append(1)}, 1)
    answers = [await broker.answer(ToolCall(number, "tool", "{}")) for number in (1, 2, 3)]
    refused = failed(
        "sandbox_runtime",
        "tool",
        "The run has reached its limit of 1 tool calls.",
        "CALL_LIMIT_EXCEEDED",
        "Request more data per call, or split the work over several runs.",
    )
    assert answers == [Answer('{"result": null}'), refused, refused]
    assert made == [1]
    assert untimed(broker.calls()) == [(1, "tool", {}, "ok")]


async def test_a_limit_of_zero_allows_no_calls() -> None:
    answer = await broker_of({"tool": add}, 0).answer(ToolCall(1, "tool", '{"a": 1}'))
    assert json.loads(answer.json)["error_code"] == "CALL_LIMIT_EXCEEDED"


@pytest.mark.parametrize("depth", [101, 500, 100_000])
async def test_arguments_nested_too_deeply_are_refused(depth: int) -> None:
    broker = broker_of({"tool": add}, 10)
    answer = await broker.answer(ToolCall(1, "tool", '{"a":' * depth + "{}" + "}" * depth))
    assert json.loads(answer.json)["error_code"] == "INPUT_VALIDATION_FAILED"
    assert untimed(broker.calls()) == [(1, "tool", {}, "error")]


async def test_the_arguments_of_a_run_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_module, "ARGUMENT_BYTES", 20)
    broker = broker_of({"tool": add}, 10)
    answers = [await broker.answer(ToolCall(number, "tool", '{"a": 100}')) for number in (1, 2, 3)]
    assert [answer.failed for answer in answers] == [False, False, True]
    assert json.loads(answers[2].json)["error_code"] == "INPUT_VALIDATION_FAILED"


async def test_calls_are_listed_in_program_order_whatever_the_order_of_their_answers() -> None:
    first_may_end = asyncio.Event()

    async def first() -> None:
        await first_may_end.wait()

    async def second() -> None:
        first_may_end.set()
        raise ValueError

    broker = broker_of({"first": first, "second": second}, 10)
    calls = [ToolCall(1, "first", "{}"), ToolCall(2, "second", "{}")]
    await asyncio.gather(*(broker.answer(call) for call in calls))
    assert untimed(broker.calls()) == [(1, "first", {}, "ok"), (2, "second", {}, "error")]


async def test_a_cancelled_run_cancels_its_call_and_lists_it_as_cancelled() -> None:
    entered = asyncio.Event()

    async def hang() -> None:
        entered.set()
        await asyncio.Event().wait()

    broker = broker_of({"tool": hang}, 10)
    task = asyncio.create_task(broker.answer(ToolCall(1, "tool", "{}")))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(call.tool, call.status) for call in broker.calls()] == [("tool", "cancelled")]


class SlowJournal(MemoryJournal):
    """A journal that has stored an intent, and takes long to say so."""

    def __init__(self) -> None:
        super().__init__()
        self.has_stored = asyncio.Event()

    async def intend(self, intent: Intent) -> None:
        await super().intend(intent)
        self.has_stored.set()
        await asyncio.Event().wait()


async def test_a_call_that_is_cancelled_while_its_intent_is_stored_has_an_outcome() -> None:
    made: list[int] = []
    journal = SlowJournal()
    broker = broker_of({"tool": lambda: made.append(1)}, journal=journal)
    task = asyncio.create_task(broker.answer(ToolCall(1, "tool", "{}")))
    await journal.has_stored.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [(_, outcome)] = journal._calls.values()
    assert (outcome and outcome.status, made) == ("cancelled", [])


class FullJournal:
    """A journal whose disk is full, from the start or once the intent is written."""

    def __init__(self, *, takes_intents: bool) -> None:
        self._takes_intents = takes_intents

    async def intend(self, intent: Intent) -> None:
        if not self._takes_intents:
            raise OSError("no space left on /var/lib/paddock")

    async def conclude(self, outcome: Outcome) -> None:
        raise OSError("no space left on /var/lib/paddock")


async def test_a_call_that_cannot_be_journalled_is_not_made() -> None:
    made: list[int] = []
    broker = broker_of({"tool": lambda: made.append(1)}, journal=FullJournal(takes_intents=False))
    answer = await broker.answer(ToolCall(1, "tool", "{}"))
    assert (answer, made) == (internal("The call was not made: the journal cannot be written (OSError)."), [])
    unknown = await broker.answer(ToolCall(2, "nothing", "{}"))
    assert json.loads(unknown.json)["error_code"] == "TOOL_NOT_FOUND"


async def test_an_outcome_that_cannot_be_journalled_still_reaches_the_script() -> None:
    broker = broker_of({"tool": add}, journal=FullJournal(takes_intents=True))
    assert await broker.answer(ToolCall(1, "tool", '{"a": 1}')) == Answer('{"result": 2}')


@pytest.mark.parametrize("text", ["5", '"abc"', "[1, 2]", '[["x", 1]]', "null", "", "{", '{"x": 1e400}', '{"x": NaN}'])
async def test_arguments_that_are_no_json_object_are_answered_and_recorded(text: str) -> None:
    broker = broker_of({"tool": add})
    answer = await broker.answer(ToolCall(1, "tool", text))
    failure = json.loads(answer.json)
    assert (answer.failed, failure["error_code"]) == (True, "INPUT_VALIDATION_FAILED")
    assert failure["summary"].startswith(("The arguments must be a JSON object", "The arguments are not JSON"))
    assert [(call.id, call.arguments, call.status) for call in broker.calls()] == [(1, {}, "error")]


async def test_half_of_a_surrogate_pair_in_arguments_is_replaced() -> None:
    """A stored run that showed it could not be encoded."""
    broker = broker_of({"tool": add})
    await broker.answer(ToolCall(1, "tool", '{"\\ud800": ["\\uDFFF", "\\ud83d\\ude00"]}'))
    assert [call.arguments for call in broker.calls()] == [{"?": ["?", "\U0001f600"]}]


async def test_large_arguments_do_not_hold_up_other_runs() -> None:
    broker = broker_of({"tool": add}, journal=FullJournal(takes_intents=True))
    await broker.answer(ToolCall(1, "tool", '{"a": 1}'))  # imports what calls need
    turns = [time.process_time()]

    async def turn() -> None:
        while True:
            await asyncio.sleep(0)
            turns.append(time.process_time())

    other = asyncio.create_task(turn())
    text = json.dumps({"a": 1, **{f"name{i}": "text" for i in range(50_000)}})
    answer = await broker.answer(ToolCall(2, "tool", text))
    other.cancel()
    turns.append(time.process_time())
    assert answer.failed
    assert max(later - earlier for earlier, later in pairwise(turns)) < (turns[-1] - turns[0]) / 3
