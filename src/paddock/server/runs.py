"""Tools for runs that go on without their caller: how one goes, and to end one."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.definitions.faces.native import SPILL_BYTES
from paddock.errors import PaddockError
from paddock.model import envelope
from paddock.model.result import Verdict
from paddock.server.caller import Caller
from paddock.server.fitting import PREVIEW_CHARACTERS
from paddock.server.offer import Offer, failed, told
from paddock.store.runs import RUNNING

if TYPE_CHECKING:
    from paddock.server.serving import Serving
    from paddock.store.runs import StoredRun

log = logging.getLogger(__name__)
_FIELDS = ("stdout", "stderr", "truncated", "error", "exit_code", "signal", "artifacts", "engine", "engine_reason")
_SCHEMA = {
    "type": "object",
    "properties": {"run_id": {"type": "string"}},
    "required": ["run_id"],
    "additionalProperties": False,
}


def offers(serving: Serving) -> list[Offer]:
    runs = _Runs(serving)
    get = Tool(
        name="get_run",
        title="Get a run",
        description=(
            "How a detached run goes: verdict `running` and what it printed so far, or its result. Ask now and then."
        ),
        input_schema=_SCHEMA,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
    cancel = Tool(
        name="cancel_run",
        title="Cancel a run",
        description="End a detached run; what it printed is kept.",
        input_schema=_SCHEMA,
        annotations=ToolAnnotations(idempotent_hint=True, open_world_hint=False),  # it may destroy: not said is yes
    )
    return [Offer(get, runs.get, is_short=True), Offer(cancel, runs.cancel, is_short=True)]


class _Runs:
    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def get(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        found = await self._serving.store.runs.get(caller.principal, arguments["run_id"])
        if found is None:
            return _unknown("get_run", arguments["run_id"])
        return told(await shown(self._serving, caller, found))

    async def cancel(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        run_id = arguments["run_id"]
        found = await self._serving.store.runs.get(caller.principal, run_id)
        if found is None:
            return _unknown("cancel_run", run_id)
        task = self._serving.under_way.get(run_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        ended = await self._serving.store.runs.get(caller.principal, run_id)
        return told(await shown(self._serving, caller, ended or found))


async def shown(serving: Serving, caller: Caller, run: StoredRun) -> dict[str, Any]:
    """A stored run as `run_code` tells one; while it goes on, what it printed so far."""
    values = await asyncio.to_thread(run.to_dict)
    result = values["result"]
    if result is None:
        return {"run_id": run.id, "verdict": RUNNING, "stdout": values["stdout"], "stderr": values["stderr"]}
    result["output"] = await _spilled(serving, caller, run.id, result["output"])
    # Of a run that was lost nothing else says what it did before.
    names = (*_FIELDS, "calls") if result["verdict"] == Verdict.LOST else _FIELDS
    some = {name: result.get(name) for name in names}
    told_of = {"run_id": run.id, "verdict": result["verdict"], "output": result["output"]}
    return told_of | {name: value for name, value in some.items() if value not in (None, "", [])}


def is_failure(values: dict[str, Any]) -> bool:
    """Whether a run that is shown so did not end well."""
    return values["verdict"] not in (str(Verdict.OK), RUNNING)


async def _spilled(serving: Serving, caller: Caller, run_id: str, value: Any) -> Any:
    """The value, or where it is kept if it is large; asked for again, it is the same artifact."""
    text = await asyncio.to_thread(json.dumps, value, ensure_ascii=False)
    if len(text) * 4 <= SPILL_BYTES or len(data := text.encode(errors="replace")) <= SPILL_BYTES:
        return value
    own, name = serving.artifacts.of(caller.owner, run_id), f"result-{run_id}.json"
    try:
        kept = await own.find(name)
        is_its = kept is not None and kept.run_id == run_id
        made = kept.artifact if kept is not None and is_its else await own.create(name, "application/json", data)
    except PaddockError as problem:  # what the run came to is worth more than a short answer
        log.warning("the result of %s cannot be kept, and is given back whole: %s", run_id, problem)
        return value
    return {"artifact": asdict(made), "preview": text[:PREVIEW_CHARACTERS]}


def _unknown(tool: str, run_id: str) -> CallToolResult:
    summary = f"There is no run '{run_id[:100]}'."
    hints = ["Give the run_id that a call with detach answered; results are kept for a limited time."]
    return failed(envelope.envelope("mcp_input_validation", tool, summary, "INPUT_VALIDATION_FAILED", hints=hints))
