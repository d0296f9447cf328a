"""Environments that name their Python: which one a script gets, what it may use, and what says so."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from paddock import Config, ConfigError, EnvironmentFailed, Paddock
from paddock.config import GuestsConfig, JailConfig
from paddock.doctor import diagnose
from paddock.jail.environment_build import build, search_path
from paddock.jail.environments import built_names, configured
from paddock.model.environments import EnvironmentConfig
from tests.packages.wheels import wheel
from tests.uids import OWN

ABSENT = "3.98"


def other_python() -> str:
    """A version that this machine has besides the one that Paddock runs on; if there is none, that one."""
    own = platform.python_version()
    # The names under which interpreters are installed side by side, and the one of the system.
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [*pyenv.glob("versions/3.1[1-9]*/bin/python3"), *Path("/usr/bin").glob("python3.1[1-9]")]
    for python in sorted(found, reverse=True):
        told = subprocess.run([python, "-V"], capture_output=True, text=True, check=False).stdout.removeprefix(
            "Python "
        )
        if told and told.strip() != own:
            return told.strip()
    return own


@pytest.fixture(scope="module")
def version() -> str:
    return other_python()


@pytest.fixture
def config(tmp_path: Path, version: str) -> Config:
    return Config(
        data_directory=str(tmp_path / "data"),
        environments={**Config().environments, "bare": EnvironmentConfig(), "other": EnvironmentConfig(python=version)},
        cpython=GuestsConfig(environment="bare", max_waiting=1),
        jail=JailConfig(uid_base=OWN),
    )


@pytest.fixture
async def paddock(config: Config) -> AsyncIterator[Paddock]:
    async with Paddock(config) as paddock:
        yield paddock


async def test_a_script_runs_on_the_python_of_its_environment(paddock: Paddock, version: str) -> None:
    code = "import platform\nplatform.python_version()"
    assert (await paddock.run(code, environment="other")).output == version
    assert (await paddock.run(code)).output == platform.python_version()


async def test_a_run_builds_its_own_environment_alone(paddock: Paddock, config: Config) -> None:
    assert (await paddock.run("1", environment="other")).output == 1
    assert built_names(config.data_directory) == ["other"]


async def test_a_session_and_its_fork_stay_on_it(paddock: Paddock, version: str) -> None:
    await paddock.run("import platform, asyncio\nx = [1]", session="s", environment="other")
    forked = await paddock.run(
        "await asyncio.sleep(0)\nx.append(2)\n(x, platform.python_version())",
        session="t",
        fork_from="s",
        environment="other",
    )
    assert forked.output == [[1, 2], version]
    failed = await paddock.run("def f():\n    return x[7]\nf()", session="s", environment="other")
    assert failed.error is not None
    assert 'File "cell 2", line 2, in f' in failed.error.traceback


async def test_packages_are_installed_and_compiled_for_it(
    paddock: Paddock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    index = tmp_path / "index"
    index.mkdir()
    for parent in (index, *index.parents):
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    wheel(index, "greeting")
    wheel(index, "foreign", tag="cp310-cp310-manylinux1_x86_64")
    monkeypatch.setenv("UV_FIND_LINKS", str(index))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code = "import greeting, os\n(os.path.exists(greeting.__cached__), os.path.basename(greeting.__cached__))"
    result = await paddock.run(code, packages=["greeting"], environment="other")
    tag = "".join(version.split(".")[:2])
    assert result.output == [True, f"greeting.cpython-{tag}.pyc"]
    refused = await paddock.run("1", packages=["foreign"], environment="other")
    assert refused.error is not None
    assert f"`foreign` has no wheel for Python {version} on this machine" in refused.error.message


async def test_a_script_that_requires_another_python_is_told_which_environment_has_it(config: Config) -> None:
    environments = {**config.environments, "next": EnvironmentConfig(python=ABSENT)}
    code = "# /// script\n# requires-python = '>=3.90'\n# ///\n1"
    async with Paddock(replace(config, environments=environments)) as paddock:
        result = await paddock.run(code)
    own = "{}.{}".format(*sys.version_info[:2])
    assert result.error is not None
    assert (result.verdict, result.error.message) == (
        "rejected",
        f"the script requires Python >=3.90, and this environment has Python {own}; environment='next' has it",
    )


@pytest.mark.parametrize("code", ["def f[T](x: T) -> T: return x", "type Pair = tuple[int, int]\n1"])
async def test_syntax_of_a_later_python_is_answered_with_the_version(paddock: Paddock, code: str) -> None:
    result = await paddock.run(code)
    if sys.version_info >= (3, 12):
        assert result.verdict == "ok"
    else:
        assert result.error is not None
        assert result.error.hints[0].startswith("This is Python 3.11: type parameters and `type` need 3.12")


async def test_a_python_that_is_not_here_is_named_with_what_to_do(config: Config) -> None:
    wanted = replace(configured(config, "other"), python=ABSENT)
    with pytest.raises(EnvironmentFailed, match=rf"uv finds no Python {ABSENT} here; .*uv python install {ABSENT}"):
        build(wanted, config.data_directory)


async def test_the_doctor_says_which_python_an_environment_has(config: Config, version: str) -> None:
    build(configured(config, "other"), config.data_directory)
    changed = replace(config, cpython=replace(config.cpython, environment="other"))
    [cpython] = [each for each in (await diagnose(changed))["engines"] if each["name"] == "cpython"]
    assert cpython["environment"] == f"other (built, Python {version})"


async def test_start_files_of_an_environment_run_behind_its_walls_alone(config: Config, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    built = build(configured(config, "bare"), config.data_directory)
    line = f"import os, sys; sys.started = True; os.path.isdir({str(tmp_path)!r}) and open({str(mark)!r}, 'w').close()"
    Path(built.site_packages, "start.pth").write_text(f"{line}\n")
    async with Paddock(config) as paddock:
        assert (await paddock.run("import sys\n(sys.started, callable(exit))")).output == [True, True]
    assert not mark.exists()


@pytest.mark.parametrize("python", ["3.9", "4.0", "three", "3.13 ", "/usr/bin/python3", "../x"])
def test_what_is_no_version_is_refused(python: str, tmp_path: Path) -> None:
    file = tmp_path / "paddock.toml"
    file.write_text(f'[environments.x]\npython = "{python}"\n')
    with pytest.raises(ConfigError, match=r"is not a version from 3\.11 on"):
        Config.load(file)


def test_a_preload_that_no_package_can_have_is_refused_before_anything_is_downloaded(tmp_path: Path) -> None:
    file = tmp_path / "paddock.toml"
    file.write_text('[environments.x]\npreload = ["json", "numpy"]\n')
    with pytest.raises(ConfigError, match="preload: 'numpy' is not in the standard library"):
        Config.load(file)


def test_interpreters_of_pyenv_take_the_place_of_its_shims(tmp_path: Path) -> None:
    """A shim fails for each version that is not the chosen one, and uv would give up."""
    interpreters = tmp_path / "versions" / "3.13.0" / "bin"
    interpreters.mkdir(parents=True)
    path = search_path({"PATH": f"{tmp_path}/shims:/usr/bin", "PYENV_ROOT": str(tmp_path)})
    assert path == f"/usr/bin:{interpreters}"


def test_a_pyenv_that_this_user_may_not_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(Path, "glob", refuse)  # root may read everything
    assert search_path({"PATH": "/usr/bin", "PYENV_ROOT": str(tmp_path)}) == "/usr/bin"
