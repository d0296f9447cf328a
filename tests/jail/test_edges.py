"""One epoll for many descriptors: it tells of each thing once, and lives as long as its last user."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from paddock.jail.edges import Edges


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


async def turns() -> None:
    """Let the event loop look a few times."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_nobody_reads_is_told_once_and_more_of_it_again(pipe: tuple[int, int]) -> None:
    ours, theirs = pipe
    told: list[int] = []
    os.write(theirs, b"before")
    edges = Edges()
    edges.hear(ours, lambda: told.append(ours))
    await turns()
    assert told == [ours]
    os.write(theirs, b"after")
    edges.look()
    assert told == [ours, ours]
    edges.forget([ours])
    edges.release()


async def test_a_forgotten_descriptor_is_not_told_of_though_another_process_holds_it(pipe: tuple[int, int]) -> None:
    ours, theirs = pipe
    told: list[int] = []
    edges = Edges()
    held = os.dup(ours)
    edges.hear(held, lambda: told.append(held))
    edges.forget([held])
    os.close(held)
    os.write(theirs, b"late")
    await turns()
    assert told == []
    edges.release()


async def test_it_is_closed_when_its_last_user_has_gone_and_no_sooner(pipe: tuple[int, int]) -> None:
    ours, _ = pipe
    edges = Edges()
    shared = edges.share()
    edges.release()
    shared.hear(ours, lambda: None)
    shared.forget([ours])
    shared.release()
    with pytest.raises(ValueError, match="closed"):
        edges.look()
