"""Validates every envelope that the tests make, in this process, against the schema in `docs/`.

Imported by the outermost conftest before anything that takes `envelope` out of its module.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs

from paddock.model import envelope as module

assert "paddock.tools.broker" not in sys.modules, "it already has the envelope() that is not watched"

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "docs" / "envelope.schema.json").read_text(encoding="utf-8")
)
_CHECKER = jsonschema_rs.validator_for(SCHEMA, offline=True)
_make = module.envelope
made: list[int] = [0]
invalid: list[str] = []


def problems(value: Any) -> list[str]:
    """What the schema has against `value`."""
    return [
        f"{'/'.join(str(part) for part in error.instance_path)}: {error.message}"
        for error in _CHECKER.iter_errors(value)
    ]


def _watched(*args: Any, **options: Any) -> dict[str, Any]:
    value = _make(*args, **options)
    made[0] += 1
    invalid.extend(f"{problem} in {value!r:.500}" for problem in problems(json.loads(json.dumps(value))))
    return value


module.envelope = _watched
