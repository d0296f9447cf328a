"""A run that `auto` began on the light engine begins anew on full Python, if nothing has left it, and is counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from paddock.engines.monty_errors import NOT_CPYTHONS_OWN
from paddock.engines.scripted import ScriptedEngine, ScriptedExecution
from paddock.model.events import (
    ArtifactCall,
    Done,
    EngineEvent,
    Event,
    Finished,
    Log,
    OnCall,
    Output,
    Progress,
    ToolCall,
)
from paddock.model.result import RunResult, Verdict
from paddock.planning.plan import Plan
from paddock.run import Paddock
from tests.bare import BARE

LOST_WORDS = "rows = [1, 2]\nrows.index(3)"  # the light engine does not say which item was not found
REFUSED = Finished(Verdict.REJECTED, error_type="NotImplementedError", error_message="no `await` in a comprehension")
UNCERTAIN = Finished(Verdict.RAISED, error_type="ValueError", error_message="x not in list", note=NOT_CPYTHONS_OWN)
OK = Finished(Verdict.OK, '"full"')


def look() -> int:
    return 1


def scripted(
    *events: EngineEvent, tools: tuple[Callable[..., Any], ...] = ()
) -> tuple[Paddock, ScriptedEngine, ScriptedEngine]:
    """A Paddock whose light engine plays `events`, and whose full one ends well."""
    light, full = ScriptedEngine(events), ScriptedEngine([OK])
    return Paddock(tools=tools, engines={"monty": lambda config: light, "cpython": lambda config: full}), light, full


def told(result: RunResult) -> tuple[Verdict, str | None, str | None, str]:
    return result.verdict, result.engine, result.engine_reason, "" if result.error is None else result.error.message


async def test_an_error_that_the_light_engine_cannot_word_is_worded_by_full_python() -> None:
    async with Paddock(BARE, tools=[look]) as paddock:
        moved = await paddock.run(f"print('once')\n{LOST_WORDS}")
        moves = paddock.moves
        stayed = await paddock.run(f"print('once')\nawait look()\n{LOST_WORDS}")
        assert (moves, paddock.moves) == (1, 1)
    reason = "the light engine could not word the ValueError"
    assert told(moved) == (Verdict.RAISED, "cpython", reason, "3 is not in list")
    assert told(stayed) == (Verdict.RAISED, "monty", NOT_CPYTHONS_OWN, "list.index(x): x not in list")
    assert (moved.stdout, stayed.stdout) == ("once\n", "once\n")


async def test_a_path_that_only_the_run_tells_is_looked_for_on_a_real_disk() -> None:
    async with Paddock(BARE) as paddock:
        moved, stayed = [
            await paddock.run("open(path).read()", inputs={"path": path}) for path in ("/no/such", "/files/such")
        ]
        assert ((moved.engine, stayed.engine), paddock.moves) == (("cpython", "monty"), 1)
    assert moved.error is not None
    assert stayed.error is not None
    assert moved.error.message == "[Errno 2] No such file or directory: '/no/such'"
    assert stayed.error.message == "[Errno 2] No such file or directory: '/files/such'"


async def test_a_script_that_fits_and_ends_moves_nowhere() -> None:
    async with Paddock(BARE) as paddock:
        results = [await paddock.run(code) for code in ("1 + 1", "1 / 0", "{'a': 1}['b']")]
        assert ([result.engine for result in results], paddock.moves) == (["monty"] * 3, 0)


async def test_an_artifact_that_was_made_keeps_the_run_where_it_is() -> None:
    async with Paddock(BARE) as paddock:
        result = await paddock.run(f"await create_artifact('a.txt', 'x')\n{LOST_WORDS}")
        assert (result.engine, result.engine_reason, paddock.moves) == ("monty", NOT_CPYTHONS_OWN, 0)
    assert [artifact.filename for artifact in result.artifacts] == ["a.txt"]


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        (REFUSED, "moved: no `await` in a comprehension"),
        (UNCERTAIN, "the light engine could not word the ValueError"),
    ],
)
async def test_what_the_light_engine_refuses_or_cannot_word_is_run_once_more(ended: Finished, reason: str) -> None:
    paddock, light, full = scripted(Output("stdout", "half"), Log("info", "of it"), Progress(1, 2, ""), ended)
    result = await paddock.run("1")
    assert (result.verdict, result.engine, result.engine_reason, result.output) == (
        Verdict.OK,
        "cpython",
        reason,
        "full",
    )
    assert (result.stdout, result.logs) == ("", ())
    assert (len(light.opened), len(full.opened), paddock.moves) == (1, 1, 1)


@pytest.mark.parametrize("ended", [REFUSED, UNCERTAIN])
async def test_each_move_is_counted(ended: Finished) -> None:
    paddock, _, _ = scripted(ended)
    for _ in range(3):
        await paddock.run("1")
    assert paddock.moves == 3


@pytest.mark.parametrize("ended", [REFUSED, UNCERTAIN])
@pytest.mark.parametrize(
    "left", [ToolCall(1, "look", "{}"), ToolCall(1, "no_such_tool", "{}"), ArtifactCall(1, "create", "a.txt")]
)
async def test_after_a_call_or_an_artifact_a_run_stays(left: EngineEvent, ended: Finished) -> None:
    paddock, light, full = scripted(left, ended, tools=(look,))
    result = await paddock.run("1")
    assert (result.verdict, result.engine) == (ended.verdict, "monty")
    assert (len(light.opened), len(full.opened), paddock.moves) == (1, 0, 0)


@pytest.mark.parametrize(
    "ended",
    [
        Finished(Verdict.REJECTED, error_type="SyntaxError", error_message="no"),
        Finished(Verdict.RAISED, error_type="NotImplementedError", error_message="no"),
        Finished(Verdict.RAISED, error_type="AttributeError", error_message="no"),
        Finished(Verdict.TIMEOUT),
        Finished(Verdict.OUT_OF_MEMORY),
        Finished(Verdict.CRASHED),
        Finished(Verdict.OK, "1"),
    ],
)
async def test_a_run_that_ended_by_its_own_doing_stays(ended: Finished) -> None:
    paddock, _, full = scripted(ended)
    result = await paddock.run("1")
    assert (result.verdict, result.engine, full.opened, paddock.moves) == (ended.verdict, "monty", [], 0)


@pytest.mark.parametrize("ended", [REFUSED, UNCERTAIN])
async def test_who_asked_for_the_light_engine_gets_it(ended: Finished) -> None:
    paddock, _, full = scripted(ended)
    result = await paddock.run("1", engine="monty")
    assert (result.verdict, result.engine, full.opened, paddock.moves) == (ended.verdict, "monty", [], 0)


async def test_where_there_is_no_full_python_a_run_stays() -> None:
    light = ScriptedEngine([UNCERTAIN])
    paddock = Paddock(engines={"monty": lambda config: light})
    result = await paddock.run("1")
    assert (result.engine, result.engine_reason, paddock.moves) == ("monty", NOT_CPYTHONS_OWN, 0)


async def test_a_run_that_the_host_lost_begins_anew_where_it_was_and_is_no_move() -> None:
    paddock, light, full = scripted(Finished(Verdict.LOST))
    result = await paddock.run("1")
    assert (result.verdict, result.engine, full.opened, paddock.moves) == (Verdict.LOST, "monty", [], 0)
    assert len(light.opened) > 1


async def test_a_watcher_sees_nothing_of_what_was_taken_back() -> None:
    paddock, _, _ = scripted(Output("stdout", "half"), REFUSED)
    (done,) = [event async for event in paddock.stream("1")]
    assert isinstance(done, Done)
    assert (done.result.engine, done.result.stdout, paddock.moves) == ("cpython", "", 1)


class Waiting(ScriptedEngine):
    """Prints, waits until someone has seen that, and is refused."""

    def __init__(self, shown: asyncio.Event) -> None:
        super().__init__([])
        self._shown = shown

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[ScriptedExecution]:
        execution = ScriptedExecution((), {}, {})
        execution.feed = self._feed  # type: ignore[method-assign]
        yield execution

    async def _feed(self, asked: OnCall) -> AsyncGenerator[EngineEvent, None]:
        yield Output("stdout", "half")
        await self._shown.wait()
        yield REFUSED


async def test_output_that_a_watcher_has_seen_keeps_the_run_where_it_is() -> None:
    shown, full = asyncio.Event(), ScriptedEngine([OK])
    paddock = Paddock(engines={"monty": lambda config: Waiting(shown), "cpython": lambda config: full})
    seen: list[Event] = []

    def watch(event: Event) -> None:
        seen.append(event)
        shown.set()

    result = await paddock.follow("1", watch)
    assert (result.verdict, result.engine, full.opened, paddock.moves) == (Verdict.REJECTED, "monty", [], 0)
    assert seen == [Output("stdout", "half"), Done(result)]
