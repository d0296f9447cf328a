"""Repairs arguments that are certainly wrong and can mean only one thing. Off by default.

Only what cannot be valid is changed (an unknown field where none is allowed, a missing required one, a value of a wrong
type), so valid arguments come back as they are. Nothing is lost: a text becomes a number only if it is exactly that
number's text. The upstream wrote the schema and a script the arguments: no shape of either raises.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from paddock.model.words import within_edits
from paddock.tools.schema import resolve_pointer
from paddock.tools.schema_errors import path, received_type

NOTES = 50
GUESSES = 20
"""Unknown fields for which a known name is searched."""
FIELDS = 1000
"""Known names that are compared with an unknown one."""
_DEEPEST = 20
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,14})?")
_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_COMPOSED = frozenset({"allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "$ref"})
_Place = tuple[str | int, ...]


def repair(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """`arguments` repaired as far as that is certain, and entries for `_meta.normalized` that say what was done."""
    repairing = _Repair(schema)
    made = repairing.value(arguments, schema, ())
    return (made if isinstance(made, dict) else arguments), repairing.notes[:NOTES]


@dataclass(slots=True)
class _Repair:
    root: Mapping[str, Any]
    notes: list[dict[str, Any]] = field(default_factory=list)
    guesses: int = GUESSES

    def value(self, value: Any, schema: Any, place: _Place) -> Any:
        node = self._followed(schema)
        if len(place) > _DEEPEST or not isinstance(node, Mapping):
            return value
        value = self._coerced(value, node, place)
        if isinstance(value, dict):
            return self._object(value, node, place)
        items = node.get("items")
        if isinstance(value, list) and isinstance(items, Mapping) and "prefixItems" not in node:
            return [self.value(one, items, (*place, number)) for number, one in enumerate(value)]
        return value

    def _object(self, value: dict[str, Any], node: Mapping[str, Any], place: _Place) -> dict[str, Any]:
        properties = node.get("properties")
        if not isinstance(properties, Mapping):
            return value
        names = self._names(value, node, properties, place)
        return {
            names.get(name, name): self.value(
                one, properties.get(names.get(name, name)), (*place, names.get(name, name))
            )
            for name, one in value.items()
            if names.get(name, name) is not None
        }

    def _names(
        self, value: dict[str, Any], node: Mapping[str, Any], properties: Mapping[str, Any], place: _Place
    ) -> dict[str, Any]:
        """The new name of each unknown field, or None if it is to be dropped."""
        closed = node.get("additionalProperties") is False and "patternProperties" not in node
        is_open = node.get("additionalProperties", True) is True and not node.keys() & {*_COMPOSED, "patternProperties"}
        if not closed and not is_open:
            return {}
        required = node.get("required")
        wanted = (
            set(required) if isinstance(required, list) and all(isinstance(one, str) for one in required) else set()
        )
        unknown = [name for name in value if name not in properties]
        meant = {name: self._meant(name, properties) for name in unknown}
        times = Counter(meant.values())
        names: dict[str, Any] = {}
        for name in unknown:
            to = meant[name]
            alone = times[to] == 1
            if to is not None and alone and to not in value and (closed or to in wanted):
                names[name] = to
                self._note("renamed", {"from": path((*place, name)), "to": path((*place, to))})
            elif to is not None and alone and closed and to in value and _same(value[to], value[name]):
                names[name] = None
                self._note("dropped_alias", {"from": path((*place, name)), "canonical": path((*place, to))})
            else:
                kind = "unknown_field_rejected" if closed else "unknown_field_passed_through"
                self._note(kind, {"field": path((*place, name))})
        return names

    def _coerced(self, value: Any, node: Mapping[str, Any], place: _Place) -> Any:
        wanted = self._types(node)
        kind = received_type(value)
        if not wanted or kind in wanted or (kind == "integer" and "number" in wanted):
            return value
        for to in wanted:
            made = self._wrapped(value, node, place) if to == "array" else _coerced(value, to)
            if made is not None:
                self._note("coerced", {"field": path(place), "from_type": kind, "to_type": to})
                return made
        return value

    def _wrapped(self, value: Any, node: Mapping[str, Any], place: _Place) -> list[Any] | None:
        """The list that `value` is the JSON text of, or a list of `value` alone if its items are of that type."""
        given: list[Any] | None = _decoded(value, list)
        if given is not None or value is None or isinstance(value, (list, dict)):
            return given
        items = self._followed(node.get("items", {}))
        types = self._types(items) if isinstance(items, Mapping) else ()
        kind = received_type(value)
        if not types or kind in types or (kind == "integer" and "number" in types):
            return [value]
        made = next((one for one in (_coerced(value, to) for to in types) if one is not None), None)
        return None if made is None or len(place) >= _DEEPEST else [made]

    def _types(self, node: Mapping[str, Any]) -> tuple[str, ...]:
        """Every type that `node` allows; empty if that is not obvious."""
        branches = next((node[name] for name in ("anyOf", "oneOf") if isinstance(node.get(name), list)), None)
        if "type" not in node and branches:
            inner = [self._followed(branch) for branch in branches]
            found = [_declared(one.get("type")) if isinstance(one, Mapping) else () for one in inner]
            return tuple(name for names in found for name in names) if all(found) else ()
        return _declared(node.get("type"))

    def _followed(self, schema: Any) -> Any:
        """`schema`, or what it references within the document."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                return schema
            schema = resolve_pointer(self.root, schema["$ref"])
        return None

    def _meant(self, name: str, properties: Mapping[str, Any]) -> str | None:
        """The only property that is spelled like `name`, else the only one within two edits."""
        if self.guesses <= 0:
            return None
        self.guesses -= 1
        known = [other for other in islice(properties, FIELDS) if isinstance(other, str)]
        spelling = _spelling(name)
        spelled = [other for other in known if _spelling(other) == spelling]
        if len(spelled) == 1:
            return spelled[0]
        near = within_edits(name, known)
        return near[0] if len(near) == 1 else None

    def _note(self, kind: str, what: dict[str, Any]) -> None:
        if len(self.notes) < NOTES:
            self.notes.append({"kind": kind, **what})


def _declared(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    return tuple(names) if all(isinstance(name, str) and name in _TYPES for name in names) else ()


def _spelling(name: str) -> str:
    return re.sub(r"[_\- ]", "", name).casefold()


def _coerced(value: Any, to: str) -> Any:
    """`value` as the type `to` if nothing is lost, or None."""
    if isinstance(value, str):
        if to in ("integer", "number") and _NUMBER.fullmatch(value) and value != "-0":
            whole = "." not in value
            return int(value) if whole else float(value) if to == "number" else None
        if to == "boolean":
            return {"true": True, "false": False}.get(value.lower())
        return _decoded(value, dict) if to == "object" else None
    if to == "integer" and isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if to == "string" and isinstance(value, (bool, int, float)):
        return _written(value)
    return None


def _written(value: float) -> str | None:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:  # infinite, or too long to be written
        return None


def _decoded(value: Any, kind: type) -> Any:
    """The list or object that a text is the JSON of, or None."""
    if not isinstance(value, str) or not value.startswith("[" if kind is list else "{"):
        return None
    try:
        made = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, kind) else None


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and not isinstance(a, (dict, list)) and bool(a == b)
