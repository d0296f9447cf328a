"""The path of a run, with an engine that plays a list of events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from paddock.errors import MESSAGE_CHARACTERS, EngineCrashed, RequestError, UnknownEngine
from paddock.model.events import (
    Answer,
    Done,
    EngineEvent,
    Event,
    Finished,
    GuestCall,
    Output,
    Progress,
    ToolCall,
    ToolResult,
)
from paddock.model.journal import Outcome
from paddock.model.request import NAME_CHARACTERS, RunOptions
from paddock.model.result import RunError, Verdict
from paddock.run import Paddock
from tests.journals import MemoryJournal
from tests.scripted_engine import ScriptedEngine

OK = Finished(Verdict.OK, "1")


def scripted(
    *events: EngineEvent | GuestCall, tools: tuple[Callable[..., Any], ...] = ()
) -> tuple[Paddock, ScriptedEngine]:
    engine = ScriptedEngine(events)
    return Paddock(tools=tools, engines={"monty": lambda config: engine}), engine


async def seen(paddock: Paddock, **options: Any) -> list[Event]:
    return [event async for event in paddock.stream("1", engine="monty", **options)]


async def test_a_run_returns_what_the_engine_reported() -> None:
    paddock, engine = scripted(Output("stdout", "hi\n"), Output("stderr", "!"), OK)
    result = await paddock.run("1", engine="monty")
    assert (result.verdict, result.output, result.stdout, result.stderr) == (Verdict.OK, 1, "hi\n", "!")
    assert [plan.code for plan in engine.opened] == ["1"]
    assert engine.running == 0


async def test_a_stream_shows_every_event_in_order_and_ends_with_the_result() -> None:
    def echo(value: int) -> int:
        return value

    call = ToolCall(1, "echo", '{"value": 5}')
    paddock, engine = scripted(
        Output("stdout", "a"), call, Progress(1, 2, "half"), Output("stdout", "b"), OK, tools=(echo,)
    )
    *events, done = await seen(paddock)
    answered = [event for event in events if isinstance(event, ToolResult)]
    assert [(event.id, event.tool, event.status) for event in answered] == [(1, "echo", "ok")]
    assert events.index(answered[0]) > events.index(call)
    events.remove(answered[0])
    assert events == [Output("stdout", "a"), call, Progress(1, 2, "half"), Output("stdout", "b")]
    assert isinstance(done, Done)
    assert (done.result.verdict, done.result.stdout) == (Verdict.OK, "ab")
    assert engine.answers == {1: Answer('{"result": 5}')}


@pytest.mark.parametrize("option", sorted(RunOptions.__annotations__))
async def test_an_error_quotes_only_the_beginning_of_what_a_caller_sent(option: str) -> None:
    paddock, _ = scripted(OK)
    text = "x" * (NAME_CHARACTERS - 1)
    values: list[Any] = [text, [text], {text: text}, [{"path": text, "content": 5}], [{text: "x" * 10**6}]]
    messages = []
    for value in values:
        try:
            await paddock.run("1", **{option: value})
        except RequestError as problem:
            messages.append(str(problem))
    assert messages
    assert max(map(len, messages)) <= MESSAGE_CHARACTERS + 3


async def test_calls_are_answered_at_the_same_time_and_in_any_order() -> None:
    barrier = asyncio.Barrier(3)

    async def meet(number: int) -> int:
        await barrier.wait()
        return number

    calls = [ToolCall(number, "meet", f'{{"number": {number}}}') for number in (1, 2, 3)]
    paddock, engine = scripted(*calls, OK, tools=(meet,))
    result = await paddock.run("1", engine="monty")
    assert [(call.id, call.status) for call in result.calls] == [(1, "ok"), (2, "ok"), (3, "ok")]
    assert dict(sorted(engine.answers.items())) == {number: Answer(f'{{"result": {number}}}') for number in (1, 2, 3)}


async def test_a_refused_plan_starts_no_engine() -> None:
    paddock, engine = scripted(OK)
    result = await paddock.run("'\ud800'", engine="monty")
    message = "the code contains a lone surrogate, which has no UTF-8 encoding; remove it"
    assert (result.verdict, result.error) == (Verdict.REJECTED, RunError("SyntaxError", message))
    assert engine.opened == []


async def test_a_refused_plan_is_a_stream_of_one_event() -> None:
    paddock, _ = scripted(OK)
    events = [event async for event in paddock.stream("'\ud800'")]
    assert [type(event) for event in events] == [Done]


async def test_an_invalid_request_raises_from_run_and_stream() -> None:
    paddock, _ = scripted(OK)
    with pytest.raises(UnknownEngine):
        await paddock.run("1", engine="zzz")
    with pytest.raises(UnknownEngine):
        await anext(aiter(paddock.stream("1", engine="zzz")))


async def test_a_guest_that_never_ends_is_stopped_and_its_output_kept() -> None:
    paddock, engine = scripted(Output("stdout", "started\n"))
    result = await paddock.run("1", engine="monty", limits={"wall_seconds": 0.01})
    assert (result.verdict, result.stdout) == (Verdict.TIMEOUT, "started\n")
    assert engine.running == 0


async def test_a_tool_that_hangs_is_cancelled_with_its_run() -> None:
    cancelled = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    paddock, engine = scripted(ToolCall(1, "hang", "{}"), OK, tools=(hang,))
    result = await paddock.run("1", engine="monty", limits={"wall_seconds": 0.5})
    assert (result.verdict, [call.status for call in result.calls], engine.answers) == (
        Verdict.TIMEOUT,
        ["cancelled"],
        {},
    )
    assert cancelled.is_set()


async def test_a_flood_of_output_ends_the_run_at_the_limit() -> None:
    paddock, engine = scripted(*[Output("stdout", "x" * 10)] * 10)
    result = await paddock.run("1", engine="monty", limits={"output_bytes": 25})
    assert (result.verdict, result.stdout, result.truncated) == (Verdict.OUTPUT_LIMIT, "x" * 25, ("stdout",))
    assert engine.running == 0


async def test_cancelling_a_run_ends_its_guest() -> None:
    entered = asyncio.Event()
    paddock, engine = scripted(ToolCall(1, "enter", "{}"), tools=(enter(entered),))
    task = asyncio.create_task(paddock.run("1", engine="monty"))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.running == 0


async def test_an_outcome_that_is_being_journalled_is_kept_when_the_run_is_cancelled() -> None:
    class SlowJournal(MemoryJournal):
        def __init__(self) -> None:
            super().__init__()
            self.writing, self.may_go_on = asyncio.Event(), asyncio.Event()
            self.written: list[tuple[int, str]] = []

        async def conclude(self, outcome: Outcome) -> None:
            if outcome.number == 1:
                self.writing.set()
                await self.may_go_on.wait()
            self.written.append((outcome.number, outcome.status))

    journal, hangs = SlowJournal(), asyncio.Event()

    async def hang() -> None:
        hangs.set()
        try:
            await asyncio.Event().wait()
        finally:
            journal.may_go_on.set()  # the run has cancelled its pending calls

    def pay() -> int:
        return 1

    engine = ScriptedEngine([ToolCall(1, "pay", "{}"), ToolCall(2, "hang", "{}"), OK])
    paddock = Paddock(tools=(pay, hang), journal=journal, engines={"monty": lambda config: engine})
    task = asyncio.create_task(paddock.run("1", engine="monty"))
    await asyncio.gather(journal.writing.wait(), hangs.wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(journal.written) == [(1, "ok"), (2, "cancelled")]


async def test_leaving_a_stream_ends_its_guest() -> None:
    paddock, engine = scripted(Output("stdout", "a"))
    stream = paddock.stream("1", engine="monty")
    assert await anext(aiter(stream)) == Output("stdout", "a")
    assert engine.running == 1
    await stream.aclose()
    assert engine.running == 0


async def test_a_failure_of_the_engine_is_raised() -> None:
    class Broken(ScriptedEngine):
        def open(self, plan: object) -> Any:
            raise EngineCrashed("no worker")

    paddock = Paddock(engines={"monty": lambda config: Broken([])})
    with pytest.raises(EngineCrashed, match=r"^no worker$"):
        await paddock.run("1", engine="monty")
    with pytest.raises(EngineCrashed, match=r"^no worker$"):
        await seen(paddock)


async def test_engines_start_on_first_use_and_end_with_the_block() -> None:
    made: list[ScriptedEngine] = []

    def make(config: object) -> ScriptedEngine:
        made.append(ScriptedEngine([OK]))
        return made[-1]

    async with Paddock(engines={"monty": make}) as paddock:
        assert made == []
        await paddock.run("1", engine="monty")
        await paddock.run("2", engine="monty")
        assert [engine.closed for engine in made] == [False]
    assert [engine.closed for engine in made] == [True]
    await paddock.run("3", engine="monty")
    assert [engine.closed for engine in made] == [True, False]


def test_run_sync_needs_no_event_loop_and_keeps_its_engine() -> None:
    engine = ScriptedEngine([OK])
    with Paddock(engines={"monty": lambda config: engine}) as paddock:
        assert [paddock.run_sync("1", engine="monty").output for _ in range(3)] == [1, 1, 1]
        assert len(engine.opened) == 3
        with pytest.raises(UnknownEngine):
            paddock.run_sync("1", engine="zzz")
    assert engine.closed
    assert [thread.name for thread in threading.enumerate() if thread.name == "paddock"] == []


async def test_run_sync_works_inside_a_running_event_loop_too() -> None:
    paddock, _ = scripted(OK)
    assert paddock.run_sync("1", engine="monty").output == 1
    await paddock.aclose()


def test_closing_twice_is_closing_once() -> None:
    paddock, _ = scripted(OK)
    paddock.run_sync("1", engine="monty")
    paddock.close()
    paddock.close()
    assert paddock.run_sync("1", engine="monty").output == 1
    paddock.close()


def enter(entered: asyncio.Event) -> Callable[..., Any]:
    async def enter() -> None:
        entered.set()
        await asyncio.Event().wait()

    return enter


def test_a_paddock_belongs_to_one_event_loop() -> None:
    paddock = Paddock()

    async def start() -> object:
        return (await paddock.run("1 + 1", engine="monty")).output

    assert asyncio.run(start()) == 2
    with pytest.raises(RequestError, match="another event loop"):
        asyncio.run(start())
    asyncio.run(paddock.aclose())


def test_a_closed_paddock_can_be_used_in_another_loop() -> None:
    paddock = Paddock()

    async def use() -> object:
        async with paddock:
            return (await paddock.run("1 + 1")).output

    assert [asyncio.run(use()), asyncio.run(use())] == [2, 2]


async def test_a_hint_that_fails_costs_the_hint_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from paddock import hints

    monkeypatch.setattr(hints, "HINTS", {})  # KeyError, as from a wrong row
    async with Paddock() as paddock:
        result = await paddock.run("1 / 0")
    assert (result.verdict, result.error and result.error.hints) == (Verdict.RAISED, ())
    assert "no hint could be found for a script's ZeroDivisionError" in caplog.text
