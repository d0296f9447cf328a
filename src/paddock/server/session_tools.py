"""Tools that show and set the session's context, which the server adds to tool calls.

Clients and scripts call these tools by the same names. Without a session (newer protocol versions over HTTP), a value
that a script sets applies only to its run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddock.definitions.faces import object_schema
from paddock.errors import RequestError
from paddock.model.request import Context
from paddock.model.spelling import did_you_mean
from paddock.model.tools import Hints, Tool
from paddock.server.sessions import Session
from paddock.tools.context import EVERY_SERVER, HEADER_VALUE, TEXT_CHARACTERS, Connection, Field, Injection
from paddock.tools.schema import compile_schema

if TYPE_CHECKING:
    from paddock.server.services import Services

GROUP = "session"
"""The name of this group among a definition's companions."""
_STATE = {
    "session_present": {"type": "boolean"},
    "state_scope": {"enum": ["session", "request"]},
    "state_reason": {"enum": [None, "no_mcp_session", "token_swapped", "bridge_unavailable"]},
}
_SET = {"set": {"type": "object"}, "state_scope": _STATE["state_scope"]}


@dataclass(frozen=True, slots=True)
class SessionTool:
    """A tool of this group. `act` gets the context to change, its session if there is one, and the arguments."""

    tool: Tool
    act: Callable[[Context, Session | None, Mapping[str, Any]], dict[str, Any]]
    is_setter: bool = True


@dataclass(frozen=True, slots=True)
class ScriptTool:
    """A session tool as one run's script calls it."""

    session_tool: SessionTool
    context: Context
    session: Session | None

    @property
    def tool(self) -> Tool:
        return self.session_tool.tool

    async def call(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self.session_tool.act(self.context, self.session, arguments)


def is_offered(services: Services, companions: Collection[str]) -> bool:
    """Whether the session tools are offered: if a definition asks for them, or if there is something to set."""
    return GROUP in companions or services.paddock.injection is not None


def list_session_tools(injection: Injection | None) -> list[SessionTool]:
    """Return `get_session_state`, and setters for everything that the configuration lets clients set."""
    if injection is None:
        return [_GET_STATE]
    tools = [
        _GET_STATE,
        *(_setter(each.setter, _field_description(each), {each.parameter: each}) for each in injection.fields),
    ]
    if injection.fields:
        description = "Set several fields of the context at once. Other fields keep their values."
        tools.append(_setter("set_context", description, {each.parameter: each for each in injection.fields}))
    if injection.connections:
        schemas = {server: _connection_schema(listed) for server, listed in injection.connections.items()}
        tools.append(SessionTool(_setter_spec("select_connections", _SELECT, schemas), _select_connections))
    return tools


def script_tools(
    services: Services, companions: Collection[str], context: Context, session: Session | None
) -> dict[str, ScriptTool]:
    """Return the tools as the script of one run calls them, by name."""
    if not is_offered(services, companions):
        return {}
    tools = list_session_tools(services.paddock.injection)
    return {each.tool.name: ScriptTool(each, context, session) for each in tools}


def check_connections(services: Services, selections: Mapping[str, str]) -> dict[str, str]:
    """Return the selected connection ids by server. Raises RequestError for a server or an id that does not exist."""
    injection = services.paddock.injection
    known = {} if injection is None else injection.connections
    checked: dict[str, str] = {}
    for key, connection in selections.items():
        server = key.removeprefix("/")  # callers may write "/server"
        if server not in known:
            raise RequestError(f"{server!r} has no connections to choose from; {did_you_mean(server, known)}")
        ids = [each.id for each in known[server]]
        if connection not in ids:
            raise RequestError(f"{server!r} has no connection {connection!r}; {did_you_mean(connection, ids)}")
        checked[server] = connection
    return checked


def check_fields(services: Services, values: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of `values`, by name of field. Raises RequestError for a field or a value that is not allowed."""
    injection = services.paddock.injection
    known = {} if injection is None else {each.name: each for each in injection.fields}
    for name, value in values.items():
        if name not in known:
            raise RequestError(f"the context has no field {name!r}; {did_you_mean(name, known)}")
        problem = compile_schema(object_schema({name: _value_schema(known[name])})).problems({name: value}, "context")
        if problem is not None:
            raise RequestError(problem["summary"])
    return dict(values)


def session_state(session: Session | None) -> dict[str, Any]:
    """What `get_session_state` returns."""
    if session is None:
        return {"session_present": False, "state_scope": "request", "state_reason": "no_mcp_session"}
    return {"session_present": True, "state_scope": "session", "state_reason": session.state_reason}


def _field_description(field: Field) -> str:
    servers = "all servers" if EVERY_SERVER in field.servers else ", ".join(field.servers)
    added = f"Added to every later call to the tools of {servers}; do not pass it yourself."
    return f"{field.description.strip()} {added}".strip()


def _setter(name: str, description: str, fields: Mapping[str, Field]) -> SessionTool:
    """Return a tool that sets these fields. Its parameters have the names of the mapping's keys."""

    def act(context: Context, session: Session | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
        context.values.update({fields[parameter].name: value for parameter, value in arguments.items()})
        return _confirm(session, arguments)

    schemas = {parameter: _value_schema(each) for parameter, each in fields.items()}
    return SessionTool(_setter_spec(name, description, schemas), act)


_SELECT = "Choose the connection through which a server's tools are called from now on, by its id."


def _select_connections(context: Context, session: Session | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    context.connections.update(arguments)
    return _confirm(session, arguments)


def _confirm(session: Session | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if session is not None:
        session.state_reason = None
    return {"set": dict(arguments), "state_scope": session_state(session)["state_scope"]}


def _setter_spec(name: str, description: str, properties: Mapping[str, Any]) -> Tool:
    # A setter with one parameter requires it; a setter with several requires at least one.
    required = list(properties) if len(properties) == 1 else []
    return Tool(
        "",
        name,
        description,
        {**object_schema(properties, required), "minProperties": 1},
        object_schema(_SET, list(_SET)),
        Hints(read_only=False, destructive=False, idempotent=True, open_world=False),
        title=name.replace("_", " ").capitalize(),
    )


def _value_schema(field: Field) -> dict[str, Any]:
    if field.values:
        return {"type": "string", "enum": list(field.values)}
    # Control characters are not allowed; a header may contain only ASCII.
    allowed = f"^{HEADER_VALUE}$" if field.header else "^[^\\x00-\\x1f\\x7f]+$"
    return {"type": "string", "minLength": 1, "maxLength": TEXT_CHARACTERS, "pattern": allowed}


def _connection_schema(listed: Collection[Connection]) -> dict[str, Any]:
    titles = "; ".join(f"{each.id}: {each.title}" for each in listed if each.title)
    schema: dict[str, Any] = {"type": "string", "enum": [each.id for each in listed]}
    return schema | ({"description": titles} if titles else {})


_GET_STATE = SessionTool(
    Tool(
        "",
        "get_session_state",
        "Tell whether the context that you set is kept. Set it again before the next call if state_scope is "
        '"request" or state_reason is not null. Changes nothing. A script calls it with `call_tool`.',
        object_schema({}),
        object_schema(_STATE, list(_STATE)),
        Hints(read_only=True, idempotent=True, open_world=False),
        title="Get the session's state",
    ),
    lambda context, session, arguments: session_state(session),
    is_setter=False,
)
