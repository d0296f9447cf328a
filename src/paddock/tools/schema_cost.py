"""Computes a bound for the cost of checking a value against a schema, before the check.

A schema of 2 KB can make a validator visit 2^40 schemas: each of forty definitions refers twice to the next. Other
schemas overflow its stack, which crashes the host. A visit is one schema applied to one value, about 50 ns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from paddock.tools.schema import ITEMS, MEMBERS, SAME_VALUE, SafeSchema

INFINITE = 10**12
CHARACTERS_PER_UNIT = 16
FRAMES = 2000
"""Limit for nested schemas on the validator's stack. A thread with 512 KB has room for about 3,000."""
_STEPS = 50_000
"""Limit for the pairs of schema and value that `Cost.exact` counts."""
_MATCH = (0, 64 * CHARACTERS_PER_UNIT, 1000 * CHARACTERS_PER_UNIT)  # visits per unit of text, by pattern size class
_SMALL = 1 << 63
_NUMBER_BITS = 50  # the validator computes exactly, and larger numbers do not fit into machine numbers
_COMPARED, _COMPARED_NUMBER = 8, 80  # visits for each part of an `enum` option that is compared
_UNIQUE, _UNIQUE_EXACT = 20, 150  # visits for each item: up to fifteen are compared pairwise
_UNEVALUATED = 3  # measured: the validator visits everything below such a schema 2.5 times
_NAMED = ("dependentRequired", "dependencies", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf")
_Known = dict[int, int]


class Cost:
    """Bounds for the cost of checks against one schema."""

    def __init__(self, schema: SafeSchema) -> None:
        self._schema = schema
        nodes = schema.nodes.values()
        self._same_value = {id(node): _same_value_schemas(node, schema) for node in nodes}
        self._pattern_costs = {id(node): _pattern_cost(node, schema) for node in nodes}
        self._own_costs = {id(node): _own_cost(node) for node in nodes}
        self.has_choices = any("anyOf" in node or "oneOf" in node for node in nodes)
        chains: _Known = {}
        self.chain = _or_infinite(lambda: max(self._chain(node, chains) for node in nodes))
        """The longest chain of schemas that apply to one value; INFINITE if one leads to itself."""
        self._weight = _or_infinite(lambda: self._weigh(schema.root, {}))

    def visits(self, value: Any, budget: int) -> int:
        """An upper bound of the visits for `value`; INFINITE if it exceeds `budget` or the stack."""
        units, depth = measure(value, budget)
        if depth * self.chain > FRAMES or units > budget:
            return INFINITE
        bound = units * self._weight
        return bound if bound <= budget else self.exact(value)

    def exact(self, value: Any) -> int:
        """The visits of a validator that never stops early. Slow: 2 µs per pair of schema and value."""
        return _or_infinite(lambda: self._count(self._schema.root, value, {}))

    def _chain(self, node: dict[str, Any], known: _Known) -> int:
        key = id(node)
        if key not in known:
            known[key] = INFINITE  # the result if the schema leads to itself
            known[key] = min(
                INFINITE, 1 + max((self._chain(child, known) for child in self._same_value[key]), default=0)
            )
        return known[key]

    def _weigh(self, node: dict[str, Any], known: _Known) -> int:
        """The number of schemas in the tree with all references expanded; INFINITE if it has cycles."""
        key = id(node)
        if key not in known:
            known[key] = INFINITE  # the result if the schema is recursive
            children = (*self._same_value[key], *self._schema.children(node, MEMBERS))
            below = sum(self._weigh(child, known) for child in children)
            known[key] = min(INFINITE, (1 + self._pattern_costs[key] + self._own_costs[key] + below) * _factor(node))
        return known[key]

    def _count(self, node: dict[str, Any], value: Any, known: dict[tuple[int, int], tuple[int, Any]]) -> int:
        """The visits for `value`. `known` holds the pairs of schema and value that were already counted."""
        key = (id(node), id(value))
        if key in known:
            return known[key][0]
        if len(known) >= _STEPS:
            raise OverflowError
        # A pair that recurs below itself costs nothing: the validator stops there. Storing the value keeps it alive,
        # so that no other value gets its id.
        known[key] = (0, value)
        pattern_cost = self._pattern_costs[id(node)]
        total = self._own_costs[id(node)] + (1 + pattern_cost) * (1 + _units(value))
        total += sum(self._count(child, value, known) for child in self._same_value[id(node)])
        if isinstance(value, dict):
            properties = node.get("properties", {})
            names = list(self._schema.children(node, ("propertyNames",)))
            others = ("additionalProperties", "unevaluatedProperties", "patternProperties")
            for name, inner in value.items():
                children = [properties.get(name), *self._schema.children(node, others)]
                total += pattern_cost * (1 + _units(name))
                total += sum(self._count(child, inner, known) for child in children if isinstance(child, dict))
                total += sum(self._count(child, name, known) for child in names)
        elif isinstance(value, list):
            total += len(value) * _UNIQUE_EXACT if node.get("uniqueItems") else 0
            children = list(self._schema.children(node, ITEMS))
            total += sum(self._count(child, inner, known) for inner in value for child in children) if children else 0
        known[key] = (min(INFINITE, total * _factor(node)), value)
        return known[key][0]


def measure(value: Any, limit: int) -> tuple[int, int]:
    """The number of values in `value`, where a long one counts as several, and their depth. Stops above `limit`."""
    units, depth, level = 0, 0, [value]
    while level and units <= limit and depth <= FRAMES:
        depth += 1
        units += len(level)
        inner: list[Any] = []
        for one in level:
            if type(one) is int and -_SMALL < one < _SMALL:  # most of a large value, so this must be fast
                continue
            units += _units(one)
            if isinstance(one, dict):
                inner.extend(one.values())
                inner.extend(one)  # names are matched against patterns too
            elif isinstance(one, list):
                inner.extend(one)
        level = inner
    return units, depth


def _or_infinite(compute: Callable[[], int]) -> int:
    try:
        return compute()
    except (RecursionError, OverflowError):
        return INFINITE


def _pattern_cost(node: dict[str, Any], schema: SafeSchema) -> int:
    """The cost of matching the patterns of `node` against one unit of text."""
    patterns = [node["pattern"]] if isinstance(node.get("pattern"), str) else []
    return sum(_MATCH[schema.patterns.get(one, 0)] for one in (*patterns, *node.get("patternProperties", ())))


def _same_value_schemas(node: dict[str, Any], schema: SafeSchema) -> list[dict[str, Any]]:
    """Schemas that apply to the same value as `node`."""
    target = schema.target(node.get("$ref"))
    return [*schema.children(node, SAME_VALUE), *([] if target is None else [target])]


def _factor(node: dict[str, Any]) -> int:
    return _UNEVALUATED if "unevaluatedProperties" in node or "unevaluatedItems" in node else 1


def _own_cost(node: dict[str, Any]) -> int:
    """The cost of the keywords of `node` that contain no schema, or only `true` and `false`."""
    cost = sum(len(node[name]) for name in _NAMED if isinstance(node.get(name), dict))
    cost += sum(len(node[name]) // 8 for name in _LISTS if isinstance(node.get(name), list))
    cost += _compared(node["enum"]) if isinstance(node.get("enum"), list) else 0
    cost += _compared([node["const"]]) if "const" in node else 0
    return cost + _units(node.get("multipleOf")) + (_UNIQUE if node.get("uniqueItems") else 0)


def _compared(options: Iterable[Any]) -> int:
    """The cost of comparing a value with each of `options`; nothing if the validator looks it up instead."""
    level = list(options)
    if all(option is None or isinstance(option, str) or _is_small(option) for option in level):
        return 0
    cost = 0
    while level:
        one = level.pop()
        is_number = isinstance(one, int | float) and not _is_small(one)
        cost += _units(one) + (_COMPARED_NUMBER if is_number else _COMPARED)
        level.extend((*one, *one.values()) if isinstance(one, dict) else one if isinstance(one, list) else ())
    return cost


def _is_small(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() < 64


def _units(value: object) -> int:
    """How many units a long text or number counts in addition to one."""
    if isinstance(value, str):
        return len(value) // CHARACTERS_PER_UNIT
    if isinstance(value, float):
        bits = abs(math.frexp(value)[1])
        return bits if bits > _NUMBER_BITS else 0
    if isinstance(value, int) and not _is_small(value):
        bits = value.bit_length()
        return bits + bits * bits // 2500
    return 0
