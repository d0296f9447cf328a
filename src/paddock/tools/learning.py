"""What a tool's answers look like, learned from earlier ones, for tools that declare no result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from paddock.tools.redaction import REDACTED

LEARNED = "x-paddock-learned"
"""Marks a schema that nobody declared."""
SAMPLES = 20
DEPTH = 8
KEYS = 60
"""An object with more keys than these is taken for a mapping: its keys are data."""
ITEMS = 50
STEPS = 5000


def learned(samples: Iterable[Any]) -> dict[str, Any]:
    """A schema that describes every one of `samples`, as far as it was looked at. Open: other answers may hold more."""
    seen = _Seen()
    steps = [STEPS]
    for sample in islice(samples, SAMPLES):
        seen.add(sample, DEPTH, steps)
    return {**seen.schema(), LEARNED: True}


class _Seen:
    """The values that were seen in one place."""

    def __init__(self) -> None:
        self._types: dict[str, None] = {}
        self._objects = 0
        self._times: dict[str, int] = {}
        self._fields: dict[str, _Seen] = {}
        self._items: _Seen | None = None

    def add(self, value: Any, depth: int, steps: list[int]) -> None:
        steps[0] -= 1
        if depth < 0 or steps[0] < 0:
            self._types["any"] = None
        elif isinstance(value, Mapping):
            self._types["object"] = None
            self._objects += 1
            for key, inner in islice(value.items(), KEYS + 1):
                self._times[str(key)] = self._times.get(str(key), 0) + 1
                self._fields.setdefault(str(key), _Seen()).add(inner, depth - 1, steps)
        elif isinstance(value, list | tuple):
            self._types["array"] = None
            for item in value[:ITEMS]:
                self._items = self._items or _Seen()
                self._items.add(item, depth - 1, steps)
        else:
            self._types[_name(value)] = None

    def merge(self, other: _Seen) -> None:
        self._types.update(other._types)
        self._objects += other._objects
        for key, field in other._fields.items():
            self._times[key] = self._times.get(key, 0) + other._times[key]
            self._fields.setdefault(key, _Seen()).merge(field)
        if other._items is not None:
            self._items = self._items or _Seen()
            self._items.merge(other._items)

    def schema(self) -> dict[str, Any]:
        if "any" in self._types or not self._types:
            return {}
        types = dict.fromkeys(word for word in self._types if word != "integer" or "number" not in self._types)
        options = [self._of_type(word) for word in types]
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _of_type(self, word: str) -> dict[str, Any]:
        if word == "array":
            return {"type": "array", "items": self._items.schema()} if self._items else {"type": "array"}
        if word != "object" or not self._fields:
            return {"type": word}
        if len(self._fields) > KEYS:
            together = _Seen()
            for field in self._fields.values():
                together.merge(field)
            return {"type": "object", "additionalProperties": together.schema()}
        return {
            "type": "object",
            "properties": {key: field.schema() for key, field in self._fields.items()},
            "required": [key for key, times in self._times.items() if times == self._objects],
            "additionalProperties": True,
        }


def _name(value: Any) -> str:
    if value is None:
        return "null"
    if value == REDACTED:
        return "any"  # the journal does not tell what stood there
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "any"
