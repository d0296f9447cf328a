"""cgroup v2 where this machine's v2 has no memory controller: paths and writes against a directory that imitates it.

What the kernel does with those writes is not tested here. `test_cgroup.py` tests it on any machine whose v2 has the
controllers; killing a group is tested for real wherever v2 is mounted at all.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.jail.walls import cgroup, cgroup_slots, cleanup, namespaces
from paddock.jail.walls.cgroup import NEEDED, Controllers, Slots, candidates, own_name
from paddock.jail.walls.cgroup_slots import SlotV2, Usage
from tests.jail.hogs import BOMB, tell, waiting

FILES = {
    "cgroup.controllers": "cpu memory pids",
    "cgroup.subtree_control": "",
    "cgroup.procs": "",
    "memory.oom.group": "0",
    "memory.swap.max": "max",
    "memory.max": "",
    "memory.current": "4096",
    "memory.peak": "8192",
    "memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 1",
    "memory.reclaim": "",
    "pids.max": "",
    "pids.current": "2",
    "cpu.weight": "",
    "cpu.stat": "usage_usec 1000\nuser_usec 600\nsystem_usec 400",
    "cgroup.kill": "",
}


def fill(group: Path) -> None:
    for name, text in FILES.items():
        (group / name).write_text(text)


@pytest.fixture
def imitated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every directory that is made looks like a group."""
    real: Callable[..., None] = Path.mkdir

    def mkdir(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        real(self, mode, parents, exist_ok)
        fill(self)

    monkeypatch.setattr(Path, "mkdir", mkdir)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A proc and a unified hierarchy; we are in /user.slice/app.scope."""
    proc, root = tmp_path / "proc/self", tmp_path / "sys fs/cgroup"
    (root / "user.slice/app.scope").mkdir(parents=True)
    proc.mkdir(parents=True)
    mounted = str(root).replace(" ", "\\040")
    (proc / "mountinfo").write_text(f"31 23 0:28 / {mounted} rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n")
    (proc / "cgroup").write_text("0::/user.slice/app.scope\n")
    for group in (root, root / "user.slice", root / "user.slice/app.scope"):
        fill(group)
    return tmp_path


def names(found: Iterator[Controllers | str], below: Path) -> list[str]:
    return [
        str(each.parents["memory"].relative_to(below)) if isinstance(each, Controllers) else f"no: {each}"
        for each in found
    ]


def test_imitated_v2_our_own_group_comes_first_and_then_those_around_it(machine: Path) -> None:
    root = machine / "sys fs/cgroup"
    assert names(candidates(machine / "proc"), root) == ["user.slice/app.scope", "user.slice", "."]
    assert (root / "user.slice/app.scope/cgroup.subtree_control").read_text() == "+cpu"


def test_imitated_v2_a_group_without_the_memory_controller_says_so(machine: Path) -> None:
    root = machine / "sys fs/cgroup"
    for group in (root, root / "user.slice", root / "user.slice/app.scope"):
        (group / "cgroup.controllers").write_text("cpu pids")
    found = names(candidates(machine / "proc"), root)
    assert found[0] == f"no: {root}/user.slice/app.scope (cgroup v2) offers no memory controller"
    assert len(found) == 3


def test_imitated_v2_the_leaf_that_we_moved_ourselves_into_is_not_divided_further(machine: Path) -> None:
    root = machine / "sys fs/cgroup"
    leaf = root / "user.slice/app.scope/paddock-host"
    leaf.mkdir()
    fill(leaf)
    (machine / "proc/self/cgroup").write_text("0::/user.slice/app.scope/paddock-host\n")
    assert names(candidates(machine / "proc"), root)[0] == "user.slice/app.scope"


@pytest.mark.parametrize(("others", "enabled"), [("", True), ("\n1", False)])
def test_imitated_v2_we_move_to_a_leaf_only_if_nobody_else_is_in_the_group(
    machine: Path, monkeypatch: pytest.MonkeyPatch, others: str, *, enabled: bool
) -> None:
    group = machine / "sys fs/cgroup/user.slice/app.scope"
    (group / "cgroup.procs").write_text(f"{os.getpid()}{others}")
    (group / "paddock-host").mkdir()
    (group / "paddock-host/cgroup.procs").write_text("")
    real = cleanup.write

    def write(path: str, text: str) -> None:
        if path.endswith("app.scope/cgroup.subtree_control") and not (group / "paddock-host/cgroup.procs").read_text():
            raise OSError(16, "Device or resource busy", path)
        real(path, text)

    monkeypatch.setattr(cgroup, "write", write)
    found = names(candidates(machine / "proc"), machine / "sys fs/cgroup")
    assert (found[0] == "user.slice/app.scope") is enabled
    assert (group / "paddock-host/cgroup.procs").read_text() == (str(os.getpid()) if enabled else "")


def test_a_v1_path_is_taken_relative_to_the_part_of_the_hierarchy_that_is_mounted(tmp_path: Path) -> None:
    proc = tmp_path / "proc/self"
    proc.mkdir(parents=True)
    (tmp_path / "memory/run").mkdir(parents=True)
    (tmp_path / "both").mkdir()
    (proc / "mountinfo").write_text(
        f"35 31 0:32 /docker/1 {tmp_path}/memory rw,relatime - cgroup cgroup rw,memory\n"
        f"36 31 0:33 / {tmp_path}/both rw,relatime - cgroup cgroup rw,pids,cpu\n"
        f"37 31 0:34 / {tmp_path}/closed ro,relatime - cgroup cgroup rw,cpuacct\n"
    )
    (proc / "cgroup").write_text("4:memory:/docker/1/run\n3:pids,cpu:/\n2:cpuacct:/\n0::/\n")
    both = tmp_path / "both"
    assert list(candidates(tmp_path / "proc")) == [
        Controllers(1, {"memory": tmp_path / "memory/run", "pids": both, "cpu": both})
    ]


@pytest.mark.usefixtures("imitated")
def test_imitated_v2_limits_are_above_the_baseline_without_swap_and_the_kernel_ends_the_whole_group(
    tmp_path: Path,
) -> None:
    slot = SlotV2(dict.fromkeys(NEEDED, tmp_path / "slot"))
    slot.limit(1_000_000, 8)
    written = {name: (tmp_path / "slot" / name).read_text() for name in FILES}
    assert written["memory.max"] == "1004096"
    assert (written["memory.swap.max"], written["memory.oom.group"]) == ("0", "1")
    assert written["pids.max"] == "9"


@pytest.mark.usefixtures("imitated")
def test_imitated_v2_usage_and_kills_are_differences(tmp_path: Path) -> None:
    slot = SlotV2(dict.fromkeys(NEEDED, tmp_path / "slot"))
    slot.limit(1_000_000, 8)
    assert not slot.was_out_of_memory()
    (tmp_path / "slot/memory.events").write_text("oom 2\noom_kill 5\n")
    (tmp_path / "slot/cpu.stat").write_text("usage_usec 2501000\n")
    (tmp_path / "slot/memory.peak").write_text("5004096\n")
    assert slot.usage() == Usage(5_000_000, 2.5)
    assert slot.was_out_of_memory()
    (tmp_path / "slot/memory.current").write_text("5004096\n")
    slot.reset()
    assert not slot.was_out_of_memory()
    assert (tmp_path / "slot/memory.reclaim").read_text() == "5004096"


@pytest.mark.usefixtures("imitated")
def test_imitated_v2_a_slot_whose_peak_cannot_be_reset_is_used_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def read_only(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if str(path).endswith("memory.peak") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", read_only)
    monkeypatch.setattr(SlotV2, "remove", lambda _: None)
    slots = Slots(Controllers(2, {"memory": tmp_path, "pids": tmp_path}))
    first = slots.take()
    slots.give_back(first)
    assert slots.take() is not first
    slots._cleanup.dismiss()


def test_a_fork_bomb_in_a_real_v2_group_is_killed_to_the_last_process() -> None:
    group = _mounted() / own_name()
    group.mkdir()
    slot = object.__new__(SlotV2)
    slot._group, slot._groups = group, {group: cgroup_slots.Files(group, kept=False)}
    process = waiting("import resource; resource.setrlimit(resource.RLIMIT_CPU, (5, 5))")
    try:
        slot.enter(process.pid)
        tell(process, BOMB.replace("while True:", "for _ in range(6):"))
        while len((group / "cgroup.procs").read_text().split()) < 8 and process.poll() is None:
            os.sched_yield()
        assert slot.kill()
        assert process.wait() in {0, -signal.SIGKILL}
    finally:
        process.kill()
        process.communicate()
        slot.remove()
    assert not group.exists()


def _mounted() -> Path:
    unified = [mount.point for mount in cgroup.mounts() if mount.version == 2]
    if not unified or not os.access(unified[0], os.W_OK):
        pytest.skip("no cgroup v2 is mounted writable")
    return unified[0]


@pytest.mark.usefixtures("imitated")
def test_a_guest_enters_through_a_descriptor_of_the_list_of_processes(tmp_path: Path) -> None:
    slot = SlotV2(dict.fromkeys(NEEDED, tmp_path / "slot"))
    (door,) = slot.entry_fds()
    os.write(door, b"0")
    assert (tmp_path / "slot" / "cgroup.procs").read_text() == "0"


def test_a_child_of_another_user_namespace_enters_through_a_descriptor_that_we_opened() -> None:
    group = _mounted() / f"{own_name()}-door"
    group.mkdir()
    try:
        with (group / "cgroup.procs").open("wb", buffering=0) as door:
            inside, outside = os.pipe()
            pid = os.fork()
            if pid == 0:
                namespaces.unshare(namespaces.NEW_USER)
                os.write(door.fileno(), b"0")
                os.write(outside, b"1")
                signal.pause()
            assert os.read(inside, 1) == b"1"
            assert (group / "cgroup.procs").read_text().split() == [str(pid)]
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    finally:
        cleanup.remove(group)
