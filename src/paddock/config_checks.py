"""Checks of the whole configuration: values out of range, and settings that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.errors import ConfigError, RequestError
from paddock.model.limits import NAMES, Limits, resolve
from paddock.model.request import ENGINES

if TYPE_CHECKING:
    from paddock.config import ArtifactsConfig, Config, GuestsConfig, JailConfig, Origins, StoreConfig

MAX_WORKERS = 1000
PROFILES = ("auto", "namespaces", "chroot", "confined")
ARTIFACT_SCHEMES = ("file", "s3", "gs", "az", "memory")
CEILING = Limits(
    wall_seconds=7 * 86_400.0,
    cpu_seconds=70 * 86_400.0,
    memory_bytes=2**40,
    output_bytes=2**30,
    calls=10**6,
    processes=10**5,
    recursion=10**5,
    file_bytes=2**40,
    stream_characters=2**30,
)
"""The highest caps that a configuration may set, because of the interpreters or the host."""


def validate(config: Config, origins: Origins) -> Config:
    """Return `config` if it is valid. Raises ConfigError with the origin of the invalid setting."""
    for name in NAMES:
        _check_limit(f"caps.{name}", getattr(config.caps, name), CEILING, origins.prefix(f"caps.{name}"))
    for name in NAMES:
        prefix = origins.prefix(f"limits.{name}", f"caps.{name}")
        _check_limit(f"limits.{name}", getattr(config.limits, name), config.caps, prefix)
    if config.engine not in ENGINES:
        raise ConfigError(
            f"{origins.prefix('engine')}engine must be one of {', '.join(ENGINES)}, not {config.engine!r}"
        )
    if config.code_bytes <= 0:
        raise ConfigError(f"{origins.prefix('code_bytes')}code_bytes must be positive, not {config.code_bytes}")
    if not config.data_directory:
        raise ConfigError(
            f"{origins.prefix('data_directory')}data_directory must be the path of a directory, not empty"
        )
    minimum, maximum = config.monty.min_workers, config.monty.max_workers
    if not 0 < minimum <= maximum <= MAX_WORKERS:
        prefix = origins.prefix("monty.min_workers", "monty.max_workers")
        raise ConfigError(
            f"{prefix}monty.min_workers must be at least 1 and at most monty.max_workers, "
            f"and that at most {MAX_WORKERS}; here they are {minimum} and {maximum}"
        )
    for engine in ("cpython", "quickjs", "node"):
        _check_guests(config, engine, origins)
    _check_jail(config.jail, origins)
    for name in ("call_seconds", "connect_seconds"):
        if not getattr(config.tools, name) > 0:
            prefix = origins.prefix(f"tools.{name}")
            raise ConfigError(f"{prefix}tools.{name} must be positive, not {getattr(config.tools, name)}")
    _check_store(config.store, origins)
    _check_artifacts(config.artifacts, origins)
    return config


def _check_guests(config: Config, engine: str, origins: Origins) -> None:
    guests: GuestsConfig = getattr(config, engine)
    if not 0 <= guests.min_waiting <= guests.max_waiting <= guests.max_guests <= MAX_WORKERS:
        prefix = origins.prefix(f"{engine}.min_waiting", f"{engine}.max_waiting", f"{engine}.max_guests")
        raise ConfigError(
            f"{prefix}{engine}.min_waiting must be at most {engine}.max_waiting, that at most {engine}.max_guests, "
            f"and that at most {MAX_WORKERS}"
        )
    if guests.environment not in config.environments:
        prefix, known = origins.prefix(f"{engine}.environment"), ", ".join(sorted(config.environments))
        raise ConfigError(
            f"{prefix}{engine}.environment is {guests.environment!r}, which does not exist; known: {known}"
        )
    for name in ("idle_seconds", "release_seconds"):
        if not getattr(guests, name) > 0:
            prefix = origins.prefix(f"{engine}.{name}")
            raise ConfigError(f"{prefix}{engine}.{name} must be positive, not {getattr(guests, name)}")


def _check_jail(jail: JailConfig, origins: Origins) -> None:
    if jail.profile not in PROFILES:
        prefix = origins.prefix("jail.profile")
        raise ConfigError(f"{prefix}jail.profile must be one of {', '.join(PROFILES)}, not {jail.profile!r}")
    for name, minimum in (("uid_base", 1000), ("tmp_bytes", 4096), ("tmp_inodes", 16)):
        if getattr(jail, name) < minimum:
            prefix = origins.prefix(f"jail.{name}")
            raise ConfigError(f"{prefix}jail.{name} must be at least {minimum}, not {getattr(jail, name)}")


def _check_store(store: StoreConfig, origins: Origins) -> None:
    for name in ("run_days", "run_count", "run_bytes", "session_days", "definition_versions"):
        if not getattr(store, name) >= 0:
            prefix = origins.prefix(f"store.{name}")
            raise ConfigError(f"{prefix}store.{name} must be positive, or 0 for no limit, not {getattr(store, name)}")
    if not store.sweep_seconds > 0:
        prefix = origins.prefix("store.sweep_seconds")
        raise ConfigError(f"{prefix}store.sweep_seconds must be positive, not {store.sweep_seconds}")


def _check_artifacts(artifacts: ArtifactsConfig, origins: Origins) -> None:
    for name in ("artifact_bytes", "principal_bytes", "principal_count", "days"):
        value = getattr(artifacts, name)
        if not value >= 0:
            prefix = origins.prefix(f"artifacts.{name}")
            raise ConfigError(f"{prefix}artifacts.{name} must be positive, or 0 for no limit, not {value}")
    for name, schemes in (("url", ARTIFACT_SCHEMES), ("base_url", ("http", "https"))):
        value = getattr(artifacts, name)
        scheme, separator, rest = value.partition("://")
        if value and not (scheme in schemes and separator and (rest or scheme == "memory")):
            prefix, known = origins.prefix(f"artifacts.{name}"), ", ".join(f"{each}://" for each in schemes)
            raise ConfigError(f"{prefix}artifacts.{name} must be empty or begin with one of {known}, not {value!r}")


def _check_limit(where: str, value: float, caps: Limits, prefix: str) -> None:
    table, _, name = where.partition(".")
    try:
        resolve({name: value}, caps, caps)
    except RequestError as problem:
        raise ConfigError(f"{prefix}{table}.{problem}") from None
