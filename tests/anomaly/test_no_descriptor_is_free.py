"""The host has no free descriptor: runs in progress continue, and a guest that could not be made leaves nothing."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddock.config import Config, GuestsConfig
from paddock.errors import HostError
from paddock.jail import limits
from paddock.jail.walls import cgroup
from paddock.jail.walls.cgroup import Slots
from paddock.model.environments import EnvironmentConfig
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.anomaly.processes import children
from tests.anomaly.test_ends import wards

NONE_WAITS = GuestsConfig(environment="bare", min_waiting=0, max_waiting=0)
BARE = Config(environments={"bare": EnvironmentConfig()}, cpython=NONE_WAITS)


def opened() -> set[int]:
    """What is open in this process; the listing itself is not."""
    numbers = {int(path.name) for path in Path("/proc/self/fd").iterdir()}
    return {number for number in numbers if Path(f"/proc/self/fd/{number}").exists()}


@contextmanager
def room_for(count: int) -> Iterator[None]:
    """Let this process open so many more files and no others."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used, free = opened(), []
    for number in range(before[0]):
        free += [] if number in used else [number]
        if len(free) > count:
            break
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[count], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("kept", [True, False], ids=["kept files", "files that are opened each time"])
@pytest.mark.parametrize(
    ("rest", "verdict"),
    [
        ("'done'", Verdict.OK),
        ("1 / 0", Verdict.RAISED),
        ("[bytearray(b'x') * (1 << 20) for _ in range(256)]", Verdict.OUT_OF_MEMORY),
    ],
    ids=["ends well", "raises", "out of memory"],
)
async def test_a_run_ends_as_it_would_where_no_descriptor_is_free(
    monkeypatch: pytest.MonkeyPatch, rest: str, verdict: Verdict, kept: bool
) -> None:
    if not kept:
        monkeypatch.setattr(cgroup, "KEPT_FILES", 1 << 30)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> str:
        begun.set()
        await go_on.wait()
        return "go on"

    async with Paddock(BARE, tools=[hold]) as paddock:
        lowered = {"memory_bytes": 128 << 20}
        going = asyncio.create_task(paddock.run(f"await hold({{}})\n{rest}", engine="cpython", limits=lowered))
        await begun.wait()
        with room_for(0):
            go_on.set()
            result = await going
        assert result.verdict is verdict
        if isinstance(paddock._engines.get("cpython")._jail._pool._limits._source, Slots):  # type: ignore[attr-defined]
            assert result.usage.memory_bytes is not None
        assert (await paddock.run("1 + 1", engine="cpython")).output == 2


async def test_a_run_whose_memory_cannot_be_watched_any_longer_is_lost_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "find", lambda _: "none")
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> str:
        begun.set()
        await go_on.wait()
        return "go on"

    async with Paddock(BARE, tools=[hold]) as paddock:
        going = asyncio.create_task(paddock.run("await hold({})\nwhile True: pass", engine="cpython"))
        await asyncio.wait([going, asyncio.create_task(begun.wait())], return_when=asyncio.FIRST_COMPLETED)
        assert not going.done(), going.result()
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        await until(lambda: not pool._tasks)  # a descriptor that one of them closes would be free
        with room_for(0):
            go_on.set()
            result = await going
        assert (result.verdict, result.error and result.error.type) == (Verdict.LOST, "JailUnavailable")
        assert result.error is not None
        assert result.error.message.endswith(
            "could no longer check the script's memory, and ended the script: this process has no free file "
            "descriptor: raise its limit (ulimit -n), or run fewer scripts at once (Too many open files)"
        )
        assert (await paddock.run("1 + 1", engine="cpython")).output == 2


async def test_a_guest_that_the_host_has_no_descriptors_for_leaves_nothing() -> None:
    async with Paddock(BARE) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        warden = pool._client._process.pid
        for room in range(8):
            await until(lambda: not pool._tasks)
            below, before = wards(warden), opened()
            with room_for(room):
                try:
                    assert (await paddock.run("2", engine="cpython")).output == 2, room
                except HostError:
                    assert room < 7
            await until(lambda: not pool._tasks and wards(warden) == below)  # noqa: B023  awaited at once
            if isinstance(pool._limits._source, Slots):
                await until(lambda: opened() <= before | {fd for fd in opened() if is_of_group(fd)})  # noqa: B023
            else:
                await until(lambda: opened() == before)  # noqa: B023
            assert (await paddock.run("3", engine="cpython")).output == 3, room
    assert children() == []


async def test_the_control_group_of_a_fork_that_ended_without_a_descriptor_is_emptied_later() -> None:
    async with Paddock(BARE) as paddock:
        for name, source in (("first", None), ("fork", "first")):
            result = await paddock.run("1", engine="cpython", session=name, fork_from=source)
            assert result.verdict is Verdict.OK
        sessions = paddock._sessions._sessions
        first, guest = sessions["local", "first"].interpreter, sessions["local", "fork"].interpreter._guest  # type: ignore[union-attr]
        limits = paddock._engines.get("cpython")._jail._pool._limits  # type: ignore[attr-defined]
        with room_for(0):
            await paddock.delete_session("fork")
            await until(guest._ended.done)
            await asyncio.sleep(0)
            await asyncio.wrap_future(limits._emptying.submit(int))  # after the first attempt
        await until(lambda: first._family.left_bytes() >= 0 and not first._family._left)  # type: ignore[union-attr]


def is_of_group(fd: int) -> bool:
    """A file that a slot keeps: which of them are open depends on what the slot was used for."""
    with_name = f"/proc/self/fd/{fd}"
    try:
        return "cgroup" in os.readlink(with_name)  # noqa: PTH115
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("room", range(12))
def test_a_control_group_that_could_not_be_made_leaves_nothing(room: int) -> None:
    controllers = cgroup.find()
    if isinstance(controllers, str):
        pytest.skip(controllers)
    slots = Slots(controllers)
    try:
        before = opened()
        with room_for(room):
            try:
                slots.take()
            except OSError:
                failed = True
            else:
                failed = False
        if failed:
            assert opened() == before
            left = [group for parent in slots._parents.values() for group in parent.iterdir() if group.is_dir()]
            assert left == []
        assert failed or room > 0
    finally:
        slots.close()


@pytest.mark.parametrize("room", range(3))
@pytest.mark.parametrize("kept", [True, False], ids=["kept files", "files that are opened each time"])
def test_a_control_group_that_is_given_back_keeps_no_descriptor(
    monkeypatch: pytest.MonkeyPatch, room: int, kept: bool
) -> None:
    controllers = cgroup.find()
    if isinstance(controllers, str):
        pytest.skip(controllers)
    if not kept:
        monkeypatch.setattr(cgroup, "KEPT_FILES", 1 << 30)
    slots = Slots(controllers)
    try:
        before = opened()
        taken = [slots.take() for _ in range(3)]
        for slot in taken:
            slot.limit(64 << 20, 8)
        with room_for(room):
            for slot in taken:
                slots.give_back(slot)
        slots.give_back(slots.take())
        slots.give_back(slots.take())
        assert sorted(slots._free, key=id) == sorted(slots._all, key=id)
        for slot in slots._free:
            slot.remove()
        assert opened() == before
    finally:
        slots.close()


def test_a_control_group_that_could_not_be_emptied_is_removed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    controllers = cgroup.find()
    if isinstance(controllers, str):
        pytest.skip(controllers)
    slots = Slots(controllers)
    try:
        before = opened()
        first, second = slots.take(), slots.take()
        first.close()
        with room_for(0):
            slots.give_back(first)
        assert opened() == before | {fd for fd in opened() if is_of_group(fd)} | {second.oom_fd}
        assert not slots.settle(second)
        slots.give_back(second)
        assert slots._all == slots._free == [second]
    finally:
        slots.close()
