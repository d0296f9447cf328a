"""What a run of a definition may use."""

from __future__ import annotations

from paddock.config import Config
from paddock.definitions.definition import Definition


def limits_of(definition: Definition, config: Config) -> dict[str, float | int]:
    """The limits that the definition asks for, none above what this installation allows."""
    return {name: min(value, getattr(config.caps, name)) for name, value in definition.limits.items()}
