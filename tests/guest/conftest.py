"""One process that forks guests, shared by the tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.guest.harness import Nursery, Ran
from tests.guest.javascript_harness import JavaScriptNursery

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


@pytest.fixture(scope="session")
def javascript_nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaScriptNursery]:
    nursery = JavaScriptNursery(tmp_path_factory.mktemp("javascript"), sys.executable)
    yield nursery
    nursery.close()


@pytest.fixture
def run_javascript(javascript_nursery: JavaScriptNursery, tmp_path: Path) -> Run:
    """Runs a script in a new guest for JavaScript, whose directory is the test's own."""
    javascript_nursery.directory = tmp_path
    return javascript_nursery.run
