"""What is new on the descriptors of many guests: one epoll for all of them, which the event loop knows as one."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable, Iterable
from contextlib import suppress

Told = Callable[[], None]


class Edges:
    """Tells once of each thing that comes: what nobody reads yet must not wake the loop again and again."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._told: dict[int, Told] = {}
        self._users = 1
        self._loop.add_reader(self._epoll.fileno(), self.look)

    def share(self) -> Edges:
        """For one more user, who says when it does not need it any more; with the last one it is gone."""
        self._users += 1
        return self

    def release(self) -> None:
        self._users -= 1
        if not self._users:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()

    def hear(self, fd: int, told: Told) -> None:
        """Call `told` when something has come; what is there already counts. OSError: the kernel watches no more.

        It counts what it watches for each user, and a guest may be a process of this one.
        """
        self._epoll.register(fd, select.EPOLLIN | select.EPOLLET)
        self._told[fd] = told

    def forget(self, fds: Iterable[int]) -> None:
        """Before they are closed: another process may have the same file open, of which we would hear for ever."""
        for fd in fds:
            if self._told.pop(fd, None) is not None:
                with suppress(OSError):
                    self._epoll.unregister(fd)

    def look(self) -> None:
        """Tell now of what has come, not only when it is the loop's turn."""
        for fd, _ in self._epoll.poll(0):
            told = self._told.get(fd)  # none where somebody else has forgotten it meanwhile
            try:
                if told is not None:
                    told()
            except Exception as problem:  # noqa: BLE001  each is told once: what fails for one is not lost for the others
                self._loop.call_exception_handler({"message": "what had come was not handled", "exception": problem})
