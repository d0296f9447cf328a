"""A small load: clients of several principals use one server at the same time, over MCP and REST, with all engines."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.load import Load, Work, problem

ROOT = Path(__file__).parents[2]
WORK = Work("ann-1", "ann", "cpython", "text", 4)
RIGHT = {"run_id": "r_1", "verdict": "ok", "engine": "cpython", "stdout": "ann-1\n", "output": ["ann-1", "text", 6]}


@pytest.mark.thorough
def test_under_a_small_load_no_run_is_lost_and_none_is_mixed_up() -> None:
    command = [sys.executable, "-m", "bench.load", "--clients", "24", "--runs", "2", "--rounds", "2", "--seed", "1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^108 runs,", ran.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"verdict": "lost"}, "lost"),
        ({"output": ["bob-1", "text", 6]}, "mixed up"),
        ({"output": {"artifact": {"id": "a_1"}, "preview": '["bob-1", '}}, "mixed up"),
        ({"stdout": "bob-1\n"}, "mixed up"),
        ({"artifacts": [{"id": "a_1", "filename": "bob-1"}]}, "mixed up"),
        ({"engine": "monty"}, "mixed up"),
    ],
)
def test_an_answer_that_is_not_the_runs_own_is_a_fault(wrong: dict[str, Any], said: str) -> None:
    assert problem(WORK, RIGHT) is None
    assert str(problem(WORK, {**RIGHT, **wrong})).startswith(said)


async def test_a_run_whose_client_gets_no_answer_is_lost() -> None:
    async def send(work: Work) -> dict[str, Any]:
        raise ConnectionError("closed")

    load = Load(random.Random(1))  # noqa: S311  repeatable
    await load.round([("ann", "REST", send)], 2)
    assert [each.partition(": ")[2] for each in load.faults] == ["lost: ConnectionError: closed"] * 2
