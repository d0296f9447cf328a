"""Reads the configuration of MCP servers from the files of common clients.

It accepts `mcpServers` (Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI), VS Code's `servers` with `inputs`,
and `[upstreams.NAME]` of paddock.toml, with the same keys. An unknown key is an error, because a server would
not run as its user expects if a setting were silently ignored.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

import msgspec

from paddock.config_checks import read_table
from paddock.errors import ConfigError
from paddock.model.spelling import did_you_mean, nearest
from paddock.tools.secrets import (
    REDACTED,
    credentials,
    header_secrets,
    is_credential,
    named_secrets,
    redact,
    url_secrets,
)

if TYPE_CHECKING:
    from paddock.config import Config

Transport = Literal["stdio", "http", "sse"]
NAME_CHARACTERS = 128
TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    **dict.fromkeys(("streamable-http", "streamable_http", "streamableHttp", "streamablehttp"), "http"),
    "sse": "sse",
}
ALIASES = {
    "transport": "type",
    **dict.fromkeys(("serverUrl", "httpUrl"), "url"),
    "startup_timeout_sec": "connect_seconds",
    **dict.fromkeys(("tool_timeout_sec", "timeout"), "timeout_seconds"),
    **dict.fromkeys(("includeTools", "enabledTools", "enabled_tools"), "include_tools"),
    **dict.fromkeys(("excludeTools", "disabledTools", "disabled_tools"), "exclude_tools"),
}
"""Other clients' names for the settings below."""
IGNORED = frozenset(
    # Settings of other clients. Paddock has its own approval policy; the others concern their user interface.
    {"alwaysAllow", "autoApprove", "trust", "icon", "iconUrl", "description", "title", "name", "note", "comment"}
    | {"_comment", "//", "gallery", "version", "dev", "provider", "tags", "category", "homepage", "$schema"}
)
# The end of a string, comment or variable is optional. Otherwise each unclosed one would be scanned to the end of the
# text.
_STRING = r'"(?>(?:[^"\\]|\\.)*)"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_HEADER = re.compile(r"(?:--?[\w-]+=)?([\w-]+): *([^/].+)", re.DOTALL)
"""An argument of a program that is a header, such as `Authorization: Bearer …`."""
_VARIABLE = re.compile(r"\$\{([^}]*)(\}?)")
_VARIABLE_NAME = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)


_Scalar = str | int | float | bool
_Seconds = Annotated[float, msgspec.Meta(gt=0, lt=10**8)]
_Count = Annotated[int, msgspec.Meta(ge=1, lt=2**31)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounds:
    """The settings of a server that are used as they are written."""

    connect_seconds: _Seconds = 30.0  # to start, connect and list tools; a run waits for `tools.connect_seconds`
    timeout_seconds: _Seconds | None = None  # for a call; None: `tools.call_seconds`
    concurrency: _Count = 16
    calls_per_minute: _Count | None = None  # None: no limit
    answer_bytes: _Count = 16 * 1024 * 1024
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """How people log in to a server. The defaults suit a server at which clients register themselves."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    issuer: str = ""  # the authorization server of that client; "": whichever the MCP server names
    callback_port: Annotated[int, msgspec.Meta(ge=1, le=65535)] | None = None  # None: any free port
    per_principal: bool = False  # whether each principal's calls need a login of its own


OAUTH_ALIASES = {"clientId": "client_id", "clientSecret": "client_secret", "callbackPort": "callback_port"}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Server(_Bounds):
    """One configured MCP server. Its `repr` shows no credentials."""

    name: str
    transport: Transport
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    url: str
    headers: Mapping[str, str]
    opening_headers: Mapping[str, str] = field(default_factory=dict)  # for requests that are not calls
    keeps_cookies: bool = True  # False if calls are made on behalf of different users
    oauth: OAuth | None = None  # None: nobody can log in, because it has another credential or no address
    or_sse: bool  # whether to try the older SSE transport if streamable HTTP is refused
    secrets: tuple[str, ...]  # credentials in the settings above

    @property
    def endpoint(self) -> str:
        """The command, or the URL without credentials and query, for display."""
        if self.transport == "stdio":
            return redact(" ".join((self.command, *self.args)), self.secrets)
        parts = urlsplit(self.url)
        query = "?…" if parts.query else ""
        return redact(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}", self.secrets)

    def __repr__(self) -> str:
        shown = dict.fromkeys((*self.env, *self.headers, *self.opening_headers), REDACTED)
        return f"Server({self.name!r}, {self.transport!r}, {self.endpoint!r}, {shown})"


def configured_servers(config: Config, mcp_config: str | Path | None) -> tuple[Server, ...]:
    """The servers of the configuration and of the file `mcp_config`. Raises ConfigError if two have the same name."""
    found = {server.name: server for server in parse_tables(config.upstreams)}
    for server in () if mcp_config is None else read(mcp_config):
        if server.name in found:
            other = origin_of(config.upstreams[server.name])
            raise ConfigError(f"{mcp_config}: the upstream {server.name!r} is also in {other}; rename one")
        found[server.name] = server
    _check_prefixes(found)
    return tuple(found.values())


def _check_prefixes(names: Iterable[str]) -> None:
    """Refuse a server name that begins with another one and a dot: their tools could have the same full name."""
    for name, other in permutations(names, 2):
        if name.startswith(f"{other}."):
            raise ConfigError(
                f"the upstream {name!r} is named like a tool of the upstream {other!r}: "
                "their tools could not be told apart; rename one"
            )


def read(path: str | Path, environ: Mapping[str, str] | None = None) -> tuple[Server, ...]:
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
    return parse(value, environ, origin=str(path))


def parse(
    value: Any, environ: Mapping[str, str] | None = None, *, origin: str = "the configuration"
) -> tuple[Server, ...]:
    """The servers of a client's whole file: `mcpServers`, or VS Code's `servers` and `inputs`, also under `mcp`."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{origin}: expected an object with 'mcpServers' or 'servers', not {_kind(value)}")
    if isinstance(value.get("mcp"), Mapping):  # VS Code's settings.json
        return parse(value["mcp"], environ, origin=f"{origin}: mcp")
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
    return _servers(value[found[0]], Variables(environ, declared), f"{origin}: {found[0]}")


def parse_tables(tables: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> tuple[Server, ...]:
    """The servers of `[upstreams.NAME]` tables. Each table may come from a different file."""
    variables = Variables(environ)
    found = (_servers({name: table}, variables, f"{origin_of(table)}: upstreams") for name, table in tables.items())
    return tuple(server for servers in found for server in servers)


def origin_of(table: Any) -> str:
    """The file or variable that a table comes from, if it is known."""
    return str(getattr(table, "origin", "the configuration"))


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
        raise ConfigError(f"{where} must contain an object for each server, not {_kind(tables)}")
    servers = []
    for name, values in tables.items():
        label = f"{where}: server {name!r}"
        if not name.strip() or len(name) > NAME_CHARACTERS or not name.isprintable():
            raise ConfigError(f"{label}: a name must have 1 to {NAME_CHARACTERS} printable characters")
        if not isinstance(values, Mapping):
            raise ConfigError(f"{label} must be an object of settings, not {_kind(values)}")
        if values.get("disabled") is not True and values.get("enabled") is not False:
            servers.append(_server(name, values, variables, label))
    return tuple(servers)


class Variables:
    """Fills in `${…}` in the spellings of the various clients, and remembers the values that are secret."""

    def __init__(self, environ: Mapping[str, str] | None, declared: Sequence[Mapping[str, Any]] = ()) -> None:
        self._environ = os.environ if environ is None else environ
        self._declared = {str(item["id"]): item for item in declared}
        self.secrets: set[str] = set()

    def expand(self, text: str, where: str) -> str:
        """`text` with its variables filled in. `where` begins the message about a missing variable."""
        return _VARIABLE.sub(lambda found: self._value(found[1], where) if found[2] else found[0], text)

    def expand_all(self, texts: Mapping[str, str], where: str) -> dict[str, str]:
        """`expand` for each value of a table."""
        return {name: self.expand(text, f"{where}.{name}") for name, text in texts.items()}

    def _value(self, variable: str, where: str) -> str:
        if variable.startswith("input:"):
            return self._input(variable.removeprefix("input:"), where)
        if variable in ("workspaceFolder", "userHome"):
            return str(Path.cwd()) if variable == "workspaceFolder" else self._environ.get("HOME", "")
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
        declared = self._declared.get(name, {})
        variable = re.sub(r"\W", "_", name).upper()
        sources = (self._environ.get(name), self._environ.get(variable), declared.get("default"))
        value = next((str(found) for found in sources if found is not None), None)
        if value is None:
            known = () if declared else self._declared
            hint = did_you_mean(name, known, f"set the environment variable {variable} to it")
            raise ConfigError(f"{where}: the input {name!r} has no value; {hint}")
        if declared.get("password") is True:
            self.secrets.add(value)
        return self._record_secret(name, value)

    def _record_secret(self, name: str, value: str) -> str:
        if is_credential(name, value):
            self.secrets.add(value)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings(_Bounds):
    """The settings of one server, as written in a file. As in VS Code, a number is converted to text."""

    type: str | None = None
    command: str = ""
    args: tuple[_Scalar, ...] = ()
    env: Mapping[str, _Scalar | None] = field(default_factory=dict)
    envFile: str = ""  # noqa: N815
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, _Scalar | None] = field(default_factory=dict)
    oauth: Mapping[str, Any] | None = None
    disabled: bool = False
    enabled: bool = True


def _server(name: str, values: Mapping[str, Any], variables: Variables, where: str) -> Server:
    settings = _settings(values, where)

    def fill(value: _Scalar, key: str) -> str:
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        text = variables.expand(text, f"{where}: {key}")
        if "\0" in text:
            raise ConfigError(f"{where}: {key!r} contains a NUL character")
        return text

    def fill_all(table: Mapping[str, _Scalar | None], key: str) -> dict[str, str]:
        return {name: fill(value, f"{key}.{name}") for name, value in table.items() if value is not None}

    env = {**_env_file(fill(settings.envFile, "envFile"), where), **fill_all(settings.env, "env")}
    headers, url = fill_all(settings.headers, "headers"), fill(settings.url, "url")
    if url and not _is_web_address(url):
        raise ConfigError(f"{where}: the url must be an address that begins with http:// or https://")
    args = tuple(fill(arg, "args") for arg in settings.args)
    oauth = _oauth(settings, url, headers, fill, where)
    return Server(
        name=name,
        transport=_transport(settings, where),
        command=fill(settings.command, "command"),
        args=args,
        env=env,
        cwd=os.path.expanduser(fill(settings.cwd, "cwd")),  # noqa: PTH111  a Path would drop the trailing slash
        url=url,
        headers=headers,
        oauth=oauth,
        or_sse=bool(url) and settings.type is None and "httpUrl" not in values,
        secrets=credentials(
            (*variables.secrets, *_secrets(env, headers, url, args), oauth.client_secret if oauth else "")
        ),
        **{bound.name: getattr(settings, bound.name) for bound in fields(_Bounds)},
    )


def _settings(values: Mapping[str, Any], where: str) -> _Settings:
    """Rename and validate the settings of one server. As in VS Code, null means absent."""
    given: dict[str, Any] = {}
    for key, value in values.items():
        name = ALIASES.get(key, key)
        if value is None or key in IGNORED:
            continue
        if name in given:
            raise ConfigError(f"{where}: {key!r} sets {name!r} a second time; remove one of the two")
        # Clients differ on the unit of `timeout`.
        is_milliseconds = key == "timeout" and isinstance(value, int | float) and 1000 <= value < 10**12
        given[name] = value / 1000 if is_milliseconds else value
    return read_table(given, _Settings, where)


def _oauth(
    settings: _Settings, url: str, headers: Mapping[str, str], fill: Callable[[_Scalar, str], str], where: str
) -> OAuth | None:
    """How people log in to the server; None if it is started by a command or has another credential."""
    problem = "" if url else "it has no url"
    if any(name.lower() == "authorization" for name in headers):
        problem = "it also has an Authorization header"
    elif url_secrets(url):
        problem = "its url has a user name"  # which is sent in that header
    if problem and settings.oauth is not None:
        raise ConfigError(f"{where}: 'oauth' has no effect because {problem}; remove one of the two")
    if problem:
        return None
    given = {OAUTH_ALIASES.get(key, key): value for key, value in (settings.oauth or {}).items()}
    oauth = read_table(given, OAuth, f"{where}: oauth")
    if oauth.client_secret and not oauth.client_id:
        raise ConfigError(f"{where}: oauth.client_secret needs oauth.client_id")
    if oauth.issuer and not oauth.client_id:
        raise ConfigError(f"{where}: oauth.issuer needs oauth.client_id")
    return replace(
        oauth,
        client_id=fill(oauth.client_id, "oauth.client_id"),
        client_secret=fill(oauth.client_secret, "oauth.client_secret"),
    )


def _transport(settings: _Settings, where: str) -> Transport:
    if bool(settings.url) == bool(settings.command):
        problem = "has both a command and a url" if settings.url else "has neither a command nor a url"
        raise ConfigError(f"{where}: it {problem}; a server needs exactly one of them")
    if settings.type is None:
        return "http" if settings.url else "stdio"
    transport = TRANSPORTS.get(settings.type)
    if transport is None:
        hint = did_you_mean(settings.type, TRANSPORTS, "use stdio, http or sse")
        raise ConfigError(f"{where}: unknown transport {settings.type!r}; {hint}")
    if (transport == "stdio") == bool(settings.url):
        missing = "command" if settings.url else "url"
        raise ConfigError(f"{where}: the type {settings.type!r} needs a {missing}")
    return transport


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https") and bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _env_file(path: str, where: str) -> dict[str, str]:
    if not path:
        return {}
    try:
        lines = Path(path).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{where}: cannot read the envFile {path}: {problem}") from None
    pairs = (line.removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}


def _secrets(env: Mapping[str, str], headers: Mapping[str, str], url: str, args: tuple[str, ...]) -> Iterator[str]:
    texts = (url, *args, *env.values())
    settings = [*env.items(), *(each for text in texts for each in parse_qsl(text.partition("?")[2].partition("#")[0]))]
    for before, arg in zip(("", *args), args, strict=False):
        flag = before if before.startswith("-") else ""
        name, _, value = arg.partition("=")
        settings += [(flag, arg), (name, value), value.partition("=")[::2]]  # --env=API_KEY=… too
    yield from (value for name, value in settings if is_credential(name, value))
    found = (match.groups() for arg in args if (match := _HEADER.fullmatch(arg)) is not None)
    for name, value in (*headers.items(), *(pair for pair in found if is_credential(*pair))):
        yield from header_secrets(name, value)
    for text in texts:
        yield from url_secrets(text)
        with suppress(ValueError, RecursionError):  # some servers get their headers as JSON
            for secret in named_secrets(json.loads(text)):
                yield from header_secrets("authorization", secret)


def _kind(value: Any) -> str:
    """The JSON type of `value`. The value itself is not shown: it may be a credential."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
