"""A guest that does not end as it should: it takes long, a step fails, its reaper dies first. Nothing hangs."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.config import Config, GuestsConfig, JailConfig
from paddock.errors import EngineCrashed
from paddock.jail.guest import Callback, Epoll, Guest
from paddock.model.environments import EnvironmentConfig
from paddock.model.events import Done, Output
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.uids import OWN

ENVIRONMENTS = {"bare": EnvironmentConfig()}
PATIENCE_SECONDS = 60
ROOT_ONLY = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root can change the root directory"
)


@pytest.fixture(scope="module")
def data() -> Iterator[str]:
    """A place that the profile `chroot` can show to guests, which have a /tmp of their own; built once, for all."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        yield place


def config(*, profile: str = "auto", waiting: int = 0, most: int = 1, data: str = "") -> Config:
    cpython = GuestsConfig(environment="bare", min_waiting=waiting, max_waiting=waiting, max_guests=most)
    jail = JailConfig(profile=profile, uid_base=OWN)
    more = {"data_directory": data} if data else {}
    return Config(environments=ENVIRONMENTS, cpython=cpython, jail=jail, **more)  # type: ignore[arg-type]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def test_guests_that_take_long_to_end_make_others_wait_and_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    ending: list[Guest] = []
    async with Paddock(config()) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        await until(lambda: not pool._tasks)
        pool_ids = len(pool._uids)
        monkeypatch.setattr(Guest, "_begin_end", lambda guest: ending.extend([guest]))
        for number in range(pool_ids):
            assert (await paddock.run(f"{number}", engine="cpython")).output == number
        await until(lambda: len(ending) == pool_ids)
        late = asyncio.create_task(paddock.run("'late'", engine="cpython"))
        done, _ = await asyncio.wait([late], timeout=0.3)
        assert done == set()
        monkeypatch.undo()
        for guest in ending:
            guest._begin_end()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await late).output == "late"


async def test_what_fails_while_a_guest_ends_leaves_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(guest: Guest) -> None:
        raise OSError(28, "No space left on device")

    async with asyncio.timeout(PATIENCE_SECONDS):
        async with Paddock(config()) as paddock:
            assert (await paddock.run("1", engine="cpython")).output == 1
            with monkeypatch.context() as patch:
                patch.setattr(Guest, "_await_end", lambda guest, pidfds: fail(guest))
                assert (await paddock.run("2", engine="cpython")).output == 2
                await until(lambda: "the end of a guest could not be observed" in caplog.text)
            assert (await paddock.run("3", engine="cpython")).output == 3


async def test_where_the_kernel_tells_nobody_the_end_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    register = Epoll.register
    async with Paddock(config()) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1

        def full(epoll: Epoll, fd: int, told: Callback) -> None:
            if "_await_one" in told.__qualname__ or "_await_end" in told.__qualname__:
                raise OSError(28, "No space left on device")
            register(epoll, fd, told)

        monkeypatch.setattr(Epoll, "register", full)
        assert (await paddock.run("2", engine="cpython")).output == 2
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        await until(lambda: not pool._tasks)


async def test_a_guest_that_cannot_be_listened_to_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(epoll: Epoll, fd: int, told: Callback) -> None:
        raise OSError(28, "No space left on device")

    async with Paddock(config()) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        await until(lambda: not pool._tasks)
        below, opened = wards(pool._client._process.pid), len(list(Path("/proc/self/fd").iterdir()))
        with monkeypatch.context() as patch:
            patch.setattr(Epoll, "register", full)
            with pytest.raises(Exception, match="No space left"):
                await paddock.run("2", engine="cpython")
        await until(lambda: wards(pool._client._process.pid) == below)
        await until(lambda: len(list(Path("/proc/self/fd").iterdir())) == opened)
        assert (await paddock.run("3", engine="cpython")).output == 3


def wards(pid: int) -> set[int]:
    """Every process below one, however deep."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        found = {int(child) for task in tasks for child in (task / "children").read_text().split()}
    except FileNotFoundError:
        return set()
    return found.union(*map(wards, found))


def reaper_of(guest: Guest) -> int:
    return guest.reaper_pid


@ROOT_ONLY
async def test_a_guest_whose_reaper_dies_in_the_run_is_lost_and_gone(data: str) -> None:
    async with Paddock(config(profile="chroot", waiting=1, most=2, data=data)) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        await until(lambda: len(pool.waiting) == 1)
        [guest] = pool.waiting
        async for event in paddock.stream("print('begun')\nwhile True: pass", engine="cpython"):
            if isinstance(event, Output):
                os.kill(reaper_of(guest), signal.SIGKILL)
        assert isinstance(event, Done)
        assert (event.result.verdict, event.result.stdout) == (Verdict.LOST, "begun\n")
        await until(lambda: not Path(f"/proc/{guest.pid}").exists())
        assert (await paddock.run("2", engine="cpython")).output == 2


@ROOT_ONLY
async def test_a_lack_of_memory_ends_a_guest_before_its_reaper(data: str) -> None:
    """The kernel ends who takes most, plus this part of all memory."""
    async with Paddock(config(profile="chroot", waiting=1, most=2, data=data)) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        await until(lambda: len(pool.waiting) == 1)
        [guest] = pool.waiting
        scores = [Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in (guest.pid, reaper_of(guest))]
        assert scores == ["1000\n", "500\n"]


@ROOT_ONLY
async def test_a_guest_whose_reaper_has_died_gets_no_script(data: str) -> None:
    async with Paddock(config(profile="chroot", waiting=1, most=2, data=data)) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        await until(lambda: len(pool.waiting) == 1)
        [guest] = pool.waiting
        reaper = reaper_of(guest)
        os.kill(reaper, signal.SIGKILL)
        await until(lambda: not Path(f"/proc/{reaper}").exists())
        result = await paddock.run("import os\nos.getpid()", engine="cpython")  # as the host counts, in this profile
        assert (result.verdict, result.output == guest.pid) == (Verdict.OK, False)
        await until(lambda: not Path(f"/proc/{guest.pid}").exists())


@ROOT_ONLY
async def test_a_script_is_not_handed_to_a_guest_that_nobody_looks_after(data: str) -> None:
    async with Paddock(config(profile="chroot", waiting=1, most=2, data=data)) as paddock:
        assert (await paddock.run("1", engine="cpython")).output == 1
        pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
        guest = await pool.take()
        reaper = reaper_of(guest)
        os.kill(reaper, signal.SIGKILL)
        await until(lambda: not Path(f"/proc/{reaper}").exists())
        with pytest.raises(EngineCrashed, match="the reaper of a guest died"):
            guest.limit(paddock._config.limits)
        pool.give_back(guest)
