"""When a server that failed is tried again."""

from __future__ import annotations

from paddock.tools.backoff import MOST_SECONDS, Backoff


def test_each_failure_waits_longer_than_half_of_the_longest_wait_before_up_to_a_minute() -> None:
    backoff = Backoff()
    assert backoff.left_seconds() <= 0
    waits = []
    for _ in range(20):
        backoff.failed()
        waits.append(backoff.left_seconds())
    expected = [min(0.5 * 2**number, MOST_SECONDS) for number in range(20)]
    assert all(most * 0.45 < wait <= most for wait, most in zip(waits, expected, strict=True))


def test_a_server_that_was_of_use_is_tried_again_at_once() -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff.failed()
    backoff.connected()
    assert backoff.left_seconds() > 0
    backoff.proved()
    assert backoff.left_seconds() <= 0
