"""`[context.FIELD]` and `[[connections.SERVER]]`, checked: what goes nowhere, or cannot get there, is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from paddock.errors import ConfigError
from paddock.model.words import nearest
from paddock.tools.credentials import forms, header_secrets, is_secret
from paddock.tools.injection import EVERY_SERVER, Connection, Field, Injection
from paddock.tools.server import Server
from paddock.tools.toolbox import may_match
from paddock.tools.variables import Variables

TEXT_CHARACTERS = 512
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
HEADER_VALUE = r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?"
_PLAIN = re.compile(HEADER_VALUE)
_TAKEN = frozenset(
    (
        *("host", "accept", "accept-encoding", "connection", "transfer-encoding", "last-event-id", "cookie"),
        *("expect", "keep-alive", "te", "trailer", "upgrade"),
    )
)
_LISTS = ("servers", "required_by", "values")
_PLACES = ("argument", "header", "meta")
_TABLES = ("arguments", "headers", "meta")


def parse(
    context: Mapping[str, Any],
    connections: Mapping[str, Any],
    servers: Iterable[Server],
    environ: Mapping[str, str] | None = None,
) -> tuple[Injection, tuple[Server, ...]]:
    """What is added to calls, and the servers, which know the credentials of their connections as secrets."""
    known = {server.name: server for server in servers}
    found = [_field(name, values, known) for name, values in context.items()]
    _told_apart(found)
    variables = Variables(os.environ if environ is None else environ)
    chosen: dict[str, tuple[Connection, ...]] = {}
    for name, listed in connections.items():
        _check_server(name, known, f"connections.{name}")
        chosen[name] = _connections(name, listed, known[name], variables)
        added = (*known[name].secrets, *variables.secrets, *_secrets(chosen[name]))
        known[name] = replace(known[name], secrets=forms(added), opening_headers=chosen[name][0].headers)
    _check_overlap(found, chosen)
    injection = Injection(found, chosen)
    return injection, tuple(replace(one, keeps_cookies=not injection.headers(one.name)) for one in known.values())


def _field(name: str, values: Any, servers: Mapping[str, Server]) -> Field:
    origin = getattr(values, "origin", "")  # the file or the variable that it is from
    where = f"{origin}: context.{name}" if origin else f"context.{name}"
    if not _NAME.fullmatch(name) or name == "context":
        raise ConfigError(f"{where}: a field has a name such as 'region': letters, digits and _, and not 'context'")
    keys = [each.name for each in fields(Field) if each.name != "name"]
    settings = _settings(values, keys, where)
    for key in _LISTS:
        listed = settings.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(item, str) and item for item in listed):
            raise ConfigError(f"{where}.{key} must be a list of texts, not {listed!r}")
        settings[key] = tuple(listed)
    for key in settings.keys() - set(_LISTS):
        _text(settings[key], f"{where}.{key}")
    made = Field(name, **{"parameter": name, **settings})
    if not _NAME.fullmatch(made.parameter):
        raise ConfigError(f"{where}.parameter must be a name such as 'region_id', not {made.parameter!r}")
    if not made.servers:
        raise ConfigError(f'{where}.servers must say which upstreams get it, such as ["crm"], or ["*"] for all')
    if not any(getattr(made, place) for place in _PLACES):
        raise ConfigError(f"{where} goes nowhere: say its argument, its header or its meta")
    for server in made.servers:
        if server != EVERY_SERVER:
            _check_server(server, servers, f"{where}.servers")
    for pattern in made.required_by:
        if not any(may_match(pattern, server) for server in servers if made.concerns(server)):
            raise ConfigError(f"{where}.required_by: {pattern!r} matches no tool of the servers that get it")
    _check_places(made, servers, where)
    if made.values and made.default and made.default not in made.values:
        raise ConfigError(f"{where}.default is {made.default!r}, which is none of its values")
    return made


def _check_places(made: Field, servers: Mapping[str, Server], where: str) -> None:
    if made.header:
        _check_header(made.header, f"{where}.header")
        for text in (*made.values, made.default):
            _check_header_value(text, f"{where}: {text!r}")
    _check_meta(made.meta, f"{where}.meta")
    for server in servers.values():
        if made.concerns(server.name) and server.transport == "stdio" and not (made.argument or made.meta):
            raise ConfigError(
                f"{where}.header cannot reach the upstream {server.name!r}, which has no headers: it is started by a "
                "command; give an argument or meta too, or name other servers"
            )


def _told_apart(found: list[Field]) -> None:
    for key in ("parameter", *_PLACES):
        seen: dict[str, Field] = {}
        for each in found:
            name = getattr(each, key).lower() if key == "header" else getattr(each, key)
            other = seen.setdefault(name, each)
            if name and other is not each and (key == "parameter" or _share(each, other)):
                raise ConfigError(f"context.{each.name}.{key} is that of context.{other.name} too; change one")


def _share(one: Field, other: Field) -> bool:
    return EVERY_SERVER in (*one.servers, *other.servers) or bool(set(one.servers).intersection(other.servers))


def _connections(name: str, listed: Any, server: Server, variables: Variables) -> tuple[Connection, ...]:
    where = f"connections.{name}"
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{where} must be a list of connections, each a table [[{where}]] with an id")
    made: list[Connection] = []
    for number, values in enumerate(listed, 1):
        place = f"{where}, number {number}"
        settings = _settings(values, [each.name for each in fields(Connection)], place)
        for key in settings.keys() - set(_TABLES):
            _text(settings[key], f"{place}.{key}")
        for key in _TABLES:
            settings[key] = _filled(settings.get(key, {}), variables, f"{place}.{key}")
        connection = Connection(**{"id": "", **settings})
        if not connection.id or connection.id in [each.id for each in made]:
            raise ConfigError(f"{place} must have an id that no other connection of {name!r} has")
        if connection.headers and server.transport == "stdio":
            raise ConfigError(f"{place}.headers cannot reach {name!r}, which is started by a command; use arguments")
        for header, value in connection.headers.items():
            _check_header(header, f"{place}.headers")
            _check_header_value(value, f"{place}.headers.{header}")
        for key in connection.meta:
            _check_meta(key, f"{place}.meta")
        made.append(connection)
    return tuple(made)


def _secrets(connections: Iterable[Connection]) -> Iterable[str]:
    for each in connections:
        for name, value in each.headers.items():
            yield from header_secrets(name, value)
        for name, value in (*each.arguments.items(), *each.meta.items()):
            if value != each.id and is_secret(name, value):
                yield value


def _check_overlap(found: Iterable[Field], chosen: Mapping[str, tuple[Connection, ...]]) -> None:
    for server, connections in chosen.items():
        for each in found:
            lowered = {name.lower() for one in connections for name in one.headers}
            taken = any(each.argument in one.arguments or each.meta in one.meta for one in connections)
            if each.concerns(server) and (taken or each.header.lower() in lowered):
                raise ConfigError(f"connections.{server} sets what context.{each.name} sets too; change one")


def _settings(values: Any, keys: list[str], where: str) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where} must be a table of settings, not {values!r}")
    for key in values:
        if key not in keys:
            near = nearest(key, keys)
            hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(keys)}"
            raise ConfigError(f"{where}: unknown setting {key!r}; {hint}")
    return dict(values)


def _filled(values: Any, variables: Variables, where: str) -> dict[str, str]:
    if not isinstance(values, Mapping) or not all(isinstance(value, str) for value in values.values()):
        raise ConfigError(f"{where} must be a table of texts")
    return {name: variables.expand(value, where) for name, value in values.items()}


def _text(value: Any, where: str) -> None:
    if not isinstance(value, str) or len(value) > TEXT_CHARACTERS:
        raise ConfigError(f"{where} must be text of at most {TEXT_CHARACTERS} characters, not {value!r}")


def _check_server(name: str, servers: Mapping[str, Server], where: str) -> None:
    if name not in servers:
        near = nearest(name, servers)
        known = f"there is: {', '.join(servers) or 'none'}; those of another file come with --mcp-config"
        raise ConfigError(f"{where}: there is no upstream {name!r}; {f'did you mean {near!r}?' if near else known}")


def _check_header(name: str, where: str) -> None:
    if not _HEADER.fullmatch(name) or name.lower() in _TAKEN or name.lower().startswith(("mcp-", "content-")):
        raise ConfigError(f"{where}: {name!r} is no header that can be added: it is of the transport, or malformed")


def _check_header_value(value: str, where: str) -> None:
    if value and not _PLAIN.fullmatch(value):
        raise ConfigError(f"{where}: a header holds printable ASCII characters alone, and no space at either end")


def _check_meta(name: str, where: str) -> None:
    if name == "progressToken" or name.startswith(("io.modelcontextprotocol/", "modelcontextprotocol")):
        raise ConfigError(f"{where}: {name!r} is the protocol's own")
