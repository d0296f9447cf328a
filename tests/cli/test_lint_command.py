"""`paddock lint`: findings as text or JSON, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Ended, paddock


def test_a_clean_script_has_no_issues() -> None:
    assert paddock("lint", "-c", "return 1") == Ended(0, "No issues found!\n", "")
    assert paddock("lint", "-c", "return 1", "--json") == Ended(0, "[]\n", "")


def test_findings_are_listed_by_line_and_column() -> None:
    out = "1:8 F401 `os` imported but unused\n2:7 F821 Undefined name `totl`\n"
    assert paddock("lint", stdin="import os\nprint(totl)\n") == Ended(1, out, "")


def test_findings_as_json() -> None:
    ended = paddock("lint", "-c", "print(totl)", "--json")
    finding = {"code": "F821", "message": "Undefined name `totl`", "location": {"line": 1, "column": 7}}
    assert (ended.status, json.loads(ended.out), ended.err) == (1, [finding], "")


def test_a_name_that_is_passed_with_a_flag_is_not_undefined() -> None:
    assert paddock("lint", "-c", "sum(prices)", "--name", "prices") == Ended(0, "No issues found!\n", "")


def test_a_script_is_read_from_a_file_and_never_run(tmp_path: Path) -> None:
    script, proof = tmp_path / "script.py", tmp_path / "proof"
    script.write_text(f"open({str(proof)!r}, 'w').write('ran')\n")
    assert paddock("lint", str(script)) == Ended(0, "No issues found!\n", "")
    assert not proof.exists()


def test_a_missing_file_is_a_usage_error() -> None:
    message = "Error: cannot read 'nowhere.py': there is no such file; to pass code itself, use -c\n"
    assert paddock("lint", "nowhere.py") == Ended(2, "", message)


@pytest.mark.parametrize(("python", "status"), [("3.11", 1), ("3.12", 0)])
def test_the_syntax_is_that_of_the_environments_python(python: str, status: int) -> None:
    code = "type Name = str\nName"
    assert paddock("lint", "-c", code, PADDOCK_ENVIRONMENTS__DEFAULT__PYTHON=python).status == status
