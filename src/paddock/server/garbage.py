"""When a server collects garbage: while no run is in progress.

A full collection looks at every object, about 700 for each call that waits or runs, and holds the event loop meanwhile:
over 0.1 s with 200 calls. So it waits. Younger objects are collected at all times, but not as often as usual: what a
request keeps grows old otherwise, and is left to the full collection when the request ends (16 objects of each run,
against 6; most are of cancelled tasks of anyio and of the SDK's runner).
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CHECK_SECONDS = 1.0
YOUNG = 2000
"""Young objects are collected after so many; Python's own threshold is 700."""
DUE = 2
"""A full collection is due after so many collections of the middle generation: some 200 runs."""
OVERDUE = 50
"""It takes place after so many, whatever is in progress."""
LARGE_BYTES = 1024 * 1024
"""A block of memory of this size is given back to the system as soon as it is free."""
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc's malloc.h


@contextmanager
def collect_when_idle(is_idle: Callable[[], bool]) -> Iterator[None]:
    """Within the block, make each full collection that is due once `is_idle()`."""
    if (set_option := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        # Otherwise glibc keeps freed blocks of up to 32 MB: large answers that nobody read left 2 GB.
        set_option(_MMAP_THRESHOLD, LARGE_BYTES)
    young, middle, old = gc.get_threshold()
    gc.set_threshold(YOUNG, middle, OVERDUE)
    gc.freeze()  # modules stay, so no collection needs to look at their objects
    collecting = asyncio.create_task(_collect(is_idle))
    try:
        yield
    finally:
        collecting.cancel()
        gc.set_threshold(young, middle, old)


async def _collect(is_idle: Callable[[], bool]) -> None:
    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    is_first = True
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        if gc.get_count()[2] >= DUE and is_idle():
            for generation in range(3):  # the youngest is the largest after many calls ended at once
                gc.collect(generation)
                await asyncio.sleep(0)
            if give_back is not None:  # otherwise the process stays as large as it was under load
                await asyncio.to_thread(give_back, 0)
            if is_first:
                gc.freeze()  # the modules that the first runs have imported
            is_first = False
