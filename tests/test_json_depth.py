"""How deeply JSON is nested, as text and as values."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.model.json_depth import depth, is_deeper

TEXTS = st.text(st.sampled_from('[]{}"\\\\,:a\n\u00e9'), max_size=6)
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
)


def levels(value: Any) -> int:
    if not isinstance(value, list | dict):
        return 0
    return 1 + max(map(levels, value.values() if isinstance(value, dict) else value), default=0)


@given(VALUES, st.booleans(), st.integers(0, 30))
def test_the_depth_of_a_text_is_that_of_its_value(value: Any, is_ascii: bool, more: int) -> None:
    for _ in range(more):
        value = [value]
    assert depth(json.dumps(value, ensure_ascii=is_ascii).encode()) == levels(value)


@pytest.mark.parametrize(
    "piece", [b"[]", b"[[]]", b"[" * 20 + b"]" * 20, b'"["', b'"\\\\"', b'{"a":"\\""}', b"[" * 400 + b"]" * 400]
)
def test_large_texts_take_little_time(piece: bytes) -> None:
    text = b"[" + b",".join([piece] * (16_000_000 // len(piece))) + b"]"
    began = time.thread_time()
    depth(text)
    assert time.thread_time() - began < 3


@pytest.mark.parametrize(("value", "expected"), [(1, 0), ([], 0), ([1], 1), ({"a": [1]}, 2), ([1, [2, [3]], 4], 3)])
def test_depth_counts_nested_containers(value: object, expected: int) -> None:
    assert [is_deeper(value, limit) for limit in range(5)] == [limit < expected for limit in range(5)]
