"""Hostile input to everything that reads some: the kept inputs of earlier findings, and a few hundred new ones.

`make fuzz` looks for more, for a minute each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.fuzz.__main__ import CORPUS, fuzz
from tests.fuzz.mutation import Mutator
from tests.fuzz.targets import TARGETS, Run, Target

RUNS = 200


def target_of(run: Run, seed: bytes = b"a#b") -> Target:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Run]:
        yield run

    return Target("made for this test", opened, (seed,), (), (), seconds=0.05, seconds_per_byte=1e-6)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
async def test_hostile_input_raises_only_what_is_documented_and_takes_no_longer_than_its_size_allows(
    target: Target,
) -> None:
    findings = await fuzz(target, seed=1, runs=RUNS)
    assert [f"{finding.kind}: {finding.detail}" for finding in findings] == []


def test_every_kept_input_belongs_to_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} - TARGETS.keys() == set()


async def test_an_undocumented_exception_is_found_and_its_input_made_smaller() -> None:
    target = target_of(lambda data: 1 // (b"#" not in data))
    [finding] = await fuzz(target, seed=1, runs=1)
    assert (finding.kind.split()[0], finding.data) == ("ZeroDivisionError", b"#")


async def test_a_quadratic_reader_is_found() -> None:
    target = target_of(lambda data: sum(1 for _ in data for _ in data), b"a" * 3000)
    [finding] = await fuzz(target, seed=1, runs=0)
    assert finding.kind == "slow"


def test_the_same_seed_gives_the_same_inputs() -> None:
    def inputs(seed: int) -> list[bytes]:
        mutator = Mutator(seed, ["token"])
        return [mutator.mutate([b'{"a": [1, "b"]}', b"text"]) for _ in range(200)]

    assert inputs(1) == inputs(1)
    assert inputs(1) != inputs(2)
