"""How definitions look on a terminal, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from paddock.cli.show import WIDTH, Screen

if TYPE_CHECKING:
    from paddock.definitions.definition import Definition
    from paddock.store.definitions import StoredDefinition

_NAME_WIDTH = 24
_SOURCE_WIDTH = 9
_FACTS = ("title", "face", "language", "engine", "mode", "tools", "includes_files", "is_fixed", "type_check")


def show_line(out: Screen, definition: Definition, stored: StoredDefinition | None) -> None:
    """A definition on one line."""
    # The face fills in what stands in braces in the words of one that is shipped.
    first = definition.title if stored is None else definition.description.strip().splitlines()[0]
    shown = first if len(first) <= WIDTH else f"{first[: WIDTH - 1]}…"
    out.spans((f"{definition.name:<{_NAME_WIDTH}}", "bold"), (f"{_source(stored):<{_SOURCE_WIDTH}}  {shown}", ""))


def show_problem(out: Screen, stored: StoredDefinition, problem: str) -> None:
    """A definition that was saved by another version of Paddock, and cannot be read by this one."""
    out.spans(
        (f"{stored.name:<{_NAME_WIDTH}}", "bold"), (f"{_source(stored):<{_SOURCE_WIDTH}}  ", ""), (problem, "red")
    )


def show_definition(
    out: Screen, definition: Definition, stored: StoredDefinition | None, versions: list[StoredDefinition]
) -> None:
    """All of a definition."""
    out.spans((definition.name, "bold"), (f": {_source(stored)}", ""))
    for name in _FACTS:
        _fact(out, name, getattr(definition, name))
    for name in ("limits", "caps"):
        _fact(out, name, ", ".join(f"{key} = {value}" for key, value in getattr(definition, name).items()))
    _fact(out, "refused_modules", definition.refused_modules)
    _text(out, "description", definition.description.strip())
    _text(out, "inputs", json.dumps(dict(definition.inputs), ensure_ascii=False, indent=2) if definition.inputs else "")
    _text(out, "code", definition.code or "")
    _text(out, "versions", "\n".join(f"{each.version}  {_when(each)}{_state(each)}" for each in versions))


def values_of(definition: Definition | StoredDefinition) -> dict[str, Any]:
    """A definition as JSON has it: what its file says; `version` is null for one that comes with Paddock."""
    from paddock.definitions.definition import Definition

    if isinstance(definition, Definition):
        return {"name": definition.name, "version": None, "saved_at": None, "definition": asdict(definition)}
    saved_at = _time(definition.created_at).isoformat(timespec="seconds")
    return {
        "name": definition.name,
        "version": definition.version,
        "saved_at": saved_at,
        "definition": definition.spec,
    }


def _source(stored: StoredDefinition | None) -> str:
    return "shipped" if stored is None else f"version {stored.version}"


def _fact(out: Screen, name: str, value: Any) -> None:
    if isinstance(value, tuple):
        value = ", ".join(value) or "none"
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if value not in (None, ""):
        out.line(f"  {name:<15}  {value}")


def _text(out: Screen, name: str, text: str) -> None:
    if text:
        out.line(f"  {name}")
        for line in text.splitlines():
            out.line(f"    {line}".rstrip())


def _state(stored: StoredDefinition) -> str:
    if stored.is_current:
        return "  current"
    return "  removed" if stored.removed_at is not None else ""


def _when(stored: StoredDefinition) -> str:
    return f"{_time(stored.created_at).astimezone():%Y-%m-%d %H:%M:%S}"


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
