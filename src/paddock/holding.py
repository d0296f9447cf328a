"""Events on their way to whoever watches, held back for a moment while a run may still begin anew elsewhere.

What a watcher was shown, a tool that was called and an artifact that was made cannot be taken back: from then on a run
stays where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from paddock.model.artifacts import Artifact
from paddock.model.events import Event, ToolCall

HOLD_SECONDS = 0.05

Watch = Callable[[Event], None]


class Held:
    """Passes events on: at once, or with `late` after a tool call or a moment. Nobody may be watching."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self.late = False
        self.has_left = False  # anything, out of the sandbox
        self._events: list[Event] = []
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, event: Event) -> None:
        called = isinstance(event, ToolCall | Artifact)
        self.has_left = self.has_left or called
        if self._watch is None:
            return
        self._events.append(event)
        if called or not self.late:
            self.release()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(HOLD_SECONDS, self.release)

    def release(self) -> None:
        """Pass on what is held, and hold nothing any more."""
        self._stop_timer()
        self.late = False
        events, self._events = self._events, []
        for event in events:
            self.has_left = True
            if self._watch is not None:
                self._watch(event)

    def forget(self) -> None:
        """The run begins anew: what it has said so far was never said."""
        self._stop_timer()
        self._events.clear()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
