"""Brings a database to the version that this Paddock knows, in one transaction, whoever else tries at the same time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import StoreError

if TYPE_CHECKING:
    import sqlalchemy

VERSION = "0001"
"""The newest version. A test asserts that `migrations` leads there: to look there takes a third of a second."""
MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(
    connection: sqlalchemy.Connection, path: object, *, version: str = VERSION, migrations: Path = MIGRATIONS
) -> None:
    """Migrate what `connection` is connected to, which holds the write lock meanwhile."""
    found = _version(connection)
    connection.rollback()
    if found == version:
        return
    with connection.begin():
        found = _version(connection)  # another process may have been quicker
        if found is not None and found > version:
            raise StoreError(
                f"the store {path} has version {found}, made by a newer Paddock; this one knows {version} at most: "
                "upgrade Paddock, or set store.path to another file"
            )
        if found != version:
            _upgrade(connection, version, migrations)


def _version(connection: sqlalchemy.Connection) -> str | None:
    if not connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").all():
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if found is None else str(found)


def _upgrade(connection: sqlalchemy.Connection, version: str, migrations: Path) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, version)
