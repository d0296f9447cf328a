"""When a server collects garbage: while no run is in progress.

A full collection looks at every object, about 700 for each call that waits or runs, and holds the event loop meanwhile:
over 0.1 s with 200 calls. It frees 10 to 40 objects for each run, most of them of cancelled tasks of anyio, so it can
wait. Collections of young objects take a few milliseconds and happen as usual.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CHECK_SECONDS = 1.0
DUE = 10
"""A full collection is due after so many collections of the middle generation: Python's own threshold."""
OVERDUE = 200
"""It takes place after so many, whatever is in progress: some 7,000 runs, which leave about 20 MB of garbage."""


@contextmanager
def collect_when_idle(is_idle: Callable[[], bool]) -> Iterator[None]:
    """Within the block, make each full collection that is due once `is_idle()`."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, OVERDUE)
    gc.freeze()  # modules stay, so no collection needs to look at their objects
    collecting = asyncio.create_task(_collect(is_idle))
    try:
        yield
    finally:
        collecting.cancel()
        gc.set_threshold(young, middle, old)


async def _collect(is_idle: Callable[[], bool]) -> None:
    is_first = True
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        if gc.get_count()[2] >= DUE and is_idle():
            gc.collect()
            if is_first:
                gc.freeze()  # the modules that the first runs have imported
            is_first = False
