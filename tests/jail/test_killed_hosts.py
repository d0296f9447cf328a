"""A host that is killed cannot clean up. Nothing of it is left all the same, without another host being started."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from paddock.jail.walls import cgroup, roots
from paddock.jail.walls.cleanup import Cleanup
from tests.anomaly.processes import start
from tests.escape.traces import descendants, of_ids
from tests.jail import host_to_kill
from tests.jail import place as places
from tests.jail.place import ORDINARY, Place
from tests.mounts import mounts
from tests.uids import OWN

PATIENCE_SECONDS = 60
UID_BASE, UID_COUNT = OWN + (1 << 31), 1 << 20
HOST = Path(host_to_kill.__file__)
as_root = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root has this profile, or can become another user"
)


def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds. Fails if that takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it takes for ever"
        time.sleep(0.01)


@dataclass
class Host:
    """A running host, and the places where it could leave something."""

    process: subprocess.Popen[str]
    data: Path
    temporary: Path
    mounts: frozenset[str]
    below: list[int] = field(default_factory=list)

    def left(self) -> dict[str, object]:
        """Everything that the host has made, apart from its own process."""
        found = {
            "processes": [pid for pid in {*self.below, *of_ids(UID_BASE, UID_COUNT)} if is_alive(pid)],
            "groups": groups_of(self.process.pid),
            "mounts": sorted(mounts() - self.mounts),
            "in memory": self.in_memory(),
            "in roots": list(self.written()),
            "half a root": list(self.data.glob("roots/partial")),
            "temporary": list(self.temporary.iterdir()),
        }
        return {what: there for what, there in found.items() if there}

    def in_memory(self) -> set[Path]:
        """What its guests wrote in the profile `confined`."""
        return {path for path in Path("/dev/shm").glob("paddock-*") if owner_in_name(path) in self.below}  # noqa: S108

    def written(self) -> Iterator[Path]:
        """What its guests wrote in the profile `chroot`."""
        for slot in self.data.glob("roots/*/slots/*"):
            if slot.name.isdigit() and UID_BASE <= int(slot.name) < UID_BASE + UID_COUNT:
                for folder in roots.WRITABLE:
                    with suppress(FileNotFoundError):  # it is just being made
                        yield from (slot / folder).iterdir()


def owner_in_name(path: Path) -> int:
    return int(path.name.split("-")[2])


def groups_of(pid: int) -> list[Path]:
    found = (Path(folder, name) for folder, names, _ in os.walk("/sys/fs/cgroup") for name in names)
    return [group for group in found if group.name.startswith(f"paddock-{pid}-")]


def is_alive(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text(errors="replace")
    return False


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("killed", ["jail/host_to_kill.py"]) as made:
        yield made


@contextmanager
def running(command: list[str], variables: dict[str, str], data: Path, temporary: Path) -> Iterator[Host]:
    """A host whose two guests have written their files."""
    before = mounts()
    process = subprocess.Popen(
        command, env={**os.environ, **variables, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, text=True
    )
    host = Host(process, data, temporary, before)
    try:
        until_said(process.stdout, "on\n")
        host.below = descendants(process.pid)
        yield host
    finally:
        process.kill()
        process.communicate()


def until_said(said: IO[str] | None, line: str) -> None:
    """By both guests."""
    assert said is not None
    assert [said.readline() for _ in range(2)] == [line] * 2


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("profile", ["namespaces", "chroot"])
@as_root
def test_nothing_is_left_of_a_host_of_roots_that_was_killed(
    profile: str, number: signal.Signals, visible_data: Path, tmp_path: Path
) -> None:
    command = [sys.executable, str(HOST), str(visible_data), str(UID_BASE), profile]
    with running(command, {"PYTHONPATH": os.pathsep.join(sys.path)}, visible_data, tmp_path) as host:
        there = host.left()
        assert {"processes"} | ({"in roots"} if profile == "chroot" else set()) <= there.keys()
        assert "groups" in there or isinstance(cgroup.find(), str)
        host.process.send_signal(number)
        assert host.process.wait() == -number
        until(lambda: host.left() == {})


@pytest.mark.parametrize("engine", ["quickjs", "node"])
@pytest.mark.parametrize("profile", ["namespaces", "chroot"])
@as_root
def test_guests_for_javascript_that_compute_end_with_a_host_that_was_killed(
    profile: str, engine: str, visible_data: Path, tmp_path: Path
) -> None:
    command = [sys.executable, str(HOST), str(visible_data), str(UID_BASE), profile, engine]
    with running(command, {"PYTHONPATH": os.pathsep.join(sys.path)}, visible_data, tmp_path) as host:
        assert len(of_ids(UID_BASE, UID_COUNT)) >= 2
        host.process.kill()
        host.process.wait()
        until(lambda: host.left() == {})


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@as_root
def test_nothing_is_left_of_a_host_of_an_ordinary_user_without_namespaces_that_was_killed(
    place: Place, number: signal.Signals
) -> None:
    home = place.home("killed", ordinary=True)
    temporary = home / f"temporary-{number}"
    temporary.mkdir()
    os.chown(temporary, ORDINARY, ORDINARY)
    file = str(place.folder / "tests" / "jail" / HOST.name)
    command = place.command("bare", file, str(home / "data"), str(UID_BASE), "confined")
    with running(command, place.variables_at(home), home / "data", temporary) as host:
        assert {"processes", "in memory"} <= host.left().keys()
        host.process.send_signal(number)
        assert host.process.wait() == -number
        until(lambda: host.left() == {})


@as_root
def test_what_is_left_without_namespaces_if_all_processes_are_killed_at_once_goes_with_the_next_host(
    place: Place,
) -> None:
    home = place.home("all-killed", ordinary=True)
    file = str(place.folder / "tests" / "jail" / HOST.name)
    command = place.command("bare", file, str(home / "data"), str(UID_BASE), "confined")
    with running(command, place.variables_at(home), home / "data", home) as host:
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in (host.process.pid, *host.below):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        until(lambda: "processes" not in host.left())
        host.process.wait()
        assert host.in_memory()
        with running(command, place.variables_at(home), home / "data", home) as next_host:
            until(lambda: not host.in_memory())
            before = next_host.in_memory()
            os.kill(next(pid for pid in next_host.below if is_reaper(pid)), signal.SIGKILL)
            until(lambda: before - next_host.in_memory())


def is_reaper(pid: int) -> bool:
    """Whether it is a fork of a warden."""
    above = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    names = [Path(f"/proc/{each}/comm").read_text() for each in (pid, above)]
    return names == ["paddock-warden\n"] * 2


def test_the_whole_group_of_a_host_may_be_killed_at_once() -> None:
    """A shell or a closing terminal kills a process group. The cleanup process is in a group of its own."""
    if isinstance(reason := cgroup.find(), str):
        pytest.fail(reason) if "CI" in os.environ else pytest.skip(reason)
    program = """
import os, sys, time
os.setsid()
from paddock.jail.walls import cgroup
slots = cgroup.Slots(cgroup.find())
slot = slots.take()
slot.enter(os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "900"))
print("on", flush=True)
time.sleep(900)
"""
    host = start(program)
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == "on\n"
        below = descendants(host.pid)
        assert groups_of(host.pid) != []
        os.killpg(host.pid, signal.SIGKILL)
        until(lambda: [*groups_of(host.pid), *filter(is_alive, below)] == [])
    finally:
        host.kill()
        host.communicate()


def test_a_host_that_ends_without_closing_anything_leaves_no_group() -> None:
    if isinstance(reason := cgroup.find(), str):
        pytest.fail(reason) if "CI" in os.environ else pytest.skip(reason)
    program = """
import os
from paddock.jail.walls import cgroup
slots = cgroup.Slots(cgroup.find())
slots.take()
print(slots._cleanup._process.pid, flush=True)
os._exit(3)
"""
    host = start(program)
    said, _ = host.communicate()
    assert host.returncode == 3
    until(lambda: groups_of(host.pid) == [] and not is_alive(int(said)))


def test_nothing_is_left_of_a_doctor_that_was_killed(tmp_path: Path) -> None:
    program = "import asyncio\nfrom paddock.config import Config\nfrom paddock.jail.doctor import probe\n"
    before = mounts()
    doctor = start(
        f"import tempfile\ntempfile.tempdir = {str(tmp_path)!r}\n{program}while True: asyncio.run(probe(Config()))"
    )
    try:
        until(lambda: list(tmp_path.glob("paddock-probe-*")))
        host = Host(doctor, tmp_path, tmp_path, before, descendants(doctor.pid))
        doctor.kill()
        until(lambda: host.left() == {})
    finally:
        doctor.kill()
        doctor.communicate()


def test_other_users_do_not_see_which_folder_the_doctor_is_about_to_make(tmp_path: Path) -> None:
    with Cleanup(folders=[tmp_path / "secret"]) as cleanup:
        assert cleanup._process is not None
        command = Path(f"/proc/{cleanup._process.pid}/cmdline")
        until(command.read_bytes)  # it may be empty for a moment after exec
        arguments = command.read_bytes()
    assert b"cleanup" in arguments
    assert b"secret" not in arguments


@as_root
@pytest.mark.parametrize(
    "make", ["roots.acquire(PLACE, [MANY])", "roots.remove(Path(PLACE), MANY); roots.add(Path(PLACE) / 'root', MANY)"]
)
def test_half_a_root_goes_with_who_was_making_it_before_anybody_can_make_another(make: str, tmp_path: Path) -> None:
    many, partial = tmp_path / "many", tmp_path / "roots" / "partial"
    many.mkdir()
    for number in range(5000):
        (many / str(number)).write_text("x")
    program = """
from pathlib import Path
from paddock.jail.walls import roots
while True:
    MAKE
    Path(MANY).touch()
"""
    (partial.parent / "root").mkdir(parents=True)
    builder = start(
        program.replace("MAKE", make).replace("PLACE", repr(str(partial.parent))).replace("MANY", repr(str(many)))
    )
    try:
        until(partial.exists)
        builder.kill()
        with (partial.parent / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # as a process that builds the next root does
            assert not partial.exists()
    finally:
        builder.kill()
        builder.communicate()
