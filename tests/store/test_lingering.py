"""What is asked for `soon` lies for a moment: it is written together, whoever asked, and never forgotten."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy

from paddock.errors import StoreError
from paddock.store.connecting import connect
from paddock.store.database import Store
from paddock.store.run_records import NewRun
from paddock.store.writer import LINGERING_ITEMS, Writer
from tests.anomaly.processes import start
from tests.store import empty
from tests.store.working import PATIENCE_SECONDS, adding, names, result, stored


def seeing(seen: threading.Event) -> Callable[[sqlalchemy.Connection], None]:
    """Work that adds a row called `last`, and tells."""

    def work(connection: sqlalchemy.Connection) -> None:
        adding("last")(connection)
        seen.set()

    return work


async def wait_for(seen: threading.Event) -> None:
    assert await asyncio.to_thread(seen.wait, PATIENCE_SECONDS)


async def test_it_begins_no_thread_before_its_moment_has_come(path: Path) -> None:
    store, seen = Store(path), threading.Event()
    await store.writer.soon(seeing(seen))
    assert (store.writer._thread, store.writer.is_idle) == (None, False)
    await wait_for(seen)
    await store.close()


async def test_whoever_waits_takes_it_along_in_its_order(store: Store) -> None:
    await store.writer.soon(adding("soon"))
    await store.writer.write(adding("now"))
    assert await stored(store) == ["soon", "now"]


async def test_a_reader_sees_it(store: Store) -> None:
    await store.writer.soon(adding("soon"))
    assert await stored(store) == ["soon"]


async def test_when_much_lies_there_it_is_written_at_once(store: Store) -> None:
    await store.start()
    seen = threading.Event()
    store.writer._nudging = asyncio.get_running_loop()  # so that no moment comes
    await store.writer.soon(seeing(seen))
    for number in range(LINGERING_ITEMS):
        await store.writer.soon(adding(str(number)))
    await wait_for(seen)


def test_an_event_loop_that_ended_does_not_keep_it(path: Path) -> None:
    store, seen = Store(path), threading.Event()
    asyncio.run(store.writer.soon(adding("first")))

    async def another() -> None:
        await store.writer.soon(seeing(seen))
        await wait_for(seen)
        assert await stored(store) == ["first", "last"]
        await store.close()

    asyncio.run(another())


async def test_a_store_that_is_closed_first_writes_it(path: Path) -> None:
    store = Store(path)
    await store.writer.soon(adding("soon"))
    await store.close()
    async with Store(path) as again:
        assert await stored(again) == ["soon"]


async def test_a_process_that_ends_first_writes_it(path: Path) -> None:
    program = (
        "import asyncio\nfrom paddock.store.database import Store\nfrom tests.store.working import adding\n"
        f"asyncio.run(Store({str(path)!r}).writer.soon(adding('soon')))\n"
    )
    host = start(program)
    assert (*await asyncio.to_thread(host.communicate), host.returncode) == ("", "", 0)
    async with Store(path) as store:
        assert await stored(store) == ["soon"]


async def test_what_lies_there_can_be_said_by_something_that_comes_later(store: Store) -> None:
    first = await store.writer.soon(adding("first"), size_bytes=10)
    await store.writer.soon(adding("second"))
    assert store.writer.instead_of(first, adding("third"), size_bytes=20)
    assert store.writer._unwaited_bytes == 20  # or what is not written any more would fill the queue
    assert await stored(store) == ["second", "third"]
    assert store.writer._unwaited_bytes == store.writer._unwaited == 0


async def test_what_is_written_or_just_being_so_stays(store: Store) -> None:
    writing, leave = threading.Event(), threading.Event()

    def work(connection: sqlalchemy.Connection) -> None:
        adding("slow")(connection)
        writing.set()
        assert leave.wait(PATIENCE_SECONDS)

    slow = await store.writer.soon(work)
    flushing = asyncio.ensure_future(store.writer.flush())
    assert await asyncio.to_thread(writing.wait, PATIENCE_SECONDS)
    assert not store.writer.instead_of(slow, adding("late"))
    leave.set()
    await flushing
    assert not store.writer.instead_of(slow, adding("late"))
    assert await stored(store) == ["slow"]


async def test_where_there_is_no_room_for_what_comes_later_what_was_first_stays(path: Path) -> None:
    empty.put(path)
    writer = Writer(lambda: connect(path), most_items=2, most_bytes=100)
    first = await writer.soon(adding("first"), size_bytes=10)
    assert not writer.instead_of(first, adding("large"), size_bytes=101)
    await writer.soon(adding("second"))
    assert not writer.instead_of(first, adding("one too many"))
    await writer.flush()
    assert await writer.write(names) == ["first", "second"]
    await asyncio.to_thread(writer.close)


async def test_a_run_that_ends_while_the_store_is_closed_is_not_forgotten_whole(path: Path) -> None:
    empty.put(path)
    store = Store(path)
    await store.runs.begin(NewRun("r_1", "ada", "1", "python"))
    with store.writer._wake:
        store.writer._is_closing = True  # as between `close` and the last batch
    with pytest.raises(StoreError):
        await store.runs.finish("r_1", result("r_1"))
    await store.close()
    async with Store(path) as again:
        found = await again.runs.get("ada", "r_1")
    assert found is not None
    assert found.verdict is None


async def test_what_is_not_written_any_more_is_not_counted_as_lost(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> sqlalchemy.Connection:
        raise OSError("no disk")

    writer = Writer(broken, name="x")
    first = await writer.soon(adding("first"))
    assert writer.instead_of(first, adding("second"))
    await asyncio.to_thread(writer.close)
    assert writer.lost == 1
    assert "1 entries were not written" in caplog.text
