"""A thread that reads, with a connection of its own: in WAL it neither waits for the writer nor holds it up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol, TypeVar

from paddock.store.faults import is_of_a_database, store_error

if TYPE_CHECKING:
    import sqlalchemy

T = TypeVar("T")


class Read(Protocol):
    """How the parts of the store read: what was handed to the writer before is seen."""

    def __call__(self, work: Callable[[sqlalchemy.Connection], T], /) -> Awaitable[T]: ...


class Reader:
    """Reads one thing after the other. The database is opened at first use."""

    def __init__(self, connect: Callable[[], sqlalchemy.Connection], *, name: object = "") -> None:
        self._connect, self._name = connect, name
        self._connection: sqlalchemy.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def read(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        """What `work` finds, in one snapshot of what is committed."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="paddock-reader")
        return await asyncio.wrap_future(self._thread.submit(self._read, work))

    def close(self) -> None:
        if self._thread is not None:
            self._thread.submit(self._disconnect)
            self._thread.shutdown()
            self._thread = None

    def _read(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        try:
            connection = self._connection = self._connection or self._connect()
            with connection.begin():
                return work(connection)
        except Exception as problem:
            if not is_of_a_database(problem):
                raise
            self._disconnect()
            raise store_error(problem, self._name) from None

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            connection.engine.dispose()
