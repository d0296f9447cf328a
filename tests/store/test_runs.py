"""Runs on disk: each principal sees only its own, with live output and results."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import event

from paddock.config import StoreConfig
from paddock.errors import BadInput, RequestError, StoreError
from paddock.model.files import File
from paddock.model.journal import Intent, Outcome
from paddock.model.limits import Limits
from paddock.model.request import Request
from paddock.model.result import Call, RunError, Verdict
from paddock.store import runs as stored_runs
from paddock.store.connection import driver
from paddock.store.database import Store
from paddock.store.retention import _excess_runs
from paddock.store.run_records import RunRecords
from paddock.store.runs import EVERYONE, RUNNING, NewRun, RunSummary, StoredRun, fingerprint
from tests.store.working import held_up, result

RUN = NewRun("r_1", "ada", "print(1)\n1", "python", connection="s_1", definition="execute")


async def got(store: Store, run_id: str) -> StoredRun:
    run = await store.runs.get("ada", run_id)
    assert run is not None
    return run


async def test_a_run_is_stored_when_it_begins_and_gets_its_result_at_the_end(store: Store) -> None:
    assert await store.runs.begin(RUN) is None
    going_on = await got(store, "r_1")
    assert going_on.to_dict() == {
        "run_id": "r_1",
        "verdict": RUNNING,
        "principal": "ada",
        "connection": "s_1",
        "definition": "execute",
        "language": "python",
        "engine": None,
        "started_at": going_on.started_at,
        "ended_at": None,
        "code": "print(1)\n1",
        "stdout": "",
        "stderr": "",
        "calls": [],
        "result": None,
    }
    ended = result("r_1", stdout="1\n", output_json="1", connection="s_1", definition="execute")
    await store.runs.finish("r_1", ended)
    found = await got(store, "r_1")
    assert found.result == ended.to_dict()
    assert (found.verdict, found.engine, found.live_stdout) == ("ok", "monty", "")
    assert found.ended_at is not None
    assert found.ended_at >= found.started_at


async def test_a_run_of_another_principal_is_invisible(store: Store) -> None:
    await store.runs.begin(RUN)
    assert await store.runs.get("eve", "r_1") is None
    assert await store.runs.list("eve") == []
    with pytest.raises(RequestError, match="there is no run 'r_1'"):
        await store.runs.list("eve", before="r_1")
    assert [run.id for run in await store.runs.list(EVERYONE)] == ["r_1"]


async def test_a_stored_result_has_the_calls_of_the_journal_without_secrets(store: Store, path: Path) -> None:
    await store.runs.begin(RUN)
    await store.journal.intend(Intent("r_1", 1, "shop.login", '{"password": "[redacted]"}', False, 5.0))
    await store.journal.conclude(Outcome("r_1", 1, "ok", 1.5, "{}"))
    await store.journal.intend(Intent("r_1", 2, "shop.buy", "{}", False, 6.0))
    shown = Call(1, "shop.login", {"password": "hunter2"}, "ok", 1.5)
    await store.runs.finish("r_1", result("r_1", calls=(shown,)))
    found = await got(store, "r_1")
    login = {"id": 1, "tool": "shop.login", "arguments": {"password": "[redacted]"}, "status": "ok"}
    buy = {"id": 2, "tool": "shop.buy", "arguments": {}, "status": None, "milliseconds": None}
    assert found.to_dict()["result"]["calls"] == [{**login, "milliseconds": 1.5}, buy]
    await store.close()
    assert b"hunter2" not in path.read_bytes()


@pytest.mark.parametrize("output", ['{"calls":[],"x":"\\"calls\\":[]"}', '{"calls": []}', "[" * 800 + "]" * 800, None])
async def test_a_result_has_its_calls_whatever_the_value_of_its_script(store: Store, output: str | None) -> None:
    await store.runs.begin(RUN)
    await store.journal.intend(Intent("r_1", 1, "t", '{"a": "\\ud83d"}', True, 5.0))
    await store.journal.conclude(Outcome("r_1", 1, "ok", 1.5, "{}"))
    ended = result("r_1", output_json=output, stdout='"calls":[]', available_functions=('"calls":[]',))
    await store.runs.finish("r_1", ended)
    found = await got(store, "r_1")
    called = {"id": 1, "tool": "t", "arguments": {"a": "\ud83d"}, "status": "ok", "milliseconds": 1.5}
    assert found.result == {**ended.to_dict(), "calls": [called]}


class NoHunter2:
    """Removes one secret, and cannot read very deep values."""

    def redact(self, value: Any) -> Any:
        return json.loads(self.redact_json(json.dumps(value)))

    def redact_json(self, text: str) -> str:
        return "" if "[[" in text else text.replace("hunter2", "[redacted]")


async def test_neither_inputs_nor_files_nor_what_is_redacted_reach_the_disk(store: Store, path: Path) -> None:
    request = Request("login(password)", inputs={"password": "hunter2"}, files=[File("key", b"hunter2")])
    run = replace(RUN, code="login('hunter2')", idempotency_key="k", fingerprint=fingerprint(request))
    run = replace(run, redactor=NoHunter2())
    await store.runs.begin(run)
    store.runs.add_output("r_1", "stdout", "it is hunter2\n")
    found = await got(store, "r_1")
    assert (found.code, found.live_stdout) == ("login('[redacted]')", "it is [redacted]\n")
    error = RunError("ValueError", "not hunter2", traceback="hunter2")
    await store.runs.finish("r_1", result("r_1", output_json='{"said": "hunter2"}', stdout="hunter2", error=error))
    found = await got(store, "r_1")
    assert found.to_dict()["result"]["output"] == {"said": "[redacted]"}
    await store.close()
    assert b"hunter2" not in path.read_bytes()


async def test_a_value_that_cannot_be_searched_for_secrets_is_not_stored(store: Store) -> None:
    await store.runs.begin(replace(RUN, redactor=NoHunter2()))
    await store.runs.finish("r_1", result("r_1", output_json="[" * 100_000 + "]" * 100_000))
    found = await got(store, "r_1")
    assert (found.verdict, found.to_dict()["result"]["output"]) == ("ok", None)


class SlowRedactor(NoHunter2):
    """Searches a large text only when it is released."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()

    def redact_json(self, text: str) -> str:
        if len(text) > stored_runs.LARGE_BYTES:
            self.begun.set()
            assert self.released.wait(60)
        return super().redact_json(text)


async def test_searching_a_large_result_for_secrets_does_not_hold_up_other_writes(store: Store) -> None:
    redactor = SlowRedactor()
    await store.runs.begin(replace(RUN, redactor=redactor))
    finishing = asyncio.create_task(store.runs.finish("r_1", result("r_1", stdout="hunter2" * 10_000)))
    assert await asyncio.to_thread(redactor.begun.wait, 60)
    assert await store.runs.begin(replace(RUN, id="r_2", idempotency_key="k")) is None
    finishing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await finishing
    redactor.released.set()
    async with asyncio.timeout(60):
        while (found := await got(store, "r_1")).result is None:
            await asyncio.sleep(0.001)
    assert found.to_dict()["result"]["stdout"] == "[redacted]" * 10_000


async def test_large_results_of_one_principal_are_searched_one_after_another(store: Store) -> None:
    slow, quick = SlowRedactor(), SlowRedactor()
    quick.released.set()
    for number, (principal, redactor) in enumerate([("ada", slow), ("ada", quick), ("bob", quick)]):
        await store.runs.begin(NewRun(f"r_{number}", principal, "1", "python", redactor=redactor))

    def finish(number: int) -> asyncio.Task[None]:
        ended = result(f"r_{number}", stdout="hunter2" * 10_000)
        return asyncio.create_task(store.runs.finish(f"r_{number}", ended))

    first = finish(0)
    assert await asyncio.to_thread(slow.begun.wait, 60)
    second = finish(1)
    await finish(2)
    assert not first.done()
    assert not second.done()
    slow.released.set()
    await asyncio.gather(first, second)


async def test_live_output_can_be_read_and_only_its_end_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_runs, "LIVE_CHARACTERS", 10)
    await store.runs.begin(RUN)
    store.runs.add_output("r_1", "stdout", "a line that is long\n")
    store.runs.add_output("r_1", "stderr", "oh\n")
    found = await got(store, "r_1")
    assert (found.live_stdout, found.live_stderr) == (" is long\n"[-10:].rjust(10, "t"), "oh\n")


async def test_live_output_is_written_periodically(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_runs, "LIVE_SECONDS", 0.01)
    async with Store(path) as store, Store(path) as other, asyncio.timeout(60):
        await store.runs.begin(RUN)
        for text in ("one ", "two ", "three"):
            store.runs.add_output("r_1", "stdout", text)
        while True:
            found = await other.runs.get("ada", "r_1")
            if found is not None and found.live_stdout:
                break
        assert found.live_stdout == "one two three"


async def test_output_of_an_unknown_or_finished_run_is_ignored(store: Store) -> None:
    await store.runs.begin(RUN)
    store.runs.add_output("r_1", "stdout", "before")
    await store.runs.finish("r_1", result("r_1", stdout="before"))
    store.runs.add_output("r_1", "stdout", "after")
    store.runs.add_output("r_2", "stdout", "nobody's")
    found = await got(store, "r_1")
    assert (found.to_dict()["result"]["stdout"], found.live_stdout) == ("before", "")


async def test_the_same_key_and_request_is_the_same_run(store: Store) -> None:
    asked = fingerprint(Request("1", inputs={"a": 1}))
    run = replace(RUN, idempotency_key="k", fingerprint=asked)
    assert await store.runs.begin(run) is None
    again = await store.runs.begin(replace(run, id="r_2"))
    assert again is not None
    assert again.id == "r_1"
    assert await store.runs.begin(replace(run, id="r_3", principal="eve")) is None  # each principal has its own keys
    other = replace(run, id="r_4", fingerprint=fingerprint(Request("1", inputs={"a": 2})))
    with pytest.raises(RequestError, match="the idempotency_key 'k' was used for another request"):
        await store.runs.begin(other)
    for key in ("", "k" * 256):
        with pytest.raises(RequestError, match="an idempotency_key has 1 to 255 characters"):
            await store.runs.begin(replace(run, idempotency_key=key))
    assert {run.id for run in await store.runs.list(EVERYONE)} == {"r_1", "r_3"}


async def test_of_many_concurrent_requests_with_one_key_one_begins(path: Path) -> None:
    async with Store(path) as one, Store(path) as two:
        runs = [replace(RUN, id=f"r_{number}", idempotency_key="k") for number in range(20)]
        begun = await asyncio.gather(*((one, two)[number % 2].runs.begin(run) for number, run in enumerate(runs)))
    earlier = {found.id for found in begun if found is not None}
    assert ([found is None for found in begun].count(True), len(earlier)) == (1, 1)


REQUEST = Request("1", inputs={"a": 1}, files=[File("a", b"1")], limits={"calls": 1})


def test_a_request_that_is_not_json_has_no_fingerprint() -> None:
    for inputs in ({"a": object()}, {"a": {1: 1, "b": 2}}):
        with pytest.raises(BadInput, match="the request is not JSON"):
            fingerprint(Request("1", inputs=inputs))


def test_equal_requests_have_equal_fingerprints() -> None:
    same = Request("1", inputs={"a": 1}, files=[File("a", b"1")], limits={"calls": 1})
    assert fingerprint(REQUEST) == fingerprint(same)


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, code="2"),
        replace(REQUEST, language="javascript"),
        replace(REQUEST, engine="monty"),
        replace(REQUEST, inputs={"a": "1"}),
        replace(REQUEST, files=[File("a", b"2")]),
        replace(REQUEST, files=[File("b", b"1")]),
        replace(REQUEST, tools=["t"]),
        replace(REQUEST, limits=Limits()),
        replace(REQUEST, type_check=True),
        replace(REQUEST, mode="script"),
        replace(REQUEST, argv=["x"]),
        replace(REQUEST, refused_modules=["x"]),
        replace(REQUEST, globals="closed"),
    ],
)
def test_different_requests_have_different_fingerprints(other: Request) -> None:
    assert fingerprint(REQUEST) != fingerprint(other)


async def seven_runs(store: Store) -> list[str]:
    """Store seven runs with different verdicts, and return their ids, newest first."""
    for number in range(7):
        definition = "python" if number % 2 else None
        await store.runs.begin(replace(RUN, id=f"r_{number}", definition=definition, connection=f"s_{number % 3}"))
        if number:
            verdict = Verdict.OK if number < 5 else Verdict.TIMEOUT
            await store.runs.finish(f"r_{number}", result(f"r_{number}", verdict))
    return [f"r_{number}" for number in range(6, -1, -1)]


async def ids(store: Store, **wanted: Any) -> list[str]:
    return [run.id for run in await store.runs.list("ada", **wanted)]


async def test_runs_are_listed_newest_first_with_pages_and_filters(store: Store) -> None:
    newest_first = await seven_runs(store)
    assert await ids(store) == newest_first
    pages = [await ids(store, limit=3), await ids(store, limit=3, before="r_4"), await ids(store, before="r_1")]
    assert pages == [newest_first[:3], newest_first[3:6], newest_first[6:]]
    assert await ids(store, verdict="timeout") == ["r_6", "r_5"]
    assert await ids(store, verdict=RUNNING) == ["r_0"]
    assert await ids(store, definition="python", verdict="ok") == ["r_3", "r_1"]
    assert await ids(store, connection="s_1") == ["r_4", "r_1"]
    assert await ids(store, definition=RUNNING) == []
    assert await ids(store, limit=-1) == []


async def test_a_listed_run_has_only_the_beginning_of_its_code(store: Store) -> None:
    await store.runs.begin(replace(RUN, code="x" * 1000))
    (line,) = await store.runs.list("ada")
    assert line == RunSummary(
        "r_1", "ada", "s_1", "execute", "python", None, line.started_at, None, None, beginning="x" * 200
    )


async def test_lists_and_sweeps_read_only_indexes(store: Store) -> None:
    def plans(connection: sqlalchemy.Connection) -> list[str]:
        asked: list[str] = []
        event.listen(connection, "before_cursor_execute", lambda *given: asked.append(given[2]))
        records = RunRecords(connection, store.runs.process)
        records.list("ada", 10, None, {"connection": "s"})
        records.list(EVERYONE, 10, None, {})
        _excess_runs(connection, 0.0, StoreConfig(run_count=1, run_bytes=1))
        raw = driver(connection)
        explained = [raw.execute(f"EXPLAIN QUERY PLAN {text}", [""] * text.count("?")) for text in asked]
        return [row[3] for rows in explained for row in rows.fetchall()]

    found = await store.read(plans)
    assert [text.split(" INDEX ")[-1].split()[0] for text in found if "INDEX" in text] == [
        "ix_runs_listed",
        "ix_runs_kept",
        "ix_runs_kept",
        "ix_runs_listed",
    ]
    assert "COVERING" in found[-1]
    assert [text for text in found if text == "SCAN runs"] == []


async def test_runs_that_began_at_the_same_moment_are_all_listed(store: Store, path: Path) -> None:
    newest_first = await seven_runs(store)
    await store.writer.flush()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE runs SET started_at = 1")
    first = await ids(store, limit=4)
    assert [*first, *await ids(store, before=first[-1])] == newest_first


@pytest.mark.parametrize("text", ["a\x00b", "half of a pair: \ud83d", "ünï", "'; DROP TABLE runs; --"])
async def test_any_text_of_a_script_can_be_stored(store: Store, text: str) -> None:
    await store.runs.begin(replace(RUN, code=text, language=text))
    store.runs.add_output("r_1", "stdout", text)
    going_on = await store.runs.get("ada", "r_1")
    await store.runs.finish("r_1", result("r_1", stdout=text, error=RunError("E", text)))
    ended = await store.runs.get("ada", "r_1")
    assert going_on is not None
    assert ended is not None
    shown = text.encode(errors="backslashreplace").decode()
    assert {going_on.code, going_on.language, going_on.live_stdout, ended.code} == {shown}
    assert ended.to_dict()["result"]["stdout"] == text
    assert store.writer.lost == 0


async def test_the_value_of_a_stored_run_is_not_decoded_before_it_is_used(store: Store) -> None:
    await store.runs.begin(RUN)
    await store.runs.finish("r_1", replace(result("r_1"), output_json="[1,  [2]]"))
    ended = await store.runs.get("ada", "r_1")
    assert ended is not None
    assert ended.raw_result is not None
    assert bytes(ended.raw_result["output"]) == b"[1,  [2]]"
    assert ended.to_dict()["result"]["output"] == [1, [2]]


async def test_beginning_and_ending_a_run_does_not_wait_for_the_store(store: Store) -> None:
    with held_up(store.writer):
        async with asyncio.timeout(60):
            await store.runs.begin(RUN)
            await store.runs.finish("r_1", result("r_1"))
    assert await ids(store, verdict="ok") == ["r_1"]


async def test_a_run_that_ends_before_it_is_written_is_stored_too(store: Store) -> None:
    new = replace(RUN, code="x\0ä = 1")  # of which a text counts one character, and the store seven bytes
    ended = result("r_1", stdout="1\n", output_json="1", connection="s_1", definition="execute")
    rows = []
    for run_id, is_written in (("r_1", False), ("r_2", True)):
        await store.runs.begin(replace(new, id=run_id))
        if is_written:
            await store.writer.flush()
        await store.journal.intend(Intent(run_id, 1, "shop.look", "{}", is_read_only=True, at=6.0))
        if is_written:
            await store.writer.flush()
        await store.journal.conclude(Outcome(run_id, 1, "ok", 2.5, "[1]"))
        await store.runs.finish(run_id, replace(ended, run_id=run_id))
        rows.append(await store.read(lambda connection, run_id=run_id: row_of(connection, run_id)))  # type: ignore[misc]
    assert rows[0] == rows[1]
    assert rows[0]["calls"] == [("shop.look", "ok", 2.5, "[1]", 5)]


def row_of(connection: sqlalchemy.Connection, run_id: str) -> dict[str, Any]:
    """Return everything that is stored of a run except its id and times."""
    raw = driver(connection)
    columns = [name for _, name, *_ in raw.execute("PRAGMA table_info(runs)")]
    (row,) = raw.execute("SELECT * FROM runs WHERE id = ?", [run_id])
    calls = raw.execute(
        "SELECT tool, status, milliseconds, answer_json, size_bytes FROM calls WHERE run_id = ?", [run_id]
    )
    found = dict(zip(columns, row, strict=True)) | {"calls": calls.fetchall()}
    found["result_json"] = found["result_json"].replace(run_id, "")
    return {name: value for name, value in found.items() if name not in ("id", "started_at", "ended_at")}


async def test_only_the_process_that_owns_a_run_writes_its_result_and_only_once(
    store: Store, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Store(path) as other:
        await store.runs.begin(RUN)
        await store.writer.flush()
        await other.runs.finish("r_1", result("r_1", output_json="1"))
        assert (await got(other, "r_1")).verdict is None
        await store.runs.finish("r_1", result("r_1", output_json="2"))
        await store.runs.finish("r_1", result("r_1", output_json="3"))
        await store.writer.flush()
        run = await got(other, "r_1")
    assert (run.verdict, run.to_dict()["result"]["output"]) == ("ok", 2)
    assert caplog.text.count("the result of run r_1 was not stored: it is no longer a run of this process") == 2


async def test_a_run_of_a_process_that_is_gone_is_lost_when_it_is_read_or_listed(store: Store, path: Path) -> None:
    for number in (1, 2):
        async with Store(path) as gone:
            await gone.runs.begin(replace(RUN, id=f"r_{number}"))
        if number == 1:
            assert (await got(store, "r_1")).verdict == "lost"
    assert [(each.id, each.verdict) for each in await store.runs.list("ada")] == [("r_2", "lost"), ("r_1", "lost")]
    assert await store.runs.list("ada", verdict="running") == []


async def test_a_cancellation_reaches_the_owner_alone_and_only_from_the_same_principal(
    store: Store, path: Path
) -> None:
    async with Store(path) as other:
        await store.runs.begin(RUN)
        await store.writer.flush()
        await other.runs.request_cancel("bob", "r_1")
        assert await store.runs.cancel_requests() == []
        await other.runs.request_cancel("ada", "r_1")
        assert (await other.runs.cancel_requests(), await store.runs.cancel_requests()) == ([], ["r_1"])
        assert (await got(other, "r_1")).cancel_requested
        await store.runs.finish("r_1", result("r_1"))
        assert await store.runs.cancel_requests() == []


async def test_a_run_whose_beginning_was_cancelled_is_not_left_running(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as blocking:
        blocking.execute("BEGIN IMMEDIATE")
        begin = asyncio.create_task(store.runs.begin(replace(RUN, idempotency_key="k")))
        await asyncio.sleep(0)
        begin.cancel()
        await asyncio.wait([begin])
        blocking.execute("COMMIT")
    assert await store.runs.list("ada") == []
    assert await store.runs.begin(replace(RUN, id="r_2", idempotency_key="k")) is None


async def test_a_run_whose_process_cannot_be_noted_is_recorded_as_soon_as_it_can(store: Store) -> None:
    await store.start()
    owners = store.path.with_name(f"{store.path.name}.owners")
    owners.write_text("no folder")  # as if the disk were full or read-only
    await store.runs.begin(RUN)  # does not wait for the write
    await store.runs.finish("r_1", result("r_1"))
    with pytest.raises(StoreError, match="File exists"):
        await store.writer.flush()
    with pytest.raises(StoreError, match="File exists"):  # the next run waits, and is refused
        await store.runs.begin(replace(RUN, id="r_2"))
    owners.unlink()
    assert (await got(store, "r_1")).verdict == "ok"
    assert await store.runs.get("ada", "r_2") is None
    assert store.writer.lost == 0


async def test_a_process_that_cannot_be_looked_at_is_an_error_of_the_store(store: Store) -> None:
    await store.runs.begin(RUN)
    await store.writer.write(lambda connection: connection.exec_driver_sql("UPDATE runs SET owner = 'other'"))
    (store.path.with_name(f"{store.path.name}.owners") / "other").mkdir()
    with pytest.raises(StoreError, match="Is a directory"):
        await store.runs.get("ada", "r_1")
