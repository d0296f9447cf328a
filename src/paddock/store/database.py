"""The store: runs, the journal of their calls, artifacts' records, definitions and sessions, in one SQLite file.

Nothing is opened, and SQLAlchemy is not imported, before the first use, and then in the writer's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from paddock.config import StoreConfig
from paddock.store.calls import StoredJournal
from paddock.store.connecting import BUSY_SECONDS
from paddock.store.definitions import StoredDefinitions
from paddock.store.owners import Owner
from paddock.store.places import store_path
from paddock.store.reader import Reader
from paddock.store.retention import Retention
from paddock.store.runs import StoredRuns
from paddock.store.sessions import StoredSessions
from paddock.store.writer import WAIT_SECONDS, Writer

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.config import Config

T = TypeVar("T")


class Store:
    """One database file; several processes may have it open. Use it in `async with`, or `close` it."""

    def __init__(
        self,
        path: str | Path,
        settings: StoreConfig | None = None,
        *,
        busy_seconds: float = BUSY_SECONDS,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self.path = Path(path)
        self._busy_seconds, self._is_migrated = busy_seconds, False
        self.writer = Writer(self._open, name=self.path, wait_seconds=wait_seconds)
        self._reader = Reader(self._open_to_read, name=self.path)
        self._owner = Owner(self.path.with_name(f"{self.path.name}.owners"))
        self.runs = StoredRuns(self.writer, self.read, self._owner)
        self.journal = StoredJournal(self.writer, self.read)
        self.definitions = StoredDefinitions(self.writer, self.read)
        self.sessions = StoredSessions(self.writer, self.read)
        self.retention = Retention(self.writer, self.read, settings or StoreConfig())

    @classmethod
    def of(cls, config: Config) -> Store:
        """The store that `config` names, not opened yet."""
        return cls(store_path(config), config.store)

    @classmethod
    async def open(cls, config: Config) -> Store:
        """The store that `config` names, made or migrated where it has to be; StoreError where it cannot be used."""
        store = cls.of(config)
        try:
            await store.start()
        except BaseException:
            await store.close()
            raise
        return store

    async def start(self) -> None:
        """Open the database now rather than at first use, so that what is wrong with it shows now."""
        await self.writer.write(_nothing)

    async def read(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        """What `work` finds, off the event loop. It sees all that was handed to the writer before."""
        await self.writer.settle()
        if not self._is_migrated:
            await self.start()
        return await self._reader.read(work)

    async def close(self) -> None:
        """Write what is left, and close the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._reader.close()
        self.writer.close()
        self._owner.release()

    def _open(self) -> sqlalchemy.Connection:
        from paddock.store.connecting import connect, make_file
        from paddock.store.migrating import migrate

        make_file(self.path)
        connection = connect(self.path, busy_seconds=self._busy_seconds)
        try:
            migrate(connection, self.path)
        except BaseException:
            connection.close()
            raise
        self._is_migrated = True
        return connection

    def _open_to_read(self) -> sqlalchemy.Connection:
        from paddock.store.connecting import connect

        return connect(self.path, is_reader=True, busy_seconds=self._busy_seconds)

    async def __aenter__(self) -> Store:
        try:
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _nothing(connection: sqlalchemy.Connection) -> None:
    """Nothing, for which the database has to be opened."""
