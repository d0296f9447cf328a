"""Whether the processes of an idle session are stopped, whatever they do to look so."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.jail.walls import freezer, watcher

ODD_NAME = "ctypes.CDLL(None).prctl(15, b'\\xff\\xfe', 0, 0, 0)\nprint(flush=True)\nsignal.pause()"  # PR_SET_NAME
NO_FIRST_THREAD = """
threading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(int, 1)]).start()
print(flush=True)
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)  # exit, of this thread alone
"""


VFORK = """
os.mkfifo(sys.argv[1])
print(flush=True)
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
"""
CHAIN = """
if os.fork() == 0:
    for _ in range(20):
        if os.fork():
            break
    else:
        print(flush=True)
signal.pause()
"""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def has_no_first_thread(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"


@pytest.mark.parametrize("program", [ODD_NAME, NO_FIRST_THREAD], ids=["a name that is not UTF-8", "no first thread"])
def test_a_process_is_stopped_when_all_its_threads_are(program: str) -> None:
    command = [sys.executable, "-c", f"import ctypes, platform, signal, threading, time\n{program}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            if program is NO_FIRST_THREAD:
                until(lambda: has_no_first_thread(process.pid))
            assert not freezer.is_stopped([process.pid])
            process.send_signal(signal.SIGSTOP)
            until(lambda: freezer.is_stopped([process.pid]))
            process.send_signal(signal.SIGCONT)
            until(lambda: not freezer.is_stopped([process.pid]))
        finally:
            process.kill()
    assert freezer.is_stopped([process.pid])  # it is gone


def test_a_process_that_waits_for_the_child_that_it_starts_is_stopped(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    with subprocess.Popen([sys.executable, "-c", f"import os, sys\n{VFORK}", fifo], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            until(lambda: len(watcher.tree(process.pid)) == 2)
            freezer.stop(lambda: {pid: each.start for pid, each in watcher.tree(process.pid).items()})
            until(lambda: freezer.is_stopped(watcher.tree(process.pid)))
        finally:
            freezer.kill(lambda: {pid: each.start for pid, each in watcher.tree(process.pid).items()})


def test_of_processes_that_are_each_others_parents_each_is_read_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", f"import os, signal\n{CHAIN}"]
    reads = 0
    read = watcher._process

    def counted(pid: int) -> object:
        nonlocal reads
        reads += 1
        return read(pid)

    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        pids = list(watcher.tree(process.pid))
        assert len(pids) > 20
        monkeypatch.setattr(watcher, "_process", counted)
        freezer.kill(lambda: {pid: each.start for pid, each in watcher.those_of(pids).items()})
    assert reads <= 5 * len(pids)
