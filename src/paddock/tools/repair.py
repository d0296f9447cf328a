"""Repairs arguments that are certainly wrong and have only one possible meaning.

Only invalid parts are changed (an unknown field if none is allowed, a missing required one, a value of a wrong type, a
null where none is allowed), so valid arguments come back unchanged. No information is lost: a text becomes a number
only if it is exactly that number's text. Schema and arguments are untrusted: neither can make a repair raise.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from paddock.model.spelling import within_edits
from paddock.tools.schema import resolve_pointer
from paddock.tools.schema_errors import path, received_type

MAX_NOTES = 50
MAX_GUESSES = 20
"""How many unknown fields are matched with a known name."""
LISTED_FIELDS = 8
MAX_FIELDS = 1000
"""How many known names are compared with an unknown one, and how many alternatives of a choice are considered."""
MAX_DEPTH = 20
MAX_STEPS = 30_000
"""How many schemas are looked up for the values of one call: about 0.1 s. Beyond that, nothing is repaired."""
SEARCH_STEPS = 3000
"""How many schemas are looked up to find misspelt fields. The event loop waits for it."""
CHARACTERS_PER_STEP = NAMES_PER_STEP = 8
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,14})?")
_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_COMPOSED = frozenset({"allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "$ref"})
_SENTENCES = {
    "coerced": "'{field}' was converted from {from_type} to {to_type}.",
    "renamed": "'{from}' was passed as '{to}'.",
    "dropped_alias": "'{from}' was dropped: '{canonical}' has the same value.",
}
_Location = tuple[str | int, ...]


def repair(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], *, only_text: bool = False
) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """Repair `arguments` as far as that is certain. Also returns entries for `_meta.normalized` about the repairs.

    A null that is not allowed for an optional field is removed without a note. With `only_text`, the only other repair
    is to decode a text that is the JSON of a number, boolean, array or object.
    """
    repairer = _Repair(schema, only_text)
    try:
        repaired = repairer.value(arguments, schema, ())
    except _TooManySteps:
        return arguments, []
    return (repaired if isinstance(repaired, dict) else arguments), repairer.notes


def unknown_fields(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Unknown fields that the schema does not forbid, each with the known field that was meant, or all known ones.

    Where the schema says that it allows any field, only those are found that are probably misspelt.
    """
    repairer = _Repair(schema, steps=SEARCH_STEPS)
    with suppress(_TooManySteps):
        repairer.search(arguments, schema, ())
    return repairer.unknown


def describe(note: Mapping[str, Any]) -> str:
    """A repair as a sentence; empty for a note about a field that was not changed."""
    return _SENTENCES.get(note["kind"], "").format_map(note)


class _TooManySteps(Exception):
    """The arguments have too many values, or their schemas too many alternatives."""


@dataclass(slots=True)
class _Repair:
    root: Mapping[str, Any]
    only_text: bool = False
    notes: list[dict[str, Any]] = field(default_factory=list)
    guesses: int = MAX_GUESSES
    unknown: list[tuple[str, str]] = field(default_factory=list)
    steps: int = MAX_STEPS

    def search(self, value: Any, schema: Any, location: _Location) -> None:
        """Collect the unknown fields in `value`."""
        node = self._without_null(self._resolve(schema))
        if len(location) > MAX_DEPTH or not isinstance(node, Mapping):
            return
        if isinstance(value, list):
            for number, one in enumerate(value):
                self.search(one, node.get("items"), (*location, number))
        properties = node.get("properties")
        if not isinstance(value, dict) or not isinstance(properties, Mapping) or not properties:
            return
        for name, one in value.items():
            if name in properties:
                if isinstance(one, (dict, list)):
                    self.search(one, properties[name], (*location, name))
            elif self.guesses > 0 and _is_open(node):
                self.guesses -= 1
                near = within_edits(
                    name, (other for other in properties if isinstance(other, str) and other not in value)
                )
                if near or "additionalProperties" not in node:
                    advice = f"did you mean '{near[0]}'?" if near else _known_fields(properties)
                    self.unknown.append((path((*location, name)), advice))

    def value(self, value: Any, schema: Any, location: _Location) -> Any:
        node = self._resolve(schema)
        if len(location) > MAX_DEPTH or not isinstance(node, Mapping):
            return value
        value = self._coerce(value, node, location)
        node = self._without_null(node)
        if isinstance(value, dict):
            return self._object(value, node, location)
        items = node.get("items")
        if isinstance(value, list) and isinstance(items, Mapping) and "prefixItems" not in node:
            return [self.value(one, items, (*location, number)) for number, one in enumerate(value)]
        return value

    def _object(self, value: dict[str, Any], node: Mapping[str, Any], location: _Location) -> dict[str, Any]:
        properties = node.get("properties")
        if not isinstance(properties, Mapping):
            return value
        names = {} if self.only_text else self._names(value, node, properties, location)
        required = self._required(node)
        repaired: dict[str, Any] = {}
        for name, one in value.items():
            target = names.get(name, name)
            is_absent = one is None and target not in required and not self._allows_null(properties.get(target))
            if target is not None and not is_absent:
                repaired[target] = self.value(one, properties.get(target), (*location, target))
        return repaired

    def _allows_null(self, schema: Any) -> bool:
        """Whether null may be valid. Assumes so unless the schema's types say otherwise."""
        node = self._resolve(schema)
        if not isinstance(node, Mapping):
            return True
        types = self._types(node)
        return not types or "null" in types

    def _names(
        self, value: dict[str, Any], node: Mapping[str, Any], properties: Mapping[str, Any], location: _Location
    ) -> dict[str, Any]:
        """The new name of each unknown field, or None for a field to drop."""
        is_closed = node.get("additionalProperties") is False and "patternProperties" not in node
        if not is_closed and not _is_open(node):
            return {}
        required = self._required(node)
        unknown = [name for name in value if name not in properties]
        targets = {name: self._closest_property(name, properties) for name in unknown}
        target_counts = Counter(targets.values())
        names: dict[str, Any] = {}
        for name in unknown:
            target = targets[name] if target_counts[targets[name]] == 1 else None
            if target is not None and target not in value and (is_closed or target in required):
                names[name] = target
                self._record("renamed", {"from": path((*location, name)), "to": path((*location, target))})
            elif target is not None and is_closed and target in value and _same(value[target], value[name]):
                names[name] = None
                self._record("dropped_alias", {"from": path((*location, name)), "canonical": path((*location, target))})
            else:
                kind = "unknown_field_rejected" if is_closed else "unknown_field_passed_through"
                self._record(kind, {"field": path((*location, name))})
        return names

    def _coerce(self, value: Any, node: Mapping[str, Any], location: _Location) -> Any:
        allowed = self._types(node)
        if not allowed or _has_type(value, allowed) or (self.only_text and not isinstance(value, str)):
            return value
        for to in allowed:
            coerced = self._to_list(value, node, location) if to == "array" else _coerce(value, to)
            if coerced is not None:
                self._record("coerced", {"field": path(location), "from_type": received_type(value), "to_type": to})
                return coerced
        return value

    def _to_list(self, value: Any, node: Mapping[str, Any], location: _Location) -> list[Any] | None:
        """Decode `value` if it is the JSON text of a list, else wrap it in a list if items may have its type."""
        parsed: list[Any] | None = _decode_json(value, list)
        if parsed is not None or value is None or isinstance(value, (list, dict)) or self.only_text:
            return parsed
        items = self._resolve(node.get("items", {}))
        types = self._types(items) if isinstance(items, Mapping) else ()
        if not types or _has_type(value, types):
            return [value]
        item = next((one for one in (_coerce(value, to) for to in types) if one is not None), None)
        return None if item is None or len(location) >= MAX_DEPTH else [item]

    def _types(self, node: Mapping[str, Any]) -> tuple[str, ...]:
        """Every type that `node` allows; empty if that is not obvious."""
        branches = [] if "type" in node else self._alternatives(node)
        if not branches:
            return _declared_types(node.get("type"))
        found = [_declared_types(one.get("type")) if isinstance(one, Mapping) else () for one in branches]
        return tuple(name for names in found for name in names) if all(found) else ()

    def _without_null(self, node: Any) -> Any:
        """The other alternative if `node` is a choice between null and one schema, else `node`."""
        if not isinstance(node, Mapping) or "properties" in node or "items" in node:
            return node
        branches = self._alternatives(node)
        others = [one for one in branches if not isinstance(one, Mapping) or one.get("type") != "null"]
        return others[0] if len(others) == 1 and isinstance(others[0], Mapping) else node

    def _alternatives(self, node: Mapping[str, Any]) -> list[Any]:
        """The schemas of `anyOf` or `oneOf`, without references; empty if there are none, or too many."""
        listed: list[Any] = next((node[name] for name in ("anyOf", "oneOf") if isinstance(node.get(name), list)), [])
        return [self._resolve(branch) for branch in listed] if len(listed) <= MAX_FIELDS else []

    def _resolve(self, schema: Any) -> Any:
        """`schema`, or the schema that it references within the document."""
        for _ in range(MAX_DEPTH):
            self._count(1)
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                return schema
            reference = schema["$ref"]
            self._count(len(reference) // CHARACTERS_PER_STEP if isinstance(reference, str) else 0)
            schema = resolve_pointer(self.root, reference)
        return None

    def _required(self, node: Mapping[str, Any]) -> frozenset[str]:
        listed = node.get("required")
        names = listed if isinstance(listed, list) else []
        self._count(len(names) // NAMES_PER_STEP)
        return frozenset(name for name in names if isinstance(name, str))

    def _count(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise _TooManySteps

    def _closest_property(self, name: str, properties: Mapping[str, Any]) -> str | None:
        """The only property with the same spelling as `name`, else the only one within two edits."""
        if self.guesses <= 0:
            return None
        self.guesses -= 1
        known = [other for other in islice(properties, MAX_FIELDS) if isinstance(other, str)]
        spelling = _spelling(name)
        same_spelling = [other for other in known if _spelling(other) == spelling]
        if len(same_spelling) == 1:
            return same_spelling[0]
        near = within_edits(name, known)
        return near[0] if len(near) == 1 else None

    def _record(self, kind: str, what: dict[str, Any]) -> None:
        if len(self.notes) < MAX_NOTES:
            self.notes.append({"kind": kind, **what})


def _declared_types(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    is_valid = len(names) <= len(_TYPES) and all(isinstance(name, str) and name in _TYPES for name in names)
    return tuple(names) if is_valid else ()


def _has_type(value: Any, types: Sequence[str]) -> bool:
    kind = received_type(value)
    return kind in types or (kind == "integer" and "number" in types)


def _is_open(node: Mapping[str, Any]) -> bool:
    """Whether an object of this schema may have any unknown field."""
    return node.get("additionalProperties", True) is True and not node.keys() & {*_COMPOSED, "patternProperties"}


def _known_fields(properties: Mapping[str, Any]) -> str:
    names = ", ".join(path([str(name)]) for name in islice(properties, LISTED_FIELDS))
    return f"known fields: {names}{', …' if len(properties) > LISTED_FIELDS else '.'}"


def _spelling(name: str) -> str:
    return re.sub(r"[_\- ]", "", name).casefold()


def _coerce(value: Any, to: str) -> Any:
    """`value` converted to the type `to`, or None if information would be lost."""
    if isinstance(value, str):
        if to in ("integer", "number") and _NUMBER.fullmatch(value) and value != "-0":
            whole = "." not in value
            return int(value) if whole else float(value) if to == "number" else None
        if to == "boolean":
            return {"true": True, "false": False}.get(value.lower())
        return _decode_json(value, dict) if to == "object" else None
    if to == "integer" and isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if to == "string" and isinstance(value, (bool, int, float)):
        return _to_text(value)
    return None


def _to_text(value: float) -> str | None:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:  # infinite, or too long to be written
        return None


def _decode_json(value: Any, kind: type) -> Any:
    """The decoded list or object if `value` is its JSON text, else None."""
    if not isinstance(value, str) or not value.startswith("[" if kind is list else "{"):
        return None
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, kind) else None


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and not isinstance(a, (dict, list)) and bool(a == b)
