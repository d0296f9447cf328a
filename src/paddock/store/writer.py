"""One thread that writes, with one connection; all that is queued when it wakes is one transaction.

A raw commit costs little and a commit that reaches the disk costs a lot, so many share one. Each piece of work has a
savepoint: one that fails undoes itself alone. Work may be called again where its transaction failed as a whole, so it
does nothing but talk to its connection that may not be done twice, and neither commits nor rolls back.

What nobody waits for (`later`) is kept in memory until it is written, through a database that is locked or full for a
while, up to a bound; beyond that `later` is refused and `soon` waits. Nothing is dropped unless the store is still
broken when it is closed, and then the log says how much.

What is asked for `soon` lies for a moment first: the thread would take the interpreter from the run that asked, and
many entries are written together. Something that comes later may say it too, and be written in its place
(`instead_of`). Whatever somebody waits for takes along all that was asked for before it.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.errors import StoreError
from paddock.store.connecting import driver
from paddock.store.faults import is_of_a_database, spoils_all, store_error

if TYPE_CHECKING:
    import sqlite3

    import sqlalchemy

T = TypeVar("T")
Work = Callable[["sqlalchemy.Connection"], T]

MOST_ITEMS = 10_000
MOST_BYTES = 64 * 1024 * 1024
"""Of what waits in memory and nobody waits for."""
BATCH_ITEMS = 1000
WAIT_SECONDS = 30.0
"""A disk that hangs for longer is an error to whoever waits; the work may still be done when it answers."""
RETRY_SECONDS = 1.0
LINGER_SECONDS = 0.05
LINGERING_ITEMS = 500
LINGERING_BYTES = 4 * 1024 * 1024
"""When more than that lies in memory it is written at once."""
CHECKPOINT_ITEMS = 500
_log = logging.getLogger("paddock.store")


@dataclass(slots=True, eq=False)
class Item:
    """A piece of work in the queue."""

    work: Work[Any] | None  # None: what came later says it too
    done: Future[Any] | None  # None: nobody waits
    is_synced: bool = False
    size_bytes: int = 0
    is_taken: bool = False  # by the thread


class Writer:
    """Writes in the order in which it was asked to. The thread starts, and the database is opened, at first use."""

    def __init__(
        self,
        connect: Callable[[], sqlalchemy.Connection],
        *,
        name: object = "",
        most_items: int = MOST_ITEMS,
        most_bytes: int = MOST_BYTES,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._connect, self._name = connect, name
        self._most_items, self._most_bytes, self._wait_seconds = most_items, most_bytes, wait_seconds
        self._wake = threading.Condition()
        self._queue: deque[Item] = deque()
        self._waited = 0  # items in the queue that someone waits for
        self._unwaited, self._unwaited_bytes = 0, 0  # the others, those that are being written included
        self._is_due, self._is_busy, self._is_closing = False, False, False
        self._nudging: asyncio.AbstractEventLoop | None = None  # which will say that what lies here is due
        self._thread: threading.Thread | None = None
        self._is_registered = False  # to be closed when the process ends
        self._connection: sqlalchemy.Connection | None = None
        self._is_synced, self._is_logged = False, False
        self._since_checkpoint = 0
        self.problem: StoreError | None = None
        """Why the last transaction failed; None once one has succeeded."""
        self.lost = 0
        """Pieces of work that nobody waited for and that were not done."""

    async def write(self, work: Work[T], *, synced: bool = False) -> T:
        """Do `work`; when this returns it is committed, and with `synced` on the disk. Works in any event loop."""
        done = self.submit(work, synced=synced)
        try:
            async with asyncio.timeout(self._wait_seconds) as waiting:
                return await asyncio.wrap_future(done)
        except TimeoutError:
            if not waiting.expired():
                raise
            raise StoreError(f"the store {self._name} has not answered for {self._wait_seconds:g} s") from None

    def submit(self, work: Work[T], *, synced: bool = False) -> Future[T]:
        """`write` for code without an event loop."""
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()  # whoever stops waiting does not stop the work
        self._put(Item(work, done, is_synced=synced))
        return done

    def later(self, work: Work[object], *, size_bytes: int = 0) -> None:
        """Do `work` in its turn, and wait for nothing. `size_bytes` is what it holds in memory until then.

        Raises StoreError, and does nothing, where too much waits already.
        """
        if not self._put(Item(work, None, size_bytes=size_bytes), bounded=True):
            why = f": {self.problem}" if self.problem else ", which writes too slowly"
            raise StoreError(f"too much waits to be written to the store {self._name}{why}")

    async def soon(self, work: Work[object], *, size_bytes: int = 0) -> Item:
        """`later`, after a moment; where too much waits already, this waits until it is written rather than refuse."""
        item = Item(work, None, size_bytes=size_bytes)
        if not self._put(item, bounded=True, is_due=False):
            await self.write(work)
            item.is_taken = True
            return item
        self._linger()
        return item

    def instead_of(self, item: Item, work: Work[object], *, size_bytes: int = 0) -> bool:
        """Have `work` done in its turn, and what was asked for as `item` not at all, because `work` says it too.

        False, and nothing changes, where that is written, or just being so, or where there is no room.
        """
        with self._wake:
            grown = self._unwaited_bytes - item.size_bytes + size_bytes
            if item.is_taken or self._is_closing or self._unwaited >= self._most_items or grown > self._most_bytes:
                return False
            self._unwaited_bytes -= item.size_bytes
            item.work, item.size_bytes = None, 0
            self._append(Item(work, None, size_bytes=size_bytes), is_due=False)
        self._linger()
        return True

    def _linger(self) -> None:
        """Have what lies in memory written after a moment."""
        loop = asyncio.get_running_loop()
        if self._nudging is not loop:  # of another loop nobody knows whether it still runs
            self._nudging = loop
            loop.call_later(LINGER_SECONDS, self._nudge, loop)

    async def flush(self) -> None:
        """Return when all that was asked for before is committed; StoreError where it cannot be."""
        if not self.is_idle:
            await self.write(_nothing)

    async def settle(self) -> None:
        """Return when all that was asked for before has been tried, for a reader to see what can be seen."""
        with suppress(StoreError):
            await self.flush()

    @property
    def is_idle(self) -> bool:
        with self._wake:
            return not self._queue and not self._is_busy

    def close(self) -> None:
        """Write what is left, and end the thread. Blocks meanwhile; what is asked for afterwards is refused."""
        with self._wake:
            self._is_closing = True
            self._wake.notify_all()
            thread = self._thread
        if thread is None:
            self._run()  # here: while the interpreter ends, no thread can be started
        elif thread is not threading.current_thread():
            thread.join()
        atexit.unregister(self.close)

    def _nudge(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._nudging is loop:
            self._nudging = None
        with self._wake:
            if self._queue and not self._is_closing:
                self._wake_up()

    def _wake_up(self) -> None:
        """Have all that is queued written. `_wake` is held."""
        self._is_due = True
        if self._thread is None:
            # A daemon, so that a store that nobody closes does not keep the process; `atexit` closes it then.
            self._thread = threading.Thread(target=self._run, name="paddock-store", daemon=True)
            self._thread.start()
        elif not self._is_busy:
            self._wake.notify_all()

    def _put(self, item: Item, *, bounded: bool = False, is_due: bool = True) -> bool:
        with self._wake:
            if self._is_closing:
                raise StoreError(f"the store {self._name} is closed")
            if bounded:
                is_full = self._unwaited >= self._most_items
                if is_full or (self._unwaited and self._unwaited_bytes + item.size_bytes > self._most_bytes):
                    return False
            self._append(item, is_due=is_due)
        return True

    def _append(self, item: Item, *, is_due: bool) -> None:
        """Queue `item`. `_wake` is held."""
        if item.done is None:
            self._unwaited += 1
            self._unwaited_bytes += item.size_bytes
        else:
            self._waited += 1
        self._queue.append(item)
        if not self._is_registered:
            self._is_registered = True
            atexit.register(self.close)
        if is_due or self._unwaited >= LINGERING_ITEMS or self._unwaited_bytes >= LINGERING_BYTES:
            self._wake_up()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._is_busy = False
                self._wake.wait_for(lambda: self._is_due or self._is_closing)
                if self.problem is not None:  # whoever waits is told at once; the others can wait a little
                    self._wake.wait_for(lambda: self._waited or self._is_closing, RETRY_SECONDS)
                batch = [self._queue.popleft() for _ in range(min(BATCH_ITEMS, len(self._queue)))]
                for item in batch:
                    item.is_taken = True
                self._waited -= sum(item.done is not None for item in batch)
                self._is_due = bool(self._queue)
                self._is_busy, is_closing = True, self._is_closing
            if batch:
                self._do(batch)
            elif is_closing:
                break
            if self.problem is not None and is_closing:
                self._give_up()
                break
        self._disconnect()

    def _do(self, batch: list[Item]) -> None:
        try:
            outcomes = self._in_one_transaction(batch)
        except Exception as problem:  # noqa: BLE001  whoever waits must hear of it, and the thread must live
            self._failed(batch, store_error(problem, self._name))
            return
        self.problem, self._is_logged = None, False
        self._forget([item for item in batch if item.done is None])
        for item, (value, fault) in zip(batch, outcomes, strict=True):
            if fault is None:
                if item.done is not None:
                    item.done.set_result(value)
            else:
                self._tell(item, store_error(fault, self._name) if is_of_a_database(fault) else fault)
        self._checkpoint(len(batch))

    def _in_one_transaction(self, batch: list[Item]) -> list[tuple[Any, BaseException | None]]:
        connection = self._connection = self._connection or self._connect()
        self._sync(connection, is_synced=any(item.is_synced for item in batch))
        with connection.begin():
            raw = driver(connection)
            return [_attempt(connection, raw, item.work) if item.work else (None, None) for item in batch]

    def _sync(self, connection: sqlalchemy.Connection, *, is_synced: bool) -> None:
        """Choose whether the next commit waits for the disk. It takes all that was committed before along."""
        if is_synced != self._is_synced:
            driver(connection).execute(f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}")
            self._is_synced = is_synced

    def _checkpoint(self, count: int) -> None:
        """Move the log into the database now and then, when nobody waits: SQLite itself would do it in a commit."""
        self._since_checkpoint += count
        if self._since_checkpoint >= CHECKPOINT_ITEMS and not self._queue and self._connection is not None:
            self._since_checkpoint = 0
            try:
                driver(self._connection).execute("PRAGMA wal_checkpoint(PASSIVE)")
            except Exception as problem:  # noqa: BLE001  the next commit tells whoever waits
                _log.warning("%s", store_error(problem, self._name))

    def _failed(self, batch: list[Item], problem: StoreError) -> None:
        """Tell those who wait, keep the rest for another try, and begin it with a new connection."""
        self.problem = problem
        self._disconnect()
        with self._wake:
            left = [*batch, *self._queue]  # also those who came meanwhile: what is kept would be before them each time
            self._queue = deque(item for item in left if item.done is None and item.work is not None)
            self._unwaited = len(self._queue)
            self._waited, self._is_due = 0, bool(self._queue)
        if self._queue and not self._is_logged:  # once until it works again; who waits is told anyway
            self._is_logged = True
            _log.warning("%s; what is to be written waits in memory", problem)
        for item in left:
            if item.done is not None:
                item.done.set_exception(StoreError(str(problem)))

    def _give_up(self) -> None:
        """Closed while nothing can be written. Nobody waits any more: a failure tells everyone."""
        with self._wake:
            left = [item for item in self._queue if item.work is not None]
            self._queue.clear()
        if left:
            self.lost += len(left)
            _log.error("%d entries were not written: %s", len(left), self.problem)

    def _forget(self, written: list[Item]) -> None:
        with self._wake:
            self._unwaited -= len(written)
            self._unwaited_bytes -= sum(item.size_bytes for item in written)

    def _tell(self, item: Item, fault: BaseException) -> None:
        """Say what became of one piece of work that failed by itself."""
        if item.done is not None:
            item.done.set_exception(fault)
        else:
            self.lost += 1
            _log.error("an entry was not written: %s", fault)

    def _disconnect(self) -> None:
        connection, self._connection, self._is_synced = self._connection, None, False
        if connection is not None:
            try:
                connection.close()
                connection.engine.dispose()
            except Exception as problem:  # noqa: BLE001  it is given up in any case
                _log.warning("%s", store_error(problem, self._name))


def _attempt(
    connection: sqlalchemy.Connection, raw: sqlite3.Connection, work: Work[Any]
) -> tuple[Any, BaseException | None]:
    raw.execute("SAVEPOINT item")  # SQLAlchemy takes ten times as long for it
    outcome: tuple[Any, BaseException | None]
    try:
        outcome = work(connection), None
    except BaseException as problem:  # whatever it is, it belongs to whoever asked, and must not end the thread
        if spoils_all(problem):
            raise
        raw.execute("ROLLBACK TO item")
        outcome = None, problem
    raw.execute("RELEASE item")
    return outcome


def _nothing(connection: sqlalchemy.Connection) -> None:
    """Nothing but its turn."""
