"""Explains what is wrong with arguments so that a model can correct them: code, path, issue, hints, example."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from paddock.model.envelope import invalid_arguments
from paddock.model.spelling import within_edits
from paddock.tools.size import is_larger

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

    from paddock.tools.schema import SafeSchema, Validator

DETAILS = 10
FALLBACK = "SCHEMA_VALIDATION_FAILED"
_SHOWN_CHARACTERS = 60
_MAX_LISTED = 20
EXAMPLE_CHARACTERS = 1000
_EXAMPLE_DEPTH = 8
_EXAMPLE_STEPS = 2 * EXAMPLE_CHARACTERS
"""How many schemas are visited for one example. A few, each of which needs ten of the next, would take years."""
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "name@example.com",
    "uri": "https://example.com",
    "url": "https://example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "hostname": "example.com",
}
_QUOTED = re.compile(r"(?<!\w)(['\"`])([\w./:+-]{1,40})\1")
"""A value that a description quotes: of many tools it is the only list of what they accept."""
_TYPE_NAMES = {"array": "an array", "object": "an object", "integer": "an integer", "null": "null"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in the arguments."""

    code: str
    location: tuple[str | int, ...]
    issue: str
    received: str
    more: Mapping[str, Any] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    branch: tuple[str | int, ...] = ()  # the path of the violated part of the schema


def explain(
    errors: Sequence[ValidationError], arguments: Mapping[str, Any], tool: str, validator: Validator
) -> dict[str, Any]:
    """The envelope for `errors`. Without errors it only says that the arguments are invalid."""
    problems: list[Problem] = []
    for error in errors:
        problems += _problems(error, arguments, validator, is_shown=len(problems) < DETAILS)
    shown = problems[:DETAILS]
    hints = dict.fromkeys(hint for problem in shown for hint in problem.hints)
    fields = {str(problem.location[0]) for problem in shown if len(problem.location) > 1}
    return invalid_arguments(
        tool,
        _summary(tool, problems),
        _code(problems),
        details=[
            {"path": path(one.location), "issue": one.issue, "received_type": one.received, **one.more} for one in shown
        ],
        hints=sorted(hints, key=_rank),
        examples=[] if all("for example" in hint for hint in hints) and hints else validator.examples(fields),
        warnings=validator.warnings,
    )


def _rank(hint: str) -> int:
    """The sort key of a hint: missing fields first, then unknown fields, then the rest."""
    return next((rank for rank, start in enumerate(("Required", "Unknown")) if hint.startswith(start)), 2)


def path(location: Sequence[str | int]) -> str:
    """`location` in the notation `orders[0].id`. Empty for the arguments themselves."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{_cut(part)}" if text else _cut(part)
    return text


def received_type(value: Any) -> str:
    """The JSON type of `value`."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, float):
        return "number" if math.isfinite(value) else "NaN or infinity, which JSON cannot represent"
    names = {str: "string", int: "integer", list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def _summary(tool: str, problems: Sequence[Problem]) -> str:
    name = _cut(tool)
    if not problems:
        return f"The arguments of '{name}' do not match its schema."
    one = problems[0]
    text = f"'{path(one.location)}' {one.issue}" if one.location else f"the arguments {one.issue}"
    more = f" ({len(problems)} problems in total)" if len(problems) > 1 else ""
    return f"Wrong arguments for '{name}': {text}{more}."


def _code(problems: Sequence[Problem]) -> str:
    """The code that all problems share. Several failing branches of one `allOf` have a separate code."""
    if not problems:
        return FALLBACK
    if len(problems) > 1 and all("allOf" in problem.branch for problem in problems):
        parents = {problem.branch[: problem.branch.index("allOf")] for problem in problems}
        branches = {problem.branch[problem.branch.index("allOf") + 1] for problem in problems}
        if len(parents) == 1 and len(branches) > 1:
            return "SCHEMA_ALL_OF_FAILED"
    codes = {problem.code for problem in problems}
    return codes.pop() if len(codes) == 1 else "INPUT_VALIDATION_FAILED"


def _problems(
    error: ValidationError, arguments: Any, validator: Validator, *, is_shown: bool = False
) -> Iterator[Problem]:
    """`error` as one problem, or one for each field that it concerns. Only problems that are shown get hints."""
    location, branch = tuple(error.instance_path), tuple(error.evaluation_path)
    value = _value_at(arguments, location)
    kind: Any = error.kind
    if kind.name == "required":
        hints = _missing_field_hints(kind.property, location, value if is_shown else {}, _part(error, validator))
        yield Problem("SCHEMA_REQUIRED", (*location, kind.property), "is required", "missing", {}, hints, branch)
    elif kind.name in ("additionalProperties", "unevaluatedProperties"):
        known = _fields(error, validator) if is_shown else {}
        for name in kind.unexpected[:DETAILS]:
            code, issue = "SCHEMA_ADDITIONAL_PROPERTIES", "is not a field of this tool"
            hints = _unknown_field_hints(name, location, known)
            yield Problem(code, (*location, name), issue, received_type(_value_at(value, [name])), {}, hints, branch)
    elif alternative := _other_than_null(kind):
        for inner in alternative:
            for problem in _problems(inner, arguments, validator, is_shown=is_shown):
                is_type = problem.code == "SCHEMA_TYPE_MISMATCH" and problem.location == location
                yield _or_null(problem) if is_type else problem
    else:
        code, issue, more = _issue(kind, value, location, arguments, validator)
        hints = ()
        if is_shown and kind.name == "enum" and isinstance(value, str):
            hints = _did_you_mean(value, [option for option in kind.options if isinstance(option, str)])
        elif is_shown and kind.name in ("minimum", "maximum"):
            hints = _range(_part(error, validator))
        elif is_shown and kind.name == "type" and location:
            wanted = " or ".join(_TYPE_NAMES.get(one, f"a {one}") for one in kind.types)
            hints = (f"Pass '{path(location)}' as {wanted}{_for_example(_part(error, validator), value, validator)}.",)
        yield Problem(code, location, issue, received_type(value), more, hints, branch)


def _other_than_null(kind: Any) -> Sequence[ValidationError]:
    """The problems of the only alternative to null, for a value that fits neither; empty if there are others."""
    if kind.name not in ("anyOf", "oneOf") or type(kind).__name__ == "OneOfMultipleValid":
        return ()
    others = [branch for branch in kind.context if not _is_null_branch(branch)]
    return others[0] if len(others) == 1 < len(kind.context) else ()


def _is_null_branch(errors: Sequence[ValidationError]) -> bool:
    kind: Any = errors[0].kind if len(errors) == 1 else None
    return kind is not None and kind.name == "type" and list(kind.types) == ["null"]


def _or_null(problem: Problem) -> Problem:
    """A problem of a wrong type, worded to say that null is allowed too."""
    expected, rest, value = problem.issue.partition(", not ")
    more = {**problem.more, "expected_type": f"{problem.more['expected_type']} or null"}
    return replace(problem, issue=f"{expected} or null{rest}{value}", more=more)


def _missing_field_hints(
    name: str, location: tuple[str | int, ...], value: Any, part: Mapping[str, Any]
) -> tuple[str, ...]:
    properties = part.get("properties")
    known = properties if isinstance(properties, dict) else {}
    given = [other for other in value if other not in known] if isinstance(value, dict) else []
    near = within_edits(name, given) or [other for other in given if name.endswith(f"_{other}")]
    hints = [f"Did you mean '{_cut(name)}' instead of '{_cut(other)}'?" for other in near[:1]]
    if not near and known and "additionalProperties" not in part:  # a closed schema has an error of its own for each
        hints = [f"Unknown field '{path((*location, other))}'." for other in given[:DETAILS]]
    return (f"Required field missing: '{path((*location, name))}'.", *hints)


def _unknown_field_hints(name: str, location: tuple[str | int, ...], known: Mapping[str, Any]) -> tuple[str, ...]:
    ending = [other for other in known if other.endswith(f"_{name}")]
    hints = _did_you_mean(name, known)
    if not hints and len(ending) == 1:
        hints = (f"Did you mean '{_cut(ending[0])}' instead of '{_cut(name)}'?",)
    if not hints and known:
        names = ", ".join(f"'{_cut(other)}'" for other in list(known)[:_MAX_LISTED])
        hints = (f"Known fields: {names}{', …' if len(known) > _MAX_LISTED else ''}.",)
    return (f"Unknown field '{path((*location, name))}'.", *hints)


def _issue(
    kind: Any, value: Any, location: Sequence[str | int], arguments: Any, validator: Validator
) -> tuple[str, str, dict[str, Any]]:
    """The code, the issue and further keys of a detail, for a problem of one value."""
    name = kind.name
    if name in _LIMITS:
        code, text = _LIMITS[name]
        issue = text.format(limit=_value(kind.limit), size=len(value) if isinstance(value, (str, list)) else 0)
        more: dict[str, Any] = {"limit": _number(kind.limit)}
    elif name == "type":
        expected = " or ".join(_TYPE_NAMES.get(one, f"a {one}") for one in kind.types)
        code, issue, more = "TYPE_MISMATCH", f"must be {expected}", {"expected_type": " or ".join(kind.types)}
    elif name == "enum":
        allowed = kind.options[:_MAX_LISTED]
        options = ", ".join(_value(option) for option in allowed) + (", …" if len(kind.options) > _MAX_LISTED else "")
        code, issue, more = "ENUM_MISMATCH", f"must be one of {options}", {"allowed": [_short(one) for one in allowed]}
    elif name == "const":
        expected = kind.expected_value
        code, issue, more = "CONST_MISMATCH", f"must be {_value(expected)}", {"allowed": [_short(expected)]}
    elif name == "pattern":
        pattern = _cut(kind.pattern)
        code, issue, more = "PATTERN_MISMATCH", f"must match the pattern {pattern}", {"pattern": pattern}
    elif name == "format":
        format_name = _cut(kind.format)
        code, issue, more = "FORMAT_INVALID", f"must be a valid {format_name}", {"format": format_name}
    elif name == "multipleOf":
        step = kind.multiple_of
        code, issue, more = "MULTIPLE_OF", f"must be a multiple of {_value(step)}", {"limit": _number(step)}
    elif name == "uniqueItems":
        return "SCHEMA_UNIQUE_ITEMS", "must not have the same item twice", {}
    elif name in ("anyOf", "oneOf"):
        return _alternatives(kind, location, arguments, validator)
    else:
        return FALLBACK, _OTHER_ISSUES.get(name, f"does not match '{_cut(name)}' of the schema"), {}
    return f"SCHEMA_{code}", _with_value(issue, value), more


_LIMITS = {
    "maxItems": ("MAX_ITEMS", "must have at most {limit} items but has {size}"),
    "minItems": ("MIN_ITEMS", "must have at least {limit} items but has {size}"),
    "maxLength": ("MAX_LENGTH", "must have at most {limit} characters but has {size}"),
    "minLength": ("MIN_LENGTH", "must have at least {limit} characters but has {size}"),
    "maximum": ("MAXIMUM", "must be at most {limit}"),
    "minimum": ("MINIMUM", "must be at least {limit}"),
    "exclusiveMaximum": ("MAXIMUM", "must be less than {limit}"),
    "exclusiveMinimum": ("MINIMUM", "must be more than {limit}"),
}
_OTHER_ISSUES = {
    "not": "is a value that the schema forbids",
    "falseSchema": "must not be passed",
    "contains": "lacks an item that the schema requires",
    "maxProperties": "has too many fields",
    "minProperties": "has too few fields",
    "propertyNames": "has a field whose name is not allowed",
    "additionalItems": "has too many items",
    "unevaluatedItems": "has items that the schema does not know",
}


def _alternatives(
    kind: Any, location: Sequence[str | int], arguments: Any, validator: Validator
) -> tuple[str, str, dict[str, Any]]:
    code = "SCHEMA_ANY_OF_FAILED" if kind.name == "anyOf" else "SCHEMA_ONE_OF_FAILED"
    if type(kind).__name__ == "OneOfMultipleValid":
        return code, "fits several alternatives of the schema but must fit exactly one", {}
    issues: dict[str, None] = {}
    for branch in kind.context[:_MAX_LISTED]:
        for error in branch[:1]:
            inner = next(_problems(error, arguments, validator))
            is_inside = len(inner.location) > len(location)
            issues[(f"'{path(inner.location)}' " if is_inside else "") + inner.issue.split(", not ")[0]] = None
    listed = list(issues)[:5]
    text = "; or ".join(listed) + ("; or …" if len(issues) > 5 else "")
    return code, f"fits no alternative: {text}"[:400], {"alternatives": listed}


def _fields(error: ValidationError, validator: Validator) -> Mapping[str, Any]:
    """The properties of the object schema that `error` comes from, without those that are not offered any more."""
    properties = _part(error, validator).get("properties")
    given = properties if isinstance(properties, dict) else {}
    return {
        name: each for name, each in given.items() if not (isinstance(each, dict) and each.get("deprecated") is True)
    }


def _part(error: ValidationError, validator: Validator) -> Mapping[str, Any]:
    """The part of the schema that `error` comes from."""
    part = _value_at(validator.schema.root, error.schema_path[:-1])
    return part if isinstance(part, dict) else {}


def _range(part: Mapping[str, Any]) -> tuple[str, ...]:
    """A hint with the range of a number, if both ends are known: a model that missed one may miss the other next."""
    minimum, maximum = part.get("minimum"), part.get("maximum")
    if not isinstance(minimum, (int, float)) or not isinstance(maximum, (int, float)):
        return ()
    return (f"Give a number from {_value(minimum)} to {_value(maximum)}.",)


def _for_example(part: Mapping[str, Any], value: Any, validator: Validator) -> str:
    """A value of the type that this part of the schema wants, if a short one is known."""
    is_array = part.get("type") == "array" and "minItems" not in part
    sample: Any = _sample({**part, "minItems": 1} if is_array else part, validator.schema)
    if sample == "…":
        sample = json.dumps(value) if isinstance(value, (int, float)) else "text"
    text = "" if sample is None else json.dumps(sample, ensure_ascii=False)
    return f", for example {text}" if 0 < len(text) <= _SHOWN_CHARACTERS else ""


def _did_you_mean(word: str, known: Any) -> tuple[str, ...]:
    return tuple(f"Did you mean '{near}' instead of '{_cut(word)}'?" for near in within_edits(word, known)[:1])


def _value_at(value: Any, location: Sequence[str | int]) -> Any:
    for part in location:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _with_value(issue: str, value: Any) -> str:
    """`issue` with the received value, unless that is an object or an array."""
    return issue if isinstance(value, (dict, list)) or " but has " in issue else f"{issue}, not {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{_cut(value)}'"
    try:
        return _cut(json.dumps(value, default=str))
    except (ValueError, RecursionError):
        return received_type(value)


def _short(value: Any) -> Any:
    """A value of the schema for `details`: numbers unchanged, others as shortened text."""
    return value if value is None or isinstance(value, (bool, int, float)) else _value(value).strip("'")


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else float(value)


def _cut(text: str) -> str:
    line = " ".join(text[: _SHOWN_CHARACTERS * 2].split()) if not text.isprintable() else text
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"


def example(schema: SafeSchema, fields: Collection[str] = ()) -> dict[str, Any] | None:
    """Minimal example arguments: the required fields and `fields`, each with its example, default or smallest value.

    None if it is too long or cannot be built. The caller must check that it is valid.
    """
    value = _sample(schema.root, schema)
    if not isinstance(value, dict):
        return None
    for name, node in schema.root.get("properties", {}).items() if fields else ():
        if name in fields and isinstance(node, dict):
            value[name] = [_sample(node["items"], schema)] if "items" in node else _sample(node, schema)
    return value


def _sample(node: Any, schema: SafeSchema) -> Any:
    """A value that this part of the schema allows, or None."""
    try:
        value = _example(node, schema, 0, iter(range(_EXAMPLE_STEPS)))
        is_short = not is_larger(value, EXAMPLE_CHARACTERS) and len(json.dumps(value)) <= EXAMPLE_CHARACTERS
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return value if is_short else None


def _example(node: Any, schema: SafeSchema, depth: int, steps: Iterator[int]) -> Any:
    if not isinstance(node, dict) or depth > _EXAMPLE_DEPTH:
        return "…"
    if next(steps, None) is None:
        raise OverflowError
    for declared in ("examples", "enum", "const", "default"):
        if declared in ("const", "default") and declared in node:
            return node[declared]
        if isinstance(node.get(declared), list) and node[declared]:
            return node[declared][0]
    if "$ref" in node:
        return _example(schema.target(node["$ref"]), schema, depth + 1, steps)
    for choice in ("anyOf", "oneOf", "allOf"):
        if isinstance(node.get(choice), list) and node[choice] and "properties" not in node:
            return _example(node[choice][0], schema, depth + 1, steps)
    kind = node.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in node or "required" in node:
        properties = node.get("properties", {})
        return {name: _example(properties.get(name), schema, depth + 1, steps) for name in node.get("required", [])}
    if kind == "array":
        return [_example(node.get("items"), schema, depth + 1, steps) for _ in range(min(node.get("minItems", 0), 10))]
    if kind in ("integer", "number"):
        return node.get("minimum", node.get("maximum", 1))
    if kind in ("boolean", "null"):
        return True if kind == "boolean" else None
    return _example_text(node)


def _example_text(node: Mapping[str, Any]) -> Any:
    quoted = None if node.keys() & {"format", "pattern", "minLength"} else _QUOTED.search(node.get("description", ""))
    if quoted is not None and node.get("type") == "string":
        return quoted[2]
    return _FORMATS.get(node.get("format", ""), "…" * max(1, min(node.get("minLength", 1), EXAMPLE_CHARACTERS)))
