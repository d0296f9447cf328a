"""One epoll for many descriptors: it tells of each thing once, and lives as long as its last user."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

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


async def test_what_fails_for_one_is_not_lost_for_the_others() -> None:
    pipes = [os.pipe() for _ in range(4)]
    told: list[int] = []
    problems: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(str(context["exception"])))

    def fail() -> None:
        raise OSError("broken")

    edges = Edges()
    for number, (ours, theirs) in enumerate(pipes):
        edges.hear(ours, fail if number % 2 == 0 else partial(told.append, ours))
        os.write(theirs, b"x")
    edges.look()
    assert (sorted(told), problems) == (sorted(ours for ours, _ in pipes[1::2]), ["broken", "broken"])
    edges.forget([ours for ours, _ in pipes])
    edges.release()
    for end in (end for pipe in pipes for end in pipe):
        os.close(end)


async def test_what_could_not_be_heard_is_not_there_and_can_be_forgotten(tmp_path: Path) -> None:
    edges = Edges()
    with (tmp_path / "plain").open("w") as file:  # of which epoll does not tell
        with pytest.raises(PermissionError):
            edges.hear(file.fileno(), lambda: None)
        edges.forget([file.fileno()])
    edges.release()
