"""Suggestions for mistyped words, and that hostile words cannot make them slow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.model.spelling import did_you_mean, most_similar, nearest, within_edits


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("statsu", ["status", "state"], ["status", "state"]),
        ("Status", ["status"], ["status"]),
        ("ordre_id", ["order_id", "orders", "id"], ["order_id"]),
        ("abcdef", ["bacdfe", "abcdef", "badcfe"], ["abcdef", "bacdfe"]),
        ("ab", ["ac"], []),
        ("abc", ["abd", "axy"], ["abd"]),
        ("x" * 101, ["x" * 101], []),
        ("", ["a"], []),
    ],
)
def test_words_within_two_edits_are_near_and_the_nearest_comes_first(
    word: str, known: list[str], near: list[str]
) -> None:
    assert within_edits(word, known) == near


@settings(max_examples=500)
@given(st.text("abc", min_size=5, max_size=8), st.text("abc", min_size=5, max_size=8))
def test_edits_are_counted_as_by_the_plain_method(a: str, b: str) -> None:
    assert (within_edits(a, [b]) == [b]) == (plain(a, b) <= 2)


def plain(a: str, b: str) -> int:
    rows = [[i + j if not i or not j else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i][j] = best
    return rows[-1][-1]


def test_only_the_beginning_of_a_long_word_is_compared() -> None:
    assert nearest("run_cod" + "e" * 10_000_000, ["run_code"]) is None
    assert nearest("x" * 100 + "y" * 10_000_000, ["x" * 100]) == "x" * 100
    assert within_edits("x" * 10_000_000, ["x" * 100]) == []


def test_the_most_similar_words_come_first() -> None:
    assert most_similar("orders", ["order", "borders", "orders_2", "weather"], 2) == ["borders", "order"]


def test_a_name_without_its_unit_is_known() -> None:
    assert did_you_mean("wall", ["calls", "wall_seconds"]) == "did you mean 'wall_seconds'?"
