"""What a server holds for clients, and for how long."""

from __future__ import annotations

from paddock.server.caller import CONNECTION, Sessions


def test_a_session_that_nobody_used_for_long_is_forgotten_and_others_stay() -> None:
    time = [0.0]
    sessions = Sessions(idle_seconds=100, now=lambda: time[0])
    first, lasting = sessions.of("first"), sessions.of("second")
    time[0] = 90
    assert sessions.of("second") is lasting
    time[0] = 150
    assert sessions.of("second") is lasting
    assert len(sessions) == 1
    assert sessions.of("first") is not first


def test_the_one_over_stdio_lasts_as_long_as_the_process() -> None:
    time = [0.0]
    sessions = Sessions(idle_seconds=100, now=lambda: time[0])
    only = sessions.of(CONNECTION)
    time[0] = 10_000
    assert sessions.of(CONNECTION) is only
