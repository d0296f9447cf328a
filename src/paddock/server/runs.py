"""Tools for runs that go on without their caller: how one goes, and to end one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.model import envelope
from paddock.server.caller import Caller
from paddock.server.offer import Offer, failed, told
from paddock.store.run_records import GOING_ON

if TYPE_CHECKING:
    from paddock.server.serving import Serving
    from paddock.store.run_records import StoredRun

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
            "How a detached run goes: verdict `running` and what it printed so far, or its result. Wait some seconds "
            "between calls."
        ),
        input_schema=_SCHEMA,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
    cancel = Tool(
        name="cancel_run",
        title="Cancel a run",
        description="End a detached run; what it printed is kept.",
        input_schema=_SCHEMA,
        annotations=ToolAnnotations(destructive_hint=True, idempotent_hint=True, open_world_hint=False),
    )
    return [Offer(get, runs.get), Offer(cancel, runs.cancel)]


class _Runs:
    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def get(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        found = await self._serving.store.runs.get(caller.principal, arguments["run_id"])
        return _unknown("get_run", arguments["run_id"]) if found is None else told(_shown(found))

    async def cancel(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        run_id = arguments["run_id"]
        found = await self._serving.store.runs.get(caller.principal, run_id)
        if found is None:
            return _unknown("cancel_run", run_id)
        task = self._serving.under_way.get(run_id)
        if task is not None:
            import asyncio

            task.cancel()
            await asyncio.wait([task])
        ended = await self._serving.store.runs.get(caller.principal, run_id)
        return told(_shown(ended or found))


def _shown(run: StoredRun) -> dict[str, Any]:
    values = run.to_dict()
    if values["result"] is not None:
        return {
            "run_id": run.id,
            **{name: value for name, value in values["result"].items() if value not in (None, "", [])},
        }
    return {"run_id": run.id, "verdict": GOING_ON, "stdout": values["stdout"], "stderr": values["stderr"]}


def _unknown(tool: str, run_id: str) -> CallToolResult:
    summary = f"There is no run '{run_id[:100]}'."
    hints = ["Give the run_id that a call with detach answered; results are kept for a limited time."]
    return failed(envelope.envelope("mcp_input_validation", tool, summary, "INPUT_VALIDATION_FAILED", hints=hints))
