"""Ctrl-C, SIGTERM and a reader that goes away end a run cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import COMMAND, EMPTY, environment, started

SPIN = "print('started')\nwhile True:\n    pass"


def children(pid: int) -> list[int]:
    """The processes that `pid` started, as the kernel lists them."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        pytest.skip("this kernel does not list a process's children")
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def spinning() -> Iterator[subprocess.Popen[str]]:
    """A run that has printed its first line and would never end."""
    process = started("run", "-c", SPIN)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_and_its_worker(spinning: subprocess.Popen[str], number: int, status: int) -> None:
    workers = children(spinning.pid)
    spinning.send_signal(number)
    out, err = spinning.communicate(timeout=30)
    assert (spinning.returncode, out, err) == (status, "", "cancelled\n")
    assert workers
    assert not any(is_running(worker) for worker in workers)


def test_ctrl_c_that_reaches_the_worker_too_is_reported_as_cancelled(spinning: subprocess.Popen[str]) -> None:
    os.killpg(spinning.pid, signal.SIGINT)  # what a terminal does: the whole foreground group
    out, err = spinning.communicate(timeout=30)
    assert (spinning.returncode, out, err) == (130, "", "cancelled\n")


def test_ctrl_c_ends_a_run_whose_reader_does_not_read() -> None:
    process = started("run", "-c", "print('x' * 100)\nprint('y' * 500_000)\nwhile True:\n    pass")
    assert process.stdout is not None
    assert os.read(process.stdout.fileno(), 1) == b"x"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.communicate()[1] == "cancelled\n"


def test_a_killed_command_takes_its_worker_along(spinning: subprocess.Popen[str]) -> None:
    if not hasattr(os, "pidfd_open"):
        pytest.skip("only Linux kills a worker with its parent")
    import select

    workers = [os.pidfd_open(worker) for worker in children(spinning.pid)]
    spinning.kill()
    spinning.communicate()
    assert workers
    for worker in workers:
        readable, _, _ = select.select([worker], [], [], 30)
        os.close(worker)
        assert readable


def test_a_reader_that_goes_away_ends_the_run_quietly() -> None:
    code = "for i in range(1_000_000):\n    print(i)"
    process = subprocess.Popen(
        [*COMMAND, "run", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=EMPTY,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == b"0\n"
        process.stdout.close()
        assert (process.wait(timeout=30), process.stderr.read()) == (141, b"")
