"""What only the whole configuration shows to be wrong: a value out of its range, or two that do not agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.errors import ConfigError, RequestError
from paddock.model.limits import NAMES, Limits, resolve
from paddock.model.request import ENGINES

if TYPE_CHECKING:
    from paddock.config import ArtifactsConfig, Config, GuestsConfig, JailConfig, Origins, StoreConfig

MOST_WORKERS = 1000
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
"""What no configuration may allow: the interpreters cannot count higher, or the host could not bear it."""


def checked(config: Config, origins: Origins) -> Config:
    """`config`, where nothing in it contradicts itself; else `ConfigError`, with where it is from."""
    for name in NAMES:
        _check_limit(f"caps.{name}", getattr(config.caps, name), CEILING, origins.prefix(f"caps.{name}"))
    for name in NAMES:
        blamed = origins.prefix(f"limits.{name}", f"caps.{name}")
        _check_limit(f"limits.{name}", getattr(config.limits, name), config.caps, blamed)
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
    least, most = config.monty.min_workers, config.monty.max_workers
    if not 0 < least <= most <= MOST_WORKERS:
        blamed = origins.prefix("monty.min_workers", "monty.max_workers")
        raise ConfigError(
            f"{blamed}monty.min_workers must be at least 1 and at most monty.max_workers, "
            f"and that at most {MOST_WORKERS}; here they are {least} and {most}"
        )
    for engine in ("cpython", "quickjs", "node"):
        _check_guests(config, engine, origins)
    _check_jail(config.jail, origins)
    for name in ("call_seconds", "connect_seconds"):
        if not getattr(config.tools, name) > 0:
            blamed = origins.prefix(f"tools.{name}")
            raise ConfigError(f"{blamed}tools.{name} must be positive, not {getattr(config.tools, name)}")
    _check_store(config.store, origins)
    _check_artifacts(config.artifacts, origins)
    return config


def _check_guests(config: Config, engine: str, origins: Origins) -> None:
    guests: GuestsConfig = getattr(config, engine)
    if not 0 <= guests.min_waiting <= guests.max_waiting <= guests.max_guests <= MOST_WORKERS:
        blamed = origins.prefix(f"{engine}.min_waiting", f"{engine}.max_waiting", f"{engine}.max_guests")
        raise ConfigError(
            f"{blamed}{engine}.min_waiting must be at most {engine}.max_waiting, that at most {engine}.max_guests, "
            f"and that at most {MOST_WORKERS}"
        )
    if guests.environment not in config.environments:
        blamed, known = origins.prefix(f"{engine}.environment"), ", ".join(sorted(config.environments))
        raise ConfigError(f"{blamed}{engine}.environment is {guests.environment!r}, and there is: {known}")
    for name in ("idle_seconds", "release_seconds"):
        if not getattr(guests, name) > 0:
            blamed = origins.prefix(f"{engine}.{name}")
            raise ConfigError(f"{blamed}{engine}.{name} must be positive, not {getattr(guests, name)}")


def _check_jail(jail: JailConfig, origins: Origins) -> None:
    if jail.profile not in PROFILES:
        blamed = origins.prefix("jail.profile")
        raise ConfigError(f"{blamed}jail.profile must be one of {', '.join(PROFILES)}, not {jail.profile!r}")
    for name, least in (("uid_base", 1000), ("tmp_bytes", 4096), ("tmp_inodes", 16)):
        if getattr(jail, name) < least:
            blamed = origins.prefix(f"jail.{name}")
            raise ConfigError(f"{blamed}jail.{name} must be at least {least}, not {getattr(jail, name)}")


def _check_store(store: StoreConfig, origins: Origins) -> None:
    for name in ("run_days", "run_count", "run_bytes", "session_days", "definition_versions"):
        if not getattr(store, name) >= 0:
            blamed = origins.prefix(f"store.{name}")
            raise ConfigError(f"{blamed}store.{name} must be positive, or 0 for no limit, not {getattr(store, name)}")
    if not store.sweep_seconds > 0:
        blamed = origins.prefix("store.sweep_seconds")
        raise ConfigError(f"{blamed}store.sweep_seconds must be positive, not {store.sweep_seconds}")


def _check_artifacts(artifacts: ArtifactsConfig, origins: Origins) -> None:
    for name in ("artifact_bytes", "principal_bytes", "principal_count", "days"):
        value = getattr(artifacts, name)
        if not value >= 0:
            blamed = origins.prefix(f"artifacts.{name}")
            raise ConfigError(f"{blamed}artifacts.{name} must be positive, or 0 for no limit, not {value}")
    for name, schemes in (("url", ARTIFACT_SCHEMES), ("base_url", ("http", "https"))):
        value = getattr(artifacts, name)
        scheme, separator, rest = value.partition("://")
        if value and not (scheme in schemes and separator and (rest or scheme == "memory")):
            blamed, known = origins.prefix(f"artifacts.{name}"), ", ".join(f"{each}://" for each in schemes)
            raise ConfigError(f"{blamed}artifacts.{name} must be empty or begin with one of {known}, not {value!r}")


def _check_limit(where: str, value: float, caps: Limits, blamed: str) -> None:
    table, _, name = where.partition(".")
    try:
        resolve({name: value}, caps, caps)
    except RequestError as problem:
        raise ConfigError(f"{blamed}{table}.{problem}") from None
