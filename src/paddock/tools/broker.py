"""Answers a script's tool calls: policy, validation, journal, tool. Every failure of a call is an error envelope.

What only a call needs is imported when one comes: most scripts make none.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddock.model import envelope
from paddock.model.events import Answer, Progress, ToolCall
from paddock.model.nesting import is_deeper
from paddock.model.result import Call
from paddock.model.tools import Tool
from paddock.tools.functions import Left
from paddock.tools.toolbox import Scope, Toolbox

if TYPE_CHECKING:
    from paddock.model.journal import Journal, Status
    from paddock.tools.answers import CreateArtifact
    from paddock.tools.policy import Policy

ARGUMENT_BYTES = 4 * 1024 * 1024
"""Of JSON, over all calls of a run: they are kept in the host's memory until it ends."""
ARGUMENT_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for the calls of every run."""

    policy: Policy | None = None  # None: whatever there is may be called
    repairs: bool = False  # arguments that are nearly right are put right, and the answer's envelope says so
    call_seconds: float = 60.0


class Broker:
    """Answers the calls of one run, in whatever order they finish, and remembers each."""

    def __init__(
        self,
        toolbox: Toolbox,
        scope: Scope,
        call_limit: int,
        *,
        run_id: str,
        journal: Journal,
        create_artifact: CreateArtifact,
        rules: Rules | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._toolbox, self._scope = toolbox, scope
        self._call_limit = call_limit
        self._run_id, self._journal = run_id, journal
        self._create_artifact, self._progress = create_artifact, progress
        self._rules = rules or Rules()
        self._bytes_left = ARGUMENT_BYTES
        self._calls: dict[int, Call] = {}

    async def answer(self, call: ToolCall) -> Answer:
        """What `call` comes to. Never raises for what a tool or a script does."""
        if call.id > self._call_limit:
            return _failure(envelope.call_limit_exceeded(call.tool, self._call_limit))
        arguments = self._arguments(call)
        started = time.perf_counter()
        name = self._scope.links.get(call.tool, call.tool)
        answer = _unusable(name) if arguments is None else await self._answer(call.id, name, arguments)
        milliseconds = (time.perf_counter() - started) * 1000
        status = "error" if answer.failed else "ok"
        self._calls[call.id] = Call(call.id, name, arguments or {}, status, round(milliseconds, 3))
        return answer

    def calls(self) -> tuple[Call, ...]:
        """The finished calls, in the order of the program. One over the limit was never made, and is not among them."""
        return tuple(self._calls[number] for number in sorted(self._calls))

    def _arguments(self, call: ToolCall) -> dict[str, Any] | None:
        """The arguments, or None where they are too many or nested too deeply to be shown in a result."""
        self._bytes_left -= len(call.arguments_json)
        if self._bytes_left < 0:
            return None
        try:
            arguments: dict[str, Any] = json.loads(call.arguments_json)
        except (ValueError, RecursionError):
            return None
        text = call.arguments_json
        may_be_deep = text.count("{") + text.count("[") > ARGUMENT_DEPTH
        return None if may_be_deep and is_deeper(arguments, ARGUMENT_DEPTH) else arguments

    async def _answer(self, number: int, name: str, arguments: Mapping[str, Any]) -> Answer:
        tool = await self._scope.find(name)
        if tool is None:
            return await self._not_found(name)
        if self._rules.policy is not None and (decision := self._rules.policy.decide(tool)).action != "allow":
            from paddock.tools.policy import refusal

            return _failure(refusal(decision, tool))
        notes: list[dict[str, Any]] = []
        if self._rules.repairs:
            from paddock.tools.repair import repaired

            arguments, notes = repaired(arguments, tool.input_schema)
        problem = (await self._toolbox.validator(tool)).problems(dict(arguments), tool.full_name)
        if problem is not None:
            return _failure(envelope.with_meta(problem, normalized=notes) if notes else problem)
        return await self._journalled(number, tool, arguments)

    async def _journalled(self, number: int, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
        from paddock.model.journal import Intent, Outcome
        from paddock.tools import large
        from paddock.tools.redaction import redacted

        secrets = self._toolbox.secrets
        asked = json.dumps(redacted(arguments, secrets))
        intent = Intent(self._run_id, number, tool.full_name, asked, bool(tool.hints.read_only), time.time())
        await self._journal.intend(intent)
        started = time.perf_counter()
        answer: Answer | None = None
        try:
            answer = await self._called(tool, arguments)
        finally:
            milliseconds = (time.perf_counter() - started) * 1000
            status: Status = "cancelled" if answer is None else "error" if answer.failed else "ok"
            text = "" if answer is None else answer.json
            said = await large.worked(lambda: redacted(text, secrets), is_large=len(text) > large.LARGE)
            await self._journal.conclude(Outcome(self._run_id, number, status, milliseconds, said))
        return answer

    async def _called(self, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
        from paddock.tools.upstream_errors import CallFailed

        try:
            return await self._toolbox.call(
                tool,
                arguments,
                timeout_seconds=self._rules.call_seconds,
                progress=self._progress,
                create_artifact=self._create_artifact,
            )
        except CallFailed as problem:
            return _failure(problem.envelope(tool.full_name))
        except asyncio.CancelledError as problem:
            if _is_cancelled():
                raise
            return _internal(tool, problem)  # the tool's own; without an answer the script would wait for ever
        # A tool is foreign code; what it raises belongs to the script. SystemExit too, or it would end the event loop.
        except BaseException as problem:  # noqa: BLE001
            return _internal(tool, problem)

    async def _not_found(self, name: str) -> Answer:
        unreachable = self._scope.unreachable(name)
        if unreachable is not None:
            return _failure(unreachable.envelope(name))
        hints = (await self._scope.catalogue()).hints(name)
        summary = f"There is no tool '{name}'."
        return _failure(envelope.envelope("tool_not_found", name, summary, "TOOL_NOT_FOUND", hints=hints))


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _internal(tool: Tool, problem: BaseException) -> Answer:
    if isinstance(problem, Left):
        problem = problem.args[0]
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001  a foreign __str__ may fail as well
        text = ""
    name = type(problem).__name__
    return _failure(envelope.internal_error(tool.full_name, f"{name}: {text}" if text else name))


def _unusable(tool: str) -> Answer:
    size = ARGUMENT_BYTES // (1024 * 1024)
    summary = f"The arguments are nested more than {ARGUMENT_DEPTH} deep, or those of the run exceed {size} MB in all."
    return _failure(envelope.arguments_too_large(tool, summary))


def _failure(said: dict[str, Any]) -> Answer:
    return Answer(json.dumps(said), failed=True)
