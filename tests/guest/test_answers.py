"""Answers of tools whose list or plain value is under `result`: which uses are warnings, and which are not."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from paddock.guest.python import answers, notices
from paddock.guest.python.answers import WrappedAnswer, wrapped
from paddock.guest.python.errors import FILE_NAME


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    for noted in (answers._notes, answers._doubts, notices._texts):
        noted.clear()
    yield
    for noted in (answers._notes, answers._doubts, notices._texts):
        noted.clear()


def warnings_of(code: str, value: Any, **options: Any) -> list[str]:
    """The warnings after a script has used an answer with this value."""
    exec(compile(code, FILE_NAME, "exec"), {"a": wrapped({"result": value})})  # noqa: S102
    answers.warn(**options)
    return notices.collected()


@pytest.mark.parametrize(
    ("code", "value", "told"),
    [
        ("len(a)", [1], "len(answer) counts its keys"),
        ("list(a)", [1], "iterating over the answer gives its keys"),
        ("for x in a: pass", "text", "iterating over the answer gives its keys"),
        ("'b' in a", "abc", "`in` looks among its keys"),
        ("2 in a", [1, 2], "`in` looks among its keys"),
        ("a == 'ok'", "ok", "the answer itself never equals a plain value"),
        ("if not a: pass", [], "the answer itself is never empty"),
        ("a.get('orders', [])", [1], "the answer has no such key"),
        ("if a.get('success'): pass", "contact-1", "the answer has no such key"),
    ],
)
def test_a_use_that_takes_the_answer_for_its_value_is_a_warning(code: str, value: Any, told: str) -> None:
    assert warnings_of(code, value) == [f'On line 1, {told}; its value is in answer["result"].']


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("len(a['result'])", [1]),
        ("a.items(), a.keys(), a.values()", [1]),
        ("'x' in a, 'result' in a", "abc"),
        ("a == 'x', a == {'result': 'abc'}", "abc"),
        ("if a: pass", [1]),
        ("a and a['result']", []),
        ("a.get('orders') or a.get('result')", [1]),
        ("if a.get('error'): pass", [1]),
        ("if a.get('name'): pass\nimport json\njson.dumps(a)", [1]),
        ("import json, pprint\njson.dumps(a, indent=1), pprint.pformat(a), repr(a), {**a}, dict(a)", [1]),
        ("match a:\n    case {'result': [first]}: pass", [1]),
    ],
)
def test_other_uses_are_no_warning(code: str, value: Any) -> None:
    assert warnings_of(code, value) == []


def test_the_line_of_the_error_is_left_out_and_three_lines_are_named() -> None:
    code = "\n".join(["len(a)"] * 5)
    told = warnings_of(code, [1], except_line=2)
    assert [text.partition(",")[0] for text in told] == ["On line 1", "On line 3", "On line 4"]


@pytest.mark.parametrize("answer", [{"result": {"id": 1}}, {"result": [1], "next": 2}, {"orders": []}, {}])
def test_an_answer_that_is_an_object_by_itself_stays_a_plain_dict(answer: dict[str, Any]) -> None:
    assert type(wrapped(answer)) is dict


def test_copies_are_ordinary_dicts() -> None:
    answer = wrapped({"result": [1], "_attachments": []})
    assert type(answer) is WrappedAnswer
    for other in (copy.copy(answer), copy.deepcopy(answer), pickle.loads(pickle.dumps(answer)), dict(answer)):  # noqa: S301
        assert (type(other), other) == (dict, answer)
