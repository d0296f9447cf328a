"""Computes a bound for the cost of checking a value against a schema, before the check.

A schema of 2 KB can make a validator visit 2^40 schemas: each of forty definitions refers twice to the next. Other
schemas overflow its stack, which crashes the host. A visit is one schema applied to one value, about 50 ns.
"""

from __future__ import annotations

from typing import Any

from paddock.tools.schema import (
    ITEM_SCHEMAS,
    MEMBER_MAPS,
    SAME_VALUE_LISTS,
    SAME_VALUE_MAPS,
    SAME_VALUE_SCHEMAS,
    SafeSchema,
)

INFINITE = 10**12
CHARACTERS_PER_UNIT = 16
FRAMES = 2000
"""Limit for nested schemas on the validator's stack. A thread with 512 KB has room for about 3,000."""
_STEPS = 50_000
_MATCH = (0, 64 * CHARACTERS_PER_UNIT, 1000 * CHARACTERS_PER_UNIT)  # visits for a unit of text, by size of automaton
_UNEVALUATED = 3  # measured: the validator visits everything below 2.5 times


class Cost:
    """The bounds of one schema."""

    def __init__(self, schema: SafeSchema) -> None:
        self._schema = schema
        self._same_value = {key: _same_value_schemas(node, schema) for key, node in schema.nodes.items()}
        self._pattern_costs = {key: _pattern_cost(node, schema) for key, node in schema.nodes.items()}
        self.chain = _Chains(self._same_value).longest()
        self.has_choices = any("anyOf" in node or "oneOf" in node for node in schema.nodes.values())
        self._weight = self._weigh()

    def visits(self, value: Any, budget: int) -> int:
        """An upper bound of the visits for `value`; INFINITE if it exceeds `budget` or the stack."""
        units, depth = measure(value, budget)
        if depth * self.chain > FRAMES or units > budget:
            return INFINITE
        bound = units * self._weight
        return bound if bound <= budget else self.exact(value)

    def exact(self, value: Any) -> int:
        """The visits of a validator that never stops early. Slow: 2 µs per pair of schema and value."""
        try:
            return _VisitCounter(self._schema, self._same_value, self._pattern_costs).of(self._schema.root, value)
        except (RecursionError, OverflowError):
            return INFINITE

    def _weigh(self) -> int:
        """The number of schemas in the tree with all references expanded; INFINITE if it has cycles."""
        known: dict[int, int] = {}
        try:
            return self._weight_of(self._schema.root, known)
        except RecursionError:
            return INFINITE

    def _weight_of(self, node: dict[str, Any], known: dict[int, int]) -> int:
        key = id(node)
        if key not in known:
            known[key] = INFINITE  # used if it is met again below itself: recursive
            below = sum(self._weight_of(child, known) for child in (*self._same_value[key], *_member_schemas(node)))
            known[key] = min(INFINITE, (1 + self._pattern_costs[key] + below) * _factor(node))
        return known[key]


def measure(value: Any, limit: int) -> tuple[int, int]:
    """The number of values in `value`, long texts counted more, and their depth. Stops above `limit`."""
    units, depth, level = 0, 0, [value]
    while level and units <= limit and depth <= FRAMES:
        depth += 1
        units += len(level)
        inner: list[Any] = []
        for one in level:
            if isinstance(one, str):
                units += len(one) // CHARACTERS_PER_UNIT
            elif isinstance(one, dict):
                inner.extend(one.values())
                inner.extend(one)  # names are matched against patterns too
            elif isinstance(one, list):
                inner.extend(one)
        level = inner
    return units, depth


class _VisitCounter:
    """Counts visits of pairs of a schema and a value, each pair once."""

    def __init__(self, schema: SafeSchema, same_value: dict[int, list[dict[str, Any]]], own: dict[int, int]) -> None:
        self._schema, self._same_value, self._pattern_costs = schema, same_value, own
        self._known: dict[tuple[int, int], int] = {}
        self._seen_values: list[Any] = []

    def of(self, node: dict[str, Any], value: Any) -> int:
        key = (id(node), id(value))
        if key in self._known:
            return self._known[key]
        if len(self._known) >= _STEPS:
            raise OverflowError
        self._known[key] = 0  # used if it is met again for the same value: the validator stops there
        self._seen_values.append(value)  # keeps the value alive, so that no other value gets its id
        total = 1 + self._pattern_costs[id(node)] * (1 + _text_units(value))
        total += sum(self.of(child, value) for child in self._same_value[id(node)])
        if isinstance(value, dict):
            total += sum(self._property(node, name, inner) for name, inner in value.items())
        elif isinstance(value, list):
            children = _items(node)
            total += sum(self.of(child, inner) for inner in value for child in children) if children else 0
        self._known[key] = min(INFINITE, total * _factor(node))
        return self._known[key]

    def _property(self, node: dict[str, Any], name: str, value: Any) -> int:
        own = _table(node, "properties").get(name)
        more = [node.get("additionalProperties"), node.get("unevaluatedProperties")]
        children = [own, *more, *_table(node, "patternProperties").values()]
        total = self._pattern_costs[id(node)] * (1 + _text_units(name))
        total += sum(self.of(child, value) for child in children if isinstance(child, dict))
        names = node.get("propertyNames")
        return total + (self.of(names, name) if isinstance(names, dict) else 0)


class _Chains:
    """The longest chain of schemas that apply to one value; INFINITE if one leads to itself."""

    def __init__(self, same_value: dict[int, list[dict[str, Any]]]) -> None:
        self._same_value = same_value
        self._known: dict[int, int] = {}

    def longest(self) -> int:
        try:
            return max((self._of(key) for key in self._same_value), default=1)
        except RecursionError:
            return INFINITE

    def _of(self, key: int) -> int:
        if key not in self._known:
            self._known[key] = INFINITE  # stays if it is met again below itself
            below = max((self._of(id(child)) for child in self._same_value[key]), default=0)
            self._known[key] = min(INFINITE, 1 + below)
        return self._known[key]


def _pattern_cost(node: dict[str, Any], schema: SafeSchema) -> int:
    """The cost of matching its patterns against one unit of text."""
    patterns = [node["pattern"]] if isinstance(node.get("pattern"), str) else []
    return sum(_MATCH[schema.patterns.get(pattern, 0)] for pattern in (*patterns, *_table(node, "patternProperties")))


def _same_value_schemas(node: dict[str, Any], schema: SafeSchema) -> list[dict[str, Any]]:
    """Schemas that apply to the same value as `node`."""
    found = [node.get(name) for name in SAME_VALUE_SCHEMAS]
    for name in SAME_VALUE_LISTS:
        found += node[name] if isinstance(node.get(name), list) else []
    for name in SAME_VALUE_MAPS:
        found += _table(node, name).values()
    found.append(schema.target(node.get("$ref")))
    return [child for child in found if isinstance(child, dict)]


def _member_schemas(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Schemas that apply to members of the value."""
    found = [node.get(name) for name in ("additionalProperties", "unevaluatedProperties", "propertyNames")]
    for name in MEMBER_MAPS:
        found += _table(node, name).values()
    return [*(child for child in found if isinstance(child, dict)), *_items(node)]


def _items(node: dict[str, Any]) -> list[dict[str, Any]]:
    found = [node.get(name) for name in ITEM_SCHEMAS]
    for name in ("prefixItems", "items"):
        found += node[name] if isinstance(node.get(name), list) else []
    return [child for child in found if isinstance(child, dict)]


def _factor(node: dict[str, Any]) -> int:
    return _UNEVALUATED if "unevaluatedProperties" in node or "unevaluatedItems" in node else 1


def _table(node: dict[str, Any], name: str) -> dict[str, Any]:
    value = node.get(name)
    return value if isinstance(value, dict) else {}


def _text_units(value: Any) -> int:
    return len(value) // CHARACTERS_PER_UNIT if isinstance(value, str) else 0
