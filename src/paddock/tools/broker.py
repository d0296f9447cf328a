"""Answers a script's tool calls: policy, validation, journal, tool. Every failure of a call is an error envelope.

What only a call needs is imported when one comes: most scripts make none.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.model import envelope
from paddock.model.events import Answer, Progress, ToolCall
from paddock.model.journal import Intent, Outcome
from paddock.model.nesting import is_deeper
from paddock.model.result import Call
from paddock.model.tools import Tool
from paddock.tools.functions import Left
from paddock.tools.toolbox import Scope, Toolbox, answered

if TYPE_CHECKING:
    from paddock.model.journal import Journal, Status
    from paddock.tools.answers import CreateArtifact
    from paddock.tools.policy import Policy

ARGUMENT_BYTES = 4 * 1024 * 1024
"""Of JSON, over all calls of a run: they are kept in the host's memory until it ends."""
ARGUMENT_DEPTH = 100
_DENIED = '"error_kind": "policy_denied"'


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for the calls of every run."""

    policy: Policy | None = None  # None: whatever there is may be called
    repairs: bool = False  # arguments that are nearly right are put right, and the answer's envelope says so
    call_seconds: float = 60.0


class _Asked(NamedTuple):
    """A call, and what may be written down of it."""

    number: int
    arguments: Mapping[str, Any]
    text: str  # the arguments as JSON, without secrets
    secrets: tuple[str, ...]  # that an answer may say again


class _Unwritten(NamedTuple):
    """What a call came to, while the journal does not know it."""

    status: Status
    milliseconds: float
    answer: str
    secrets: tuple[str, ...]


class Broker:
    """Answers the calls of one run, in whatever order they finish, and remembers each."""

    def __init__(  # noqa: PLR0913  what one run is to its calls
        self,
        toolbox: Toolbox,
        scope: Scope,
        call_limit: int,
        *,
        run_id: str,
        journal: Journal,
        create_artifact: CreateArtifact,
        run_seconds: float = math.inf,
        rules: Rules | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._toolbox, self._scope = toolbox, scope
        self._call_limit = call_limit
        self._run_id, self._journal = run_id, journal
        self._create_artifact, self._progress = create_artifact, progress
        self._rules = rules or Rules()
        self._run_seconds = run_seconds  # after which whatever is under way is ended
        self._bytes_left = ARGUMENT_BYTES
        self._calls: dict[int, Call] = {}
        self._repaired: dict[int, Mapping[str, Any]] = {}  # arguments, by the numbers of calls under way
        self._denials: set[int] = set()
        self._unwritten: dict[int, _Unwritten] = {}
        self.concluding: set[asyncio.Task[Any] | None] = set()
        """Who is writing down what a call came to."""

    async def answer(self, call: ToolCall) -> Answer:
        """What `call` comes to. Never raises for what a tool or a script does."""
        if call.id > self._call_limit:
            return _failure(envelope.call_limit_exceeded(call.tool, self._call_limit))
        arguments = self._arguments(call)
        started = time.perf_counter()
        name = call.tool if call.tool in self._scope.own else self._scope.links.get(call.tool, call.tool)
        answer = await self._answer(call, name, arguments)
        milliseconds = (time.perf_counter() - started) * 1000
        status = "error" if answer.failed else "ok"
        sent = self._repaired.pop(call.id, arguments or {})
        self._calls[call.id] = Call(call.id, name, sent, status, round(milliseconds, 3))
        if answer.failed and _DENIED in answer.json:
            self._denials.add(hash(answer.json))  # an upstream's own may be long, and there may be thousands
        return answer

    async def conclude(self, number: int) -> None:
        """Write down what a call came to, once it is answered. Not to be cancelled."""
        unwritten = self._unwritten.pop(number, None)
        if unwritten is None:
            return
        from paddock.tools import large
        from paddock.tools.redaction import may_hold_secrets, redacted_json

        task = asyncio.current_task()
        self.concluding.add(task)
        try:
            status, milliseconds, said, secrets = unwritten
            if secrets or may_hold_secrets(said):
                text = said
                said = await large.worked(lambda: redacted_json(text, secrets), is_large=len(text) > large.LARGE)
            # Where this fails the journal has a call whose outcome is not known, as after a crash.
            await _kept(self._journal.conclude(Outcome(self._run_id, number, status, milliseconds, said)))
        finally:
            self.concluding.discard(task)

    def calls(self) -> tuple[Call, ...]:
        """The finished calls, in the order of the program. One over the limit was never made, and is not among them."""
        return tuple(self._calls[number] for number in sorted(self._calls))

    def has_denied(self, text: str) -> bool:
        """Whether a call of this run was answered with `text`, and a policy is why. A script cannot make that up."""
        return hash(text) in self._denials

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

    async def _answer(self, call: ToolCall, name: str, arguments: Mapping[str, Any] | None) -> Answer:
        if arguments is None:
            return await self._refused(self._asked(call.id, {}), name, None, _too_large(name))
        asked = self._asked(call.id, arguments, call.arguments_json)
        if name in self._scope.own:
            return await self._own_answer(asked, self._scope.own[name].tool)
        tool = await self._scope.find(name)
        if tool is None:
            return await self._refused(asked, name, None, await self._not_found(name))
        if self._rules.policy is not None and (decision := self._rules.policy.decide(tool)).action != "allow":
            from paddock.tools.policy import refusal

            return await self._refused(asked, tool.full_name, tool, refusal(decision, tool))
        notes: list[dict[str, Any]] = []
        if self._rules.repairs:
            from paddock.tools.repair import repaired

            arguments, notes = repaired(arguments, tool.input_schema)
            if notes:
                asked, self._repaired[call.id] = self._asked(call.id, arguments), arguments
        problem = await self._problem(tool, asked.arguments)
        if problem is not None:
            problem = envelope.with_meta(problem, normalized=notes)
            return await self._refused(asked, tool.full_name, tool, problem)
        return await self._journalled(asked, tool, notes)

    async def _own_answer(self, asked: _Asked, tool: Tool) -> Answer:
        """A call of the session's own tools, which no policy is about."""
        problem = await self._problem(tool, asked.arguments)
        if problem is not None:
            return await self._refused(asked, tool.name, tool, problem)
        return await self._journalled(asked, tool, [])

    async def _problem(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """What is wrong with the arguments: something that is the host's to add, or what the tool's schema forbids."""
        injection = self._toolbox.injection
        if tool.server:
            from paddock.tools.by_hand import passed_by_hand

            added = injection.names(tool.server) if injection is not None else ()
            if names := passed_by_hand(arguments, tool.input_schema, added):
                return envelope.context_not_allowed(tool.full_name, names)
        problem = (await self._toolbox.validator(tool)).problems(dict(arguments), tool.full_name)
        if problem is None and tool.server and injection is not None:
            problem = injection.missing(tool, self._scope.context)
        return problem

    async def _refused(self, asked: _Asked, name: str, tool: Tool | None, said: dict[str, Any]) -> Answer:
        """Write down a call that is not made, with the reason."""
        is_read_only = tool is not None and bool(tool.hints.read_only)
        answer = _failure(said)
        if await self._intended(asked, name, is_read_only=is_read_only) is None:
            self._unwritten[asked.number] = _Unwritten("error", 0.0, answer.json, asked.secrets)
        return answer

    async def _journalled(self, asked: _Asked, tool: Tool, notes: list[dict[str, Any]]) -> Answer:
        unkept = await self._intended(asked, tool.full_name, is_read_only=bool(tool.hints.read_only))
        if unkept is not None:
            summary = f"The call was not made: the journal cannot be written ({unkept})."
            return _failure(envelope.internal_error(tool.full_name, summary))
        started = time.perf_counter()
        answer: Answer | None = None
        try:
            answer = await self._called(tool, asked.arguments, notes)
        finally:
            status: Status = "cancelled" if answer is None else "error" if answer.failed else "ok"
            milliseconds = (time.perf_counter() - started) * 1000
            said = "" if answer is None else answer.json
            self._unwritten[asked.number] = _Unwritten(status, milliseconds, said, asked.secrets)
            if answer is None:
                await self.conclude(asked.number)
        return answer

    async def _intended(self, asked: _Asked, name: str, *, is_read_only: bool) -> str | None:
        """Write down that a call is to be made; why that could not be."""
        intent = Intent(self._run_id, asked.number, name, asked.text, is_read_only, time.time())
        return await _kept(self._journal.intend(intent))

    def _asked(self, number: int, arguments: Mapping[str, Any], text: str | None = None) -> _Asked:
        """A call as it is written down. `text` is its arguments as JSON, where that is at hand.

        A script's own password must not be written down either, which a tool or a complaint may say again.
        """
        from paddock.tools.redaction import may_hold_secrets, named_secrets, redacted

        known = self._toolbox.secrets
        if text is not None and not known and not may_hold_secrets(text):
            return _Asked(number, arguments, text, ())
        secrets = (*known, *named_secrets(arguments))
        return _Asked(number, arguments, json.dumps(redacted(arguments, secrets)), secrets)

    async def _called(self, tool: Tool, arguments: Mapping[str, Any], notes: list[dict[str, Any]]) -> Answer:
        from paddock.tools.upstream_errors import CallFailed

        try:
            if not tool.server and tool.name in self._scope.own:
                return answered(await self._scope.own[tool.name].call(arguments))
            return await self._toolbox.call(
                tool,
                arguments,
                timeout_seconds=self._rules.call_seconds,
                run_seconds=self._run_seconds,
                progress=self._progress,
                create_artifact=self._create_artifact,
                context=self._scope.context,
            )
        except CallFailed as problem:
            return _failure(envelope.with_meta(problem.envelope(tool.full_name), normalized=notes))
        except asyncio.CancelledError as problem:
            if _is_cancelled():
                raise
            return _internal(tool, problem, notes)  # the tool's own; without an answer the script would wait for ever
        # A tool is foreign code; what it raises belongs to the script. SystemExit too, or it would end the event loop.
        except BaseException as problem:  # noqa: BLE001
            return _internal(tool, problem, notes)

    async def _not_found(self, name: str) -> dict[str, Any]:
        unreachable = self._scope.unreachable(name)
        if unreachable is not None:
            return unreachable.envelope(name)
        hints = (await self._scope.catalogue()).hints(name)
        summary = f"There is no tool '{name}'."
        return envelope.envelope("tool_not_found", name, summary, "TOOL_NOT_FOUND", hints=hints)


async def _kept(writing: Awaitable[None]) -> str | None:
    """Write something down; why it could not be, where it could not. A script would wait for ever otherwise."""
    try:
        await writing
    except Exception as problem:  # noqa: BLE001  any journal may be given, and any storage may fail
        return type(problem).__name__
    return None


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _internal(tool: Tool, problem: BaseException, notes: list[dict[str, Any]]) -> Answer:
    if isinstance(problem, Left):
        problem = problem.args[0]
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001  a foreign __str__ may fail as well
        text = ""
    name = type(problem).__name__
    said = envelope.internal_error(tool.full_name, f"{name}: {text}" if text else name)
    return _failure(envelope.with_meta(said, normalized=notes))


def _too_large(tool: str) -> dict[str, Any]:
    size = ARGUMENT_BYTES // (1024 * 1024)
    summary = f"The arguments are nested more than {ARGUMENT_DEPTH} deep, or those of the run exceed {size} MB in all."
    return envelope.invalid_arguments(tool, summary, hints=["Pass less, and flatter, at once."])


def _failure(said: dict[str, Any]) -> Answer:
    return Answer(json.dumps(said), failed=True)
