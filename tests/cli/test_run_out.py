"""`paddock run --out DIR`: artifacts are saved as files, whatever their names are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from paddock.cli.out_folder import safe_name, save
from paddock.model.artifacts import Artifact
from tests.cli.command import COMMAND, Ended, environment, paddock

MAKE = "await create_artifact('report.csv', 'a,b')\nawait create_artifact('../up.txt', 'up')\nreturn 1"


def saved_by(folder: Path, *names: str) -> list[str]:
    made = [(Artifact(f"a_{number}", name, "text/plain", 1, ""), b"new") for number, name in enumerate(names)]
    return [Path(each["path"]).name for each in save(folder, made)]


def test_artifacts_are_saved_in_the_folder_and_their_paths_are_printed(tmp_path: Path) -> None:
    out = tmp_path / "made" / "here"
    ended = paddock("run", "-c", MAKE, "--engine", "monty", "--out", str(out))
    said = f"Saved report.csv as {out}/report.csv\nSaved ../up.txt as {out}/_._up.txt\n"
    assert ended == Ended(0, "1\n", said)
    assert {path.name: path.read_text() for path in out.iterdir()} == {"report.csv": "a,b", "_._up.txt": "up"}


def test_nothing_that_a_command_makes_can_be_written_by_everybody(tmp_path: Path) -> None:
    out, arguments = tmp_path / "out", ("run", "-c", MAKE, "--engine", "monty", "--out", str(tmp_path / "out"))
    subprocess.run([*COMMAND, *arguments], check=True, umask=0, capture_output=True, cwd=tmp_path, env=environment())
    assert [path for path in (out, *out.iterdir()) if path.stat().st_mode & 0o002] == []


def test_json_lists_saved_artifacts_and_a_failed_run_saves_them_too(tmp_path: Path) -> None:
    ended = paddock("run", "-c", f"{MAKE} / 0", "--engine", "monty", "--json", "--out", str(tmp_path))
    document = json.loads(ended.out)
    assert (ended.status, document["verdict"]) == (1, "raised")
    ids = [made["id"] for made in document["artifacts"]]
    assert document["saved"] == [
        {"id": ids[0], "filename": "report.csv", "path": f"{tmp_path}/report.csv"},
        {"id": ids[1], "filename": "../up.txt", "path": f"{tmp_path}/_._up.txt"},
    ]


def test_without_the_flag_nothing_is_saved_or_listed(tmp_path: Path) -> None:
    ended = paddock("run", "-c", MAKE, "--engine", "monty", "--json", cwd=tmp_path)
    assert ("saved" in json.loads(ended.out), list(tmp_path.iterdir())) == (False, [])


def test_a_folder_that_cannot_be_used_is_refused_before_the_script_runs(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    ended = paddock("run", "-c", "print('ran')", "--out", str(file))
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == f"Error: --out {file} cannot be used as a folder: File exists\n"


def test_no_file_is_overwritten_and_no_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").write_text("old")
    (folder / "a-1.txt").symlink_to(target)
    assert saved_by(folder, "a.txt", "a.txt", "b") == ["a-2.txt", "a-3.txt", "b"]
    assert ((folder / "a.txt").read_text(), target.exists()) == ("old", False)


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("/etc/passwd", "_etc_passwd"),
        ("..", "_."),
        ("a\\b", "a_b"),
        (".bashrc", "_bashrc"),
        ("-rf", "_rf"),
        ("a\0\x1b]0;b\x07\ud800", "a__]0;b__"),
        (f"{'é' * 200}.csv", f"{'é' * 121}.csv"),
        (f"a.{'b' * 250}", f"a.{'b' * 31}"),
    ],
)
def test_every_artifact_name_becomes_the_name_of_one_visible_file(tmp_path: Path, filename: str, name: str) -> None:
    assert safe_name(filename) == name
    assert saved_by(tmp_path, filename, filename)[0] == name
