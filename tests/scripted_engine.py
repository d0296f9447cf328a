"""The test double: an engine that plays a list of events instead of running code, and records the answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager

from paddock.engines.base import Interpreter
from paddock.errors import RequestError
from paddock.model.events import (
    Answer,
    ArtifactAnswer,
    ArtifactCall,
    EngineEvent,
    Finished,
    GuestCall,
    OnCall,
    ToolCall,
)
from paddock.planning.plan import Plan


class ScriptedEngine:
    """Plays `events` for every plan. A list without `Finished` is a guest that never ends."""

    grace_seconds = 0.0

    def __init__(self, events: Iterable[EngineEvent | GuestCall]) -> None:
        self._events = tuple(events)
        self.opened: list[Plan] = []
        self.answers: dict[int, Answer] = {}  # in the order of their arrival
        self.artifact_answers: dict[int, ArtifactAnswer] = {}
        self.running = 0
        self.closed = False

    async def start(self) -> None: ...

    async def network_problem(self) -> str | None:
        return None

    async def prepare(self, plan: Plan, show: Callable[[str], None], principal: str) -> Plan:
        return plan

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[ScriptedExecution]:
        self.opened.append(plan)
        self.running += 1
        try:
            yield ScriptedExecution(self._events, self.answers, self.artifact_answers)
        finally:
            self.running -= 1

    async def interpreter(self, plan: Plan) -> Interpreter:
        raise RequestError("the test double has no sessions")

    def waiting_guests(self) -> dict[tuple[str, str], int]:
        return {}

    async def close(self) -> None:
        self.closed = True


class ScriptedExecution:
    """Plays the events once. Like a guest that awaits its calls, it waits until a group of calls is answered."""

    def __init__(
        self,
        events: tuple[EngineEvent | GuestCall, ...],
        answers: dict[int, Answer],
        artifact_answers: dict[int, ArtifactAnswer],
    ) -> None:
        self._events = events
        self._answers, self._artifact_answers = answers, artifact_answers
        self._open: set[tuple[str, int]] = set()
        self._settled = asyncio.Event()
        self._settled.set()

    async def events(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        for event in self._events:
            if isinstance(event, ToolCall | ArtifactCall):
                self._open.add((type(event).__name__, event.id))
                self._settled.clear()
                on_call(event)
                continue
            await self._settled.wait()
            yield event
            if isinstance(event, Finished):
                return
        await asyncio.Event().wait()

    def go(self, tools: Collection[str]) -> None: ...

    def answer(self, call_id: int, answer: Answer) -> None:
        self._answers[call_id] = answer
        self._settle("ToolCall", call_id)

    async def interrupt(self) -> None: ...
    def usage(self) -> tuple[None, None]:
        return None, None

    def unread_output(self) -> tuple[()]:
        return ()

    async def end_network(self) -> tuple[()]:
        return ()

    def pause(self) -> None: ...
    def halt(self) -> None: ...
    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None:
        self._artifact_answers[call_id] = answer
        self._settle("ArtifactCall", call_id)

    def _settle(self, kind: str, call_id: int) -> None:
        self._open.discard((kind, call_id))
        if not self._open:
            self._settled.set()
