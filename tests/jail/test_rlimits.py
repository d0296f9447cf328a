"""Limits, set in children."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import pytest

from paddock.jail.walls import privileges
from tests.jail.forked import forked


def test_the_defaults_hold_softly_and_hard() -> None:
    def trial() -> object:
        privileges.limit(privileges.DEFAULT_LIMITS)
        return {name: list(resource.getrlimit(privileges.LIMITS[name])) for name in privileges.DEFAULT_LIMITS}

    assert forked(trial) == {name: [value, value] for name, value in privileges.DEFAULT_LIMITS.items()}


def test_a_limit_that_is_already_lower_stays() -> None:
    def trial() -> object:
        privileges.limit({"open_files": 64})
        privileges.limit({"open_files": 128})
        return resource.getrlimit(resource.RLIMIT_NOFILE)

    assert forked(trial) == [64, 64]


def test_a_limit_cannot_be_unlimited_or_unknown() -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        privileges.limit({"core": resource.RLIM_INFINITY})
    with pytest.raises(ValueError, match="known are address_bytes"):
        privileges.limit({"memory": 1})


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
