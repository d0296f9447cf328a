"""Copies of the interpreter, Paddock and packages, for a user who may not read the originals."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.engines.monty_workers import worker_binary
from paddock.jail.limits import BEST_EFFORT, REMEDY
from paddock.jail.profiles import WEAKER
from paddock.jail.walls.cleanup import Cleanup
from tests.jail import setting

TESTS = Path(__file__).parents[1]
ORDINARY = 2_000_000 + os.getpid()
"""The uid of the ordinary user. No account has it, and each run of these tests has another."""
WARNING = f"{BEST_EFFORT}; {REMEDY}\n"
"""What an engine says on its start where there is no control group."""
# As they are named where packages are installed; a pattern may match none.
PACKAGES = (
    *(
        "msgspec",
        "rapidfuzz",
        "typing_extensions.py",
        "pydantic_monty",
        "pydantic_monty_client",
        "pydantic_monty_runtime",
    ),
    *("annotated_types", "jsonschema_rs", "pydantic", "pydantic_core", "typing_inspection"),
)


@dataclass(frozen=True)
class Place:
    """A folder that everyone may read, with an interpreter that everyone may start."""

    folder: Path
    python: str

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables with which the interpreter finds Paddock, the packages and uv."""
        return {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "PYTHONPATH": f"{self.folder}/src:{self.folder}/packages",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def command(self, kind: str, *arguments: str, missing: Sequence[str] = ()) -> list[str]:
        """The command of the interpreter in the setting `kind`, without the system calls (or /proc) in `missing`."""
        outer = [sys.executable, "-P", setting.__file__, kind, str(ORDINARY), ",".join(missing)]
        return [*outer, self.python, "-s", "-P", *arguments]

    def variables_at(self, home: Path) -> dict[str, str]:
        return {**self.variables, "SETTING_HOME": str(home), "HOME": str(home)}

    def told(
        self,
        kind: str,
        scripts: str,
        uid_base: int,
        *,
        accept: bool = False,
        missing: Sequence[str] = (),
        home: Path | None = None,
        groups: Iterable[Path] = (),
    ) -> dict[str, Any]:
        """The JSON that a file of the tests prints in the setting `kind`. Its guests have uids from `uid_base` on.

        It has a home of its own, unless one is named. It is in these control groups from the start.
        """
        home = home or self.home(kind, ordinary=kind not in ("root", "container"))
        arguments = [str(home / "data"), str(uid_base), "yes" if accept else "no"]
        ran = subprocess.run(
            self.command(kind, str(self.folder / "tests" / scripts), *arguments, missing=missing),
            capture_output=True,
            text=True,
            env=self.variables_at(home),
            check=False,
            preexec_fn=lambda: enter(groups),
        )
        said = [line for line in ran.stderr.replace(WARNING, "").splitlines() if not line.startswith(WEAKER)]
        assert (ran.returncode, said) == (0, []), ran.stderr
        told: dict[str, Any] = json.loads(ran.stdout)
        return told

    def home(self, name: str, *, ordinary: bool) -> Path:
        """A home folder of the setting's user."""
        home = self.folder / f"home-{name}"
        home.mkdir(exist_ok=True)
        if ordinary:
            os.chown(home, ORDINARY, ORDINARY)
        return home


@contextmanager
def made(purpose: str, tests: Iterable[str], packages: Iterable[str] = ()) -> Iterator[Place]:
    """A temporary place with these files of the tests, and these packages in addition to those that Paddock needs."""
    folder = Path("/var/tmp") / f"paddock-{purpose}-{os.getpid()}"  # noqa: S108  a test's own; pytest's is closed to others
    cleanup = Cleanup(folders=[folder])
    folder.mkdir(mode=0o755)
    try:
        shutil.copytree(Path(paddock.__file__).parent, folder / "src" / "paddock")
        for name in tests:
            copy(TESTS / name, folder / "tests" / name)
        installed = Path(sysconfig.get_paths()["purelib"])
        for found in (found for pattern in (*PACKAGES, *packages) for found in installed.glob(pattern)):
            copy(found, folder / "packages" / found.name)
        uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv"
        copy(Path(uv), folder / "bin" / "uv")
        copy(Path(worker_binary()), folder / "bin" / "monty")
        yield Place(folder, readable_python(folder))
    finally:
        shutil.rmtree(folder)
        cleanup.dismiss()


def enter(groups: Iterable[Path]) -> None:
    """Move this process into these control groups."""
    for group in groups:
        (group / "cgroup.procs").write_text("0")


def copy(source: Path, target: Path) -> None:
    """A file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def readable_python(folder: Path) -> str:
    """An interpreter of this version that everyone may start: this one, the system's, or a copy of this one."""
    version = f"python3.{sys.version_info.minor}"
    base = Path(sys.base_prefix)
    for candidate in (base / "bin" / version, Path("/usr/bin") / version, Path("/usr/local/bin") / version):
        if candidate.exists() and all(parent.stat().st_mode & 0o5 == 0o5 for parent in candidate.resolve().parents):
            return str(candidate)
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.fail(f"{version} is not readable for others here, and a copy of it would not find its library")
    left_out = shutil.ignore_patterns("site-packages", "test")
    shutil.copytree(base / "lib" / version, folder / "python" / "lib" / version, ignore=left_out)
    (folder / "python" / "bin").mkdir()
    shutil.copy(base / "bin" / version, folder / "python" / "bin")
    return str(folder / "python" / "bin" / version)
