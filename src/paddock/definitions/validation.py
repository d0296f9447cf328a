"""Parses and validates the definitions that users save. A shipped definition supplies the values they leave out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from paddock.definitions.definition import SHIPPED, Definition, parse_definition, shipped
from paddock.errors import (
    BadDefinition,
    BadInput,
    BadLimit,
    CodeTooLarge,
    EngineUnavailable,
    LimitTooHigh,
    UnknownTool,
)
from paddock.model import limits as limits_model
from paddock.model.json_depth import is_deeper
from paddock.model.network import NONE
from paddock.tools.catalogue import is_pattern, servers_of
from paddock.tools.size import is_larger

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.run import Paddock

BASE = "code_execution"
"""The shipped definition that supplies every value a user leaves out."""
NOT_INHERITED = ("name", "title", "description", "code", "inputs", "tools", "is_fixed")
"""Keys whose values are not inherited from the base."""
FIXED = ("face", "language", "mode", "caps")
"""Keys that must have the base's value."""
NETWORK_MODULES = ("socket", "urllib.request", "http", "requests", "httpx", "aiohttp")
"""Modules that the base refuses, and that a definition with a network needs."""
RESERVED = frozenset(
    {
        *("get_run", "cancel_run", "read_artifact", "write_artifact", "list_artifacts", "attach_file", "detach_file"),
        *("search", "get_schema", "tags", "get_session_state", "get_envelope_contract", "set_context"),
        *("set_active_identity", "set_region", "set_active_profile", "select_connections"),
    }
)
"""Names of the server's built-in tools."""
DEFINITION_BYTES = 256 * 1024
"""The largest definition, as JSON. Every list of definitions reads all of them."""
DEFINITION_DEPTH = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Validated:
    """A definition that may be saved, with warnings about what could not be checked."""

    definition: Definition
    warnings: tuple[str, ...] = ()


def parse_saved(values: Mapping[str, Any]) -> Definition:
    """Build a user's definition from a file or the store without contacting any server. Raises BadDefinition."""
    base = asdict(shipped(BASE))
    defaults = {name: value for name, value in base.items() if name not in NOT_INHERITED}
    if values.get("network", NONE) not in (NONE, None, []):
        defaults["refused_modules"] = [each for each in base["refused_modules"] if each not in NETWORK_MODULES]
    name = values.get("name")
    title = name.replace("_", " ").replace("-", " ").capitalize() if isinstance(name, str) else ""
    limits = values.get("limits", {})
    merged = {**base["limits"], **limits} if isinstance(limits, Mapping) else limits
    definition = parse_definition({**defaults, "title": title, "tools": [], **values, "limits": merged})
    for key in FIXED:
        if getattr(definition, key) != (fixed := getattr(shipped(BASE), key)):
            raise BadDefinition(f"{key} of a saved definition is always {fixed!r}; leave it out")
    _check_name(definition.name)
    if definition.is_fixed and definition.code is None:
        raise BadDefinition("is_fixed: a definition that takes no arguments must have code; set code")
    return definition


async def validate(
    values: Mapping[str, Any], paddock: Paddock, config: Config, others: Collection[str] = ()
) -> Validated:
    """Check limits, inputs, code and linked tools of a definition. Raises BadDefinition with the reason.

    `others` are the names of definitions that are already saved. A check that is impossible now, because a server or
    an engine is not available, becomes a warning.
    """
    _check_size(values)
    definition = parse_saved(values)
    if paddock.injection is not None and definition.name in [field.setter for field in paddock.injection.fields]:
        raise BadDefinition(f"{definition.name!r} is the tool that sets a field of [context]; choose another name")
    try:
        caps = replace(config.caps, **definition.caps)  # type: ignore[arg-type]
        limits_model.resolve(definition.limits, config.limits, caps)
    except (BadLimit, LimitTooHigh) as problem:
        raise BadDefinition(f"limits: {problem}") from None
    _check_links(definition, {*SHIPPED, *others})
    warnings = await _check_code(definition, paddock)
    if definition.tools == () and "call_tool(" in (definition.code or ""):
        warnings = (*warnings, "the code uses call_tool, but `tools` links none, so each call fails; list them there")
    return Validated(definition, warnings)


async def _check_code(definition: Definition, paddock: Paddock) -> tuple[str, ...]:
    """Compile the code in a guest, and check it against the types of its linked tools. Returns warnings."""
    tools, missing, is_certain = definition.tools or (), None, True
    try:
        await paddock.tool_stubs(tools, whole=False)
    except UnknownTool as problem:
        # Whether all servers are ready is tested now, because one may become ready while the code is checked.
        tools, missing, is_certain = (), problem, await _all_ready(definition, paddock)
    try:
        error = await _code_error(definition, paddock, tools)
    except EngineUnavailable as problem:
        return (f"the code was not checked, because full Python cannot run here: {problem}",)
    except (BadInput, CodeTooLarge) as problem:
        raise BadDefinition(str(problem)) from None
    if error is not None:
        raise BadDefinition(f"code: {error}")
    if missing is None:
        return ()
    if is_certain:
        raise BadDefinition(f"tools: {missing} (on the configured servers)")
    return (f"the code was not checked against its tools: {missing}",)


async def _code_error(definition: Definition, paddock: Paddock, tools: Collection[str]) -> str | None:
    error = await paddock.check(
        definition.code or "",
        engine="cpython",  # Monty refuses some valid Python, and cannot check without running
        inputs=definition.inputs,
        tools=tools,
        type_check="tools" if definition.type_check else False,
        refused_modules=definition.refused_modules,
    )
    if error is None:
        return None
    if error.type == "EngineUnavailable":
        raise EngineUnavailable(error.message)
    position = "" if error.line is None else f", line {error.line}"
    return f"{error.type}{position}: {error.message}"


def _check_size(values: Mapping[str, Any]) -> None:
    if is_larger(values, DEFINITION_BYTES):  # first, because it stops at the limit
        limit = limits_model.format_bytes(DEFINITION_BYTES)
        raise BadDefinition(f"the definition is larger than {limit}; pass data through the inputs of a call")
    if is_deeper(values, DEFINITION_DEPTH):
        raise BadDefinition(f"the definition is nested more than {DEFINITION_DEPTH} levels deep")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadDefinition(
            f"name must be 1 to 64 letters, digits, '_' or '-' and start with a letter, not {name[:100]!r}"
        )
    if name in SHIPPED:
        raise BadDefinition(f"{name!r} is a definition that comes with Paddock; choose another name")
    if name in RESERVED:
        raise BadDefinition(f"{name!r} is a built-in tool of the server; choose another name")


def _check_links(definition: Definition, code_tools: Collection[str]) -> None:
    """Refuse links to code tools: a nested run would escape the limits of the outer one."""
    for name in definition.tools or ():
        bare = name.removeprefix("paddock.")
        if not is_pattern(name) and (bare in code_tools or bare == definition.name):
            raise BadDefinition(f"tools: {name!r} is a code tool, and a code tool can't link another")


async def _all_ready(definition: Definition, paddock: Paddock) -> bool:
    """Whether every server that the linked tools may belong to has listed its tools."""
    health = await paddock.upstreams()
    servers = servers_of(definition.tools or (), health) or health  # a name without a server may belong to any
    return all(health[server].state == "ready" for server in servers)
