"""An event loop in a thread, for callers that have none."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.model.request import RunOptions
from paddock.model.result import RunResult

if TYPE_CHECKING:
    from paddock.run import Paddock

T = TypeVar("T")


class Background:
    """A `Paddock` whose event loop runs in a thread until `close`."""

    def __init__(self, paddock: Paddock) -> None:
        self.paddock = paddock
        self.pid = os.getpid()
        """The process that has the thread: a fork of it has only a copy of this object."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="paddock", daemon=True)
        self._thread.start()

    def run(self, code: str, options: RunOptions) -> RunResult:
        future = asyncio.run_coroutine_threadsafe(self.paddock.run(code, **options), self._loop)
        try:
            return future.result()
        except BaseException:  # Ctrl-C reaches only this thread, and must end the run too
            future.cancel()
            raise

    async def ask(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the Paddock in its own loop, for a caller in another loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self.paddock.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
