"""Landlock in the kernel, in children."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.jail.walls import landlock, privileges
from tests.jail.forked import forked

pytestmark = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("read", "write", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        (tmp_path / name / "run").write_text("#!/bin/true\n")
        (tmp_path / name / "run").chmod(0o755)
    return tmp_path


def behind(place: Path, *trials: Callable[[], object], execute: bool = True) -> object:
    """Of each trial "done" or the name of its error."""

    def both() -> list[str]:
        privileges.no_new_privs()
        runtime = ["/usr", "/lib", "/bin"]
        landlock.enforce(landlock.prepare([str(place / "read"), *runtime], [str(place / "write")], execute=execute))
        return [_outcome(trial) for trial in trials]

    return forked(both)


def _outcome(trial: Callable[[], object]) -> str:
    try:
        trial()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


def test_the_probe_finds_that_it_works() -> None:
    assert landlock.probe() is None


def test_paths_are_open_as_far_as_they_were_named(place: Path) -> None:
    read, write, other = (place / name for name in ("read", "write", "other"))

    assert behind(
        place,
        (read / "file").read_text,
        lambda: (read / "file").write_text("no"),
        (read / "new").mkdir,
        lambda: os.truncate(read / "file", 0),
        lambda: list(read.iterdir()),
        (write / "file").read_text,
        lambda: (write / "file").write_text("yes"),
        (write / "new").mkdir,
        lambda: (write / "file").rename(write / "new" / "file"),
        lambda: (write / "link").symlink_to(other),
        lambda: os.mkfifo(write / "fifo"),
        (write / "link" / "file").read_text,
        (other / "file").read_text,
        lambda: list(other.iterdir()),
        (other / "file").unlink,
        lambda: os.link(other / "file", write / "stolen"),
    ) == [
        *("done", "EACCES", "EACCES", "EACCES", "done"),
        *("done", "done", "done", "done", "done", "done"),
        *("EACCES", "EACCES", "EACCES", "EACCES", "EXDEV"),
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="others may not make devices anyway")
def test_no_device_is_made_where_writing_is_allowed(place: Path) -> None:
    null = os.makedev(1, 3)

    assert behind(place, lambda: os.mknod(place / "write" / "null", 0o20666, null)) == ["EACCES"]


def test_a_single_file_can_be_named(place: Path) -> None:
    def trial() -> list[str]:
        privileges.no_new_privs()
        landlock.enforce(landlock.prepare([str(place / "read" / "file")], ["/dev/null"]))
        return [
            _outcome((place / "read" / "file").read_text),
            _outcome((place / "read" / "run").read_text),
            _outcome(lambda: Path("/dev/null").write_text("x")),
            _outcome(lambda: Path("/dev/zero").read_bytes()),
        ]

    assert forked(trial) == ["done", "EACCES", "done", "EACCES"]


def test_of_a_listed_folder_only_names_can_be_read(place: Path) -> None:
    def trial() -> list[str]:
        privileges.no_new_privs()
        landlock.enforce(landlock.prepare([str(place / "read"), "/gone"], [], listed=[str(place)]))
        return [
            _outcome(lambda: list(place.iterdir())),
            _outcome((place / "read" / "file").read_text),
            _outcome(lambda: list((place / "other").iterdir())),
            _outcome((place / "other" / "file").read_text),
        ]

    assert forked(trial) == ["done", "done", "done", "EACCES"]


def test_programs_run_unless_execution_is_refused(place: Path) -> None:
    def run() -> object:
        return subprocess.run([place / "read" / "run"], check=True)

    def run_other() -> object:
        return subprocess.run([place / "other" / "run"], check=True)

    assert behind(place, run, run_other) == ["done", "EACCES"]
    assert behind(place, run, lambda: subprocess.run([sys.executable, "-V"], check=True), execute=False) == [
        "EACCES",
        "EACCES",
    ]


@pytest.mark.skipif(landlock.abi() < 4, reason="TCP needs Landlock 4")
def test_tcp_is_refused(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def connect() -> None:
            with socket.socket() as client:  # create_connection would import codecs, from anywhere
                client.connect(address)

        def listen() -> None:
            socket.create_server(("127.0.0.1", 0)).close()

        assert behind(place, connect, listen) == ["EACCES", "EACCES"]


@pytest.mark.skipif(landlock.abi() < 6, reason="scopes need Landlock 6")
def test_signals_and_abstract_sockets_stay_inside(place: Path) -> None:
    name = f"\0paddock-{os.getpid()}"
    parent = os.getpid()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()

        assert behind(
            place,
            lambda: os.kill(parent, 0),
            lambda: os.kill(os.getpid(), 0),
            lambda: os.kill(parent, signal.SIGCONT),
            lambda: socket.socket(socket.AF_UNIX).connect(name),
        ) == ["EPERM", "done", "EPERM", "EPERM"]


def test_a_ruleset_is_prepared_once_and_enforced_by_many(place: Path) -> None:
    ruleset = landlock.prepare([str(place / "read")], [])

    def trial() -> object:
        privileges.no_new_privs()
        landlock.enforce(ruleset)
        return [_outcome((place / "read" / "file").read_text), _outcome((place / "other" / "file").read_text)]

    assert [forked(trial), forked(trial)] == [["done", "EACCES"]] * 2
    os.close(ruleset)


def test_a_missing_path_to_write_to_is_an_error(place: Path) -> None:
    def trial() -> object:
        privileges.no_new_privs()
        return _outcome(lambda: landlock.prepare([], [str(place / "nowhere")]))

    assert forked(trial) == "ENOENT"


def test_an_older_kernel_is_asked_only_for_what_it_knows(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    for version in range(1, landlock.abi() + 1):
        monkeypatch.setattr(landlock, "_abi", version)
        assert behind(place, (place / "read" / "file").read_text, (place / "other" / "file").read_text) == [
            "done",
            "EACCES",
        ]
