"""The only thread that writes, with one connection and group commit.

All work that is queued when the thread wakes becomes one transaction. Each item has a savepoint, so that a failed item
is rolled back alone. If the whole transaction fails, its work is done again. So work must have no effect other than on
its connection, and must neither commit nor roll back.

Background work, which nobody waits for, is collected for 50 ms, so that the thread does not compete with the run that
queued it. While the database is locked or full, background work stays in memory and is tried again. The queue is
bounded. Work that still cannot be written when the store closes is lost, and the log says how much.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.errors import StoreError
from paddock.store.connection import driver, ends_transaction, is_database_error, store_error

if TYPE_CHECKING:
    import sqlalchemy

T = TypeVar("T")
Work = Callable[["sqlalchemy.Connection"], T]

QUEUE_ITEMS = 10_000
QUEUE_BYTES = 64 * 1024 * 1024
"""Maximum size of the background work in memory."""
BATCH_ITEMS = 1000
GATHER_SECONDS = 0.05
"""How long background work is collected, unless it fills a batch."""
WAIT_SECONDS = 30.0
"""How long a caller waits before it gets an error, for example if a disk hangs. The work may still be done later."""
RETRY_SECONDS = 1.0
"""How long to wait after a failed transaction before background work is tried again."""
_log = logging.getLogger("paddock.store")


@dataclass(slots=True)
class _Item:
    work: Work[Any]
    done: Future[Any] | None = None  # None: background work
    is_synced: bool = False
    size_bytes: int = 0


class Writer:
    """Does work in the order in which it was queued. Starts the thread and opens the database on first use."""

    def __init__(
        self, connect: Callable[[], sqlalchemy.Connection], *, check: Callable[[], None], name: object
    ) -> None:
        """`check` is called before each transaction. `name` is the store's name in messages."""
        self._connect, self._check, self._name = connect, check, name
        self._wake = threading.Condition()
        self._queue: deque[_Item] = deque()
        self._background_count, self._background_bytes = 0, 0  # background work, including items being written
        self._is_busy, self._is_closing = False, False
        self._thread: threading.Thread | None = None
        self._connection: sqlalchemy.Connection | None = None
        self._is_synced = False
        self.problem: StoreError | None = None
        """Why the last transaction failed; None if it succeeded."""
        self.is_logged = False
        """Whether `problem` was logged."""
        self.lost = 0
        """How many items of background work were lost."""

    async def write(self, work: Work[T], *, synced: bool = False) -> T:
        """Do `work` and return its value once it is committed and, with `synced`, on disk. Works in any event loop."""
        done = self.submit(work, synced=synced)
        try:
            async with asyncio.timeout(WAIT_SECONDS) as waiting:
                return await asyncio.wrap_future(done)
        except TimeoutError:
            if not waiting.expired():
                raise
            raise StoreError(
                f"the store {self._name} has not responded for {WAIT_SECONDS:g} s; check its disk"
            ) from None

    def submit(self, work: Work[T], *, synced: bool = False) -> Future[T]:
        """Do what `write` does, for code without an event loop."""
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()  # a caller that stops waiting does not cancel the work
        self._append(_Item(work, done, is_synced=synced))
        return done

    def put_nowait(self, work: Work[object], *, size_bytes: int = 0) -> None:
        """Queue `work`, which holds `size_bytes` of memory. Raises StoreError when the queue is full."""
        if not self._append(_Item(work, size_bytes=size_bytes)):
            why = self.problem or "entries arrive faster than they can be written"
            raise StoreError(f"the write queue of the store {self._name} is full: {why}")

    async def put(self, work: Work[object], *, size_bytes: int = 0) -> None:
        """Queue `work` and return at once. When the queue is full, wait until the work is written instead."""
        if not self._append(_Item(work, size_bytes=size_bytes)):
            await self.write(work)

    async def flush(self) -> None:
        """Wait until everything queued so far is committed. Raises StoreError if that fails."""
        with self._wake:
            is_idle = not self._queue and not self._is_busy
        if not is_idle:
            await self.write(lambda connection: None)

    def close(self) -> None:
        """Write what is queued and end the thread. Blocks until then; later work is refused."""
        with self._wake:
            self._is_closing = True
            self._wake.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        atexit.unregister(self.close)

    def _append(self, item: _Item) -> bool:
        """Queue `item`. Returns False if it is background work and the queue is full."""
        with self._wake:
            if self._is_closing:
                raise StoreError(f"the store {self._name} is closed")
            if item.done is None:
                is_too_large = self._background_count and self._background_bytes + item.size_bytes > QUEUE_BYTES
                if self._background_count >= QUEUE_ITEMS or is_too_large:
                    return False
                self._background_count += 1
                self._background_bytes += item.size_bytes
            self._queue.append(item)
            if self._thread is None:
                # A daemon thread does not keep the process alive; `atexit` closes a store that nobody closed.
                self._thread = threading.Thread(target=self._run, name="paddock-store", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            elif len(self._queue) == 1 or item.done is not None or len(self._queue) == BATCH_ITEMS:
                self._wake.notify_all()
        return True

    def _is_awaited(self) -> bool:
        """Whether a caller waits for work in the queue, or for the store to close."""
        return self._is_closing or any(item.done is not None for item in self._queue)

    def _run(self) -> None:
        is_closing = False
        while not is_closing:
            with self._wake:
                self._is_busy = False
                self._wake.wait_for(lambda: self._queue or self._is_closing)
                if self.problem is not None:
                    self._wake.wait_for(self._is_awaited, RETRY_SECONDS)
                else:
                    self._wake.wait_for(lambda: len(self._queue) >= BATCH_ITEMS or self._is_awaited(), GATHER_SECONDS)
                batch = [self._queue.popleft() for _ in range(min(BATCH_ITEMS, len(self._queue)))]
                self._is_busy = True
            if batch:
                self._write(batch)
            with self._wake:
                is_closing = self._is_closing and (not self._queue or self.problem is not None)
        if self._queue:
            self.lost += len(self._queue)
            _log.error("%d entries were not written: %s", len(self._queue), self.problem)
            self._queue.clear()
        self._disconnect()

    def _write(self, batch: list[_Item]) -> None:
        try:
            outcomes = self._transact(batch)
        except Exception as problem:  # noqa: BLE001  callers must get the error, and the thread must survive
            self._fail(batch, store_error(problem, self._name))
            return
        if self.is_logged:
            _log.warning("the store %s can be written again", self._name)
        self.problem, self.is_logged = None, False
        with self._wake:
            written = [item for item in batch if item.done is None]
            self._background_count -= len(written)
            self._background_bytes -= sum(item.size_bytes for item in written)
        for item, (value, fault) in zip(batch, outcomes, strict=True):
            if fault is not None and is_database_error(fault):
                fault = store_error(fault, self._name)  # noqa: PLW2901
            if item.done is None and fault is not None:
                self.lost += 1
                _log.error("an entry was not written: %s", fault)
            elif item.done is not None and fault is not None:
                item.done.set_exception(fault)
            elif item.done is not None:
                item.done.set_result(value)

    def _transact(self, batch: list[_Item]) -> list[tuple[Any, BaseException | None]]:
        connection = self._connection = self._connection or self._connect()
        self._check()
        # A synced commit costs far more than a normal one, so only commits that need it are synced.
        is_synced = any(item.is_synced for item in batch)
        if is_synced != self._is_synced:
            driver(connection).execute(f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}")
            self._is_synced = is_synced
        with connection.begin():
            return [_attempt(connection, item.work) for item in batch]

    def _fail(self, batch: list[_Item], problem: StoreError) -> None:
        """Raise `problem` in all callers that wait, and keep background work for another try on a new connection."""
        self.problem = problem
        self._disconnect()
        with self._wake:
            items = [*batch, *self._queue]  # callers in the queue get the error now, rather than wait for a retry
            self._queue = deque(item for item in items if item.done is None)
        if self._queue and not self.is_logged:  # a problem is logged once until a write succeeds
            self.is_logged = True
            _log.warning("%s; unwritten entries wait in memory", problem)
        for item in items:
            if item.done is not None:
                item.done.set_exception(StoreError(str(problem)))

    def _disconnect(self) -> None:
        connection, self._connection, self._is_synced = self._connection, None, False
        if connection is not None:
            try:
                connection.close()
                connection.engine.dispose()
            except Exception as problem:  # noqa: BLE001  the connection is dropped in any case
                _log.warning("%s", store_error(problem, self._name))


def _attempt(connection: sqlalchemy.Connection, work: Work[Any]) -> tuple[Any, BaseException | None]:
    """Do one item of work in a savepoint. Returns its value, or why it failed."""
    value, fault = None, None
    connection.exec_driver_sql("SAVEPOINT item")  # SQLAlchemy's `begin_nested` takes five times as long
    try:
        value = work(connection)
    except BaseException as problem:  # the caller gets any exception; it must not end the thread
        if ends_transaction(problem):
            raise
        fault = problem
        connection.exec_driver_sql("ROLLBACK TO item")
    connection.exec_driver_sql("RELEASE item")
    return value, fault
