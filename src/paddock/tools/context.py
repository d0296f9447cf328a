"""Values that the host adds to calls of upstream tools: context fields and connections.

They are configured in `[context]` and `[connections]`. An argument that the host adds is removed from the schema that
scripts and models see, and refused if a script passes it. Otherwise a script could choose whose data it gets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from paddock.config_checks import read_table
from paddock.errors import ConfigError
from paddock.model import envelope
from paddock.model.request import Context
from paddock.model.spelling import did_you_mean
from paddock.model.tools import Tool
from paddock.tools.catalogue import may_match
from paddock.tools.schema import resolve_pointer
from paddock.tools.secrets import credentials, header_secrets, is_credential, names_a_secret

if TYPE_CHECKING:
    from paddock.tools.mcp_config import Server, Variables

EVERY_SERVER = "*"
TEXT_CHARACTERS = 512
HEADER_VALUE = r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?"
MAX_SCHEMAS = 500
MAX_DEPTH = 20
MAX_FORBIDDEN = 20
"""How many arguments that a script must not pass are named: it can pass hundreds of thousands."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(HEADER_VALUE)
_TRANSPORT_HEADERS = frozenset(
    (
        *("host", "accept", "accept-encoding", "connection", "transfer-encoding", "last-event-id", "cookie"),
        *("expect", "keep-alive", "te", "trailer", "upgrade"),
    )
)
_DESTINATIONS = ("argument", "header", "meta")
# Arguments that say on whose behalf a call is made, as `_normalise` writes them.
_IDENTITIES = frozenset(
    {"connectionid", "pcid", "sessionid", "mcpsessionid", "identityid", "activeidentity", "activeprofile"}
)
_Text = Annotated[str, msgspec.Meta(max_length=TEXT_CHARACTERS)]


@dataclass(frozen=True, slots=True)
class Injected:
    """The values that are added to one call. Its `repr` does not show them."""

    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    meta: Mapping[str, Any] = field(default_factory=dict, repr=False)


NOTHING = Injected()


@dataclass(frozen=True, slots=True)
class Field:
    """A context field: a value of the session, the servers that get it, and the part of a call that it goes into."""

    name: str = ""
    parameter: str = ""  # the parameter's name in the tool that sets the field
    servers: tuple[str, ...] = ()
    argument: _Text = ""
    header: _Text = ""
    meta: _Text = ""
    required_by: tuple[str, ...] = ()  # patterns of tools that need the field although their schema does not require it
    description: _Text = ""
    values: tuple[str, ...] = ()  # the allowed values; if empty, any text is allowed
    default: _Text = ""

    @property
    def setter(self) -> str:
        """The name of the tool that sets the field."""
        return f"set_{self.name}"

    def applies_to(self, server: str) -> bool:
        return server in self.servers or EVERY_SERVER in self.servers

    def value(self, context: Context) -> str:
        """The current value, or the default; empty if neither is set."""
        return context.values.get(self.name) or self.default

    def is_needed(self, tool: Tool) -> bool:
        is_required = tool.injected.get(self.argument, False)
        return is_required or any(fnmatchcase(tool.full_name, pattern) for pattern in self.required_by)


@dataclass(frozen=True, slots=True)
class Connection:
    """An account on a server. A server's first connection is the default."""

    id: _Text = ""
    title: _Text = ""
    arguments: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    meta: Mapping[str, str] = field(default_factory=dict, repr=False)


_NO_CONNECTION = Connection()


class Injection:
    """The values that a configuration adds to calls.

    `hide_arguments` is called once for each listed tool, `values_for` once for each call.
    """

    def __init__(self, fields: Collection[Field] = (), connections: Mapping[str, tuple[Connection, ...]] = {}) -> None:
        self.fields = tuple(fields)
        self.connections = dict(connections)

    def hide_arguments(self, tool: Tool) -> Tool:
        """The tool without the arguments that are added to its calls."""
        schema, added = without_arguments(tool.input_schema, self._arguments(tool.server))
        return replace(tool, input_schema=schema, injected=added) if added else tool

    def names(self, server: str) -> frozenset[str]:
        """The arguments and headers that the host adds to calls of this server."""
        return frozenset(self._arguments(server) | self.headers(server))

    def headers(self, server: str) -> set[str]:
        """The names of the headers that are added to requests to this server."""
        headers = {each.header for each in self._fields(server) if each.header}
        return headers.union(*(each.headers for each in self.connections.get(server, ())))

    def missing(self, tool: Tool, context: Context) -> dict[str, Any] | None:
        """An envelope if the tool needs a field that is not set, else None."""
        for each in self._fields(tool.server):
            if not each.value(context) and each.is_needed(tool):
                hint = f"Call {each.setter}({{'{each.parameter}': …}}) first, then call again."
                return envelope.precondition_failed(tool.full_name, each.name, [hint])
        return None

    def values_for(self, tool: Tool, context: Context) -> Injected:
        """The values that are added to a call of this tool."""
        chosen = self._connection(tool.server, context)
        arguments, headers, meta = dict(chosen.arguments), dict(chosen.headers), dict(chosen.meta)
        for each in self._fields(tool.server):
            value = each.value(context)
            for target, name in ((arguments, each.argument), (headers, each.header), (meta, each.meta)):
                if name and value:
                    target[name] = value
        return Injected({name: value for name, value in arguments.items() if name in tool.injected}, headers, meta)

    def _fields(self, server: str) -> list[Field]:
        return [each for each in self.fields if each.applies_to(server)]

    def _connection(self, server: str, context: Context) -> Connection:
        connections = self.connections.get(server, (_NO_CONNECTION,))
        chosen = context.connection(server)
        return next((each for each in connections if each.id == chosen), connections[0])

    def _arguments(self, server: str) -> set[str]:
        arguments = {each.argument for each in self._fields(server) if each.argument}
        return arguments.union(*(each.arguments for each in self.connections.get(server, ())))


def forbidden_arguments(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], added: Collection[str] = ()
) -> list[str]:
    """The first arguments that only the host may pass: those it adds, and credentials, context and connection ids.

    A credential, context or connection id that the tool itself declares may be passed to it.
    """
    plain = {_normalise(name) for name in added}
    if not any(_looks_injected(name) or (plain and _normalise(name) in plain) for name in arguments):
        return []
    properties = schema.get("properties")
    declared = set(map(_normalise, properties)) if isinstance(properties, Mapping) else set()

    def is_forbidden(name: str) -> bool:
        key = _normalise(name)
        return key in plain or (key not in declared and _looks_injected(name))

    return list(islice(filter(is_forbidden, arguments), MAX_FORBIDDEN))


def _looks_injected(name: str) -> bool:
    return name in ("_meta", "headers") or _normalise(name) in _IDENTITIES or names_a_secret(name)


def _normalise(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name[-100:].lower())


def without_arguments(schema: Mapping[str, Any], names: Collection[str]) -> tuple[Mapping[str, Any], dict[str, bool]]:
    """`schema` without the arguments `names`, and for each removed argument whether it was required.

    The schema is untrusted: this never raises, and parts that are too large to search stay unchanged.
    """
    stripper = _SchemaStripper(schema, frozenset(names))
    stripped = stripper.strip(schema, is_certain=True)
    return (stripped, stripper.found) if stripper.found else (schema, {})


class _SchemaStripper:
    """Removes arguments from a schema. `found` says for each removed argument whether it was required."""

    def __init__(self, root: Mapping[str, Any], names: frozenset[str]) -> None:
        self._root, self._names = root, names
        self._schemas_left, self._depth, self._hits = MAX_SCHEMAS, 0, 0
        self.found: dict[str, bool] = {}

    def strip(self, schema: Any, *, is_certain: bool) -> Any:
        """Strip a schema of the arguments object. `is_certain` is whether it applies to every call."""
        if not isinstance(schema, Mapping) or self._schemas_left <= 0 or self._depth > MAX_DEPTH:
            return schema
        self._schemas_left -= 1
        self._depth += 1
        result = self._inline(self._strip_keywords(schema, is_certain=is_certain), is_certain=is_certain)
        self._depth -= 1
        return result

    def _strip_keywords(self, schema: Mapping[str, Any], *, is_certain: bool) -> dict[str, Any]:
        result = dict(schema)
        if isinstance(properties := schema.get("properties"), Mapping):
            self._record(properties, is_required=False)
            result["properties"] = {name: value for name, value in properties.items() if name not in self._names}
            if type(least := schema.get("minProperties")) is int:  # arguments that the host adds count too
                result["minProperties"] = max(least - len(properties) + len(result["properties"]), 0)
        if isinstance(required := schema.get("required"), list):
            self._record(required, is_required=is_certain)
            result["required"] = self._without_names(required)
        if isinstance(dependent := schema.get("dependentRequired"), Mapping):
            kept = {name: self._without_names(listed) for name, listed in dependent.items() if name not in self._names}
            result["dependentRequired"] = kept
        for key in ("allOf", "anyOf", "oneOf"):
            if isinstance(listed := schema.get(key), list):
                result[key] = [self.strip(one, is_certain=is_certain and key == "allOf") for one in listed]
        for key in ("then", "else"):
            if key in schema:
                result[key] = self.strip(schema[key], is_certain=False)
        return result

    def _inline(self, schema: dict[str, Any], *, is_certain: bool) -> dict[str, Any]:
        """Replace a reference with its stripped target, if the target has one of the arguments."""
        hits_before = self._hits
        inner = self.strip(resolve_pointer(self._root, schema.get("$ref")), is_certain=is_certain)
        if self._hits == hits_before:
            return schema
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        also = rest.get("allOf")
        return {**rest, "allOf": [*(also if isinstance(also, list) else ()), inner]}

    def _record(self, names: Any, *, is_required: bool) -> None:
        for name in names:
            if isinstance(name, str) and name in self._names:
                self._hits += 1
                self.found[name] = self.found.get(name, False) or is_required

    def _without_names(self, listed: Any) -> Any:
        if not isinstance(listed, list):
            return listed
        return [name for name in listed if not (isinstance(name, str) and name in self._names)]


def parse(
    context: Mapping[str, Any],
    connections: Mapping[str, Any],
    servers: Iterable[Server],
) -> tuple[Injection, tuple[Server, ...]]:
    """Parse `[context.FIELD]` and `[[connections.SERVER]]`. Also returns the servers with the added secrets."""
    from paddock.tools.mcp_config import Variables

    known = {server.name: server for server in servers}
    found = [_field(name, values, known) for name, values in context.items()]
    _check_clashes(found)
    variables = Variables(None)
    chosen: dict[str, tuple[Connection, ...]] = {}
    for name, listed in connections.items():
        _check_server(name, known, f"connections.{name}")
        chosen[name] = _connections(name, listed, known[name], variables)
        added = (*known[name].secrets, *variables.secrets, *_secrets(chosen[name]))
        known[name] = replace(known[name], secrets=credentials(added), opening_headers=chosen[name][0].headers)
    _check_overlap(found, chosen)
    injection = Injection(found, chosen)
    return injection, tuple(_adapted(one, injection.headers(one.name)) for one in known.values())


def _adapted(server: Server, headers: Collection[str]) -> Server:
    """The server if `headers` are added to its requests. One that gets an `Authorization` header needs no login."""
    oauth = None if "authorization" in map(str.lower, headers) else server.oauth
    return replace(server, keeps_cookies=not headers, oauth=oauth)


def _field(name: str, values: Any, servers: Mapping[str, Server]) -> Field:
    origin = getattr(values, "origin", "")  # the file or environment variable that the table comes from
    where = f"{origin}: context.{name}" if origin else f"context.{name}"
    if not _NAME.fullmatch(name) or name == "context":
        raise ConfigError(
            f"{where}: a field needs a name such as 'region': lower-case letters, digits and _; not 'context'"
        )
    result = read_table(values, Field, where)
    result = replace(result, name=name, parameter=result.parameter or name)
    if not _NAME.fullmatch(result.parameter):
        raise ConfigError(f"{where}.parameter must be a name such as 'region_id', not {result.parameter!r}")
    if not result.servers:
        raise ConfigError(f'{where}.servers must list the upstreams that get it, such as ["crm"], or ["*"] for all')
    if not any(getattr(result, name) for name in _DESTINATIONS):
        raise ConfigError(f"{where} has no destination; set argument, header or meta")
    for server in result.servers:
        if server != EVERY_SERVER:
            _check_server(server, servers, f"{where}.servers")
    for pattern in result.required_by:
        if not any(may_match(pattern, server) for server in servers if result.applies_to(server)):
            raise ConfigError(f"{where}.required_by: {pattern!r} matches no tool of the servers that get it")
    _check_destinations(result, servers, where)
    if result.values and result.default and result.default not in result.values:
        raise ConfigError(f"{where}.default is {result.default!r}, which is not one of its values")
    return result


def _check_destinations(each: Field, servers: Mapping[str, Server], where: str) -> None:
    headers = [(each.header, value) for value in (*each.values, each.default)] if each.header else []
    _check_names(headers, [each.meta], where)
    for server in servers.values():
        if each.applies_to(server.name) and server.transport == "stdio" and not (each.argument or each.meta):
            raise ConfigError(
                f"{where}.header cannot reach the upstream {server.name!r}, which has no headers: it is started by a "
                "command; give an argument or meta too, or name other servers"
            )


def _check_clashes(found: list[Field]) -> None:
    for key in ("parameter", *_DESTINATIONS):
        seen: dict[str, Field] = {}
        for each in found:
            name = getattr(each, key).lower() if key == "header" else getattr(each, key)
            other = seen.setdefault(name, each)
            if name and other is not each and (key == "parameter" or _share_a_server(each, other)):
                raise ConfigError(f"context.{each.name}.{key} is also used by context.{other.name}; change one")


def _share_a_server(one: Field, other: Field) -> bool:
    return EVERY_SERVER in (*one.servers, *other.servers) or bool(set(one.servers).intersection(other.servers))


def _connections(name: str, listed: Any, server: Server, variables: Variables) -> tuple[Connection, ...]:
    where = f"connections.{name}"
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{where} must be a list of connections, each a table [[{where}]] with an id")
    checked: list[Connection] = []
    for number, values in enumerate(listed, 1):
        label = f"{where}, number {number}"
        given = read_table(values, Connection, label)
        connection = replace(
            given,
            arguments=variables.expand_all(given.arguments, f"{label}.arguments"),
            headers=variables.expand_all(given.headers, f"{label}.headers"),
            meta=variables.expand_all(given.meta, f"{label}.meta"),
        )
        if not connection.id or connection.id in [each.id for each in checked]:
            raise ConfigError(f"{label} must have an id that is unique among the connections of {name!r}")
        if connection.headers and server.transport == "stdio":
            raise ConfigError(f"{label}.headers cannot reach {name!r}, which is started by a command; use arguments")
        _check_names(connection.headers.items(), connection.meta, label)
        checked.append(connection)
    return tuple(checked)


def _secrets(connections: Iterable[Connection]) -> Iterable[str]:
    for each in connections:
        for name, value in each.headers.items():
            yield from header_secrets(name, value)
        for name, value in (*each.arguments.items(), *each.meta.items()):
            if value != each.id and is_credential(name, value):
                yield value


def _check_overlap(found: Iterable[Field], chosen: Mapping[str, tuple[Connection, ...]]) -> None:
    for server, connections in chosen.items():
        for each in found:
            lowered = {name.lower() for one in connections for name in one.headers}
            is_taken = any(each.argument in one.arguments or each.meta in one.meta for one in connections)
            if each.applies_to(server) and (is_taken or each.header.lower() in lowered):
                raise ConfigError(
                    f"connections.{server} and context.{each.name} set the same argument, header or meta; change one"
                )


def _check_server(name: str, servers: Mapping[str, Server], where: str) -> None:
    if name not in servers:
        known = f"known: {', '.join(servers) or 'none'}; --mcp-config adds the servers of another file"
        raise ConfigError(f"{where}: there is no upstream {name!r}; {did_you_mean(name, servers, known)}")


def _check_names(headers: Iterable[tuple[str, str]], meta: Iterable[str], where: str) -> None:
    """Refuse malformed headers, and names that belong to the transport or the protocol."""
    for name, value in headers:
        is_taken = name.lower() in _TRANSPORT_HEADERS or name.lower().startswith(("mcp-", "content-"))
        if not _HEADER.fullmatch(name) or is_taken:
            raise ConfigError(
                f"{where}: {name!r} cannot be added as a header: it is malformed, or belongs to the transport"
            )
        if value and not _HEADER_VALUE.fullmatch(value):
            raise ConfigError(
                f"{where}: the value of the header {name!r} must consist of printable ASCII characters "
                "without leading or trailing spaces"
            )
    for name in meta:
        if name == "progressToken" or name.startswith(("io.modelcontextprotocol/", "modelcontextprotocol")):
            raise ConfigError(f"{where}: {name!r} is reserved by the protocol; choose another name for meta")
