"""Python functions as tools: their schemas, their descriptions, and the values that they get."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from paddock.model.tools import Hints
from paddock.tools.functions import FunctionTool


@dataclass
class Place:
    city: str
    zip: int | None = None


@dataclass
class Line:
    sku: str
    count: int


def tool(function: Callable[..., Any]) -> FunctionTool:
    return FunctionTool(function.__name__, function)


async def orders(status: Literal["open", "paid"], limit: int = 10, *, since: dt.date | None = None) -> list[Line]:
    """Orders of one status, the newest first.

    The status is that of today.

    Args:
        status: which orders
        limit (int): how many at most;
            100 are the most
    Returns:
        what there is
    """
    return []


def test_parameters_are_read_from_annotations_and_the_docstring() -> None:
    described = tool(orders).tool
    assert described.full_name == "orders"
    assert described.description == "Orders of one status, the newest first.\n\nThe status is that of today."
    assert described.input_schema == {
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["open", "paid"], "description": "which orders"},
            "limit": {"type": "integer", "default": 10, "description": "how many at most; 100 are the most"},
            "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        },
        "required": ["status"],
        "additionalProperties": False,
    }


def test_a_return_value_is_under_result_unless_it_is_an_object() -> None:
    given = tool(orders).tool.output_schema
    assert given is not None
    assert given["properties"]["result"] == {"type": "array", "items": {"$ref": "#/$defs/Line"}}
    assert set(given["$defs"]["Line"]["properties"]) == {"sku", "count"}

    def place() -> Place: ...  # type: ignore[empty-body]

    given = tool(place).tool.output_schema
    assert given is not None
    assert set(given["properties"]) == {"city", "zip"}


@pytest.mark.parametrize(
    "docstring",
    [
        "Say it.\n\n:param str word: what to say\n:returns: nothing",
        "Say it.\n\nParameters:\n    word: what to say",
        "Say it.\n\nArgs:\n    word (str): what to say\n\nRaises:\n    ValueError: never",
    ],
)
def test_the_usual_styles_of_docstrings_are_read(docstring: str) -> None:
    def say(word: str) -> None: ...

    say.__doc__ = docstring
    described = tool(say).tool
    assert described.description == "Say it."
    assert described.input_schema["properties"]["word"]["description"] == "what to say"


def test_without_annotations_any_value_is_accepted() -> None:
    def anything(a, b=2, **more): ...  # type: ignore[no-untyped-def]

    assert tool(anything).tool.input_schema == {
        "type": "object",
        "properties": {"a": {}, "b": {"default": 2}},
        "required": ["a"],
        "additionalProperties": True,
    }
    assert tool(anything).tool.output_schema is None


def test_a_parameter_without_a_schema_gets_the_plain_value() -> None:
    def odd(lock: object, again: NotThere) -> None: ...  # type: ignore[name-defined] # noqa: F821

    assert set(tool(odd).tool.input_schema["properties"]) == {"lock", "again"}


async def test_a_function_gets_values_of_its_annotated_types() -> None:
    def where(place: Place, day: dt.date) -> list[object]:
        return [place, day]

    given = await tool(where).call({"place": {"city": "Rome"}, "day": "2026-11-15"})
    assert given == [Place("Rome"), dt.date(2026, 11, 15)]


@pytest.mark.parametrize(
    ("count", "said"),
    [(2, "2 validation errors for list"), (1_000, "1,000 values in 'numbers' do not have the annotated type")],
)
async def test_an_error_does_not_list_every_value_of_a_wrong_type(count: int, said: str) -> None:
    def total(numbers: list[int]) -> int:
        return sum(numbers)

    with pytest.raises(ValueError, match=said) as caught:
        await tool(total).call({"numbers": [9e307] * count})  # of the schema's type, but too large for an int
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("said", "hints"), [(Hints(read_only=True), Hints(read_only=True)), ("anything", Hints()), (None, Hints())]
)
def test_a_function_may_declare_hints(said: object, hints: Hints) -> None:
    def look() -> None: ...

    if said is not None:
        look.hints = said  # type: ignore[attr-defined]
    assert tool(look).tool.hints == hints
