"""Whether the processes of an idle session are stopped, whatever they do to look so."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.jail.walls import freezer

ODD_NAME = "ctypes.CDLL(None).prctl(15, b'\\xff\\xfe', 0, 0, 0)\nprint(flush=True)\nsignal.pause()"  # PR_SET_NAME
NO_FIRST_THREAD = """
threading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(int, 1)]).start()
print(flush=True)
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)  # exit, of this thread alone
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
