"""What a watcher does not see by itself: huge pages, bytes in sockets, sessions; and how to have a control group.

These tests need root, to become everything else.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.config import Config
from paddock.jail.limits import (
    FEWEST_OPEN_FILES,
    FEWEST_PROCESSES,
    REQUIRED,
    ResourceLimit,
    WatchedLimit,
    narrow,
    socket_bytes,
)
from paddock.jail.profiles import WEAKER, uncounted_rlimits
from paddock.jail.walls import cgroup, cleanup
from paddock.jail.walls.watcher import Watched, Watcher
from paddock.jail.zygote import Spec
from paddock.model.limits import CAPS, MB, Limits
from tests.jail import place as places
from tests.jail.attacks_on_a_watcher import LIMIT_BYTES
from tests.jail.place import ORDINARY, WARNING, Place, enter
from tests.uids import OWN

ATTACKS = "jail/attacks_on_a_watcher.py"
COMMAND = ("typer", "click", "annotated_doc", "shellingham", "rich")
BASE = OWN + (1 << 29)
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root can make the other settings"
)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("watched", [ATTACKS], COMMAND) as made:
        yield made


@needs_root
@pytest.mark.parametrize("kind", ["ordinary", pytest.param("container", marks=pytest.mark.thorough)])
def test_what_a_watcher_does_not_see_is_limited_otherwise(place: Place, kind: str) -> None:
    told = place.told(kind, ATTACKS, BASE)
    verdict, unread_bytes, _ = told.pop("buffers")
    assert told.pop("forks") == (["ok", "ok", "out_of_memory"] if kind == "ordinary" else ["ok", "refused"])
    assert told.pop("ended forks") == (["ok"] * 4 if kind == "ordinary" else ["ok", "refused"])
    assert told.pop("time of forks") == (["ok", "timeout"] if kind == "ordinary" else ["refused"])
    assert [line for line in told.pop("said") if not line.startswith(WEAKER)] == [WARNING.rstrip()]
    assert told == {
        "huge pages": ["ok", True, None],
        "priorities": ["ok", True, None],
        "page tables": ["raised", None, "OSError"],  # no more addresses
        "page tables of children": ["out_of_memory", None, "MemoryError"],
        "addresses": ["ok", 15, None],
        "unaccepted": ["ok", 0, None],
        "sessions": ["ok", True, None],
        "groups": ["ok", [-15, -15], None],
        "shared memory": ["ok", ["refused", "refused"], None],
        "copied mappings": ["out_of_memory", None, "MemoryError"],
        "sent descriptors": ["ok", 2, None],
        "pages in sockets": ["ok", [0, 0], None],
        "signals of another": ["ok", [1024, 1024], None],
        "limits of a session": [True, True],  # a script cannot raise them
    }
    assert (verdict, 0 < unread_bytes < 1.4 * LIMIT_BYTES) == ("ok", True)


@contextmanager
def delegated() -> Iterator[list[Path]]:
    """Control groups that belong to the ordinary user."""
    controllers = cgroup.find()
    if isinstance(controllers, str):
        pytest.skip(controllers)
    groups = list(dict.fromkeys(parent / f"delegated-{os.getpid()}" for parent in controllers.parents.values()))
    for group in groups:
        group.mkdir()
        for path in (group, *(group / name for name in ("cgroup.procs", "tasks", "cgroup.subtree_control"))):
            if path.exists():
                os.chown(path, ORDINARY, ORDINARY)
    try:
        yield groups
    finally:
        for group in groups:
            cleanup.remove(group)


@needs_root
def test_an_ordinary_user_uses_a_control_group_that_was_delegated_to_it(place: Place) -> None:
    with delegated() as groups:
        told = place.told("ordinary", ATTACKS, BASE, groups=groups)
    assert told["said"] == []
    assert told["page tables"] == told["page tables of children"] == ["out_of_memory", None, "MemoryError"]
    assert told["addresses"] == ["ok", 2048, None]  # what they cost is counted
    assert told["buffers"][0] == "out_of_memory"
    assert told["sessions"] == ["ok", False, None]
    assert told["sent descriptors"] == ["ok", 2, None]
    assert told["shared memory"] == ["ok", ["made", "made"], None]  # it is counted
    assert min(told["pages in sockets"][1]) > 0
    assert told["forks"] == ["ok", "ok", "ok"]  # each has a limit of its own


@needs_root
def test_a_group_that_worked_once_is_not_used_outside_it(place: Place) -> None:
    home = place.home("moved", ordinary=True)
    finding = (
        f"from pathlib import Path; from paddock.jail.walls import cgroup; print(cgroup.find(Path('{home}/record')))"
    )

    def found(groups: list[Path]) -> str:
        return subprocess.run(
            place.command("ordinary", "-c", finding),
            capture_output=True,
            text=True,
            env=place.variables_at(home),
            check=True,
            preexec_fn=lambda: enter(groups),
        ).stdout

    with delegated() as groups:
        assert found(groups).startswith("Controllers(")
        assert "Permission denied" in found([])


@needs_root
def test_a_control_group_can_be_required(place: Place) -> None:
    home = place.home("required", ordinary=True)
    settings = {"PADDOCK_JAIL__REQUIRE_CONTROL_GROUP": "true", "PADDOCK_DATA_DIRECTORY": str(home / "data")}
    ran = subprocess.run(
        place.command("ordinary", "-m", "paddock", "run", "--language", "javascript", "-c", "1 + 1"),
        capture_output=True,
        text=True,
        env={**place.variables_at(home), **settings},
        check=False,
    )
    assert (ran.returncode, REQUIRED in ran.stderr) == (3, True), ran.stderr


class Counted(ResourceLimit):
    """A control group, as far as `narrow` knows."""


@pytest.mark.parametrize("memory", [16 * MB, 128 * MB, 512 * MB, 4096 * MB])
@pytest.mark.parametrize("processes", [0, 1, 8, 64])
def test_the_sockets_of_a_guest_hold_at_most_its_memory_limit(memory: int, processes: int) -> None:
    limits = Limits(memory_bytes=memory, processes=processes)
    narrowed, open_files = narrow(limits, WatchedLimit(Watcher()), may_fork=True)
    assert open_files is not None
    assert open_files >= FEWEST_OPEN_FILES
    assert min(max(1, processes), FEWEST_PROCESSES) <= narrowed.processes <= max(1, processes)
    assert narrowed.processes * open_files * socket_bytes() <= max(memory, 170 * 10**6)
    assert narrow(limits, Counted(), may_fork=True) == (limits, None)
    alone, open_files = narrow(limits, WatchedLimit(Watcher()), may_fork=False)
    assert (alone, open_files) == (limits, max(FEWEST_OPEN_FILES, memory // socket_bytes()))


@pytest.mark.parametrize("memory", [16 * MB, 128 * MB, 512 * MB, 4096 * MB])
def test_where_sockets_are_large_a_guest_has_fewer_processes(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.jail.limits.socket_bytes", lambda: 3 * MB)
    narrowed, open_files = narrow(Limits(memory_bytes=memory, processes=64), WatchedLimit(Watcher()), may_fork=True)
    assert open_files is not None
    assert open_files >= FEWEST_OPEN_FILES
    assert narrowed.processes * open_files * 3 * MB <= max(memory, 170 * 10**6)


def test_the_processes_of_an_idle_session_are_not_counted_whenever_another_run_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[threading.Thread] = []
    monkeypatch.setattr(Watched, "check", lambda _: threads.append(threading.current_thread()))
    watcher = Watcher()
    limit = WatchedLimit(watcher)
    limit.limit(Limits(), lambda: [os.getpid()], lambda: None)
    limit.held_bytes()
    assert threads.count(threading.current_thread()) == 1
    limit.rest()
    limit.held_bytes()
    assert threads.count(threading.current_thread()) == 1
    watcher.close()


@pytest.mark.parametrize(("program", "gigabytes"), [((), 16), (("/node",), 64)], ids=["python", "node"])
def test_the_addresses_of_a_guest_bound_its_page_tables(program: tuple[str, ...], gigabytes: int) -> None:
    spec = Spec("/python", "runtime:main", program=program)
    assert uncounted_rlimits(Config(), spec)["address_bytes"] == gigabytes << 30
    large = Config(caps=replace(CAPS, memory_bytes=32 << 30))
    assert uncounted_rlimits(large, spec)["address_bytes"] == 128 << 30  # room for what a run may use
