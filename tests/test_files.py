"""A file's name is data: it never becomes a path outside /files."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import BadFile
from paddock.model.files import MAX_NAME_BYTES, File, place


def paths(*names: str) -> list[str]:
    return [placed.path for placed in place(File(name, b"") for name in names)]


def test_a_file_is_placed_under_its_own_name() -> None:
    file = File("report.csv", b"a,b", "text/csv", "element-7")
    (placed,) = place([file])
    assert placed.file is file
    assert placed.entry() == {
        "path": "/files/report.csv",
        "file_name": "report.csv",
        "file_type": "text/csv",
        "element_id": "element-7",
    }


def test_no_files_have_no_paths() -> None:
    assert place([]) == ()


def test_later_files_of_the_same_name_get_a_suffix() -> None:
    assert paths("a.csv", "a.csv", "a.csv", "b") == ["/files/a.csv", "/files/a-2.csv", "/files/a-3.csv", "/files/b"]


def test_a_suffix_never_makes_a_name_that_is_taken() -> None:
    assert len(set(paths("a.csv", "a-2.csv", "a.csv", "a.csv", "a-2.csv"))) == 5


def test_an_extension_of_two_parts_stays_whole() -> None:
    assert paths("x.tar.gz", "x.tar.gz") == ["/files/x.tar.gz", "/files/x-2.tar.gz"]


def test_a_hidden_file_keeps_its_dot() -> None:
    assert paths(".env", ".env") == ["/files/.env", "/files/-2.env"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("../../etc/passwd", "/files/passwd"),
        ("/etc/passwd", "/files/passwd"),
        ("..\\..\\boot.ini", "/files/boot.ini"),
        ("C:\\temp\\a.txt", "/files/a.txt"),
        ("a/../b.txt", "/files/b.txt"),
        ("a\0b.txt", "/files/ab.txt"),
        ("a\nb\r.txt", "/files/ab.txt"),
        ("a\x1b[31m.txt", "/files/a[31m.txt"),
        ("a\u202etxt.exe", "/files/atxt.exe"),
        ("  a.txt  ", "/files/a.txt"),
        ("größe 😀.txt", "/files/größe 😀.txt"),
        ("-rf", "/files/-rf"),
        ("~", "/files/~"),
    ],
)
def test_only_the_printable_last_part_of_a_name_is_used(name: str, path: str) -> None:
    assert paths(name) == [path]


@pytest.mark.parametrize("name", ["", " ", ".", "..", "...", "a/", "a/..", "/", "\0", "\n", "x/. "])
def test_a_name_with_nothing_usable_is_replaced_by_a_number(name: str) -> None:
    assert paths("first", name) == ["/files/first", "/files/file-2"]


@pytest.mark.parametrize("letter", ["a", "ä", "😀"])
def test_a_long_name_is_cut_to_the_limit_of_file_systems(letter: str) -> None:
    for path in paths(letter * 4096, letter * 4096, letter * 4096 + ".txt"):
        name = path.removeprefix("/files/")
        assert 0 < len(name.encode()) <= MAX_NAME_BYTES
        assert set(name) <= {letter, "-", "2", "3"}


def test_a_thousand_files_of_one_name_have_a_thousand_paths() -> None:
    assert len(set(paths(*["x.txt"] * 1000))) == 1000


@pytest.mark.parametrize("content", ["text", None, bytearray(b"x"), memoryview(b"x"), 5])
def test_content_that_is_not_bytes_is_refused(content: Any) -> None:
    with pytest.raises(BadFile, match=rf"^the content of 'a' must be bytes, not {type(content).__name__}$"):
        place([File("a", content)])


@pytest.mark.parametrize("name", [None, b"a", 5, "a\ud800.txt"])
def test_a_name_that_is_not_text_is_refused(name: Any) -> None:
    with pytest.raises(BadFile, match=r" is not valid text for a file's name, type or element_id$"):
        place([File(name, b"")])


def test_a_value_that_is_not_a_file_is_refused() -> None:
    with pytest.raises(BadFile, match=r"^files contains str; each item must be a paddock.File$"):
        place(["a.txt"])  # type: ignore[list-item]
