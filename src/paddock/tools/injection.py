"""What the host adds to calls of upstream tools: fields of the context and connections, as `[context]` and
`[connections]` have them.

An argument that is added is no longer part of the tool that scripts, models and checks see: nobody can pass it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from paddock.model import envelope
from paddock.model.context import Context
from paddock.model.tools import Tool
from paddock.tools.hidden import without

EVERY_SERVER = "*"


@dataclass(frozen=True, slots=True)
class Injected:
    """What is added to one call. Its text form shows nothing of it."""

    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    meta: Mapping[str, Any] = field(default_factory=dict, repr=False)


NOTHING = Injected()


@dataclass(frozen=True, slots=True)
class Field:
    """A value that a session has, with the servers that get it and where in a call."""

    name: str
    parameter: str  # of the tool that sets it
    servers: tuple[str, ...]
    argument: str = ""
    header: str = ""
    meta: str = ""
    required_by: tuple[str, ...] = ()  # patterns of full names; a tool that requires the argument needs it anyway
    description: str = ""
    values: tuple[str, ...] = ()  # the only ones there are; none: any text
    default: str = ""

    @property
    def setter(self) -> str:
        """The tool that sets it."""
        return f"set_{self.name}"

    def concerns(self, server: str) -> bool:
        return server in self.servers or EVERY_SERVER in self.servers

    def value(self, context: Context) -> str:
        """What it is now; empty where it is not set."""
        return context.values.get(self.name) or self.default

    def is_needed(self, tool: Tool) -> bool:
        is_required = tool.added.get(self.argument, False)
        return is_required or any(fnmatchcase(tool.full_name, pattern) for pattern in self.required_by)


@dataclass(frozen=True, slots=True)
class Connection:
    """One of the accounts by which a server can be used. The first of a server is used where none is chosen."""

    id: str
    title: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    meta: Mapping[str, str] = field(default_factory=dict, repr=False)


_NO_CONNECTION = Connection("")


class Injection:
    """What a configuration adds to calls. `shown` is asked once for each tool, `of` for each call."""

    def __init__(self, fields: Collection[Field] = (), connections: Mapping[str, tuple[Connection, ...]] = {}) -> None:
        self.fields = tuple(fields)
        self.connections = dict(connections)
        self._names: dict[str, frozenset[str]] = {}

    def shown(self, tool: Tool) -> Tool:
        """The tool without the arguments that are added to its calls."""
        schema, added = without(tool.input_schema, self._arguments(tool.server))
        return replace(tool, input_schema=schema, added=added) if added else tool

    def names(self, server: str) -> frozenset[str]:
        """What no call of this server's tools may be given by hand."""
        if server not in self._names:
            self._names[server] = frozenset(self._arguments(server) | self.headers(server))
        return self._names[server]

    def headers(self, server: str) -> set[str]:
        """The names of those that are added to requests of this server."""
        headers = {each.header for each in self._fields(server) if each.header}
        return headers.union(*(each.headers for each in self.connections.get(server, ())))

    def missing(self, tool: Tool, context: Context) -> dict[str, Any] | None:
        """That the tool needs what is not set, as an envelope."""
        for each in self._fields(tool.server):
            if not each.value(context) and each.is_needed(tool):
                hint = f"Call {each.setter}({{'{each.parameter}': …}}) first, then call again."
                return envelope.precondition_failed(tool.full_name, each.name, [hint])
        return None

    def of(self, tool: Tool, context: Context) -> Injected:
        """What is added to a call of this tool."""
        chosen = self._connection(tool.server, context)
        arguments, headers, meta = dict(chosen.arguments), dict(chosen.headers), dict(chosen.meta)
        for each in self._fields(tool.server):
            value = each.value(context)
            for place, name in ((arguments, each.argument), (headers, each.header), (meta, each.meta)):
                if name and value:
                    place[name] = value
        return Injected({name: value for name, value in arguments.items() if name in tool.added}, headers, meta)

    def _fields(self, server: str) -> list[Field]:
        return [each for each in self.fields if each.concerns(server)]

    def _connection(self, server: str, context: Context) -> Connection:
        found = self.connections.get(server, (_NO_CONNECTION,))
        chosen = context.connection(server)
        return next((each for each in found if each.id == chosen), found[0])

    def _arguments(self, server: str) -> set[str]:
        arguments = {each.argument for each in self._fields(server) if each.argument}
        return arguments.union(*(each.arguments for each in self.connections.get(server, ())))
