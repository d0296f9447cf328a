"""SIGKILL of the server, and of each kind of process under it, in the middle of a hundred runs of three principals."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
import pytest_asyncio

from paddock.jail.environments import Built
from tests.anomaly.crowd import KINDS, crowd
from tests.anomaly.serving import Serving, left_of, serving

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
RUNS = 100
JAILED = {"cpython", "warm", "quickjs", "node", "checked"}
ENDED: dict[str, tuple[set[str], set[str]]] = {
    "upstream": ({"raised"}, set(KINDS)),
    "warden": ({"lost"}, JAILED),
    "zygote": ({"lost"}, JAILED),
    "warm zygote": ({"lost"}, {"warm"}),
    "reaper": ({"lost", "crashed"}, JAILED),
    "guest": ({"crashed"}, JAILED - {"node"}),
    "node": ({"crashed"}, {"node"}),
    "monty": ({"crashed"}, {"monty"}),
    "cleanup": (set(), set()),
}
"""By the kind of process: the verdicts that its death brings, and to which runs. All others end well."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory, default_environment: Built) -> AsyncIterator[Serving]:
    async with serving(tmp_path_factory.mktemp("served")) as made:
        yield made
        made.end()


@pytest.mark.parametrize(
    "parts",
    [("upstream",), ("warden",), ("zygote",), ("warm zygote",), ("reaper",), ("guest",), ("node", "monty", "cleanup")],
    ids=",".join,
)
async def test_a_kind_of_process_that_is_killed_costs_only_its_own_runs(
    server: Serving, parts: tuple[str, ...]
) -> None:
    verdicts = set[str]().union(*(ENDED[part][0] for part in parts))
    kinds = set[str]().union(*(ENDED[part][1] for part in parts))
    server.close_gate()
    async with crowd(server) as callers:
        callers.ask(RUNS)
        await server.arrived(RUNS)
        found = server.below()
        assert found.keys() == ENDED.keys()
        for pid in (pid for part in parts for pid in found[part]):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        server.open_gate()
        await callers.ended()
        callers.check()
        await callers.check_artifacts()
        by_kind = callers.verdicts()
        assert {kind for kind, seen in by_kind.items() if seen != {"ok"}} == kinds
        assert all(seen == {"ok"} if kind not in kinds else seen <= verdicts for kind, seen in by_kind.items())
        assert all(run.answer is not None for run in callers.asked if not run.detached)  # nobody lost a connection
    async with crowd(server) as others:  # nothing has to be restarted
        others.ask(2 * len(KINDS))
        await others.ended()
        assert set(others.check()) == {"ok"}


async def has_stored_output(store: Path, count: int) -> None:
    """Wait until so many runs in progress have what they printed in the store, which may take half a second."""
    query = "select count(*) from runs where verdict is null and stdout_so_far <> ''"
    async with asyncio.timeout(60):
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            while connection.execute(query).fetchone()[0] < count:
                await asyncio.sleep(0.01)


async def test_every_run_of_a_killed_server_is_lost_once_and_the_next_server_has_the_rest(
    tmp_path: Path, default_environment: Built
) -> None:
    async with serving(tmp_path) as server:
        server.open_gate()
        async with crowd(server) as before:
            before.ask(2 * len(KINDS))
            await before.ended()
            assert set(before.check()) == {"ok"}
        server.close_gate()
        async with crowd(server) as callers:
            callers.ask(RUNS)
            await server.arrived(RUNS)
            detached = [run for run in callers.asked if run.detached]
            await has_stored_output(server.store, RUNS)
            server.kill()
            await callers.answered()
            assert all(run.run_id for run in detached)
            assert all(run.problem for run in callers.asked if not run.detached)
            server.open_gate()
            await server.start()
            await server.until_ready()
            await callers.ended()
            assert callers.check() == {"lost": RUNS}
        async with crowd(server) as again:
            for run in detached[:10]:  # whoever asked for it can read it, and nobody else
                for name, http in again.http.items():
                    answer = await http.get(f"/runs/{run.run_id}")
                    assert answer.status_code == (200 if name == run.principal else 404)
                    assert name != run.principal or answer.json()["result"]["stdout"].strip() == run.marker
            again.ask(2 * len(KINDS))
            await again.ended()
            assert set(again.check()) == {"ok"}
            assert set(before.check()) == {"ok"}
            before.http = again.http
            await before.check_artifacts()
        server.end()


async def test_what_a_server_leaves_that_is_killed_with_its_cleanup_processes_the_next_one_removes(
    tmp_path: Path, default_environment: Built
) -> None:
    async with serving(tmp_path) as server:
        async with crowd(server) as callers:
            callers.ask(2 * len(KINDS))
            await server.arrived(2 * len(KINDS))
            killed, cleaners = server.pid, server.below()["cleanup"]
            for pid in (*cleaners, killed):
                os.kill(pid, signal.SIGKILL)
            server.wait()
            assert left_of(killed) != []  # control groups, and no process
            await callers.answered()
            server.open_gate()
            await server.start()
            await callers.ended()
            assert callers.check() == {"lost": 2 * len(KINDS)}
        async with crowd(server) as others:
            others.ask(2 * len(KINDS))
            await others.ended()
            assert set(others.check()) == {"ok"}
        assert left_of(killed) == []
        server.end()
