"""Tells a caller how far its run is, in order and beside the run."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from paddock.model.events import Event, Output, Progress
from paddock.server.caller import Report

STILL_SECONDS = 10.0
"""A run that says nothing is said to be still running this often: a client may give up on one that is silent."""
WAITING = 100
"""Of what a caller has not heard yet, the newest: a script may report more than a client can read."""
log = logging.getLogger(__name__)


class Telling:
    """Watches one run. A run that has nothing to tell costs a timer and no task."""

    def __init__(self, report: Report, printed: Callable[[str, str], None]) -> None:
        self._report, self._printed = report, printed
        self._events: deque[Progress] = deque(maxlen=WAITING)
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._still = self._loop.call_later(STILL_SECONDS, self._say_still, STILL_SECONDS)

    def __call__(self, event: Event) -> None:
        if isinstance(event, Output):
            self._printed(event.stream, event.text)
        elif isinstance(event, Progress):
            self._still.cancel()  # the script says itself how far it is
            self._tell(event)

    async def told(self) -> None:
        """Return when the caller has heard all that waits; it cannot be told once it has the result."""
        self._still.cancel()
        if self._task is not None:
            await self._task

    def end(self) -> None:
        self._still.cancel()
        if self._task is not None:
            self._task.cancel()

    def _say_still(self, waited: float) -> None:
        self._tell(Progress(waited, None, f"still running after {waited:g} s"))
        self._still = self._loop.call_later(STILL_SECONDS, self._say_still, waited + STILL_SECONDS)

    def _tell(self, event: Progress) -> None:
        self._events.append(event)
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._report_all())

    async def _report_all(self) -> None:
        while self._events:
            event = self._events.popleft()
            try:
                await self._report(event.done, event.total, event.message)
            except Exception as problem:  # noqa: BLE001  whatever the transport has: the run goes on, or is cancelled
                log.debug("progress could not be told: %s", problem)
