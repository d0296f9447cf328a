"""Migrations bring a new file, and a file of any earlier version, to the newest version."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from paddock.store import database
from paddock.store.connection import connect, make_file
from paddock.store.database import Store
from paddock.store.tables import metadata
from tests.forks import fork
from tests.store.working import adding, stored


def versions() -> list[str]:
    """Return every version, oldest first."""
    walked = ScriptDirectory(str(database.MIGRATIONS)).walk_revisions()
    return [script.revision for script in walked][::-1]


def test_versions_are_numbered_and_the_constant_names_the_newest() -> None:
    assert versions() == [f"{number:04}" for number in range(1, len(versions()) + 1)]
    assert versions()[-1] == database.VERSION


async def test_the_migrations_create_the_declared_tables(store: Store) -> None:
    def differences(connection: sqlalchemy.Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))

    assert await store.read(differences) == []


def schema_of(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@pytest.mark.parametrize("version", versions())
async def test_each_version_can_be_migrated_and_keeps_its_rows(path: Path, version: str) -> None:
    make_file(path)
    with closing(connect(path)) as connection:
        database.migrate(connection, path, version=version)
        with connection.begin():
            adding("from before")(connection)
    async with Store(path) as store:
        assert await stored(store) == ["from before"]
    fresh = path.with_name("fresh.db")
    async with Store(fresh):
        pass
    assert schema_of(path) == schema_of(fresh)


LATER = """
import sqlalchemy as sa
from alembic import op
revision, down_revision = "{version}", "{before}"
def upgrade():
    op.add_column("sessions", sa.Column("colour", sa.Text, server_default="red"))
    {then}
"""


def later_migrations(folder: Path, then: str) -> Path:
    """Return the migrations of a later release, with one more version."""
    shutil.copytree(database.MIGRATIONS, folder)
    text = LATER.format(version="9000", before=database.VERSION, then=then)
    (folder / "versions" / "9000_later.py").write_text(text, encoding="utf-8")
    return folder


async def test_a_later_release_changes_a_table_and_keeps_its_rows(path: Path, tmp_path: Path) -> None:
    async with Store(path) as store:
        await store.writer.write(adding("from before"))
    with closing(connect(path)) as connection:
        database.migrate(connection, path, version="9000", migrations=later_migrations(tmp_path / "later", "pass"))
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT id, colour FROM sessions").fetchall() == [("from before", "red")]


async def test_a_failed_migration_leaves_the_database_unchanged(path: Path, tmp_path: Path) -> None:
    async with Store(path) as store:
        await store.writer.write(adding("from before"))
    before = schema_of(path)
    failing = later_migrations(tmp_path / "later", "raise ZeroDivisionError")
    with closing(connect(path)) as connection, pytest.raises(ZeroDivisionError):
        database.migrate(connection, path, version="9000", migrations=failing)
    assert schema_of(path) == before
    async with Store(path) as store:
        assert await stored(store) == ["from before"]


OPENING = """
import asyncio, sys
from paddock.store.database import Store
from tests.store.working import adding

async def main():
    sys.stdin.readline()
    async with Store({path!r}) as store:
        for turn in range(50):
            await store.writer.write(adding("{number} " + str(turn)), synced=True)

asyncio.run(main())
"""


async def test_processes_that_create_the_database_at_once_all_write_to_it(path: Path, tmp_path: Path) -> None:
    processes = []
    for number in range(4):
        program = tmp_path / f"opening{number}.py"
        program.write_text(OPENING.format(path=str(path), number=number))
        command, pipe = fork.command(str(program)), subprocess.PIPE
        processes.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("now\n")
        process.stdin.flush()
    ends = [(*await asyncio.to_thread(process.communicate), process.returncode) for process in processes]
    assert ends == [("", "", 0)] * 4
    async with Store(path) as store:
        assert sorted(await stored(store)) == sorted(f"{number} {turn}" for number in range(4) for turn in range(50))
