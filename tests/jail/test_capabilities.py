"""Privileges, given up in children."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from paddock.jail.walls import privileges
from paddock.jail.walls.syscalls import prctl
from tests.jail.forked import forked

ROOT = os.geteuid() == 0
EMPTY: dict[str, list[int]] = {"effective": [], "permitted": [], "inheritable": [], "bounding": [], "ambient": []}
GET_DUMPABLE = 3


def listed() -> dict[str, list[int]]:
    return {name: sorted(numbers) for name, numbers in privileges.held().items()}


def test_the_probe_finds_that_it_works() -> None:
    assert privileges.probe() is None


@pytest.mark.skipif(not ROOT, reason="an ordinary user cannot empty the bounding set")
def test_nothing_is_left_in_any_set() -> None:
    def trial() -> object:
        privileges.drop_all()
        return listed()

    assert listed()["effective"] != []
    assert forked(trial) == EMPTY


@pytest.mark.skipif(not ROOT, reason="only root has them to lose")
def test_the_bounding_set_emptied_before_a_change_of_uid_stays_empty_in_children() -> None:
    def trial() -> object:
        privileges.drop_bounding()
        os.setresuid(65534, 65534, 65534)

        def inner() -> object:
            privileges.drop_all()
            return listed()

        return forked(inner)

    assert forked(trial) == EMPTY


def test_without_privilege_dropping_all_leaves_the_bounding_set() -> None:
    def trial() -> object:
        if ROOT:
            os.setresuid(65534, 65534, 65534)
        before = listed()["bounding"]
        privileges.drop_all()
        return listed() == EMPTY | {"bounding": before}

    assert forked(trial) is True


def test_what_is_read_is_what_the_kernel_reports() -> None:
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    names = {"CapEff": "effective", "CapPrm": "permitted", "CapInh": "inheritable", "CapBnd": "bounding"}
    held = privileges.held()

    assert {field: int(status[field], 16) for field in names} == {
        field: sum(1 << number for number in held[name]) for field, name in names.items()
    }


def test_no_new_privileges_and_no_dump_are_set() -> None:
    def trial() -> object:
        privileges.no_new_privs()
        privileges.not_dumpable()
        return ["NoNewPrivs:\t1" in Path("/proc/self/status").read_text(), prctl(GET_DUMPABLE)]

    assert forked(trial) == [True, 0]


def test_a_child_dies_with_its_parent() -> None:
    alive, holds = os.pipe()
    parent = os.fork()
    if parent == 0:
        grandchild = os.fork()
        if grandchild == 0:
            privileges.die_with_parent(os.getppid())
            os.write(holds, b"ready")
            signal.pause()
        os.close(holds)
        os.read(alive, 5)
        os._exit(0)
    os.close(holds)
    os.waitpid(parent, 0)

    # The end of the pipe is the end of the last process that holds it.
    assert os.read(alive, 5) == b""
    os.close(alive)


def test_a_parent_that_died_earlier_is_noticed() -> None:
    pid = os.fork()
    if pid == 0:
        privileges.die_with_parent(os.getpid())  # as if the real one had been replaced
        os._exit(0)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
