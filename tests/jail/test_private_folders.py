"""The folders of a guest without a file system of its own: they are measured, and emptied completely."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from paddock.jail import profile_chroot, profile_confined
from paddock.jail.uid_block import BLOCK_SIZE, LOCK_FILE, UidBlock
from paddock.jail.walls import quota, roots, shortage
from paddock.jail.walls.quota import Quota
from paddock.jail.walls.syscalls import MACHINE, NUMBERS
from paddock.jail.zygote import FIRST_UID

SOURCE = str(Path(quota.__file__).parents[3])
PROC = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)


def test_all_that_was_left_is_removed_and_nothing_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    folder = tmp_path / "guest"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "closed").mkdir()
    (folder / "closed" / "file").write_text("x")
    (folder / "closed").chmod(0)
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(folder / "socket"))
    roots.empty(str(folder))
    assert (list(folder.iterdir()), [path.name for path in outside.iterdir()]) == ([], ["kept"])


def test_folders_deeper_than_any_path_are_removed(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d" * 10, dir_fd=here)
        below = os.open("d" * 10, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert not Quota([str(tmp_path)], size_bytes=64 << 20, inodes=2000).exceeded()
    assert Quota([str(tmp_path)], size_bytes=64 << 20, inodes=1999).exceeded()
    roots.empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_another_user_is_neither_believed_nor_touched(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can make a folder of another user")
    with subprocess.Popen(["/bin/sleep", "60"]) as other:
        (tmp_path / profile_confined.PID).write_text(f"{other.pid} {profile_confined._stat(other.pid)[19]}")
        os.chown(tmp_path, 65534, 65534)
        spec: Any = SimpleNamespace(tmp_bytes=1 << 20, tmp_inodes=10)
        profile_confined.ConfinedDuty(tmp_path, spec).clean_up()
        assert (other.poll(), [each.name for each in tmp_path.iterdir()]) == (None, [profile_confined.PID])
        other.kill()


def test_the_name_of_a_guests_folder_does_not_tell_the_next() -> None:
    profile: Any = profile_confined.ConfinedProfile.__new__(profile_confined.ConfinedProfile)
    profile._prefix, profile._secret = "/dev/shm/paddock-1", b"x" * 16  # noqa: S108
    names = [profile._folder(SimpleNamespace(number=number)).name for number in range(50)]
    assert len({name.rpartition("-")[2][:8] for name in names}) == 50


def test_too_many_bytes_and_too_many_files_are_seen(tmp_path: Path) -> None:
    quota = Quota([str(tmp_path)], size_bytes=1 << 20, inodes=10)
    assert not quota.exceeded()
    (tmp_path / "large").write_bytes(b"x" * (2 << 20))
    assert quota.exceeded()
    (tmp_path / "large").unlink()
    assert not quota.exceeded()
    for number in range(11):
        (tmp_path / str(number)).touch()
    assert quota.exceeded()


def test_a_link_in_place_of_a_folder_does_not_make_other_files_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a guest in `confined` could find out how many files there are in a folder that it cannot read."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        (folder / "above" / "below").mkdir(parents=True)
    for number in range(11):
        (other / "above" / "below" / str(number)).touch()
    scan = os.scandir

    def replace_above(folder: int) -> Any:
        entries = scan(folder)
        if Path(f"/proc/self/fd/{folder}").readlink() == own / "above":
            (own / "above").rename(own / "moved")
            (own / "above").symlink_to(other / "above")
        return entries

    monkeypatch.setattr(os, "scandir", replace_above)
    assert not Quota([str(own)], size_bytes=1 << 20, inodes=10)._is_exceeded((), None)
    assert (own / "above").is_symlink()


def test_a_file_that_lost_its_name_counts_while_it_is_open(tmp_path: Path) -> None:
    quota = Quota([str(tmp_path)], size_bytes=1 << 20, inodes=10)
    with (tmp_path / "nameless").open("wb") as file:
        (tmp_path / "nameless").unlink()
        file.write(b"x" * (2 << 20))
        file.flush()
        assert not quota.exceeded()
        assert quota.exceeded([os.getpid()], PROC)
    assert not quota.exceeded([os.getpid()], PROC)


def test_nobody_takes_the_last_of_a_disk_that_was_full_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free_bytes, total = 1 << 20, 100 << 30
    monkeypatch.setattr("paddock.jail.walls.quota._free", lambda _: (free_bytes, total))
    quota = Quota([str(tmp_path)], size_bytes=64 << 20, inodes=10)
    assert not quota.exceeded()
    free_bytes = 10 << 30
    assert not quota.exceeded()
    free_bytes = 500 << 20
    assert quota.exceeded()


HEADLESS = """
import ctypes, os, sys, threading, time
file = open(sys.argv[1], "wb")
os.unlink(sys.argv[1])
file.write(b"x" * (2 << 20))
file.flush()
def stay():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.001)
    os.write(1, b"headless")
    time.sleep(60)
threading.Thread(target=stay).start()
ctypes.CDLL(None).syscall(int(sys.argv[2]), 0)
"""


def test_a_process_whose_first_thread_has_ended_is_there_and_so_are_its_files(tmp_path: Path) -> None:
    quota = Quota([str(tmp_path)], size_bytes=1 << 20, inodes=10)
    command = [sys.executable, "-I", "-S", "-c", HEADLESS, str(tmp_path / "nameless"), str(NUMBERS[MACHINE]["exit"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.read(8) == b"headless"
            assert process.pid in profile_chroot.pids_of_uid(os.getuid(), PROC)
            assert quota.exceeded([process.pid], PROC)
        finally:
            process.kill()
    assert not quota.exceeded([process.pid], PROC)


MAPPINGS = """
import mmap, os
pages = mmap.mmap(-1, 60_000 * 4096)
import ctypes
start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
for page in range(0, 60_000, 2):
    ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + page * 4096), 4096, 1)
os.write(1, b"mapped")
os.read(0, 1)
"""


def test_a_check_that_a_guest_makes_long_counts_as_exceeded(tmp_path: Path) -> None:
    quota = Quota([str(tmp_path)], size_bytes=1 << 20, inodes=10, mapped_bytes=1)
    command = [sys.executable, "-I", "-S", "-c", MAPPINGS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(6) == b"mapped"
        assert not quota.exceeded([process.pid], PROC)
        assert quota.exceeded([process.pid] * 50, PROC)
        process.kill()


def test_a_pool_of_workers_with_many_libraries_does_not_make_a_check_long(tmp_path: Path) -> None:
    quota = Quota([str(tmp_path)], size_bytes=1 << 20, inodes=10)
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", MAPPINGS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(6) == b"mapped"
        assert not quota.exceeded([process.pid] * 50, PROC)
        process.kill()


HIDES = """
import ctypes, os, signal, sys, threading, time
from paddock.jail.walls.quota import Quota
def stay(told):
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.001)
    os.write(told, b"x")
    time.sleep(60)
libc = ctypes.CDLL(None)
if os.getuid() == 0:
    os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
quota = Quota([sys.argv[1]], 1 << 20, 10)
proc = os.open("/proc", os.O_RDONLY)
for dumpable, is_headless in (1, False), (0, False), (0, True):
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        libc.prctl(4, dumpable, 0, 0, 0)
        if is_headless:
            threading.Thread(target=stay, args=[theirs]).start()
            libc.syscall(int(sys.argv[2]), 0)
        os.write(theirs, b"x")
        signal.pause()
    os.read(ours, 1)
    print(quota.exceeded([child], proc))
    os.kill(child, 9)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    print(quota.exceeded([child], proc))
"""


def test_a_process_that_hides_its_files_counts_as_exceeded_until_it_ends() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        command = [sys.executable, "-c", HIDES, folder, str(NUMBERS[MACHINE]["exit"])]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": SOURCE})
    assert done.stdout.split() == ["False", "False", "True", "False", "True", "False"]


CLOSED = """
import os
from paddock.jail.profile_chroot import pids_of_uid
from paddock.jail.walls import mounts, namespaces, privileges
namespaces.unshare(namespaces.NEW_MOUNT)
mounts.mount("none", "/", None, mounts.REC | mounts.PRIVATE)
mounts.mount("proc", "/proc", "proc", 0, "hidepid=1")
os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
privileges.make_dumpable()
print(os.getpid() in pids_of_uid(65534, os.open("/proc", os.O_RDONLY)))
"""


@pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root can mount /proc")
def test_a_reaper_finds_its_guest_where_it_may_not_read_about_the_processes_of_others() -> None:
    command = [sys.executable, "-c", CLOSED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": SOURCE})
    assert done.stdout == "True\n"


@pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root has ids of its own")
def test_no_other_user_can_keep_root_from_its_ids() -> None:
    base = (700_000 - os.getpid() % 100_000) * BLOCK_SIZE
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as name:
        name.bind(f"\0paddock-uids-{base}")
        block = UidBlock(base, BLOCK_SIZE)
        status = os.fstat(block.fd)
        assert (block.first, status.st_uid, status.st_mode & 0o777) == (base, 0, 0o600)
        block.close()


def test_ids_are_released_with_the_last_process_that_has_them() -> None:
    base = (700_000 - os.getpid() % 100_000) * BLOCK_SIZE
    block = UidBlock(base, BLOCK_SIZE)
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[block.fd]) as child:
        block.close()
        with pytest.raises(OSError, match="in use"):
            UidBlock(base, BLOCK_SIZE)
        child.communicate(b"\n")
    UidBlock(base, BLOCK_SIZE).close()


@pytest.mark.parametrize("lock_file", [LOCK_FILE, "/nowhere/paddock-uids"])
def test_ids_belong_to_one_paddock_at_a_time(monkeypatch: pytest.MonkeyPatch, lock_file: str) -> None:
    monkeypatch.setattr("paddock.jail.uid_block.LOCK_FILE", lock_file)
    base = (700_000 - os.getpid() % 100_000) * BLOCK_SIZE
    first = UidBlock(base, 2 * BLOCK_SIZE)
    second = UidBlock(base, 2 * BLOCK_SIZE)
    assert second.of_guest(FIRST_UID) == first.of_guest(FIRST_UID) + BLOCK_SIZE
    assert first.of_reaper(FIRST_UID) not in (first.of_guest(FIRST_UID), second.of_guest(FIRST_UID))
    with pytest.raises(OSError, match="are in use") as raised:
        UidBlock(base, 2 * BLOCK_SIZE)
    assert raised.value.errno in shortage.REMEDIES  # and so no reason for a weaker profile
    first.close()
    third = UidBlock(base, BLOCK_SIZE)
    assert third.of_guest(FIRST_UID) == base
    third.close()
    second.close()


def test_a_shortage_of_descriptors_does_not_change_how_ids_are_locked() -> None:
    base = (700_000 - os.getpid() % 100_000) * BLOCK_SIZE
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            UidBlock(base, BLOCK_SIZE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_lock_file_that_cannot_be_opened_now_is_no_reason_to_lock_ids_in_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.jail.uid_block.LOCK_FILE", str(tmp_path))
    with pytest.raises(IsADirectoryError):
        UidBlock((700_000 - os.getpid() % 100_000) * BLOCK_SIZE, BLOCK_SIZE)


def test_ids_of_paddocks_with_different_bases_do_not_overlap() -> None:
    base = (700_000 - os.getpid() % 100_000) * BLOCK_SIZE
    blocks = [UidBlock(base + more, 4 * BLOCK_SIZE) for more in (0, 1, 100)]
    assert [block.first for block in blocks] == [base, base + BLOCK_SIZE, base + 2 * BLOCK_SIZE]
    for block in blocks:
        block.close()


@pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root makes roots")
def test_a_root_has_copies_of_what_everyone_may_read_and_nothing_else(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "test").mkdir(parents=True)
    (source / "test" / "left_out").touch()
    (source / "tool").write_text("#!/bin/sh\n")
    (source / "tool").chmod(0o755)
    (source / "link").symlink_to("tool")
    (source / "secret").write_text("x")
    (source / "secret").chmod(0o640)
    (source / "setuid").write_text("x")
    (source / "setuid").chmod(0o4755)
    os.mkfifo(source / "pipe")
    root, held = roots.acquire(str(tmp_path / "roots"), [str(source)])
    again, _ = roots.acquire(str(tmp_path / "roots"), [str(source)])
    os.close(held)
    seen = root / str(source).lstrip("/")
    assert (again, sorted(path.name for path in seen.iterdir())) == (root, ["link", "tool"])
    assert (seen / "tool").stat().st_ino != (source / "tool").stat().st_ino
    assert ((seen / "link").readlink(), (seen / "tool").stat().st_mode & 0o7777) == (Path("tool"), 0o755)
    os.utime(source)
    changed, _ = roots.acquire(str(tmp_path / "roots"), [str(source)])
    assert changed != root


def test_a_block_that_is_closed_twice_closes_no_descriptor_of_others() -> None:
    block = UidBlock((700_000 - os.getpid() % 100_000) * BLOCK_SIZE, BLOCK_SIZE)
    block.close()
    with os.fdopen(os.open("/dev/null", os.O_RDONLY)) as other:  # it has the number that was the block's
        block.close()
        assert os.fstat(other.fileno())
