"""The configuration: a TOML file, overridden by environment variables, immutable once read.

Every setting is documented in `docs/configuration.md`. An unknown key is an error that suggests the nearest one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.errors import ConfigError
from paddock.model.environments import (
    BUILT_IN,
    DEFAULT_ENVIRONMENT,
    NODE_ENVIRONMENT,
    QUICKJS_ENVIRONMENT,
    EnvironmentConfig,
    name_problem,
    problem,
)
from paddock.model.limits import CAPS, Limits
from paddock.model.network import NONE, PUBLIC, NetworkPolicy, parse_policy, parse_private
from paddock.model.packages import ANY, OFF
from paddock.model.spelling import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "paddock.toml"
FILE_VARIABLE = "PADDOCK_CONFIG"
URL_VARIABLE, TOKEN_VARIABLE = "PADDOCK_URL", "PADDOCK_TOKEN"
PREFIX = "PADDOCK_"
_NOT_SETTINGS = (FILE_VARIABLE, URL_VARIABLE, TOKEN_VARIABLE)
MAX_KEYS = 10
KUBERNETES = r"PADDOCK_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)"
_Settings = TypeVar("_Settings")
RAW = {"raw": True}
"""Metadata of a setting that is validated where it is used: `tools/` knows the format of upstreams and rules."""


def _default_workers() -> int:
    # A worker that waits for a tool uses no CPU, so more workers than cores are needed to keep all cores busy.
    return max(8, 2 * (os.cpu_count() or 1))


def _default_data_directory() -> str:
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")  # noqa: PTH111, PTH118
    return os.path.join(home, "paddock")  # noqa: PTH118  pathlib costs the import 4 ms


@dataclass(frozen=True, slots=True)
class MontyConfig:
    """The workers of the engine `monty`."""

    min_workers: int = 1
    max_workers: int = field(default_factory=_default_workers)


@dataclass(frozen=True, slots=True)
class GuestsConfig:
    """The pool of jailed guests of an engine."""

    environment: str = DEFAULT_ENVIRONMENT
    min_waiting: int = 1
    max_waiting: int = 8
    max_guests: int = field(default_factory=lambda: max(32, 4 * (os.cpu_count() or 1)))
    idle_seconds: float = 60.0  # after this long without a run, waiting guests are reduced to `min_waiting`
    release_seconds: float = 300.0  # after this long without a run, no guest waits, and the zygotes (templates) end


@dataclass(frozen=True, slots=True)
class JailConfig:
    """The kernel sandbox around guests."""

    profile: str = "auto"
    accept_confined: bool = False
    require_control_group: bool = False
    uid_base: int = 1 << 20
    tmp_bytes: int = 64 * 1024 * 1024
    tmp_inodes: int = 10_000
    template_runs: int = 1000
    template_seconds: float = 3600.0
    fresh_layout: bool = False
    hash_seed: str = "random"
    trace_denied: bool = False


@dataclass(frozen=True, slots=True)
class SessionsConfig:
    """Live interpreters that runs share: how long an idle one stays, how many there may be, and how large."""

    idle_seconds: float = 900.0
    max_count: int = 64
    principal_count: int = 16
    memory_bytes: int = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class ToolsConfig:
    """Settings for the tools that scripts call."""

    call_seconds: float = 60.0
    connect_seconds: float = 30.0  # how long a run waits; `upstreams.NAME.connect_seconds` is the server's limit
    repair: bool = False
    policy: tuple[Mapping[str, Any], ...] = field(default=(), metadata=RAW)


@dataclass(frozen=True, slots=True)
class PackagesConfig:
    """Which packages runs may ask for, and how much is installed for them."""

    install: tuple[str, ...] = field(default=(), metadata={"words": (ANY, OFF)})  # empty: see `installable`
    max_packages: int = 200
    max_bytes: int = 1024**3
    build_seconds: float = 600.0
    builds_per_principal: int = 2
    cache_bytes: int = 5 * 1024**3

    def installable(self, *, is_local: bool) -> tuple[str, ...]:
        """The names of what a caller may have installed, or ANY or OFF. By default the local user may have any."""
        return self.install or ((ANY,) if is_local else (OFF,))


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """What runs may connect to at most, and how much they may transfer."""

    allow: tuple[str, ...] = field(default=(), metadata={"words": (NONE, PUBLIC)})  # empty: see `allowed`
    operators: tuple[str, ...] = field(default=(), metadata={"words": (NONE, PUBLIC)})  # empty: like `allow`
    private: tuple[str, ...] = ()
    max_connections: int = 1000
    max_bytes: int = 1024**3

    def allowed(self, role: str | None, default: str = NONE) -> NetworkPolicy:
        """What a caller of a server with this `role` may have, or the command line and the library if it is None.

        `default` is what a server's caller may have if nothing is configured.
        """
        words = self.operators if role == "operator" and self.operators else self.allow
        if not words:
            words = (PUBLIC if role is None else default,)
        return parse_policy(words[0] if words[0] in (NONE, PUBLIC) else words, parse_private(self.private))


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Where servers store runs, sessions and definitions, and for how long. 0 means no limit."""

    path: str = ""
    run_days: float = 30.0
    run_count: int = 100_000
    run_bytes: int = 2 * 1024**3
    session_days: float = 30.0
    definition_versions: int = 100
    sweep_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Who may use a server, and how much of it at once. One caller gets at most three quarters of the runs."""

    token: str = field(default="", repr=False)
    require_token: bool = False
    url: str = ""
    origins: tuple[str, ...] = ()
    body_seconds: float = 30.0
    request_bytes: int = 512 * 1024 * 1024
    max_runs: int = field(default_factory=lambda: GuestsConfig().max_guests)
    max_waiting: int = 256
    wait_seconds: float = 60.0
    principal_runs: int = 0
    principal_waiting: int = 0
    principal_runs_per_minute: int = 0
    principal_calls_per_minute: int = 0
    answer_bytes: int = 16 * 1024
    log_format: str = "text"


@dataclass(frozen=True, slots=True)
class AuthConfig:
    """The authorization server whose JSON Web Tokens a server accepts."""

    issuer: str = ""
    audience: str = ""
    jwks_url: str = ""
    scopes: tuple[str, ...] = ()
    operator_scope: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactsConfig:
    """Storage of artifacts that scripts and agents create. 0 means no limit."""

    url: str = ""
    base_url: str = ""
    artifact_bytes: int = 1024**3
    principal_bytes: int = 10 * 1024**3
    principal_count: int = 10_000
    days: float = 30.0


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting, with its default."""

    engine: str = "auto"
    code_bytes: int = 128 * 1024
    data_directory: str = field(default_factory=_default_data_directory)
    limits: Limits = field(default_factory=Limits)
    caps: Limits = CAPS
    monty: MontyConfig = field(default_factory=MontyConfig)
    cpython: GuestsConfig = field(default_factory=GuestsConfig)
    quickjs: GuestsConfig = field(default_factory=lambda: GuestsConfig(QUICKJS_ENVIRONMENT))
    # Each Node guest takes 50 MB, and 0.1 s to start.
    node: GuestsConfig = field(default_factory=lambda: GuestsConfig(NODE_ENVIRONMENT, max_waiting=4))
    jail: JailConfig = field(default_factory=JailConfig)
    sessions: SessionsConfig = field(default_factory=SessionsConfig)
    environments: Mapping[str, EnvironmentConfig] = field(default_factory=lambda: dict(BUILT_IN))
    packages: PackagesConfig = field(default_factory=PackagesConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    tools: ToolsConfig = field(default_factory=ToolsConfig)
    upstreams: Mapping[str, Any] = field(default_factory=dict, metadata=RAW)
    context: Mapping[str, Any] = field(default_factory=dict, metadata=RAW)
    connections: Mapping[str, Any] = field(default_factory=dict, metadata=RAW)
    server: ServerConfig = field(default_factory=ServerConfig)
    auth: AuthConfig = field(default_factory=AuthConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    artifacts: ArtifactsConfig = field(default_factory=ArtifactsConfig)

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
        """Read the file (`path`, `$PADDOCK_CONFIG`, or `./paddock.toml` if it exists), then environment variables."""
        environ = os.environ if environ is None else environ
        config, origins = cls(), Origins()
        from_variable = None if path else environ.get(FILE_VARIABLE)
        path = path or from_variable
        is_found = not path and os.path.isfile(FILE_NAME)  # noqa: PTH113  pathlib costs the import 4 ms
        if path := FILE_NAME if is_found else path:
            values = _read(str(path), f"{FILE_VARIABLE}: " if from_variable else "", is_found=is_found)
            config = _overlay(config, values, origins.start(str(path)), ())
        for name, text in sorted(environ.items()):
            if name.startswith(PREFIX) and name not in _NOT_SETTINGS and not _is_from_kubernetes(name):
                keys = name.removeprefix(PREFIX).lower().split("__")
                if len(keys) > MAX_KEYS:
                    raise ConfigError(f"{name[:80]}…: unknown setting; no setting is nested that deeply")
                config = _overlay(config, _nest(keys, text), origins.start(name), ())
        from paddock.config_checks import validate

        return validate(config, origins)

    def python_version(self, environment: str | None = None) -> tuple[int, int]:
        """The version of full Python in an environment, by default in that of runs that name none."""
        return self.environments[environment or self.cpython.environment].python_version()


def _require_own(path: str, opened: int) -> None:
    """Refuse another user's file that was found, not named: its upstreams and packages would run as this user.

    A link counts as the file of whoever made it: the user may own what it leads to, without having written it.
    """
    for owner in (os.lstat(path).st_uid, os.fstat(opened).st_uid):
        if owner not in (os.geteuid(), 0):
            raise ConfigError(
                f"./{path} belongs to another user (uid {owner}), and a configuration can run programs as you; "
                f"if you trust it, name it with --config or {FILE_VARIABLE}"
            )


class Origins:
    """Remembers which file or variable each setting came from, for error messages."""

    def __init__(self) -> None:
        self.current_origin = ""
        self._origins: dict[str, str] = {}

    def start(self, origin: str) -> Origins:
        """Record settings as coming from `origin` from now on."""
        self.current_origin = origin
        return self

    def record(self, setting: str) -> None:
        self._origins[setting] = self.current_origin

    def prefix(self, *settings: str) -> str:
        """The origin of the first of `settings` that was set, as the start of an error message."""
        return next((f"{self._origins[setting]}: " for setting in settings if setting in self._origins), "")


def _is_from_kubernetes(name: str) -> bool:
    """Whether Kubernetes set this variable. It does so in every pod if there is a service called `paddock`."""
    import re

    return "__" not in name and re.fullmatch(KUBERNETES, name) is not None


def _read(path: str, prefix: str, *, is_found: bool) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, encoding="utf-8-sig") as file:  # noqa: PTH123
            if is_found:
                _require_own(path, file.fileno())
            values = tomllib.loads(file.read())
        repr(values)  # an error must be able to show any value, however deep
    except OSError as problem:
        raise ConfigError(f"{prefix}cannot read {path}: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{prefix}{path} is not TOML: {problem}") from None
    return values


def _nest(keys: list[str], text: str) -> dict[str, Any]:
    value: Any = text
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


def _overlay(settings: _Settings, values: Mapping[str, Any], origins: Origins, above: tuple[str, ...]) -> _Settings:
    """A copy of `settings` with `values` applied key by key. A value must have the type of the setting it replaces."""
    known = {f.name: f for f in fields(settings)}  # type: ignore[arg-type]
    changes: dict[str, Any] = {}
    for name, value in values.items():
        where = ".".join((*above, name))
        if name not in known:
            raise ConfigError(f"{origins.current_origin}: unknown setting {where!r}; {did_you_mean(name, known)}")
        current = getattr(settings, name)
        if known[name].metadata == RAW:
            changes[name] = _raw(value, current, origins.current_origin, where)
            origins.record(where)
        elif is_dataclass(current):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{origins.current_origin}: {where!r} is a table of settings, not {value!r}")
            changes[name] = _overlay(current, value, origins, (*above, name))
        elif isinstance(current, Mapping):
            changes[name] = _tables(current, value, origins, where)
        elif value in known[name].metadata.get("words", ()):
            changes[name] = (value,)
            origins.record(where)
        elif not known[name].repr and not isinstance(value, str):  # a secret
            raise ConfigError(f"{origins.current_origin}: {where!r} must be text")
        else:
            changes[name] = _convert(value, type(current), origins.current_origin, where)
            origins.record(where)
    return replace(settings, **changes)  # type: ignore[type-var]


def _tables(
    current: Mapping[str, EnvironmentConfig], values: Any, origins: Origins, where: str
) -> Mapping[str, EnvironmentConfig]:
    """Merge each table of `values` into the existing table of the same name, or into a new one."""
    changed = dict(current)
    for name, value in values.items() if isinstance(values, Mapping) else [("", values)]:
        if not isinstance(value, Mapping):
            raise ConfigError(
                f"{origins.current_origin}: {where!r} must contain a table for each environment, not {value!r}"
            )
        reason = name_problem(name)
        if reason is None:
            changed[name] = _overlay(changed.get(name, EnvironmentConfig()), value, origins, (where, name))
            if name == DEFAULT_ENVIRONMENT and changed[name].preload == BUILT_IN[name].preload:
                changed[name] = changed[name].without_missing_preloads()
            reason = problem(changed[name])
        if reason is not None:
            raise ConfigError(f"{origins.current_origin}: {where}.{name}: {reason}")
    return changed


def _raw(value: Any, current: Any, origin: str, where: str) -> Any:
    """The new value of a raw setting: a list, or a table of tables merged into `current`. Text is parsed as JSON."""
    kind, expected = (Mapping, "a table") if isinstance(current, Mapping) else (list, "a list")
    parsed = _decode(value)
    if not isinstance(parsed, kind):
        expected += ", as JSON" if isinstance(value, str) else f", not {type(value).__name__}"  # it may have secrets
        raise ConfigError(f"{origin}: {where!r} must be {expected}")
    if not isinstance(parsed, Mapping):
        return tuple(parsed)
    tables = {
        name: TableWithOrigin(inner, origin) if isinstance(inner, Mapping) else inner for name, inner in parsed.items()
    }
    return {**current, **tables}


class TableWithOrigin(dict[str, Any]):
    """A table that remembers which file or variable it came from, for error messages."""

    def __init__(self, values: Mapping[str, Any], origin: str) -> None:
        super().__init__(values)
        self.origin = origin


def _strings(value: Any, origin: str, where: str) -> tuple[str, ...]:
    """`value`, which must be a list of strings, as a tuple. Text is parsed as JSON."""
    parsed = _decode(value)
    if not isinstance(parsed, list) or not all(isinstance(item, str) for item in parsed):
        raise ConfigError(f'{origin}: {where!r} must be a list of strings, such as ["a", "b"], not {value!r}')
    return tuple(parsed)


def _decode(value: Any) -> Any:
    """The value of the JSON text of an environment variable, or None if it is not JSON. Other values stay unchanged."""
    import json

    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _convert(value: Any, kind: type, origin: str, where: str) -> Any:
    """`value` as `kind`. Text is parsed, because environment variables are text."""
    if kind is tuple:
        return _strings(value, origin, where)
    if kind is bool and value in ("true", "false"):
        return value == "true"
    needs_parsing = (isinstance(value, str) and kind in (int, float)) or (kind is float and type(value) is int)
    if needs_parsing:
        try:
            return kind(value)
        except (ValueError, OverflowError):
            raise ConfigError(f"{origin}: {where!r} must be {_TYPE_NAMES[kind]}, not {value!r}") from None
    if type(value) is not kind:
        raise ConfigError(f"{origin}: {where!r} must be {_TYPE_NAMES[kind]}, not {value!r}")
    return value


_TYPE_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
