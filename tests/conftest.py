"""What tests of several parts share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.config import Config
from paddock.jail.environment_build import build
from paddock.jail.environments import Built, configured
from paddock.model.environments import BUILT_IN
from tests import envelopes
from tests.skips import pytest_make_collect_report, pytest_runtest_makereport

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--core", action="store_true", help="leave out the tests that are marked `thorough`")
    parser.addoption("--profile", help="of tests/escape: only those in this profile of the jail")
    parser.addoption("--part", default="1/1", help="one of several equal parts of the tests, such as 2/3")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, _, parts = config.getoption("part").partition("/")
    kept = [item for item in items if not (config.getoption("core") and item.get_closest_marker("thorough"))]
    kept = kept[int(part) - 1 :: int(parts)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.fixture(scope="session")
def shared_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory for the whole session, whose environments nobody removes."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def visible_data() -> Iterator[Path]:
    """A data directory that guests in the profile `chroot` can see: the usual one, unless that is below /tmp.

    A root takes seconds to build: there is one for all guests with the same environment.
    """
    usual = Config().data_directory
    if not usual.startswith("/tmp/"):  # noqa: S108
        yield Path(usual)
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def default_environment() -> Built:
    """The default environment, and the others that are built in: where every Paddock of this user finds them."""
    built = {name: build(configured(Config(), name), Config().data_directory) for name in BUILT_IN}
    return built["default"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """An envelope that is not valid fails the whole session, whichever test made it."""
    if envelopes.invalid:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for problem in dict.fromkeys(envelopes.invalid):
        terminalreporter.write_line(f"INVALID ENVELOPE {problem}", red=True)
