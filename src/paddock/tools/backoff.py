"""When to try again what failed before."""

from __future__ import annotations

import random
import time

FIRST_SECONDS = 0.5
MOST_SECONDS = 60.0
STEADY_SECONDS = 10.0
"""A connection that stood so long, or answered a call, is no sign of a server that cannot run."""


class Backoff:
    """At once after a steady connection; else twice as late each time, less up to a half by chance."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0
        self._stands_since: float | None = None

    def left_seconds(self) -> float:
        """How long to wait yet; nothing, or less, where there is no reason to."""
        if self._stands_since is not None and time.monotonic() - self._stands_since > STEADY_SECONDS:
            self.proved()
        return self._until - time.monotonic()

    def connected(self) -> None:
        """It stands. Whether it lasts is not known: one that ends at once was no better than a failure."""
        self._stands_since = time.monotonic()
        self._plan()

    def failed(self) -> None:
        self._stands_since = None
        self._plan()

    def proved(self) -> None:
        """It was of use."""
        self._failures, self._until = 0, 0.0

    def _plan(self) -> None:
        longest = min(FIRST_SECONDS * 2.0**self._failures, MOST_SECONDS)
        self._until = time.monotonic() + longest * random.uniform(0.5, 1.0)  # noqa: S311
        self._failures = min(self._failures + 1, 16)
