"""Which MCP servers there are, from the files that users already have.

Read are `mcpServers` (Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI), VS Code's `servers` with `inputs`,
and `[upstreams.NAME]` of paddock.toml, which has the same keys.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddock.errors import ConfigError
from paddock.model.words import nearest
from paddock.tools import json_comments
from paddock.tools.server import Server
from paddock.tools.server_settings import Settings, kind_of
from paddock.tools.variables import Variables

NAME_CHARACTERS = 128


def read(
    path: str | Path, environ: Mapping[str, str] | None = None, inputs: Mapping[str, str] | None = None
) -> tuple[Server, ...]:
    """The servers that the file at `path` configures."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigError(f"cannot read {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text") from None
    try:
        value = json_comments.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path} is not JSON: {problem}") from None
    return parse(value, environ, inputs=inputs, origin=str(path))


def parse(
    value: Any,
    environ: Mapping[str, str] | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    origin: str = "the configuration",
) -> tuple[Server, ...]:
    """The servers of a client's whole file: `mcpServers`, or VS Code's `servers` and `inputs`, also under `mcp`."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{origin}: expected an object with 'mcpServers' or 'servers', not {kind_of(value)}")
    if isinstance(value.get("mcp"), Mapping):  # VS Code's settings.json
        return parse(value["mcp"], environ, inputs=inputs, origin=f"{origin}: mcp")
    found = [key for key in ("mcpServers", "servers") if key in value]
    for key in value:
        near = nearest(key, ("mcpServers", "servers", "inputs")) if key not in (*found, "inputs") else None
        if near is not None:
            raise ConfigError(f"{origin}: unknown key {key!r}; did you mean {near!r}?")
    if len(found) != 1:
        problem = "has both 'mcpServers' and 'servers'" if found else "has neither 'mcpServers' nor 'servers'"
        raise ConfigError(f"{origin}: it {problem}; put every server under one 'mcpServers'")
    variables = Variables(_environ(environ), _declared(value.get("inputs", []), origin), inputs, str(Path.cwd()))
    return _servers(value[found[0]], variables, f"{origin}: {found[0]}")


def parse_tables(
    tables: Any, environ: Mapping[str, str] | None = None, *, origin: str = "the configuration"
) -> tuple[Server, ...]:
    """The servers of `[upstreams.NAME]`, as TOML gives them. Each may come from a file, or a variable, of its own."""
    variables = Variables(_environ(environ), folder=str(Path.cwd()))
    if not isinstance(tables, Mapping):
        return _servers(tables, variables, f"{origin}: upstreams")  # which says what is wrong
    found = (
        _servers({name: values}, variables, f"{origin_of(values, origin)}: upstreams")
        for name, values in tables.items()
    )
    return tuple(server for servers in found for server in servers)


def origin_of(table: Any, origin: str = "the configuration") -> str:
    """The file or variable that a table is from, where it knows that."""
    return str(getattr(table, "origin", origin))


def _environ(environ: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environ is None else environ


def _declared(value: Any, origin: str) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, Mapping) and "id" in item for item in value):
        raise ConfigError(f"{origin}: 'inputs' must be a list of objects that each have an 'id'")
    return value


def _servers(tables: Any, variables: Variables, where: str) -> tuple[Server, ...]:
    if not isinstance(tables, Mapping):
        raise ConfigError(f"{where} must hold an object for each server, not {kind_of(tables)}")
    servers = []
    for name, values in tables.items():
        place = f"{where}: server {name!r}"
        if not name.strip() or len(name) > NAME_CHARACTERS or not name.isprintable():
            raise ConfigError(f"{place}: a name has 1 to {NAME_CHARACTERS} printable characters")
        if not isinstance(values, Mapping):
            raise ConfigError(f"{place} must be an object of settings, not {kind_of(values)}")
        if _is_on(values, place):
            servers.append(Settings(name, values, variables, place).server())
    return tuple(servers)


def _is_on(values: Mapping[str, Any], where: str) -> bool:
    for key in ("disabled", "enabled"):
        if not isinstance(values.get(key, False), bool):
            raise ConfigError(f"{where}: {key!r} must be true or false, not {values[key]!r}")
    return not values.get("disabled", False) and values.get("enabled", True)
