"""Work that is finished although its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any


async def uncancelled(work: Awaitable[Any]) -> None:
    """Finish `work`, then raise any cancellation that arrived in the meantime."""
    task, was_cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            was_cancelled = True
    if was_cancelled:
        task.exception()  # marks it as retrieved
        raise asyncio.CancelledError
    task.result()
