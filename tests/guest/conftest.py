"""One process that forks guests, shared by the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.guest.harness import Nursery, Ran

Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    nursery = Nursery(tmp_path_factory.mktemp("guests"))
    yield nursery
    nursery.close()


@pytest.fixture
def run(nursery: Nursery, tmp_path: Path) -> Run:
    """Runs a script in a new guest, whose directory is the test's own."""
    nursery.directory = tmp_path
    return nursery.run
