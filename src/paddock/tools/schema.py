"""Checks a call's arguments against the tool's schema, so that the author of a script learns what to change.

This is not a security boundary: the upstream checks arguments itself. Schemas and arguments may be hostile, so a schema
is first copied: known keywords only, limited size and depth, no external references, and only patterns that match in
linear time. What cannot be used is not checked, and `warnings` says so. A check that would take too long is skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from paddock.model.envelope import invalid_arguments
from paddock.model.json_depth import is_deeper
from paddock.tools.size import is_larger

if TYPE_CHECKING:
    import jsonschema_rs

    from paddock.tools.schema_cost import Cost

SCHEMA_BYTES = 256 * 1024
SCHEMA_DEPTH = 100
POINTER_CHARACTERS = 1000
"""A longer reference is not followed: decoding one takes a millisecond for each thousand characters."""
PATTERNS, LARGE_PATTERN = 500, 50
"""Limit for the different patterns in one schema, and how many small ones one with a large automaton counts as: it
takes milliseconds to compile, twice, in which no other thread runs."""
PATTERN_BYTES = 1024 * 1024
"""Maximum size of a pattern's automaton. In the worst case, matching a character takes time proportional to it."""
SMALL_PATTERN_BYTES = 16 * 1024
"""An automaton of at most this size counts as small. What a pattern notes while it matches is no larger."""

DRAFTS = frozenset(
    f"{scheme}://json-schema.org/{draft}/schema{end}"
    for scheme in ("http", "https")
    for draft in ("draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12")
    for end in ("", "#")
)
SAME_VALUE = ("not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies")
"""Keywords whose schemas apply to the same value as the schema that they are in."""
ITEMS = ("items", "prefixItems", "additionalItems", "contains", "unevaluatedItems")
MEMBERS = ("properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties", *ITEMS)
"""Keywords whose schemas apply to parts of the value."""
_VALUES = frozenset(
    {
        *("type", "enum", "const", "required", "dependentRequired", "format", "default", "examples", "$ref"),
        *("multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength"),
        *("maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties"),
    }
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"dependentSchemas", "dependencies", "properties", "patternProperties", "$defs", "definitions"})
_SINGLE = frozenset({*SAME_VALUE, *MEMBERS}) - _LISTS - _NAMED
VISITS = 4_000_000
"""Cost limit of one check: about 0.2 s, during which the event loop is blocked."""
ERROR_VISITS = 5_000
"""The cost up to which every problem is collected. Above it only the first is reported."""
ERROR_UNITS = 4_000_000
"""The total size up to which every problem is collected, about 64 MB. Each problem contains a copy of its value."""
VALUE_BYTES, NODE_BYTES = 200, 1000
"""What each value and each subschema takes in a validator. Measured."""
_MAX_REPAIRS = 16
_FAILURES = (ValueError, RuntimeError, MemoryError)  # raised by the validator; a panic in it is a RuntimeError


class Unusable(Exception):
    """The schema cannot be used at all; the message says why."""


@dataclass(slots=True)
class SafeSchema:
    """The safe copy, every subschema in it by `id()`, and notes about parts that were left out."""

    root: dict[str, Any] = field(default_factory=dict)
    nodes: dict[int, dict[str, Any]] = field(default_factory=dict)
    patterns: dict[str, int] = field(default_factory=dict)
    """The size class of each pattern's automaton: 1 small, 2 large, 0 none (the pattern is left out)."""
    pattern_cost: int = 0  # of all of them: see PATTERNS
    notes: list[str] = field(default_factory=list)

    def target(self, reference: object) -> dict[str, Any] | None:
        """The schema in the copy that `reference` points to."""
        node = resolve_pointer(self.root, reference)
        return node if id(node) in self.nodes else None

    def children(self, node: dict[str, Any], keywords: Iterable[str]) -> Iterator[dict[str, Any]]:
        """The schemas that are directly under these keywords of `node`, which belongs to the copy."""
        for keyword in keywords:
            value: Any = node.get(keyword)
            is_map = keyword in _NAMED and isinstance(value, dict)
            inner = value.values() if is_map else value if isinstance(value, list) else (value,)
            # A list where one schema belongs was not copied. The compiler will refuse it.
            yield from (child for child in inner if id(child) in self.nodes)


def resolve_pointer(document: Any, reference: object) -> Any:
    """The value in `document` that a JSON pointer such as `#/$defs/order` refers to, or None."""
    if not isinstance(reference, str) or len(reference) > POINTER_CHARACTERS:
        return None
    if reference != "#" and not reference.startswith("#/"):
        return None
    for part in unquote(reference).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, Mapping):
            document = document.get(key)
        elif isinstance(document, list) and key.isdecimal() and len(key) < 6 and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document


def copy_schema(schema: object) -> SafeSchema:
    """Copy `schema`. Raises Unusable if it is not a schema, too large or too deep."""
    if not isinstance(schema, Mapping):
        raise Unusable("it is not an object")
    if is_larger(schema, SCHEMA_BYTES):
        raise Unusable(f"it is larger than {SCHEMA_BYTES // 1024} KB")
    if is_deeper(schema, SCHEMA_DEPTH):
        raise Unusable(f"it is nested more than {SCHEMA_DEPTH} levels deep")
    copy = SafeSchema()
    copy.root = _copy(dict(schema), copy)
    dialect = schema.get("$schema")
    if isinstance(dialect, str) and dialect in DRAFTS:
        copy.root["$schema"] = dialect
    elif dialect is not None:
        copy.notes.append(f"its $schema is unknown: {quote(dialect)}")
    _drop_dangling_references(copy)
    return copy


def quote(value: object) -> str:
    """An untrusted value for a message, cut to one short line."""
    text = str(value)[:80]
    return repr(text if len(str(value)) <= 80 else text + "…")


def _copy(schema: dict[str, Any], copy: SafeSchema) -> dict[str, Any]:
    """Copy the known keywords. Values of a wrong type are kept until the compiler rejects them."""
    result: dict[str, Any] = {}
    copy.nodes[id(result)] = result
    for name, value in schema.items():
        if name in _NAMED and isinstance(value, dict):
            result[name] = {key: _schema(inner, copy) for key, inner in value.items()}
        elif (name in _LISTS or name == "items") and isinstance(value, list):
            result[name] = [_schema(inner, copy) for inner in value]
        elif name in _SINGLE:
            result[name] = _schema(value, copy)
        elif name in _VALUES or (name == "pattern" and _compiles(value, copy)) or _is_note(name, value):
            result[name] = value
        elif name in ("$dynamicRef", "$recursiveRef"):
            copy.notes.append(f"{name} is not followed: {quote(value)}")
    if isinstance(result.get("patternProperties"), dict):
        result["patternProperties"] = {
            key: inner for key, inner in result["patternProperties"].items() if _compiles(key, copy)
        }
    return result


def _is_note(name: str, value: object) -> bool:
    """Descriptions are kept because an example may be a value that they quote; no error names a deprecated field."""
    return (name == "description" and isinstance(value, str)) or (name == "deprecated" and value is True)


def _schema(value: object, copy: SafeSchema) -> Any:
    return _copy(value, copy) if isinstance(value, dict) else value


def _drop_dangling_references(copy: SafeSchema) -> None:
    """Remove every reference that does not point to a schema in the copy."""
    for node in copy.nodes.values():
        if "$ref" in node and copy.target(node["$ref"]) is None:
            copy.notes.append(
                f"a reference points outside the schema or nowhere, and is ignored: {quote(node.pop('$ref'))}"
            )


def _compiles(pattern: object, copy: SafeSchema) -> bool:
    if not isinstance(pattern, str):
        return False
    if pattern not in copy.patterns:
        copy.patterns[pattern] = 0
        if copy.pattern_cost < PATTERNS:
            copy.patterns[pattern] = _automaton(pattern)
            copy.pattern_cost += 1 if copy.patterns[pattern] == 1 else LARGE_PATTERN
        if not copy.patterns[pattern]:
            copy.notes.append(f"a pattern is too complex, or one of too many, and is ignored: {quote(pattern)}")
    return copy.patterns[pattern] > 0


def _automaton(pattern: str) -> int:
    """The size class of the pattern's automaton, as in `SafeSchema.patterns`."""
    import jsonschema_rs

    for size_class, limit in ((1, SMALL_PATTERN_BYTES), (2, PATTERN_BYTES)):
        options = jsonschema_rs.RegexOptions(size_limit=limit)
        try:
            jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options, offline=True)
        except (ValueError, RuntimeError):
            continue
        return size_class
    return 0


@dataclass(frozen=True, slots=True)
class Validator:
    """A tool's compiled schema, and what a check costs. If it could not be compiled, everything is accepted."""

    schema: SafeSchema
    _compiled: tuple[jsonschema_rs.Validator, Cost] | None
    warnings: tuple[str, ...]
    size_bytes: int = 0
    """An estimate of the memory that it takes."""

    def accepts(self, arguments: Any) -> bool | None:
        """Whether `arguments` are valid; None if that was not checked, or would take too long."""
        if self._compiled is None:
            return None
        checker, cost = self._compiled
        try:
            return checker.is_valid(arguments) if cost.visits(arguments, VISITS) <= VISITS else None
        except UnicodeError:
            return False
        except _FAILURES:
            return None

    def problems(self, arguments: dict[str, Any], tool_name: str) -> dict[str, Any] | None:
        """An envelope that explains what is wrong with `arguments`, or None. Takes microseconds if they are valid."""
        if self._compiled is None or self.accepts(arguments) is not False:
            return None
        from paddock.tools.schema_errors import explain

        try:
            errors = _errors(arguments, *self._compiled)
        except UnicodeError:
            return _not_unicode(tool_name)
        except _FAILURES:
            errors = []
        return explain(errors, arguments, tool_name, self)

    def examples(self, fields: Collection[str] = ()) -> list[Any]:
        """At most one example: a minimal valid object of arguments, with these fields."""
        from paddock.tools.schema_errors import example

        made = example(self.schema, fields)
        return [made] if made and self.accepts(made) else []


def _errors(value: Any, checker: jsonschema_rs.Validator, cost: Cost) -> list[jsonschema_rs.ValidationError]:
    """All problems of `value`; only the first, or none, if more would take too much time or memory."""
    import jsonschema_rs

    from paddock.tools.schema_cost import INFINITE, measure

    visits = cost.visits(value, ERROR_VISITS)
    if visits >= INFINITE:
        return []
    copied = visits * measure(value, VISITS)[0]
    if visits <= ERROR_VISITS and copied <= ERROR_UNITS:
        return list(checker.iter_errors(value))
    # A failed anyOf or oneOf contains the problems of all branches, and each takes 60 µs.
    if copied <= 2 * ERROR_UNITS and (visits <= 2 * ERROR_VISITS or not cost.has_choices):
        try:
            checker.validate(value)
        except jsonschema_rs.ValidationError as problem:
            return [problem]
    return []


def compile_schema(schema: Mapping[str, Any]) -> Validator:
    """Compile `schema`. Never raises. Takes a millisecond, up to a second for a hostile schema: cache the result."""
    try:
        copy = copy_schema(schema)
        compiled = _compile(copy)
    except Unusable as problem:
        warning = f"The arguments are not checked, because the tool's schema cannot be used: {problem}."
        return Validator(SafeSchema(), None, (warning,))
    warnings = dict.fromkeys(f"A part of the tool's schema is not checked: {note}." for note in copy.notes)
    return Validator(copy, compiled, tuple(warnings)[:10], _size_bytes(copy))


def _size_bytes(copy: SafeSchema) -> int:
    """About how much memory a compiled schema takes, with what its patterns note while they match."""
    from paddock.tools.schema_cost import measure

    values = min(measure(copy.root, SCHEMA_BYTES)[0], SCHEMA_BYTES // 2)  # it counts some numbers as many
    patterns = (0, 2 * SMALL_PATTERN_BYTES, 2 * PATTERN_BYTES)
    return VALUE_BYTES * values + NODE_BYTES * len(copy.nodes) + sum(patterns[each] for each in copy.patterns.values())


def _compile(copy: SafeSchema) -> tuple[jsonschema_rs.Validator, Cost]:
    """Compile `copy`, leaving out keywords that the compiler refuses."""
    import jsonschema_rs

    from paddock.tools.schema_cost import FRAMES, Cost

    for _ in range(_MAX_REPAIRS):
        cost = Cost(copy)
        if cost.chain > FRAMES:
            raise Unusable("it refers to itself without end, or through too many references")
        try:
            return _validator(copy.root), cost
        except jsonschema_rs.ValidationError as problem:
            _remove_keyword(copy, problem.instance_path)
        except _FAILURES as problem:
            raise Unusable(quote(problem)) from None
    raise Unusable("too many of its keywords are invalid")


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        schema,
        offline=True,  # otherwise references to files are read, and those to http: are fetched
        pattern_options=jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES, dfa_size_limit=SMALL_PATTERN_BYTES),
        validate_formats=True,
        formats={"date-time": _is_date_time, "time": _is_time},
        mask="…",  # otherwise each message would contain a copy of the arguments
    )


def _remove_keyword(copy: SafeSchema, path: list[str | int]) -> None:
    """Remove the keyword at `path`, or the nearest enclosing one that can be removed."""
    parents: list[Any] = [copy.root]
    for at, part in enumerate(path[:-1]):
        try:
            parents.append(parents[-1][part])
        except (KeyError, IndexError, TypeError):  # the compiler leaves an empty name out of the path
            del parents[-1]
            path = path[:at]
            break
    for parent, part in zip(reversed(parents), reversed(path), strict=False):
        if id(parent) in copy.nodes and part in parent:
            copy.notes.append(f"'{'/'.join(str(step) for step in path)[:80]}' is not valid JSON Schema, and is ignored")
            del parent[part]
            return
    raise Unusable("it is not valid JSON Schema")


def _is_date_time(text: str) -> bool:
    """RFC 3339 with an optional offset: many servers that declare `date-time` omit it, including pydantic's."""
    from datetime import datetime

    try:
        datetime.fromisoformat(text.upper().replace(":60", ":59"))
    except ValueError:
        return False
    return len(text) > 10


def _is_time(text: str) -> bool:
    return _is_date_time(f"2000-01-01T{text}")


def _not_unicode(tool_name: str) -> dict[str, Any]:
    summary = f"The arguments of '{tool_name[:100]}' contain text that is not valid Unicode (a lone surrogate)."
    hints = ["Encode the text with errors='replace' and decode it again before passing it."]
    return invalid_arguments(tool_name, summary, hints=hints)
