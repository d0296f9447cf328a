"""A tool's schema without the arguments that the host adds, wherever in it they are declared.

The upstream wrote the schema: no shape of it raises, and what is too large to look through is left as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

MOST_SCHEMAS = 500
DEEPEST = 20
_ALL, _SOME = ("allOf",), ("anyOf", "oneOf")
_BRANCHES = ("then", "else")


def without(schema: Mapping[str, Any], names: Collection[str]) -> tuple[Mapping[str, Any], dict[str, bool]]:
    """`schema` without the arguments `names`, and those of them that it had; whether it requires each."""
    search = _Search(schema, frozenset(names))
    made = search.stripped(schema, is_certain=True)
    return (made, search.found) if search.found else (schema, {})


class _Search:
    def __init__(self, root: Mapping[str, Any], names: frozenset[str]) -> None:
        self._root, self._names = root, names
        self._left, self._depth, self._times = MOST_SCHEMAS, 0, 0
        self.found: dict[str, bool] = {}

    def stripped(self, schema: Any, *, is_certain: bool) -> Any:
        """`schema`, which is about the arguments themselves; not `is_certain` where it need not hold for a call."""
        if not isinstance(schema, Mapping) or self._left <= 0 or self._depth > DEEPEST:
            return schema
        self._left -= 1
        self._depth += 1
        made = self._followed(self._own(schema, is_certain=is_certain), is_certain=is_certain)
        self._depth -= 1
        return made

    def _own(self, schema: Mapping[str, Any], *, is_certain: bool) -> dict[str, Any]:
        made = dict(schema)
        if isinstance(properties := schema.get("properties"), Mapping):
            self._note(properties, is_required=False)
            made["properties"] = {name: value for name, value in properties.items() if name not in self._names}
            if type(least := schema.get("minProperties")) is int:  # the host's count too
                made["minProperties"] = max(least - len(properties) + len(made["properties"]), 0)
        if isinstance(required := schema.get("required"), list):
            self._note(required, is_required=is_certain)
            made["required"] = self._kept(required)
        if isinstance(dependent := schema.get("dependentRequired"), Mapping):
            kept = {name: self._kept(listed) for name, listed in dependent.items() if name not in self._names}
            made["dependentRequired"] = kept
        for key in (*_ALL, *_SOME):
            if isinstance(listed := schema.get(key), list):
                made[key] = [self.stripped(one, is_certain=is_certain and key in _ALL) for one in listed]
        for key in _BRANCHES:
            if key in schema:
                made[key] = self.stripped(schema[key], is_certain=False)
        return made

    def _followed(self, made: dict[str, Any], *, is_certain: bool) -> dict[str, Any]:
        """What `made` refers to, in its place, where that has one of the arguments."""
        times = self._times
        inner = self.stripped(self._target(made.get("$ref")), is_certain=is_certain)
        if self._times == times:
            return made
        rest = {key: value for key, value in made.items() if key != "$ref"}
        also = rest.get("allOf")
        return {**rest, "allOf": [*(also if isinstance(also, list) else ()), inner]}

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        target: Any = self._root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, Mapping) else None
        return target

    def _note(self, names: Any, *, is_required: bool) -> None:
        for name in names:
            if isinstance(name, str) and name in self._names:
                self._times += 1
                self.found[name] = self.found.get(name, False) or is_required

    def _kept(self, listed: Any) -> Any:
        if not isinstance(listed, list):
            return listed
        return [name for name in listed if not (isinstance(name, str) and name in self._names)]
