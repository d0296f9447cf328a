"""Runs that commands left beside the store, and how it takes them in."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from paddock.cli.keeping import Kept
from paddock.cli.show import Screen
from paddock.config import Config, StoreConfig
from paddock.model.journal import Intent, Outcome
from paddock.model.result import RunResult, Usage, Verdict
from paddock.store import spool as module
from paddock.store.database import Store, spool_of
from paddock.store.run_records import EVERYONE, NewRun
from paddock.store.spool import Spool, waiting
from paddock.store.taking_in import take_in


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "paddock.db"


def ended(run_id: str, output: str = "1") -> RunResult:
    return RunResult(run_id, Verdict.OK, "python", "monty", None, Usage(0.5), output_json=output)


async def left(path: Path, run_id: str, *, output: str = "1") -> None:
    spool = Spool(spool_of(path))
    spool.begin(NewRun(run_id, "local", "code \ud800", "python"))
    await spool.intend(Intent(run_id, 1, "shop.buy", "{}", False, 5.0))
    await spool.conclude(Outcome(run_id, 1, "ok", 1.5, '{"done": true}'))
    await spool.intend(Intent(run_id, 2, "shop.pay", "{}", False, 6.0))
    spool.finish(ended(run_id, output), ended(run_id, output).to_json())


async def test_all_that_was_written_is_in_the_store_afterwards_and_nowhere_else(path: Path) -> None:
    await left(path, "r_1")
    async with Store(path) as store:
        assert await take_in(store, "ada") == 1
        assert await take_in(store, "ada") == 0
        run = await store.runs.get("ada", "r_1")
        calls = await store.journal.calls("r_1")
    assert waiting(spool_of(path)) == []
    assert run is not None
    assert (run.verdict, run.code, run.engine) == ("ok", "code \\ud800", "monty")
    assert [(intent.tool, outcome and outcome.status) for intent, outcome in calls] == [
        ("shop.buy", "ok"),
        ("shop.pay", None),
    ]


async def test_a_value_however_deep_is_taken_in(path: Path) -> None:
    await left(path, "r_deep", output="[" * 50_000 + "]" * 50_000)
    async with Store(path) as store:
        assert await take_in(store, "ada") == 1


async def test_the_same_run_twice_is_one(path: Path) -> None:
    """A process may be killed between the commit and the removal of the file."""
    await left(path, "r_1")
    (file,) = waiting(spool_of(path))
    text = file.read_bytes()
    async with Store(path) as store:
        await take_in(store, "ada")
        file.write_bytes(text)
        await take_in(store, "ada")
        assert [line.id for line in await store.runs.list(EVERYONE)] == ["r_1"]
        assert len(await store.journal.calls("r_1")) == 2


async def test_one_that_goes_on_is_left_alone_and_one_that_never_ended_is_lost(path: Path) -> None:
    going = Spool(spool_of(path))
    going.begin(NewRun("r_going", "local", "1", "python"))
    broken = Spool(spool_of(path))
    broken.begin(NewRun("r_broken", "local", "1", "python"))
    broken.close()
    with (spool_of(path) / "r_broken.jsonl").open("a") as file:
        file.write('["intend", {"run_id": "r_bro')  # the power went
    async with Store(path) as store:
        assert await take_in(store, "ada") == 1
        assert await store.runs.mark_lost() == ["r_broken"]
    assert [file.name for file in waiting(spool_of(path))] == ["r_going.jsonl"]
    going.close()


@pytest.mark.parametrize("text", ["", "no json", "[]", '["end", {}]', '["begin", {}]', '["begin", 5]', "[" * 100_000])
async def test_what_is_no_run_stays_and_is_told(path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    file = spool_of(path) / "odd.jsonl"
    file.parent.mkdir()
    file.write_text(text)
    with caplog.at_level(logging.WARNING):
        async with Store(path) as store:
            assert await take_in(store, "ada") == 0
    assert file.exists()
    assert "holds no run" in caplog.text


async def test_an_answer_that_is_very_long_is_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_CHARACTERS", 10)
    await left(path, "r_1")
    (file,) = waiting(spool_of(path))
    answers = [
        values["answer_json"] for what, values in map(json.loads, file.read_text().splitlines()) if what == "conclude"
    ]
    assert answers == [""]


async def test_a_command_that_finds_many_has_them_taken_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 3)
    config = Config(store=StoreConfig(path=str(path)))
    kept = Kept(config, Screen(sys.stderr))
    assert kept.journal is not None
    for number in range(3):
        await kept.tidy()
        assert not path.exists()
        await left(path, f"r_{number}")
    await kept.tidy()
    assert waiting(spool_of(path)) == []
    async with Store(path) as store:
        assert len(await store.runs.list(EVERYONE)) == 3
