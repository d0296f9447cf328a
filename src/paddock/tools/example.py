"""A minimal object of arguments for a schema, where one is easily made. Whoever shows it checks first that it fits."""

from __future__ import annotations

import json
from typing import Any

from paddock.tools.safe_schema import SafeSchema

EXAMPLE_CHARACTERS = 1000
_DEEPEST = 8
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


def example(schema: SafeSchema) -> dict[str, Any] | None:
    """Required fields only, each with its declared example, default or least value; None where that is not easy."""
    try:
        value = _example(schema.root, schema, 0)
        short = len(json.dumps(value)) <= EXAMPLE_CHARACTERS
    except (_Hard, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return value if short and isinstance(value, dict) else None


class _Hard(Exception):
    """No value is easily made."""


def _example(node: Any, schema: SafeSchema, depth: int) -> Any:
    if not isinstance(node, dict) or depth > _DEEPEST:
        if node is True:
            return "…"
        raise _Hard
    for declared in ("examples", "enum"):
        if isinstance(node.get(declared), list) and node[declared]:
            return node[declared][0]
    for declared in ("const", "default"):
        if declared in node:
            return node[declared]
    if "$ref" in node:
        return _example(schema.target(node["$ref"]), schema, depth + 1)
    for choice in ("anyOf", "oneOf", "allOf"):
        if isinstance(node.get(choice), list) and node[choice] and "properties" not in node:
            return _example(node[choice][0], schema, depth + 1)
    return _of_type(node, schema, depth)


def _of_type(node: dict[str, Any], schema: SafeSchema, depth: int) -> Any:
    kind = node.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in node or "required" in node:
        properties = node.get("properties", {})
        return {name: _example(properties.get(name, True), schema, depth + 1) for name in node.get("required", [])}
    if kind == "array":
        return [_example(node.get("items", True), schema, depth + 1) for _ in range(min(node.get("minItems", 0), 10))]
    if kind == "string":
        return _text(node)
    if kind in ("integer", "number"):
        return _number(node)
    if kind in ("boolean", "null"):
        return True if kind == "boolean" else None
    if kind is None and not node.keys() & {"pattern", "format", "minimum", "not"}:
        return "…"
    raise _Hard


def _text(node: dict[str, Any]) -> str:
    if "pattern" in node:
        raise _Hard
    given = _FORMATS.get(node.get("format", ""))
    if given is not None:
        return given
    length = max(node.get("minLength", 0), 1)
    if length > EXAMPLE_CHARACTERS:
        raise _Hard
    return "…"[: node.get("maxLength", 1)] if length == 1 else "x" * length


def _number(node: dict[str, Any]) -> Any:
    if "multipleOf" in node:
        return 0 if node.get("minimum", 0) <= 0 else node["multipleOf"]
    least = node.get("minimum", 1)
    above = node.get("exclusiveMinimum")
    if isinstance(above, (int, float)) and not isinstance(above, bool):
        least = max(least, above + 1)
    most = node.get("maximum", least)
    return min(least, most)
