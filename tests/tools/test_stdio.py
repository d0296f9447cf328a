"""Lines of any length, of which only a bounded part is kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCResponse

from paddock.tools.stdio import EndlessLine, Line, Lines, line_message

LIMIT = 4096


@given(st.lists(st.binary(max_size=200)))
def test_lines_do_not_depend_on_how_their_pieces_arrive(pieces: list[bytes]) -> None:
    lines = Lines(LIMIT)
    cut = [line.data for piece in pieces for line in lines.feed(piece)]
    assert cut == b"".join(pieces).split(b"\n")[:-1]


def test_of_a_line_that_is_too_long_both_ends_are_kept() -> None:
    lines = Lines(LIMIT)
    cut = [line for _ in range(20) for line in lines.feed(b"a" + b"x" * 1000)] + list(lines.feed(b"end\nnext\n"))
    assert [(line.data[:1], line.data[-3:], line.is_whole) for line in cut] == [
        (b"a", b"end", False),
        (b"n", b"ext", True),
    ]
    assert len(cut[0].data) < LIMIT


def test_an_endless_line_is_an_error() -> None:
    lines = Lines(LIMIT)
    assert [line for _ in range(100) for line in lines.feed(b"x" * 1000)] == []
    with pytest.raises(EndlessLine):
        list(lines.feed(b"x" * LIMIT * 32))


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":7,"result":{"x": oh dear',
        '{"id": 7, "result": oh dear',
        '{"result": oh dear,"jsonrpc":"2.0","id":7}',
        '{"jsonrpc":"2.0","result": oh dear, "id":7}',
    ],
)
def test_an_answer_that_cannot_be_read_fails_the_call_that_it_belongs_to(text: str) -> None:
    found = line_message(Line(text.encode()), LIMIT)
    assert found is not None
    assert isinstance(found.message, JSONRPCError)
    assert found.message.id == 7


@pytest.mark.parametrize("text", ["", "  ", "a banner", '{"jsonrpc":"2.0","id":7,"method": oh dear', "[1]", "\x00"])
def test_noise_is_dropped(text: str) -> None:
    assert line_message(Line(text.encode()), LIMIT) is None


def test_lone_surrogates_and_invalid_utf_8_are_replaced() -> None:
    sent = {"jsonrpc": "2.0", "id": 7, "result": {"x": "a\ud800", "y": "\U0001f600"}}
    found = line_message(Line(json.dumps(sent).encode().replace(b'"y"', b'"\xff"')), LIMIT)
    assert found is not None
    assert isinstance(found.message, JSONRPCResponse)
    assert found.message.result == {"x": "a?", "\ufffd": "\U0001f600"}
