"""Answers what one guest asks for, each call in a task of its own."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from paddock.model.events import GuestCall, ToolCall

if TYPE_CHECKING:
    from paddock.engines.base import Execution
    from paddock.holding import Held
    from paddock.keeping import Keeping
    from paddock.tools.broker import Broker


class Answering:
    """The calls of one execution that are under way."""

    def __init__(self, execution: Execution, broker: Broker, keeping: Keeping, held: Held) -> None:
        self._execution, self._broker, self._keeping, self._held = execution, broker, keeping, held
        self._tasks: set[asyncio.Task[Any] | None] = set()
        self._context = copy_context()

    def begin(self, call: GuestCall) -> None:
        """Begin to answer `call`; whoever watches the run is told of it first.

        A tool finds the context variables of whoever asked for the run, whoever it is that tells of the call.
        """
        self._context.run(self._begin, call)

    def _begin(self, call: GuestCall) -> None:
        if isinstance(call, ToolCall):
            self._held(call)
        self._tasks.add(asyncio.create_task(self._answer(call)))

    async def end(self) -> None:
        """The run is over: end what is under way, but for what is being written down."""
        under_way = {task for task in self._tasks if task is not None}
        for task in under_way.difference(self._broker.concluding):
            task.cancel()
        if under_way:
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _answer(self, call: GuestCall) -> None:
        try:
            if isinstance(call, ToolCall):
                self._execution.answer(call.id, await self._broker.answer(call))
                await self._broker.conclude(call.id)
                return
            self._held.has_left = self._held.has_left or call.action == "create"  # whatever becomes of it
            answer, made = await self._keeping.answer(call)
            if made is not None:
                self._held(made)
            self._execution.answer_artifact(call.id, answer)
        finally:
            self._tasks.discard(asyncio.current_task())  # a callback of the task would take a turn of the loop
