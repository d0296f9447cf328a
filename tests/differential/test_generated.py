"""Programs that nobody wrote: none that `auto` gives to the light engine can be told from CPython.

`PADDOCK_FUZZ_EXAMPLES=20000 pytest tests/differential/test_generated.py` looks longer, each time at other programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from paddock.planning.fits_python import misfit
from paddock.planning.python_source import Source, read
from paddock.run import Paddock
from tests.bare import BARE
from tests.differential.comparing import Bench
from tests.differential.generator import Writer, programs
from tests.differential.reference import Reference

EXAMPLES = int(os.environ.get("PADDOCK_FUZZ_EXAMPLES", "0"))


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Paddock(BARE) as paddock, Reference() as reference:
        bench = Bench(paddock, reference.ask)
        yield bench
    print(f"{bench.programs} programs, {bench.light} on the light engine, {bench.unsure} in errors not CPython's own")


@given(code=programs())
@settings(
    max_examples=EXAMPLES or 150,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
def test_no_generated_program_that_auto_gives_to_the_light_engine_can_be_told_from_cpython(
    bench: Bench, code: str
) -> None:
    slow = bench.slow
    difference = bench.difference(code)
    assert not difference, f"\n{code}\n{difference}"
    assert bench.slow == slow, f"\n{code}\ntakes too long"


def test_the_generator_writes_programs_that_compile_and_that_often_fit_the_light_engine() -> None:
    sources = [read(program(seed)) for seed in range(200)]
    compiled = [source for source in sources if isinstance(source, Source)]
    assert len(compiled) / len(sources) > 0.95
    assert sum(misfit(source, frozenset()) is None for source in compiled) / len(compiled) > 0.3


def test_the_same_numbers_give_the_same_program() -> None:
    assert program(7) == program(7)


def program(seed: int) -> str:
    return Writer(Random(seed).randrange).program()  # noqa: S311
