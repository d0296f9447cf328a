"""What the server holds for a session and adds to tool calls: tools that set it, for clients, and for scripts by the
same names.

Without a session, in the newer era over HTTP, what a script sets holds for its run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, ToolAnnotations
from mcp_types import Tool as Described

from paddock.errors import RequestError
from paddock.model import envelope
from paddock.model.context import Context
from paddock.model.tools import Hints, Tool
from paddock.model.words import nearest
from paddock.server.caller import Caller, Session
from paddock.server.offer import Offer, failed, told
from paddock.tools.context import EVERY_SERVER, HEADER_VALUE, TEXT_CHARACTERS, Connection, Field, Injection

if TYPE_CHECKING:
    from paddock.server.serving import Serving

GROUP = "session"
"""Of companions: a definition that has it always offers the probe."""
_STATE = {
    "session_present": {"type": "boolean"},
    "state_scope": {"enum": ["session", "request"]},
    "state_reason": {"enum": [None, "no_mcp_session", "token_swapped", "bridge_unavailable"]},
}
_SET = {"set": {"type": "object"}, "state_scope": _STATE["state_scope"]}
_READS = Hints(read_only=True, idempotent=True, open_world=False)
_SETS = Hints(read_only=False, destructive=False, idempotent=True, open_world=False)


@dataclass(frozen=True, slots=True)
class _Held:
    """What a call of these tools is about: a context, and the session that keeps it, if there is one."""

    context: Context
    session: Session | None


@dataclass(frozen=True, slots=True)
class SessionTool:
    """One of the tools: how it looks, and what a call of it does."""

    tool: Tool
    act: Callable[[_Held, Mapping[str, Any]], dict[str, Any]]
    sets: bool = True


@dataclass(frozen=True, slots=True)
class _Bound:
    """One of them, for one run."""

    of: SessionTool
    held: _Held

    @property
    def tool(self) -> Tool:
        return self.of.tool

    async def call(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self.of.act(self.held, arguments)


def session_tools(injection: Injection | None) -> tuple[SessionTool, ...]:
    """The probe, and what sets what there is to set."""
    if injection is None:
        return (_PROBE,)
    return (_PROBE, *map(_setter, injection.fields), *_setters_of_all(injection))


def is_offered(serving: Serving, companions: Collection[str]) -> bool:
    """Whether these tools stand beside definitions with such companions: always where there is something to set."""
    return GROUP in companions or serving.paddock.injection is not None


def offers(serving: Serving) -> list[Offer]:
    return [_offer(each) for each in serving.session_tools]


def tools_of(serving: Serving, caller: Caller, context: Context) -> Mapping[str, _Bound]:
    """The same for a script that this caller runs."""
    held = _Held(context, caller.session)
    return {each.tool.name: _Bound(each, held) for each in serving.session_tools}


def of_run(caller: Caller, connections: Mapping[str, str]) -> Context:
    """What is added to the calls of a run: the session's as it changes, or nothing yet."""
    kept = Context() if caller.session is None else caller.session.context
    return kept.of_run(connections)


def chosen(serving: Serving, asked: Mapping[str, str]) -> dict[str, str]:
    """Connections for one run, by server; `RequestError` where one of them is not there."""
    injection = serving.paddock.injection
    known = {} if injection is None else injection.connections
    found: dict[str, str] = {}
    for path, wanted in asked.items():
        server = path.removeprefix("/")
        ids = [each.id for each in known.get(server, ())]
        if wanted in ids:
            found[server] = wanted
            continue
        name, names = (wanted, ids) if server in known else (server, list(known))
        what = f"no connection {wanted!r} of {server!r}" if server in known else f"nothing to choose for {server!r}"
        near = nearest(name, names)
        hint = f"did you mean {near!r}?" if near else f"there is: {', '.join(names) or 'none'}"
        raise RequestError(f"there is {what}; {hint}")
    return found


def state_of(session: Session | None) -> dict[str, Any]:
    """Whether there is a session, and why what its client set before is not there."""
    if session is None:
        return {"session_present": False, "state_scope": "request", "state_reason": "no_mcp_session"}
    return {"session_present": True, "state_scope": "session", "state_reason": session.state_reason}


def _offer(made: SessionTool) -> Offer:
    async def call(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        if made.sets and caller.session is None:
            return failed(envelope.session_required(made.tool.name))
        context = Context() if caller.session is None else caller.session.context
        return told(made.act(_Held(context, caller.session), arguments))

    tool, hints = made.tool, made.tool.hints
    described = Described(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema or {}),
        annotations=ToolAnnotations(
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )
    return Offer(described, call)


def _setters_of_all(injection: Injection) -> list[SessionTool]:
    made = []
    if injection.fields:
        made.append(
            _setting(
                "set_context",
                "Set several fields of the context at once; what is not named stays as it is.",
                {each.parameter: _value_schema(each) for each in injection.fields},
                {each.parameter: each.name for each in injection.fields},
            )
        )
    if injection.connections:
        made.append(_choosing({server: _connection_schema(listed) for server, listed in injection.connections.items()}))
    return made


def _setter(each: Field) -> SessionTool:
    servers = "all servers" if EVERY_SERVER in each.servers else ", ".join(each.servers)
    said = f"{each.description.strip()} " if each.description.strip() else ""
    return _setting(
        each.setter,
        f"{said}Rides every later call of tools of {servers}; never pass it to them.",
        {each.parameter: _value_schema(each)},
        {each.parameter: each.name},
    )


def _setting(name: str, description: str, properties: Mapping[str, Any], fields: Mapping[str, str]) -> SessionTool:
    def act(held: _Held, arguments: Mapping[str, Any]) -> dict[str, Any]:
        held.context.values.update({fields[key]: value for key, value in arguments.items()})
        return _done(held, arguments)

    return SessionTool(_described(name, description, properties), act)


def _choosing(properties: Mapping[str, Any]) -> SessionTool:
    def act(held: _Held, arguments: Mapping[str, Any]) -> dict[str, Any]:
        held.context.connections.update(arguments)
        return _done(held, arguments)

    described = "Choose by which connection the tools of a server are called from now on, by its id."
    return SessionTool(_described("select_connections", described, properties), act)


def _done(held: _Held, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if held.session is not None:
        held.session.state_reason = None
    return {"set": dict(arguments), "state_scope": state_of(held.session)["state_scope"]}


def _described(name: str, description: str, properties: Mapping[str, Any]) -> Tool:
    return Tool(
        "",
        name,
        description,
        # One that sets a single thing needs it; one that sets several, at least one of them.
        {"type": "object", "properties": properties, "minProperties": 1, "additionalProperties": False}
        | ({"required": list(properties)} if len(properties) == 1 else {}),
        _object(_SET),
        _SETS,
        title=name.replace("_", " ").capitalize(),
    )


def _value_schema(each: Field) -> dict[str, Any]:
    if each.values:
        return {"type": "string", "enum": list(each.values)}
    # No control characters; in a header, ASCII alone.
    allowed = f"^{HEADER_VALUE}$" if each.header else "^[^\\x00-\\x1f\\x7f]+$"
    return {"type": "string", "minLength": 1, "maxLength": TEXT_CHARACTERS, "pattern": allowed}


def _connection_schema(listed: Collection[Connection]) -> dict[str, Any]:
    titles = "; ".join(f"{each.id}: {each.title}" for each in listed if each.title)
    schema: dict[str, Any] = {"type": "string", "enum": [each.id for each in listed]}
    return schema | ({"description": titles} if titles else {})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_PROBE = SessionTool(
    Tool(
        "",
        "get_session_state",
        "Whether what is set for this session lasts. Set context again before the next call where state_scope is "
        '"request" or state_reason is not null. Changes nothing; scripts can call it too.',
        {"type": "object", "properties": {}, "additionalProperties": False},
        _object(_STATE),
        _READS,
        title="Get the session's state",
    ),
    lambda held, arguments: state_of(held.session),
    sets=False,
)
