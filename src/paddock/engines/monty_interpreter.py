"""A session on Monty: its state is dumped after each run, and loaded into a worker before the next one.

So an idle session takes no worker, and after a run that is killed the state is that of before the run. The limits of
a run are dumped too: those of later runs can only be lower.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic_monty import AsyncMontySession, MontyError

from paddock.engines.monty import MontyEngine, MontyExecution, draw_memory_limit
from paddock.errors import RequestError
from paddock.model.limits import MB, format_bytes
from paddock.model.result import Verdict

if TYPE_CHECKING:
    from paddock.planning.plan import Plan

MAX_BYTES = 64 * MB
"""The largest state that is kept. It is in the memory of this process."""
DUMP_SECONDS = 5.0
TOO_MUCH = f"ended: it holds more than {format_bytes(MAX_BYTES)}, the most that is kept on Monty"


class MontyInterpreter:
    """The state of a session."""

    def __init__(
        self,
        engine: MontyEngine,
        state: bytes | None = None,
        memory_limit: float = math.inf,
        feeds: int = 0,
        token: str = "",
    ) -> None:
        self._engine = engine
        self._memory_limit = memory_limit  # in the state
        self._state, self._feeds = state, feeds
        self._token = token or secrets.token_hex(8)  # in the names of functions that the state refers to
        self._execution: MontyExecution | None = None
        self.ended: str | None = None

    @asynccontextmanager
    async def open(self, plan: Plan, cell: int) -> AsyncIterator[MontyExecution]:
        memory_limit = int(min(draw_memory_limit(plan.limits), self._memory_limit))
        async with self._engine.open_session(plan, memory_limit) as session:
            await self._load(session)
            self._execution = MontyExecution(session, plan, memory_limit, self._token, self._feeds, cell)
            async with self._engine.watching(self._execution) as execution:
                yield execution
                if execution.has_result and self.ended is None:
                    await self._dump(session, execution)
        self._execution = None

    async def _load(self, session: AsyncMontySession) -> None:
        try:
            if self._state is not None:
                await session.load_session(self._state)
        except MontyError as problem:
            raise RequestError(f"what the session holds cannot be loaded: {problem}; allow more memory_bytes") from None

    async def _dump(self, session: AsyncMontySession, execution: MontyExecution) -> None:
        """Keep what the run has left, unless a limit ended it: then the state is that of before the run."""
        try:
            async with asyncio.timeout(DUMP_SECONDS):
                state = await session.dump()
        except (MontyError, RuntimeError, TimeoutError):
            if execution.verdict in (Verdict.OK, Verdict.RAISED):
                self.ended = TOO_MUCH
            return
        if len(state) > MAX_BYTES:
            self.ended = TOO_MUCH
        else:
            self._state, self._feeds, self._memory_limit = state, execution.feeds, execution.memory_limit

    def check_run(self, plan: Plan) -> None:
        """Do nothing: any plan for this engine can be run."""

    def check_fork(self) -> None:
        """Do nothing: any can be forked."""

    async def fork(self, plan: Plan) -> MontyInterpreter:
        return MontyInterpreter(self._engine, self._state, self._memory_limit, self._feeds, self._token)

    def memory_bytes(self) -> int:
        return len(self._state or b"")

    def check(self) -> None:
        """Do nothing: without a run, there is no process that could die."""

    def end(self, reason: str) -> None:
        if self.ended is None:
            self.ended = reason
            if self._execution is not None:
                self._execution.cancel(f"the session {reason}")
