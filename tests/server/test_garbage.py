"""When a server collects garbage."""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.server import garbage


class Node:
    """Part of a cycle, which only a collection frees."""

    def __init__(self) -> None:
        self.itself: Node | None = self


@pytest.fixture(autouse=True)
def unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


async def test_a_full_collection_waits_until_the_server_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "CHECK_SECONDS", 0.0)
    was_alive: list[bool] = []
    is_free = asyncio.Event()

    def is_idle() -> bool:
        was_alive.append(watched() is not None)
        return len(was_alive) >= 3

    with garbage.collect_when_idle(is_idle):
        node = Node()
        watched = weakref.ref(node, lambda gone: is_free.set())
        for _ in range(garbage.DUE + 2):  # the first ones move the cycle to the oldest generation
            gc.collect(1)
        del node
        async with asyncio.timeout(10):
            await is_free.wait()
    assert was_alive[:3] == [True] * 3


async def test_a_full_collection_is_put_off_but_not_for_ever() -> None:
    before = gc.get_threshold()
    with garbage.collect_when_idle(lambda: False):
        assert gc.get_threshold() == (garbage.YOUNG, before[1], garbage.OVERDUE)
    assert gc.get_threshold() == before


async def test_freed_memory_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "CHECK_SECONDS", 0.0)
    blocks = [bytes(1000) for _ in range(100_000)]
    last = blocks.pop()  # the heap cannot shrink below it
    held = _resident_mb()
    del blocks
    with garbage.collect_when_idle(lambda: True):
        for _ in range(garbage.DUE + 1):
            gc.collect(1)
        async with asyncio.timeout(10):
            while _resident_mb() > held - 50:
                await asyncio.sleep(0)
    assert len(last) == 1000


def _resident_mb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 2**20


async def test_large_blocks_go_back_to_the_system_without_a_collection() -> None:
    script = """
import asyncio, pathlib
from paddock.server import garbage

async def main():
    with garbage.collect_when_idle(lambda: False):
        del (block := bytearray(16 << 20))[:]  # by itself, malloc would now expect more blocks of this size
        del block
        blocks = [(bytearray(b"x") * (16 << 20), bytes(1000)) for _ in range(10)]
        kept = [small for _, small in blocks]
        del blocks
        print(int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20)

asyncio.run(main())
"""
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    printed, _ = await program.communicate()
    assert int(printed) < 100
