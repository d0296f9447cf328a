"""Work that is finished although its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


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


class LongWork:
    """Work that can take a thread for seconds, one piece at a time.

    It goes on if its caller is cancelled, and others wait for it: callers that give up would soon leave no thread.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        await self._turn.acquire()
        task = asyncio.create_task(work())
        task.add_done_callback(self._end)
        return await asyncio.shield(task)

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._turn.release()
        if not task.cancelled():
            task.exception()  # marks it as retrieved
