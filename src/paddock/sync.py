"""An event loop in a thread, for callers that have none."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from paddock.model.request import RunOptions
from paddock.model.result import RunResult

if TYPE_CHECKING:
    from paddock.run import Paddock


class Background:
    """A `Paddock` whose event loop runs in a thread until `close`."""

    def __init__(self, paddock: Paddock) -> None:
        self._paddock = paddock
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="paddock", daemon=True)
        self._thread.start()

    def run(self, code: str, options: RunOptions) -> RunResult:
        future = asyncio.run_coroutine_threadsafe(self._paddock.run(code, **options), self._loop)
        try:
            return future.result()
        except BaseException:  # Ctrl-C reaches only this thread, and must end the run too
            future.cancel()
            raise

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._paddock.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
