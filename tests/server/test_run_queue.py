"""The queue of runs: fair between callers, bounded in number and time."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from paddock.config import ServerConfig
from paddock.errors import Overloaded
from paddock.server.run_queue import RunQueue


class Runs:
    """Runs that last until they are told to end."""

    def __init__(self, **settings: float) -> None:
        self.queue = RunQueue(ServerConfig(**settings))  # type: ignore[arg-type]
        self.started: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, *names: str) -> None:
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._run(name))
            await asyncio.sleep(0)
        await self.settle()

    async def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
            await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    async def _run(self, name: str) -> None:
        async with self.queue.slot(name, name[0]):
            self.started.append(name)
            await self.ends[name].wait()


async def test_one_caller_leaves_slots_for_others() -> None:
    runs = Runs(max_runs=4, max_waiting=20)
    await runs.begin(*(f"a{n}" for n in range(9)))
    assert runs.started == ["a0", "a1", "a2"]
    await runs.begin("b0")
    assert runs.started[3:] == ["b0"]
    assert (runs.queue.position("a3"), runs.queue.position("a0")) == (1, None)


async def test_whoever_has_fewer_runs_goes_first_then_whoever_waited_longest() -> None:
    runs = Runs(max_runs=4, max_waiting=40)
    await runs.begin("a0", "a1", "b0", "c0", "a2", "a3", "b1", "d0")
    assert runs.started == ["a0", "a1", "b0", "c0"]
    await runs.end("a0")
    assert runs.started[4:] == ["d0"]
    await runs.end("a1")
    assert runs.started[5:] == ["a2"]
    await runs.end("c0")
    assert runs.started[6:] == ["a3"] or runs.started[6:] == ["b1"]
    await runs.end(*runs.ends)
    assert Counter(runs.started) == Counter(list(runs.ends))


async def test_the_queue_is_bounded_for_all_and_for_each() -> None:
    runs = Runs(max_runs=1, max_waiting=8)
    await runs.begin("a0", *(f"a{n}" for n in range(1, 7)))
    await runs.begin("a7")
    with pytest.raises(Overloaded, match="too many of your runs are waiting already; try again in") as refused:
        await runs.tasks["a7"]
    assert refused.value.retry_after_seconds >= 1
    await runs.begin("b0", "b1", "b2")
    with pytest.raises(Overloaded, match="too many runs are waiting"):
        await runs.tasks["b2"]


async def test_nobody_waits_longer_than_wait_seconds() -> None:
    runs = Runs(max_runs=1, max_waiting=8, wait_seconds=0.05)
    await runs.begin("a0", "a1")
    with pytest.raises(Overloaded, match=r"has waited 0\.05 s"):
        await runs.tasks["a1"]
    assert runs.queue.position("a1") is None


async def test_a_cancelled_run_gives_its_slot_to_the_next() -> None:
    runs = Runs(max_runs=1, max_waiting=8)
    await runs.begin("a0", "a1", "b0")
    runs.tasks["a1"].cancel()
    runs.ends["a0"].set()
    await runs.settle()
    runs.ends["b0"].set()
    await runs.settle()
    assert runs.started == ["a0", "b0"]
    await runs.begin("a2")
    assert runs.started[-1] == "a2"


async def test_a_slot_can_be_left_twice() -> None:
    queue = RunQueue(ServerConfig(max_runs=1, max_waiting=2))
    first = queue.slot("a0", "a")
    queue.slot("b0", "b")
    queue.slot("c0", "c")
    first.leave()
    first.leave()
    assert (queue.position("b0"), queue.position("c0")) == (None, 1)


@pytest.mark.parametrize("max_runs", [1, 2, 4])
async def test_a_thousand_waiting_runs_of_one_caller_delay_another_callers_first_run_by_one_run_at_most(
    max_runs: int,
) -> None:
    runs = Runs(max_runs=max_runs, max_waiting=2000)
    slots = [runs.queue.slot(f"a{n}", "a") for n in range(1000 + max_runs)]
    first = runs.queue.slot("b0", "b")
    if not first.turn.done():
        slots[0].leave()  # one run of the greedy caller ends
    assert first.turn.done()


async def test_a_new_caller_is_next_although_each_of_the_others_has_one_run_and_many_waiting() -> None:
    runs = Runs(max_runs=2, max_waiting=100)
    await runs.begin("a0", "b0", *(f"{caller}{n}" for n in range(1, 9) for caller in "ab"), "c0")
    await runs.end("a0")
    assert runs.started == ["a0", "b0", "c0"]


async def test_callers_take_turns_so_those_who_send_one_run_at_a_time_do_not_starve_the_one_with_many() -> None:
    runs = Runs(max_runs=1, max_waiting=100)
    await runs.begin("x0", "a0", "a1", "a2", "b0", "c0")
    await runs.end("x0", "a0", "b0")
    await runs.begin("b1")
    await runs.end("c0", "a1")
    await runs.begin("c1")
    await runs.end("b1", "c1")
    assert runs.started == ["x0", "a0", "b0", "c0", "a1", "b1", "c1", "a2"]


async def test_one_caller_has_at_most_its_own_limits_of_runs_in_progress_and_waiting() -> None:
    runs = Runs(max_runs=8, max_waiting=20, principal_runs=2, principal_waiting=3)
    await runs.begin(*(f"a{n}" for n in range(6)))
    assert runs.started == ["a0", "a1"]
    with pytest.raises(Overloaded, match="too many of your runs are waiting already"):
        await runs.tasks["a5"]
    await runs.begin("b0", "b1", "b2")
    assert runs.started[2:] == ["b0", "b1"]
