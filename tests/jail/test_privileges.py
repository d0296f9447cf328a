"""Privileges and resource limits, given up in children."""

from __future__ import annotations

import os
import resource
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
    found = {
        name: {number for number in range(64) if mask >> number & 1}
        for name, mask in privileges.capability_sets().items()
    }
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


def test_the_defaults_hold_softly_and_hard() -> None:
    def trial() -> object:
        privileges.limit(privileges.DEFAULT_LIMITS)
        return {name: list(resource.getrlimit(privileges.LIMITS[name])) for name in privileges.DEFAULT_LIMITS}

    assert forked(trial) == {
        name: [privileges.SOFT_LIMITS.get(name, value), value] for name, value in privileges.DEFAULT_LIMITS.items()
    }


def test_a_limit_that_is_already_lower_stays() -> None:
    def trial() -> object:
        privileges.limit({"open_files": 64})
        privileges.limit({"open_files": 128})
        return resource.getrlimit(resource.RLIMIT_NOFILE)

    assert forked(trial) == [64, 64]


def test_a_limit_cannot_be_unlimited() -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        privileges.limit({"core": resource.RLIM_INFINITY})


def test_a_file_larger_than_allowed_ends_in_an_error(tmp_path: Path) -> None:
    def trial() -> object:
        privileges.limit({"file_bytes": 1000})
        try:
            (tmp_path / "big").write_bytes(bytes(2000))
        except OSError as error:
            return error.strerror
        return None

    # Python ignores SIGXFSZ.
    assert forked(trial) == "File too large"


def test_a_guest_past_its_cpu_time_is_killed_even_if_it_ignores_the_warning() -> None:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        privileges.limit({"cpu_seconds": 1})
        while True:
            pass

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
