"""The corpus, script by script: on CPython, and on the engine that `auto` picks. They must not be told apart."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

import pytest

from paddock.model.result import Verdict
from tests.differential.corpus import Script, load
from tests.differential.measured import Measured, measure
from tests.differential.reference import of_result

LEAST_SCRIPTS = 400
LEAST_DIFFERENT = 100
LEAST_KEPT = 0.80
EXCUSED = {"hunted-013": "prints at the very end of the stack, where it counts how stdout itself is made"}


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    return asyncio.run(measure(load()))


def report(problems: Iterable[tuple[Script, str]]) -> str:
    return "\n\n".join(f"{script.topic}/{script.name}\n{problem}" for script, problem in problems)


@pytest.mark.parametrize("engine", ["monty", "cpython"])
def test_no_script_can_be_told_from_cpython_on_the_engine_that_auto_picks(
    measured: list[Measured], engine: str
) -> None:
    problems = [
        (one.script, one.reference.difference(of_result(one.auto)))
        for one in measured
        if one.auto.engine == engine and one.reference != of_result(one.auto) and one.script.name not in EXCUSED
    ]
    assert not problems, f"{len(problems)} divergences\n\n{report(problems)}"


def test_a_script_that_does_not_fit_runs_on_cpython_and_the_reason_has_a_line(measured: list[Measured]) -> None:
    engines = {one.auto.engine for one in measured if one.auto.verdict is not Verdict.REJECTED}
    reasons = [one.auto.engine_reason or "" for one in measured if one.auto.engine == "cpython"]
    assert engines == {"monty", "cpython"}
    assert [reason for reason in reasons if not re.search(r", line \d+$", reason)] == []


def test_no_run_of_the_corpus_had_to_move(measured: list[Measured]) -> None:
    assert [one.script.name for one in measured if "light engine" in (one.auto.engine_reason or "")] == []


def test_the_corpus_is_large_and_much_of_it_is_beyond_the_light_engine(measured: list[Measured]) -> None:
    different = sum(not one.behaves_the_same() for one in measured)
    assert len(measured) >= LEAST_SCRIPTS
    assert different >= LEAST_DIFFERENT
    assert not [one.script.name for one in measured if re.search(r" at 0x[0-9a-f]{6}", one.reference.stdout)]


def test_auto_keeps_most_of_the_scripts_that_behave_the_same(measured: list[Measured]) -> None:
    same = [one for one in measured if one.behaves_the_same()]
    kept = sum(one.is_light() for one in same)
    share = kept / len(same)
    print(f"{len(measured)} scripts, {len(same)} behave the same on the light engine, auto keeps {kept}: {share:.1%}")
    missed: dict[str, int] = {}
    for one in same:
        if not one.is_light():
            reason = re.sub(r", line \d+$", "", one.auto.engine_reason or "")
            missed[reason] = missed.get(reason, 0) + 1
    most = sorted(missed.items(), key=lambda item: -item[1])[:10]
    assert share >= LEAST_KEPT, f"only {share:.1%} are kept; most often missed for: {most}"
