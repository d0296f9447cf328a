"""Search: the same as a naive search line by line, however the text is cut, and bounded whatever is searched for."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.errors import BadArtifact
from paddock.store.text import searching
from paddock.store.text.pattern import compiled
from paddock.store.text.places import BEGINNING
from paddock.store.text.searching import Match, Search
from tests.examples import examples

PATTERNS = ["a", "b+c", "^a", "c$", "^$", "é", "a|漢", r"\bc", "x*", r"\Aa", r"c\z", "[^a]b", "^", "$", r"a\s*b"]


def search(text: str, pattern: str, *, is_regex: bool = True, size: int = 50_000, **options: Any) -> Search:
    values: dict[str, Any] = {
        "unit": "characters",
        "offset": 0,
        "limit": 10**6,
        "context_lines": 0,
        "most_characters": 10**9,
        "deadline": time.monotonic() + 3600,
        "start": BEGINNING,
    }
    found = Search(compiled(pattern, is_regex=is_regex), **{**values, **options})
    for at in range(0, len(text), size):
        if found.feed(text[at : at + size]):
            return found
    found.end()
    return found


def lines(text: str) -> list[str]:
    return [line.removesuffix("\n").removesuffix("\r") for line in text.replace("\n", "\n\0").split("\0") if line]


def naive(text: str, pattern: str) -> list[tuple[int, str]]:
    """Each line by itself, with Python's `re`; its `\\A` and `\\Z` are those of the text."""
    found = []
    shown = lines(text)
    for number, line in enumerate(shown):
        is_end = number == len(shown) - 1 and not text.endswith("\n")
        own = pattern.replace(r"\z", r"\Z" if is_end else "(?!)").replace(r"\A", "^" if number == 0 else "(?!)")
        if re.search(own, line, re.ASCII):
            found.append((number + 1, line))
    return found


@pytest.fixture
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "STRETCH", 16)
    monkeypatch.setattr(searching, "OVERLAP", 8)


TEXTS = st.lists(st.text(st.sampled_from("abc é漢"), max_size=7), max_size=12).flatmap(
    lambda found: st.sampled_from(["\n".join(found), "\r\n".join(found), "\n".join([*found, ""])])
)


@pytest.mark.usefixtures("short_stretches")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_found_is_what_a_search_of_each_line_finds(pattern: str) -> None:
    @settings(max_examples=examples(40))
    @given(TEXTS, st.integers(1, 20))
    def check(text: str, size: int) -> None:
        found = search(text, pattern, size=size)
        assert [(match.line, match.text) for match in found.matches] == naive(text, pattern)
        assert found.next_character is None

    check()


@pytest.mark.usefixtures("short_stretches")
@given(TEXTS, st.integers(1, 20), st.integers(1, 3))
def test_each_line_around_a_match_is_shown_once_and_in_order(text: str, size: int, context: int) -> None:
    found, all_lines = search(text, "a", size=size, context_lines=context), lines(text)
    shown = [line for match in found.matches for line in (*match.before, match.text, *match.after)]
    near = {at for number, _ in naive(text, "a") for at in range(number - 1 - context, number + context)}
    assert shown == [line for at, line in enumerate(all_lines) if at in near]


@pytest.mark.usefixtures("short_stretches")
@given(TEXTS, st.integers(1, 20), st.integers(1, 3))
def test_going_on_where_a_search_ended_finds_each_match_once(text: str, size: int, limit: int) -> None:
    found: list[tuple[int, str]] = []
    offset: int | None = 0
    while offset is not None:
        part = search(text, "a", size=size, limit=limit, offset=offset)
        assert len(part.matches) <= limit
        found += [(match.line + text[:0].count("\n"), match.text) for match in part.matches]
        offset = part.next_character
    starts = [line for line, _ in naive(text, "a")]
    assert [line for line, _ in found] == starts


@pytest.mark.usefixtures("short_stretches")
@given(TEXTS, st.integers(1, 20))
def test_the_offset_of_a_match_is_where_it_is(text: str, size: int) -> None:
    for match in search(text, "[ac]", size=size).matches:
        assert text[match.offset] in "ac"


@given(TEXTS, st.integers(0, 14))
def test_a_search_may_begin_at_a_line(text: str, offset: int) -> None:
    wanted = [each for each in naive(text, "b") if each[0] > offset]
    found = search(text, "b", unit="lines", offset=offset)
    assert [(match.line, match.text) for match in found.matches] == wanted


def test_words_are_looked_for_as_they_stand_in_capitals_or_not() -> None:
    found = search("No (Total): 5\nno total: 6\nÉCOLE\n", "(TOTAL)", is_regex=False)
    assert [match.text for match in found.matches] == ["No (Total): 5"]
    assert [match.line for match in search("x\nÉCOLE\n", "école", is_regex=False).matches] == [2]


def test_a_line_does_not_begin_where_a_search_does() -> None:
    assert [match.offset for match in search("ab\nab", "^b|^a", offset=1).matches] == [3]


def test_every_place_in_a_very_long_line_is_found() -> None:
    places = [0, 70_000, 70_300, 131_072, 131_073, 200_000, 500_000]
    text = "".join("X" if at in places else "-" for at in range(500_001))
    found = search(f"first\n{text}\nlast X\n", "X", context_lines=1)
    assert [match.line for match in found.matches] == [2] * (len(found.matches) - 1) + [3]
    seen = {match.offset - 6 for match in found.matches}
    assert {0, 70_000, 131_072, 200_000, 500_000} <= seen
    assert all(len(match.text) <= searching.SHOWN + 2 for match in found.matches)
    assert (found.matches[0].before, found.matches[-1].text) == (["first"], "last X")


def test_words_across_the_border_of_two_stretches_of_a_long_line_are_found() -> None:
    borders = (searching.STRETCH - searching.OVERLAP, searching.STRETCH)
    places = {*range(borders[0] - 8, borders[1] + 8, 61)}.union(*(range(at - 8, at + 8) for at in borders))
    for at in sorted(places):
        text = "-" * at + "needle" + "-" * 100_000
        assert [match.offset for match in search(text, "needle", is_regex=False).matches] == [at]


def test_a_long_line_begins_and_ends_once() -> None:
    text = "ab" * 100_000
    assert [match.offset for match in search(text, "^a").matches] == [0]
    assert [match.offset for match in search(text, "b$").matches] == [199_999]


def test_a_long_line_beside_a_match_is_cut() -> None:
    found = search(f"{'y' * 200_000}\nneedle\n{'z' * 200_000}\n", "needle", context_lines=1)
    shown = searching.SHOWN
    assert found.matches == [Match(2, 200_001, "needle", [f"{'y' * shown}…"], [f"{'z' * shown}…"])]


def test_what_is_found_ends_at_a_number_of_characters() -> None:
    found = search("word\n" * 1000, "word", most_characters=40)
    assert (len(found.matches), found.next_character) == (10, 50)


def test_a_search_that_takes_too_long_says_where_it_was() -> None:
    found = search("word\n" * 100_000, "nothing", deadline=time.monotonic() - 1)
    assert (found.matches, found.is_timeout, found.next_character) == ([], True, 0)


def test_a_search_that_nobody_waits_for_stops() -> None:
    found = Search(
        compiled("z", is_regex=False),
        "characters",
        0,
        limit=1,
        context_lines=0,
        most_characters=100,
        deadline=time.monotonic() + 3600,
        start=BEGINNING,
    )
    found.stop()
    assert found.feed("y" * 1_000_000)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "not a regular expression: missing ): (."),
        ("(?=a)", "not a regular expression: invalid perl operator: (?=."),
        (r"(a)\1", "not a regular expression: invalid escape sequence: \\1."),
        ("a{1001}", "not a regular expression: invalid repetition size: {1001}."),
        (r"\pL{500}", "not a regular expression: pattern too large - compile failed."),
        (r"\pL{30}", "the regular expression is too large"),
        ("", "the search is empty"),
        ("a\nb", "a search is within one line"),
        ("a" * 1001, "a search has at most 1000 characters, and this one has 1001"),
        ("\ud800", "the search is not Unicode"),
    ],
)
def test_what_cannot_be_searched_for_is_refused_with_the_reason(pattern: str, said: str) -> None:
    with pytest.raises(BadArtifact) as refused:
        compiled(pattern, is_regex=True)
    assert str(refused.value).startswith(said)


def test_an_expression_that_others_take_for_ever_to_match_is_matched() -> None:
    assert search("a" * 100_000 + "!", r"^(a+)+$").matches == []
