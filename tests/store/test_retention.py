"""Retention removes what is over a limit, oldest first, and keeps runs that have not ended."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.config import StoreConfig
from paddock.model.journal import Intent
from paddock.store import retention
from paddock.store.database import Store
from paddock.store.principals import new_call_id
from paddock.store.runs import EVERYONE
from tests.store.test_runs import RUN
from tests.store.working import result, session_row

DAY = 86_400
KEEP_ALL = StoreConfig(run_days=0, run_count=0, run_bytes=0, session_days=0, definition_versions=0)


async def fill(store: Store, path: Path, count: int, *, stdout: str = "") -> None:
    """Store ended runs with a call each (r_0 is one day old, r_1 two, …), and an older one that has not ended."""
    for number in range(count + 1):
        run_id = f"r_{number}"
        await store.runs.begin(replace(RUN, id=run_id))
        await store.journal.intend(Intent(run_id, 1, "t", "{}", True, 0.0))
        if number < count:
            await store.runs.finish(run_id, result(run_id, stdout=stdout))
    await store.writer.flush()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE runs SET started_at = unixepoch() - ? * (CAST(substr(id, 3) AS INTEGER) + 1)", (DAY,))


async def kept(store: Store) -> tuple[list[str], list[str]]:
    """Return the runs, newest first, and the runs that have calls."""
    runs = [run.id for run in await store.runs.list(EVERYONE, limit=1000)]
    with_calls = [run_id for run_id in (f"r_{number}" for number in range(400)) if await store.journal.calls(run_id)]
    return runs, with_calls


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        (KEEP_ALL, 9),
        (replace(KEEP_ALL, run_days=4.5), 4),
        (replace(KEEP_ALL, run_count=3), 3),
        (replace(KEEP_ALL, run_bytes=1), 0),
        (replace(KEEP_ALL, run_days=4.5, run_count=5), 4),
    ],
)
async def test_runs_over_a_limit_are_removed_with_their_calls(path: Path, settings: StoreConfig, left: int) -> None:
    async with Store(path, settings) as store:
        await fill(store, path, 9)
        await store.sweep()
        names = [*(f"r_{number}" for number in range(left)), "r_9"]
        assert await kept(store) == (names, names)


@pytest.mark.parametrize("settings", [replace(KEEP_ALL, run_bytes=60_000), replace(KEEP_ALL, run_count=6)])
async def test_over_a_limit_a_principal_within_its_share_keeps_its_older_runs(
    path: Path, settings: StoreConfig
) -> None:
    stored = [("ada", 1), ("ada", 1), *[("bob", 20_000)] * 7, ("eve", 1)]
    async with Store(path, settings) as store:
        for number, (principal, size) in enumerate(stored):
            await store.runs.begin(replace(RUN, id=f"r_{number}", principal=principal))
            await store.runs.finish(f"r_{number}", result(f"r_{number}", stdout="x" * size))
        await store.sweep()
        assert [run.id for run in await store.runs.list("ada")] == ["r_1", "r_0"]
        assert [run.id for run in await store.runs.list("bob")][:2] == ["r_8", "r_7"]
        assert len(await store.runs.list("bob")) < 4
        assert len(await store.runs.list("eve")) == 1


async def test_the_bytes_of_a_run_are_those_of_its_code_its_result_and_its_calls(path: Path) -> None:
    async with Store(path, replace(KEEP_ALL, run_bytes=25_000)) as store:
        await fill(store, path, 4, stdout="x" * 10_000)
        await store.sweep()
        assert (await kept(store))[0] == ["r_0", "r_1", "r_4"]


async def test_a_sweep_takes_many_small_steps_and_shrinks_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "STEP_RUNS", 7)
    monkeypatch.setattr(retention, "STEP_PAGES", 50)
    async with Store(path, replace(KEEP_ALL, run_count=1)) as store:
        await fill(store, path, 300, stdout="x" * 5000)
    before = path.stat().st_size
    async with Store(path, replace(KEEP_ALL, run_count=1)) as store:
        await store.sweep()
    assert before > 300 * 5000 > 5 * path.stat().st_size


async def test_removed_data_is_no_longer_in_the_file(path: Path) -> None:
    async with Store(path, replace(KEEP_ALL, run_count=1)) as store:
        for number in range(200):
            await store.runs.begin(replace(RUN, id=f"r_{number}", code=f"secret_of_{number}_"))
            await store.journal.intend(Intent(f"r_{number}", 1, "t", f'"argument_of_{number}_"', True, 0.0))
            await store.runs.finish(f"r_{number}", result(f"r_{number}", stdout=f"output_of_{number}_" * 500))
        await store.sweep()
    (kept_run,) = set(re.findall(rb"secret_of_(\d+)_", path.read_bytes()))
    for text in (rb"argument_of_(\d+)_", rb"output_of_(\d+)_"):
        assert set(re.findall(text, path.read_bytes())) == {kept_run}


async def test_removed_data_is_no_longer_in_the_log_unless_a_reader_keeps_it(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = path.with_name(f"{path.name}-wal")
    async with Store(path, replace(KEEP_ALL, run_count=1), busy_seconds=0.1) as store:
        await fill(store, path, 2, stdout="of a run")
        with closing(sqlite3.connect(path)) as reader, reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM runs").fetchone() == (3,)
            await store.sweep()
            assert b"of a run" in log.read_bytes()
            assert "still has content that was deleted" in caplog.text
        caplog.clear()
        await store.sweep()
        assert (log.read_bytes(), caplog.text) == (b"", "")
        assert (await kept(store))[0] == ["r_0", "r_2"]


async def test_old_calls_outside_a_run_are_removed(path: Path) -> None:
    async with Store(path, replace(KEEP_ALL, run_days=1)) as store:
        await store.runs.begin(RUN)
        for run_id in ("r_1", "r_gone"):
            await store.journal.intend(Intent(run_id, 1, "t", "{}", True, 0.0))
        await store.journal.intend(Intent("r_new", 1, "t", "{}", True, 9e9))
        await store.sweep()
        assert [len(await store.journal.calls(run_id)) for run_id in ("r_1", "r_gone", "r_new")] == [1, 0, 1]


@pytest.mark.parametrize(("arguments", "most"), [("x" * 20_000, 2), ("{}", 58)])
async def test_calls_outside_a_run_beyond_a_principals_share_are_removed_oldest_first(
    path: Path, arguments: str, most: int
) -> None:
    calls = [("ada", "{}"), *[("bob", arguments)] * 130, ("eve", "{}"), ("ada", "{}")]
    ids = [new_call_id(principal) for principal, _ in calls]
    async with Store(path, replace(KEEP_ALL, run_bytes=61_500)) as store:
        await fill(store, path, 1)
        for number, (call_id, (_, text)) in enumerate(zip(ids, calls, strict=True)):
            await store.journal.intend(Intent(call_id, 1, "t", text, True, float(number)))
        await store.sweep()
        left = [number for number, call_id in enumerate(ids) if await store.journal.calls(call_id)]
        assert left == [0, *range(131 - most, 131), 131, 132]
        assert (await kept(store))[0] == ["r_0", "r_1"]


async def test_unused_sessions_are_removed(path: Path) -> None:
    async with Store(path, replace(KEEP_ALL, session_days=1)) as store:
        for name in ("s_used", "s_old"):
            await store.sessions.save("ada", name, {})
        await store.writer.flush()
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("UPDATE sessions SET seen_at = 0 WHERE id = 's_old'")
        await store.sweep()
        assert await session_row(store, "s_used") is not None
        assert await session_row(store, "s_old") is None


async def test_old_versions_of_definitions_are_removed_except_the_current_one(path: Path) -> None:
    async with Store(path, replace(KEEP_ALL, definition_versions=2)) as store:
        for number in range(6):
            await store.definitions.save("ada", "a", {"n": number})
            await store.definitions.save("ada", "b", {"n": number // 3})
        await store.sweep()
        assert [was.version for was in await store.definitions.history("ada", "a")] == [6, 5, 4]
        assert [was.version for was in await store.definitions.history("ada", "b")] == [2, 1]
