"""Environments for tests: packages made on the spot, and processes that build."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path

from paddock.jail.environments import Environment
from tests.cli.command import environment as variables

WHEEL = """
import os, zipfile

def build_wheel(folder, settings=None, metadata=None):
    {before}
    with zipfile.ZipFile(os.path.join(folder, "{name}-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("{name}.py", "HERE = __file__\\ndef main(): print(HERE)\\n")
        about = "{name}-1.0.dist-info/"
        wheel.writestr(about + "METADATA", "Metadata-Version: 2.2\\nName: {name}\\nVersion: 1.0\\n{requires}")
        tag = "Root-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\n" + tag)
        wheel.writestr(about + "entry_points.txt", "[console_scripts]\\n{name} = {name}:main\\n")
        wheel.writestr(about + "RECORD", "")
    return "{name}-1.0-py3-none-any.whl"
"""


def sdist(folder: Path, name: str, before: str = "pass", *, requires: str = "") -> None:
    """Leave a source package in `folder` that does `before` when it is built, and needs no other package for it.

    A test that installs it sets PIP_NO_INDEX: an index may have a package of that name.
    """
    project = f'[project]\nname = "{name}"\nversion = "1.0"\n'
    project += f"dependencies = {[requires]}\n" if requires else ""
    required = f"Requires-Dist: {requires}\n" if requires else ""
    backend = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    files = {
        "pyproject.toml": backend + project,
        "PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: 1.0\n{required}",
        "backend.py": WHEEL.format(name=name, before=before, requires=required.replace("\n", "\\n")),
    }
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-1.0/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def gated(folder: Path, name: str) -> Path:
    """As `sdist`; its build does not end before the returned file exists."""
    gate = folder / f"{name}.gate"
    sdist(folder, name, f"import time\n    while not os.path.exists({str(gate)!r}): time.sleep(0.01)")
    return gate


BUILD = """
import sys
from paddock.jail.environments import Environment
from paddock.jail.environment_build import build
print(build(Environment("own", tuple(sys.argv[2:])), sys.argv[1], lambda line: print(line, flush=True)).key, flush=True)
"""


def building(data_directory: Path, *packages: str, **env: str) -> subprocess.Popen[str]:
    """A process that builds the environment `own`, telling on its stdout."""
    command = [sys.executable, "-c", BUILD, str(data_directory), *packages]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables(**env))


def heard(process: subprocess.Popen[str], beginning: str) -> list[str]:
    """The lines of `process`, up to the first that begins so; all of them where none does."""
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line.strip())
        if lines[-1].startswith(beginning):
            break
    return lines


def own(*packages: str, preload: tuple[str, ...] = ()) -> Environment:
    return Environment("own", packages, preload)
