"""Definitions as tools: a call is a run, told as it goes on and written down."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.definitions.definition import Definition
from paddock.definitions.faces.face import Asked, Face, Given, Outcome, Setting, Spilled, face_of
from paddock.engines import registry
from paddock.errors import HostError, PaddockError, StoreError
from paddock.model.request import Request, RunContext
from paddock.model.result import RunResult, Verdict
from paddock.record import new_run_id, unfinished
from paddock.server import context, runs
from paddock.server.caller import Caller
from paddock.server.files import with_files
from paddock.server.fitting import PREVIEW_CHARACTERS
from paddock.server.offer import Offer, answer, failed, told
from paddock.server.telling import Telling
from paddock.store.runs import RUNNING, NewRun, fingerprint
from paddock.tools.health import CODE_TOOL

if TYPE_CHECKING:
    from paddock.server.serving import Serving

log = logging.getLogger(__name__)


def offer(serving: Serving, definition: Definition) -> Offer:
    """The tool that `definition` is."""
    code = _Code(serving, definition)
    look = code.face.look(definition, code.setting)
    tool = Tool(
        name=definition.name,
        title=definition.title,
        description=look.description,
        input_schema=look.input_schema,
        output_schema=look.output_schema,
        # Code that calls other tools may change and reach whatever they do.
        annotations=ToolAnnotations(
            read_only_hint=look.is_read_only or None, destructive_hint=not look.is_read_only, open_world_hint=True
        ),
        _meta={CODE_TOOL: True},
    )
    return Offer(tool, code.call, code.refused, is_short=look.is_short)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run that is asked for."""

    id: str
    caller: Caller
    asked: Asked


class _Code:
    def __init__(self, serving: Serving, definition: Definition) -> None:
        self._serving, self._definition = serving, definition
        self.face: Face = face_of(definition)
        self.setting = Setting(serving.config, registry.available())
        self._has_session_tools = context.is_offered(serving, definition.companions)

    async def call(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        asked = self.face.asked(self._definition, arguments, self.setting)
        if asked.act == "lint":
            from paddock.linting import alint

            found = await alint(asked.code, mode=asked.options.get("mode", "expression"))
            return _answered(self.face.findings(self._definition, found), ())  # type: ignore[attr-defined]
        if asked.connections:
            asked = replace(asked, connections=context.chosen(self._serving, asked.connections))
        if asked.uses_files or asked.artifacts:
            asked = await with_files(self._serving, caller, asked)
        run = _Run(new_run_id(), caller, asked)
        earlier = await self._begun(run)
        if earlier is not None:
            return told(earlier, is_error=runs.is_failure(earlier))
        if asked.is_detached:
            self._detach(run)
            return told({"run_id": run.id, "verdict": RUNNING})
        try:
            return await self._told(run, await self._run(run))
        except PaddockError as problem:
            told_of = self.face.failed(self._definition, asked, problem)
            if told_of is None:
                raise
            if isinstance(problem, HostError):
                log.warning("%s: %s", type(problem).__name__, problem)
            return _answered(told_of, ())

    def refused(self, envelope: Mapping[str, Any]) -> CallToolResult:
        """What is wrong with a call: an envelope, unless the face has its own way."""
        own = getattr(self.face, "refused", None)
        return failed(envelope) if own is None else _answered(own(self._definition, envelope), ())

    async def _begun(self, run: _Run) -> dict[str, Any] | None:
        """Write the run down; what there is of an earlier one with the same key, where there is one."""
        asked = run.asked
        key = asked.idempotency_key
        mark = "" if key is None else await asyncio.to_thread(fingerprint, Request(asked.code, **asked.options))
        new = NewRun(
            run.id,
            run.caller.principal,
            asked.code,
            asked.options.get("language", "python"),
            session=run.caller.owner.session,
            definition=self._definition.name,
            idempotency_key=key,
            fingerprint=mark,
            redact=self._serving.paddock.redact,
            redact_json=self._serving.paddock.redact_json,
        )
        earlier = await self._serving.store.runs.begin(new)
        return None if earlier is None else await runs.shown(self._serving, run.caller, earlier)

    def _detach(self, run: _Run) -> None:
        quiet = replace(run, caller=replace(run.caller, report=_unheard))
        task = asyncio.create_task(self._run(quiet))
        self._serving.under_way[run.id] = task
        task.add_done_callback(lambda _: self._serving.under_way.pop(run.id, None))

    async def _run(self, run: _Run) -> RunResult:
        """Follow the run to its end, telling the caller how far it is. However it ends, that is written down."""
        stored, artifacts = self._serving.store.runs, self._serving.artifacts.of(run.caller.owner, run.id)
        held = context.of_run(run.caller, run.asked.connections)
        own = context.tools_of(self._serving, run.caller, held) if self._has_session_tools else {}
        within = RunContext(run.id, artifacts, self._definition.name, run.caller.owner.session, own, held)
        telling = Telling(run.caller.report, partial(stored.add_output, run.id))
        result, verdict, language = None, Verdict.LOST, run.asked.options.get("language", "python")
        try:
            result = await self._serving.paddock.follow(run.asked.code, telling, within=within, **run.asked.options)
            await telling.told()
        except asyncio.CancelledError:
            verdict = Verdict.CANCELLED
            raise
        finally:
            telling.end()
            try:
                await stored.finish(run.id, result or unfinished(within, language, verdict))
            except StoreError as problem:  # what the run came to is worth more than that it is written down
                log.warning("how %s ended is not stored: %s", run.id, problem)
        return result

    async def _told(self, run: _Run, result: RunResult) -> CallToolResult:
        spilled = await self._spilled(run, result)
        given = self.face.given(self._definition, run.asked, Outcome(result, spilled))
        made = (*result.artifacts, spilled.artifact) if spilled else result.artifacts
        return _answered(given, made)

    async def _spilled(self, run: _Run, result: RunResult) -> Spilled | None:
        """The value as an artifact, where it is too large to be given back and can be kept."""
        most = self.face.spill_bytes(self._definition)
        text = result.output_json or ""
        if most is None or len(text) * 4 <= most or len(data := text.encode(errors="replace")) <= most:
            return None
        own = self._serving.artifacts.of(run.caller.owner, run.id)
        try:
            artifact = await own.create(f"result-{run.id}.json", "application/json", data)
        except PaddockError as problem:  # what the run came to is worth more than a short answer
            log.warning("the result of %s cannot be kept, and is given back whole: %s", run.id, problem)
            return None
        return Spilled(artifact, text[:PREVIEW_CHARACTERS])


def _answered(given: Given, artifacts: tuple[Any, ...]) -> CallToolResult:
    text = given.text
    if text is None and given.structured is not None:
        text = json.dumps(given.structured, ensure_ascii=False)
    return answer(text, given.structured, is_error=given.is_error, artifacts=artifacts, meta=given.meta)


async def _unheard(done: float, total: float | None, message: str) -> None:
    """Nobody waits for a detached run."""
