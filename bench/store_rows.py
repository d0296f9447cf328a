"""Rows about the store: what it costs to write a call down before it is made, and a run beside its path."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.runner import Open, Pair, Row, Target
from paddock import Paddock
from paddock.model.journal import Intent
from paddock.store.database import Store
from paddock.store.runs import NewRun

ARGUMENTS = '{"sku": "LAMP-1", "quantity": 2}'
COLUMNS = "run_id, number, tool, is_read_only, at, size_bytes, arguments_json"
INSERT = f"INSERT INTO calls ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  two constants


def _intents(many: int) -> Open:
    """Intents of writing calls, all at once, against as many commits of SQLite itself that reach the disk as well."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        with TemporaryDirectory() as folder:
            ours, raw = Path(folder, "ours.db"), Path(folder, "raw.db")
            async with Store(raw):
                pass  # the same tables
            numbers = count()
            async with Store(ours) as store:
                with closing(sqlite3.connect(raw, isolation_level=None)) as connection:
                    connection.execute("PRAGMA synchronous = FULL")

                    async def through_the_writer() -> None:
                        made = [Intent("r_1", next(numbers), "shop.buy", ARGUMENTS, False, 0.0) for _ in range(many)]
                        await asyncio.gather(*map(store.journal.intend, made))

                    async def by_hand() -> None:
                        for _ in range(many):
                            connection.execute(INSERT, ("r_1", next(numbers), "shop.buy", 0, 0.0, 32, ARGUMENTS))

                    yield Pair(through_the_writer, by_hand)

    return opened


@asynccontextmanager
async def _stored_run() -> AsyncIterator[Pair]:
    with TemporaryDirectory() as folder:
        async with Paddock() as paddock, Store(Path(folder, "paddock.db")) as store:
            numbers = count()

            async def stored() -> None:
                run_id = f"r_{next(numbers)}"
                await store.runs.begin(NewRun(run_id, "local", "1+1", "python"))
                await store.runs.finish(run_id, await paddock.run("1+1"))

            async def not_stored() -> None:
                await paddock.run("1+1")

            yield Pair(stored, not_stored)


STORE_ROWS = (
    Row("intent", "the intent of a writing call", "one commit of SQLite", Target.none(), _intents(1), 400),
    Row("intents", "100 of them at once", "100 commits of SQLite", Target.at_most(1), _intents(100), 40),
    Row("stored", "a run that is stored", "one that is not", Target.more_by(1), _stored_run, 400),
)
