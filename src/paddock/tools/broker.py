"""Answers a script's tool calls: policy, validation, journal, tool. Every failure of a call is an error envelope.

Modules that only tool calls need are imported by the first call, because most scripts make none.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.model import envelope
from paddock.model.events import Answer, Progress, ToolCall
from paddock.model.journal import Intent, Outcome
from paddock.model.json_depth import is_deeper
from paddock.model.result import Call
from paddock.model.tools import Tool
from paddock.tools.functions import Unraisable, to_answer
from paddock.tools.policy import Rules, refusal
from paddock.tools.toolbox import Scope, Toolbox

if TYPE_CHECKING:
    from paddock.model.journal import Journal, Status
    from paddock.tools.answers import CreateArtifact

ARGUMENT_BYTES = 4 * 1024 * 1024
"""Limit for the JSON text of the arguments of all calls of a run, which stay in memory until the run ends."""
ARGUMENT_DEPTH = 100
TOO_LARGE = f"The arguments of this run's calls exceed {ARGUMENT_BYTES // (1024 * 1024)} MB in total."
TOO_DEEP = f"The arguments are nested more than {ARGUMENT_DEPTH} levels deep."
WARNINGS = 20
"""How many different warnings about misspelt fields the result of a run contains."""
_DENIED = '"error_kind": "policy_denied"'


class _Entry(NamedTuple):
    """A call, with what the journal stores of it: `text`."""

    number: int
    arguments: Mapping[str, Any]
    text: str  # the arguments as JSON, without secrets
    secrets: tuple[str, ...]  # secrets that the answer may repeat


class Broker:
    """Answers the calls of one run, in whatever order they finish, and records each."""

    def __init__(  # noqa: PLR0913  everything that the calls of a run need
        self,
        toolbox: Toolbox,
        scope: Scope,
        call_limit: int,
        *,
        run_id: str,
        journal: Journal | None,
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
        self._run_seconds = run_seconds  # time limit of the run, and so of its calls
        self._bytes_left = ARGUMENT_BYTES
        self._calls: dict[int, Call] = {}
        self._repaired: dict[int, Mapping[str, Any]] = {}  # repaired arguments of pending calls, by call id
        self._warnings: dict[int, list[str]] = {}  # of pending calls, by call id
        self._misspelt: dict[str, None] = {}  # the warnings about misspelt fields, each once
        self._denials: set[int] = set()
        self._pending_outcomes: dict[int, tuple[Outcome, tuple[str, ...]]] = {}
        """Outcomes that are not journalled yet, by call id, each with the secrets that its answer may repeat."""
        self.concluding: set[asyncio.Task[Any] | None] = set()
        """Tasks that are journalling an outcome."""

    async def answer(self, call: ToolCall) -> Answer:
        """Answer `call`. Whatever a tool or a script does, this never raises."""
        if call.id > self._call_limit:
            return _failure(envelope.call_limit_exceeded(call.tool, self._call_limit))
        from paddock.tools.size import run_by_size

        text = call.arguments_json
        self._bytes_left -= len(text)
        arguments = TOO_LARGE if self._bytes_left < 0 else await run_by_size(text, _parse, text)
        started = time.perf_counter()
        session_tool = self._scope.session_tools.get(call.tool)
        if session_tool is not None:
            tool: Tool | None = session_tool.tool
        else:
            tool = await self._scope.find(call.tool, is_function=call.is_function)
        name = call.tool if tool is None else tool.full_name
        answer = await self._answer(call, name, tool, arguments)
        milliseconds = (time.perf_counter() - started) * 1000
        status = "error" if answer.failed else "ok"
        sent_arguments = self._repaired.pop(call.id, arguments if isinstance(arguments, dict) else {})
        warnings = tuple(self._warnings.pop(call.id, ()))
        self._calls[call.id] = Call(call.id, name, sent_arguments, status, round(milliseconds, 3), warnings)
        if answer.failed and _DENIED in answer.json:
            self._denials.add(hash(answer.json))  # hashed, because there may be thousands of long envelopes
        return answer

    async def conclude(self, number: int) -> None:
        """Journal the outcome of a call, once it is answered. Must not be cancelled."""
        if self._journal is None or number not in self._pending_outcomes:
            return
        outcome, secrets = self._pending_outcomes.pop(number)
        from paddock.tools.secrets import redact_secrets_in_json
        from paddock.tools.size import run_by_size

        task = asyncio.current_task()
        self.concluding.add(task)
        try:
            text = await run_by_size(outcome.answer_json, redact_secrets_in_json, outcome.answer_json, secrets)
            # If this fails, the journal has a call with an unknown outcome, as after a crash.
            await _try_journal(self._journal.conclude(replace(outcome, answer_json=text)))
        finally:
            self.concluding.discard(task)

    def call(self, number: int) -> Call | None:
        """The finished call with this number; None if it was refused because of the limit."""
        return self._calls.get(number)

    def calls(self) -> tuple[Call, ...]:
        """The finished calls in program order. Calls over the limit were never made."""
        return tuple(self._calls[number] for number in sorted(self._calls))

    def warnings(self) -> tuple[str, ...]:
        """The fields of calls that are probably misspelt."""
        return tuple(self._misspelt)

    def is_denial(self, text: str) -> bool:
        """Whether a call of this run was denied by the policy with exactly `text`. A script cannot fake that."""
        return hash(text) in self._denials

    async def _answer(self, call: ToolCall, name: str, tool: Tool | None, arguments: Mapping[str, Any] | str) -> Answer:
        if isinstance(arguments, str):
            is_size = arguments in (TOO_LARGE, TOO_DEEP)
            hint = (
                "Pass less data, or less nested data." if is_size else "Pass one object, with numbers that are finite."
            )
            failure = envelope.invalid_arguments(name, arguments, hints=[hint])
            return await self._refuse(await self._entry(call, {}), name, None, failure)
        entry = await self._entry(call, arguments)
        if tool is None:
            failure = await self._scope.not_found(name, is_function=call.is_function)
            return await self._refuse(entry, name, None, failure)
        is_session_tool = call.tool in self._scope.session_tools  # no policy applies to session tools
        policy = self._rules.policy
        if not is_session_tool and policy is not None and (decision := policy.decide(tool)).action != "allow":
            return await self._refuse(entry, tool.full_name, tool, refusal(decision, tool))
        from paddock.tools.repair import repair
        from paddock.tools.size import run_by_size

        schema = tool.input_schema
        notes: list[dict[str, Any]] = []
        if not is_session_tool and self._rules.repairs:
            repaired, notes = await run_by_size(call.arguments_json, repair, entry.arguments, schema)
            if notes:
                entry, self._repaired[call.id] = await self._entry(call, repaired), repaired
        problem = await self._problem(call, tool, entry.arguments)
        if problem is not None and problem["error_kind"] == "mcp_input_validation":
            repair_text = partial(repair, only_text=True)
            repaired, more = await run_by_size(call.arguments_json, repair_text, entry.arguments, schema)
            if repaired != entry.arguments:
                entry, self._repaired[call.id] = await self._entry(call, repaired), repaired
                problem, notes = await self._problem(call, tool, repaired), [*notes, *more]
        if problem is not None:
            problem = envelope.with_meta(problem, normalized=notes)
            return await self._refuse(entry, tool.full_name, tool, problem)
        self._warn(call.id, tool, entry.arguments, notes)
        return await self._call_and_journal(entry, tool, notes)

    def _warn(self, number: int, tool: Tool, arguments: Mapping[str, Any], notes: list[dict[str, Any]]) -> None:
        """Record what was changed in the arguments of a call, and which of their fields are probably misspelt."""
        from paddock.tools.repair import describe, misspelt_fields

        name = tool.full_name
        warnings = [f"{name}: {text}" for text in map(describe, notes) if text]
        for unknown, known in misspelt_fields(arguments, tool.input_schema):
            text = f"{name}: unknown field '{unknown}' was passed on; did you mean '{known}'?"
            warnings.append(text)
            if len(self._misspelt) < WARNINGS:
                self._misspelt[text] = None
        if warnings:
            self._warnings[number] = warnings

    async def _problem(self, call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """The envelope for arguments that the tool must not get, or None.

        They violate the schema, or include a value that only the host may add, or such a value is not set.
        """
        from paddock.tools.size import run_by_size

        injection = self._toolbox.injection
        if tool.server:
            from paddock.tools.context import forbidden_arguments

            added = injection.names(tool.server) if injection is not None else ()
            if names := forbidden_arguments(arguments, tool.input_schema, added):
                return envelope.context_not_allowed(tool.full_name, names)
        problems = (await self._toolbox.validator(tool)).problems
        problem = await run_by_size(call.arguments_json, problems, dict(arguments), tool.full_name)
        if problem is None and tool.server and injection is not None:
            problem = injection.missing(tool, self._scope.context)
        return problem

    async def _refuse(self, entry: _Entry, name: str, tool: Tool | None, failure: dict[str, Any]) -> Answer:
        """Journal a call that is not made. Returns the answer with the reason, which `conclude` journals too."""
        is_read_only = tool is not None and bool(tool.hints.read_only)
        answer = _failure(failure)
        if self._journal is not None and await self._intend(entry, name, is_read_only=is_read_only) is None:
            outcome = Outcome(self._run_id, entry.number, "error", 0.0, answer.json)
            self._pending_outcomes[entry.number] = (outcome, entry.secrets)
        return answer

    async def _call_and_journal(self, entry: _Entry, tool: Tool, notes: list[dict[str, Any]]) -> Answer:
        if self._journal is None:
            return await self._call(tool, entry.arguments, notes)
        failure = await self._intend(entry, tool.full_name, is_read_only=bool(tool.hints.read_only))
        if failure is not None:
            summary = f"The call was not made: the journal cannot be written ({failure})."
            return _failure(envelope.internal_error(tool.full_name, summary))
        started = time.perf_counter()
        answer: Answer | None = None
        try:
            answer = await self._call(tool, entry.arguments, notes)
        finally:
            status: Status = "cancelled" if answer is None else "error" if answer.failed else "ok"
            milliseconds = (time.perf_counter() - started) * 1000
            text = "" if answer is None else answer.json
            outcome = Outcome(self._run_id, entry.number, status, milliseconds, text)
            self._pending_outcomes[entry.number] = (outcome, entry.secrets)
            if answer is None:
                await self.conclude(entry.number)
        return answer

    async def _intend(self, entry: _Entry, name: str, *, is_read_only: bool) -> str | None:
        """Journal that a call is about to be made. Returns the reason if that fails."""
        assert self._journal is not None  # noqa: S101  checked by the callers
        intent = Intent(self._run_id, entry.number, name, entry.text, is_read_only, time.time())
        return await _try_journal(self._journal.intend(intent))

    async def _entry(self, call: ToolCall, arguments: Mapping[str, Any]) -> _Entry:
        """What the journal needs to know about a call.

        Passwords that the script passes are secrets too, because a tool or an error may repeat them.
        """
        if self._journal is None:
            return _Entry(call.id, arguments, "", ())
        from paddock.tools.secrets import named_secrets, redact_secrets
        from paddock.tools.size import run_by_size

        known = self._toolbox.secrets

        def entry() -> _Entry:
            secrets = (*known, *named_secrets(arguments))
            return _Entry(call.id, arguments, json.dumps(redact_secrets(arguments, secrets)), secrets)

        return await run_by_size(call.arguments_json, entry)

    async def _call(self, tool: Tool, arguments: Mapping[str, Any], notes: list[dict[str, Any]]) -> Answer:
        from paddock.tools.upstream_errors import CallFailed

        try:
            if not tool.server and tool.name in self._scope.session_tools:
                return to_answer(await self._scope.session_tools[tool.name].call(arguments))
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
            # The tool itself raised this. Without an answer the script would wait forever.
            return _internal_error(tool, problem, notes)
        # Whatever a tool raises goes to the script, even SystemExit, which would end the event loop.
        except BaseException as problem:  # noqa: BLE001
            return _internal_error(tool, problem, notes)


async def _try_journal(entry_write: Awaitable[None]) -> str | None:
    """Await the write and return the reason if it fails. An exception would leave the script waiting."""
    try:
        await entry_write
    except Exception as problem:  # noqa: BLE001  any journal may be passed in, and any storage may fail
        return type(problem).__name__
    return None


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _internal_error(tool: Tool, problem: BaseException, notes: list[dict[str, Any]]) -> Answer:
    if isinstance(problem, Unraisable):
        problem = problem.args[0]
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001  a foreign __str__ may fail as well
        text = ""
    name = type(problem).__name__
    failure = envelope.internal_error(tool.full_name, f"{name}: {text}" if text else name)
    return _failure(envelope.with_meta(failure, normalized=notes))


def _parse(text: str) -> dict[str, Any] | str:
    """The arguments, or why they cannot be used. The run's result shows them, so they must be valid JSON."""
    try:
        arguments = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except ValueError as problem:
        return f"The arguments are not JSON: {problem}."
    except RecursionError:
        return TOO_DEEP
    if not isinstance(arguments, dict):
        return f"The arguments must be a JSON object with the names of the tool's parameters, not {text[:40]}."
    may_be_deep = text.count("{") + text.count("[") > ARGUMENT_DEPTH
    return TOO_DEEP if may_be_deep and is_deeper(arguments, ARGUMENT_DEPTH) else arguments


def _finite(text: str) -> float:
    """The float in `text`. Raises ValueError if JSON cannot represent it."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is not a finite number")
    return value


def _failure(failure: dict[str, Any]) -> Answer:
    return Answer(json.dumps(failure), failed=True)
