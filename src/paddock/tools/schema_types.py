"""Converts JSON Schemas to the types of stubs. Only types that both Python and TypeScript have are used.

A schema is hostile input: it may be huge, deep, cyclic, or not a schema at all. Reading one takes a bounded number of
steps; whatever lies beyond them, or is not a valid schema, becomes `any`. Nothing outside the document is looked up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import unquote

from paddock.tools.sanitize import one_line
from paddock.tools.schema import POINTER_CHARACTERS, resolve_pointer
from paddock.tools.schema_errors import received_type

MEMBERS = 20
CHOICES = 100
CHOICE_CHARACTERS = 100
NAME_CHARACTERS = 80
_EXACT_INTEGERS = 2**53
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
DEPTH = 12
STEPS = 5000
FIELDS = 300
"""An object with more fields becomes a mapping of anything, because a partial list of its fields would mislead."""
NOTE_CHARACTERS = 200
PATTERN_CHARACTERS = 60
"""A longer pattern is not shown: it would say little, and part of it something wrong."""
KEY_CHARACTERS = 200
"""A field with a longer name is not shown; its object then allows further fields."""
_SCALARS = ("string", "integer", "number", "boolean", "null")
_TYPES = (*_SCALARS, "array", "object")
_SHAPING = frozenset(
    {"type", "$ref", "allOf", "anyOf", "oneOf", "enum", "const", "properties", "items", "additionalProperties"}
)
_NOTED = (
    *("description", "format", "pattern", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems"),
)
_CONDITIONAL = ("if", "dependentSchemas", "patternProperties", "unevaluatedProperties")
_READ = (*sorted(_SHAPING - {"$ref", "allOf"}), "required", "prefixItems", "nullable", *_NOTED, *_CONDITIONAL)

Json: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plain:
    """A type that every language has: string, integer, number, boolean, null, any."""

    name: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these values."""

    values: tuple[str | int | bool, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Shape


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose keys are not known."""

    value: Shape


@dataclass(frozen=True, slots=True)
class Either:
    members: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A reference to the record of this name."""

    name: str


Shape: TypeAlias = Plain | Choice | ListOf | MapOf | Either | Named
ANY, NULL = Plain("any"), Plain("null")


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    shape: Shape
    is_required: bool
    note: str


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known fields. `extra` is the type of further fields; None if there are none."""

    name: str
    fields: tuple[Field, ...]
    extra: Shape | None = None


class Names:
    """Hands out type names, each once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def take(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}{number}", number + 1
        self._taken.add(name)
        return name

    def release(self, name: str) -> None:
        self._taken.discard(name)


def type_name(text: str) -> str:
    """`text` as part of a type name: `order-lines` becomes `OrderLines`."""
    return "".join(word[0].upper() + word[1:].lower() for word in _WORDS.findall(text[:NAME_CHARACTERS]))


def either(shapes: Iterable[Shape]) -> Shape:
    """The union of `shapes`, without duplicates and without types that another one includes; null comes last."""
    flat = [inner for shape in shapes for inner in (shape.members if isinstance(shape, Either) else (shape,))]
    choices = [shape for shape in flat if isinstance(shape, Choice)]
    if len(choices) > 1:
        together = choice([value for shape in choices for value in shape.values])
        flat = [together, *(shape for shape in flat if not isinstance(shape, Choice))]
    members = dict.fromkeys(flat)
    if ANY in members or len(members) > MEMBERS:
        return ANY
    if Plain("number") in members:
        members.pop(Plain("integer"), None)
    if NULL in members:
        members[NULL] = members.pop(NULL)
    return next(iter(members)) if len(members) == 1 else Either(tuple(members)) if members else ANY


def choice(values: list[Any]) -> Shape:
    """These values if they can be written as literals, else their types."""
    if len(values) > 10 * CHOICES:
        return ANY
    shown = [value for value in values if value is not None]
    distinct = {(type(value), value): value for value in shown if isinstance(value, str | int)}
    if len(distinct) > CHOICES or not all(_is_writable(value) for value in shown):
        kinds = map(received_type, values)
        return either(Plain(kind) if kind in _SCALARS else ANY for kind in kinds)
    chosen: list[Shape] = [Choice(tuple(distinct.values()))] if distinct else []
    return either(chosen + [NULL] * (len(shown) < len(values)))


def _is_writable(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= CHOICE_CHARACTERS
    return isinstance(value, int) and abs(value) < _EXACT_INTEGERS


class Reader:
    """Reads the types of one JSON Schema. `records` are the objects found in it, each after the records that it uses.

    An object that equals a record of `known` is not added; its type refers to that record.
    """

    def __init__(self, document: Json, names: Names, prefix: str, known: Sequence[Record] = ()) -> None:
        self.records: list[Record] = []
        self._known = known
        self._document = document
        self._names = names
        self._prefix = prefix
        self._steps = STEPS
        self._declared: dict[str, Named] = {}
        self._being_read: list[str] = []

    def arguments(self) -> Shape:
        """The type of the arguments. A tool without parameters takes an empty record."""
        schema = self._flat(self._document)
        if schema.get("properties") == {} and schema.get("additionalProperties", False) is False:
            self.records.append(Record(self._names.take(self._prefix), ()))
            return Named(self.records[-1].name)
        shape = self.read({"$ref": "#"}, self._prefix)
        return shape if _is_mapping(shape) else MapOf(ANY)

    def result(self) -> Shape:
        """The type that a script gets: an object as itself, anything else as the field `result` of one."""
        shape = self.read({"$ref": "#"}, self._prefix)
        members = shape.members if isinstance(shape, Either) else (shape,)
        if all(map(_is_mapping, members)):
            return shape
        if shape == ANY or any(map(_is_mapping, members)):  # it may or may not be under `result`
            self.records.clear()
            return MapOf(ANY)
        self.records.append(
            Record(self._names.take(self._prefix), (Field("result", shape, is_required=True, note=""),))
        )
        return Named(self.records[-1].name)

    def read(self, schema: object, name: str, depth: int = 0) -> Shape:
        """The type that `schema` describes. A record for it is named after `name`."""
        self._steps -= 1
        if not isinstance(schema, Mapping) or depth > DEPTH or self._steps < 0:
            return ANY
        pointer = self._pointer(schema)
        if pointer is None:
            return self._read(self._flat(schema), name, depth, "")
        if pointer in self._declared:
            return self._declared[pointer]
        if pointer in self._being_read:
            return ANY  # a cycle without an object cannot be named
        if pointer.rpartition("/")[2] and pointer != "#":
            name = _inner_name(self._prefix, pointer.rpartition("/")[2])
        self._being_read.append(pointer)
        try:
            return self._read(self._flat(schema), name, depth, pointer)
        finally:
            self._being_read.pop()

    def _read(self, schema: Json, name: str, depth: int, pointer: str) -> Shape:
        if "const" in schema:
            return choice([schema["const"]])
        if isinstance(schema.get("enum"), list):
            return choice(schema["enum"])
        for word in ("anyOf", "oneOf"):
            members = schema.get(word)
            if isinstance(members, list) and any(map(_describes_type, members[:MEMBERS])):
                return self._either(schema, word, name, depth)
        shapes = [self._of_type(word, schema, name, depth, pointer) for word in _types(schema)]
        shapes += [NULL] if schema.get("nullable") is True and shapes else []
        return either(shapes) if shapes else ANY

    def _either(self, schema: Json, word: str, name: str, depth: int) -> Shape:
        rest = {key: value for key, value in schema.items() if key != word}
        members = schema[word]
        if len(members) > MEMBERS:
            return ANY
        parts = [{"allOf": [member, rest]} if _describes_type(rest) else member for member in members]
        return either([self.read(part, name, depth + 1) for part in parts])

    def _of_type(self, word: str, schema: Json, name: str, depth: int, pointer: str) -> Shape:
        if word == "object":
            return self._object(schema, name, depth, pointer)
        if word != "array":
            return Plain(word)
        items = schema.get("prefixItems")
        parts = items[:MEMBERS] if isinstance(items, list) else []
        parts += [schema["items"]] if isinstance(schema.get("items"), Mapping) else []
        return ListOf(either([self.read(part, _single(name), depth + 1) for part in parts]) if parts else ANY)

    def _object(self, schema: Json, name: str, depth: int, pointer: str) -> Shape:
        properties = schema.get("properties")
        required = _texts(schema.get("required"))
        extra = self._extra(schema, name, depth)
        if not isinstance(properties, Mapping) or not 0 < len(properties) <= FIELDS or len(required) > FIELDS:
            return MapOf(extra or ANY)
        known = {key: inner for key, inner in properties.items() if len(key) <= KEY_CHARACTERS}
        extra = extra if len(known) == len(properties) else ANY
        named = Named(self._names.take(name[:NAME_CHARACTERS]))
        if pointer:
            self._declared[pointer] = named
        for missing in required:
            if len(missing) <= KEY_CHARACTERS:
                known.setdefault(missing, {})
        record = Record(
            named.name,
            tuple(
                Field(
                    key,
                    self.read(inner, _inner_name(self._prefix, key), depth + 1),
                    key in required,
                    _note(inner, self._flat),
                )
                for key, inner in known.items()
            ),
            extra,
        )
        return self._add(record, pointer)

    def _add(self, record: Record, pointer: str) -> Named:
        """Add the record, or use an equal one if nothing refers to this one yet."""
        for other in () if pointer else (*self._known, *self.records):
            if (other.fields, other.extra) == (record.fields, record.extra):
                self._names.release(record.name)
                return Named(other.name)
        self.records.append(record)
        return Named(record.name)

    def _extra(self, schema: Json, name: str, depth: int) -> Shape | None:
        additional = schema.get("additionalProperties")
        if isinstance(additional, Mapping):
            # TypeScript cannot express a type for further fields next to known fields of other types.
            return ANY if schema.get("properties") else self.read(additional, f"{name}Value", depth + 1)
        return ANY if additional is True or any(word in schema for word in _CONDITIONAL) else None

    def _pointer(self, schema: Json) -> str | None:
        """The final target of `schema` if it is a plain reference, else None."""
        pointer: str | None = None
        for _ in range(MEMBERS):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
                break
            if len(schema["$ref"]) > POINTER_CHARACTERS or any(key in schema for key in _SHAPING if key != "$ref"):
                break
            pointer = unquote(schema["$ref"])
            schema = resolve_pointer(self._document, schema["$ref"])
        return pointer

    def _flat(self, schema: object, seen: tuple[str, ...] = ()) -> Json:
        """The schema merged with what it references and with every part of its `allOf`."""
        self._steps -= 1
        if not isinstance(schema, Mapping) or self._steps < 0 or len(seen) > DEPTH:
            return {}
        reference, together = schema.get("$ref"), schema.get("allOf")
        parts: list[Json] = []
        if isinstance(reference, str) and reference not in seen:
            parts.append(self._flat(resolve_pointer(self._document, reference), (*seen, reference)))
        if isinstance(together, list):
            parts += [self._flat(part, (*seen, "")) for part in together[:MEMBERS]]
        if not parts:
            return schema
        flat = {key: schema[key] for key in _READ if key in schema}
        for part in parts:
            _merge(flat, part)
        return flat


def _types(schema: Json) -> list[str]:
    """The types that a schema names, or that its other keywords imply."""
    types = schema.get("type")
    if isinstance(types, str):
        return [types] if types in _TYPES else []
    if isinstance(types, list):
        return [word for word in _TYPES if word in types[:MEMBERS]]
    if any(word in schema for word in ("properties", "additionalProperties")):
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def _describes_type(schema: object) -> bool:
    """Whether a schema says anything about types."""
    return isinstance(schema, Mapping) and not _SHAPING.isdisjoint(schema)


def _is_mapping(shape: Shape) -> bool:
    members = shape.members if isinstance(shape, Either) else (shape,)
    return all(isinstance(member, Named | MapOf) for member in members)


def _merge(flat: dict[str, Any], part: Json) -> None:
    for key in _READ:
        mine, other = flat.get(key), part.get(key)
        if key == "properties" and isinstance(mine, Mapping) and isinstance(other, Mapping):
            # One field more than allowed is kept, so that the object counts as having too many.
            other = dict(islice(other.items(), FIELDS + 1))
            both = {name: {"allOf": [mine[name], other[name]]} for name in other if name in mine}
            flat[key] = {**dict(islice(mine.items(), FIELDS + 1)), **other, **both}
        elif key == "required" and other is not None:
            flat[key] = list(dict.fromkeys([*_texts(mine), *_texts(other)]))
        elif key in part:
            flat.setdefault(key, other)


def _texts(value: object) -> list[str]:
    return [text for text in value[: FIELDS + 1] if isinstance(text, str)] if isinstance(value, list) else []


def _inner_name(outer: str, key: str) -> str:
    return f"{outer}{type_name(key)}"[:NAME_CHARACTERS]


def _single(name: str) -> str:
    """The singular: `Row` of `Rows`, `Entry` of `Entries`."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is")) else f"{name}Item"


def _note(schema: object, flat: Any) -> str:
    """What a type cannot express about a field: its description, format, pattern, default and limits."""
    if not isinstance(schema, Mapping):
        return ""
    whole = flat(schema)
    values = {**_only_value(whole, flat), **whole}
    pattern = values.get("pattern")
    is_short = isinstance(pattern, str) and len(pattern) <= PATTERN_CHARACTERS
    facts = [one_line(values.get("format"), 30), f"matches {one_line(pattern)}" if is_short else ""]
    default = whole.get("default")
    if isinstance(default, str):
        facts.append(f'default "{one_line(default, 40)}"')
    elif "default" in whole and (isinstance(default, bool) or default in (None, [], {}) or _number(default)):
        facts.append(f"default {json.dumps(default)}")
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        least, most = (_number(values.get(word)) for word in (low, high))
        if least and most:
            facts.append(f"{least} to {most}{unit}")
        elif least or most:
            facts.append(f"at least {least}{unit}" if least else f"at most {most}{unit}")
    for word, relation in (("exclusiveMinimum", "above"), ("exclusiveMaximum", "below")):
        facts.append(f"{relation} {limit}" if (limit := _number(values.get(word))) else "")
    text = one_line(schema.get("description") or whole.get("description"), NOTE_CHARACTERS)
    known = "; ".join(fact for fact in facts if fact)
    return f"{text} ({known})" if text and known else text or known


def _only_value(schema: Json, flat: Any) -> Json:
    """The schema of the values of a field that may also be null: `{"anyOf": [this, {"type": "null"}]}`."""
    members = schema.get("anyOf") or schema.get("oneOf")
    if not isinstance(members, list) or len(members) > 2:
        return {}
    others = [member for member in members if isinstance(member, Mapping) and member.get("type") != "null"]
    return {key: value for key, value in flat(others[0]).items() if key in _NOTED} if len(others) == 1 else {}


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(value) if isinstance(value, float) or abs(value) < 10**18 else ""
