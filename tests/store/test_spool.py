"""Runs that commands left beside the store, and how it takes them in."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.cli.keeping import Kept
from paddock.cli.show import Screen
from paddock.config import Config, StoreConfig
from paddock.errors import StoreError
from paddock.model.journal import Intent, Outcome
from paddock.model.result import RunResult, Usage, Verdict
from paddock.store import spool as module
from paddock.store.database import Store
from paddock.store.places import spool_of
from paddock.store.run_records import EVERYONE, NewRun
from paddock.store.spool import Spool, waiting
from paddock.store.taking_in import FILE_BYTES, take_in


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


BEGIN = {"id": "r_odd", "code": "1", "language": "python", "at": 1.0}
INTEND = {"number": 1, "tool": "shop.buy", "arguments_json": "{}", "is_read_only": False, "at": 1.0}
END = {"engine": "monty", "verdict": "ok", "at": 1.0, "result_json": "{}"}


@pytest.mark.parametrize(
    "lines",
    [
        [["begin", {**BEGIN, "id": {}}]],
        [["begin", {**BEGIN, "code": None}]],
        [["begin", {**BEGIN, "at": "soon"}]],
        [["begin", {**BEGIN, "at": float("nan")}]],
        [["begin", BEGIN], ["intend", {**INTEND, "number": {}}]],
        [["begin", BEGIN], ["intend", {**INTEND, "number": 10**30}]],
        [["begin", BEGIN], ["intend", {**INTEND, "tool": 5}]],
        [["begin", BEGIN], [["intend"], {}]],
        [["begin", BEGIN], ["end", [1]]],
        [["begin", BEGIN], ["end", {**END, "engine": {}}]],
        [["begin", BEGIN], ["end", {**END, "verdict": "fine"}]],
        [["begin", BEGIN], ["end", {**END, "result_json": "}{"}]],
    ],
)
async def test_a_file_with_odd_values_stays_and_keeps_no_other_from_being_taken_in(path: Path, lines: object) -> None:
    assert isinstance(lines, list)
    await left(path, "r_1")
    odd = spool_of(path) / "r_odd.jsonl"
    odd.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(odd, (0, 0))  # the first that is looked at
    async with Store(path) as store:
        assert await take_in(store, "ada") == 1
        assert [line.id for line in await store.runs.list(EVERYONE)] == ["r_1"]
    assert [file.name for file in waiting(spool_of(path))] == ["r_odd.jsonl"]


MADE: dict[str, Callable[[Path], None]] = {
    "a link to a file": lambda path: path.symlink_to("/etc/passwd"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a folder": lambda path: path.mkdir(),
    "a pipe that nobody writes to": os.mkfifo,
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
async def test_what_is_no_file_is_not_opened_and_holds_nothing_up(path: Path, make: Callable[[Path], None]) -> None:
    await left(path, "r_1")
    odd = spool_of(path) / "r_odd.jsonl"
    make(odd)
    async with Store(path) as store:
        assert await asyncio.wait_for(take_in(store, "ada"), 60) == 1
    assert [file.name for file in waiting(spool_of(path))] == ["r_odd.jsonl"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
async def test_a_file_of_another_user_is_not_taken_in(path: Path) -> None:
    await left(path, "r_1")
    os.chown(spool_of(path) / "r_1.jsonl", 12345, -1)
    async with Store(path) as store:
        assert await take_in(store, "ada") == 0


async def test_a_file_larger_than_a_run_writes_is_not_read(path: Path) -> None:
    await left(path, "r_1")
    os.truncate(spool_of(path) / "r_1.jsonl", FILE_BYTES + 1)  # sparse: it takes no room on the disk
    async with Store(path) as store:
        assert await take_in(store, "ada") == 0


async def test_a_run_is_seen_by_a_store_only_when_it_is_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool, seen = Spool(spool_of(path)), []
    write = os.write

    def look(fd: int, data: memoryview) -> int:
        seen.append(waiting(spool.folder))
        return write(fd, data)

    monkeypatch.setattr(os, "write", look)
    spool.begin(NewRun("r_1", "local", "1", "python"))
    assert (seen, waiting(spool.folder)) == ([[]], [spool.folder / "r_1.jsonl"])
    spool.discard()


async def test_a_run_that_cannot_be_written_down_leaves_nothing_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int, data: memoryview) -> int:
        raise OSError(28, "No space left on device")

    spool, before = Spool(spool_of(path)), os.listdir("/proc/self/fd")  # noqa: PTH208
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match=r"cannot write .*r_1\.jsonl: No space left on device"):
        spool.begin(NewRun("r_1", "local", "1", "python"))
    assert (os.listdir(spool.folder), os.listdir("/proc/self/fd")) == ([], before)  # noqa: PTH208
