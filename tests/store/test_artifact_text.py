"""Pages of a text and searches in it, however its bytes are split."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.errors import BadArtifact
from paddock.store import artifact_text as module
from paddock.store.artifact_text import Match, Page, Query, Search, TextReader, Unit, compile_pattern
from tests.examples import examples

TEXTS = st.text(st.sampled_from("ab é漢🙂\r\n\n\n"), max_size=60)


@pytest.fixture(scope="module", name="reader")
def _reader() -> Iterator[TextReader]:
    reader = TextReader()
    yield reader
    reader.close()


async def cut(content: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(content), size):
        yield content[at : at + size]


def paged(reader: TextReader, content: bytes, unit: Unit, offset: int, limit: int, *, size: int = 7) -> Page:
    return asyncio.run(reader.page(cut(content, size), unit, offset, limit))


def lines(text: str) -> list[str]:
    """Return the lines with their ends. Unlike with `splitlines`, only a line feed ends one."""
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


@given(TEXTS, st.integers(0, 70), st.integers(1, 70), st.integers(1, 9))
def test_a_page_of_characters_is_a_slice(reader: TextReader, text: str, offset: int, limit: int, size: int) -> None:
    page = paged(reader, text.encode(), "characters", offset, limit, size=size)
    assert page.text == text[offset : offset + limit]
    assert page.is_last == (offset + limit >= len(text))
    if page.text:
        assert (page.start.character, page.start.line) == (offset, text[:offset].count("\n"))
        assert page.end.character == offset + len(page.text)
    if page.is_last:
        assert (page.end.character, page.total_lines) == (len(text), len(lines(text)))


@given(TEXTS, st.integers(0, 30), st.integers(1, 30), st.integers(1, 9))
def test_a_page_of_lines_is_those_lines(reader: TextReader, text: str, offset: int, limit: int, size: int) -> None:
    page, all_lines = paged(reader, text.encode(), "lines", offset, limit, size=size), lines(text)
    assert page.text == "".join(all_lines[offset : offset + limit])
    assert page.is_last == (offset + limit >= len(all_lines))
    if page.text:
        assert page.start.character == len("".join(all_lines[:offset]))
        assert (page.start.line, page.is_cut) == (offset, False)


@given(TEXTS, st.integers(1, 5), st.sampled_from(["characters", "lines"]))
def test_pages_put_together_are_the_text(reader: TextReader, text: str, limit: int, unit: Unit) -> None:
    read, offset = "", 0
    while True:
        page = paged(reader, text.encode(), unit, offset, limit)
        read += page.text
        if page.is_last:
            break
        offset = page.end.character if unit == "characters" else page.end.line
    assert read == text


@given(st.binary(max_size=60), st.integers(1, 9))
def test_invalid_utf_8_becomes_replacement_characters_wherever_it_is_split(
    reader: TextReader, content: bytes, size: int
) -> None:
    assert paged(reader, content, "characters", 0, 100, size=size).text == content.decode(errors="replace")


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE_CHARACTERS", 9)


@pytest.mark.usefixtures("short_pages")
def test_a_page_of_long_lines_has_fewer_lines(reader: TextReader) -> None:
    page = paged(reader, b"aaa\nbbb\nccc\n", "lines", 0, 3)
    assert (page.text, page.end.line, page.is_last, page.is_cut) == ("aaa\nbbb\n", 2, False, False)


@pytest.mark.usefixtures("short_pages")
def test_a_line_longer_than_a_page_is_cut_and_continues_by_characters(reader: TextReader) -> None:
    content = b"x\n" + b"a" * 20 + b"\nend"
    page = paged(reader, content, "lines", 1, 1)
    assert (page.text, page.end.character, page.is_cut) == ("a" * 9, 11, True)
    assert paged(reader, content, "characters", page.end.character, 9).text == "a" * 9


def test_a_page_after_the_end_is_empty_and_has_the_total(reader: TextReader) -> None:
    page = paged(reader, b"a\nb", "lines", 9, 5)
    assert (page.text, page.is_last, page.end.character, page.total_lines) == ("", True, 3, 2)


def test_an_empty_text_has_no_lines(reader: TextReader) -> None:
    page = paged(reader, b"", "lines", 0, 5)
    assert (page.text, page.is_last, page.end.character, page.total_lines) == ("", True, 0, 0)


PATTERNS = ["a", "b+c", "^a", "c$", "^$", "é", "a|漢", r"\bc", "x*", r"\Aa", r"c\z", "[^a]b", "^", "$", r"a\s*b"]


def search(
    text: str, pattern: str, *, is_regex: bool = True, size: int = 50_000, seconds: float = 3600, **options: Any
) -> Search:
    query = Query(pattern, is_regex, **{"limit": 10**6, **options})
    found = Search(query, deadline=time.monotonic() + seconds)
    for at in range(0, len(text), size):
        if found.feed(text[at : at + size]):
            return found
    found.feed("", is_last=True)
    return found


def shown_lines(text: str) -> list[str]:
    return [line.removesuffix("\n").removesuffix("\r") for line in text.replace("\n", "\n\0").split("\0") if line]


def naive(text: str, pattern: str) -> list[tuple[int, str]]:
    """Search each line by itself with Python's `re`; `\\A` and `\\Z` mean the text, not the line."""
    found = []
    shown = shown_lines(text)
    for number, line in enumerate(shown):
        is_end = number == len(shown) - 1 and not text.endswith("\n")
        own = pattern.replace(r"\z", r"\Z" if is_end else "(?!)").replace(r"\A", "^" if number == 0 else "(?!)")
        if re.search(own, line, re.ASCII):
            found.append((number + 1, line))
    return found


@pytest.fixture
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STRETCH_CHARACTERS", 16)
    monkeypatch.setattr(module, "OVERLAP_CHARACTERS", 8)


LINES = st.lists(st.text(st.sampled_from("abc é漢"), max_size=7), max_size=12).flatmap(
    lambda found: st.sampled_from(["\n".join(found), "\r\n".join(found), "\n".join([*found, ""])])
)


@pytest.mark.usefixtures("short_stretches")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_search_finds_what_searching_each_line_finds(pattern: str) -> None:
    @settings(max_examples=examples(40))
    @given(LINES, st.integers(1, 20))
    def check(text: str, size: int) -> None:
        found = search(text, pattern, size=size)
        assert [(match.line, match.text) for match in found.matches] == naive(text, pattern)
        assert found.next_character is None

    check()


@pytest.mark.usefixtures("short_stretches")
@given(LINES, st.integers(1, 20), st.integers(1, 3))
def test_each_context_line_is_shown_once_and_in_order(text: str, size: int, context: int) -> None:
    found, all_lines = search(text, "a", size=size, context_lines=context), shown_lines(text)
    shown = [line for match in found.matches for line in (*match.before, match.text, *match.after)]
    near = {at for number, _ in naive(text, "a") for at in range(number - 1 - context, number + context)}
    assert shown == [line for at, line in enumerate(all_lines) if at in near]


@pytest.mark.usefixtures("short_stretches")
@given(LINES, st.integers(1, 20), st.integers(1, 3))
def test_continuing_a_search_finds_each_match_once(text: str, size: int, limit: int) -> None:
    found: list[tuple[int, str]] = []
    offset: int | None = 0
    while offset is not None:
        part = search(text, "a", size=size, limit=limit, offset=offset)
        assert len(part.matches) <= limit
        found += [(match.line, match.text) for match in part.matches]
        offset = part.next_character
    assert found == naive(text, "a")


@pytest.mark.usefixtures("short_stretches")
@given(LINES, st.integers(1, 20))
def test_the_offset_of_a_match_is_its_position(text: str, size: int) -> None:
    for match in search(text, "[ac]", size=size).matches:
        assert text[match.offset] in "ac"


@given(LINES, st.integers(0, 14))
def test_a_search_may_start_at_a_line(text: str, offset: int) -> None:
    wanted = [each for each in naive(text, "b") if each[0] > offset]
    found = search(text, "b", unit="lines", offset=offset)
    assert [(match.line, match.text) for match in found.matches] == wanted


def test_a_literal_search_ignores_case() -> None:
    found = search("No (Total): 5\nno total: 6\nÉCOLE\n", "(TOTAL)", is_regex=False)
    assert [match.text for match in found.matches] == ["No (Total): 5"]
    assert [match.line for match in search("x\nÉCOLE\n", "école", is_regex=False).matches] == [2]


def test_a_search_that_starts_within_a_line_does_not_match_its_start() -> None:
    assert [match.offset for match in search("ab\nab", "^b|^a", offset=1).matches] == [3]


def test_every_match_in_a_very_long_line_is_found() -> None:
    places = [0, 70_000, 70_300, 131_072, 131_073, 200_000, 500_000]
    text = "".join("X" if at in places else "-" for at in range(500_001))
    found = search(f"first\n{text}\nlast X\n", "X", context_lines=1)
    assert [match.line for match in found.matches] == [2] * (len(found.matches) - 1) + [3]
    seen = {match.offset - 6 for match in found.matches}
    assert {0, 70_000, 131_072, 200_000, 500_000} <= seen
    assert all(len(match.text) <= module.SHOWN_CHARACTERS + 2 for match in found.matches)
    assert (found.matches[0].before, found.matches[-1].text) == (["first"], "last X")


@pytest.mark.parametrize("gap", [1, 7, 50, 211, 499, 700])
def test_the_counts_of_matches_in_long_lines_add_up(gap: int) -> None:
    line = ("é" * gap + "order 1234") * (150_000 // gap // 5)
    for pattern in (r"order \d+", "4", r"\d+"):
        text, count = f"{line}\n order 5 order 6\n", 0
        offset: int | None = 0
        while offset is not None:
            found = search(text, pattern, offset=offset, limit=200)
            count, offset = count + sum(match.count for match in found.matches), found.next_character
        assert count == len(re.findall(pattern, text))


def test_a_match_across_two_stretches_of_a_long_line_is_found() -> None:
    borders = (module.STRETCH_CHARACTERS - module.OVERLAP_CHARACTERS, module.STRETCH_CHARACTERS)
    places = {*range(borders[0] - 8, borders[1] + 8, 61)}.union(*(range(at - 8, at + 8) for at in borders))
    for at in sorted(places):
        text = "-" * at + "needle" + "-" * 100_000
        assert [match.offset for match in search(text, "needle", is_regex=False).matches] == [at]


def test_anchors_match_once_in_a_long_line() -> None:
    text = "ab" * 100_000
    assert [match.offset for match in search(text, "^a").matches] == [0]
    assert [match.offset for match in search(text, "b$").matches] == [199_999]


def test_a_long_context_line_is_cut() -> None:
    found = search(f"{'y' * 200_000}\nneedle\n{'z' * 200_000}\n", "needle", context_lines=1)
    shown = module.SHOWN_CHARACTERS
    assert found.matches == [Match(2, 200_001, "needle", [f"{'y' * shown}…"], [f"{'z' * shown}…"])]


def test_a_search_ends_at_its_limit_of_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FOUND_CHARACTERS", 40)
    found = search("word\n" * 1000, "word")
    assert (len(found.matches), found.next_character) == (10, 50)


def test_a_search_that_times_out_says_where_to_continue() -> None:
    found = search("word\n" * 100_000, "nothing", seconds=-1)
    assert (found.matches, found.is_timeout, found.next_character) == ([], True, 0)


def test_a_search_that_nobody_waits_for_stops() -> None:
    found = Search(Query("z"), deadline=time.monotonic() + 3600)
    found.is_stopped = True
    assert found.feed("y" * 1_000_000)


async def test_slow_searches_of_one_principal_leave_a_thread_to_others() -> None:
    reader, slow = TextReader(search_seconds=60), Query("((a{1,100}){1,10})b", is_regex=True)
    theirs = [asyncio.create_task(reader.search(cut(b"a" * 3_000_000, 3_000_000), slow, "ann")) for _ in range(9)]
    found = await asyncio.create_task(reader.search(cut(b"a word", 6), Query("word"), "bob"))
    assert (len(found.matches), [each for each in theirs if each.done()]) == (1, [])
    for each in theirs:
        each.cancel()
    await asyncio.gather(*theirs, return_exceptions=True)
    reader.close()


async def test_a_principal_reads_one_page_at_a_time_and_others_do_not_wait(reader: TextReader) -> None:
    has_begun, may_go_on = asyncio.Semaphore(0), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        has_begun.release()
        await may_go_on.wait()
        yield b"text"

    theirs = [asyncio.create_task(reader.page(slow(), "characters", 0, 9, "ann")) for _ in range(3)]
    await has_begun.acquire()
    assert (await reader.page(cut(b"a word", 6), "characters", 0, 9, "bob")).text == "a word"
    assert has_begun.locked()  # the others hold no part of their texts
    may_go_on.set()
    assert [each.text for each in await asyncio.gather(*theirs)] == ["text"] * 3


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "not a regular expression: missing ): (."),
        ("(?=a)", "not a regular expression: invalid perl operator: (?=."),
        (r"(a)\1", "not a regular expression: invalid escape sequence: \\1."),
        ("a{1001}", "not a regular expression: invalid repetition size: {1001}."),
        (r"\pL{500}", "the regular expression is too large"),
        (r"\pL{30}", "the regular expression is too large"),
        ("", "the search is empty"),
        ("a\nb", "a search matches within one line"),
        ("a" * 1001, "a search may have at most 1000 characters; this one has 1001"),
        ("\ud800", "the search is not valid Unicode"),
    ],
)
def test_an_invalid_search_is_refused_with_the_reason(pattern: str, said: str) -> None:
    with pytest.raises(BadArtifact) as refused:
        compile_pattern(pattern, is_regex=True)
    assert str(refused.value).startswith(said)


def test_a_large_expression_is_refused_before_it_has_taken_much_of_the_event_loop() -> None:
    began = time.thread_time()
    for _ in range(50):
        with pytest.raises(BadArtifact, match="the regular expression is too large"):
            compile_pattern(r"(?:\pL|\pN|\pP|\pS|\pZ){350}", is_regex=True)
    assert time.thread_time() - began < 1


def test_an_expression_that_backtracking_engines_cannot_match_is_matched() -> None:
    assert search("a" * 100_000 + "!", r"^(a+)+$").matches == []


@pytest.mark.parametrize("pattern", ["a", "(?:[ab]?){1000}c", "(?:[ab]?){1000}(?:[ab]?){1000}c"])
def test_an_expression_of_many_instructions_searches_less_at_once(pattern: str) -> None:
    """RE2 holds the interpreter's lock: nobody else is served until it returns."""
    search = Search(Query(pattern, is_regex=True), deadline=math.inf)
    steps = search._stretch * search._pattern.programsize
    assert steps <= max(module.STRETCH_STEPS, module.SHORTEST_STRETCH * module.PATTERN_INSTRUCTIONS)
    assert module.SHORTEST_STRETCH * module.PATTERN_INSTRUCTIONS <= 11_000_000  # a tenth of a second
    search.feed("ab" * 10_000 + "c", is_last=True)
    assert search.matches  # what is found stays the same
