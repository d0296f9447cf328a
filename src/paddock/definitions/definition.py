"""A definition: one code tool, as a TOML file describes it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

SHIPPED = ("run_code",)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a caller's model reads of a code tool, and which face it has."""

    name: str
    title: str
    face: str
    description: str  # with fields in braces, which the face fills in


def shipped(name: str) -> Definition:
    """The definition of that name that comes with Paddock."""
    text = (resources.files("paddock.definitions") / f"{name}.toml").read_text(encoding="utf-8")
    return Definition(**tomllib.loads(text))
