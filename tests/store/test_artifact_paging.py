"""Pages of a text, however its bytes are cut: by characters and by lines, from the beginning or from a landmark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.store.text.paging import Page, Pager
from paddock.store.text.places import BEGINNING, SPACING_BYTES, Landmarks, Place, Unit, after_lines
from paddock.store.text.scanning import Decoding

TEXTS = st.text(st.sampled_from("ab é漢🙂\r\n\n\n"), max_size=60)
NO_CAP = 10**9


def cut(content: bytes, size: int) -> Iterator[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))


def paged(content: bytes, unit: Unit, offset: int, limit: int, *, size: int = 7, most: int = NO_CAP) -> Page:
    pager, decoding = Pager(unit, offset, limit, most_characters=most, start=BEGINNING), Decoding(BEGINNING)
    for chunk in cut(content, size):
        if pager.feed(decoding.decode(chunk)):
            return pager.page()
    if not pager.feed(decoding.decode(b"", is_last=True)):
        pager.end()
    return pager.page()


def lines(text: str) -> list[str]:
    """The lines with their ends. Not `splitlines`: only a line feed ends one."""
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


@given(TEXTS, st.integers(0, 70), st.integers(1, 70), st.integers(1, 9))
def test_a_page_of_characters_is_a_slice(text: str, offset: int, limit: int, size: int) -> None:
    page = paged(text.encode(), "characters", offset, limit, size=size)
    assert page.text == text[offset : offset + limit]
    assert page.is_last == (offset + limit >= len(text))
    if page.text:
        assert (page.start.character, page.start.line) == (offset, text[:offset].count("\n"))
        assert page.end.character == offset + len(page.text)
    if page.is_last:
        assert (page.end.character, page.total_lines) == (len(text), len(lines(text)))


@given(TEXTS, st.integers(0, 30), st.integers(1, 30), st.integers(1, 9))
def test_a_page_of_lines_is_those_lines(text: str, offset: int, limit: int, size: int) -> None:
    page, all_lines = paged(text.encode(), "lines", offset, limit, size=size), lines(text)
    assert page.text == "".join(all_lines[offset : offset + limit])
    assert page.is_last == (offset + limit >= len(all_lines))
    if page.text:
        assert page.start.character == len("".join(all_lines[:offset]))
        assert (page.start.line, page.is_cut) == (offset, False)


@given(TEXTS, st.integers(1, 5), st.sampled_from(["characters", "lines"]))
def test_pages_put_together_are_the_text(text: str, limit: int, unit: Unit) -> None:
    read, offset = "", 0
    while True:
        page = paged(text.encode(), unit, offset, limit)
        read += page.text
        if page.is_last:
            break
        offset = page.end.character if unit == "characters" else page.end.line
    assert read == text


@given(st.binary(max_size=60), st.integers(1, 9))
def test_what_is_not_utf_8_is_shown_as_replacement_characters_wherever_it_is_cut(content: bytes, size: int) -> None:
    assert paged(content, "characters", 0, 100, size=size).text == content.decode(errors="replace")


@given(st.binary(max_size=60), st.integers(1, 9), st.integers(0, 8))
def test_reading_may_begin_at_any_place_that_was_passed(content: bytes, size: int, after: int) -> None:
    decoding, read = Decoding(BEGINNING), ""
    for chunk in list(cut(content, size))[:after]:
        read += decoding.decode(chunk)
    again = Decoding(decoding.place)
    assert decoding.place.character == len(read)
    assert read + again.decode(content[decoding.place.byte :], is_last=True) == content.decode(errors="replace")


def test_lines_that_are_too_long_together_are_fewer() -> None:
    page = paged(b"aaa\nbbb\nccc\n", "lines", 0, 3, most=9)
    assert (page.text, page.end.line, page.is_last, page.is_cut) == ("aaa\nbbb\n", 2, False, False)


def test_a_line_that_is_too_long_alone_is_cut_and_goes_on_by_characters() -> None:
    content = b"x\n" + b"a" * 20 + b"\nend"
    page = paged(content, "lines", 1, 1, most=9)
    assert (page.text, page.end.character, page.is_cut) == ("a" * 9, 11, True)
    assert paged(content, "characters", page.end.character, 11).text == "a" * 11


def test_behind_the_end_is_nothing_and_the_total_is_told() -> None:
    page = paged(b"a\nb", "lines", 9, 5)
    assert (page.text, page.is_last, page.end.character, page.total_lines) == ("", True, 3, 2)


def test_an_empty_text_has_no_lines() -> None:
    page = paged(b"", "lines", 0, 5)
    assert (page.text, page.is_last, page.end.character, page.total_lines) == ("", True, 0, 0)


@given(TEXTS, st.data())
def test_lines_are_counted_off_without_a_list_of_them(text: str, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, text.count("\n")))
    assert text[: after_lines(text, count)] == "".join(lines(text)[:count])


def test_the_nearest_landmark_before_is_where_reading_begins() -> None:
    landmarks, text = Landmarks(), ("ab/a_x.1",)
    places = [Place(SPACING_BYTES * n, SPACING_BYTES * n // 2, 100 * n) for n in (1, 2, 3)]
    for place in places:
        landmarks.note(text, place)
        landmarks.note(text, Place(place.byte + 1, place.character + 1, place.line))  # too near to be worth it
    assert landmarks.before(text, "lines", 250) == places[1]
    assert landmarks.before(text, "lines", 200) == places[0]  # what comes before the line must be seen
    assert landmarks.before(text, "characters", NO_CAP) == places[2]
    assert landmarks.before(("ab/a_x.2",), "lines", 250) == BEGINNING


@pytest.mark.parametrize("count", [300, 1000])
def test_landmarks_of_the_texts_that_were_read_last_are_kept(count: int) -> None:
    landmarks = Landmarks()
    for number in range(count):
        landmarks.note((str(number),), Place(SPACING_BYTES, 1, 1))
    known = [number for number in range(count) if landmarks.before((str(number),), "lines", 9) != BEGINNING]
    assert known == list(range(count - 256, count))
