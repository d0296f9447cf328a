"""What the engines for JavaScript share: scripts in TypeScript become JavaScript before they are sent to a guest."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace

from paddock.engines.jailed import JailedEngine, JailedExecution
from paddock.engines.typescript import Stripped, TypeScript
from paddock.jail.guest import Guest
from paddock.jail.inbox import Ended
from paddock.jail.jail import Jail
from paddock.model.events import Answer, ArtifactAnswer, EngineEvent, Finished, OnCall
from paddock.planning.plan import Plan

_PLACE = re.compile(r"\bmain\.m?js:(\d+):(\d+)")


class JavaScriptEngine(JailedEngine):
    """A pool of guests for JavaScript; those of Node take the types out."""

    _typescript: TypeScript

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[JailedExecution | Rejection]:  # type: ignore[override]
        stripped = None
        if plan.language == "typescript":
            found = await self._typescript.strip(plan.code)
            if isinstance(found, Finished):
                yield Rejection(found)
                return
            plan, stripped = replace(plan, code=found.code), found
        async with self._guest(self._jail_for(plan)) as guest:
            yield self._execution(guest, plan, stripped)

    def _jail_for(self, plan: Plan) -> Jail:
        return self._jail

    def _execution(self, guest: Guest, plan: Plan, stripped: Stripped | None) -> JailedExecution:
        return JavaScriptExecution(guest, plan, stripped)


class JavaScriptExecution(JailedExecution):
    """One run; what it says of places is put in the author's terms, where types were more than left out."""

    def __init__(self, guest: Guest, plan: Plan, stripped: Stripped | None = None) -> None:
        super().__init__(guest, plan)
        self._stripped = stripped if stripped is not None and stripped.map is not None else None

    def _finished(self, ended: Ended) -> Finished:
        finished, stripped = super()._finished(ended), self._stripped
        if stripped is None:
            return finished

        def moved(found: re.Match[str]) -> str:
            line, column = stripped.original(int(found[1]), int(found[2]))
            return f"main.js:{line}:{column}"

        line, column = finished.line, finished.column
        if line is not None:
            line, original = stripped.original(line, column or 1)
            column = None if column is None else original
        return replace(finished, line=line, column=column, traceback=_PLACE.sub(moved, finished.traceback))


class Rejection:
    """A script that ended before it had a guest."""

    def __init__(self, finished: Finished) -> None:
        self._finished = finished

    async def feed(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        yield self._finished

    def go(self, tools: Collection[str]) -> None: ...

    def answer(self, call_id: int, answer: Answer) -> None: ...

    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None: ...
