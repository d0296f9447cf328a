"""Definitions that users make: what they say, laid over the shipped one, and checked before they are saved."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from paddock.definitions.definition import SHIPPED, Definition, read, shipped
from paddock.errors import BadDefinition, BadInput, BadLimit, CodeTooLarge, LimitTooHigh, UnknownTool
from paddock.model import limits as limits_of
from paddock.tools.toolbox import is_pattern

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.run import Paddock

BASE = "code_execution"
"""What is not said is as this one has it."""
OWN = ("name", "title", "description", "code", "inputs", "tools", "is_fixed")
"""What a definition does not take from the base."""
FIXED = ("face", "language", "mode", "caps")
"""What it cannot say otherwise than the base."""
RESERVED = frozenset(
    {
        *("get_run", "cancel_run", "read_artifact", "write_artifact", "list_artifacts", "attach_file", "detach_file"),
        *("search", "get_schema", "tags", "get_session_state", "get_envelope_contract", "set_context"),
        *("set_active_identity", "set_region", "set_active_profile", "select_connections"),
    }
)
"""Names of tools that stand beside definitions."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Checked:
    """A definition that may be saved, and what could not be checked."""

    definition: Definition
    warnings: tuple[str, ...] = ()


def saved(values: Mapping[str, Any]) -> Definition:
    """The definition that a file or the store has; `BadDefinition` says what is wrong. Asks no server for anything."""
    base = asdict(_base())
    defaults = {name: value for name, value in base.items() if name not in OWN}
    name = values.get("name")
    title = name.replace("_", " ").replace("-", " ").capitalize() if isinstance(name, str) else ""
    limits = values.get("limits", {})
    merged = {**base["limits"], **limits} if isinstance(limits, Mapping) else limits
    made = read({**defaults, "title": title, "tools": [], **values, "limits": merged})
    for key in FIXED:
        if getattr(made, key) != getattr(_base(), key):
            raise BadDefinition(f"{key} of a definition that is saved is always {getattr(_base(), key)!r}")
    _check_name(made.name)
    if made.is_fixed and made.code is None:
        raise BadDefinition("is_fixed: a definition that takes no arguments needs code of its own")
    return made


async def checked(values: Mapping[str, Any], paddock: Paddock, config: Config, others: Collection[str] = ()) -> Checked:
    """`values` as a definition that can be offered: its limits, its inputs, its code and the tools that it links.

    `others` are the names of definitions that are saved. `BadDefinition` where it is wrong. What cannot be looked at
    because a server is not there now is a warning.
    """
    made = saved(values)
    if paddock.injection is not None and made.name in [field.setter for field in paddock.injection.fields]:
        raise BadDefinition(f"{made.name!r} is the tool that sets a field of [context]; choose another name")
    try:
        limits_of.resolve(made.limits, config.limits, replace(config.caps, **made.caps))  # type: ignore[arg-type]
    except (BadLimit, LimitTooHigh) as problem:
        raise BadDefinition(f"limits: {problem}") from None
    _check_links(made, {*SHIPPED, *others})
    await _check_code(made, paddock, ())
    try:
        await _check_code(made, paddock, made.tools or ())
    except UnknownTool as problem:
        if _is_all_there(made, paddock):
            raise BadDefinition(f"tools: {problem} (of the servers that are configured)") from None
        return Checked(made, (f"not checked against its tools: {problem}",))
    return Checked(made)


async def _check_code(made: Definition, paddock: Paddock, tools: Collection[str]) -> None:
    try:
        error = await paddock.check(
            made.code or "",
            inputs=made.inputs,
            tools=tools,
            type_check="tools" if made.type_check else False,
            refused_modules=made.refused_modules,
        )
    except (BadInput, CodeTooLarge) as problem:
        raise BadDefinition(str(problem)) from None
    if error is not None:
        where = "" if error.line is None else f", line {error.line}"
        raise BadDefinition(f"code: {error.type}{where}: {error.message}")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadDefinition(
            f"name must be 1 to 64 letters, digits, '_' and '-', a letter first, not {name[:100]!r}: tools are named so"
        )
    if name in SHIPPED:
        raise BadDefinition(f"{name!r} is a definition that comes with Paddock; choose another name")
    if name in RESERVED:
        raise BadDefinition(f"{name!r} is the name of another tool of the server; choose another name")


def _check_links(made: Definition, code_tools: Collection[str]) -> None:
    """A code tool that links a code tool would escape the limits of its run."""
    for name in made.tools or ():
        bare = name.removeprefix("paddock.")
        if not is_pattern(name) and (bare in code_tools or bare == made.name):
            raise BadDefinition(f"tools: {name!r} is a code tool, and a code tool can't link another")


def _is_all_there(made: Definition, paddock: Paddock) -> bool:
    """Whether every server that the definition may speak of has said what it has."""
    known = paddock.upstreams()
    named = {server for server in known for name in made.tools or () if name.startswith(f"{server}.")}
    bare = any(not any(name.startswith(f"{server}.") for server in known) for name in made.tools or ())
    return all(known[server].state == "ready" for server in (known if bare else named))


@cache
def _base() -> Definition:
    return shipped(BASE)
