"""Skips are for machines that lack something; in CI they are failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

def test_passes():
    pass

def test_lacks_something():
    pytest.skip("this kernel has no walls")

@pytest.mark.skipif(True, reason="nobody is root")
def test_is_marked():
    raise AssertionError

@pytest.mark.xfail(reason="known", strict=True)
def test_is_known_to_fail():
    raise AssertionError

def test_is_for_another_machine():
    pytest.skip("a program for aarch64")

def test_says_more_than_what_is_allowed():
    pytest.skip("a program for aarch64, and a kernel without walls")
"""
MODULE = "import pytest\npytest.skip('there is no such package', allow_module_level=True)"


def counted(folder: Path, tests: str, *, ci: str) -> tuple[int, str, str]:
    """The exit status of pytest with these tests, its last line without the time, and its whole output."""
    (folder / "test_some.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-p", "tests.skips", "--rootdir", str(folder), str(folder)]
    environ = {**os.environ, "CI": ci, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # installed plugins take seconds to load
    ran = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout.splitlines()[-1].strip("= ").partition(" in ")[0], ran.stdout


def test_on_a_machine_of_its_own_a_skip_is_a_skip(tmp_path: Path) -> None:
    assert counted(tmp_path, TESTS, ci="")[:2] == (0, "1 passed, 4 skipped, 1 xfailed")


def test_in_ci_only_what_is_on_the_list_is(tmp_path: Path) -> None:
    status, summary, said = counted(tmp_path, TESTS, ci="true")
    assert (status, summary) == (1, "2 failed, 1 passed, 1 skipped, 1 xfailed, 1 error")
    for reason in ("this kernel has no walls", "nobody is root", "a program for aarch64, and a kernel without walls"):
        assert f"skipped, which counts as failed in CI: {reason}" in said


def test_in_ci_a_whole_file_that_is_skipped_is_an_error(tmp_path: Path) -> None:
    assert counted(tmp_path, MODULE, ci="")[1] == "1 skipped"
    status, summary, said = counted(tmp_path, MODULE, ci="true")
    assert (status, summary) == (2, "1 error")
    assert "skipped, which counts as failed in CI: there is no such package" in said


@pytest.mark.parametrize("name", ["check", "test-all"])
def test_ci_says_that_it_is_ci(name: str) -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert next(n for n, line in enumerate(lines) if line.startswith("export CI=true")) < lines.index(f"make {name}")
