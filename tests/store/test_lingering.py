"""What is asked for `soon` lies for a moment: it is written together, whoever asked, and never forgotten."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import sqlalchemy

from paddock.store.database import Store
from paddock.store.writer import LINGERING_ITEMS
from tests.anomaly.processes import start
from tests.store.working import PATIENCE_SECONDS, adding, stored


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


async def test_what_lies_there_can_be_withdrawn_until_it_is_written(store: Store) -> None:
    first = await store.writer.soon(adding("first"), size_bytes=10)
    second = await store.writer.soon(adding("second"), size_bytes=10)
    assert store.writer.withdraw(first)
    assert await stored(store) == ["second"]
    assert not store.writer.withdraw(second)
    assert store.writer._unwaited_bytes == 0  # or what is withdrawn would fill the queue


async def test_what_is_just_being_written_cannot_be_withdrawn(store: Store) -> None:
    writing, leave = threading.Event(), threading.Event()

    def work(connection: sqlalchemy.Connection) -> None:
        adding("slow")(connection)
        writing.set()
        assert leave.wait(PATIENCE_SECONDS)

    slow = await store.writer.soon(work)
    flushing = asyncio.ensure_future(store.writer.flush())
    assert await asyncio.to_thread(writing.wait, PATIENCE_SECONDS)
    assert not store.writer.withdraw(slow)
    leave.set()
    await flushing
    assert await stored(store) == ["slow"]
