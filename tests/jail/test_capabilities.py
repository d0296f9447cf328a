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
AMBIENT, AMBIENT_IS_SET = 47, 1


def held() -> dict[str, set[int]]:
    """The capabilities in each of the five sets, by number."""
    found = {name: {number for number in range(64) if mask >> number & 1} for name, mask in privileges.sets().items()}
    found["bounding"] = privileges._bounding()
    found["ambient"] = {number for number in found["permitted"] if prctl(AMBIENT, AMBIENT_IS_SET, number)}
    return found


def listed() -> dict[str, list[int]]:
    return {name: sorted(numbers) for name, numbers in held().items()}


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
    found = held()

    assert {field: int(status[field], 16) for field in names} == {
        field: sum(1 << number for number in found[name]) for field, name in names.items()
    }


def test_no_new_privileges_is_set() -> None:
    def trial() -> object:
        privileges.no_new_privs()
        return "NoNewPrivs:\t1" in Path("/proc/self/status").read_text()

    assert forked(trial) is True


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
