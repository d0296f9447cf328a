"""How often a server may be called: so many times in any minute."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

MINUTE_SECONDS = 60.0


class Rate:
    """Counts calls. Without a limit it counts none."""

    def __init__(self, calls_per_minute: int | None, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._now = calls_per_minute, now
        self._made: deque[float] = deque()

    def take(self) -> float:
        """Count a call that is made now; where that is one too many, it is not counted: the seconds to wait for it."""
        if self._most is None:
            return 0.0
        now = self._now()
        while self._made and self._made[0] <= now - MINUTE_SECONDS:
            self._made.popleft()
        if len(self._made) >= self._most:
            return self._made[0] + MINUTE_SECONDS - now
        self._made.append(now)
        return 0.0
