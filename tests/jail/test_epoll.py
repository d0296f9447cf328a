"""One epoll object for many descriptors: it reports each event once, and is closed with its last user."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from paddock.jail.guest import Epoll


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


async def turns() -> None:
    """Let the event loop run a few times."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_nobody_reads_is_told_once_and_more_of_it_again(pipe: tuple[int, int]) -> None:
    ours, theirs = pipe
    told: list[int] = []
    os.write(theirs, b"before")
    epoll = Epoll()
    epoll.register(ours, lambda: told.append(ours))
    await turns()
    assert told == [ours]
    os.write(theirs, b"after")
    epoll.poll()
    assert told == [ours, ours]
    epoll.unregister([ours])
    epoll.release()


async def test_a_forgotten_descriptor_is_not_told_of_though_another_process_holds_it(pipe: tuple[int, int]) -> None:
    ours, theirs = pipe
    told: list[int] = []
    epoll = Epoll()
    held = os.dup(ours)
    epoll.register(held, lambda: told.append(held))
    epoll.unregister([held])
    os.close(held)
    os.write(theirs, b"late")
    await turns()
    assert told == []
    epoll.release()


async def test_it_is_closed_when_its_last_user_has_gone_and_no_sooner(pipe: tuple[int, int]) -> None:
    ours, _ = pipe
    epoll = Epoll()
    shared = epoll.share()
    epoll.release()
    shared.register(ours, lambda: None)
    shared.unregister([ours])
    shared.release()
    with pytest.raises(ValueError, match="closed"):
        epoll.poll()


async def test_what_fails_for_one_is_not_lost_for_the_others() -> None:
    pipes = [os.pipe() for _ in range(4)]
    told: list[int] = []
    problems: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(str(context["exception"])))

    def fail() -> None:
        raise OSError("broken")

    epoll = Epoll()
    for number, (ours, theirs) in enumerate(pipes):
        epoll.register(ours, fail if number % 2 == 0 else partial(told.append, ours))
        os.write(theirs, b"x")
    epoll.poll()
    assert (sorted(told), problems) == (sorted(ours for ours, _ in pipes[1::2]), ["broken", "broken"])
    epoll.unregister([ours for ours, _ in pipes])
    epoll.release()
    for end in (end for pipe in pipes for end in pipe):
        os.close(end)


async def test_what_could_not_be_heard_is_not_there_and_can_be_forgotten(tmp_path: Path) -> None:
    epoll = Epoll()
    with (tmp_path / "plain").open("w") as file:  # of which epoll does not tell
        with pytest.raises(PermissionError):
            epoll.register(file.fileno(), lambda: None)
        epoll.unregister([file.fileno()])
    epoll.release()
