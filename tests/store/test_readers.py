"""Reads take place in a few threads, of which one principal gets one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import sqlalchemy

from paddock.store.database import READERS, Store
from tests.store.working import PATIENCE_SECONDS


def waiting(begun: list[int], number: int, gate: threading.Event) -> Callable[[sqlalchemy.Connection], int]:
    """Return a read that notes its number and waits for the gate."""

    def work(connection: sqlalchemy.Connection) -> int:
        begun.append(number)
        assert gate.wait(PATIENCE_SECONDS)
        return number

    return work


@asynccontextmanager
async def opened_at_the_end(gate: threading.Event) -> AsyncIterator[None]:
    """Open the gate even if the test fails: closing the store waits for its reads."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield
    finally:
        gate.set()


async def test_however_much_a_principal_reads_others_do_not_wait(store: Store) -> None:
    begun, gate = list[int](), threading.Event()
    reads = [waiting(begun, number, gate) for number in range(3 * READERS)]
    slow = [asyncio.create_task(store.read(read, principal="ada")) for read in reads]
    async with opened_at_the_end(gate):
        while not begun:
            await asyncio.sleep(0)
        assert await store.definitions.list("eve") == []
        slow[0].cancel()  # its caller is gone, and it goes on
        assert await store.runs.list("eve") == []
        assert begun == [0]
        gate.set()
        assert await asyncio.gather(*slow[1:]) == begun[1:] == [*range(1, len(slow))]


async def test_a_token_is_found_while_many_principals_read(store: Store) -> None:
    _, text = await store.tokens.add("ada")
    begun, gate = list[int](), threading.Event()
    reads = [store.read(waiting(begun, each, gate), principal=f"p{each}") for each in range(2 * READERS)]
    tasks = [asyncio.create_task(read) for read in reads]
    async with opened_at_the_end(gate):
        while len(begun) < READERS:
            await asyncio.sleep(0)
        found = await store.tokens.find(text)
        assert (found is not None, len(begun)) == (True, READERS)
        gate.set()
        assert await asyncio.gather(*tasks) == [*range(2 * READERS)]


async def test_closing_finishes_the_reads_that_wait(path: Path) -> None:
    begun, gate, store = list[int](), threading.Event(), Store(path)
    await store.start()
    reads = [asyncio.create_task(store.read(waiting(begun, each, gate), principal="ada")) for each in range(5)]
    async with opened_at_the_end(gate):
        while len(store._readers._waiting.get("ada", ())) < len(reads):
            await asyncio.sleep(0)
        closing = asyncio.create_task(store.close())
        gate.set()
        assert await asyncio.gather(*reads, closing) == [*range(5), None]
