"""A server whose store fails for a while: it continues, and retries maintenance."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from mcp import Client
from mcp_types import CallToolResult

from paddock import Config
from paddock.config import ArtifactsConfig, StoreConfig
from paddock.definitions.definition import shipped
from paddock.errors import BadArtifact, StoreError
from paddock.model.artifacts import Owner
from paddock.model.request import LOCAL
from paddock.model.result import RunResult
from paddock.server import code_tools
from paddock.server import runs as server_runs
from paddock.server.code_tools import SavedTools
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.store.database import Store
from paddock.store.runs import NewRun
from paddock.store.tables import runs
from tests.server.shared_services import open_services, stored_in
from tests.store.artifact_places import find
from tests.store.working import result


def failing_once(monkeypatch: pytest.MonkeyPatch, on: object, name: str) -> None:
    """Make a method fail on its first call."""
    real = getattr(on, name)
    faults: Iterator[Exception] = iter([StoreError("the store is locked")])

    async def once(*arguments: object, **options: object) -> object:
        for fault in faults:
            raise fault
        return await real(*arguments, **options)

    monkeypatch.setattr(on, name, once)


async def leave_run(services: Services, run_id: str) -> None:
    """Store a run that has no verdict and whose process is gone."""
    async with Store(services.store.path) as store:
        await store.runs.begin(NewRun(run_id, LOCAL, "1", "python"))


async def until_lost(services: Services, run_id: str) -> None:
    async with asyncio.timeout(60):
        # Not `get`, which would mark the run itself.
        is_run = runs.c.id == run_id
        query = sqlalchemy.select(runs.c.verdict).where(is_run)
        while await services.store.read(lambda connection: connection.scalar(query)) != "lost":
            await asyncio.sleep(0)


async def test_maintenance_is_retried_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = Config(store=StoreConfig(sweep_seconds=0.01))
    with caplog.at_level(logging.WARNING):
        async with open_services(config) as services:
            failing_once(monkeypatch, services.store.runs, "mark_lost")
            await leave_run(services, "r_1")
            services.start_maintenance()
            await until_lost(services, "r_1")
    assert "the store's clean-up failed and will be tried again: the store is locked" in caplog.text


async def test_a_store_that_grows_is_swept_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.server.services.GROWTH_SECONDS", 0.01)
    config = Config(store=StoreConfig(run_bytes=1_000_000))
    async with open_services(config) as services, asyncio.timeout(60):
        services.start_maintenance()
        added = first = 0
        for _ in range(2):  # the first sweep takes place in any case
            while added == first or await services.store.runs.get("ada", f"r_{first}") is not None:
                await services.store.runs.begin(NewRun(f"r_{added}", "ada", "x" * 100_000, "python"))
                await services.store.runs.finish(f"r_{added}", result(f"r_{added}"))
                added += 1
            first = added


@pytest.mark.parametrize("principal_bytes", [0, 99_999])
async def test_bytes_of_removed_and_refused_artifacts_are_deleted_early_when_much_was_written(
    principal_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.server.services.GROWTH_SECONDS", 0.01)
    for name in ("paddock.server.services.WAITING_BYTES", "paddock.store.artifacts.WAITING_BYTES"):
        monkeypatch.setattr(name, 1_000_000)
    for name in ("HURRIED_SECONDS", "FAILED_SECONDS"):
        monkeypatch.setattr(f"paddock.store.artifact_records.{name}", 0.0)
    config = Config(artifacts=ArtifactsConfig(principal_bytes=principal_bytes))
    async with open_services(config) as services, asyncio.timeout(60):
        deleted: asyncio.Queue[int] = asyncio.Queue()
        sweep, own = services.artifacts.sweep, services.artifacts.of(Owner("ada"))

        async def observed_sweep() -> int:
            count = await sweep()
            await deleted.put(count)
            return count

        monkeypatch.setattr(services.artifacts, "sweep", observed_sweep)
        services.start_maintenance()
        assert await deleted.get() == 0  # the first sweep takes place in any case
        for _ in range(10):
            with suppress(BadArtifact):
                await own.create("a", "text/plain", b"x" * 100_000)
                await own.remove(await find(own, "a"))
        assert await deleted.get() >= 9  # the last one may be written during the sweep


def test_a_server_imports_ahead_what_the_hint_of_the_first_error_needs() -> None:
    program = """
import asyncio, sys
from paddock import Config
from tests.server.shared_services import open_services

async def main():
    async with open_services(Config()) as services:
        assert "rapidfuzz" not in sys.modules
        services.start_maintenance()
        async with asyncio.timeout(60):
            while "rapidfuzz" not in sys.modules:
                await asyncio.sleep(0.01)

asyncio.run(main())
"""
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


async def test_watching_saved_definitions_is_retried_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(code_tools, "WATCH_SECONDS", 0)
    changed = asyncio.Event()

    async def tell(principals: set[str]) -> None:
        assert principals == {LOCAL}
        changed.set()

    with caplog.at_level(logging.WARNING):
        async with open_services() as services:
            await services.store.definitions.save(LOCAL, "one", {"name": "one"})
            saved = SavedTools(services, "all")
            failing_once(monkeypatch, services, "all_definition_versions")
            watching = asyncio.create_task(saved.watch(None, tell))
            async with asyncio.timeout(60):
                for version in count():
                    await services.store.definitions.save(LOCAL, "one", {"name": "one", "version": version})
                    if changed.is_set():
                        break
            watching.cancel()
    assert caplog.text.count("saved definitions cannot be watched now") == 1


async def test_a_run_whose_result_cannot_be_stored_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with open_services() as services, Client(make_server(services)) as client:
            failing_once(monkeypatch, services.store.runs, "finish")
            answer = await client.call_tool("run_code", {"code": "6 * 7"})
    assert answer.structured_content is not None
    assert answer.structured_content["output"] == 42
    assert "could not be stored: the store is locked" in caplog.text


async def test_what_ends_runs_passes_over_one_that_has_ended_and_is_not_stored_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_ended, may_be_stored = asyncio.Event(), asyncio.Event()
    async with (
        asyncio.timeout(60),
        open_services() as services,
        Store(services.store.path) as other,
        Client(make_server(services)) as client,
    ):
        finish = services.store.runs.finish

        async def finish_later(run_id: str, result: RunResult, *more: Any, **options: Any) -> None:
            if result.verdict == "ok":
                has_ended.set()
                await may_be_stored.wait()
            await finish(run_id, result, *more, **options)

        async def started(code: str) -> tuple[str, asyncio.Task[CallToolResult]]:
            before, running = {*services.runs}, asyncio.create_task(client.call_tool("run_code", {"code": code}))
            while not (new := {*services.runs} - before):
                await asyncio.sleep(0)
            await services.store.writer.flush()  # other servers see it now
            return new.pop(), running

        monkeypatch.setattr(services.store.runs, "finish", finish_later)
        ended, answer = await started("6 * 7")
        await has_ended.wait()
        cancelling = asyncio.create_task(client.call_tool("cancel_run", {"run_id": ended}))
        await other.runs.request_cancel(LOCAL, ended)
        for _ in range(2):
            run_id, running = await started("import time\ntime.sleep(600)")
            await other.runs.request_cancel(LOCAL, run_id)
            assert verdict(await running) == "cancelled"
        _, running = await started("import time\ntime.sleep(600)")
        ending = asyncio.create_task(services.end_runs())
        assert verdict(await running) == "cancelled"
        may_be_stored.set()
        await ending
        assert [verdict(await answer), verdict(await cancelling)] == ["ok", "ok"]


def verdict(answer: CallToolResult) -> str:
    assert answer.structured_content is not None, answer
    return str(answer.structured_content["verdict"])


async def test_cancelling_a_run_of_a_server_that_does_not_respond_is_shown_as_requested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_runs, "CANCEL_SECONDS", 0)
    async with (
        open_services() as services,
        Store(services.store.path) as other,
        Client(make_server(services)) as client,
    ):
        await other.runs.begin(NewRun("r_1", LOCAL, "1", "python"))
        await other.writer.flush()
        answer = await client.call_tool("cancel_run", {"run_id": "r_1"})
    assert answer.structured_content == {
        "run_id": "r_1",
        "verdict": "running",
        "stdout": "",
        "stderr": "",
        "cancel_requested": True,
    }


@pytest.mark.parametrize("tool", ["run_code", "code_execution", "code_executor"])
async def test_a_fault_is_answered_without_paths_of_the_host(
    tool: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = stored_in(tmp_path)
    (tmp_path / "paddock.db").write_text("this is not a database, and long enough to be read as one. " * 100)
    arguments = {"code": "1", "language": "python"} if tool == "code_executor" else {"code": "1"}
    with caplog.at_level(logging.WARNING):
        async with Services(config) as services, Client(make_server(services, [shipped(tool)])) as client:
            answer = await client.call_tool(tool, arguments)
    text = answer.model_dump_json()
    assert answer.is_error
    assert "the store paddock.db " in text
    assert str(tmp_path) not in text
    assert str(tmp_path) in caplog.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[Errno 24] Too many open files: '/sys/fs/cgroup/memory/box/slot-1/memory.max'", "'memory.max'"),
        ("cannot start /opt/venv/bin/python: no such file", "start python: no"),
        ("read /files/data/a.csv", "read /files/data/a.csv"),
        ("see paddock://artifacts/a_1 or https://example.org/a/b", "https://example.org/a/b"),
        ("text and/or bytes, 3 / 4", "text and/or bytes, 3 / 4"),
    ],
)
async def test_the_text_of_a_fault_names_no_folder_of_the_host(text: str, shown: str) -> None:
    async with open_services() as services:
        assert shown in services.without_host_paths(text)
        assert services.without_host_paths(f"in {services.config.data_directory}/a b/c") == "in a b/c"
