"""What is new on the descriptors of many guests: one epoll for all of them, which the event loop knows as one."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable, Iterable

Told = Callable[[], None]


class Edges:
    """Tells once of each thing that comes: what nobody reads yet must not wake the loop again and again."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._told: dict[int, Told] = {}
        self._closing = False
        self._loop.add_reader(self._epoll.fileno(), self.look)

    def hear(self, fd: int, told: Told) -> None:
        """Call `told`, which does no more than take note, when something has come; what is there already counts."""
        self._told[fd] = told
        self._epoll.register(fd, select.EPOLLIN | select.EPOLLET)

    def forget(self, fds: Iterable[int]) -> None:
        """Before they are closed: another process may have the same file open, of which we would hear for ever."""
        for fd in fds:
            del self._told[fd]
            self._epoll.unregister(fd)
        if self._closing and not self._told:
            self._end()

    def look(self) -> None:
        """Tell now of what has come, not only when it is the loop's turn."""
        for fd, _ in self._epoll.poll(0):
            self._told[fd]()

    async def something(self, fd: int) -> None:
        """Wait until something has come, once."""
        came: asyncio.Future[None] = self._loop.create_future()
        self.hear(fd, lambda: None if came.done() else came.set_result(None))
        try:
            await came
        finally:
            self.forget([fd])

    def close(self) -> None:
        """As soon as the last descriptor is forgotten."""
        self._closing = True
        if not self._told:
            self._end()

    def _end(self) -> None:
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
