"""Validates every envelope against the schema in `docs/`: made in this process, given to a script, or printed.

Imported by the outermost conftest before anything that takes `envelope` out of its module.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema_rs

from paddock.model import envelope as module
from paddock.model.events import Answer, ToolCall

assert "paddock.tools.broker" not in sys.modules, "it already has the envelope() that is not watched"

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "docs" / "envelope.schema.json").read_text(encoding="utf-8")
)
_CHECKER = jsonschema_rs.validator_for(SCHEMA, offline=True)
_make, _add_meta = module.envelope, module.with_meta
made: list[int] = [0]
given: list[int] = [0]
printed: list[int] = [0]
invalid: list[str] = []


def problems(value: Any) -> list[str]:
    """What the schema has against `value`."""
    return [
        f"{'/'.join(str(part) for part in error.instance_path)}: {error.message}"
        for error in _CHECKER.iter_errors(value)
    ]


def watch(text: str) -> None:
    """Validate every envelope in what a command of ours printed: a document, or lines with one in them."""
    for value in _documents(text):
        for found in _within(value):
            printed[0] += 1
            _check(found)


def _documents(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    found = []
    for line in text.splitlines():
        with suppress(ValueError, RecursionError):
            found.append(json.JSONDecoder().raw_decode(line, line.index("{"))[0])
    return found


def _within(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, str) and value.startswith("{") and "_envelope_version" in value:
        with suppress(ValueError):
            yield from _within(json.loads(value))
    elif isinstance(value, dict):
        if "_envelope_version" in value:
            yield value
        for inner in value.values():
            yield from _within(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _within(inner)


def _check(value: Any) -> None:
    invalid.extend(f"{problem} in {value!r:.500}" for problem in problems(json.loads(json.dumps(value))))


def _made(*args: Any, **options: Any) -> dict[str, Any]:
    value = _make(*args, **options)
    made[0] += 1
    _check(value)
    return value


def _with_meta(*args: Any, **options: Any) -> dict[str, Any]:
    value = _add_meta(*args, **options)
    _check(value)
    return value


module.envelope, module.with_meta = _made, _with_meta

from paddock.tools.broker import Broker  # noqa: E402  after those that it uses are watched

_answer = Broker.answer


async def _answered(self: Broker, call: ToolCall) -> Answer:
    answer = await _answer(self, call)
    if answer.failed:
        given[0] += 1
        _check(json.loads(answer.json))
    return answer


Broker.answer = _answered  # type: ignore[method-assign]
