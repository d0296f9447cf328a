"""Files that a script leaves behind: the warning about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.conftest import Run

KEEP = "keep one with `await create_artifact(name, open(name, 'rb').read())`."
PRINT = "files are deleted after the run; print what you need, or use a tool that keeps files, such as run_code."


@pytest.mark.parametrize("end", ["5", "exit()"])
def test_files_left_behind_are_a_warning(run: Run, end: str) -> None:
    code = "import os\nopen('b.csv', 'w').close()\nos.makedirs('out/x')\nopen('out/x/a.png', 'w').close()\n"
    assert run(code + end).header["warnings"] == [f"b.csv, out/x/a.png were written and not kept: {KEEP}"]


def test_what_was_there_before_is_not_the_scripts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runtime" / "bin").mkdir(parents=True)
    (tmp_path / "runtime" / "bin" / "python").touch()
    (tmp_path / "old.txt").touch()
    assert "warnings" not in run("open('runtime/bin/python').read()").header


def test_a_program_is_told_to_print_them(run: Run) -> None:
    ran = run("open('a.txt', 'w').close()", start={"mode": "script"})
    assert ran.header["warnings"] == [f"a.txt was written and not kept: {PRINT}"]


def test_ten_of_them_are_named(run: Run) -> None:
    ran = run("for n in range(30): open(f'{n:02}.txt', 'w').close()")
    assert ran.header["warnings"] == [
        ", ".join(f"{n:02}.txt" for n in range(10)) + f" and 20 more were written and not kept: {KEEP}"
    ]


@pytest.mark.parametrize(
    "code",
    [
        "open('.hidden', 'w').close()",
        "os.makedirs('.cache/x')\nopen('.cache/x/y', 'w').close()",
        "os.mkdir('__pycache__')\nopen('__pycache__/a.pyc', 'w').close()",
        "os.mkdir('matplotlib-abc')\nopen('matplotlib-abc/fontlist-v390.json', 'w').close()",
        "os.mkdir('empty')",
        "open('a.txt', 'w').close()\nos.remove('a.txt')",
        "import tempfile\ntempfile.NamedTemporaryFile(dir='.', delete=False).close()",
        "os.symlink('/etc/passwd', 'link')",
        "os.symlink('.', 'loop')",
    ],
)
@pytest.mark.parametrize("mode", ["expression", "script"])
def test_nothing_else_is(run: Run, code: str, mode: str) -> None:
    ran = run(f"import os\n{code}", start={"mode": mode})
    assert (ran.status, "warnings" in ran.header) == ("ok", False)


def test_a_script_that_ran_out_of_memory_is_still_told_so(run: Run) -> None:
    code = "open('a.txt', 'w').close()\nx = None\nwhile True:\n    x = (x, 1.5)"
    assert run(code, start={"limits": {"memory_bytes": 16 * 1024 * 1024}}).raised[0] == "MemoryError"
