"""The store: runs, the journal of calls, records of artifacts, definitions, sessions and tokens, in one SQLite file.

The store opens the file and imports SQLAlchemy on first use, in its own threads.

    async with Store("paddock.db") as store:
        await store.runs.list("local")
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from paddock.config import StoreConfig
from paddock.errors import StoreError
from paddock.store.connection import BUSY_SECONDS, connect, empty_log, file_id, make_file, store_error
from paddock.store.definitions import StoredDefinitions
from paddock.store.journal import StoredJournal
from paddock.store.readers import Readers
from paddock.store.runs import StoredRuns
from paddock.store.sessions import StoredSessions
from paddock.store.tokens import StoredTokens
from paddock.store.writer import Writer

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.config import Config

T = TypeVar("T")
VERSION = "0004"
"""The newest version of the schema. It is a constant because asking Alembic takes 0.3 s; a test compares the two."""
READERS = 4
"""How many threads read. A principal that reads much leaves the others to everybody else."""
MIGRATIONS = Path(__file__).parent / "migrations"
_log = logging.getLogger("paddock.store")


def store_path(config: Config) -> Path:
    """Return the path of the database: `store.path`, else in a private folder of the data directory."""
    return Path(config.store.path) if config.store.path else Path(config.data_directory) / "store" / "paddock.db"


class Store:
    """One database file, which several processes may have open. Use it in `async with`, or `close` it."""

    def __init__(
        self, path: str | Path, settings: StoreConfig | None = None, *, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self.path = Path(path)
        self._busy_seconds, self._is_migrated = busy_seconds, False
        self._file_id: tuple[int, int] | None = None  # of the file that was opened first
        self.writer = Writer(self._connect_writer, check=self._check_file, name=self.path)
        self._readers = Readers(self.path, READERS, busy_seconds)
        self._urgent_reader = Readers(self.path, 1, busy_seconds)
        self.runs = StoredRuns(self)
        self.journal = StoredJournal(self)
        self.definitions = StoredDefinitions(self)
        self.sessions = StoredSessions(self)
        self.tokens = StoredTokens(self)
        self.settings = settings or StoreConfig()

    @classmethod
    def from_config(cls, config: Config) -> Store:
        """Return the store that `config` names, not opened yet."""
        return cls(store_path(config), config.store)

    async def start(self) -> None:
        """Open the database now, and create or migrate it if needed. Raises StoreError if it cannot be used."""
        await self.writer.write(lambda connection: None)

    @property
    def is_working(self) -> bool:
        """Whether the file was opened and is still there, and the last transaction succeeded."""
        return self._is_migrated and file_id(self.path) == self._file_id and self.writer.problem is None

    async def probe(self) -> None:
        """Write to the disk without changing anything. Raises StoreError if that fails."""
        await self.writer.write(lambda connection: connection.exec_driver_sql("PRAGMA user_version = 0"), synced=True)

    async def read(
        self, work: Callable[[sqlalchemy.Connection], T], *, principal: str | None = None, is_urgent: bool = False
    ) -> T:
        """Run `work` in one snapshot, off the event loop, and return its result. It sees all writes queued before.

        The reads of one `principal` take place one after another. What is urgent and short waits for nothing, not even
        for writes.
        """
        with suppress(StoreError):  # what is stored can be read even if nothing can be written
            if not is_urgent:
                await self.writer.flush()
        if not self._is_migrated:
            await self.start()
        readers = self._urgent_reader if is_urgent else self._readers
        return await asyncio.wrap_future(readers.submit(work, principal))

    def disk_bytes(self) -> int:
        """Return the size of the file and of its write-ahead log."""
        sizes = [0]
        for path in (self.path, self.path.with_name(f"{self.path.name}-wal")):
            with suppress(OSError):
                sizes.append(path.stat().st_size)
        return sum(sizes)

    async def sweep(self) -> None:
        """Remove what exceeds the limits of `[store]`: old runs, calls, sessions and versions of definitions."""
        await self.start()  # imports SQLAlchemy in the writer's thread, so that it is not imported here
        from paddock.store.retention import sweep

        await sweep(self, self.settings)
        await self.erase_deleted()

    async def erase_deleted(self) -> None:
        """Remove from the disk what was deleted: free pages, and the write-ahead log."""
        from paddock.store.retention import shrink

        while await self.writer.write(shrink):
            pass
        try:
            is_empty = await asyncio.to_thread(empty_log, self.path, self._busy_seconds)
        except sqlite3.Error as problem:
            raise store_error(problem, self.path) from None
        if not is_empty:
            _log.warning(
                "%s-wal still has content that was deleted, because another process reads the store; "
                "the next sweep of a server removes it",
                self.path,
            )

    async def close(self) -> None:
        """Write what is queued, and close the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._readers.close()
        self._urgent_reader.close()
        self.writer.close()
        self.runs.process.release()

    def _connect_writer(self) -> sqlalchemy.Connection:
        if self._file_id is None:
            make_file(self.path)
        else:
            self._check_file()
        connection = connect(self.path, busy_seconds=self._busy_seconds)
        try:
            migrate(connection, self.path)
        except BaseException:
            connection.close()
            raise
        self._is_migrated = True
        self._file_id = file_id(self.path)
        return connection

    def _check_file(self) -> None:
        """Raise StoreError if the open file is no longer the one at the path: what is written to it would be lost."""
        if file_id(self.path) != self._file_id:
            raise StoreError(
                f"the store {self.path} was removed or replaced while it was open; put it back, or restart the server"
            )

    async def __aenter__(self) -> Store:
        try:
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def migrate(
    connection: sqlalchemy.Connection, path: object, *, version: str = VERSION, migrations: Path = MIGRATIONS
) -> None:
    """Migrate the database to `version` in one transaction. If several processes try at once, only one does it."""
    current = _version(connection)
    connection.rollback()
    if current == version:
        return
    with connection.begin():
        current = _version(connection)  # another process may have been faster
        if current is not None and current > version:
            raise StoreError(
                f"the store {path} has version {current}, made by a newer Paddock; this one supports up to {version}: "
                "upgrade Paddock, or set store.path to another file"
            )
        if current != version:
            _upgrade(connection, version, migrations)


def _version(connection: sqlalchemy.Connection) -> str | None:
    if not connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").all():
        return None
    version = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if version is None else str(version)


def _upgrade(connection: sqlalchemy.Connection, version: str, migrations: Path) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, version)
