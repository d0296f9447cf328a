"""What an engine is: two small Protocols.

An engine is not a session and keeps nothing between runs that a later script could see.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from paddock.model.events import Answer, ArtifactAnswer, EngineEvent, OnCall
from paddock.planning.plan import Plan


class Execution(Protocol):
    """An engine opened for one plan. Leaving its context ends the guest, whatever it was doing."""

    def feed(self, asked: OnCall) -> AsyncGenerator[EngineEvent, None]:
        """Run the plan's code and yield what happens; the last event is `Finished`.

        What the guest asks for is told to `asked` instead, in the same order and as soon as it comes, until the
        generator is closed.
        """
        ...

    def answer(self, call_id: int, answer: Answer) -> None:
        """Settle one `ToolCall`. Answers may come in any order; one for a guest that has ended is dropped."""
        ...

    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None:
        """Settle one `ArtifactCall`, as `answer` does a `ToolCall`."""
        ...


class Engine(Protocol):
    """Runs one language in one way. Starts on first use; `close` leaves nothing running."""

    grace_seconds: float
    """How long after the end of its time a run may stop itself, which keeps its interpreter and all of its output."""

    def open(self, plan: Plan) -> AbstractAsyncContextManager[Execution]:
        """An interpreter that is ready to run `plan`; the clock of the run starts when the context is entered."""
        ...

    async def close(self) -> None: ...
