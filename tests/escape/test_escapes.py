"""Hostile programs, run through the real jail: each comes to what its first lines say, and leaves nothing behind."""

from __future__ import annotations

import json
import platform
from dataclasses import replace

import pytest

from paddock.model.result import RunResult
from tests.escape import traces
from tests.escape.cases import Case, names, read
from tests.escape.conftest import SECRET, Rig

HOST_BYTES = 64 * 1024 * 1024
"""By how much the host may grow, at its largest, during one run."""


def test_what_comes_to_another_outcome_in_confined_says_why() -> None:
    offenders = [
        name
        for name in names()
        if replace(read(name, "namespaces"), why=None) != replace(confined := read(name, "confined"), why=None)
        and not confined.why
    ]
    assert offenders == []


@pytest.mark.parametrize("name", names())
async def test_a_hostile_program_comes_to_its_outcome_and_leaves_nothing(rig: Rig, name: str) -> None:
    case = read(name, rig.profile)
    if case.machine not in (None, platform.machine()):
        pytest.skip(f"a program for {case.machine}")
    await rig.warm_up(case.engine)
    before = rig.left or await traces.settled(rig.paddock)
    traces.forget_peak()
    size = traces.peak_bytes()
    result = await rig.run(case.code, engine=case.engine, limits=case.limits)
    grown = traces.peak_bytes() - size
    check(case, result)
    assert grown < HOST_BYTES
    assert (await rig.run("1 + 1", engine=case.engine)).output == 2
    rig.left = await traces.same_as(before, rig.paddock)


def check(case: Case, result: RunResult) -> None:
    shown = json.loads(result.to_json())
    found = {
        "verdict": case.verdict if result.verdict in case.verdict.split("|") else str(result.verdict),
        "stdout": result.stdout if case.stdout is not None else None,
        "output": result.output if case.output is not None else None,
        "error": result.error.type if case.error is not None and result.error is not None else None,
        "signal": result.signal if case.signal is not None else None,
    }
    expected = {
        "verdict": case.verdict,
        "stdout": case.stdout,
        "output": json.loads(case.output) if case.output is not None else None,
        "error": case.error,
        "signal": case.signal,
    }
    assert found == expected, shown
    assert case.says in (result.error.message if result.error else ""), shown
    said = f"{result.stdout}{result.stderr}{result.output_json}"
    assert "HOLE" not in said
    assert SECRET not in said
