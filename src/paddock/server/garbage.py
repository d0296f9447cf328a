"""When a server collects garbage: while few runs are in progress.

A full collection looks at every object, about 700 for each call that waits or runs, and holds the event loop meanwhile:
over 0.1 s with 200 calls. It frees little, 10 to 30 objects for each run, so it can wait. Collections of young objects
take a few milliseconds and happen as usual.
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
FEW_RUNS = 20


@contextmanager
def collect_in_quiet_moments(count_runs: Callable[[], int]) -> Iterator[None]:
    """Within the block, make each full collection that is due once FEW_RUNS or fewer are in progress."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, OVERDUE)
    gc.freeze()  # modules stay, so no collection needs to look at their objects
    collecting = asyncio.create_task(_collect(count_runs))
    try:
        yield
    finally:
        collecting.cancel()
        gc.set_threshold(young, middle, old)


async def _collect(count_runs: Callable[[], int]) -> None:
    is_first = True
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        if gc.get_count()[2] >= DUE and count_runs() <= FEW_RUNS:
            gc.collect()
            if is_first:
                gc.freeze()  # the modules that the first runs have imported
            is_first = False
