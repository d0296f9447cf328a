"""Streams that are closed, full or missing, and too few file descriptors: one line and a status, never a traceback."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.command import COMMAND, EMPTY, Ended, environment, on_a_terminal, paddock

COMMANDS = [["run", "-c", "1"], ["lint", "-c", "1"], ["doctor"], ["demo"], ["--version"], ["--help"], ["run", "--help"]]
NO_JAIL = {"PADDOCK_JAIL__PROFILE": "confined"}
"""With this `doctor` starts one engine instead of four, and prints as much."""
named = pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)


def settings(arguments: Sequence[str]) -> dict[str, str]:
    return environment(**NO_JAIL) if "doctor" in arguments else environment()


def in_a_shell(before: str, *arguments: str, redirect: str = "") -> Ended:
    """Run `paddock` as `before; paddock arguments redirect` does in a shell."""
    ran = subprocess.run(
        ["/bin/bash", "-c", f'{before}; exec "$@" {redirect}', "bash", *COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=EMPTY,
        env=settings(arguments),
        timeout=60,
        check=False,
    )
    return Ended(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


@named
def test_output_that_cannot_be_written_is_a_host_error(arguments: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full is Linux's")
    message = "Error: the output could not be written: No space left on device\n"
    assert in_a_shell(":", *arguments, redirect=">/dev/full") == Ended(3, "", message)


@pytest.mark.parametrize(
    "arguments",
    [pytest.param(each, marks=pytest.mark.thorough) if each == ["demo"] else each for each in COMMANDS],
    ids=" ".join,
)
def test_without_stdout_the_command_works_and_prints_nothing(arguments: list[str]) -> None:
    assert in_a_shell(":", *arguments, redirect=">&-") == Ended(0, "", "")


@named
def test_a_closed_pipe_ends_the_command_silently(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=EMPTY,
        env=settings(arguments),
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_a_closed_pipe_ends_the_demo_silently() -> None:
    ended = in_a_shell("set -o pipefail", redirect="demo | head -1")
    assert (ended.status, ended.out.count("\n"), ended.err) == (141, 1, "")


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full"])
def test_a_usage_error_keeps_its_exit_status_if_stderr_cannot_be_written(redirect: str) -> None:
    assert in_a_shell(":", "run", "--zzz", redirect=redirect) == Ended(2, "", "")
    assert in_a_shell(":", "run", "-c", "1", "--engine", "zzz", redirect=redirect) == Ended(2, "", "")


@pytest.mark.parametrize("files", [6, 12, 20])
@pytest.mark.parametrize("arguments", [["run", "-c", "1"], ["doctor"], ["demo"]], ids=" ".join)
def test_too_few_file_descriptors_are_a_host_error(arguments: list[str], files: int) -> None:
    message = "Error: this process cannot open enough files; raise the limit, for example with `ulimit -n 256`\n"
    assert in_a_shell(f"ulimit -n {files}", *arguments) == Ended(3, "", message)


def test_too_few_file_descriptors_are_not_reported_as_a_failure_of_ruff() -> None:
    ended = in_a_shell("ulimit -n 6", "lint", "-c", "1")
    reason = "([Errno 24] Too many open files): this machine or this process has reached a limit"
    assert ended == Ended(3, "", f"Error: a process for lint could not be started {reason}\n")


def test_a_terminal_gets_colours_and_with_no_color_no_style_at_all() -> None:
    assert "\x1b[1m" in on_a_terminal("doctor", **NO_JAIL)[1]
    status, shown = on_a_terminal("doctor", NO_COLOR="1", **NO_JAIL)
    assert (status, "\x1b" in shown) == (0, False)
    _, shown = on_a_terminal("demo", until="\r\n5. ", NO_COLOR="1")  # four examples, of every kind of part
    assert ("\n5. " in shown, "\x1b" in shown) == (True, False)


def test_a_script_and_its_inputs_may_come_from_a_pipe() -> None:
    substituted = "run <(echo 'a + 1') --inputs <(echo '{\"a\": 1}') --config <(echo 'engine = \"monty\"')"
    assert in_a_shell(":", redirect=substituted) == Ended(0, "2\n", "")
    assert paddock("run", "/dev/stdin", stdin="1 + 1") == Ended(0, "2\n", "")
    assert paddock("run", "-c", "a", "--inputs", "/dev/stdin", stdin='{"a": 3}') == Ended(0, "3\n", "")


def test_a_warning_of_a_command_does_nothing_to_the_terminal() -> None:
    program = "import logging; from paddock.cli.main import status_of; "
    program += r"status_of(lambda: logging.getLogger('mcp').warning('from an upstream: \x1b[2J') or 0)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == "from an upstream: \\x1b[2J\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only there a worker is started through a program of Paddock's")
def test_a_worker_of_monty_cannot_write_to_the_terminal() -> None:
    program = """
import os
from pathlib import Path
from paddock import Paddock
from tests.escape.traces import descendants
with Paddock() as paddock:
    paddock.run_sync("1", engine="monty")
    workers = [pid for pid in descendants(os.getpid()) if "monty" in Path(f"/proc/{pid}/comm").read_text()]
    print({os.readlink(f"/proc/{pid}/fd/2") for pid in workers})
"""
    master, slave = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=slave, text=True, timeout=60, check=True
    )
    os.close(slave)
    os.close(master)
    assert ran.stdout == "{'/dev/null'}\n"
