"""When a reaper looks at the files of its guest."""

from __future__ import annotations

import os
import signal
import threading
from types import SimpleNamespace

import pytest

from paddock.jail import reaper
from paddock.jail.reaper import BEGIN, END, POLL_SECONDS, REST, REST_POLL_SECONDS
from paddock.jail.zygote import REPORT


class Duty:
    """Notes what is done."""

    def __init__(self) -> None:
        self.done: list[object] = []

    def exceeds_disk_limit(self) -> bool:
        self.done.append("checked")
        return False

    def free_bytes(self) -> tuple[int, int]:
        return 0, 0

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
    monkeypatch.setattr(reaper, "PATIENCE_SECONDS", 60)
    reaper._reap(duty, -1)
    often, seldom = POLL_SECONDS, REST_POLL_SECONDS
    assert duty.done == [
        *(often, "checked", often),  # a run
        *(seldom, "checked", seldom),  # the session is frozen
        *(often, "checked", often),  # another run, and the end
        *("cleaned up", 0),
    ]


class StuckDuty(Duty):
    """Its check returns when it is told to, and meanwhile the disk loses a byte whenever it is looked at."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self._free_bytes, self._most_bytes = 0, most_bytes

    def exceeds_disk_limit(self) -> bool:
        return not self.go_on.wait(60)

    def free_bytes(self) -> tuple[int, int]:
        self._free_bytes -= 1
        return self._free_bytes, self._most_bytes


@pytest.mark.parametrize(
    ("received", "most_bytes", "max_polls", "reported"),
    [
        ([None] * 5, 3, 60, [signal.SIGXFSZ]),
        ([None] * 5, 100, 0, [signal.SIGXFSZ]),
        ([None] * 5 + [END], 100, 60, []),
    ],
    ids=["the disk fills", "too long", "the host ends it"],
)
def test_a_check_that_does_not_return_keeps_no_guest_alive(
    monkeypatch: pytest.MonkeyPatch,
    received: list[int | None],
    most_bytes: int,
    max_polls: int,
    reported: list[int],
) -> None:
    signals = iter(received)
    duty = StuckDuty(most_bytes)
    monkeypatch.setattr(signal, "sigwait", lambda _signals: BEGIN)
    monkeypatch.setattr(
        signal,
        "sigtimedwait",
        lambda *_: None if (number := next(signals)) is None else SimpleNamespace(si_signo=int(number)),
    )
    monkeypatch.setattr(os, "_exit", duty.done.append)
    monkeypatch.setattr(reaper, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(reaper, "MAX_POLLS", max_polls)
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as report:
        reaper._reap(duty, theirs)
        os.close(theirs)
        assert [status for status, *_ in REPORT.iter_unpack(report.read())] == reported
    assert duty.done == ["cleaned up", 0]
    duty.go_on.set()


def test_of_two_signals_that_wait_the_kernel_delivers_the_one_last_that_ends_the_rest() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {BEGIN, REST})
    try:
        for number in (BEGIN, REST):
            signal.raise_signal(number)
        assert [signal.sigwait({BEGIN, REST}) for _ in range(2)] == [REST, BEGIN]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
