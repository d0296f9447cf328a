"""Answers a script's tool calls: policy, validation, journal, tool. Every failure of a call is an error envelope.

Large modules that only tool calls need are imported by the first call, because most scripts make none.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from paddock.model import envelope
from paddock.model.events import Answer, Progress, ToolCall
from paddock.model.journal import Intent, Outcome
from paddock.model.json_depth import is_deeper
from paddock.model.result import Call
from paddock.model.tools import AS_TEXT, CallWatch, RunTool, Tool
from paddock.tools.functions import to_answer
from paddock.tools.policy import Rules, refusal
from paddock.tools.size import run_by_size
from paddock.tools.toolbox import Scope, Toolbox
from paddock.tracing import describe_call, span

if TYPE_CHECKING:
    from paddock.model.journal import Journal, Status
    from paddock.tools.answers import CreateArtifact

ARGUMENT_BYTES = 4 * 1024 * 1024
"""Limit for the JSON text of the arguments of all calls of a run, which stay in memory until the run ends."""
ARGUMENT_DEPTH = 100
TOO_LARGE = f"The arguments of this run's calls exceed {ARGUMENT_BYTES // (1024 * 1024)} MB in total."
TOO_DEEP = f"The arguments are nested more than {ARGUMENT_DEPTH} levels deep."
TOO_MANY = "You have made as many tool calls as this server allows in a minute."
WARNINGS = 20
"""How many different warnings about unknown fields the result of a run contains."""
LISTED_TOOLS = 3
_KIND = '{"error_kind": "'


@dataclass(slots=True)
class _Record:
    """One call while it is answered."""

    call: ToolCall
    tool: Tool | None  # None: there is no such tool
    session_tool: RunTool | None
    arguments: Mapping[str, Any]  # as they are sent: a repair replaces them
    notes: list[dict[str, Any]] = field(default_factory=list)  # about repairs, for `_meta.normalized`
    warnings: list[str] = field(default_factory=list)
    secrets: tuple[str, ...] = ()  # secrets that the answer may repeat
    as_text: bool = False  # text that is JSON is not parsed

    @property
    def name(self) -> str:
        return self.call.tool if self.tool is None else self.tool.full_name


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
        watch: CallWatch | None = None,
    ) -> None:
        self._toolbox, self._scope = toolbox, scope
        self._call_limit = call_limit
        self._run_id, self._journal = run_id, journal
        self._create_artifact, self._progress, self._watch = create_artifact, progress, watch
        self._rules = rules or Rules()
        self._run_seconds = run_seconds  # time limit of the run, and so of its calls
        self._bytes_left = ARGUMENT_BYTES
        self._too_large: set[int] = set()  # calls whose arguments exceed that
        self._calls: dict[int, Call] = {}
        self._unknown: dict[str, None] = {}  # the warnings about unknown fields, each once
        self._denials: set[int] = set()
        self._checking = asyncio.Lock()
        self._writes: Counter[str] = Counter()  # successful calls that may have changed something, by tool
        self._unanswered: Counter[str] = Counter()  # calls without an answer when the run ended, by tool
        self._pending_outcomes: dict[int, tuple[Outcome, tuple[str, ...]]] = {}
        """Outcomes that are not journalled yet, by call id, each with the secrets that its answer may repeat."""
        self.concluding: set[asyncio.Task[Any] | None] = set()
        """Tasks that are journalling an outcome."""

    def expect(self, call: ToolCall) -> ToolCall | None:
        """List `call`, which may be cancelled before `answer` has begun: a script must not keep it off the list.

        Returns it without arguments that are refused: they would stay in memory until it is answered. None: it is over
        the limit, and so is not listed.
        """
        if call.id > self._call_limit:
            return None
        self._calls[call.id] = Call(call.id, call.tool, {}, "cancelled", 0.0)
        self._bytes_left -= len(call.arguments_json)
        if self._bytes_left >= 0:
            return call
        self._too_large.add(call.id)
        return replace(call, arguments_json="{}")

    async def answer(self, call: ToolCall) -> Answer:
        """Answer `call`. Whatever a tool or a script does, this never raises."""
        if call.id not in self._calls:
            expected = self.expect(call)
            if expected is None:
                return _failure(envelope.call_limit_exceeded(call.tool, self._call_limit))
            call = expected
        text = call.arguments_json
        arguments = TOO_LARGE if call.id in self._too_large else await run_by_size(text, parse_arguments, text)
        started = time.perf_counter()
        session_tool = self._scope.session_tools.get(call.tool)
        if session_tool is not None:
            tool: Tool | None = session_tool.tool
        else:
            tool = await self._scope.find(call.tool, is_function=call.is_function)
        answer: Answer | None = None
        record = _Record(call, tool, session_tool, {} if isinstance(arguments, str) else arguments)
        declared = None if tool is None else tool.input_schema.get("properties")
        is_own = isinstance(declared, Mapping) and AS_TEXT in declared
        if AS_TEXT in record.arguments and tool is not None and not is_own:
            record.as_text = record.arguments[AS_TEXT] is True
            record.arguments = {key: value for key, value in record.arguments.items() if key != AS_TEXT}
        with span(*_span_of(tool)) as recorded:
            try:
                if isinstance(arguments, str):
                    answer = await self._refuse(record, _unusable_arguments(record.name, arguments))
                else:
                    answer = await self._answer(record)
            finally:
                seconds = time.perf_counter() - started
                describe_call(recorded, _outcome(answer))
                if self._watch is not None:
                    self._watch.ended(tool, _outcome(answer), seconds)
                status: Status = "cancelled" if answer is None else "error" if answer.failed else "ok"
                warnings, milliseconds = tuple(record.warnings), round(seconds * 1000, 3)
                if status == "cancelled":
                    self._unanswered[record.name] += 1
                elif status == "ok" and tool is not None and tool.may_write:
                    self._writes[tool.full_name] += 1
                self._calls[call.id] = Call(call.id, record.name, record.arguments, status, milliseconds, warnings)
        return answer

    async def conclude(self, number: int) -> None:
        """Journal the outcome of a call, once it is answered. Must not be cancelled."""
        if self._journal is None or number not in self._pending_outcomes:
            return
        outcome, secrets = self._pending_outcomes.pop(number)
        from paddock.tools.secrets import redact_secrets_in_json

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
        """The calls in program order: answered, refused or cancelled. Calls over the limit were never made."""
        return tuple(self._calls[number] for number in sorted(self._calls))

    def warnings(self) -> tuple[str, ...]:
        """The fields of calls that their tools do not declare."""
        return tuple(self._unknown)

    def effects(self) -> tuple[str, ...]:
        """Sentences for a run that failed: which calls a rerun would repeat, and which had no answer."""
        succeeded, unanswered = _counted(self._writes), _counted(self._unanswered)
        return (
            *((f"Succeeded before the failure: {succeeded}; a rerun repeats it.",) if succeeded else ()),
            *((f"Without an answer at the end: {unanswered}; its effect is unknown.",) if unanswered else ()),
        )

    def is_denial(self, text: str) -> bool:
        """Whether a call of this run was denied by the policy with exactly `text`. Nobody else can fake that."""
        return hash(text) in self._denials

    async def _answer(self, record: _Record) -> Answer:
        tool = record.tool
        if tool is None:
            await self._take_turn()
            failure = await self._scope.not_found(record.name, is_function=record.call.is_function)
            return await self._refuse(record, failure)
        if record.session_tool is None:  # neither limits, policy nor repairs apply to session tools
            if self._watch is not None and (seconds := self._watch.take()):
                return await self._refuse(record, envelope.rate_limited(record.name, TOO_MANY, seconds))
            policy = self._rules.policy
            rule = None if policy is None else policy.decide(tool)
            if rule is not None and rule.action != "allow":
                if self._watch is not None:
                    self._watch.refused(tool, rule.action, str(rule))
                denial = await self._refuse(record, refusal(rule, tool))
                self._denials.add(hash(denial.json))  # hashed, because there may be thousands of long envelopes
                return denial
            if self._rules.repairs:
                await self._repair(record, tool, only_text=False)
        problem = await self._problem(record, tool)
        is_invalid = problem is not None and problem["error_kind"] == "mcp_input_validation"
        if is_invalid and await self._repair(record, tool, only_text=True):
            problem = await self._problem(record, tool)
        if problem is not None:
            return await self._refuse(record, envelope.with_meta(problem, normalized=record.notes))
        self._warn(record, tool)
        return await self._call_and_journal(record, tool)

    async def _repair(self, record: _Record, tool: Tool, *, only_text: bool) -> bool:
        """Repair the arguments of a call. Returns whether they were changed."""
        from paddock.tools.repair import repair

        work = partial(repair, only_text=only_text)
        repaired, notes = await run_by_size(record.call.arguments_json, work, record.arguments, tool.input_schema)
        has_changed = repaired != record.arguments
        record.arguments = repaired
        if has_changed or not only_text:
            record.notes += notes
        return has_changed

    def _warn(self, record: _Record, tool: Tool) -> None:
        """Record what was changed in the arguments of a call, and which of their fields the tool does not declare."""
        from paddock.tools.repair import describe, unknown_fields

        record.warnings += [f"{record.name}: {text}" for text in map(describe, record.notes) if text]
        for unknown, advice in unknown_fields(record.arguments, tool.input_schema):
            note = {"kind": "unknown_field_passed_through", "field": unknown}
            record.notes += [] if note in record.notes else [note]
            text = f"{record.name}: unknown field '{unknown}' was passed on; {advice}"
            record.warnings.append(text)
            if len(self._unknown) < WARNINGS:
                self._unknown[text] = None

    async def _problem(self, record: _Record, tool: Tool) -> dict[str, Any] | None:
        """The envelope for arguments that the tool must not get, or None.

        They violate the schema, or include a value that only the host may add, or such a value is not set.
        """
        injection = self._toolbox.injection
        if tool.server:
            from paddock.tools.context import forbidden_arguments

            added = injection.names(tool.server) if injection is not None else ()
            find = partial(forbidden_arguments, record.arguments, tool.input_schema, added)
            if names := await run_by_size(record.call.arguments_json, find):
                return envelope.context_not_allowed(tool.full_name, names)
        problems = (await self._toolbox.validator(tool)).problems
        await self._take_turn()
        problem = await run_by_size(record.call.arguments_json, problems, dict(record.arguments), tool.full_name)
        if problem is None and tool.server and injection is not None:
            problem = injection.missing(tool, self._scope.context)
        return problem

    async def _take_turn(self) -> None:
        """Wait for the event loop's next turn, and for the calls before. A check can take 20 ms, and thousands wait."""
        async with self._checking:
            await asyncio.sleep(0)

    async def _refuse(self, record: _Record, failure: dict[str, Any]) -> Answer:
        """Journal a call that is not made. Returns the answer with the reason, which `conclude` journals too."""
        answer = _failure(failure)
        if await self._intend(record) is None:
            self._set_outcome(record, answer, 0.0)
        return answer

    async def _call_and_journal(self, record: _Record, tool: Tool) -> Answer:
        try:
            failure = await self._intend(record)
        except asyncio.CancelledError:  # the intent may be stored nevertheless
            self._set_outcome(record, None, 0.0)
            await self.conclude(record.call.id)
            raise
        if failure is not None:
            summary = f"The call was not made: the journal cannot be written ({failure})."
            return _failure(envelope.internal_error(tool.full_name, summary))
        started = time.perf_counter()
        answer: Answer | None = None
        try:
            answer = await self._call(record, tool)
        finally:
            self._set_outcome(record, answer, (time.perf_counter() - started) * 1000)
            if answer is None:
                await self.conclude(record.call.id)
        return answer

    async def _intend(self, record: _Record) -> str | None:
        """Journal that a call is about to be made. Returns the reason if that fails.

        Passwords that the script passes are secrets too, because a tool or an error may repeat them.
        """
        if self._journal is None:
            return None
        from paddock.tools.secrets import named_secrets, redact_secrets

        def redacted() -> str:
            record.secrets = (*self._toolbox.secrets, *named_secrets(record.arguments))
            return json.dumps(redact_secrets(record.arguments, record.secrets))

        text = await run_by_size(record.call.arguments_json, redacted)
        is_read_only = record.tool is not None and bool(record.tool.hints.read_only)
        intent = Intent(self._run_id, record.call.id, record.name, text, is_read_only, time.time())
        return await _try_journal(self._journal.intend(intent))

    def _set_outcome(self, record: _Record, answer: Answer | None, milliseconds: float) -> None:
        """Set what `conclude` journals: the answer, or that there was none because the call was cancelled."""
        if self._journal is None:
            return
        status: Status = "cancelled" if answer is None else "error" if answer.failed else "ok"
        text = "" if answer is None else answer.json
        outcome = Outcome(self._run_id, record.call.id, status, milliseconds, text)
        self._pending_outcomes[record.call.id] = (outcome, record.secrets)

    async def _call(self, record: _Record, tool: Tool) -> Answer:
        from paddock.tools.upstream_errors import CallFailed

        try:
            if record.session_tool is not None:
                return to_answer(await record.session_tool.call(record.arguments))
            return await self._toolbox.call(
                tool,
                record.arguments,
                timeout_seconds=self._rules.call_seconds,
                run_seconds=self._run_seconds,
                progress=self._progress,
                create_artifact=self._create_artifact,
                context=self._scope.context,
                principal=self._scope.principal,
                as_text=record.as_text,
            )
        except CallFailed as problem:
            failure = problem.envelope(tool.full_name)
        except asyncio.CancelledError as problem:
            if _is_cancelled():
                raise
            # The tool itself raised this. Without an answer the script would wait forever.
            failure = _internal_error(tool, problem)
        # Whatever a tool raises goes to the script, even SystemExit, which would end the event loop.
        except BaseException as problem:  # noqa: BLE001
            failure = _internal_error(tool, problem)
        return _failure(envelope.with_meta(failure, normalized=record.notes))


def _counted(calls: Counter[str]) -> str:
    """The names of tools, with the number of calls of each."""
    more = f" and {len(calls) - LISTED_TOOLS} other tools" if len(calls) > LISTED_TOOLS else ""
    names = (name if count == 1 else f"{name} ({count} times)" for name, count in list(calls.items())[:LISTED_TOOLS])
    return ", ".join(names) + more


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


def _internal_error(tool: Tool, problem: BaseException) -> dict[str, Any]:
    if isinstance(problem.__cause__, StopIteration):
        problem = problem.__cause__  # a coroutine cannot raise it: Python raises RuntimeError instead
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001  a foreign __str__ may fail as well
        text = ""
    name = type(problem).__name__
    return envelope.internal_error(tool.full_name, f"{name}: {text}" if text else name)


def _unusable_arguments(name: str, reason: str) -> dict[str, Any]:
    is_size = reason in (TOO_LARGE, TOO_DEEP)
    hint = "Pass less data, or less nested data." if is_size else "Pass one object, with numbers that are finite."
    return envelope.invalid_arguments(name, reason, hints=[hint])


def parse_arguments(text: str) -> dict[str, Any] | str:
    """The arguments, or why they cannot be used. The run's result shows them, so they must be valid JSON."""
    try:
        arguments = json.loads(text, parse_float=_finite, parse_constant=_finite)
        if "\\ud" in text.lower():  # perhaps half of a surrogate pair, which is JSON, but nobody can encode it
            arguments = json.loads(json.dumps(arguments, ensure_ascii=False).encode(errors="replace"))
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


def _span_of(tool: Tool | None) -> tuple[str, dict[str, str]]:
    """The name and attributes of a call's span. A name that a script made up is in neither."""
    if tool is None:
        return "execute_tool", {}
    return f"execute_tool {tool.full_name}", {"gen_ai.tool.name": tool.full_name, "paddock.upstream": tool.server}


def _outcome(answer: Answer | None) -> str:
    """How a call ended, in one word. No answer: the call was cancelled."""
    if answer is None:
        return "cancelled"
    if not answer.failed:
        return "ok"
    kind = answer.json.removeprefix(_KIND).partition('"')[0]
    return kind if kind in envelope.KINDS else "internal_error"


def _failure(failure: dict[str, Any]) -> Answer:
    return Answer(json.dumps(failure), failed=True)
