"""Threads that read the store, each with a connection of its own. One principal never has more than one of them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from paddock.store.connection import connect, is_database_error, store_error

if TYPE_CHECKING:
    import sqlalchemy

T = TypeVar("T")


class Readers:
    """At most `count` threads, which start when they are needed. May be used from several threads and event loops."""

    def __init__(self, path: Path, count: int, busy_seconds: float) -> None:
        self._path, self._count, self._busy_seconds = path, count, busy_seconds
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: dict[str, deque[Callable[[], None]]] = {}  # by principals with a read in progress
        self._connections: dict[int, sqlalchemy.Connection] = {}  # by thread

    def submit(self, work: Callable[[sqlalchemy.Connection], T], principal: str | None) -> Future[T]:
        """Run `work` in one snapshot. The reads of a principal take place in their order, one at a time."""
        future: Future[T] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._read(work))
                except BaseException as problem:  # noqa: BLE001  whoever waits gets it
                    future.set_exception(problem)

        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._count, thread_name_prefix="paddock-reader")
            if principal is None:
                self._pool.submit(run)
            elif principal in self._waiting:
                self._waiting[principal].append(run)
            else:
                self._pool.submit(self._take_turn, self._pool, principal)
                self._waiting[principal] = deque([run])  # now, because starting a thread may fail
        return future

    def close(self) -> None:
        """Finish what was submitted, and close the connections."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()
        while self._connections:
            _close(self._connections.popitem()[1])

    def _take_turn(self, pool: ThreadPoolExecutor, principal: str) -> None:
        """Run the next read of a principal. The one after that waits behind those of others."""
        while True:
            with self._lock:
                run = self._waiting[principal][0]
            run()
            with self._lock:
                self._waiting[principal].popleft()
                if not self._waiting[principal]:
                    del self._waiting[principal]
                    return
            try:
                pool.submit(self._take_turn, pool, principal)
            except RuntimeError:  # it is being closed: the others are read here
                continue
            return

    def _read(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        thread = threading.get_ident()
        try:
            if thread not in self._connections:
                self._connections[thread] = connect(self._path, is_reader=True, busy_seconds=self._busy_seconds)
            with self._connections[thread].begin():
                return work(self._connections[thread])
        except Exception as problem:
            if not is_database_error(problem):
                raise
            if (connection := self._connections.pop(thread, None)) is not None:
                _close(connection)
            raise store_error(problem, self._path) from None


def _close(connection: sqlalchemy.Connection) -> None:
    connection.close()
    connection.engine.dispose()
