"""A folder of programs: those that fit are compared with full Python, the others are left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paddock.jail.environment import Built
from paddock.model.events import Finished, Output
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.bare import BARE
from tests.differential.folder import USAGE, compare, main
from tests.scripted_engine import ScriptedEngine

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "totals.py": b"rows = [3, 1, 2]\nprint(sorted(rows))\nsum(rows)\n",
    "within/division.py": b"prices = {'lamp': 5}\nfor name in prices:\n    prices[name] / 0\n",
    "within/missing.py": b"rows = [1, 2]\nrows.index(3)\n",
    "generator.py": b"def f():\n    yield 1\n",
    "latin.py": b"# caf\xe9\n1\n",
    "notes.txt": b"no program",
}


@pytest.fixture
def programs(tmp_path: Path, default_environment: Built) -> Path:
    for name, text in PROGRAMS.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text)
    return tmp_path


def playing(*events: Output | Finished) -> Paddock:
    light = ScriptedEngine(events)
    return Paddock(engines={"monty": lambda config: light})


def test_programs_that_fit_are_compared_and_the_others_are_left_alone(programs: Path) -> None:
    command = [sys.executable, "-m", "tests.differential.folder", str(programs)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr, ran.stdout) == (
        0,
        "",
        "4 programs, 3 kept on the light engine, 0 of them differ; 1 end in errors that are not CPython's own words, "
        "0 take more than 10 s, 1 cannot be read\n",
    )


def test_what_a_program_writes_stays_in_the_jail(programs: Path) -> None:
    mark = programs / "mark"  # below /tmp, where the light engine has files too
    (programs / "writes.py").write_text(f"open({str(mark)!r}, 'w').write('x')\n")
    with Paddock(BARE) as full:
        compare(programs, full, full)
    assert not mark.exists()


def test_a_program_that_ends_otherwise_is_shown_with_how(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Paddock(BARE) as full, playing(Output("stdout", "[1, 3, 2]\n"), Finished(Verdict.OK, "6")) as light:
        assert compare(programs, light, full) == 1
    shown = capsys.readouterr().out
    said = "    stdout on CPython: '[1, 2, 3]\\n'\n    stdout here: '[1, 3, 2]\\n'\n"
    assert shown.startswith(f"{programs / 'totals.py'}\n{said}\n{programs / 'within' / 'division.py'}\n")
    assert "4 programs, 3 kept on the light engine, 3 of them differ; " in shown


def test_one_that_takes_too_long_is_counted_apart(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Paddock(BARE) as full, playing(Finished(Verdict.TIMEOUT)) as light:
        assert compare(programs, light, full) == 0
    assert "0 of them differ; 0 end in errors that are not CPython's own words, 3 take more" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["no/such/folder"], [".", "."]])
def test_what_is_no_folder_is_a_mistake(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(arguments), capsys.readouterr().err) == (2, f"{USAGE}\n")
