"""A definition: one code tool, as data. Those that are shipped are TOML files, and users make their own alike."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from typing import Any

from paddock.errors import BadDefinition
from paddock.model.limits import NAMES
from paddock.model.request import ENGINES, LANGUAGES, MODES
from paddock.model.words import nearest

SHIPPED = (
    "run_code",
    "execute",
    "code_executor",
    "code_execution",
    "python",
    "code-execution_execute",
)
"""By name, in the order in which they are offered. The first is what a server offers unless it is told otherwise."""

COMPANIONS = ("discovery", "discovery_if_tools", "session")
"""Groups of tools: to find out what scripts can call, always or where there is anything to call; of the session."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a caller's model reads of a code tool, what it runs with, and the face that it has."""

    name: str
    title: str
    face: str
    description: str  # with fields in braces, which the face fills in
    language: str | None = None  # None: the face lets its caller choose
    engine: str | None = None
    mode: str = "expression"
    code: str | None = None  # what runs where the caller gives none
    inputs: Mapping[str, Any] = field(default_factory=dict)  # under what the caller gives, key by key
    tools: tuple[str, ...] | None = None  # patterns of full names; None: all there are
    includes_files: bool = True
    is_fixed: bool = False  # it takes no arguments
    type_check: bool = False
    refused_modules: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()  # groups of tools that stand beside it, of COMPANIONS
    limits: Mapping[str, float | int] = field(default_factory=dict)  # laid over the configured ones
    caps: Mapping[str, float | int] = field(default_factory=dict)  # what a caller may ask for at most


def shipped(name: str) -> Definition:
    """The definition of that name that comes with Paddock."""
    text = (resources.files("paddock.definitions") / f"{name}.toml").read_text(encoding="utf-8")
    return read(tomllib.loads(text))


def read(values: Mapping[str, Any]) -> Definition:
    """The definition that `values` are, as a file or the store has them; `BadDefinition` says what is wrong."""
    known = {each.name: each for each in fields(Definition)}
    for name in values:
        if name not in known:
            near = nearest(name, known)
            raise BadDefinition(
                f"a definition has no {name!r}; " + (f"did you mean {near!r}?" if near else _has(known))
            )
    for name in ("name", "title", "face", "description"):
        if not isinstance(values.get(name), str) or not values[name].strip():
            raise BadDefinition(f"a definition needs {name!r}, a text")
    for name, choices in (("language", (*LANGUAGES, None)), ("engine", (*ENGINES, None)), ("mode", MODES)):
        if values.get(name, known[name].default) not in choices:
            listed = ", ".join(choice for choice in choices if choice)
            raise BadDefinition(f"{name} must be one of {listed}, not {values[name]!r}")
    for name in ("includes_files", "is_fixed", "type_check"):
        if not isinstance(values.get(name, False), bool):
            raise BadDefinition(f"{name} must be true or false, not {values[name]!r}")
    if not isinstance(values.get("code"), str | None):
        raise BadDefinition("code must be a text")
    for name in ("inputs", "limits", "caps"):
        if not isinstance(values.get(name, {}), Mapping):
            raise BadDefinition(f"{name} must be a table, not {values[name]!r}")
    for name in ("limits", "caps"):
        _check_limits(name, values.get(name, {}))
    lists = {
        name: _texts(name, values[name])
        for name in ("tools", "refused_modules", "companions")
        if values.get(name) is not None
    }
    _check_companions(lists.get("companions", ()))
    _check_caps(values.get("limits", {}), values.get("caps", {}))
    return Definition(**{**values, **lists})


def _check_companions(names: tuple[str, ...]) -> None:
    for name in names:
        if name not in COMPANIONS:
            raise BadDefinition(f"companions must be of {', '.join(COMPANIONS)}, not {name!r}")


def _check_caps(limits: Mapping[str, Any], caps: Mapping[str, Any]) -> None:
    for name, value in limits.items():
        if value > caps.get(name, value):
            raise BadDefinition(f"limits.{name} is {value}, above its cap of {caps[name]}")


def _check_limits(name: str, values: Mapping[str, Any]) -> None:
    for limit, value in values.items():
        if limit not in NAMES:
            near = nearest(limit, NAMES)
            raise BadDefinition(
                f"{name} has no {limit!r}; " + (f"did you mean {near!r}?" if near else f"there are {', '.join(NAMES)}")
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise BadDefinition(f"{name}.{limit} must be a positive number, not {value!r}")


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) for each in values):
        raise BadDefinition(f"{name} must be a list of texts, not {values!r}")
    return tuple(values)


def _has(known: Mapping[str, Any]) -> str:
    return f"it has {', '.join(known)}"
