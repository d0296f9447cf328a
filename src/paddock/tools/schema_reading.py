"""Reads a JSON Schema as a type of Python or TypeScript would say it.

A schema is hostile input: it may be huge, deep, cyclic, or no schema at all. Reading one takes a bounded number of
steps, and what lies beyond them, or makes no sense, is `any`. Nothing outside the document is ever looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import unquote

from paddock.tools.prose import one_line
from paddock.tools.shapes import (
    ANY,
    MEMBERS,
    NAME_CHARACTERS,
    NULL,
    Either,
    Field,
    ListOf,
    MapOf,
    Named,
    Names,
    Plain,
    Record,
    Shape,
    choice,
    either,
    type_name,
)

DEPTH = 12
STEPS = 5000
FIELDS = 300
"""More than these make an object a mapping of anything: part of its fields would be a lie about the rest."""
NOTE_CHARACTERS = 200
KEY_CHARACTERS = 200
"""A field with a longer name is not shown; its object is then one that may hold more."""
_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
_SHAPING = frozenset(
    {"type", "$ref", "allOf", "anyOf", "oneOf", "enum", "const", "properties", "items", "additionalProperties"}
)
_NOTED = ("description", "format", "default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_CONDITIONAL = ("if", "dependentSchemas", "patternProperties", "unevaluatedProperties")
_READ = (*sorted(_SHAPING - {"$ref", "allOf"}), "required", "prefixItems", "nullable", *_NOTED, *_CONDITIONAL)

Json: TypeAlias = Mapping[str, Any]


class Reader:
    """Reads one document. `records` are the objects that it came upon, those that others are made of first.

    An object that is equal to one of `known` is that one.
    """

    def __init__(self, document: Json, names: Names, prefix: str, known: Sequence[Record] = ()) -> None:
        self.records: list[Record] = []
        self._known = known
        self._document = document
        self._names = names
        self._prefix = prefix
        self._steps = STEPS
        self._declared: dict[str, Named] = {}
        self._open: list[str] = []

    def arguments(self) -> Shape:
        """What the tool takes. A tool that declares no parameter at all takes an empty record."""
        schema = self._flat(self._document)
        if schema.get("properties") == {} and schema.get("additionalProperties", False) is False:
            self.records.append(Record(self._names.take(self._prefix), ()))
            return Named(self.records[-1].name)
        shape = self.read({"$ref": "#"}, self._prefix)
        return shape if _is_mapping(shape) else MapOf(ANY)

    def result(self) -> Shape:
        """What a script gets: an object as itself, anything else as the field `result` of one."""
        name = self._prefix
        kind = self._kind(self._document, DEPTH)
        if kind == "object":
            shape = self.read({"$ref": "#"}, name)
            return shape if _is_mapping(shape) else MapOf(ANY)
        if kind != "other":
            return MapOf(ANY)
        named = self._names.take(name)
        inner = self.read({"$ref": "#"}, f"{name}Value")
        self.records.append(Record(named, (Field("result", inner, is_required=True, note=""),)))
        return Named(named)

    def read(self, schema: object, name: str, depth: int = 0) -> Shape:
        """The shape that `schema` describes; a record that it needs is named `name`, or nearly so."""
        self._steps -= 1
        if not isinstance(schema, Mapping) or depth > DEPTH or self._steps < 0:
            return ANY
        place = self._place(schema)
        if place is None:
            return self._read(self._flat(schema), name, depth, "")
        if place in self._declared:
            return self._declared[place]
        if place in self._open:
            return ANY  # a cycle in which there is no object: no type has a name for it
        if place.rpartition("/")[2] and place != "#":
            name = _within(self._prefix, place.rpartition("/")[2])
        self._open.append(place)
        try:
            return self._read(self._flat(schema), name, depth, place)
        finally:
            self._open.pop()

    def _read(self, schema: Json, name: str, depth: int, place: str) -> Shape:
        if "const" in schema:
            return choice([schema["const"]])
        if isinstance(schema.get("enum"), list):
            return choice(schema["enum"])
        for word in ("anyOf", "oneOf"):
            members = schema.get(word)
            if isinstance(members, list) and any(map(_shapes, members[:MEMBERS])):
                return self._either(schema, word, name, depth)
        shapes = [self._of_type(word, schema, name, depth, place) for word in _types(schema)]
        shapes += [NULL] if schema.get("nullable") is True and shapes else []
        return either(shapes) if shapes else ANY

    def _either(self, schema: Json, word: str, name: str, depth: int) -> Shape:
        rest = {key: value for key, value in schema.items() if key != word}
        members = schema[word]
        if len(members) > MEMBERS:
            return ANY
        parts = [{"allOf": [member, rest]} if _shapes(rest) else member for member in members]
        return either([self.read(part, name, depth + 1) for part in parts])

    def _of_type(self, word: str, schema: Json, name: str, depth: int, place: str) -> Shape:
        if word == "object":
            return self._object(schema, name, depth, place)
        if word != "array":
            return Plain(word)
        items = schema.get("prefixItems")
        parts = items[:MEMBERS] if isinstance(items, list) else []
        parts += [schema["items"]] if isinstance(schema.get("items"), Mapping) else []
        return ListOf(either([self.read(part, _single(name), depth + 1) for part in parts]) if parts else ANY)

    def _object(self, schema: Json, name: str, depth: int, place: str) -> Shape:
        properties = schema.get("properties")
        required = _texts(schema.get("required"))
        extra = self._extra(schema, name, depth)
        if not isinstance(properties, Mapping) or not 0 < len(properties) <= FIELDS or len(required) > FIELDS:
            return MapOf(extra or ANY)
        known = {key: inner for key, inner in properties.items() if len(key) <= KEY_CHARACTERS}
        extra = extra if len(known) == len(properties) else ANY
        named = Named(self._names.take(name[:NAME_CHARACTERS]))
        if place:
            self._declared[place] = named
        for missing in required:
            if len(missing) <= KEY_CHARACTERS:
                known.setdefault(missing, {})
        record = Record(
            named.name,
            tuple(
                Field(
                    key,
                    self.read(inner, _within(self._prefix, key), depth + 1),
                    key in required,
                    _note(inner, self._flat),
                )
                for key, inner in known.items()
            ),
            extra,
        )
        return self._kept(record, place)

    def _kept(self, record: Record, place: str) -> Named:
        """The record, or an equal one that is there already, where nothing refers to this one."""
        for other in () if place else (*self._known, *self.records):
            if (other.fields, other.extra) == (record.fields, record.extra):
                self._names.release(record.name)
                return Named(other.name)
        self.records.append(record)
        return Named(record.name)

    def _extra(self, schema: Json, name: str, depth: int) -> Shape | None:
        additional = schema.get("additionalProperties")
        if isinstance(additional, Mapping):
            # Beside known fields of other types it could not be said in TypeScript.
            return ANY if schema.get("properties") else self.read(additional, f"{name}Value", depth + 1)
        return ANY if additional is True or any(word in schema for word in _CONDITIONAL) else None

    def _kind(self, schema: object, depth: int) -> str:
        """`object`, `other`, or nothing where a value may be either."""
        flat = self._flat(schema) if isinstance(schema, Mapping) else {}
        for word in ("anyOf", "oneOf"):
            members = flat.get(word)
            if isinstance(members, list) and "type" not in flat and any(map(_shapes, members[:MEMBERS])):
                kinds = {self._kind(member, depth - 1) for member in members[:MEMBERS]} if depth > 0 else set()
                return kinds.pop() if len(kinds) == 1 else ""
        values = [flat["const"]] if "const" in flat else flat.get("enum")
        if isinstance(values, list):
            return "" if any(isinstance(value, dict) for value in values) else "other"
        words = {"object" if word == "object" else "other" for word in _types(flat)}
        return words.pop() if len(words) == 1 else ""

    def _place(self, schema: Json) -> str | None:
        """Where a reference that says nothing else leads in the end; None where there is no such reference."""
        place: str | None = None
        for _ in range(MEMBERS):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
                break
            if any(key in schema for key in _SHAPING if key != "$ref"):
                break
            place = unquote(schema["$ref"])
            schema = self._target(schema["$ref"])
        return place

    def _target(self, reference: str) -> Any:
        if reference != "#" and not reference.startswith("#/"):
            return {}  # elsewhere: never fetched
        found: Any = self._document
        for part in reference.split("/")[1:MEMBERS]:
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and key.isdecimal() and len(key) < 6:
                found = found[int(key)] if int(key) < len(found) else {}
            else:
                found = found.get(key, {}) if isinstance(found, Mapping) else {}
        return found

    def _flat(self, schema: object, seen: tuple[str, ...] = ()) -> Json:
        """The schema with what it refers to, and all of what must hold at once, laid together."""
        self._steps -= 1
        if not isinstance(schema, Mapping) or self._steps < 0 or len(seen) > DEPTH:
            return {}
        reference, together = schema.get("$ref"), schema.get("allOf")
        parts: list[Json] = []
        if isinstance(reference, str) and reference not in seen:
            parts.append(self._flat(self._target(reference), (*seen, reference)))
        if isinstance(together, list):
            parts += [self._flat(part, (*seen, "")) for part in together[:MEMBERS]]
        if not parts:
            return schema
        flat = {key: schema[key] for key in _READ if key in schema}
        for part in parts:
            _lay_over(flat, part)
        return flat


def _types(schema: Json) -> list[str]:
    """The types that a schema names, or that its other words are about."""
    types = schema.get("type")
    if isinstance(types, str):
        return [types] if types in _TYPES else []
    if isinstance(types, list):
        return [word for word in _TYPES if word in types[:MEMBERS]]
    if any(word in schema for word in ("properties", "additionalProperties")):
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def _shapes(schema: object) -> bool:
    """Whether a schema says more than what is required or how it is to be described."""
    return isinstance(schema, Mapping) and not _SHAPING.isdisjoint(schema)


def _is_mapping(shape: Shape) -> bool:
    members = shape.members if isinstance(shape, Either) else (shape,)
    return all(isinstance(member, Named | MapOf) for member in members)


def _lay_over(flat: dict[str, Any], part: Json) -> None:
    for key in _READ:
        mine, other = flat.get(key), part.get(key)
        if key == "properties" and isinstance(mine, Mapping) and isinstance(other, Mapping):
            # One more than an object may have: with it, it counts as one that has too many.
            other = dict(islice(other.items(), FIELDS + 1))
            both = {name: {"allOf": [mine[name], other[name]]} for name in other if name in mine}
            flat[key] = {**dict(islice(mine.items(), FIELDS + 1)), **other, **both}
        elif key == "required" and other is not None:
            flat[key] = list(dict.fromkeys([*_texts(mine), *_texts(other)]))
        elif key in part:
            flat.setdefault(key, other)


def _texts(value: object) -> list[str]:
    return [text for text in value[: FIELDS + 1] if isinstance(text, str)] if isinstance(value, list) else []


def _within(outer: str, key: str) -> str:
    return f"{outer}{type_name(key)}"[:NAME_CHARACTERS]


def _single(name: str) -> str:
    """What one of several is called: `Row` of `Rows`, `Entry` of `Entries`."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is")) else f"{name}Item"


def _note(schema: object, flat: Any) -> str:
    """What a type cannot say of a field."""
    if not isinstance(schema, Mapping):
        return ""
    whole = flat(schema)
    facts = [one_line(whole.get("format"), 30)]
    default = whole.get("default")
    if "default" in whole and (isinstance(default, str | int | float | bool) or default in (None, [], {})):
        facts.append(f"default {_shown(default)}")
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        least, most = (_number(whole.get(word)) for word in (low, high))
        if least and most:
            facts.append(f"{least} to {most}{unit}")
        elif least or most:
            facts.append(f"at least {least}{unit}" if least else f"at most {most}{unit}")
    text = one_line(schema.get("description") or whole.get("description"), NOTE_CHARACTERS)
    known = "; ".join(fact for fact in facts if fact)
    return f"{text} ({known})" if text and known else text or known


def _shown(value: object) -> str:
    words = {None: "null", True: "true", False: "false"}
    if isinstance(value, bool) or value is None:
        return words[value]
    return f'"{one_line(value, 40)}"' if isinstance(value, str) else one_line(_number(value) or str(value), 40)


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(value) if isinstance(value, float) or abs(value) < 10**18 else ""
