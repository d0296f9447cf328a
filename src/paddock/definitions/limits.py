"""What a run of a definition may use."""

from __future__ import annotations

from paddock.config import Config
from paddock.definitions.definition import Definition
from paddock.model.limits import Limits, resolve


def limits_of(definition: Definition, config: Config) -> dict[str, float | int]:
    """The limits that the definition asks for, none above what this installation allows."""
    return {name: min(value, getattr(config.caps, name)) for name, value in definition.limits.items()}


def all_limits_of(definition: Definition, config: Config) -> Limits:
    """Every limit of its runs: those, and the configured ones where it asks for none."""
    return resolve(limits_of(definition, config), config.limits, config.caps)
