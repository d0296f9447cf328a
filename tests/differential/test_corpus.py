"""The corpus, script by script: on CPython, and on the engine that `auto` picks. They must not be told apart."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

import pytest

from paddock.engines.monty_errors import NOT_CPYTHONS_OWN
from paddock.model.result import Verdict
from tests.differential.corpus import Script, load
from tests.differential.measured import Measured, measure
from tests.differential.reference import of_result

LEAST_SCRIPTS = 400
LEAST_DIFFERENT = 100
LEAST_KEPT = 0.80

EXCUSED: frozenset[str] = frozenset()
"""Scripts that end in an error of which Paddock itself says that CPython may word it differently."""


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    return asyncio.run(measure(load()))


def report(problems: Iterable[tuple[Script, str]]) -> str:
    return "\n\n".join(f"{script.topic}/{script.name}\n{problem}" for script, problem in problems)


def test_no_script_that_auto_gives_to_the_light_engine_can_be_told_from_cpython(measured: list[Measured]) -> None:
    problems = [
        (one.script, one.reference.difference(of_result(one.auto)))
        for one in measured
        if one.is_light() and one.script.name not in EXCUSED and one.reference != of_result(one.auto)
    ]
    assert not problems, f"{len(problems)} divergences\n\n{report(problems)}"


def test_no_error_of_the_corpus_is_one_that_cpython_may_word_differently(measured: list[Measured]) -> None:
    unsure = {one.script.name for one in measured if one.is_light() and one.auto.engine_reason == NOT_CPYTHONS_OWN}
    assert unsure == EXCUSED


def test_a_script_that_does_not_fit_is_rejected_with_what_is_missing_and_its_line(measured: list[Measured]) -> None:
    problems = [(one.script, repr(one.auto.error)) for one in measured if not one.is_light() and not _is_clear(one)]
    assert not problems, report(problems)


def _is_clear(one: Measured) -> bool:
    error, reason = one.auto.error, one.auto.engine_reason
    if one.auto.verdict is not Verdict.REJECTED or error is None:
        return False
    if one.reference.error is not None and one.reference.error.type in ("SyntaxError", "IndentationError"):
        return one.reference == of_result(one.auto)
    named = reason is not None and f"needs full Python ({reason})" in error.message
    placed = error.line is not None and f"line {error.line}" in error.message
    return error.type == "EngineUnavailable" and named and placed


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
