"""Lines of any length, of which only a bounded part is kept."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCResponse

from paddock.tools.message_filter import Throttle, clean, filter_transport
from paddock.tools.stdio import STDERR_CHARACTERS, EndlessLine, Line, Lines, Trace, line_message
from paddock.tools.upstream_errors import unreachable

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


@pytest.mark.parametrize("after", [0, STDERR_CHARACTERS - 5])
def test_a_credential_where_stderr_is_cut_leaves_no_part_of_it(after: int) -> None:
    key = "-----BEGIN KEY-----\n" + "\n".join(f"line-{number}" for number in range(15))
    trace = Trace()
    trace.add(f"{'x' * 10_000}{key}{'y' * after}".encode())
    assert "line-1" not in trace.stderr_tail([key])


def test_a_credential_where_a_failure_is_cut_leaves_no_part_of_it() -> None:
    failed = unreachable("x" * 3990 + "hunter2-hunter2")
    assert failed.without(["hunter2-hunter2"]).summary == f"{'x' * 3990}[redacted]"
    assert (
        failed.without([]).summary == failed.summary == failed.envelope("t")["summary"] == f"{'x' * 3990}hunter2-hu …"
    )


def test_an_error_of_a_server_is_cut_before_anybody_searches_it() -> None:
    found = message(id=7, error={"code": -32602, "message": "tool " * 1_000_000 + "hunter2-hunter2"})
    clean(found.message, ("hunter2-hunter2",))
    assert len(found.message.error.message) == len("tool " * 800 + " …")


@asynccontextmanager
async def transport_of(messages: list[Any]) -> AsyncIterator[Any]:
    write, read = anyio.create_memory_object_stream[Any](len(messages))
    for message in messages:
        write.send_nowait(message)
    write.close()
    with read:
        yield read, None


def message(**values: Any) -> Any:
    return line_message(Line(json.dumps({"jsonrpc": "2.0", **values}).encode()), LIMIT)


async def test_every_message_of_a_server_counts_and_slows_it_down(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    async def take(_: Throttle, count: int) -> None:
        taken.append(count)

    monkeypatch.setattr(Throttle, "take", take)
    sent = [message(method="notifications/message"), message(id=7, result={}), message(id=8, method="ping")]
    async with filter_transport(transport_of(sent), lambda _: None, lambda: None) as (passed, _):
        assert [each async for each in passed] == sent[1:]
    assert taken == [1, 1, 1]


async def test_a_server_is_not_read_for_a_while_after_a_message_that_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    sleep = anyio.sleep

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await sleep(0)

    def clean(cleaned: Any) -> None:
        ends_at = time.thread_time() + (0.06 if cleaned.id == 7 else 0)
        while time.thread_time() < ends_at:
            pass

    monkeypatch.setattr(anyio, "sleep", rest)
    sent = [message(id=7, result={}), message(id=8, result={})]
    async with filter_transport(transport_of(sent), clean, lambda: None) as (passed, _):
        assert [each async for each in passed] == sent
    assert len(rests) == 1
    assert rests[0] >= 0.18
