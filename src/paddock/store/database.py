"""The store: runs, the journal of calls, records of artifacts, definitions, sessions and tokens, in one SQLite file.

The store opens the file and imports SQLAlchemy on first use, in its own threads.

    async with Store("paddock.db") as store:
        await store.runs.list("local")
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from paddock.config import StoreConfig
from paddock.errors import StoreError
from paddock.store.connection import BUSY_SECONDS, connect, file_id, is_database_error, make_file, store_error
from paddock.store.definitions import StoredDefinitions
from paddock.store.journal import StoredJournal
from paddock.store.runs import StoredRuns
from paddock.store.sessions import StoredSessions
from paddock.store.tokens import StoredTokens
from paddock.store.writer import Writer

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.config import Config

T = TypeVar("T")
VERSION = "0003"
"""The newest version of the schema. It is a constant because asking Alembic takes 0.3 s; a test compares the two."""
MIGRATIONS = Path(__file__).parent / "migrations"


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
        self._reader: sqlalchemy.Connection | None = None  # used in `_reader_thread` alone
        self._reader_thread: ThreadPoolExecutor | None = None
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

    async def read(self, work: Callable[[sqlalchemy.Connection], T], *, after_writes: bool = True) -> T:
        """Run `work` in one snapshot, off the event loop, and return its result.

        It sees all writes queued before, unless `after_writes` is false: then it does not wait for them.
        """
        with suppress(StoreError):  # what is stored can be read even if nothing can be written
            if after_writes:
                await self.writer.flush()
        if not self._is_migrated:
            await self.start()
        if self._reader_thread is None:
            self._reader_thread = ThreadPoolExecutor(1, thread_name_prefix="paddock-reader")
        return await asyncio.wrap_future(self._reader_thread.submit(self._read, work))

    async def sweep(self) -> None:
        """Remove what exceeds the limits of `[store]`: old runs, calls, sessions and versions of definitions."""
        await self.start()  # imports SQLAlchemy in the writer's thread, so that it is not imported here
        from paddock.store.retention import sweep

        await sweep(self, self.settings)

    async def close(self) -> None:
        """Write what is queued, and close the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        if self._reader_thread is not None:
            self._reader_thread.submit(self._disconnect_reader)
            self._reader_thread.shutdown()
            self._reader_thread = None
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

    def _read(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        try:
            if self._reader is None:
                self._reader = connect(self.path, is_reader=True, busy_seconds=self._busy_seconds)
            with self._reader.begin():
                return work(self._reader)
        except Exception as problem:
            if not is_database_error(problem):
                raise
            self._disconnect_reader()
            raise store_error(problem, self.path) from None

    def _disconnect_reader(self) -> None:
        connection, self._reader = self._reader, None
        if connection is not None:
            connection.close()
            connection.engine.dispose()

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
