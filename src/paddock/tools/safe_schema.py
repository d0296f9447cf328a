"""A copy of an upstream's JSON Schema that is safe to compile: small, shallow, and closed in itself.

The copy has known keywords only. A reference that leaves the document, or leads to what is no schema, is left out, so
that nothing could be read or fetched even without the refusing retriever; so is a pattern that has no linear-time
automaton of a bounded size. What is left out is noted: less is checked then, and the tool stays usable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from paddock.model.nesting import is_deeper

SCHEMA_BYTES = 256 * 1024
SCHEMA_DEPTH = 100
PATTERNS = 500
"""Different ones in one schema. Each takes up to a millisecond to compile."""
PATTERN_BYTES = 1024 * 1024
SMALL_PATTERN_BYTES = 16 * 1024
"""Of compiled automaton. Time to match is at worst proportional to it, for each character."""

DRAFTS = frozenset(
    f"{scheme}://json-schema.org/{draft}/schema{end}"
    for scheme in ("http", "https")
    for draft in ("draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12")
    for end in ("", "#")
)
HERE_ONE = ("not", "if", "then", "else")
HERE_LIST = ("allOf", "anyOf", "oneOf")
HERE_NAMED = ("dependentSchemas", "dependencies")
INSIDE_ONE = ("additionalProperties", "propertyNames", "unevaluatedProperties")
INSIDE_ITEMS = ("items", "additionalItems", "contains", "unevaluatedItems")
INSIDE_NAMED = ("properties", "patternProperties")
DEFINITIONS = ("$defs", "definitions")
_VALUES = frozenset(
    {
        *("type", "enum", "const", "required", "dependentRequired", "format", "default", "examples", "$ref"),
        *("multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength"),
        *("maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties"),
    }
)
_ONE = frozenset((*HERE_ONE, *INSIDE_ONE, *INSIDE_ITEMS))
_LISTS = frozenset((*HERE_LIST, "prefixItems", "items"))
_NAMED = frozenset((*HERE_NAMED, *INSIDE_NAMED, *DEFINITIONS))


class Unusable(Exception):
    """No part of this schema can be used; the message says why."""


@dataclass(slots=True)
class SafeSchema:
    """The copy, every schema in it, and what was left out."""

    root: dict[str, Any] = field(default_factory=dict)
    nodes: dict[int, dict[str, Any]] = field(default_factory=dict)
    patterns: dict[str, int] = field(default_factory=dict)
    """The size class of each pattern's automaton: 1 small, 2 large, 0 none, so it was left out."""
    notes: list[str] = field(default_factory=list)

    def target(self, reference: object) -> dict[str, Any] | None:
        """The schema of the copy that `reference` leads to."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        place: Any = self.root
        for part in unquote(reference[1:]).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, dict):
                place = place.get(key)
            elif isinstance(place, list) and key.isdecimal() and len(key) < 6 and int(key) < len(place):
                place = place[int(key)]
            else:
                return None
        is_pointer = reference == "#" or reference.startswith("#/")
        return place if is_pointer and id(place) in self.nodes else None


def safe(schema: object) -> SafeSchema:
    """The safe copy of `schema`. Raises Unusable where it is no schema at all, too large or too deep."""
    if not isinstance(schema, Mapping):
        raise Unusable("it is not an object")
    if is_larger(schema, SCHEMA_BYTES):
        raise Unusable(f"it is larger than {SCHEMA_BYTES // 1024} KB")
    if is_deeper(schema, SCHEMA_DEPTH):
        raise Unusable(f"it is nested more than {SCHEMA_DEPTH} deep")
    copy = SafeSchema()
    copy.root = _copied(dict(schema), copy)
    dialect = schema.get("$schema")
    if isinstance(dialect, str) and dialect in DRAFTS:
        copy.root["$schema"] = dialect
    elif dialect is not None:
        copy.notes.append(f"its $schema is not known: {shown(dialect)}")
    _close(copy)
    return copy


def is_larger(value: object, limit: int) -> bool:
    """Whether `value` as JSON is longer than about `limit`. Stops there, and is not led round by a cycle."""
    size, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        size += len(one) + 2 if isinstance(one, str) else 2
        if size > limit:
            return True
        if isinstance(one, Mapping):
            waiting.extend(one.keys())
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False


def shown(value: object) -> str:
    """A foreign value for a message: cut, on one line."""
    text = str(value)[:80]
    return repr(text if len(str(value)) <= 80 else text + "…")


def _copied(schema: dict[str, Any], copy: SafeSchema) -> dict[str, Any]:
    """What is known of `schema`. Values of a wrong type stay: the compiler names them, and they are left out then."""
    made: dict[str, Any] = {}
    copy.nodes[id(made)] = made
    for name, value in schema.items():
        if name in _NAMED and isinstance(value, dict):
            made[name] = {key: _schema(inner, copy) for key, inner in value.items()}
        elif name in _LISTS and isinstance(value, list):
            made[name] = [_schema(inner, copy) for inner in value]
        elif name in _ONE:
            made[name] = _schema(value, copy)
        elif name in _VALUES or (name == "pattern" and _compiles(value, copy)):
            made[name] = value
        elif name in ("$dynamicRef", "$recursiveRef"):
            copy.notes.append(f"{name} is not followed: {shown(value)}")
    if isinstance(made.get("patternProperties"), dict):
        made["patternProperties"] = {
            key: inner for key, inner in made["patternProperties"].items() if _compiles(key, copy)
        }
    return made


def _schema(value: object, copy: SafeSchema) -> Any:
    return _copied(value, copy) if isinstance(value, dict) else value


def _close(copy: SafeSchema) -> None:
    """Leave out every reference that does not lead to a schema of the copy."""
    for node in copy.nodes.values():
        if "$ref" in node and copy.target(node["$ref"]) is None:
            copy.notes.append(f"a reference leads out of it or nowhere, and is not followed: {shown(node.pop('$ref'))}")


def _compiles(pattern: object, copy: SafeSchema) -> bool:
    if not isinstance(pattern, str):
        return False
    if pattern not in copy.patterns:
        copy.patterns[pattern] = _automaton(pattern) if len(copy.patterns) < PATTERNS else 0
        if not copy.patterns[pattern]:
            copy.notes.append(f"a pattern cannot be matched in linear time, and is ignored: {shown(pattern)}")
    return copy.patterns[pattern] > 0


def _automaton(pattern: str) -> int:
    import jsonschema_rs

    for size_class, limit in ((1, SMALL_PATTERN_BYTES), (2, PATTERN_BYTES)):
        options = jsonschema_rs.RegexOptions(size_limit=limit)
        try:
            jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options, offline=True)
        except (ValueError, RuntimeError):
            continue
        return size_class
    return 0
