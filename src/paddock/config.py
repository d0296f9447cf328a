"""The configuration: a TOML file, overlaid by the environment, frozen once read.

Every setting is documented in `docs/configuration.md`; a key that does not exist is refused, with the nearest one.
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
from paddock.model.words import nearest

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "paddock.toml"
FILE_VARIABLE = "PADDOCK_CONFIG"
PREFIX = "PADDOCK_"
KUBERNETES = r"PADDOCK_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)"
_Settings = TypeVar("_Settings")
RAW = {"raw": True}
"""Of a setting that whoever uses it reads: `tools/` knows what an upstream and a rule look like."""


def _default_workers() -> int:
    # A worker that waits for a tool is busy but idle: a few more than there are cores keep them all at work.
    return max(8, 2 * (os.cpu_count() or 1))


def _default_data_directory() -> str:
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")  # noqa: PTH111, PTH118
    return os.path.join(home, "paddock")  # noqa: PTH118  pathlib costs the import 4 ms


@dataclass(frozen=True, slots=True)
class MontyConfig:
    """The light Python engine."""

    min_workers: int = 1
    max_workers: int = field(default_factory=_default_workers)


@dataclass(frozen=True, slots=True)
class GuestsConfig:
    """Guests of an engine, which wait for scripts in a jail."""

    environment: str = DEFAULT_ENVIRONMENT
    min_waiting: int = 1
    max_waiting: int = 8
    max_guests: int = field(default_factory=lambda: max(32, 4 * (os.cpu_count() or 1)))
    idle_seconds: float = 60.0
    release_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class JailConfig:
    """The kernel enclosure around guests."""

    profile: str = "auto"
    accept_confined: bool = False
    uid_base: int = 1 << 20
    tmp_bytes: int = 64 * 1024 * 1024
    tmp_inodes: int = 10_000
    trace_denied: bool = False


@dataclass(frozen=True, slots=True)
class ToolsConfig:
    """What holds for the tools that scripts call."""

    call_seconds: float = 60.0
    connect_seconds: float = 10.0
    repair: bool = False
    policy: tuple[Mapping[str, Any], ...] = field(default=(), metadata=RAW)


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """What is kept after a run, and for how long; 0 means without a limit."""

    path: str = ""
    run_days: float = 30.0
    run_count: int = 100_000
    run_bytes: int = 2 * 1024**3
    session_days: float = 30.0
    definition_versions: int = 100
    sweep_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class ArtifactsConfig:
    """What scripts and agents keep; 0 means without a limit."""

    url: str = ""
    base_url: str = ""
    artifact_bytes: int = 1024**3
    principal_bytes: int = 10 * 1024**3
    principal_count: int = 100_000
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
    # Each takes 50 MB, and a tenth of a second to make.
    node: GuestsConfig = field(default_factory=lambda: GuestsConfig(NODE_ENVIRONMENT, max_waiting=4))
    jail: JailConfig = field(default_factory=JailConfig)
    environments: Mapping[str, EnvironmentConfig] = field(default_factory=lambda: dict(BUILT_IN))
    tools: ToolsConfig = field(default_factory=ToolsConfig)
    upstreams: Mapping[str, Any] = field(default_factory=dict, metadata=RAW)
    context: Mapping[str, Any] = field(default_factory=dict, metadata=RAW)
    connections: Mapping[str, Any] = field(default_factory=dict, metadata=RAW)
    store: StoreConfig = field(default_factory=StoreConfig)
    artifacts: ArtifactsConfig = field(default_factory=ArtifactsConfig)

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
        """Read the file (`path`, `$PADDOCK_CONFIG`, or `./paddock.toml` if there is one), then the environment."""
        environ = os.environ if environ is None else environ
        config, origins = cls(), Origins()
        named = None if path else environ.get(FILE_VARIABLE)
        path = path or named
        if not path and os.path.isfile(FILE_NAME):  # noqa: PTH113  pathlib costs the import 4 ms
            path = FILE_NAME
        if path:
            values = _read(str(path), f"{FILE_VARIABLE}: " if named else "")
            config = _overlay(config, values, origins.of(str(path)), ())
        for name, text in sorted(environ.items()):
            if name.startswith(PREFIX) and name != FILE_VARIABLE and not _is_of_kubernetes(name):
                keys = name.removeprefix(PREFIX).lower().split("__")
                config = _overlay(config, _nest(keys, text), origins.of(name), ())
        from paddock.config_checks import checked

        return checked(config, origins)


class Origins:
    """Which file or variable each setting came from, for the errors that only the whole configuration shows."""

    def __init__(self) -> None:
        self.now = ""
        self._seen: dict[str, str] = {}

    def of(self, origin: str) -> Origins:
        """What is noted from here on comes from `origin`."""
        self.now = origin
        return self

    def note(self, setting: str) -> None:
        self._seen[setting] = self.now

    def blame(self, *settings: str) -> str:
        """Where the first of `settings` that was given at all came from, as the beginning of a message."""
        return next((f"{self._seen[setting]}: " for setting in settings if setting in self._seen), "")


def _is_of_kubernetes(name: str) -> bool:
    """Whether Kubernetes set this variable, as it does in every pod beside a service called `paddock`."""
    import re

    return "__" not in name and re.fullmatch(KUBERNETES, name) is not None


def _read(path: str, named: str) -> dict[str, Any]:
    import tomllib
    from pathlib import Path

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise ConfigError(f"{named}cannot read {path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{named}{path} is not TOML: {problem}") from None


def _nest(keys: list[str], text: str) -> dict[str, Any]:
    value: Any = text
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


def _overlay(settings: _Settings, values: Mapping[str, Any], origins: Origins, above: tuple[str, ...]) -> _Settings:
    """`values` laid over the frozen `settings`, key by key, each of the type of the setting it replaces."""
    known = {f.name: f for f in fields(settings)}  # type: ignore[arg-type]
    names = list(known)
    changes: dict[str, Any] = {}
    for name, value in values.items():
        where = ".".join((*above, name))
        if name not in names:
            near = nearest(name, names)
            hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(names)}"
            raise ConfigError(f"{origins.now}: unknown setting {where!r}; {hint}")
        current = getattr(settings, name)
        if known[name].metadata == RAW:
            changes[name] = _raw(value, current, origins.now, where)
            origins.note(where)
        elif is_dataclass(current):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{origins.now}: {where!r} is a table of settings, not {value!r}")
            changes[name] = _overlay(current, value, origins, (*above, name))
        elif isinstance(current, Mapping):
            changes[name] = _tables(current, value, origins, where)
        else:
            changes[name] = _typed(value, type(current), origins.now, where)
            origins.note(where)
    return replace(settings, **changes)  # type: ignore[type-var]


def _tables(
    current: Mapping[str, EnvironmentConfig], values: Any, origins: Origins, where: str
) -> Mapping[str, EnvironmentConfig]:
    """Tables with names of the user's, each laid over the one of that name, else over an empty one."""
    changed = dict(current)
    for name, value in values.items() if isinstance(values, Mapping) else [("", values)]:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{origins.now}: {where!r} holds a table for each environment, not {value!r}")
        wrong = name_problem(name)
        if wrong is None:
            changed[name] = _overlay(changed.get(name, EnvironmentConfig()), value, origins, (where, name))
            wrong = problem(changed[name])
        if wrong is not None:
            raise ConfigError(f"{origins.now}: {where}.{name}: {wrong}")
    return changed


def _raw(value: Any, current: Any, origin: str, where: str) -> Any:
    """A table of tables, laid over the one that there is, or a list; the environment writes it as JSON."""
    import json

    kind, words = (Mapping, "a table") if isinstance(current, Mapping) else (list, "a list")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ConfigError(f"{origin}: {where!r} must be {words}, as JSON, not {value!r}") from None
    if not isinstance(value, kind):
        raise ConfigError(f"{origin}: {where!r} must be {words}, not {value!r}")
    if not isinstance(value, Mapping):
        return tuple(value)
    return {
        **current,
        **{name: Table(inner, origin) if isinstance(inner, Mapping) else inner for name, inner in value.items()},
    }


class Table(dict[str, Any]):
    """A table that knows which file or variable it is from, for the errors of whoever reads it."""

    def __init__(self, values: Mapping[str, Any], origin: str) -> None:
        super().__init__(values)
        self.origin = origin


def _texts(value: Any, origin: str, where: str) -> tuple[str, ...]:
    """A list of texts; the environment, which has no lists, writes one as JSON."""
    import json

    listed = value
    if isinstance(value, str):
        try:
            listed = json.loads(value)
        except ValueError:
            listed = None
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise ConfigError(f'{origin}: {where!r} must be a list of texts, such as ["a", "b"], not {value!r}')
    return tuple(listed)


def _typed(value: Any, kind: type, origin: str, where: str) -> Any:
    """`value` as `kind`; text is parsed, because the environment has nothing else."""
    if kind is tuple:
        return _texts(value, origin, where)
    if kind is bool and value in ("true", "false"):
        return value == "true"
    parsed = (isinstance(value, str) and kind in (int, float)) or (kind is float and type(value) is int)
    if parsed:
        try:
            return kind(value)
        except (ValueError, OverflowError):
            raise ConfigError(f"{origin}: {where!r} must be {_A[kind]}, not {value!r}") from None
    if type(value) is not kind:
        raise ConfigError(f"{origin}: {where!r} must be {_A[kind]}, not {value!r}")
    return value


_A = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
