"""Reads tables of a configuration file as dataclasses or structs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

from paddock.errors import ConfigError
from paddock.model.spelling import did_you_mean

_Kind = TypeVar("_Kind")


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
