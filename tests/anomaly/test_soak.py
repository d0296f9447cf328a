"""A short soak: processes of every kind are killed while scripts run on all engines."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.soak import Soak
from paddock import Paddock

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
def test_a_short_soak_leaks_nothing_and_mixes_nothing_up() -> None:
    command = [sys.executable, "-m", "bench.soak", "--runs", "120", "--runs-per-kill", "10", "--seed", "1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    kills = re.search(r"^(\d+) kills", ran.stdout, re.MULTILINE)
    assert kills is not None
    assert int(kills[1]) >= 10  # of 12: a process may have ended by itself just before


async def test_a_run_that_gets_what_belongs_to_another_is_a_fault() -> None:
    async def other(text: str) -> str:
        return f"not {text}"

    other.__name__ = "echo"
    async with Paddock(tools=[other]) as paddock:
        soak = Soak(paddock, random.Random(1))  # noqa: S311  repeatable
        await soak.run(1, runs_per_kill=0)
    assert soak.endings == {"mixed up": 1}
    assert len(soak.faults) == 1
