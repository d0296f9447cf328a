"""A definition: one code tool as data. Shipped definitions are TOML files; users save their own in the same form."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from typing import Any

from paddock.config import Config
from paddock.errors import BadDefinition, RequestError
from paddock.model.limits import NAMES, Limits, resolve
from paddock.model.network import NONE, PUBLIC, parse_policy
from paddock.model.request import ENGINES, LANGUAGES, MODES, RunOptions
from paddock.model.spelling import did_you_mean

SHIPPED = ("run_code", "execute", "code_executor", "code_execution", "python", "code-execution_execute")
"""Names of the shipped definitions, in the order in which a server lists them. By default it offers the first."""

FACES = ("native", "execute", "markdown", "terminal", "logs", "inputs")
"""Names of the modules in `faces`."""

COMPANIONS = ("discovery", "discovery_if_tools", "session")
"""Groups of tools that a definition can bring along.

`discovery` finds tools that scripts can call. `discovery_if_tools` is the same group, left out if there are no such
tools. `session` shows and sets the session's context.
"""

LISTED_KEYS = 5
"""How many unknown keys a refusal names."""
_TYPES: tuple[tuple[Any, str, tuple[str, ...]], ...] = (
    (bool, "true or false", ("includes_files", "is_fixed", "keep_files", "type_check")),
    (Mapping, "a table", ("inputs", "limits", "caps")),
    (str | None, "a string", ("code",)),
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A code tool: its description for models, the defaults of its runs, and its face."""

    name: str
    title: str
    face: str
    description: str  # a shipped one has fields in braces, which the face fills in
    language: str | None = None  # None: the caller chooses
    engine: str | None = None
    mode: str = "expression"
    code: str | None = None  # runs if the caller passes no code
    inputs: Mapping[str, Any] = field(default_factory=dict)  # defaults; the caller's inputs override them key by key
    tools: tuple[str, ...] | None = None  # patterns of full names; None: all tools
    includes_files: bool = True
    is_fixed: bool = False  # whether the tool takes no arguments
    keep_files: bool = False  # whether the files that a script leaves in its working directory become artifacts
    type_check: bool = False
    refused_modules: tuple[str, ...] = ()
    network: str | tuple[str, ...] | None = None  # as far as the operator allows it
    companions: tuple[str, ...] = ()  # names from COMPANIONS
    limits: Mapping[str, float | int] = field(default_factory=dict)  # override the configured limits
    caps: Mapping[str, float | int] = field(default_factory=dict)  # the highest limits that a caller may ask for

    @property
    def is_python(self) -> bool:
        """Whether scripts are Python unless the caller chooses another language."""
        return self.language in ("python", None)

    def default_network(self, *, is_loopback: bool) -> str:
        """What a server's callers may have in this tool's runs, if the operator has not said anything."""
        return PUBLIC if is_loopback and self == shipped("python") else NONE

    def effective_limits(self, config: Config) -> Limits:
        """The limits of this tool's runs: the definition's, else the configured ones, never above the host's caps."""
        own = {name: min(value, getattr(config.caps, name)) for name, value in self.limits.items()}
        return resolve(own, config.limits, config.caps)

    def run_options(self, config: Config, wall_seconds: float | None = None) -> RunOptions:
        """The options of this tool's runs. `wall_seconds`, if given, replaces the time limit."""
        limits = self.effective_limits(config)
        return {
            "language": self.language or "python",
            "engine": self.engine,
            "mode": self.mode,
            "tools": self.tools,
            "limits": limits if wall_seconds is None else replace(limits, wall_seconds=wall_seconds),
            "type_check": "tools" if self.type_check else False,
            "refused_modules": self.refused_modules,
            "keep_files": self.keep_files,
        }


@cache
def shipped(name: str) -> Definition:
    """The shipped definition of this name."""
    text = (resources.files("paddock.definitions") / f"{name}.toml").read_text(encoding="utf-8")
    return parse_definition(tomllib.loads(text))


def parse_definition(values: Mapping[str, Any]) -> Definition:
    """Build a definition from the values of a file or of the store. Raises BadDefinition with the reason."""
    known = {each.name: each for each in fields(Definition)}
    needed = ("name", "title", "face", "description")
    lacking = [name for name in needed if not isinstance(values.get(name), str) or not values[name].strip()]
    problems = [f"needs {name!r}, a non-empty string" for name in lacking]
    if unknown := [name for name in values if name not in known][:LISTED_KEYS]:
        keys = ", ".join(map(repr, unknown))
        problems.append(f"has no {keys}; {did_you_mean(unknown[0] if len(unknown) == 1 else '', known)}")
    if problems:  # all at once, so that one correction is enough
        raise BadDefinition(f"a definition {', and '.join(problems)}")
    choices_of = {"face": FACES, "language": (*LANGUAGES, None), "engine": (*ENGINES, None), "mode": MODES}
    for name, choices in choices_of.items():
        if values.get(name, known[name].default) not in choices:
            raise BadDefinition(f"{name} must be one of {', '.join(filter(None, choices))}, not {values[name]!r}")
    for kind, expected, names in _TYPES:
        for name in names:
            if name in values and not isinstance(values[name], kind):
                raise BadDefinition(f"{name} must be {expected}, not {values[name]!r}")
    lists: dict[str, Any] = {
        name: _strings(name, values[name])
        for name in ("tools", "refused_modules", "companions")
        if values.get(name) is not None
    }
    companion = next((name for name in lists.get("companions", ()) if name not in COMPANIONS), None)
    if companion is not None:
        raise BadDefinition(f"companions may contain {', '.join(COMPANIONS)}, not {companion!r}")
    _check_limits(values.get("limits", {}), values.get("caps", {}))
    if values.get("network") is not None:
        try:
            words = parse_policy(values["network"]).words()
        except RequestError as problem:
            raise BadDefinition(str(problem)) from None
        lists["network"] = tuple(words) if isinstance(words, list) else words
    return Definition(**{**values, **lists})


def _check_limits(limits: Mapping[str, Any], caps: Mapping[str, Any]) -> None:
    for table, values in (("limits", limits), ("caps", caps)):
        for name, value in values.items():
            if name not in NAMES:
                raise BadDefinition(f"{table} has no {name!r}; {did_you_mean(name, NAMES)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise BadDefinition(f"{table}.{name} must be a positive number, not {value!r}")
    for name, value in limits.items():
        if value > caps.get(name, value):
            raise BadDefinition(f"limits.{name} is {value}, above its cap of {caps[name]}")


def _strings(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) for each in values):
        raise BadDefinition(f"{name} must be a list of strings, not {values!r}")
    return tuple(values)
