"""Ctrl-C, SIGTERM and a closed pipe end a command cleanly at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.anomaly import processes
from tests.cli.command import COMMAND, EMPTY, environment, started

BOTH = pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
SPIN = "print('started')\nwhile True:\n    pass"


def descendants(pid: int) -> list[int]:
    """The descendants of the process `pid`."""
    with suppress(FileNotFoundError, ProcessLookupError):  # one that has just ended
        return [each for child in processes.children(pid) for each in (child, *descendants(child))]
    return []


def cmdline(pid: int) -> bytes:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@pytest.fixture(params=["monty", "cpython"])
def spinning(request: pytest.FixtureRequest, bare: str) -> Iterator[subprocess.Popen[str]]:
    """A run that has printed its first line and would never end, on either engine."""
    process = started("run", "-c", SPIN, "--engine", request.param, "--config", bare)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    yield process
    process.kill()
    process.communicate()


@BOTH
def test_a_signal_ends_the_run_and_its_processes(spinning: subprocess.Popen[str], number: int, status: int) -> None:
    workers = descendants(spinning.pid)
    spinning.send_signal(number)
    out, err = spinning.communicate(timeout=30)
    assert (spinning.returncode, out, err) == (status, "", "cancelled\n")
    assert workers
    processes.wait_until_gone(workers)


def test_ctrl_c_that_reaches_the_worker_too_is_reported_as_cancelled(spinning: subprocess.Popen[str]) -> None:
    workers = descendants(spinning.pid)
    os.killpg(spinning.pid, signal.SIGINT)  # what a terminal does: the whole foreground group
    out, err = spinning.communicate(timeout=30)
    assert (spinning.returncode, out, err) == (130, "", "cancelled\n")
    processes.wait_until_gone(workers)


def test_ctrl_c_ends_a_run_whose_reader_does_not_read() -> None:
    process = started("run", "-c", "print('x' * 100)\nprint('y' * 500_000)\nwhile True:\n    pass")
    assert process.stdout is not None
    assert os.read(process.stdout.fileno(), 1) == b"x"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.communicate()[1] == "cancelled\n"


def test_the_processes_of_a_killed_command_end_too(spinning: subprocess.Popen[str]) -> None:
    workers = descendants(spinning.pid)
    spinning.kill()
    spinning.communicate()
    assert workers
    processes.wait_until_gone(workers)


def test_a_closed_pipe_ends_the_run_silently() -> None:
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


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def waiting(fifo: Path, *arguments: str) -> subprocess.Popen[str]:
    """A run that has read its inputs from `fifo`; what it reads next is its script."""
    process = subprocess.Popen(
        [*COMMAND, "run", "--inputs", str(fifo), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=EMPTY,
        env=environment(),
    )
    fifo.write_text("{}")  # opening it waits for the reader
    return process


@BOTH
def test_a_signal_ends_a_run_that_waits_for_its_script_on_standard_input(fifo: Path, number: int, status: int) -> None:
    process = waiting(fifo)
    process.send_signal(number)
    assert process.wait(timeout=30) == status  # its standard input is still open
    assert process.communicate() == ("", "cancelled\n")


@BOTH
def test_a_signal_ends_a_run_that_waits_for_the_writer_of_a_pipe(fifo: Path, number: int, status: int) -> None:
    script = fifo.with_name("script.py")
    os.mkfifo(script)
    process = waiting(fifo, str(script))
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (status, "", "cancelled\n")


def test_a_script_that_comes_late_through_a_pipe_is_run(fifo: Path) -> None:
    process = waiting(fifo)
    assert process.communicate("1 + 1", timeout=30) == ("2\n", "")


MOMENTS = [
    (["run", "-c", "1"], ["typer", "paddock.cli.render", "paddock.config", "asyncio", "paddock.engines.jailed"]),
    (["demo"], ["textwrap"]),
    (["lint", "-c", "1"], ["paddock.linter"]),
    (["doctor"], ["statistics"]),
]


@pytest.mark.parametrize(
    ("arguments", "module", "number", "status"),
    [
        (arguments, module, number, status)
        for arguments, modules in MOMENTS
        for place, module in enumerate(modules)
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143))
        if number == signal.SIGINT or place == 0  # both signals at one point of each command
    ],
)
def test_a_signal_in_the_middle_of_an_import_is_a_cancelled_command(
    arguments: list[str], module: str, number: int, status: int
) -> None:
    code = f"""
import os, runpy, sys

class Signals:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {int(number)})

sys.meta_path.insert(0, Signals())
sys.argv = ["paddock", *{arguments}]
runpy.run_module("paddock", run_name="__main__")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=EMPTY, env=environment(), check=False
    )
    assert (ran.returncode, ran.stderr) == (status, "cancelled\n")


def test_a_second_ctrl_c_prints_nothing_more(spinning: subprocess.Popen[str]) -> None:
    spinning.send_signal(signal.SIGINT)
    spinning.send_signal(signal.SIGINT)
    _, err = spinning.communicate(timeout=30)
    assert spinning.returncode in {130, -signal.SIGINT}
    assert err in {"cancelled\n", ""}


def test_a_second_ctrl_c_during_shutdown_prints_nothing_more(spinning: subprocess.Popen[str]) -> None:
    assert spinning.stderr is not None
    spinning.send_signal(signal.SIGINT)
    assert spinning.stderr.readline() == "cancelled\n"
    spinning.send_signal(signal.SIGINT)
    _, err = spinning.communicate(timeout=30)
    assert (spinning.returncode in {130, -signal.SIGINT}, err) == (True, "")


@BOTH
def test_a_signal_ends_lint_and_its_linter(number: int, status: int) -> None:
    process = started("lint", "-c", "1")
    linting = None
    while linting is None:  # caught before it has become Ruff, which ends quickly
        assert process.poll() is None
        linting = next((pid for pid in processes.children(process.pid) if b"exec_jailed" in cmdline(pid)), None)
    os.kill(linting, signal.SIGSTOP)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (status, "", "cancelled\n")
    processes.wait_until_gone([linting])  # the kernel ends it if the signal came before the command knew it
