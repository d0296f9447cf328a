"""Logins of callers to upstreams over REST: one request begins a login, another brings the code from the browser."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddock.errors import NotFound, Overloaded
from paddock.tools.logins import OAuthFailed

if TYPE_CHECKING:
    from paddock.tools.logins import LoginFile
    from paddock.tools.mcp_config import Server
    from paddock.tools.oauth_login import BrowserAnswer

MAX_LOGINS = 100
"""How many logins may be in progress. Each ends after a few minutes, if nobody completes it."""
RETRY_SECONDS = 60.0


class UpstreamLogins:
    """The logins in progress: at most one of a principal to a server."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, str], tuple[BrowserAnswer, asyncio.Task[None]]] = {}

    async def begin(self, server: Server, file: LoginFile, port: int) -> str:
        """Begin a login, in place of an earlier one. Returns the address to open. Raises OAuthFailed, Overloaded."""
        from paddock.tools.oauth_login import BrowserAnswer, log_in

        key = (file.server, file.principal)
        if key in self._begun:
            self._begun.pop(key)[1].cancel()
        if len(self._begun) >= MAX_LOGINS:
            raise Overloaded("too many logins are in progress", RETRY_SECONDS)
        answer = BrowserAnswer(port)
        opened: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def show(address: str) -> None:
            if not opened.done():
                opened.set_result(address)

        def forget(task: asyncio.Task[None]) -> None:
            if self._begun.get(key, (None, None))[1] is task:
                del self._begun[key]
            if not task.cancelled():
                task.exception()  # whoever waits has got it

        task = asyncio.create_task(log_in(server, file, show, answer))
        self._begun[key] = (answer, task)
        task.add_done_callback(forget)
        ends: list[asyncio.Future[Any]] = [task, opened]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            await _ended(task)
        return opened.result()

    async def finish(self, file: LoginFile, given: Mapping[str, str]) -> None:
        """Complete a login with what the browser got, and store it. Raises OAuthFailed, NotFound."""
        answer, task = self._begun.get((file.server, file.principal), (None, None))
        if answer is None or task is None or not answer.accept(given):
            raise NotFound(f"no login to {file.server!r} with this state is in progress; begin it again")
        try:
            await _ended(task)
        except asyncio.CancelledError:  # its principal may have been purged: it must not be stored
            task.cancel()
            raise

    async def close(self) -> None:
        tasks = [task for _, task in self._begun.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _ended(task: asyncio.Task[None]) -> None:
    """Wait for the end of a login. Another request of its principal may have replaced it."""
    await asyncio.wait([task])
    if task.cancelled():
        raise OAuthFailed("another login took its place")
    task.result()
