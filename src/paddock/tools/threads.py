"""A thread for each call of a function that may block.

Not asyncio's executor: its threads are few and are waited for at exit, so a tool that never returns would take one
from everybody else, and keep the host from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


async def in_thread(work: Callable[[], Any]) -> Any:
    """What `work` returns. Whoever is cancelled stops waiting; the thread goes on, and is forgotten."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any) -> None:
        if not done.done():
            done.set_result(value)

    def run() -> None:
        value = context.run(work)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value)

    threading.Thread(target=run, name="paddock-tool", daemon=True).start()
    return await done
