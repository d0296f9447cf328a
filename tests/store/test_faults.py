"""A database that is locked, full, damaged, foreign or too new gives a clear StoreError, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from paddock.errors import StoreError
from paddock.model.journal import Intent
from paddock.store.database import Store
from tests.anomaly.processes import PATIENCE_SECONDS
from tests.store.working import adding, locked, stored

WRITING = Intent("r_1", 1, "shop.buy", "{}", False, 0.0)


async def test_a_locked_store_refuses_the_intent_of_a_writing_call_and_stays_readable(path: Path) -> None:
    async with Store(path, busy_seconds=0.05) as store:
        await store.writer.write(adding("before"))
        with locked(path):
            with pytest.raises(StoreError, match="is locked by another process"):
                await store.journal.intend(WRITING)
            assert await stored(store) == ["before"]
        await store.journal.intend(WRITING)
        assert await store.journal.calls("r_1") == [(WRITING, None)]


async def test_background_work_is_kept_until_the_lock_is_released(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with Store(path, busy_seconds=0.05) as store:
        with locked(path):
            store.writer.put_nowait(adding("kept"))
            for _ in range(3):
                with pytest.raises(StoreError, match="is locked"):
                    await store.writer.flush()
        await store.writer.flush()
        assert (await stored(store), store.writer.lost, store.writer.problem) == (["kept"], 0, None)
    assert len(caplog.records) == 2  # once, however long it lasts, and once that it works again
    assert caplog.messages[-1] == f"the store {path} can be written again"


async def test_closing_a_locked_store_logs_what_was_lost(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(path, busy_seconds=0.05)
    await store.start()
    with locked(path):
        for number in range(3):
            store.writer.put_nowait(adding(str(number)))
        await store.close()
    assert store.writer.lost == 3
    assert caplog.messages[-1].startswith("3 entries were not written: the store ")


async def test_waiting_callers_get_an_error_however_much_work_is_queued_before_theirs(path: Path) -> None:
    async with Store(path, busy_seconds=0.05) as store:
        with locked(path):
            for number in range(3000):
                store.writer.put_nowait(adding(str(number)))
            with pytest.raises(StoreError, match="is locked"):
                await store.writer.write(adding("last"))
        await store.writer.flush()
        assert await stored(store) == [str(number) for number in range(3000)]


async def test_a_file_that_is_not_a_database_is_refused_and_unchanged(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"This is a letter, not a database. " * 100)
    with pytest.raises(StoreError, match="is not a database; move it away"):
        async with Store(path):
            pass
    assert path.read_bytes().startswith(b"This is a letter")


async def test_a_damaged_database_is_an_error_and_never_a_wrong_answer(path: Path) -> None:
    async with Store(path) as store:
        for number in range(300):
            store.writer.put_nowait(adding(str(number)))
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    content[page : 30 * page] = b"\xa5" * (29 * page)
    path.write_bytes(content)
    store = Store(path)
    with pytest.raises(StoreError, match="is damaged; move it away"):
        await stored(store)
    with pytest.raises(StoreError, match="is damaged; move it away"):
        await store.journal.intend(WRITING)
    await store.close()


async def test_a_database_of_a_newer_paddock_is_refused_and_unchanged(path: Path) -> None:
    async with Store(path):
        pass
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="has version 9999, made by a newer Paddock; this one supports"):
        async with Store(path):
            pass
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]


async def test_a_path_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "paddock.db")
    with pytest.raises(StoreError, match=f"cannot be used: {tmp_path}/file: File exists"):
        await store.start()
    store.writer.put_nowait(adding("never"))
    await store.close()
    assert store.writer.lost == 1


STRANGER = 65534
OTHERS_FILE = """
import asyncio, os, sys
from paddock.store.database import Store
from paddock.errors import StoreError
import sqlalchemy, alembic.command, tests.store.working
if os.getuid() == 0:
    os.setgid({stranger}); os.setuid({stranger})
try:
    asyncio.run(Store(sys.argv[1]).start())
except StoreError as problem:
    print(problem)
"""


async def test_a_file_that_this_user_may_not_write_is_an_error(path: Path) -> None:
    async with Store(path):
        pass
    path.chmod(0o400)
    said = await in_a_process(OTHERS_FILE.format(stranger=STRANGER), str(path))
    assert re.fullmatch(rf"the store {path} cannot be used: \S+: Permission denied\n", said)


FILLING = """
import asyncio, resource, sys
from paddock.errors import StoreError
from paddock.model.journal import Intent
from paddock.store.database import Store

async def main():
    async with Store(sys.argv[1]) as store:
        {limit}
        number = 0
        try:
            while True:
                await store.journal.intend(Intent("r_1", number, "shop.buy", '"' + 50_000 * "x" + '"', False, 0.0))
                number += 1
        except StoreError as problem:
            print(problem)
        print(number, len(await store.journal.calls("r_1")))

asyncio.run(main())
"""


async def test_a_file_size_limit_is_an_error_and_stored_data_survives(path: Path) -> None:
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))"
    said, counts = (await in_a_process(FILLING.format(limit=limit), str(path))).splitlines()
    assert said.startswith(f"the store {path} cannot ")
    assert await kept(path) == [int(count) for count in counts.split()]


async def test_a_full_disk_is_an_error_and_stored_data_survives(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    path = disk / "paddock.db"
    copy = tmp_path / "copy"
    # The small disk exists for these commands alone.
    script = f'mount -t tmpfs -o size=3m none {disk} && "$@" && cp -r {disk} {copy}'
    command = ("unshare", "-rm", "sh", "-c", script, "sh")
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a disk cannot be made here: no user namespaces")
    copy.rmdir()
    said, counts = (await in_a_process(FILLING.format(limit="pass"), str(path), before=command)).splitlines()
    assert said == f"the store {path} cannot grow: the disk is full; make room, or lower the settings of [store]"
    assert await kept(copy / "paddock.db") == [int(count) for count in counts.split()]


async def kept(path: Path) -> list[int]:
    """Return how many calls are stored, twice: as the process printed what was acknowledged and what it could read."""
    async with Store(path) as store:
        count = len(await store.journal.calls("r_1"))
    assert count > 0
    return [count, count]


async def in_a_process(program: str, *arguments: str, before: tuple[str, ...] = ()) -> str:
    command = [*before, sys.executable, "-W", "error", "-c", program, *arguments]
    ran = await asyncio.to_thread(
        subprocess.run,
        command,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
