"""Waiting guests: how many there are, and for how long."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddock.config import Config, GuestsConfig, JailConfig
from paddock.errors import JailUnavailable
from paddock.jail.environments import current_build
from paddock.jail.limits import ResourceLimits
from paddock.jail.packages import sets_folder
from paddock.jail.pool import Pool
from paddock.model.environments import EnvironmentConfig
from paddock.model.limits import Limits
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.anomaly.processes import children
from tests.escape.traces import descendants


def config(**settings: float | int) -> Config:
    cpython = GuestsConfig(environment="bare", **settings)  # type: ignore[arg-type]
    return Config(environments={"bare": EnvironmentConfig()}, cpython=cpython)


def pool(paddock: Paddock) -> Pool:
    found: Pool = paddock._engines.get("cpython")._jail._pool  # type: ignore[attr-defined]
    return found


def waiting(paddock: Paddock) -> list[int]:
    return [guest.pid for guest in pool(paddock).waiting]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_as_many_wait_as_demand_asks_for_up_to_the_ceiling_and_back_to_the_floor() -> None:
    async with Paddock(config(min_waiting=1, max_waiting=3, idle_seconds=2)) as paddock:
        seen = set()

        def look() -> int:
            seen.add(len(waiting(paddock)))
            return max(seen)

        await paddock.run("1", engine="cpython")
        async with asyncio.timeout(60):
            while look() < 3:
                await asyncio.gather(*(paddock.run("1", engine="cpython") for _ in range(6)))
                with suppress(TimeoutError):  # on a busy machine the pool may be idle already: try again
                    async with asyncio.timeout(1):
                        await until(lambda: look() >= 3)
        await until(lambda: look() and len(waiting(paddock)) == 1)
        assert max(seen) == 3


async def test_an_idle_pool_lets_its_guests_and_its_zygotes_go_and_starts_again() -> None:
    async with Paddock(config(min_waiting=1, max_waiting=1, idle_seconds=0.05, release_seconds=0.3)) as paddock:
        await paddock.run("1", engine="cpython")
        await until(lambda: not waiting(paddock) and pool(paddock)._client is None)
        assert (await paddock.run("1 + 1", engine="cpython")).output == 2


async def test_more_runs_than_there_may_be_guests_wait_for_their_turn() -> None:
    async with Paddock(config(min_waiting=0, max_waiting=0, max_guests=2)) as paddock:
        results = await asyncio.gather(*(paddock.run(f"{n}", engine="cpython") for n in range(7)))
    assert [result.output for result in results] == list(range(7))


async def test_no_two_runs_share_a_guest() -> None:
    code = "import os\nleft = os.path.exists('/tmp/mark')\nopen('/tmp/mark', 'w').close()\nleft"
    async with Paddock(config()) as paddock:
        results = [await paddock.run(code, engine="cpython") for _ in range(4)]
    assert [result.output for result in results] == [False] * 4


async def test_a_guest_that_has_died_is_not_taken_for_the_process_that_has_its_pid_now() -> None:
    async with Paddock(config(min_waiting=1, max_waiting=1)) as paddock:
        await paddock.run("1", engine="cpython")
        await until(lambda: waiting(paddock))
        guest = pool(paddock).waiting[0]
        os.kill(guest.pid, signal.SIGKILL)
        await guest.wait_for_input(30)
        with subprocess.Popen(["sleep", "60"]) as other:  # noqa: S607
            guest.pid = other.pid
            guest.hold()
            guest.kill()
            assert (guest.has_ended(), other.poll()) == (True, None)
            other.kill()


async def test_a_guest_that_is_not_in_its_control_group_is_not_handed_out() -> None:
    limits = ResourceLimits(Limits())
    if not limits.counts_unmapped:
        pytest.skip("a watcher limits guests here; there is no control group to enter")
    limit = await limits.take()
    with pytest.raises(JailUnavailable, match="did not enter its control group"):
        limits.apply_usual(limit)
    limits.give_back(limit)
    await limits.close()


@pytest.mark.parametrize("settings", [{"template_runs": 3}, {"template_seconds": 0.001}, {"fresh_layout": True}])
async def test_templates_are_replaced_and_end_with_their_last_guest(settings: dict[str, Any]) -> None:
    code = "hash('paddock'), id(object), open('/proc/self/stat').read().split()[25:28]"
    async with Paddock(replace(config(), jail=JailConfig(**settings))) as paddock:
        seen = [(await paddock.run(code, engine="cpython")).output for _ in range(7)]
        hashes, layouts = {each[0] for each in seen}, {json.dumps(each[1:]) for each in seen}
        least = 7 if settings.get("fresh_layout") else 3
        assert (len(hashes) >= least, len(layouts) >= least) == (True, True)
        await until(lambda: len(pool(paddock)._users) <= 2)
        long = asyncio.create_task(paddock.run("import time\ntime.sleep(1)\n'done'", engine="cpython"))
        others = await asyncio.gather(*(paddock.run(code, engine="cpython") for _ in range(5)))
        assert {result.verdict for result in others} == {Verdict.OK}
        assert (await long).output == "done"
    assert children() == []


async def test_a_session_has_a_new_guest_and_leaves_those_that_have_rehearsed() -> None:
    """A rehearsal copies memory, which a session would keep for as long as it lasts."""
    async with Paddock(config(min_waiting=1, max_waiting=1)) as paddock:
        await paddock.run("1", engine="cpython")
        await until(lambda: waiting(paddock))
        before = waiting(paddock)
        assert (await paddock.run("1", engine="cpython", session="s")).output == 1
        assert waiting(paddock) == before


async def test_wardens_and_zygotes_are_isolated() -> None:
    """They do not ignore variables for Python, but have only these two."""
    async with Paddock(config()) as paddock:
        await paddock.run("1", engine="cpython")
        client = pool(paddock)._client
        assert client is not None
        warden = client._process.pid
        variables = Path(f"/proc/{warden}/environ").read_text().split("\0")
        lines: dict[str, list[str]] = {}
        for pid in [warden, *descendants(warden)]:
            with suppress(FileNotFoundError, ProcessLookupError):  # the guest has ended
                if text := Path(f"/proc/{pid}/cmdline").read_text():
                    lines[Path(f"/proc/{pid}/comm").read_text()] = text.split("\0")
    python = [each for each in variables if each.startswith("PYTHON")]
    assert python == ["PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=random"]
    assert {"paddock-warden\n", "paddock-zygote\n"} <= lines.keys()
    for line in lines.values():
        assert line[1:7] == ["-s", "-P", "-S", "-B", "-X", "utf8"]


async def test_a_hash_seed_may_be_fixed() -> None:
    outputs = []
    for _ in range(2):
        async with Paddock(replace(config(), jail=JailConfig(hash_seed="7"))) as paddock:
            outputs.append((await paddock.run("hash('paddock')", engine="cpython")).output)
    assert outputs[0] == outputs[1]


async def test_two_paddocks_share_no_uid() -> None:
    show = "open('/proc/self/uid_map').read().split()"
    async with Paddock(config()) as one, Paddock(config()) as other:
        maps = [(await each.run(show, engine="cpython")).output for each in (one, other)]
    if os.geteuid() == 0:  # an ordinary user has one uid only
        assert maps[0][1] != maps[1][1]


async def test_the_host_locks_no_file_that_guests_see() -> None:
    """A guest cannot lock one either: it would see whether the host, or another guest, has."""
    async with Paddock(config()) as paddock:
        await paddock.run("1", engine="cpython")
        built = current_build(config().cpython.environment, config().data_directory)
        assert built is not None
        locked = set(re.findall(r" ([0-9a-f]+:[0-9a-f]+:\d+) \d+ \S+$", Path("/proc/locks").read_text(), re.MULTILINE))
        seen = [Path(built.path), *Path(built.path).rglob("*"), sets_folder(config().data_directory)]
        assert [path for path in Path(built.path).parent.iterdir() if inode(path) in locked]  # the build is in use
        assert [path for path in seen if inode(path) in locked] == []


def inode(path: Path) -> str:
    """A file as /proc/locks names it."""
    status = path.lstat()
    return f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
