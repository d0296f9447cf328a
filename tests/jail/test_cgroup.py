"""Slots against the real kernel. Limits are small, so that a hole shows without doing harm."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddock.jail.walls import cgroup
from paddock.jail.walls.cgroup import MAX_FREE, Controllers, Slots
from paddock.jail.walls.cgroup_slots import Slot
from tests.jail.hogs import BOMB, FORKS, MANY, MEGABYTE, SHARED, THREADS, TMPFS, grabs, tell, told, waiting


@pytest.fixture(scope="module")
def controllers() -> Controllers:
    found = cgroup.find()
    if isinstance(found, str):
        if os.environ.get("CI"):
            pytest.fail(found)
        pytest.skip(found)
    return found


@pytest.fixture
def slots(controllers: Controllers) -> Iterator[Slots]:
    others = ours(controllers)  # of engines that other tests have running
    made = Slots(controllers)
    yield made
    made.close()
    assert set(ours(controllers)) <= set(others)


def ours(controllers: Controllers) -> list[Path]:
    return [group for parent in controllers.parents.values() for group in parent.glob(f"paddock-{os.getpid()}-*")]


@contextmanager
def guest(slot: Slot, *, megabytes: int = 64, processes: int = 16) -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits, in the slot and limited, for the text of its program."""
    process = waiting()
    try:
        slot.enter(process.pid)
        slot.limit(megabytes * MEGABYTE, processes)
        yield process
    finally:
        slot.kill()
        process.communicate()


def test_a_program_within_its_limit_ends_well_and_its_peak_is_what_it_took(slots: Slots) -> None:
    slot = slots.take()
    with guest(slot) as process:
        assert told(process, grabs(32)) == b"grabbed\n"
        usage = slot.usage()
    assert (process.returncode, slot.was_out_of_memory()) == (0, False)
    assert 31 * MEGABYTE < usage.memory_peak_bytes < 40 * MEGABYTE
    assert usage.cpu_seconds is None or 0 < usage.cpu_seconds < 5


@pytest.mark.parametrize("program", [grabs(128), SHARED, TMPFS], ids=["private", "shared", "tmpfs"])
def test_one_process_above_the_limit_is_out_of_memory(slots: Slots, program: str) -> None:
    slot = slots.take()
    with guest(slot) as process:
        assert told(process, program) == b""
        usage = slot.usage()
    assert (process.returncode, slot.was_out_of_memory()) == (-signal.SIGKILL, True)
    assert usage.memory_peak_bytes <= 64 * MEGABYTE


def test_processes_that_are_small_alone_are_out_of_memory_together(slots: Slots) -> None:
    slot = slots.take()
    with guest(slot) as process:
        tell(process, MANY)
        process.wait(30)
        assert slot.was_out_of_memory()


def test_a_kill_from_elsewhere_is_not_out_of_memory(slots: Slots) -> None:
    slot = slots.take()
    with guest(slot) as process:
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert not slot.was_out_of_memory()


def test_the_host_is_told_when_one_child_of_a_living_tree_was_killed_for_memory(slots: Slots) -> None:
    slot = slots.take()
    if slot.oom_fd is None:
        pytest.skip("cgroup v2 ends the whole group by itself")
    with guest(slot) as process:
        child = f"import os, time\nif not os.fork():\n    {grabs(128)}\ntime.sleep(60)"
        tell(process, child)
        assert select.select([slot.oom_fd], [], [], 20)[0] == [slot.oom_fd]
        assert slot.kill()
        assert process.wait() == -signal.SIGKILL
        assert slot.was_out_of_memory()
        assert select.select([slot.oom_fd], [], [], 0)[0] == []


def test_each_guest_has_one_share_of_the_cpu_and_all_of_them_half_of_what_others_have(slots: Slots) -> None:
    parents = set(slots._parents.values())
    files = [parent / name for parent in parents for name in ("cpu.shares", "cpu.weight") if (parent / name).exists()]
    if not files and "CI" not in os.environ:
        pytest.skip("this process may not use the CPU controller")
    for _ in range(2):
        slots.take()
    (file,) = files
    shares = [each.read_text().strip() for each in (file, *file.parent.glob(f"slot-*/{file.name}"))]
    assert shares in (["512", "1024", "1024"], ["50", "100", "100"])


def test_a_fork_above_the_cap_is_refused(slots: Slots) -> None:
    with guest(slots.take(), processes=4) as process:
        tell(process, FORKS)
        assert process.stdout
        assert process.stdout.readline() == b"3 11\n"


def test_threads_count_as_processes(slots: Slots) -> None:
    with guest(slots.take(), processes=4) as process:
        assert told(process, THREADS) == b"3\n"


def test_a_fork_bomb_is_killed_to_the_last_process(slots: Slots) -> None:
    slot = slots.take()
    with guest(slot, processes=50) as process:
        tell(process, BOMB)
        while slot.tasks() < 50:
            os.sched_yield()
        assert slot.kill()
        process.wait()


def test_two_heavy_slots_do_not_feel_each_other(slots: Slots) -> None:
    one, other = slots.take(), slots.take()
    with guest(one) as greedy, guest(other) as modest:
        assert told(greedy, grabs(128)) == b""
        assert told(modest, grabs(48)) == b"grabbed\n"
    assert (one.was_out_of_memory(), other.was_out_of_memory()) == (True, False)


def test_a_reused_slot_counts_from_zero_and_has_its_whole_limit(slots: Slots) -> None:
    slot = slots.take()
    with guest(slot) as process:
        told(process, grabs(128))
    assert slot.was_out_of_memory()
    slots.give_back(slot)
    assert slots.take() is slot
    with guest(slot) as process:
        first = slot.usage()
        assert slot.tasks() == 1
        assert told(process, grabs(48)) == b"grabbed\n"
        assert not slot.was_out_of_memory()
        assert 47 * MEGABYTE < slot.usage().memory_peak_bytes < 60 * MEGABYTE
    assert first.memory_peak_bytes < MEGABYTE
    assert first.cpu_seconds is None or first.cpu_seconds < 0.1


def test_a_slot_that_has_emptied_by_itself_is_taken_back_at_once_and_no_other(slots: Slots) -> None:
    slot = slots.take()
    assert not slots.settle(slot)  # a guest may still be on its way into it
    if not slot.reusable:
        pytest.skip("this kernel resets no peak: a slot is used once")
    with guest(slot) as process:
        assert not slots.settle(slot)
        assert told(process, grabs(48)) == b"grabbed\n"
        process.wait()
        assert slots.settle(slot)
    assert slots.take() is slot
    with guest(slot) as process:
        assert told(process, grabs(128)) == b""
        assert slot.was_out_of_memory()


def test_slots_beyond_those_that_may_keep_files_open_keep_none_and_bound_as_well(
    slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "KEPT_FILES", 2**40)
    slot = slots.take()
    for _ in range(2):
        before = set(Path("/proc/self/fd").iterdir())
        slot.entry_fds()
        with guest(slot) as process:
            assert told(process, grabs(128)) == b""
            assert slot.was_out_of_memory()
        slots.give_back(slot)
        assert set(Path("/proc/self/fd").iterdir()) == before
        if slots.take() is not slot:
            pytest.skip("this kernel resets no peak: a slot is used once")


def test_a_waiting_guests_limits_can_be_raised_and_lowered(slots: Slots) -> None:
    for megabytes, ends_well in ((32, False), (96, True)):
        slot = slots.take()
        with guest(slot, megabytes=64, processes=1) as process:
            slot.limit(megabytes * MEGABYTE, 3)
            assert (told(process, grabs(64)) == b"grabbed\n") is ends_well
            assert slot.was_out_of_memory() is not ends_well


def test_a_slot_is_reused_with_a_higher_and_a_lower_limit(slots: Slots) -> None:
    slot = slots.take()
    for megabytes, ends_well in ((32, False), (96, True), (32, False), (96, True)):
        with guest(slot, megabytes=megabytes) as process:
            assert (told(process, grabs(64)) == b"grabbed\n") is ends_well
            assert slot.was_out_of_memory() is not ends_well
        slots.give_back(slot)
        assert slots.take() is slot


def test_a_file_that_a_guest_read_is_not_left_in_the_next_guests_account(slots: Slots, tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(bytes(32 * MEGABYTE))
    fd = os.open(big, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    slot = slots.take()
    with guest(slot) as process:
        assert told(process, f"print(len(open({str(big)!r}, 'rb').read(1 << 25)))") == b"33554432\n"
    slots.give_back(slot)
    assert slots.take() is slot
    with guest(slot) as process:
        assert told(process, grabs(80)) == b""
        assert slot.was_out_of_memory()


def test_memory_from_before_the_move_does_not_count(slots: Slots) -> None:
    slot = slots.take()
    process = waiting(grabs(96))
    slot.enter(process.pid)
    slot.limit(64 * MEGABYTE, 4)
    assert told(process, grabs(48).replace("block", "more")) == b"grabbed\n"
    assert not slot.was_out_of_memory()


def test_a_process_enters_the_group_of_pids_first(slots: Slots) -> None:
    slot = slots.take()
    process = waiting()
    os.write(slot.entrances()[0], str(process.pid).encode())
    assert slot.tasks() == 1
    slot.kill()
    process.communicate()


def test_a_child_enters_by_itself_through_the_entry_fds(slots: Slots) -> None:
    slot = slots.take()
    entry_fds = slot.entry_fds()
    enters = f"import os\nfor fd in {entry_fds}:\n    os.write(fd, b'0')\n    os.close(fd)"
    process = waiting(enters, entry_fds)
    slot.limit(64 * MEGABYTE, 4)
    assert told(process, grabs(128)) == b""
    assert slot.was_out_of_memory()


def test_closing_kills_what_is_left_and_removes_every_group(controllers: Controllers) -> None:
    others = ours(controllers)
    slots = Slots(controllers)
    process = waiting()
    slots.take().enter(process.pid)
    slots.close()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert set(ours(controllers)) <= set(others)


def test_the_groups_of_a_killed_host_are_swept_and_those_of_a_living_one_are_not(controllers: Controllers) -> None:
    dies = """
import os, signal
from paddock.jail.walls import cgroup
slots = cgroup.Slots(cgroup.find())
slots.take()
print(slots._parents["pids"].name, slots._cleanup._process.pid, flush=True)
input()
"""
    host = subprocess.Popen([sys.executable, "-c", dies], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert host.stdout
    name, cleanup = host.stdout.readline().decode().split()
    os.kill(int(cleanup), signal.SIGKILL)  # so that only `sweep` cleans up
    cgroup.sweep(controllers)
    left = [parent / name / "slot-1" for parent in controllers.parents.values()]
    assert all(group.is_dir() for group in left)
    host.kill()
    host.communicate()
    cgroup.sweep(controllers)
    assert not any(group.parent.exists() for group in left)


def test_a_group_whose_number_was_given_to_another_process_is_swept(controllers: Controllers) -> None:
    mine = cgroup.own_name().split("-")
    older = "-".join([*mine[:2], str(int(mine[2]) - 1), *mine[3:]])
    foreign = "-".join([*mine[:2], str(int(mine[2]) - 1), "1", mine[4]])
    parent = controllers.parents["pids"]
    (parent / older).mkdir()
    (parent / foreign).mkdir()
    try:
        cgroup.sweep(controllers)
        assert ((parent / older).exists(), (parent / foreign).exists()) == (False, True)
    finally:
        (parent / foreign).rmdir()


def test_no_more_empty_slots_are_kept_than_are_soon_needed(slots: Slots) -> None:
    taken = [slots.take() for _ in range(MAX_FREE + 4)]
    for slot in taken:
        slots.give_back(slot)
    assert len(slots._free) == len(slots._all) == MAX_FREE


def test_what_was_found_to_work_is_noted_and_not_tried_again_in_the_same_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, controllers: Controllers
) -> None:
    record = tmp_path / "data" / "control-groups"
    found = cgroup.find(record)
    assert record.exists()
    monkeypatch.setattr(cgroup, "_try", lambda controllers: "tried again")
    assert cgroup.find(record) == found == controllers
    record.write_text(record.read_text().replace(" v", " elsewhere v"))
    assert "tried again" in str(cgroup.find(record))
