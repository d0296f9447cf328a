"""JSON of megabytes: the same as any other, except that the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from paddock.tools import large
from paddock.tools.secrets import redacted
from tests.tools.upstreams import TOKEN, Connect, Serve, plain

ROWS = {"rows": [{"id": number, "name": f"row {number} é", "price": number * 1.5} for number in range(100_000)]}


@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        {"a": {"b": {"c": list(range(50_000))}}},
        {"text": 'é"\\\n' * 60_000},
        ["x" * 200_000, {}, [], None, True],
        {"": [[[]]], "deep": [{"a": [list(range(1000))] * 3}] * 300},
    ],
    ids=["rows", "numbers", "text", "mixed", "nested"],
)
def test_a_large_value_is_written_and_read_as_a_small_one_is(value: Any) -> None:
    assert large.is_large(value)
    assert large.dumps(value, allow_nan=False) == json.dumps(value)
    assert large.loads(json.dumps(value)) == value


@pytest.mark.parametrize("value", [None, 1, "text", {}, [], {"a": [1, {"b": "c"}]}, ["x" * 100] * 100])
def test_a_small_value_is_small(value: Any) -> None:
    assert not large.is_large(value)


def test_what_json_does_not_have_is_refused_in_a_large_value_too() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        large.dumps({"a": [1.0] * 10_000 + [float("nan")]}, allow_nan=False)
    with pytest.raises(ValueError, match="Exceeds the limit"):
        large.loads("[" + "9" * 5000 + "]")


@pytest.mark.parametrize("before", [0, 1, large.PIECE - 3, large.PIECE, large.PIECE + large.OVERLAP - 2])
@pytest.mark.parametrize("length", [5, 5000, 200_000])
def test_what_is_searched_for_is_found_wherever_it_stands(before: int, length: int) -> None:
    text = "." * before + "<" + "s" * length + "> and <s>" + "." * large.PIECE
    pattern = re.compile("<s+>?")
    assert large.sub(pattern, lambda _: "#", text, lambda _: True) == pattern.sub("#", text)


@pytest.mark.parametrize("before", [0, large.PIECE - 4, large.LARGE])
def test_a_secret_in_a_large_text_is_taken_out(before: int) -> None:
    text = "." * before + f" {TOKEN} and password=hunter22 " + "." * large.LARGE
    assert redacted(text, [TOKEN]) == "." * before + " [redacted] and password=[redacted] " + "." * large.LARGE


@pytest.mark.parametrize(
    "work",
    [
        lambda: large.loads(json.dumps(ROWS)[:-2] + "]}"),
        lambda: large.dumps(ROWS),
        lambda: large.sub(re.compile("(?i)not (there|here)"), lambda _: "", "nothing " * 500_000, lambda _: True),
    ],
    ids=["loads", "dumps", "sub"],
)
async def test_the_event_loop_goes_on_while_a_thread_is_at_work(work: Callable[[], Any]) -> None:
    turns = 0
    working = asyncio.create_task(large.worked(work, is_large=True))
    while not working.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 5  # of the interpreter's lock, which a single call into C would not have given back


@pytest.mark.parametrize("kind", ["stdio", "http", "json", "sse"])
async def test_a_large_answer_arrives_whole_and_without_credentials(connect: Connect, serve: Serve, kind: str) -> None:
    secret = {"headers": {"X-Key": "row 4711"}}
    match kind:
        case "stdio":
            settings = plain(env={"API_TOKEN": "row 4711"})
        case "sse":
            settings = {"type": "sse", "url": serve("sse"), **secret}
        case _:
            settings = {"type": "http", "url": serve("http", kind), **secret}
    rows = (await connect(**settings).call("rows", {"count": 4712})).structured["rows"]
    assert (len(rows), rows[4710]["name"], rows[4711]["name"]) == (4712, "row 4710", "[redacted]")
