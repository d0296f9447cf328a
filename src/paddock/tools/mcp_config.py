"""Reads the configuration of MCP servers from the files of common clients.

It accepts `mcpServers` (Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI), VS Code's `servers` with `inputs`,
and `[upstreams.NAME]` of paddock.toml, with the same keys. An unknown key is an error, because a server whose setting
is silently ignored would run differently from what its user believes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from paddock.errors import ConfigError
from paddock.model.words import did_you_mean, nearest
from paddock.tools.secrets import REDACTED, credential_forms, header_secrets, is_credential, redact, url_secrets

if TYPE_CHECKING:
    from paddock.config import Config

Transport = Literal["stdio", "http", "sse"]
NAME_CHARACTERS = 128
TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "streamablehttp": "http",
    "sse": "sse",
}
URL_KEYS = ("url", "serverUrl", "httpUrl")
TIMES = {
    "connect_seconds": "connect_seconds",
    "startup_timeout_sec": "connect_seconds",
    "timeout_seconds": "timeout_seconds",
    "tool_timeout_sec": "timeout_seconds",
    "timeout": "timeout_seconds",
}
LISTS = {
    "includeTools": "include_tools",
    "enabledTools": "include_tools",
    "enabled_tools": "include_tools",
    "include_tools": "include_tools",
    "excludeTools": "exclude_tools",
    "disabledTools": "exclude_tools",
    "disabled_tools": "exclude_tools",
    "exclude_tools": "exclude_tools",
}
IGNORED = frozenset(
    # Settings of other clients. Paddock has its own approval policy; the others concern their user interface.
    {"alwaysAllow", "autoApprove", "trust", "icon", "iconUrl", "description", "title", "name", "note", "comment"}
    | {"_comment", "//", "gallery", "version", "dev", "provider", "tags", "category", "homepage", "$schema"}
)
NUMBERS = ("concurrency", "answer_bytes", "calls_per_minute")
KEYS = (
    *("type", "transport", "command", "args", "env", "envFile", "cwd", "headers", "disabled", "enabled"),
    *(*URL_KEYS, *TIMES, *LISTS, *NUMBERS),
)
_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_VARIABLE_NAME = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False)
class Server:
    """One configured MCP server. Its `repr` shows no credentials."""

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    opening_headers: Mapping[str, str] = field(default_factory=dict)  # for requests that are not calls
    keeps_cookies: bool = True  # False if calls are made on behalf of different users
    or_sse: bool = False  # the URL may use the older HTTP transport
    connect_seconds: float = 30.0
    timeout_seconds: float = 60.0  # for a call, unless its caller says otherwise
    concurrency: int = 16
    calls_per_minute: int | None = None  # None: no limit
    answer_bytes: int = 16 * 1024 * 1024
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()  # the `credential_forms` of its credentials

    @property
    def place(self) -> str:
        """The command, or the URL without credentials and query, for display."""
        if self.transport == "stdio":
            return redact(" ".join((self.command, *self.args)), self.secrets)
        parts = urlsplit(self.url)
        query = "?…" if parts.query else ""
        return redact(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}", self.secrets)

    def __repr__(self) -> str:
        shown = dict.fromkeys((*self.env, *self.headers, *self.opening_headers), REDACTED)
        return f"Server({self.name!r}, {self.transport!r}, {self.place!r}, {shown})"


def configured_servers(config: Config, mcp_config: str | Path | None) -> tuple[Server, ...]:
    """The servers of the configuration and of the file `mcp_config`. ConfigError if two have the same name."""
    found = {server.name: server for server in parse_tables(config.upstreams)}
    for server in () if mcp_config is None else read(mcp_config):
        if server.name in found:
            other = origin_of(config.upstreams[server.name])
            raise ConfigError(f"{mcp_config}: the upstream {server.name!r} is also in {other}; rename one")
        found[server.name] = server
    _check_prefixes(found)
    return tuple(found.values())


def _check_prefixes(names: Iterable[str]) -> None:
    """Refuse server names with which two servers could have tools of the same full name."""
    known = set(names)
    for name in known:
        dots = (place for place, mark in enumerate(name) if mark == ".")
        if (other := next((name[:place] for place in dots if name[:place] in known), None)) is not None:
            raise ConfigError(
                f"the upstream {name!r} is named like a tool of the upstream {other!r}: "
                "their tools could not be told apart; rename one"
            )


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
        value = json_with_comments(text)
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
        raise ConfigError(f"{origin}: expected an object with 'mcpServers' or 'servers', not {_kind(value)}")
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
    declared = value.get("inputs", [])
    if not isinstance(declared, list) or not all(isinstance(item, Mapping) and "id" in item for item in declared):
        raise ConfigError(f"{origin}: 'inputs' must be a list of objects that each have an 'id'")
    variables = Variables(os.environ if environ is None else environ, declared, inputs, str(Path.cwd()))
    return _servers(value[found[0]], variables, f"{origin}: {found[0]}")


def parse_tables(
    tables: Any, environ: Mapping[str, str] | None = None, *, origin: str = "the configuration"
) -> tuple[Server, ...]:
    """The servers of `[upstreams.NAME]` tables. Each table may come from a different file."""
    variables = Variables(os.environ if environ is None else environ, folder=str(Path.cwd()))
    if not isinstance(tables, Mapping):
        return _servers(tables, variables, f"{origin}: upstreams")  # raises an error that explains the problem
    found = (
        _servers({name: values}, variables, f"{origin_of(values, origin)}: upstreams")
        for name, values in tables.items()
    )
    return tuple(server for servers in found for server in servers)


def origin_of(table: Any, origin: str = "the configuration") -> str:
    """The file or variable that a table comes from, if it is known."""
    return str(getattr(table, "origin", origin))


def json_with_comments(text: str) -> Any:
    """Parse JSON as editors write their settings: with comments and trailing commas. Raises ValueError."""
    return json.loads(_blank(_COMMA, _blank(_COMMENT, text.removeprefix("\ufeff"))))


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """Replace matches that are not strings with blanks, so that positions stay the same."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])

    return pattern.sub(blank, text)


def _servers(tables: Any, variables: Variables, where: str) -> tuple[Server, ...]:
    if not isinstance(tables, Mapping):
        raise ConfigError(f"{where} must hold an object for each server, not {_kind(tables)}")
    servers = []
    for name, values in tables.items():
        place = f"{where}: server {name!r}"
        if not name.strip() or len(name) > NAME_CHARACTERS or not name.isprintable():
            raise ConfigError(f"{place}: a name has 1 to {NAME_CHARACTERS} printable characters")
        if not isinstance(values, Mapping):
            raise ConfigError(f"{place} must be an object of settings, not {_kind(values)}")
        if _is_enabled(values, place):
            servers.append(_Settings(name, values, variables, place).server())
    return tuple(servers)


def _is_enabled(values: Mapping[str, Any], where: str) -> bool:
    for key in ("disabled", "enabled"):
        if not isinstance(values.get(key, False), bool):
            raise ConfigError(f"{where}: {key!r} must be true or false, not {values[key]!r}")
    return not values.get("disabled", False) and values.get("enabled", True)


class Variables:
    """Fills in `${…}` in the spellings of the various clients, and remembers the values that are secret."""

    def __init__(
        self,
        environ: Mapping[str, str],
        declared: Sequence[Mapping[str, Any]] = (),
        inputs: Mapping[str, str] | None = None,
        folder: str = "",
    ) -> None:
        self._environ = environ
        self._declared = {str(item["id"]): item for item in declared}
        self._inputs = inputs or {}
        self._folder = folder
        self.secrets: set[str] = set()

    def expand(self, text: str, where: str) -> str:
        """`text` with its variables filled in. `where` is the start of the message about a missing one."""
        return _VARIABLE.sub(lambda found: self._value(found[1], where), text)

    def _value(self, variable: str, where: str) -> str:
        if variable.startswith("input:"):
            return self._input(variable.removeprefix("input:"), where)
        if variable in ("workspaceFolder", "userHome"):
            return self._folder if variable == "workspaceFolder" else self._environ.get("HOME", "")
        found = _VARIABLE_NAME.fullmatch(variable)
        if found is None:
            known = "${VAR}, ${env:VAR}, ${VAR:-default}, ${input:ID}, ${workspaceFolder} and ${userHome}"
            raise ConfigError(f"{where}: ${{{variable}}} is not a known variable; use {known}")
        name, default = found[1], found[2]
        value = self._environ.get(name)
        if not value and default is not None:
            return str(default)
        if value is None:
            raise ConfigError(
                f"{where}: the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
            )
        return self._record_secret(name, value)

    def _input(self, name: str, where: str) -> str:
        declared = self._declared.get(name)
        variable = re.sub(r"\W", "_", name).upper()
        sources: tuple[Callable[[], Any], ...] = (
            lambda: self._inputs.get(name),
            lambda: self._environ.get(name),
            lambda: self._environ.get(variable),
            lambda: (declared or {}).get("default"),
        )
        value = next((str(found) for source in sources if (found := source()) is not None), None)
        if value is None:
            hint = did_you_mean(
                name, () if declared else self._declared, f"set the environment variable {variable} to it"
            )
            raise ConfigError(f"{where}: the input {name!r} has no value; {hint}")
        if declared and declared.get("password") is True:
            self.secrets.add(value)
        return self._record_secret(name, value)

    def _record_secret(self, name: str, value: str) -> str:
        if is_credential(name, value):
            self.secrets.add(value)
        return value


class _Settings:
    """The validated settings of one server, with variables filled in."""

    def __init__(self, name: str, values: Mapping[str, Any], variables: Variables, where: str) -> None:
        self._name = name
        self._values = values
        self._variables = variables
        self._where = where

    def server(self) -> Server:
        self._refuse_unknown_keys()
        transport, or_sse = self._transport()
        env = {**self._env_file(), **self._texts("env")}
        headers, url = self._texts("headers"), self._url()
        args = tuple(self._text(item, "args") for item in self._list("args"))
        command, cwd = self._text(self._values.get("command", ""), "command"), self._values.get("cwd") or ""
        lists = {LISTS[key]: tuple(map(str, self._list(key))) for key in LISTS if key in self._values}
        return Server(
            name=self._name,
            transport=transport,
            command=command,
            args=args,
            env=env,
            cwd=os.path.expanduser(self._text(cwd, "cwd")),  # noqa: PTH111  a Path would drop the trailing slash
            url=url,
            headers=headers,
            or_sse=or_sse,
            secrets=credential_forms(self._secrets(env, headers, url, args)),
            **self._times(),
            **self._numbers(),
            **lists,  # type: ignore[arg-type]
        )

    def _refuse_unknown_keys(self) -> None:
        for key in self._values:
            if key not in KEYS and key not in IGNORED:
                raise self._error(f"unknown key {key!r}; {did_you_mean(key, sorted(KEYS))}")

    def _transport(self) -> tuple[Transport, bool]:
        """The transport, and whether to try the older HTTP transport as well."""
        given = self._values.get("type", self._values.get("transport"))
        has_url, has_command = any(key in self._values for key in URL_KEYS), "command" in self._values
        if has_url == has_command:
            problem = "has both a command and a url" if has_url else "has neither a command nor a url"
            raise self._error(f"{problem}; a server needs exactly one of them")
        if given is None:
            return ("http", "httpUrl" not in self._values) if has_url else ("stdio", False)
        kind = TRANSPORTS.get(given) if isinstance(given, str) else None
        if kind is None:
            hint = did_you_mean(given, TRANSPORTS, "use stdio, http or sse")
            raise self._error(f"has the unknown transport {given!r}; {hint}")
        if (kind == "stdio") == has_url:
            raise self._error(f"is of type {given!r}, which needs a {'command' if has_url else 'url'}")
        return kind, False

    def _url(self) -> str:
        given = [key for key in URL_KEYS if key in self._values]
        url = self._text(self._values[given[0]], given[0]) if given else ""
        if len(given) > 1:
            raise self._error(f"has both {given[0]!r} and {given[1]!r}; one is enough")
        if given and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise self._error(f"{given[0]!r} must be an address that begins with http:// or https://")
        return url

    def _texts(self, key: str) -> dict[str, str]:
        """An object of strings. As in VS Code, a number is converted to text, and null means absent."""
        value = self._values.get(key) or {}
        if not isinstance(value, Mapping):
            raise self._error(f"{key!r} must be an object of texts, not {_kind(value)}")
        return {str(name): self._text(item, f"{key}.{name}") for name, item in value.items() if item is not None}

    def _list(self, key: str) -> list[Any]:
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise self._error(f"{key!r} must be a list of texts, not {_kind(value)}")
        return value

    def _text(self, value: Any, key: str) -> str:
        if isinstance(value, bool):
            value = "true" if value else "false"
        if not isinstance(value, str | int | float):
            raise self._error(f"{key!r} must be text, not {_kind(value)}")
        text = self._variables.expand(str(value), f"{self._where}: {key}")
        if "\0" in text:
            raise self._error(f"{key!r} contains a NUL character")
        return text

    def _env_file(self) -> dict[str, str]:
        if "envFile" not in self._values:
            return {}
        path = self._text(self._values["envFile"], "envFile")
        try:
            lines = Path(path).expanduser().read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as problem:
            raise self._error(f"cannot read the envFile {path}: {problem}") from None
        pairs = (line.removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
        return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}

    def _times(self) -> dict[str, Any]:
        """Times in seconds. A `timeout` of 1000 or more is in milliseconds: clients differ."""
        times: dict[str, float] = {}
        for key, setting in TIMES.items():
            value = self._values.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10**8:
                raise self._error(f"{key!r} must be a positive number of seconds, not {value!r}")
            times[setting] = value / 1000 if key == "timeout" and value >= 1000 else float(value)
        return times

    def _numbers(self) -> dict[str, Any]:
        numbers = {key: self._values[key] for key in NUMBERS if key in self._values}
        for key, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
                raise self._error(f"{key!r} must be a positive whole number, not {value!r}")
        return numbers

    def _secrets(
        self, env: Mapping[str, str], headers: Mapping[str, str], url: str, args: tuple[str, ...]
    ) -> tuple[str, ...]:
        settings = [*env.items(), *parse_qsl(urlsplit(url).query)]
        for before, arg in zip(("", *args), args, strict=False):
            name, equals, value = arg.partition("=")
            settings.append((name, value) if equals else (before if before.startswith("-") else "", arg))
        return (
            *self._variables.secrets,
            *(value for name, value in settings if is_credential(name, value)),
            *(secret for name, value in headers.items() for secret in header_secrets(name, value)),
            *(secret for text in (url, *args, *env.values()) for secret in url_secrets(text)),
        )

    def _error(self, problem: str) -> ConfigError:
        return ConfigError(f"{self._where}: {problem}")


def _kind(value: Any) -> str:
    """The JSON type of `value`. The value itself is not shown: it may be a credential."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
