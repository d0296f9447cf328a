"""The five settings that Paddock must know, really made: which profile holds there, what it holds, what is left.

These tests need root, to become everything else. What the jail needs and a machine does not have makes them fail.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import paddock
from tests.jail import setting, setting_scripts

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root can make the other settings"
)
IDS = 2 << 16
ORDINARY = 2_000_000 + os.getpid()  # nobody's number, and another in each run of these tests
BASE = 10_000_000 + os.getpid() % 10_000 * IDS
PACKAGES = ("msgspec", "typing_extensions.py", "pydantic_monty", "pydantic_monty_client", "pydantic_monty_runtime")


@dataclass(frozen=True)
class Place:
    """Everything that a user who may read nothing of ours needs to run Paddock."""

    folder: Path
    python: str

    def run(self, kind: str, *, accept: bool = False) -> dict[str, Any]:
        """The scripts in that setting. Its own ids, so that whatever has them afterwards was left there."""
        home = self.folder / f"home-{kind}"
        home.mkdir(exist_ok=True)
        root = kind in ("root", "container")
        if not root:
            os.chown(home, ORDINARY, ORDINARY)
        inner = [self.python, "-s", "-P", setting_scripts.__file__.replace(str(TESTS), str(self.folder / "tests"))]
        arguments = [str(home / "data"), str(BASE), "yes" if accept else "no"]
        outer = [sys.executable, "-P", setting.__file__, kind, str(ORDINARY)]
        own = {"PYTHONPATH": f"{self.folder}/src:{self.folder}/packages", "SETTING_HOME": str(home), "HOME": str(home)}
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        ran = subprocess.run(
            [*outer, *inner, *arguments], capture_output=True, text=True, env={"PATH": path, **own}, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        told: dict[str, Any] = json.loads(ran.stdout)
        return told


TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """Copies of the interpreter, of Paddock and of its packages in a folder that everyone may read."""
    folder = Path("/var/tmp") / f"paddock-settings-{os.getpid()}"  # noqa: S108  a test's own; pytest's is closed to others
    folder.mkdir(mode=0o755)
    try:
        shutil.copytree(Path(paddock.__file__).parent, folder / "src" / "paddock")
        (folder / "tests" / "jail").mkdir(parents=True)
        shutil.copy(setting_scripts.__file__, folder / "tests" / "jail")
        (folder / "packages").mkdir()
        installed = Path(sysconfig.get_paths()["purelib"])
        for name in PACKAGES:
            if (installed / name).is_dir():
                shutil.copytree(installed / name, folder / "packages" / name)
            elif (installed / name).exists():
                shutil.copy(installed / name, folder / "packages" / name)
        (folder / "bin").mkdir()
        shutil.copy(
            shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv", folder / "bin"
        )
        yield Place(folder, readable_python(folder))
    finally:
        shutil.rmtree(folder)


def readable_python(folder: Path) -> str:
    """An interpreter of this version that everyone may start: ours, one of the system, or a copy of ours."""
    version = f"python3.{sys.version_info.minor}"
    base = Path(sys.base_prefix)
    for candidate in (base / "bin" / version, Path("/usr/bin") / version, Path("/usr/local/bin") / version):
        if candidate.exists() and all(parent.stat().st_mode & 0o5 == 0o5 for parent in candidate.resolve().parents):
            return str(candidate)
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.fail(f"{version} is not readable for others here, and a copy of it would not find its library")
    left_out = shutil.ignore_patterns("site-packages", "test", "__pycache__")
    shutil.copytree(base / "lib" / version, folder / "python" / "lib" / version, ignore=left_out)
    (folder / "python" / "bin").mkdir()
    shutil.copy(base / "bin" / version, folder / "python" / "bin")
    return str(folder / "python" / "bin" / version)


HELD = {
    "sum": ["ok", 2, None],
    "file": ["ok", "attached", None],
    "write": ["ok", 3, None],
    "secret": ["raised", None, "FileNotFoundError"],
    "host": ["raised", None, "FileNotFoundError"],
    "network": ["raised", None, "PermissionError"],
    "memory": ["out_of_memory", None, "MemoryError"],
    "loop": ["timeout", None, "TimeoutError"],
    "bomb": ["ok", 7, None],
    "daemon": ["ok", "left", None],
    "after": ["ok", [], None],
}
NAMESPACES = HELD | {"disk": ["raised", None, "OSError"], "signal": ["raised", None, "ProcessLookupError"]}
CHROOT = HELD | {"disk": ["crashed", None, "Crashed"], "signal": ["raised", None, "PermissionError"]}
CONFINED = HELD | {
    "secret": ["raised", None, "PermissionError"],
    "host": ["raised", None, "PermissionError"],
    "signal": ["raised", None, "PermissionError"],
    "disk": ["crashed", None, "Crashed"],
    "bomb": ["raised", None, "PermissionError"],
    "daemon": ["raised", None, "PermissionError"],
}


def held(told: dict[str, Any], *ignored: str) -> dict[str, Any]:
    return {name: result for name, result in told["results"].items() if name not in ("uid", "proc", *ignored)}


def left(folder: Path) -> list[str]:
    """What a setting left on the machine: processes with its ids, files in memory, files of guests."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        uid = int(text.partition("\nUid:")[2].split()[0])
        if "\nState:\tZ" in text:
            continue  # it holds nothing, and is the first process's to see off
        if uid == ORDINARY or BASE <= uid < BASE + IDS:
            found.append(f"{status}: {uid}")
    found += [str(path) for path in Path("/dev/shm").glob("paddock-*") if path.stat().st_uid == ORDINARY]  # noqa: S108
    return found + [str(path) for path in folder.glob("home-*/data/roots/*/slots/*/tmp/*")]


def test_root_has_namespaces(place: Place) -> None:
    told = place.run("root")
    assert (told["profile"], held(told), told["children"]) == ("namespaces", NAMESPACES, [])
    assert told["results"]["proc"] == ["ok", True, None]
    assert all(BASE <= uid < BASE + IDS for uid in told["uids"])
    assert left(place.folder) == []


def test_an_ordinary_user_has_namespaces(place: Place) -> None:
    told = place.run("ordinary")
    assert (told["profile"], held(told), told["children"]) == ("namespaces", NAMESPACES, [])
    assert (told["results"]["proc"], told["uids"]) == (["ok", True, None], [ORDINARY])
    assert left(place.folder) == []


def test_root_in_a_container_has_chroot(place: Place) -> None:
    told = place.run("container")
    assert (told["profile"], held(told), told["children"]) == ("chroot", CHROOT, [])
    assert told["results"]["proc"] == ["ok", False, None]
    assert all(BASE <= uid < BASE + IDS for uid in told["uids"])
    assert left(place.folder) == []


def test_an_ordinary_user_without_namespaces_has_confined_if_that_is_accepted(place: Place) -> None:
    told = place.run("bare", accept=True)
    assert (told["profile"], held(told), told["children"]) == ("confined", CONFINED, [])
    assert told["uids"] == [ORDINARY]
    assert left(place.folder) == []


def test_an_ordinary_user_without_namespaces_has_nothing_otherwise_and_is_told_why(place: Place) -> None:
    reasons = place.run("bare")["unavailable"].splitlines()
    assert reasons[0] == "no profile of the jail works here."
    assert [reason.partition(":")[0] for reason in reasons[1:]] == ["namespaces", "chroot", "confined"]
    assert "let it pass unshare" in reasons[1]
    assert "only root can change the root directory" in reasons[2]
    assert "jail.accept_confined" in reasons[3]
    assert left(place.folder) == []


def test_an_ordinary_user_who_may_not_mount_proc_has_namespaces_without_it(place: Place) -> None:
    told = place.run("masked")
    assert (told["profile"], held(told), told["children"]) == ("namespaces", NAMESPACES, [])
    assert (told["results"]["proc"], told["uids"]) == (["ok", False, None], [ORDINARY])
    assert left(place.folder) == []
