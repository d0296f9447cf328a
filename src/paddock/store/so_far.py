"""What runs have printed so far: gathered in memory, written now and then, and never waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paddock.errors import StoreError
from paddock.store.run_records import NewRun

if TYPE_CHECKING:
    from paddock.store.writer import Item

SECONDS = 0.5
"""Between two writes of one run."""
CHARACTERS = 64 * 1024
"""The end of each stream that is kept while a run goes on; its result has the whole."""


@dataclass(slots=True)
class Begun:
    """A run that goes on."""

    new: NewRun
    at: float
    item: Item | None  # that it began, as the writer has it; None where that is written
    streams: dict[str, str] = field(default_factory=lambda: {"stdout": "", "stderr": ""})
    timer: asyncio.TimerHandle | None = None  # there is one while something is not written


class SoFar:
    """The runs of this process that go on. Belongs to one event loop."""

    def __init__(self, write: Callable[[str, dict[str, str]], None]) -> None:
        self._write = write
        self._runs: dict[str, Begun] = {}

    def begin(self, new: NewRun, at: float, item: Item | None = None) -> None:
        self._runs[new.id] = Begun(new, at, item)

    def add(self, run_id: str, stream: str, text: str) -> None:
        """Note what a run printed. It is written within half a second."""
        run = self._runs.get(run_id)
        if run is None:
            return
        run.streams[stream] = (run.streams[stream] + text)[-CHARACTERS:]
        if run.timer is None:
            run.timer = asyncio.get_running_loop().call_later(SECONDS, self.flush, run_id)

    def flush(self, run_id: str) -> None:
        """Hand to the writer what is not written yet."""
        run = self._runs.get(run_id)
        if run is None or run.timer is None:
            return
        run.timer.cancel()
        run.timer = None
        redact = run.new.redact
        streams = dict(run.streams) if redact is None else redact(run.streams)
        try:
            self._write(run_id, streams)
        except StoreError:
            return  # too much waits to be written, or the store is closed; the result will have it all

    def end(self, run_id: str) -> Begun | None:
        """Forget a run; what was known of it when it began."""
        run = self._runs.pop(run_id, None)
        if run is not None and run.timer is not None:
            run.timer.cancel()
        return run
