"""Files that a script leaves, as `paddock run` saves them without `--out`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.cli.command import paddock

WRITE = "open('report.csv', 'w').write(open('sales.csv').read())"


def test_they_go_to_a_temporary_folder_that_is_named(tmp_path: Path) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_text("a,b")
    ended = paddock("run", "-c", WRITE, "--file", str(sales))
    assert (ended.status, ended.out) == (0, "3\n")
    (path,) = re.findall(r"^Saved report\.csv as (.*)$", ended.err, re.MULTILINE)
    assert Path(path).read_text() == "a,b"
    shutil.rmtree(Path(path).parent)


def test_a_file_that_is_too_large_to_be_saved_is_named() -> None:
    ended = paddock("run", "-c", "open('large.bin', 'wb').write(bytes(17 << 20))")
    assert (ended.status, ended.out) == (0, "17825792\n")
    assert ended.err == "large.bin was not kept: the files of a run may have at most 16 MB.\n"


def test_a_script_that_leaves_nothing_is_told_nothing() -> None:
    assert paddock("run", "-c", "1").err == ""
