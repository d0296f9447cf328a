"""Programs that nobody wrote: none that `auto` gives to the light engine can be told from CPython.

`PADDOCK_FUZZ_EXAMPLES=20000 pytest tests/differential/test_generated.py` looks longer, each time at other programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from paddock.engines.monty_errors import NOT_CPYTHONS_OWN
from paddock.planning.fits_python import misfit
from paddock.planning.python_source import Source, read
from paddock.run import Paddock
from tests.differential.generator import Writer, programs
from tests.differential.reference import Outcome, Reference, of_result

EXAMPLES = int(os.environ.get("PADDOCK_FUZZ_EXAMPLES", "0"))


class Bench:
    """Both sides, ready to run programs, and how many of them each has run."""

    def __init__(self) -> None:
        self.paddock = Paddock()
        self.reference = Reference()
        self.programs = self.light = self.unsure = 0

    def difference(self, code: str) -> str:
        """How `code` ends differently on the engine that `auto` picks; empty where it does not."""
        self.programs += 1
        result = self.paddock.run_sync(code)
        if result.engine != "monty":
            return ""
        self.light += 1
        theirs, ours = self.reference.ask(code), of_result(result)
        if result.engine_reason == NOT_CPYTHONS_OWN:
            self.unsure += 1
            theirs, ours = _but_for_the_words(theirs), _but_for_the_words(ours)
        return theirs.difference(ours)

    def close(self) -> None:
        self.paddock.close()
        self.reference.close()


def _but_for_the_words(outcome: Outcome) -> Outcome:
    kind = outcome.error.type if outcome.error is not None else "no error"
    return Outcome(outcome.value, outcome.stdout, outcome.stderr + kind, None)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()
    print(f"{bench.programs} programs, {bench.light} on the light engine, {bench.unsure} in errors not CPython's own")


@given(code=programs())
@settings(
    max_examples=EXAMPLES or 300,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
def test_no_generated_program_that_auto_gives_to_the_light_engine_can_be_told_from_cpython(
    bench: Bench, code: str
) -> None:
    difference = bench.difference(code)
    assert not difference, f"\n{code}\n{difference}"


def test_the_generator_writes_programs_that_compile_and_that_often_fit_the_light_engine() -> None:
    sources = [read(program(seed)) for seed in range(200)]
    compiled = [source for source in sources if isinstance(source, Source)]
    assert len(compiled) / len(sources) > 0.95
    assert sum(misfit(source, frozenset()) is None for source in compiled) / len(compiled) > 0.3


def test_the_same_numbers_give_the_same_program() -> None:
    assert program(7) == program(7)


def program(seed: int) -> str:
    return Writer(Random(seed).randrange).program()  # noqa: S311
