"""The interface of engines: small Protocols.

An engine keeps nothing of a run that a later script could see, except in an `Interpreter`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from paddock.model.events import Answer, ArtifactAnswer, EngineEvent, OnCall, Output
from paddock.model.result import Connection
from paddock.planning.plan import Plan

CLOSED_DURING_RUN = "Paddock was closed while the script ran"


class Execution(Protocol):
    """An engine opened for one plan. Leaving its context ends the guest, whatever it was doing."""

    def events(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        """Run the plan's code and yield its events. The last event is `Finished`.

        The guest's calls go to `on_call` instead, in the same order, until the generator is closed.
        """
        ...

    def go(self, tools: Collection[str]) -> None:
        """Run the script whose `Outline` was yielded, with functions of these names.

        Engines that yield no outline ignore this call.
        """
        ...

    def pause(self) -> None:
        """Stop what runs of the caller's code before `go`: earlier cells of a session, and packages. `go` continues it.

        Engines that yield no outline ignore this call.
        """
        ...

    def halt(self) -> None:
        """Stop what is left of the script until the context is left. An engine that limits its time itself may not."""
        ...

    def answer(self, call_id: int, answer: Answer) -> None:
        """Answer one `ToolCall`. Answers may come in any order. An answer to a guest that has ended is dropped."""
        ...

    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None:
        """Answer one `ArtifactCall`, under the same rules as `answer`."""
        ...

    async def interrupt(self) -> None:
        """Interrupt a run of a session that has not finished, so that the session can be kept. Takes a second at most.

        Outside sessions this does nothing.
        """
        ...

    def usage(self) -> tuple[float | None, int | None]:
        """The processor time of the run and the most memory that it held, so far; None for what is not known."""
        ...

    def unread_output(self) -> Iterable[Output]:
        """What the script had written when the host ended the run, and is in no event."""
        ...

    async def end_network(self) -> tuple[Connection, ...]:
        """Halt a script that has a network, and return the connections that it made or tried to make."""
        ...


class Interpreter(Protocol):
    """A live interpreter of an engine. Each run in it finds what earlier runs left: variables, imports, files.

    Runs take place one after the other. `end` may be called at any time, also during a run.
    """

    ended: str | None
    """Why it has ended, as the end of a sentence that starts with "the session"; None while it is alive."""

    def open(self, plan: Plan, cell: int) -> AbstractAsyncContextManager[Execution]:
        """An execution of `plan` in this interpreter, which counts its runs as `cell` 1, 2, 3.

        If the run has not stopped when the context is left, it is ended, with the interpreter: see
        `Execution.interrupt`.
        """
        ...

    def check_run(self, plan: Plan) -> None:
        """Raise `RequestError` if `plan` cannot be run in it."""
        ...

    def check_fork(self) -> None:
        """Raise `RequestError` if `fork` is not possible."""
        ...

    async def fork(self, plan: Plan) -> Interpreter:
        """An independent copy, for `plan`. Raises `RequestError` if that is not possible within its wall time."""
        ...

    def memory_bytes(self) -> int:
        """The memory that it holds; 0 if that is not known."""
        ...

    def check(self) -> None:
        """Set `ended` if it has died since the last run."""
        ...

    def end(self, reason: str) -> None:
        """End it, whatever it does."""
        ...


class Engine(Protocol):
    """Runs scripts with one interpreter. `close` leaves nothing running."""

    grace_seconds: float
    """How long a run may take to stop by itself after its time limit. A run that is killed may lose output."""

    async def start(self) -> None:
        """Get ready for runs. Raises `JailUnavailable` if this engine cannot run on this host."""
        ...

    async def prepare(self, plan: Plan, show: Callable[[str], None], principal: str) -> Plan:
        """Install the packages that `plan` asks for, and return the plan with them. Not part of the run's time.

        `show` is called with each line of progress. Raises `PackageError` with one line that says what to do.
        """
        ...

    async def network_problem(self) -> str | None:
        """Why its scripts cannot have a network here; None if they can. Starts what they need for it."""
        ...

    def open(self, plan: Plan) -> AbstractAsyncContextManager[Execution]:
        """An execution that is ready to run `plan`. The run's clock starts when the context is entered."""
        ...

    async def interpreter(self, plan: Plan) -> Interpreter:
        """A new interpreter for a session whose first run is `plan`."""
        ...

    def waiting_guests(self) -> Mapping[tuple[str, str], int]:
        """How many guests wait for a script, by environment and template. Empty if the engine has no such guests."""
        ...

    async def close(self) -> None: ...
