"""Decides which runs may start: a bounded queue that is fair between callers.

A run waits if no slot is free. A free slot goes to the caller with the fewest runs in progress and, among equals, to
the one whose last start is longest ago. One caller gets at most three quarters of the slots, so its long runs never
block the short runs of another. A run that would make the queue too long is refused at once.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from paddock.errors import Overloaded

if TYPE_CHECKING:
    from paddock.config import ServerConfig

SHARE = 0.75
"""The largest share that one caller may have of the runs in progress, and of the waiting runs."""
USUAL_SECONDS = 1.0
"""The assumed average duration of a run until the first run has ended."""
MAX_CALLERS = 10_000
"""How many callers are remembered. Beyond that, the one whose last start is longest ago is forgotten."""
LONGEST_RETRY_SECONDS = 60.0
"""The longest time after which a refused caller is told to try again."""


class Slot:
    """The slot of one run. Entering it waits in the queue for the run's turn. Enter it once, or else call `leave`."""

    def __init__(self, queue: RunQueue, run_id: str, caller: str) -> None:
        self._queue = queue
        self.run_id, self.caller = run_id, caller
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # done when the run may start
        self._created_at = time.monotonic()
        self.started_at: float | None = None

    @property
    def waited_seconds(self) -> float:
        """How long the run has waited for its turn."""
        return (self.started_at or time.monotonic()) - self._created_at

    def leave(self) -> None:
        """Give the slot back, if it is still held."""
        self._queue.leave(self)

    async def wait(self) -> None:
        """Wait until the run may start. Raises Overloaded after `wait_seconds`. Call `leave` afterwards."""
        seconds = self._queue.settings.wait_seconds
        try:
            async with asyncio.timeout(seconds):
                await self.turn
        except TimeoutError:
            self.leave()
            raise self._queue.overloaded(f"the run has waited {seconds:g} s for its turn") from None
        except BaseException:
            self.leave()
            raise
        self.started_at = time.monotonic()

    async def __aenter__(self) -> None:
        await self.wait()

    async def __aexit__(self, *_: object) -> None:
        self.leave()


class RunQueue:
    """The slots of one server, for runs in progress and waiting runs.

        async with queue.slot(run_id, caller):
            ...  # the run

    `caller` is LOCAL, a principal or a peer address, never a connection, because one caller can open many.
    """

    def __init__(self, settings: ServerConfig) -> None:
        self.settings = settings
        self._waiting: list[Slot] = []  # oldest first
        self._running: list[Slot] = []
        self._counts: Counter[str] = Counter()  # runs in progress, by caller
        self._served: OrderedDict[str, int] = OrderedDict()  # when each caller last started a run, oldest first
        self._starts = 0
        self._average_seconds = USUAL_SECONDS

    def slot(self, run_id: str, caller: str) -> Slot:
        """Return a slot for one run, which must be entered or left. Raises Overloaded if the queue is full."""
        own = [each for each in self._waiting if each.caller == caller]
        if own or not self._has_room(caller):
            self._require("runs", len(self._waiting) + 1, self.settings.max_waiting)
            share = math.ceil(self.settings.max_waiting * SHARE)
            self._require("of your runs", len(own) + 1, min(self.settings.principal_waiting or share, share))
        slot = Slot(self, run_id, caller)
        self._waiting.append(slot)
        self._fill()
        return slot

    def change(self, settings: ServerConfig) -> None:
        """Use other settings from now on. Runs in progress go on, even if there are too many of them now."""
        self.settings = settings
        self._fill()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        return len(self._running)

    def position(self, run_id: str) -> int | None:
        """The run's position in the queue, counted from 1; None if it is not waiting."""
        return next((at for at, each in enumerate(self._waiting, 1) if each.run_id == run_id), None)

    def leave(self, slot: Slot) -> None:
        """Take the slot back, if it is still held, and let the next run start."""
        if slot in self._waiting:
            self._waiting.remove(slot)
        elif slot in self._running:
            self._running.remove(slot)
            self._counts -= Counter([slot.caller])  # forgets a caller without runs
            if slot.started_at is not None:
                self._average_seconds += (time.monotonic() - slot.started_at - self._average_seconds) / 10
            self._fill()

    def overloaded(self, message: str) -> Overloaded:
        """Return the error for a run that gets no slot. Its retry time estimates when all waiting runs have started."""
        seconds = self._average_seconds * (len(self._waiting) + 1) / self.settings.max_runs
        return Overloaded(message, round(min(max(seconds, 1.0), LONGEST_RETRY_SECONDS), 1))

    def _require(self, what: str, number: int, limit: float) -> None:
        if number > limit:
            raise self.overloaded(f"too many {what} are waiting already")

    def _has_room(self, caller: str) -> bool:
        """Whether a run of this caller may start now."""
        most = self.settings.max_runs
        share = max(1, math.floor(most * SHARE))
        return len(self._running) < most and self._counts[caller] < min(self.settings.principal_runs or share, share)

    def _fill(self) -> None:
        """Start waiting runs until no waiting run may start."""
        while len(self._running) < self.settings.max_runs:
            oldest: dict[str, Slot] = {}  # by caller
            for each in self._waiting:
                oldest.setdefault(each.caller, each)
            ready = [each for each in oldest.values() if self._has_room(each.caller)]
            if not ready:
                return
            first = min(ready, key=self._rank)  # `min` returns the oldest of equals
            self._waiting.remove(first)
            self._running.append(first)
            self._counts[first.caller] += 1
            self._starts += 1
            self._served[first.caller] = self._starts
            self._served.move_to_end(first.caller)
            if len(self._served) > MAX_CALLERS:
                self._served.popitem(last=False)
            if not first.turn.done():  # otherwise the wait was cancelled, and this slot is about to be left
                first.turn.set_result(None)

    def _rank(self, slot: Slot) -> tuple[int, int]:
        """The slot with the lowest rank starts first."""
        return self._counts[slot.caller], self._served.get(slot.caller, 0)
