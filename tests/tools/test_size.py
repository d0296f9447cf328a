"""Megabytes of upstreams: cleaned of secrets, without holding up the event loop."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from paddock.tools import size
from paddock.tools.secrets import OVERLAP_CHARACTERS, PIECE_CHARACTERS, _sub, redact_secrets
from tests.tools.upstreams import TOKEN, Connect, Serve, plain


@pytest.mark.parametrize(
    ("value", "is_larger"),
    [
        (None, False),
        ({"a": [1, {"b": "c"}]}, False),
        (["x" * 100] * 9, False),
        (["x" * 100] * 10, True),
        ([1] * 1000, True),
        ({"x" * 1000: 1}, True),
    ],
)
def test_a_value_is_large_by_its_texts_and_their_number(value: Any, *, is_larger: bool) -> None:
    assert size.is_larger(value, 1000) is is_larger


def test_a_cycle_is_large() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert size.is_larger(cycle, 1000)


@pytest.mark.parametrize("before", [0, 1, PIECE_CHARACTERS - 3, PIECE_CHARACTERS + OVERLAP_CHARACTERS - 2])
@pytest.mark.parametrize("length", [5, 5000, 200_000])
def test_a_match_is_found_at_any_position(before: int, length: int) -> None:
    text = "." * before + "<" + "s" * length + "> and <s>" + "." * PIECE_CHARACTERS
    pattern = re.compile("<s+>?")
    assert _sub(pattern, lambda _: "#", text) == pattern.sub("#", text)


@pytest.mark.parametrize("before", [0, PIECE_CHARACTERS - 4, size.LARGE])
def test_a_secret_in_a_large_text_is_redacted(before: int) -> None:
    text = "." * before + f" {TOKEN} and password=hunter22 " + "." * size.LARGE
    assert redact_secrets(text, [TOKEN]) == "." * before + " [redacted] and password=[redacted] " + "." * size.LARGE


async def test_the_event_loop_goes_on_while_a_large_text_is_searched() -> None:
    def search() -> str:
        return _sub(re.compile("(?i)not (there|here)"), lambda _: "", "nothing " * 500_000)

    turns = 0
    working = asyncio.create_task(size.run_by_size("x" * (size.LARGE + 1), search))
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
