"""When a reaper looks at the files of its guest."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import pytest

from paddock.jail import reaper
from paddock.jail.reaper import BEGIN, END, POLL_SECONDS, REST, REST_POLL_SECONDS


class Duty:
    """Notes what is done."""

    def __init__(self) -> None:
        self.done: list[object] = []

    def exceeds_disk_limit(self) -> bool:
        self.done.append("checked")
        return False

    def clean_up(self) -> None:
        self.done.append("cleaned up")


def test_the_files_of_an_idle_session_are_seldom_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    received = iter([None, REST, None, BEGIN, None, END])
    duty = Duty()

    def wait(_signals: set[signal.Signals], seconds: float) -> SimpleNamespace | None:
        duty.done.append(seconds)
        number = next(received)
        return None if number is None else SimpleNamespace(si_signo=int(number))

    monkeypatch.setattr(signal, "sigwait", lambda _signals: BEGIN)
    monkeypatch.setattr(signal, "sigtimedwait", wait)
    monkeypatch.setattr(os, "_exit", duty.done.append)
    reaper._reap(duty, -1)
    often, seldom = POLL_SECONDS, REST_POLL_SECONDS
    assert duty.done == [
        *(often, "checked", often),  # a run
        *(seldom, "checked", seldom),  # the session is frozen
        *(often, "checked", often),  # another run, and the end
        *("cleaned up", 0),
    ]


def test_of_two_signals_that_wait_the_kernel_delivers_the_one_last_that_ends_the_rest() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {BEGIN, REST})
    try:
        for number in (BEGIN, REST):
            signal.raise_signal(number)
        assert [signal.sigwait({BEGIN, REST}) for _ in range(2)] == [REST, BEGIN]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
