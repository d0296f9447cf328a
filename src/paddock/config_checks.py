"""Checks of the whole configuration: values out of range, and settings that contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter, le
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from paddock.errors import ConfigError, RequestError
from paddock.model.limits import NAMES, Limits, resolve
from paddock.model.network import NONE, PUBLIC, parse_policy, parse_private
from paddock.model.request import ENGINES
from paddock.model.spelling import did_you_mean

if TYPE_CHECKING:
    from paddock.config import Config, GuestsConfig, Origins

_Kind = TypeVar("_Kind")
MAX_WORKERS = 1000
UIDS_END = 2**32 - 2**20
"""Ids have 32 bits, and the last one means none. The kernel would take a larger base for another one, such as 0."""
PROFILES = ("auto", "namespaces", "chroot", "confined")
LOG_FORMATS = ("text", "json")
GUEST_ENGINES = ("cpython", "quickjs", "node")
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
"""The highest caps that a configuration may set: the interpreters or the host do not support more."""


_CHOICES: Mapping[str, Sequence[str]] = {
    "engine": ENGINES,
    "jail.profile": PROFILES,
    "server.log_format": LOG_FORMATS,
}
_MINIMUMS = {"jail.uid_base": 1000, "jail.tmp_bytes": 4096, "jail.tmp_inodes": 16, "server.answer_bytes": 1000}
_POSITIVE = (
    *("jail.template_runs", "jail.template_seconds"),
    *("server.max_runs", "server.max_waiting", "server.wait_seconds"),
    *("server.body_seconds", "server.request_bytes"),
    *("packages.max_packages", "packages.max_bytes", "packages.build_seconds", "packages.builds_per_principal"),
    *("network.max_connections", "network.max_bytes"),
    *("packages.cache_bytes", "code_bytes", "tools.call_seconds", "tools.connect_seconds", "store.sweep_seconds"),
    *("sessions.idle_seconds", "sessions.max_count", "sessions.principal_count", "sessions.memory_bytes"),
    *("code_bytes", "tools.call_seconds", "tools.connect_seconds", "store.sweep_seconds"),
    *(f"{engine}.{name}" for engine in GUEST_ENGINES for name in ("idle_seconds", "release_seconds")),
)
_POSITIVE_OR_ZERO = (
    *("store.run_days", "store.run_count", "store.run_bytes", "store.session_days", "store.definition_versions"),
    *("server.principal_runs", "server.principal_waiting"),
    *("server.principal_runs_per_minute", "server.principal_calls_per_minute"),
    *("artifacts.artifact_bytes", "artifacts.principal_bytes", "artifacts.principal_count", "artifacts.days"),
)
_WEB = ("http", "https")
_URL_SCHEMES = {
    "artifacts.url": ("file", "s3", "gs", "az", "memory"),
    **dict.fromkeys(("artifacts.base_url", "server.url", "auth.issuer", "auth.jwks_url"), _WEB),
}


def validate(config: Config, origins: Origins) -> Config:
    """Return `config` if it is valid. Raises ConfigError with the origin of the invalid setting."""
    for name in NAMES:
        _check_limit(f"caps.{name}", getattr(config.caps, name), CEILING, origins.prefix(f"caps.{name}"))
        prefix = origins.prefix(f"limits.{name}", f"caps.{name}")
        _check_limit(f"limits.{name}", getattr(config.limits, name), config.caps, prefix)
    for setting, requirement, is_valid in _requirements():
        value = attrgetter(setting)(config)
        if not is_valid(value):
            raise ConfigError(f"{origins.prefix(setting)}{setting} must be {requirement}, not {value!r}")
    minimum, maximum = config.monty.min_workers, config.monty.max_workers
    if not 0 < minimum <= maximum <= MAX_WORKERS:
        prefix = origins.prefix("monty.min_workers", "monty.max_workers")
        raise ConfigError(
            f"{prefix}1 <= monty.min_workers <= monty.max_workers <= {MAX_WORKERS} must hold; "
            f"here they are {minimum} and {maximum}"
        )
    for engine in GUEST_ENGINES:
        _check_guests(config, engine, origins)
    _check_auth(config, origins)
    _check_network(config, origins)
    return config


def _requirements() -> Iterator[tuple[str, str, Callable[[Any], bool]]]:
    """Each setting that is checked on its own: its name, the requirement in words, and a predicate."""
    for setting, choices in _CHOICES.items():
        yield setting, f"one of {', '.join(choices)}", choices.__contains__
    for setting in _POSITIVE:
        yield setting, "positive", lambda value: value > 0
    for setting in _POSITIVE_OR_ZERO:
        yield setting, "positive, or 0 for no limit", lambda value: value >= 0
    for setting, minimum in _MINIMUMS.items():
        yield setting, f"at least {minimum}", partial(le, minimum)
    for setting, schemes in _URL_SCHEMES.items():
        known = ", ".join(f"{scheme}://" for scheme in schemes)
        yield setting, f"empty or begin with one of {known}", partial(_is_url, schemes=schemes)
    yield "data_directory", "the path of a directory", lambda value: value and "\0" not in value
    yield (
        "jail.uid_base",
        f"below {UIDS_END}, because guests use 2^20 ids from there on",
        lambda value: value < UIDS_END,
    )
    yield "server.origins", "origins such as http://localhost:6274, or http://localhost:* for any port", _are_origins
    yield "jail.hash_seed", "`random` or a number below 2**32", _is_hash_seed


def _is_hash_seed(value: str) -> bool:
    return value == "random" or (value.isdecimal() and value.isascii() and len(value) <= 10 and int(value) < 2**32)


def _is_url(value: str, schemes: Collection[str]) -> bool:
    scheme, separator, rest = value.partition("://")
    return not value or (scheme in schemes and bool(separator) and (bool(rest) or scheme == "memory"))


def _are_origins(values: Sequence[str]) -> bool:
    import re

    return all(re.fullmatch(r"https?://[^/\s*?#@]+(:\*)?", value) for value in values)


def _check_auth(config: Config, origins: Origins) -> None:
    """Check that `[auth]` is complete: a token for another service of the same issuer must not be accepted here."""
    auth = config.auth
    if auth == type(auth)():
        return
    prefix = origins.prefix(*(f"auth.{name}" for name in auth.__slots__))
    needed = {"auth.issuer": auth.issuer, "auth.audience": auth.audience, "server.url": config.server.url}
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise ConfigError(
            f"{prefix}[auth] needs {' and '.join(missing)}: auth.issuer is the address of the authorization server, "
            "auth.audience the `aud` claim of its tokens for this server, server.url the address that clients use"
        )
    for name in ("issuer", "jwks_url"):
        url = getattr(auth, name)
        if url and not is_protected(url):
            raise ConfigError(
                f"{prefix}auth.{name} must begin with https://, or anybody on the network path could forge tokens"
            )


def _check_network(config: Config, origins: Origins) -> None:
    for setting in ("allow", "operators", "private"):
        words = getattr(config.network, setting)
        try:
            if setting == "private":
                parse_private(words)
            elif words not in ((), (NONE,), (PUBLIC,)):
                parse_policy(words)
        except RequestError as problem:
            raise ConfigError(f"{origins.prefix(f'network.{setting}')}{problem}") from None


def is_protected(url: str) -> bool:
    """Whether nobody on the network path can change what this address answers."""
    from urllib.parse import urlsplit

    try:
        return url.startswith("https://") or urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False


def _check_guests(config: Config, engine: str, origins: Origins) -> None:
    guests: GuestsConfig = getattr(config, engine)
    if not 0 <= guests.min_waiting <= guests.max_waiting <= guests.max_guests <= MAX_WORKERS:
        prefix = origins.prefix(f"{engine}.min_waiting", f"{engine}.max_waiting", f"{engine}.max_guests")
        raise ConfigError(
            f"{prefix}0 <= {engine}.min_waiting <= {engine}.max_waiting <= {engine}.max_guests <= {MAX_WORKERS} "
            "must hold"
        )
    if guests.environment not in config.environments:
        prefix, known = origins.prefix(f"{engine}.environment"), ", ".join(sorted(config.environments))
        raise ConfigError(
            f"{prefix}{engine}.environment is {guests.environment!r}, which does not exist; known: {known}"
        )


def _check_limit(where: str, value: float, caps: Limits, prefix: str) -> None:
    table, _, name = where.partition(".")
    try:
        resolve({name: value}, caps, caps)
    except RequestError as problem:
        raise ConfigError(f"{prefix}{table}.{problem}") from None


def read_table(values: Any, kind: type[_Kind], where: str) -> _Kind:
    """`values` as a `kind`. Raises ConfigError, which names the faulty setting and does not show its value."""
    import msgspec

    if not isinstance(values, Mapping):
        raise ConfigError(f"{where} must be a table of settings")
    known = list(get_type_hints(kind))
    for key in values:
        if key not in known:
            raise ConfigError(f"{where}: unknown setting {key!r}; {did_you_mean(key, known)}")
    try:
        return msgspec.convert(dict(values), kind)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"{where}: {problem}") from None
