"""The writer does work in order, many items in one transaction, and rolls back a failed item alone."""

from __future__ import annotations

import asyncio
import logging
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import event

from paddock.errors import StoreError
from paddock.store import writer as writer_module
from paddock.store.database import Store
from paddock.store.writer import BATCH_ITEMS
from tests.anomaly.processes import start
from tests.store.working import PATIENCE_SECONDS, adding, held_up, names, stored


async def test_written_values_are_returned_and_can_be_read(store: Store) -> None:
    assert await store.writer.write(adding("a")) == "a"
    assert await stored(store) == ["a"]


async def test_the_file_and_its_folder_are_readable_by_this_user_alone(store: Store, path: Path) -> None:
    await store.writer.write(adding("a"))
    modes = {name.name: stat.S_IMODE(name.stat().st_mode) for name in path.parent.iterdir()}
    assert modes == {"paddock.db": 0o600, "paddock.db-wal": 0o600, "paddock.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_an_existing_file_loses_its_permissions_for_others(path: Path) -> None:
    path.parent.mkdir()
    path.touch(0o644)
    async with Store(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_everything_queued_when_the_thread_wakes_is_one_transaction(store: Store) -> None:
    commits: list[object] = []

    def watch(connection: sqlalchemy.Connection) -> None:
        event.listen(connection.engine, "commit", commits.append)

    await store.writer.write(watch)
    before = len(commits)
    with held_up(store.writer):
        waiting = [asyncio.ensure_future(store.writer.write(adding(str(number)))) for number in range(100)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*waiting) == [str(number) for number in range(100)]
    assert len(commits) == before + 2  # the blocking item, then all others together


async def test_failed_work_is_rolled_back_alone(store: Store) -> None:
    def half_done(connection: sqlalchemy.Connection) -> None:
        adding("half")(connection)
        raise ZeroDivisionError("in the middle")

    with held_up(store.writer):
        works = (adding("a"), half_done, adding("a"), adding("b"))
        waiting = [asyncio.ensure_future(store.writer.write(work)) for work in works]
        await asyncio.sleep(0)
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [str, ZeroDivisionError, StoreError, str]
    assert await stored(store) == ["a", "b"]


async def test_failed_background_work_is_logged(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        store.writer.put_nowait(adding("twice"))
    await store.writer.flush()
    assert (await stored(store), store.writer.lost) == (["twice"], 1)
    assert [(record.name, record.levelno) for record in caplog.records] == [("paddock.store", logging.ERROR)]


async def test_work_is_done_in_order_whether_or_not_someone_waits(store: Store) -> None:
    with held_up(store.writer):
        store.writer.put_nowait(adding("a"))
        waiting = asyncio.ensure_future(store.writer.write(adding("b")))
        await asyncio.sleep(0)
        store.writer.put_nowait(adding("c"))
        await store.writer.put(adding("d"))
    await waiting
    assert await stored(store) == ["a", "b", "c", "d"]


async def test_a_caller_that_stops_waiting_does_not_cancel_the_work(store: Store) -> None:
    with held_up(store.writer):
        waiting = asyncio.ensure_future(store.writer.write(adding("a")))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert await stored(store) == ["a"]


async def test_a_hanging_disk_is_an_error_for_waiting_callers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "WAIT_SECONDS", 0.05)
    with held_up(store.writer), pytest.raises(StoreError, match=r"has not responded for 0\.05 s"):
        await store.writer.write(adding("late"))
    monkeypatch.undo()
    assert await stored(store) == ["late"]


@pytest.mark.parametrize(("size_bytes", "fitting"), [(0, 3), (40, 2), (1000, 1)])
async def test_the_queue_is_bounded(
    store: Store, monkeypatch: pytest.MonkeyPatch, size_bytes: int, fitting: int
) -> None:
    monkeypatch.setattr(writer_module, "QUEUE_ITEMS", 3)
    monkeypatch.setattr(writer_module, "QUEUE_BYTES", 100)
    writer = store.writer
    with held_up(writer):
        for number in range(fitting):
            writer.put_nowait(adding(f"{number}"), size_bytes=size_bytes)
        with pytest.raises(StoreError, match="the write queue of the store"):
            writer.put_nowait(adding("refused"), size_bytes=size_bytes)
        waiting = asyncio.ensure_future(writer.put(adding("waited for"), size_bytes=size_bytes))
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
    writer.put_nowait(adding("room again"), size_bytes=size_bytes)
    assert await stored(store) == [*map(str, range(fitting)), "waited for", "room again"]


async def test_several_event_loops_and_threads_write_through_one_writer(store: Store) -> None:
    def in_a_loop(number: int) -> None:
        async def write() -> None:
            for turn in range(20):
                await store.writer.write(adding(f"{number} {turn}"))

        asyncio.run(write())

    threads = [threading.Thread(target=in_a_loop, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join, PATIENCE_SECONDS)
    assert len(await stored(store)) == 80


async def test_closing_loses_nothing_and_refuses_later_work(path: Path) -> None:
    store = Store(path)
    for number in range(5000):  # more than one transaction takes
        store.writer.put_nowait(adding(str(number)))
    await store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.writer.put_nowait(adding("after"))
    async with Store(path) as again:
        assert await stored(again) == [str(number) for number in range(5000)]


async def test_a_process_that_forgets_to_close_the_store_still_writes_everything(path: Path) -> None:
    program = (
        "from paddock.store.database import Store\nfrom tests.store.working import adding\n"
        f"store = Store({str(path)!r})\nfor number in range(300): store.writer.put_nowait(adding(str(number)))\n"
    )
    host = start(program)
    assert (*await asyncio.to_thread(host.communicate), host.returncode) == ("", "", 0)
    async with Store(path) as store:
        assert await stored(store) == [str(number) for number in range(300)]


async def test_an_unused_store_opens_nothing(path: Path) -> None:
    before = {thread for thread in threading.enumerate() if thread.name.startswith("paddock")}
    store = Store(path)
    after = {thread for thread in threading.enumerate() if thread.name.startswith("paddock")}
    await store.close()
    assert (after, path.parent.exists()) == (before, False)


async def test_only_a_synced_commit_waits_for_the_disk(store: Store) -> None:
    def how(connection: sqlalchemy.Connection) -> int:
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    seen = [await store.writer.write(how, synced=synced) for synced in (False, True, True, False)]
    assert seen == [1, 2, 2, 1]  # NORMAL, FULL


async def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.read(adding("a"))
    assert await store.read(names) == []


def seeing(seen: threading.Event) -> Callable[[sqlalchemy.Connection], None]:
    """Return work that adds a row called `last` and sets `seen`."""

    def work(connection: sqlalchemy.Connection) -> None:
        adding("last")(connection)
        seen.set()

    return work


async def test_background_work_is_written_after_a_moment(path: Path) -> None:
    store, seen = Store(path), threading.Event()
    await store.writer.put(seeing(seen))
    assert await asyncio.to_thread(seen.wait, PATIENCE_SECONDS)
    await store.close()


async def test_background_work_gathers_until_someone_waits_or_reads_or_a_batch_is_full(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "GATHER_SECONDS", 10 * PATIENCE_SECONDS)
    began = time.monotonic()
    await store.writer.put(adding("a"))
    await store.writer.write(adding("b"))
    await store.writer.put(adding("c"))
    assert await stored(store) == ["a", "b", "c"]
    seen = threading.Event()
    await store.writer.put(seeing(seen))
    for number in range(BATCH_ITEMS):
        await store.writer.put(adding(str(number)))
    assert await asyncio.to_thread(seen.wait, PATIENCE_SECONDS)
    await store.writer.put(adding("d"))
    await store.close()
    assert time.monotonic() - began < 10 * PATIENCE_SECONDS


def test_work_queued_by_an_event_loop_that_ended_is_written(path: Path) -> None:
    store = Store(path)
    asyncio.run(store.writer.put(adding("first")))

    async def another() -> None:
        await store.writer.put(adding("last"))
        assert await stored(store) == ["first", "last"]
        await store.close()

    asyncio.run(another())
