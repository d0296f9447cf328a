"""What the server holds for a session, as tools: for clients, and for scripts by the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.server.caller import Caller
from paddock.server.offer import Offer, told

if TYPE_CHECKING:
    from paddock.server.serving import Serving

_OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "session_present": {"type": "boolean"},
        "state_scope": {"enum": ["session", "request"]},
        "state_reason": {"enum": [None, "no_mcp_session", "token_swapped", "bridge_unavailable"]},
    },
    "required": ["session_present", "state_scope", "state_reason"],
    "additionalProperties": False,
}


def offers(serving: Serving) -> list[Offer]:
    probe = Tool(
        name="get_session_state",
        title="Get the session's state",
        description=(
            "Whether what is set for this session lasts. Set context again before the next call where state_scope is "
            '"request" or state_reason is not null. Changes nothing; scripts can call it too.'
        ),
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        output_schema=_OUTPUT_SCHEMA,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )
    return [Offer(probe, _probe)]


def tools_of(caller: Caller) -> tuple[Callable[..., Any], ...]:
    """The same for a script that this caller runs. Its state is that of when the run began."""
    state = state_of(caller)

    async def get_session_state() -> dict[str, Any]:
        """Whether what is set for this session lasts."""
        return state

    return (get_session_state,)


def state_of(caller: Caller) -> dict[str, Any]:
    """Whether there is a session, and why what its client set before is not there."""
    if caller.session is None:
        return {"session_present": False, "state_scope": "request", "state_reason": "no_mcp_session"}
    return {"session_present": True, "state_scope": "session", "state_reason": caller.session.state_reason}


async def _probe(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    return told(state_of(caller))
