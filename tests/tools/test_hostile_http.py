"""Attacks 77 and 78 over HTTP: whatever a server answers, that call fails with a reason, and nothing else does."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio
from mcp.client import streamable_http

from paddock.tools.http_client import EXCHANGE, Exchange, _Body
from paddock.tools.message_filter import REST_FACTOR, Rest
from paddock.tools.message_parser import parse_messages
from paddock.tools.oauth import make_client
from paddock.tools.size import parse_seconds
from paddock.tools.upstream import Upstream
from paddock.tools.upstream_errors import CallFailed
from tests.escape.traces import forget_peak, peak_bytes
from tests.server.watched_server import watch
from tests.tools.upstreams import STATUSES, TOKEN, Connect, HostileHttp, answers, failure, one, state, until

NETWORK = ("upstream_http", "UPSTREAM_NETWORK", True)
TIMEOUT = ("upstream_http", "UPSTREAM_TIMEOUT", True)
BROKEN = ("internal_error", "INTERNAL_ERROR", False)


IN_ONE_LOOP = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def standing(hostile_http_server: HostileHttp) -> AsyncIterator[Upstream]:
    """One whose connection outlives every bad answer, also those of the tests before."""
    upstream = Upstream(one(**hostile_http_server.at()))
    assert await answers(upstream)
    yield upstream
    await upstream.close()


def code(failed: CallFailed) -> tuple[str, str, bool]:
    return failed.kind, failed.code, failed.retryable


@pytest.mark.parametrize(
    "tool", ["hang", "hang_mid", "silent_events", "endless_events", "endless_notices", "hang_in_error"]
)
async def test_a_late_answer_times_out_and_its_request_is_closed(
    connect: Connect, hostile_http: HostileHttp, tool: str
) -> None:
    upstream = connect(**hostile_http.at())
    await upstream.tools()
    assert code(await failure(upstream, tool, timeout_seconds=0.3)) == TIMEOUT
    assert await answers(upstream)
    called = hostile_http.saw()[0].removeprefix("called ")
    await until(lambda: {f"cancelled {called}", f"left {called}"} <= set(hostile_http.saw()))


@IN_ONE_LOOP
@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("close", "disconnected without sending a response"),
        ("close_mid", "closed connection without sending complete message"),
        ("no_http", "cannot be reached"),
        ("ended_events", "SSE stream ended without a response"),
        ("resumable", "SSE stream ended and reconnection attempts were exhausted"),
        ("header_bomb", "Receive buffer too long"),
        ("many_headers", "Receive buffer too long"),
    ],
)
async def test_an_answer_that_breaks_off_is_a_network_failure(standing: Upstream, tool: str, said: str) -> None:
    failed = await failure(standing, tool)
    assert code(failed) == NETWORK
    assert said in failed.summary
    assert await answers(standing)


@IN_ONE_LOOP
@pytest.mark.parametrize("tool", ["huge", "huge_unsaid", "huge_event", "bomb"])
async def test_an_answer_of_a_hundred_megabytes_is_not_kept(standing: Upstream, tool: str) -> None:
    forget_peak()  # what was larger before would hide it
    before = peak_bytes()
    failed = await failure(standing, tool)
    assert code(failed) == BROKEN
    assert ("larger than 16 MB" if tool != "bomb" else "it is compressed") in failed.summary
    assert peak_bytes() - before < 80 * 1024 * 1024
    assert await answers(standing)


@IN_ONE_LOOP
@pytest.mark.parametrize("tool", ["many_lists", "many_lists_event"])
async def test_an_answer_of_millions_of_lists_fails_its_call_before_it_is_parsed(standing: Upstream, tool: str) -> None:
    forget_peak()
    before = peak_bytes()
    failed = await failure(standing, tool)
    assert code(failed) == BROKEN
    assert "it is made of more than 1,000,000 lists and objects" in failed.summary
    assert peak_bytes() - before < 80 * 1024 * 1024
    assert await answers(standing)


async def test_answers_that_take_long_to_parse_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pieces(content: bytes) -> AsyncIterator[bytes]:
        yield content

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    slept: list[float] = []
    monkeypatch.setattr("paddock.tools.message_filter.anyio.sleep", sleep)
    large, rest = b"[" + b"[]," * 500_000 + b"[]]\n", Rest(now=lambda: 0.0)
    for content in (large, b"[1]\n", large, b"[1]\n"):
        for limit in (None, len(large)):  # a stream of events, and another body
            assert [piece async for piece in _Body(pieces(content), limit, Exchange(), rest)] == [content]
    seconds = (1 + REST_FACTOR) * parse_seconds(large)
    assert slept == pytest.approx([seconds, 2 * seconds, 3 * seconds])


@IN_ONE_LOOP
@pytest.mark.parametrize("tool", ["tiny_chunks", "tiny_chunks_event", "tiny_chunks_error"])
async def test_an_answer_in_tiny_chunks_does_not_block_the_loop(
    standing: Upstream, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio.events.Handle, "_run", asyncio.events.Handle._run)  # undone after `watch`
    slow = tmp_path / "slow"
    slow.touch()
    watch(slow)
    await failure(standing, tool, timeout_seconds=2)
    assert len(slow.read_text().splitlines()) <= 1  # a full garbage collection; without a pause there are ten
    assert await answers(standing)


async def test_what_follows_a_response_is_not_the_answer_to_the_next_request() -> None:
    serving = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError):
            while asked := await reader.readuntil(b"\r\n\r\n"):
                texts = (b"first", b"rest") if b"/first" in asked else (b"second",)
                writer.write(
                    b"".join(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(each) + each for each in texts)
                )
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = "http://127.0.0.1:{1}".format(*server.sockets[0].getsockname())
    async with server, make_client() as client:
        assert [(await client.get(f"{address}/{path}")).text for path in ("first", "second")] == ["first", "second"]
    await asyncio.gather(*filter(None, serving))


async def test_interim_responses_without_end_take_little_of_the_loop(
    connect: Connect, hostile_http: HostileHttp
) -> None:
    upstream = connect(**hostile_http.at())
    assert await answers(upstream)
    began = time.process_time()
    await asyncio.gather(*(failure(upstream, "interim", timeout_seconds=3) for _ in range(8)))
    assert time.process_time() - began < 1.5  # without a pause, all of the time
    assert await answers(upstream)


@IN_ONE_LOOP
@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("malformed", "not a JSON-RPC message"),
        ("not_an_answer", "not a JSON-RPC message"),
        ("deep", "not a JSON-RPC message"),
        ("empty", "not a JSON-RPC message"),
        ("accepted", "answered a request with 202 Accepted"),
        ("html", "Unexpected content type: text/html"),
        ("other_id", "it answers another request, or none"),
        ("other_id_event", "it answers another request, or none"),
        ("no_id", "refused the call: what?"),
    ],
)
async def test_an_invalid_answer_is_reported_as_invalid(standing: Upstream, tool: str, said: str) -> None:
    failed = await failure(standing, tool)
    assert code(failed) == BROKEN
    assert said in failed.summary
    assert await answers(standing)


@IN_ONE_LOOP
@pytest.mark.parametrize("tool", ["surrogate", "surrogate_event"])
async def test_half_of_an_emoji_does_not_fail_the_call(standing: Upstream, tool: str) -> None:
    assert (await standing.call(tool, {})).content == ({"type": "text", "text": "a?"},)


def test_messages_of_our_connections_are_not_formatted_for_a_log_and_others_stay_as_they_are() -> None:
    parse_messages()
    sent = '{"jsonrpc":"2.0","id":1,"result":{"a":["shown"]}}'
    others = streamable_http.jsonrpc_message_adapter.validate_json(sent, by_name=False)  # type: ignore[attr-defined]
    token = EXCHANGE.set(Exchange())
    try:
        ours = streamable_http.jsonrpc_message_adapter.validate_json(sent, by_name=False)  # type: ignore[attr-defined]
    finally:
        EXCHANGE.reset(token)
    assert ours.model_dump() == others.model_dump()
    assert ("shown" in f"{ours}", "shown" in f"{others}") == (False, True)


@IN_ONE_LOOP
async def test_of_two_answers_the_first_counts(standing: Upstream) -> None:
    assert (await standing.call("twice", {})).content == ({"type": "text", "text": "first"},)
    assert await answers(standing)


@pytest.mark.parametrize(("tool", "status"), [("forgotten", 404), ("not_initialized", 400)])
async def test_a_session_that_the_server_forgot_is_started_again(
    connect: Connect, hostile_http: HostileHttp, tool: str, status: int
) -> None:
    upstream = connect(**hostile_http.at("/session"))
    failed = await failure(upstream, tool)
    assert (code(failed), "no longer knows the session" in failed.summary) == (NETWORK, True)
    assert await answers(upstream)
    without = connect(**hostile_http.at())
    assert code(await failure(without, tool)) == ("upstream_http", f"UPSTREAM_HTTP_{status}", False)


async def test_an_error_that_quotes_a_script_does_not_end_the_session_of_others(
    connect: Connect, hostile_http: HostileHttp
) -> None:
    upstream = connect(**hostile_http.at("/session"))
    pending = asyncio.create_task(upstream.call("hang", {}))
    await until(lambda: bool(hostile_http.saw()))
    assert code(await failure(upstream, "quoting")) == ("upstream_http", "UPSTREAM_HTTP_400", False)
    assert await answers(upstream)
    assert not pending.done()
    pending.cancel()


async def test_a_stream_of_notifications_that_ends_at_once_is_not_opened_again_at_once(
    connect: Connect, hostile_http: HostileHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.tools.http_client.LISTEN_SECONDS", 3600.0)
    upstream = connect(**hostile_http.at("/restless"))
    await upstream.tools()
    await until(lambda: "listened" in hostile_http.saw())
    for _ in range(20):
        assert await answers(upstream)
    assert hostile_http.saw().count("listened") == 1


@pytest.mark.parametrize("tool", ["round_and_round", "elsewhere", "elsewhere_get"])
async def test_redirects_are_limited_and_send_no_credentials_to_another_host(
    connect: Connect, hostile_http: HostileHttp, tool: str
) -> None:
    upstream = connect(**hostile_http.at())
    failed = await failure(upstream, tool)
    assert code(failed) == BROKEN
    assert "Redirect to http://127.0.0.1:" in failed.summary
    assert await answers(upstream)
    assert not [line for line in hostile_http.saw() if line.startswith("elsewhere")]


@pytest.mark.parametrize("tool", ["elsewhere", "elsewhere_get"])
async def test_a_redirect_of_the_handshake_sends_no_credentials_to_another_host(
    connect: Connect, hostile_http: HostileHttp, tool: str
) -> None:
    for kind in ("http", "sse"):
        upstream = connect(**hostile_http.at(f"/{tool}", type=kind))
        assert (await failure(upstream, "ok")).kind == "internal_error"
    assert not [line for line in hostile_http.saw() if line.startswith("elsewhere")]


@IN_ONE_LOOP
@pytest.mark.parametrize(("status", "expected"), STATUSES)
async def test_a_status_has_its_own_envelope_without_repeated_credentials(
    standing: Upstream, status: int, expected: tuple[str, str, bool]
) -> None:
    failed = await failure(standing, f"status_{status}")
    assert code(failed) == expected
    assert f"answered with HTTP {status}: no: [redacted]" in failed.summary
    assert failed.envelope("it.t").get("_meta") == ({"retry_after_seconds": 7.0} if status not in (401, 403) else None)
    assert await answers(standing)


@IN_ONE_LOOP
async def test_a_credential_where_an_error_is_cut_leaves_no_part_of_it(standing: Upstream) -> None:
    assert (await failure(standing, "long_error")).summary.endswith("x[redacted]")
    assert await answers(standing)


@pytest.mark.parametrize(
    ("path", "http", "sse"),
    [
        ("hang", TIMEOUT, TIMEOUT),
        ("hang_mid", TIMEOUT, BROKEN),
        ("silent_events", TIMEOUT, TIMEOUT),
        ("endless_events", TIMEOUT, TIMEOUT),
        ("endless_notices", TIMEOUT, TIMEOUT),
        ("ended_events", NETWORK, BROKEN),
        ("close", NETWORK, NETWORK),
        ("close_mid", NETWORK, BROKEN),
        ("header_bomb", NETWORK, NETWORK),
        ("huge_unsaid", BROKEN, BROKEN),
        ("huge_event", BROKEN, BROKEN),
        ("bomb", BROKEN, BROKEN),
        ("html", BROKEN, BROKEN),
        *((f"status/{status}", expected, expected) for status, expected in STATUSES if status in (429, 500)),
    ],
)
async def test_a_server_that_misbehaves_from_the_start_fails_and_can_be_closed(
    connect: Connect, hostile_http: HostileHttp, path: str, http: tuple[str, str, bool], sse: tuple[str, str, bool]
) -> None:
    for kind, expected in (("http", http), ("sse", sse)):
        seconds = 0.5 if TIMEOUT in (http, sse) else 20
        upstream = connect(**hostile_http.at(f"/{path}", type=kind, connect_seconds=seconds))
        failed = await failure(upstream, "ok")
        assert (kind, code(failed)) == (kind, expected), failed.summary
        assert "no: [redacted]" in failed.summary or not path.startswith("status")  # the headers came, and come back
        assert state(upstream) == "failed"
        async with asyncio.timeout(20):
            await upstream.close()


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_no_log_has_a_credential_or_what_a_server_wrote(
    connect: Connect, hostile_http: HostileHttp, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx2").info("an application's own")
    upstream = connect(**hostile_http.at(f"/mcp?api_key={TOKEN}", type=kind))
    if kind == "http":
        for tool in ("malformed", "elsewhere", "ended_events", "status_500"):
            await failure(upstream, tool)
    else:
        await failure(upstream, "ok")
    await upstream.close()
    libraries = [record for record in caplog.records if record.name.startswith(("mcp", "httpx2", "httpcore2"))]
    assert [record.getMessage() for record in libraries] == ["an application's own"]
    assert TOKEN not in caplog.text


async def test_an_endless_list_is_cut_and_a_list_that_never_comes_times_out(
    connect: Connect, hostile_http: HostileHttp
) -> None:
    pages = connect(**hostile_http.at("/pages"))
    assert len(await pages.tools()) == 200
    assert pages.health.warnings == ("its list has more than 200 pages; the others are left out",)
    hangs = connect(**hostile_http.at("/hangs_at_list", connect_seconds=0.5))
    assert code(await failure(hangs, "ok")) == TIMEOUT
