"""The jail that hostile programs run in: one Paddock for each profile, for the whole suite."""

from __future__ import annotations

import os
import site
import socket
import sys
import tempfile
from asyncio import Event
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.jail.walls.syscalls import MACHINE, NUMBERS
from paddock.model.result import RunResult
from paddock.planning.plan import ENGINE_LANGUAGE
from paddock.run import Paddock
from tests.escape import cases, ordinary
from tests.escape.ordinary import Ordinary
from tests.escape.traces import MARK, Traces
from tests.uids import OWN

PROFILES = ("namespaces", "chroot", "confined")
UID_BASE = OWN
"""A range of its own: guests of another suite on this machine are not ours to count."""
_PLACES = ("/etc/shadow", "/etc/hostname", "/home", "/var", "/work", "/sys", "/boot", "/root/.bashrc", "/root/.ssh")
"""Of the host; data or a Python below one of them make its name visible."""
SECRET = "".join(reversed("terces-kcoddap"))  # nowhere in any text but the host's environment


@dataclass
class Rig:
    """A Paddock in one profile, and what programs are told about the host."""

    profile: str
    paddock: Paddock
    inputs: dict[str, Any]
    ready: set[str] = field(default_factory=set)
    left: Traces | None = None
    """What there was when the last hostile program had ended, if nothing was run since."""

    async def warm_up(self, engine: str) -> None:
        """Have the engine run something before the first hostile program; after each, a plain one is run anyway."""
        if engine not in self.ready:
            self.ready.add(engine)
            assert (await self.run("1 + 1", engine=engine)).output == 2
            if engine == "cpython":  # a program that names a preload must not be the one that starts the warm zygote
                assert (await self.run("import pandas\n1 + 1")).output == 2

    async def run(self, code: str, **options: Any) -> RunResult:
        self.left = None
        inputs = {name: value for name, value in self.inputs.items() if name in code}
        asked = {"engine": "cpython", "inputs": inputs, **options}
        return await self.paddock.run(code, **{"language": ENGINE_LANGUAGE.get(asked["engine"], "python"), **asked})


async def hang() -> None:
    """A tool that never answers."""
    await Event().wait()


@pytest.fixture(scope="session")
def sockets() -> Iterator[list[str]]:
    """Names of sockets of the host that listen: one in the file system, one abstract."""
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.socket(socket.AF_UNIX) as one,
        socket.socket(socket.AF_UNIX) as other,
    ):
        names = [f"{folder}/host.sock", f"\0{MARK}-host-{os.getpid()}"]
        for listening, name in zip((one, other), names, strict=True):
            listening.bind(name)
            listening.listen()
        yield names


@pytest.fixture(scope="session")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A place for temporary files that nobody else on this machine uses."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("temporary"))
    yield
    tempfile.tempdir = before


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=PROFILES)
async def rig(
    request: pytest.FixtureRequest, sockets: list[str], visible_data: Path, temporary: None
) -> AsyncIterator[Rig | Ordinary]:
    if request.param == "chroot" and os.geteuid() != 0:
        pytest.skip("only root can change the root directory: this profile is not for an ordinary user")
    if request.param == "confined" and os.geteuid() == 0:
        with ordinary.started([item.nodeid for item in request.session.items if _profile(item) == "confined"]) as other:
            yield other
        return
    jail = JailConfig(profile=request.param, uid_base=UID_BASE, accept_confined=request.param == "confined")
    config = Config(
        data_directory=str(visible_data),
        cpython=GuestsConfig(min_waiting=2, max_waiting=2, release_seconds=3600),
        quickjs=GuestsConfig("quickjs", min_waiting=1, max_waiting=1, release_seconds=3600),
        node=GuestsConfig("node", min_waiting=1, max_waiting=1, release_seconds=3600),
        jail=jail,
    )
    os.environ["PADDOCK_SECRET_OF_THE_HOST"] = SECRET
    inputs = {
        "PROFILE": request.param,
        "SYSCALLS": NUMBERS[MACHINE],
        "HOST_PID": os.getpid(),
        "HOST_SOCKETS": sockets,
        "HOST_PATHS": [
            *(
                path
                for path in _PLACES
                if not any(seen.startswith(f"{path}/") for seen in (str(visible_data), sys.base_prefix))
            ),
            *(str(Path(paddock.__file__).parent), str(Path.cwd()), sys.prefix),
            *_packages_of_the_interpreter(),
            *(f"{config.data_directory}/environments/{name}" for name in ("default.json", "records.lock")),
        ],
    }
    async with Paddock(config, tools=[hang]) as made:
        yield Rig(request.param, made, inputs)
    del os.environ["PADDOCK_SECRET_OF_THE_HOST"]


def _packages_of_the_interpreter() -> list[str]:
    """One file of each folder with packages of the interpreter below the environments."""
    folders = map(Path, site.getsitepackages([sys.base_prefix]))
    return [str(path) for folder in folders for path in sorted(folder.glob("*/*.py"))[:1]]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that an ordinary user has run is not run again."""
    other = pyfuncitem.funcargs.get("rig")
    if not isinstance(other, Ordinary):
        return None
    outcome = other.outcome_of(pyfuncitem.nodeid)
    if outcome["outcome"] == "skipped":
        pytest.skip(outcome["text"])
    if outcome["outcome"] == "failed":
        pytest.fail(outcome["text"], pytrace=False)
    return True


def _profile(item: pytest.Item) -> object:
    return item.callspec.params.get("rig") if hasattr(item, "callspec") else None


def _is_core(item: pytest.Item) -> bool:
    """Whether the core suite runs this test in `chroot` and `confined` too."""
    name = item.callspec.params.get("name") if hasattr(item, "callspec") else None
    if item.path.name == "test_escapes.py":
        return cases.is_core(str(name))
    return item.path.name in ("test_traces.py", "test_waiting_guests.py") or "sibling" in item.name


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("profile")
    if wanted is not None:
        items[:] = [item for item in items if (_profile(item) or PROFILES[0]) == wanted]
    for item in items:
        if _profile(item) not in (None, PROFILES[0]) and not _is_core(item):
            item.add_marker(pytest.mark.thorough)
        if (
            item.path.parent == Path(__file__).parent
            and isinstance(item, pytest.Function)
            and iscoroutinefunction(item.obj)
        ):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
