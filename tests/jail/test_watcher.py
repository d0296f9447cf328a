"""The watcher against real processes. Limits are small, so that a hole shows without doing harm."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

import pytest

from paddock.jail.walls import watcher
from paddock.jail.walls.watcher import Watched, Watcher, held_bytes, tree
from tests.jail.hogs import (
    HEADLESS,
    MANY,
    MAPPINGS,
    MEGABYTE,
    PAGE_TABLES,
    QUIET,
    SHARED,
    SHARERS,
    VFORK,
    grabs,
    tell,
    told,
    waiting,
)

MAPPED = """
import mmap, os
fd = os.open('/dev/shm', os.O_TMPFILE | os.O_RDWR)
os.ftruncate(fd, 128 << 20)
block = mmap.mmap(fd, 128 << 20)
for at in range(0, 128 << 20, 4096):
    block[at] = 1
"""
STAYS = "\nimport time; time.sleep(60)"


@pytest.fixture(autouse=True)
def works() -> None:
    reason = watcher.probe()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


@pytest.fixture
def watches() -> Iterator[Watcher]:
    made = Watcher()
    yield made
    made.close()


class Seen(Watched):
    """A tree that is watched, and whether it has exceeded its limit."""

    exceeded: asyncio.Event


@contextlib.asynccontextmanager
async def watching(
    watches: Watcher, root: int, memory_bytes: int, *, at_once: Callable[[], None] = lambda: None
) -> AsyncIterator[Seen]:
    """Watch while the block runs. `at_once` is called in the watcher's thread before `exceeded` is set."""
    loop, exceeded = asyncio.get_running_loop(), asyncio.Event()

    def end(_watched: Watched) -> None:
        at_once()
        loop.call_soon_threadsafe(exceeded.set)

    watched = cast("Seen", watches.watch(root, memory_bytes, end))
    watched.exceeded = exceeded
    try:
        yield watched
    finally:
        watched.stop()


@contextlib.asynccontextmanager
async def guest(watches: Watcher, *, megabytes: int = 64) -> AsyncIterator[tuple[subprocess.Popen[bytes], Seen]]:
    """A process that is watched and waits for the text of its program."""
    process = waiting()
    try:
        async with watching(watches, process.pid, megabytes * MEGABYTE, at_once=lambda: end(process.pid)) as watched:
            yield process, watched
    finally:
        end(process.pid)
        process.communicate()


def end(root: int) -> None:
    seen = list(tree(root))
    # Parents stop first: one that waits for its children would end by itself when they are killed.
    # Children die first: a dead parent's children are no longer in its tree.
    for number, pids in ((signal.SIGSTOP, seen), (signal.SIGKILL, reversed(seen))):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


@pytest.mark.parametrize(
    "program",
    [grabs(128) + STAYS, SHARED + STAYS, MAPPED + STAYS, PAGE_TABLES + STAYS, MANY, HEADLESS],
    ids=["private", "shared", "mapped tmpfs", "page tables", "eight processes", "first thread gone"],
)
async def test_a_tree_above_its_limit_is_seen_and_can_be_ended_at_once(watches: Watcher, program: str) -> None:
    async with guest(watches) as (process, watched):
        tell(process, program)
        async with asyncio.timeout(30):
            await watched.exceeded.wait()
        assert process.wait(10) == -signal.SIGKILL
        assert (watched.memory_peak_bytes > 64 * MEGABYTE, watched.error) == (True, None)


async def test_what_the_kernel_keeps_for_mappings_counts(watches: Watcher) -> None:
    async with guest(watches, megabytes=14) as (process, watched):
        tell(process, MAPPINGS)
        async with asyncio.timeout(30):
            await watched.exceeded.wait()
        assert (watched.memory_peak_bytes > 14 * MEGABYTE, watched.error) == (True, None)


async def test_a_tree_that_rests_is_checked_seldom_until_it_goes_on(
    watches: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "REST_SECONDS", 3600.0)
    async with guest(watches) as (process, watched):
        assert (watched.check() or 3600.0) < watcher.REST_SECONDS
        watched.is_resting = True
        assert watched.check() == watcher.REST_SECONDS
        async with asyncio.timeout(30):
            while not watches._due or watches._due[0][0] < time.monotonic() + 1000:
                await asyncio.sleep(0.01)
        watches.resume(watched)
        tell(process, grabs(128) + STAYS)
        async with asyncio.timeout(30):
            await watched.exceeded.wait()


async def test_a_program_within_its_limit_is_left_alone_and_its_use_is_known(watches: Watcher) -> None:
    async with guest(watches) as (process, watched):
        tell(
            process,
            grabs(32) + "\nimport time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)" + STAYS,
        )
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.readline) == b"grabbed\n"
        assert await asyncio.to_thread(process.stdout.readline) == b"done\n"
        async with asyncio.timeout(30):
            while watched.memory_peak_bytes < 32 * MEGABYTE or watched.cpu_seconds < 0.2:
                await asyncio.sleep(0.01)
        assert watched.memory_peak_bytes < 40 * MEGABYTE
        assert not watched.exceeded.is_set()


@pytest.mark.parametrize("end", ["os.wait()", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"])
async def test_the_time_of_a_child_counts_once_after_it_has_ended(watches: Watcher, end: str) -> None:
    children = f"""
import os, signal, time
for _ in range(4):
    r, w = os.pipe()
    if not os.fork():
        while time.process_time() < 0.4: pass
        os.write(w, b"x")
        os._exit(0)
    os.close(w)
    {end}
    os.read(r, 1)
print("done", flush=True)
time.sleep(60)
"""
    async with guest(watches) as (process, watched):
        tell(process, children)
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.readline) == b"done\n"
        async with asyncio.timeout(30):
            while watched.cpu_seconds < 1.1:  # what a child uses after the last check may not count
                await asyncio.sleep(0.01)
        for _ in range(3):
            watched.check()
        assert watched.cpu_seconds < 2


async def test_a_process_that_is_not_found_for_a_moment_counts_once(
    watches: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = """
import os, time
if not os.fork():
    block = bytearray(b'x') * (30 << 20)
    while time.process_time() < 0.5: pass
    print("done", flush=True)
    time.sleep(60)
time.sleep(60)
"""
    async with guest(watches) as (process, watched):
        tell(process, child)
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.readline) == b"done\n"
        find = watcher._children
        for is_blind in (False, True, False, True, False):
            monkeypatch.setattr(watcher, "_children", (lambda *_: []) if is_blind else find)
            watched.check()
            assert watched.held_bytes > 30 * MEGABYTE
        assert 0.4 < watched.cpu_seconds < 0.9


async def test_the_time_that_a_reaper_takes_for_its_checks_does_not_count(watches: Watcher) -> None:
    checking = "import time\nwhile time.process_time() < 0.5: pass\nprint('checked', flush=True)" + STAYS
    reaper, first = waiting(), waiting()
    try:
        watched = watches.watch(reaper.pid, 64 * MEGABYTE, lambda _: None, [first.pid])
        for process in (reaper, first):
            tell(process, checking)
            assert process.stdout
            assert await asyncio.to_thread(process.stdout.readline) == b"checked\n"
        watched.check()
        assert 0.3 < watched.cpu_seconds < 0.9
        watched.stop()
    finally:
        for process in (reaper, first):
            end(process.pid)
            process.communicate()


async def test_a_run_goes_on_counting_after_a_child_of_an_earlier_run_has_ended(watches: Watcher) -> None:
    runs = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
r, w = os.pipe()
if not os.fork():
    while time.process_time() < 0.6: pass
    os.read(r, 1)
    os._exit(0)
print("begun", flush=True)
signal.sigwait([signal.SIGUSR1])
os.write(w, b"x")
try: os.wait()
except ChildProcessError: pass
begin = time.process_time()
while time.process_time() < begin + 0.4: pass
print("done", flush=True)
time.sleep(60)
"""
    async with guest(watches) as (process, watched):
        tell(process, runs)
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.readline) == b"begun\n"
        async with asyncio.timeout(30):
            while watched.cpu_seconds < 0.5:
                await asyncio.sleep(0.01)
        watched.renew(64 * MEGABYTE)
        process.send_signal(signal.SIGUSR1)
        assert await asyncio.to_thread(process.stdout.readline) == b"done\n"
        async with asyncio.timeout(30):
            while watched.cpu_seconds < 0.3:
                await asyncio.sleep(0.01)


async def test_children_that_only_share_their_parents_memory_are_not_counted_again(watches: Watcher) -> None:
    async with guest(watches, megabytes=96) as (process, watched):
        tell(process, SHARERS)
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.readline) == b"shared\n"
        for _ in range(5):
            assert watched.check() is not None
        assert not watched.exceeded.is_set()


async def test_copies_of_shared_memory_are_counted_however_quickly_they_are_made(watches: Watcher) -> None:
    async with guest(watches, megabytes=32) as (process, watched):
        tell(process, QUIET.replace("WAIT", "1"))
        async with asyncio.timeout(30):
            await watched.exceeded.wait()
        assert watched.memory_peak_bytes > 32 * MEGABYTE


async def test_a_child_between_vfork_and_exec_is_not_counted_again(watches: Watcher, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with guest(watches, megabytes=120) as (process, watched):
        tell(process, VFORK.replace("PIPE", repr(str(pipe))))
        async with asyncio.timeout(30):
            while len(seen := tree(process.pid)) < 2:
                await asyncio.sleep(0.001)
        assert min(each.memory_bytes for each in seen.values()) > 80 * MEGABYTE
        for _ in range(5):
            assert watched.check() is not None
        pipe.write_bytes(b"")
        assert await asyncio.to_thread(process.wait, 10) == 0
        assert not watched.exceeded.is_set()


async def test_two_heavy_trees_do_not_feel_each_other(watches: Watcher) -> None:
    async with guest(watches) as (greedy, one), guest(watches) as (modest, other):
        tell(greedy, grabs(128) + STAYS)
        assert await asyncio.to_thread(told, modest, grabs(48)) == b"grabbed\n"
        async with asyncio.timeout(30):
            await one.exceeded.wait()
        assert (modest.returncode, other.exceeded.is_set()) == (0, False)


async def test_a_tree_that_is_no_longer_watched_is_left_alone(watches: Watcher) -> None:
    process = waiting()
    async with watching(watches, process.pid, MEGABYTE) as watched:
        pass
    assert told(process, grabs(32)) == b"grabbed\n"
    assert not watched.exceeded.is_set()


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), IndexError("of a file that is cut off")])
async def test_a_tree_that_cannot_be_read_counts_as_exceeded_and_others_are_watched_on(
    watches: Watcher, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async with guest(watches) as (_, watched), guest(watches) as (process, other):

        def hidden(root: int) -> dict[int, watcher.Process]:
            if root != process.pid:
                raise error
            return tree(root)

        monkeypatch.setattr(watcher, "tree", hidden)
        async with asyncio.timeout(30):
            await watched.exceeded.wait()
            assert (watched.error, other.exceeded.is_set()) == (error, False)
            tell(process, grabs(128) + STAYS)
            await other.exceeded.wait()


async def test_whoever_fails_to_end_a_tree_is_told_again(watches: Watcher, caplog: pytest.LogCaptureFixture) -> None:
    process = waiting()
    told_of = 0
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fails_once(_: Watched) -> None:
        nonlocal told_of
        told_of += 1
        if told_of == 1:
            raise OSError("no")
        end(process.pid)
        loop.call_soon_threadsafe(ended.set)

    watches.watch(process.pid, MEGABYTE, fails_once)
    tell(process, grabs(32) + STAYS)
    async with asyncio.timeout(30):
        await ended.wait()
    assert "could not be ended" in caplog.text
    process.communicate()


def test_a_dead_process_that_is_buried_while_its_threads_are_listed_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    read = watcher._read

    def dead(path: str) -> bytes:
        if not path.endswith("/stat"):
            return read(path)
        before, _, fields = read(path).rpartition(b")")
        others = fields.split()[1:]
        others[16] = b"2"  # threads
        return before + b") " + b" ".join([b"Z", *others])

    monkeypatch.setattr(watcher, "_read", dead)
    monkeypatch.setattr(os, "scandir", lambda _: iter(()))
    assert tree(os.getpid()) == {}


def test_growth_while_counting_pauses_is_counted_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def show(child_bytes: int, held: int) -> None:
        processes = {
            1: watcher.Process(1, 0, 10, 0, 0, 0.0, 0.0, 1, 1),
            2: watcher.Process(2, 1, child_bytes, 0, 0, 0.0, 0.0, 2, 2),
        }
        monkeypatch.setattr(watcher, "tree", lambda *roots: processes)
        monkeypatch.setattr(watcher, "held_bytes", lambda processes: held)

    monkeypatch.setattr(watcher, "tree", lambda *roots: {1: watcher.Process(1, 0, 10, 0, 0, 0.0, 0.0, 1, 1)})
    exceeded: list[Watched] = []
    watched = Watched(1, 100, exceeded.append)
    show(200, held=50)
    watched.check()
    assert watched.wants_visit()
    watched.visit()
    watched._visit_after = math.inf
    show(300, held=500)
    watched.check()
    assert not watched.wants_visit()
    watched._visit_after = 0.001
    watched.check()  # the tree has not changed since the last check
    assert watched.wants_visit()
    watched.visit()
    watched.check()
    assert exceeded == [watched]


async def test_a_tree_whose_pages_take_long_to_count_does_not_keep_others_from_being_checked(
    watches: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting, counted = threading.Event(), threading.Event()

    def held_slowly(processes: Iterable[watcher.Process]) -> int:
        counting.set()
        counted.wait()
        return 0

    monkeypatch.setattr(watcher, "held_bytes", held_slowly)
    async with guest(watches) as (slow, _), guest(watches) as (greedy, watched):
        tell(slow, SHARERS)
        assert await asyncio.to_thread(counting.wait, 30)
        tell(greedy, grabs(96))
        try:
            async with asyncio.timeout(30):
                await watched.exceeded.wait()
        finally:
            counted.set()
        assert greedy.wait(10) == -signal.SIGKILL


async def test_what_is_gone_is_not_watched(watches: Watcher) -> None:
    process = waiting()
    process.kill()
    process.communicate()
    with pytest.raises(ProcessLookupError, match="no process"):
        async with watching(watches, process.pid, MEGABYTE):
            pass


def test_the_tree_is_the_same_where_the_kernel_lists_no_children(monkeypatch: pytest.MonkeyPatch) -> None:
    process = waiting()
    try:
        listed = set(tree(process.pid)), process.pid in tree(os.getpid())
        monkeypatch.setattr(watcher, "_CHILDREN_LISTED", False)
        assert (set(tree(process.pid)), process.pid in tree(os.getpid())) == listed == ({process.pid}, True)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become someone who may not read everything")
def test_a_process_that_hides_its_pages_and_mappings_counts_in_full() -> None:
    hides = """
import ctypes, os, time
from paddock.jail.walls.watcher import held_bytes, mapping_bytes, tree
libc = ctypes.CDLL(None)
os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
libc.prctl(4, 1, 0, 0, 0)
ours, theirs = os.pipe()
child = os.fork()
if not child:
    libc.prctl(4, 0, 0, 0, 0)
    block = bytearray(b'x') * (32 << 20)
    start = ctypes.addressof(ctypes.c_char.from_buffer(block)) // 4096 * 4096 + 4096
    for page in range(0, 8000, 2):
        libc.mprotect(ctypes.c_void_p(start + page * 4096), 4096, 1)
    os.write(theirs, b'x')
    time.sleep(60)
os.read(ours, 1)
try:
    open(f'/proc/{child}/smaps_rollup').read()
except PermissionError:
    print(held_bytes(tree(child).values()) >= 32 << 20)
    print(mapping_bytes(tree(child).values(), 64 << 20) > 8000 * 256)
os.kill(child, 9)
"""
    source = str(Path(watcher.__file__).parents[3])
    done = subprocess.run([sys.executable, "-c", hides], capture_output=True, check=True, env={"PYTHONPATH": source})
    assert done.stdout == b"True\nTrue\n"


def test_a_pool_that_ends_while_it_is_counted_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(os.getpid(), 64 * MEGABYTE, lambda _: None)
    counts = iter([1024 * MEGABYTE, 16 * MEGABYTE])
    monkeypatch.setattr(watcher, "held_bytes", lambda _: next(counts))
    watched._is_stale = True
    watched.visit()
    assert watched._exact < 64 * MEGABYTE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up a part of its rights")
def test_root_sees_which_processes_share_memory_without_the_right_to_trace() -> None:
    sees = """
import ctypes, os, sys, time
from paddock.jail.walls.watcher import _same_memory, tree
from tests.jail.setting import CONTAINER, keep_capabilities
holder = os.fork()
if not holder:
    os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
    if not os.fork():
        time.sleep(60)
    os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
    os._exit(0)
keep_capabilities(CONTAINER)
while len(found := tree(holder)) < 3:
    pass
forked, spawned = sorted(found.keys() - {holder})
print(_same_memory(holder, forked), _same_memory(forked, holder))
print(_same_memory(holder, spawned), _same_memory(spawned, holder))
for pid in found:
    os.kill(pid, 9)
os.waitid(os.P_PID, holder, os.WEXITED | os.WNOWAIT)
print(_same_memory(holder, os.getpid()), _same_memory(os.getpid(), holder))
"""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        os.mkfifo(f"{folder}/pipe")
        source = Path(watcher.__file__).parents[3]
        done = subprocess.run(
            [sys.executable, "-c", sees, f"{folder}/pipe"],
            capture_output=True,
            check=True,
            env={"PYTHONPATH": f"{source}:{source.parent}"},
        )
    assert done.stdout == b"False False\nTrue True\nFalse False\n"


def test_the_memory_of_two_sharers_adds_up_to_what_they_share() -> None:
    process = waiting()
    assert process.stdout
    tell(process, SHARERS)
    assert process.stdout.readline() == b"shared\n"
    seen = tree(process.pid)
    try:
        assert len(seen) == 5
        assert sum(each.memory_bytes for each in seen.values()) > 5 * 48 * MEGABYTE
        assert 48 * MEGABYTE < held_bytes(seen.values()) < 64 * MEGABYTE
    finally:
        end(process.pid)
        process.communicate()
