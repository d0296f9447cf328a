"""JSON of any depth can be decoded and measured without recursion."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddock.model.deep_json import _loads_iteratively, is_deeper, loads


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -1.5e300, "", 'a "quoted" \\ [text] {}', "\ud800", [], {}, [[]], [{}], {"": {"a": []}}),
        {"a": [1, [2, {"b": "c,:"}], "]"], "d": {"e": None}, "\u2028": [False, "\n"]},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_iterative_decoding_gives_the_same_values(value: Any, indent: int | None) -> None:
    assert _loads_iteratively(json.dumps(value, indent=indent)) == value


def test_a_value_too_deep_for_json_is_decoded() -> None:
    value, depth = loads('[{"a":' * 50_000 + "1" + "}]" * 50_000), 0
    while value != 1:
        value, depth = value[0]["a"], depth + 1
    assert depth == 50_000


@pytest.mark.parametrize(("value", "depth"), [(1, 0), ([], 0), ([1], 1), ({"a": [1]}, 2), ([1, [2, [3]], 4], 3)])
def test_depth_counts_nested_containers(value: object, depth: int) -> None:
    assert [is_deeper(value, limit) for limit in range(5)] == [limit < depth for limit in range(5)]
