"""`paddock runs`: how stored runs are listed and shown."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from paddock.model.journal import Intent, Outcome
from paddock.model.result import RunError, RunResult, Usage, Verdict
from paddock.store.database import Store
from paddock.store.runs import NewRun
from tests.cli.command import Ended, on_a_terminal, paddock


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def runs(data: Path, *arguments: str) -> Ended:
    return paddock("runs", *arguments, PADDOCK_DATA_DIRECTORY=str(data))


async def fill(data: Path) -> None:
    async with Store(data / "store" / "paddock.db") as store:
        await store.runs.begin(NewRun("r_first", "ada", "\n\nprint('hi')\n1", "python", definition="execute"))
        await store.journal.intend(Intent("r_first", 1, "shop.buy", '{"item": 7}', False, 5.0))
        await store.journal.conclude(Outcome("r_first", 1, "ok", 1.25, "{}"))
        await store.journal.intend(Intent("r_first", 2, "shop.pay", "{}", False, 5.0))
        ended = RunResult(
            "r_first", Verdict.OK, "python", "monty", "fits", Usage(0.5), output_json="[1]", stdout="hi\n"
        )
        await store.runs.finish("r_first", ended)
        await store.runs.begin(NewRun("r_second", "eve", "1 / 0  \x1b[2J", "python", connection="s_1"))
        error = RunError("ZeroDivisionError", "division by zero", 1, traceback="Traceback\n\x1b[2JZeroDivisionError")
        raised = RunResult("r_second", Verdict.RAISED, "python", "cpython", None, Usage(0.5), error=error)
        await store.runs.finish("r_second", raised)
        await store.runs.begin(NewRun("r_third", "ada", "wait()", "javascript"))


@pytest.fixture
def filled(data: Path) -> Path:
    asyncio.run(fill(data))
    return data


def test_paddock_run_stores_nothing(data: Path) -> None:
    assert paddock("run", "-c", "1 + 1", "--engine", "monty", PADDOCK_DATA_DIRECTORY=str(data)) == Ended(0, "2\n", "")
    assert not (data / "store").exists()


WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


def test_without_a_store_the_command_says_so_and_creates_nothing(data: Path) -> None:
    ended = runs(data, "list")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("No runs are stored yet. `paddock mcp` and `paddock serve` store theirs;")
    assert runs(data, "list", "--json") == Ended(0, "[]\n", "")
    assert runs(data, "show", "r_1") == Ended(2, "", "Error: there is no run 'r_1': no server has stored any yet\n")
    assert not data.exists()


def test_runs_are_listed_one_per_line_and_a_run_of_a_dead_process_is_lost(filled: Path) -> None:
    ended = runs(filled, "list")
    assert (ended.status, ended.err) == (0, "")
    lines = [re.sub(r"\d+\.\d{3} s", "0 s", re.sub(WHEN, "WHEN", line)) for line in ended.out.splitlines()]
    assert [line.split() for line in lines] == [
        ["r_third", "lost", "WHEN", "0", "s", "-", "wait()"],
        ["r_second", "raised", "WHEN", "0", "s", "cpython", "1", "/", "0", "\x1b[2J"],
        ["r_first", "ok", "WHEN", "0", "s", "monty", "print('hi')"],
    ]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--limit", "2"), ["r_third", "r_second"]),
        (("--before", "r_third"), ["r_second", "r_first"]),
        (("--verdict", "ok"), ["r_first"]),
        (("--definition", "execute"), ["r_first"]),
        (("--connection", "s_1"), ["r_second"]),
        (("--verdict", "running"), []),
    ],
)
def test_filters_select_runs(filled: Path, arguments: tuple[str, ...], found: list[str]) -> None:
    ended = runs(filled, "list", *arguments, "--json")
    assert (ended.status, ended.err, [run["run_id"] for run in json.loads(ended.out)]) == (0, "", found)


def test_an_empty_list_says_so(filled: Path) -> None:
    assert runs(filled, "list", "--connection", "s_9").out == "No stored run matches.\n"


def test_a_run_is_shown_with_everything_that_is_stored(filled: Path) -> None:
    ended = runs(filled, "show", "r_first")
    assert (ended.status, ended.err) == (0, "")
    shown = re.sub(r"\d+\.\d{3} s", "0 s", re.sub(WHEN, "WHEN", ended.out))
    assert shown == (
        "r_first: ok\n"
        "  started     WHEN, took 0 s\n"
        "  language    python, monty (fits)\n"
        "  caller      ada\n"
        "  definition  execute\n"
        "  code\n"
        "\n"
        "\n"
        "    print('hi')\n"
        "    1\n"
        "  stdout\n"
        "    hi\n"
        "  output\n"
        "    [1]\n"
        "  calls\n"
        '    1  shop.buy {"item": 7}: ok, 1.2 ms\n'
        "    2  shop.pay {}: outcome unknown\n"
    )


def test_json_shows_the_whole_result_of_a_run(filled: Path) -> None:
    shown = json.loads(runs(filled, "show", "r_first", "--json").out)
    assert (shown["run_id"], shown["code"], shown["result"]["output"]) == ("r_first", "\n\nprint('hi')\n1", [1])
    assert [call["tool"] for call in shown["result"]["calls"]] == ["shop.buy", "shop.pay"]


def test_escape_sequences_in_stored_text_are_escaped_on_a_terminal(filled: Path) -> None:
    for arguments in (("list",), ("show", "r_second")):
        status, shown = on_a_terminal("runs", *arguments, PADDOCK_DATA_DIRECTORY=str(filled))
        assert (status, "\x1b[2J" in shown, "\\x1b[2J" in shown) == (0, False, True)


@pytest.mark.parametrize(
    ("run_id", "hint"),
    [
        ("r_frist", "did you mean 'r_first'?"),
        ("r_sec", "did you mean 'r_second'?"),
        ("zzz", "`paddock runs list` shows the stored runs"),
    ],
)
def test_an_unknown_id_is_an_error_with_a_suggestion(filled: Path, run_id: str, hint: str) -> None:
    assert runs(filled, "show", run_id) == Ended(2, "", f"Error: there is no run '{run_id}'; {hint}\n")


def test_an_unknown_verdict_or_page_is_an_error(filled: Path) -> None:
    said = "Error: there is no verdict 'okay'; did you mean 'ok'?\n"
    assert runs(filled, "list", "--verdict", "okay") == Ended(2, "", said)
    said = "Error: there is no run 'r_9'; pass the last run_id of the previous page\n"
    assert runs(filled, "list", "--before", "r_9") == Ended(2, "", said)


def test_an_unusable_store_is_a_host_error(data: Path) -> None:
    path = data / "store" / "paddock.db"
    path.parent.mkdir(parents=True)
    path.write_text("no database at all " * 100, encoding="utf-8")
    ended = runs(data, "list")
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.startswith(f"Error: the store {path} is not a database; move it away ")


def test_the_setting_names_another_file(filled: Path, tmp_path: Path) -> None:
    moved = (filled / "store").rename(tmp_path / "elsewhere") / "paddock.db"
    ended = paddock("runs", "list", "--json", PADDOCK_STORE__PATH=str(moved))
    assert len(json.loads(ended.out)) == 3
