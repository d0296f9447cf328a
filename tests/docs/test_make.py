"""Setting up: once, and again only where what is installed has changed. The Makefile is the project's own.

A stand-in for Python writes down what it is asked for: the real one would install everything from an index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs import pages

ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # of `make test`
STAND_IN = """#!/bin/sh
echo "$*" >> {log}
if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi
case "$*" in *"$FAILS_AT"*) exit 1;; esac
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A clone as far as `make setup` looks at it."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(pages.ROOT / name, tmp_path / name)
    python = tmp_path / "stand-in"
    python.write_text(STAND_IN.format(log=tmp_path / "log"))
    python.chmod(0o755)
    return tmp_path


def setup(tree: Path, fails_at: str = "nothing") -> tuple[int, list[str]]:
    """The status, and what Python was asked for by this one `make setup`."""
    log = tree / "log"
    log.write_text("")
    command = ["make", "--silent", "setup", f"PYTHON={tree / 'stand-in'}"]
    ran = subprocess.run(command, cwd=tree, env={**ENVIRON, "FAILS_AT": fails_at}, check=False)
    return ran.returncode, log.read_text().splitlines()


def test_the_first_setup_installs_the_lock_and_then_the_project_and_compiles_it(tree: Path) -> None:
    status, asked = setup(tree)
    assert (status, [line.split()[:2] for line in asked[:2]]) == (0, [["-c", "import"], ["-m", "venv"]])
    *installed, compiled = asked[2:]
    assert [line.rpartition(" --")[2] for line in installed] == ["requirement requirements.lock", "editable ."]
    assert compiled == "-m compileall -q src"


def test_a_second_setup_does_nothing(tree: Path) -> None:
    setup(tree)
    assert setup(tree) == (0, [])
    command = ["make", "--question", ".venv/.installed"]
    assert subprocess.run(command, cwd=tree, env=ENVIRON, check=False).returncode == 0


@pytest.mark.parametrize("name", ["pyproject.toml", "requirements.lock"])
def test_what_has_changed_is_installed_into_what_is_there(tree: Path, name: str) -> None:
    setup(tree)
    stamp = (tree / ".venv" / ".installed").stat().st_mtime_ns
    path = tree / name
    path.write_text(path.read_text() + "\n")
    os.utime(path, ns=(stamp + 1_000_000_000,) * 2)  # later than the stamp, whatever the clock's steps
    status, asked = setup(tree)
    assert (status, len([line for line in asked if "pip install" in line])) == (0, 2)
    assert not any(line.startswith("-m venv") for line in asked)


def test_a_setup_that_failed_is_tried_again(tree: Path) -> None:
    assert setup(tree, "requirements.lock")[0] != 0
    status, asked = setup(tree)
    assert (status, len([line for line in asked if "pip install" in line])) == (0, 2)
