"""A guest that cannot be made: its caller is told why, and other guests continue."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.config import Config, GuestsConfig
from paddock.engines import node
from paddock.errors import HostError
from paddock.jail import warden_client
from paddock.model.environments import EnvironmentConfig
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.anomaly.test_jail import children, until

NONE_WAITS = GuestsConfig(environment="bare", min_waiting=0, max_waiting=0)
BARE = Config(environments={"bare": EnvironmentConfig()}, cpython=NONE_WAITS)
ENDLESS = "--import=data:text/javascript,if(!process.argv.includes('compile'))await(new(Promise)(d=>setTimeout(d,1e9)))"
FILES, PROCESSES = resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root can limit processes with another id"
)


def host(paddock: Paddock) -> int:
    return os.getpid()


def warden(paddock: Paddock) -> int:
    started = paddock._engines.get("cpython")._jail._pool._client._process.pid  # type: ignore[attr-defined]
    [found] = children(started)
    return found


def zygote(paddock: Paddock) -> int:
    return min(children(warden(paddock)))


def too_few(pid: int, kind: int) -> int:
    """The limit with which a process can open no file, or start no process."""
    used = {int(fd.name) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    return next(number for number in range(len(used) + 1) if number not in used) if kind == FILES else 1


@pytest.mark.parametrize(
    ("who", "kind", "reason"),
    [
        (host, FILES, "Too many open files"),
        (warden, FILES, "Too many open files"),
        (zygote, FILES, "ended before it was walled in"),
        (zygote, PROCESSES, "Resource temporarily unavailable"),
    ],
)
async def test_a_guest_that_cannot_be_made_fails_alone(who: Callable[[Paddock], int], kind: int, reason: str) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hold() -> str:
        begun.set()
        await ended.wait()
        return "done"

    async with Paddock(BARE, tools=[hold]) as paddock:
        going = asyncio.create_task(paddock.run("await hold({})", engine="cpython"))
        await begun.wait()
        pid = who(paddock)
        before = resource.prlimit(pid, kind)
        resource.prlimit(pid, kind, (too_few(pid, kind), before[1]))
        try:
            with pytest.raises(HostError, match=reason):
                await paddock.run("2", engine="cpython")
        finally:
            resource.prlimit(pid, kind, before)
        assert (await paddock.run("3", engine="cpython")).output == 3
        ended.set()
        assert (await going).verdict is Verdict.OK


async def test_a_guest_that_never_gets_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(children(os.getpid()))  # of other tests in this process
    monkeypatch.setattr(node, "node_program", lambda heap_bytes: (node.PROGRAM, ENDLESS))
    monkeypatch.setattr(warden_client, "READY_SECONDS", 0.1)
    none_waits = GuestsConfig(environment="node", min_waiting=0, max_waiting=0)
    async with Paddock(Config(node=none_waits)) as paddock:
        for _ in range(2):
            with pytest.raises(
                HostError, match=r"^no guest can be started at the moment: a guest was not ready in time"
            ):
                await paddock.run("1", language="javascript", engine="node")
    await until(lambda: set(children(os.getpid())) <= before)
