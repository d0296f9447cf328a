"""Scripts of the kind that agents write, on `cpython`: each ends as it does on plain CPython.

A line `# --- name` in a file of `scripts/` opens a script. `expected.json` has what plain CPython made of each: how it
ended, its value, its output, and an uncaught error as type, message and line.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from paddock.model.result import RunResult
from paddock.run import Paddock

SCRIPTS = Path(__file__).with_name("scripts")
EXPECTED: dict[str, dict[str, Any]] = json.loads((SCRIPTS / "expected.json").read_text(encoding="utf-8"))


def scripts(topic: str) -> dict[str, str]:
    """The scripts of a file, by name."""
    parts = re.split(r"^# --- (.+)\n", (SCRIPTS / f"{topic}.py").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def outcome(result: RunResult) -> dict[str, Any]:
    error = result.error
    found = {
        "verdict": str(result.verdict),
        "output": result.output,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "error": None if error is None else [error.type, error.message, error.line],
    }
    return {name: value for name, value in found.items() if value not in (None, "")}


TOPICS = sorted(path.stem for path in SCRIPTS.glob("*.py"))


@pytest.mark.parametrize("topic", TOPICS)
async def test_scripts_end_as_on_plain_cpython(paddock: Paddock, topic: str) -> None:
    found = {name: outcome(await paddock.run(code, engine="cpython")) for name, code in scripts(topic).items()}
    assert found == {name: EXPECTED[name] for name in found}


async def test_every_script_has_an_expected_outcome_and_no_other_has() -> None:
    assert sorted(name for topic in TOPICS for name in scripts(topic)) == sorted(EXPECTED)
