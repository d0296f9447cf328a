"""The configuration: a TOML file, overlaid by the environment, frozen once read.

Every setting is documented in `docs/configuration.md`; a key that does not exist is refused, with the nearest one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.model.environments import BUILT_IN, EnvironmentConfig, name_problem, problem
from paddock.model.errors import ConfigError, RequestError
from paddock.model.limits import CAPS, Limits, check_all
from paddock.model.request import ENGINES
from paddock.model.words import nearest

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "paddock.toml"
PREFIX = "PADDOCK_"
MOST_WORKERS = 1000
CEILING = Limits(
    wall_seconds=7 * 86_400.0, memory_bytes=2**40, output_bytes=2**30, calls=10**6, processes=10**5, recursion=10**5
)
"""What no configuration may allow: the interpreters cannot count higher, or the host could not bear it."""
_Settings = TypeVar("_Settings")


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
class Config:
    """Every setting, with its default."""

    engine: str = "auto"
    code_bytes: int = 128 * 1024
    data_directory: str = field(default_factory=_default_data_directory)
    limits: Limits = field(default_factory=Limits)
    caps: Limits = CAPS
    monty: MontyConfig = field(default_factory=MontyConfig)
    environments: Mapping[str, EnvironmentConfig] = field(default_factory=lambda: dict(BUILT_IN))

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
        """Read the file (`path`, `$PADDOCK_CONFIG`, or `./paddock.toml` if there is one), then the environment."""
        environ = os.environ if environ is None else environ
        path = path or environ.get("PADDOCK_CONFIG")
        if path is None and os.path.isfile(FILE_NAME):  # noqa: PTH113  pathlib costs the import 4 ms
            path = FILE_NAME
        config = cls() if path is None else _overlay(cls(), _read(str(path)), str(path), ())
        for name, text in sorted(environ.items()):
            if name.startswith(PREFIX) and name != "PADDOCK_CONFIG":
                keys = name.removeprefix(PREFIX).lower().split("__")
                config = _overlay(config, _nest(keys, text), name, ())
        return _checked(config)


def _read(path: str) -> dict[str, Any]:
    import tomllib
    from pathlib import Path

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"cannot read {path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path} is not TOML: {problem}") from None


def _nest(keys: list[str], text: str) -> dict[str, Any]:
    value: Any = text
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


def _overlay(settings: _Settings, values: Mapping[str, Any], origin: str, above: tuple[str, ...]) -> _Settings:
    """`values` laid over the frozen `settings`, key by key, each of the type of the setting it replaces."""
    names = [f.name for f in fields(settings)]  # type: ignore[arg-type]
    changes: dict[str, Any] = {}
    for name, value in values.items():
        where = ".".join((*above, name))
        if name not in names:
            near = nearest(name, names)
            hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(names)}"
            raise ConfigError(f"{origin}: unknown setting {where!r}; {hint}")
        current = getattr(settings, name)
        if is_dataclass(current):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{origin}: {where!r} is a table of settings, not {value!r}")
            changes[name] = _overlay(current, value, origin, (*above, name))
        elif isinstance(current, Mapping):
            changes[name] = _tables(current, value, origin, where)
        else:
            changes[name] = _typed(value, type(current), origin, where)
    return replace(settings, **changes)  # type: ignore[type-var]


def _tables(
    current: Mapping[str, EnvironmentConfig], values: Any, origin: str, where: str
) -> Mapping[str, EnvironmentConfig]:
    """Tables with names of the user's, each laid over the one of that name, else over an empty one."""
    changed = dict(current)
    for name, value in values.items() if isinstance(values, Mapping) else [("", values)]:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{origin}: {where!r} holds a table for each environment, not {value!r}")
        wrong = name_problem(name)
        if wrong is None:
            changed[name] = _overlay(changed.get(name, EnvironmentConfig()), value, origin, (where, name))
            wrong = problem(changed[name])
        if wrong is not None:
            raise ConfigError(f"{origin}: {where}.{name}: {wrong}")
    return changed


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


def _checked(config: Config) -> Config:
    try:
        check_all(config.caps, CEILING)
        check_all(config.limits, config.caps)
    except RequestError as problem:
        raise ConfigError(f"limits: {problem}") from None
    if config.engine not in ENGINES:
        raise ConfigError(f"engine must be one of {', '.join(ENGINES)}, not {config.engine!r}")
    if config.code_bytes <= 0:
        raise ConfigError(f"code_bytes must be positive, not {config.code_bytes}")
    if not config.data_directory:
        raise ConfigError("data_directory must be the path of a directory, not empty")
    if not 0 < config.monty.min_workers <= config.monty.max_workers <= MOST_WORKERS:
        raise ConfigError(
            "monty.min_workers must be at least 1 and at most monty.max_workers, "
            f"and that at most {MOST_WORKERS}; here they are {config.monty.min_workers} and {config.monty.max_workers}"
        )
    return config
