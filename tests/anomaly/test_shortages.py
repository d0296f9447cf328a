"""Too few descriptors, processes or too little memory: the error names that, and nothing weaker is used instead."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paddock.config import Config, JailConfig
from paddock.errors import JailUnavailable
from paddock.jail import profiles
from paddock.jail.doctor import IDLE
from paddock.jail.environment_build import build
from paddock.jail.environments import configured
from paddock.jail.guest import Guest
from paddock.jail.limits import ResourceLimit
from paddock.jail.profiles import start_first_working, try_profile
from paddock.jail.walls import cgroup, cleanup, shortage
from paddock.jail.warden_client import WardenClient
from paddock.jail.zygote import FIRST_UID
from tests.bare import bare
from tests.jail import place as places

__all__ = ["bare"]

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root can make the other settings"
)
RUNS = """
import asyncio, resource, sys
from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.errors import HostError
from paddock.model.environments import EnvironmentConfig
data, kind, count = sys.argv[1], getattr(resource, sys.argv[2]), int(sys.argv[3])
config = Config(
    data_directory=data,
    environments={"bare": EnvironmentConfig()},
    cpython=GuestsConfig(environment="bare", min_waiting=0, max_waiting=0),
    jail=JailConfig(accept_confined=True),
)
async def main():
    async with Paddock(config) as paddock:
        engine = paddock._engines.get("cpython")
        before = resource.getrlimit(kind)
        resource.setrlimit(kind, (count or before[0], before[1]))
        try:
            result = await paddock.run("1 + 1", engine="cpython")
            source = engine._jail._pool._limits._source
            print("ok", result.output, type(source).__name__, engine._jail.profile, flush=True)
        except HostError as problem:
            print("failed", problem, flush=True)
        resource.setrlimit(kind, before)
asyncio.run(main())
"""
NO_FILE, NO_PROCESS = "no free file descriptor", "no further process or thread can be started"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the environment, in which it is not known whether control groups work."""
    folder = tmp_path_factory.mktemp("data")
    assert run(folder, "NOFILE", 0) == "ok 2 Slots namespaces"
    return folder


def run(data: Path, kind: str, count: int, *, groups: tuple[Path, ...] = ()) -> str:
    """What becomes of a first run in a process with a limit."""
    (data / "control-groups").unlink(missing_ok=True)
    ran = subprocess.run(
        [sys.executable, "-c", RUNS, str(data), f"RLIMIT_{kind}", str(count)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: places.enter(groups),
    )
    assert ran.stdout, ran.stderr
    return ran.stdout.splitlines()[0]


@needs_root
def test_too_few_descriptors_are_the_cause_and_no_watcher_is_used_instead(data: Path) -> None:
    if isinstance(reason := cgroup.find(), str):
        pytest.skip(reason)
    for count in range(8, 40, 2):
        told = run(data, "NOFILE", count)
        if told != "ok 2 Slots namespaces":
            assert told.startswith("failed ")
            assert any(words in told for words in (NO_FILE, "Too many open files", "too many files open")), told
            assert "nothing limits" not in told
            assert "works here" not in told
    assert told == "ok 2 Slots namespaces"


@contextmanager
def limited(kind: str, file: str, value: str) -> Iterator[Path]:
    """A control group below ours."""
    found = cgroup.find()
    if isinstance(found, str):
        pytest.skip(found)
    group = found.parents[kind] / f"short-{os.getpid()}"
    group.mkdir()
    try:
        (group / file).write_text(value)
        yield group
    finally:
        cleanup.remove(group)


@needs_root
def test_too_few_processes_are_the_cause_and_no_weaker_profile_is_used_instead(data: Path) -> None:
    failed = 0
    for count in range(2, 12):
        with limited("pids", "pids.max", str(count)) as group:
            told = run(data, "NOFILE", 0, groups=(group,))
        if told != "ok 2 Slots namespaces":
            failed += 1
            assert told.startswith("failed ")
            assert any(words in told for words in (NO_PROCESS, "Resource temporarily unavailable")), told
            assert "nothing limits" not in told
            assert "no profile" not in told
    assert failed > 2


@needs_root
@pytest.mark.parametrize(
    ("number", "program", "outcome"),
    [
        (
            1,
            ["unshare", "--user", "--map-root-user"],
            "failed no profile of the jail works here.\nnamespaces: [Errno 28] unshare: No space left",
        ),
        (
            0,
            [],
            "failed no profile of the jail works here.\nnamespaces: [Errno 1] the sysctl user.max_user_namespaces is 0",
        ),
    ],
)
def test_where_no_further_namespace_can_be_made_other_profiles_are_tried(
    data: Path, number: int, program: list[str], outcome: str
) -> None:
    limited = f'echo {number} > /proc/sys/user/max_user_namespaces && exec "$@"'
    mapped = 'echo && read mapped && exec sh -ec "$@"'  # the next program that root executes has capabilities again
    program = [*program, sys.executable, "-c", RUNS, str(data), "RLIMIT_NOFILE", "0"]
    with subprocess.Popen(
        ["/usr/bin/unshare", "--user", "/bin/sh", "-ec", mapped, "sh", limited, "sh", *program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for ids in ("uid_map", "gid_map"):
            Path(f"/proc/{process.pid}", ids).write_text("0 0 4294967295")
        said, _ = process.communicate("\n")
    assert said.startswith(outcome), said


@needs_root
@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["monty", "cpython"])
def test_a_command_with_too_few_processes_ends_and_names_them(bare: str, engine: str) -> None:
    failed = 0
    for count in range(1, 20, 2):
        with limited("pids", "pids.max", str(count)) as group:
            ran = subprocess.run(
                [sys.executable, "-m", "paddock", "run", "-c", "1 + 1", "--engine", engine, "--config", bare],
                capture_output=True,
                text=True,
                check=False,
                timeout=60,  # Monty's runtime used to wait forever
                preexec_fn=lambda: places.enter((group,)),
            )
        if ran.returncode:
            failed += 1
            assert (ran.returncode, ran.stdout) == (3, "")
            assert NO_PROCESS in ran.stderr or "Resource temporarily unavailable" in ran.stderr
            assert "fault of Paddock" not in ran.stderr
        else:
            assert ran.stdout == "2\n"
    assert failed > 2


WITH_PRELOADS = """
import asyncio
from paddock import Paddock
from paddock.errors import HostError
async def main():
    async with Paddock() as paddock:
        try:
            print("ok", (await paddock.run("import pandas\\n1 + 1", engine="cpython")).output)
        except HostError as problem:
            print(problem, flush=True)
asyncio.run(main())
"""


@needs_root
@pytest.mark.usefixtures("default_environment")
@pytest.mark.parametrize("megabytes", [40, 70])
def test_too_little_memory_for_the_preloads_is_named(megabytes: int) -> None:
    found = cgroup.find()
    file = "memory.limit_in_bytes" if not isinstance(found, str) and found.version == 1 else "memory.max"
    with limited("memory", file, str(megabytes << 20)) as group:
        ran = subprocess.run(
            [sys.executable, "-c", WITH_PRELOADS],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: places.enter([group]),
        )
    assert ran.stdout.startswith("the zygote could not be started: "), ran.stdout + ran.stderr
    assert "the kernel killed a process because memory ran out" in ran.stdout


MONTY = """
import asyncio, os, resource, sys
import paddock.engines.monty
from paddock import EngineUnavailable, Paddock
async def main():
    async with Paddock() as made:
        next_one = os.dup(0)
        os.close(next_one)
        limit = next_one + int(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        try:
            await made.run("1 + 1", engine="monty")
        except EngineUnavailable as problem:
            print(problem)
asyncio.run(main())
"""


@pytest.mark.parametrize("room", [2, 4, 8])
def test_too_few_descriptors_for_monty_are_a_host_error_and_no_panic(room: int) -> None:
    ran = subprocess.run([sys.executable, "-c", MONTY, str(room)], capture_output=True, text=True, check=False)
    assert "worker could not be started" in ran.stdout, ran.stderr
    assert "oo many open files" in ran.stdout or "TooManyOpenFiles" in ran.stdout


def test_too_little_memory_for_node_is_the_cause_and_no_weaker_profile_is_suggested() -> None:
    build(configured(Config(), "node"), Config().data_directory)
    paddock = [sys.executable, "-m", "paddock", "run", "-c", "1 + 1", "--engine", "node", "--language", "javascript"]
    ran = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -v 400000 && exec "$@"', "sh", *paddock], capture_output=True, text=True, check=False
    )
    assert ran.stderr.startswith("Error: no guest can be started at the moment: this machine, or"), ran.stderr
    assert "jail.accept_confined" not in ran.stderr


@pytest.mark.parametrize("engine", ["monty", "cpython"])
def test_a_limit_of_the_size_of_files_is_named_as_the_cause(bare: str, engine: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "paddock", "run", "-c", "1 + 1", "--engine", engine, "--config", bare],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "no file may be as large as Paddock needs: raise the limit (ulimit -f)" in ran.stderr


def test_without_a_temporary_folder_doctor_says_so() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "paddock", "doctor"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    assert "profile namespaces does not work: [Errno 2] No usable temporary directory" in ran.stdout, ran.stderr
    assert "fault of Paddock" not in ran.stderr


def test_a_thread_that_node_could_not_start_is_a_shortage_and_no_reason_for_a_weaker_profile() -> None:
    said = "node[2]: Assertion failed: (0) == (uv_thread_create(t.get(), start_thread, this))"
    assert NO_PROCESS in (shortage.find_in(said) or "")


@pytest.mark.parametrize("room", [0, 4])
async def test_descriptors_that_are_short_while_a_profile_is_tried_are_no_reason_for_a_weaker_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    order_guest = WardenClient.guest

    async def order_with_few_descriptors(self: WardenClient, **order: Any) -> Guest:
        next_one = os.dup(0)
        os.close(next_one)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_one + room, limits[1]))
        try:
            return await order_guest(self, **order)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            monkeypatch.undo()  # for the next profile there are enough

    monkeypatch.setattr(WardenClient, "guest", order_with_few_descriptors)
    with pytest.raises(JailUnavailable, match=NO_FILE):
        await start_first_working(Config(data_directory=str(tmp_path), jail=JailConfig(accept_confined=True)), IDLE)


class OneDescriptor(ResourceLimit):
    def cgroup_fds(self) -> list[int]:
        return [0]


@needs_root
async def test_descriptors_that_are_short_in_the_warden_are_a_shortage(tmp_path: Path) -> None:
    client = await try_profile("chroot", Config(data_directory=str(tmp_path)), IDLE)
    try:
        resource.prlimit(client._process.pid, resource.RLIMIT_NOFILE, (0, 0))
        with pytest.raises(JailUnavailable) as raised:
            await client.guest(uid=FIRST_UID, processes=False, resource_limit=OneDescriptor())
    finally:
        await client.close()
    assert NO_FILE in (shortage.find_in(str(raised.value)) or ""), raised.value


async def test_a_weaker_profile_is_used_with_one_warning_that_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = Config(data_directory=str(tmp_path), jail=JailConfig(accept_confined=True))
    refusal = profiles.refusal
    monkeypatch.setattr(
        profiles,
        "refusal",
        lambda profile, *rest, **more: (
            "no mount (test)" if profile == "namespaces" else refusal(profile, *rest, **more)
        ),
    )
    for _ in range(2):
        client = await start_first_working(config, IDLE)
        await client.close()
    [warning] = [record.getMessage() for record in caplog.records if record.name == "paddock.jail.profiles"]
    assert warning.startswith(
        f"{profiles.WEAKER} {client.profile}, because stronger ones do not work here. namespaces: no mount (test)"
    )
