"""Connections that ask for nothing do not stay open, and nobody without a token takes what those with one need."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from paddock import Config
from paddock.config import ServerConfig
from paddock.server import connections
from paddock.server.authentication import Identity
from paddock.server.connections import LimitedProtocol
from paddock.server.http import TOO_MANY_CONNECTIONS, Received, make_app
from paddock.server.mcp import make_server
from paddock.server.request_memory import HeldMemory, RequestMemory
from paddock.server.rest.problems import MEDIA_TYPE
from tests.cli.command import started
from tests.server.conftest import ERAS, at_a_port
from tests.server.shared_services import open_services
from tests.server.test_access import bearer
from tests.server.test_processes import ACCEPT, HELLO

REQUIRED = replace(Config(), server=ServerConfig(require_token=True))
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = 20 * 1024 * 1024


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a server that requires tokens."""
    async with (
        open_services(REQUIRED) as services,
        at_a_port(make_app(make_server(services), services), http=LimitedProtocol) as address,
        asyncio.timeout(20),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rsplit(":")[-1].removesuffix("/mcp")))
        try:
            yield reader, writer
        finally:
            writer.close()


@pytest.mark.parametrize(
    ("sent", "answer", "more"),
    [
        (b"", b"", b"GET /healthz HTTP/1.1\r\n"),
        (HEALTH, b"HTTP/1.1 200", b"GET /healthz HTTP/1.1\r\n"),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", b"HTTP/1.1 401", b"half a body"),
    ],
    ids=["first request", "second request", "body after the answer"],
)
async def test_a_connection_without_a_whole_request_is_closed(
    sent: bytes, answer: bytes, more: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.3)
    async with connected() as (reader, writer):
        writer.write(sent)
        if answer:
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(answer)
        writer.write(more)
        await reader.read()  # until the server closes the connection
        assert reader.at_eof()


def test_a_connection_stays_open_for_longer_than_the_clients_of_the_sdk_keep_it() -> None:
    kept = httpx.Limits().keepalive_expiry
    assert kept is not None
    assert kept < connections.SILENT_SECONDS


async def test_a_body_with_two_lengths_is_refused() -> None:
    lengths = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"
    async with connected() as (reader, writer):
        writer.write(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n" + lengths + b"\r\n0\r\n\r\n" + HEALTH)
        answer = await reader.read()  # up to the end of the connection: the second request is not answered
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1


async def test_a_body_without_a_token_is_not_read() -> None:
    async with connected() as (reader, writer):
        writer.write(b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n[" % LARGE)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 405")


async def test_one_principal_cannot_open_all_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.server.http.PRINCIPAL_SESSIONS", 6)
    async with open_services(REQUIRED) as services:
        ann, bob = [bearer((await services.store.tokens.add(name))[1]) for name in ("ann", "bob")]
        app = make_app(make_server(services), services)
        async with at_a_port(app) as address, httpx.AsyncClient() as http:
            begun = [await http.post(address, json=HELLO, headers=ACCEPT | who) for who in [*[ann] * 7, bob]]
            session = {"mcp-session-id": begun[0].headers["mcp-session-id"]}
            assert (await http.delete(address, headers=session | ann)).status_code == 200
            again = await http.post(address, json=HELLO, headers=ACCEPT | ann)
    assert [each.status_code for each in (*begun, again)] == [200] * 6 + [503, 200, 200]


async def test_subscriptions_of_one_principal_do_not_count_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.server.mcp.MAX_SUBSCRIPTIONS", 2)
    async with open_services(REQUIRED) as services, AsyncExitStack() as stack:
        ann, bob = [bearer((await services.store.tokens.add(name))[1]) for name in ("ann", "bob")]
        address = await stack.enter_async_context(at_a_port(make_app(make_server(services), services)))
        answers = []
        for who in (ann, ann, ann, bob):
            http = await stack.enter_async_context(httpx.AsyncClient(headers=who))
            client = Client(streamable_http_client(address, http_client=http), mode=ERAS[0])
            listen = (await stack.enter_async_context(client)).listen(tools_list_changed=True)
            try:
                await stack.enter_async_context(listen)
                answers.append("")
            except MCPError as problem:
                answers.append(str(problem))
    assert answers == ["", "", "Subscription limit reached", ""]


async def test_one_principal_cannot_hold_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.descriptors.limit", lambda: 64)  # 16 connections, 12 of them for one principal
    half = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nAuthorization: Bearer %s\r\n\r\n"
    async with open_services(REQUIRED) as services:
        ann, bob = [(await services.store.tokens.add(name))[1].encode() for name in ("ann", "bob")]
        app = make_app(make_server(services), services)
        async with at_a_port(app, http=LimitedProtocol) as address, asyncio.timeout(20):
            port = int(address.rsplit(":")[-1].removesuffix("/mcp"))
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(13)]
            for _, writer in opened:
                writer.write(half % ann)
            first = [asyncio.ensure_future(reader.readline()) for reader, _ in opened]
            done, waiting = await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            assert [each.result()[:12] for each in done] == [b"HTTP/1.1 429"]
            async with httpx.AsyncClient() as http:
                other = await http.get(address.replace("/mcp", "/v1/runs"), headers=bearer(bob.decode()))
            assert other.status_code == 200
            for _, writer in opened:
                writer.close()
            await asyncio.wait(waiting)


async def test_one_principal_cannot_hold_all_connections_with_event_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.descriptors.limit", lambda: 64)
    async with open_services(REQUIRED) as services, AsyncExitStack() as stack:
        ann, bob = [bearer((await services.store.tokens.add(name))[1]) for name in ("ann", "bob")]
        app = make_app(make_server(services), services)
        address = await stack.enter_async_context(at_a_port(app, http=LimitedProtocol))
        http = await stack.enter_async_context(httpx.AsyncClient(limits=httpx.Limits(max_connections=None)))
        begun = [await http.post(address, json=HELLO, headers=ACCEPT | ann) for _ in range(13)]
        streams = []
        for each in begun:
            headers = ann | {"accept": "text/event-stream", "mcp-session-id": each.headers["mcp-session-id"]}
            streams.append(await stack.enter_async_context(http.stream("GET", address, headers=headers)))
        other = await http.post(address, json=HELLO, headers=ACCEPT | bob)
    assert [each.status_code for each in (*streams, other)] == [200] * 12 + [429, 200]


@pytest.mark.parametrize("sent", [b"", b'{"jsonrpc": "2.0", "id": 1, '], ids=["nothing", "half"])
async def test_a_half_sent_message_of_a_session_is_refused_and_the_session_goes_on(sent: bytes) -> None:
    async with (
        open_services(replace(Config(), server=ServerConfig(body_seconds=0.2))) as services,
        at_a_port(make_app(make_server(services), services), http=LimitedProtocol) as address,
        httpx.AsyncClient() as http,
        asyncio.timeout(20),
    ):
        session = {"mcp-session-id": (await http.post(address, json=HELLO, headers=ACCEPT)).headers["mcp-session-id"]}
        lines = [f"{name}: {value}" for name, value in ({**ACCEPT, **session, "content-length": "100"}).items()]
        head = "\r\n".join(["POST /mcp HTTP/1.1", "host: localhost", "content-type: application/json", *lines, "", ""])
        opened = []
        for _ in range(8):
            reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(address).port)
            writer.write(head.encode() + sent)
            opened.append((reader, writer))
        ping = await http.post(address, json={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=ACCEPT | session)
        assert {(await reader.readline())[:12] for reader, _ in opened} == {b"HTTP/1.1 408"}
        for _, writer in opened:
            writer.close()
        assert ping.status_code == 200


async def test_a_client_that_leaves_its_answer_unread_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.3)
    ended = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await receive()
        gone = asyncio.ensure_future(receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not gone.done():
            await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})
            await asyncio.sleep(0)
        ended.set()

    async with at_a_port(endless, http=LimitedProtocol) as address:  # type: ignore[arg-type]
        port = int(address.rsplit(":")[-1].removesuffix("/mcp"))
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(HEALTH)
        async with asyncio.timeout(20):
            await ended.wait()
        writer.close()


async def test_a_client_that_leaves_the_last_kilobytes_of_its_answer_unread_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.1)
    made = asyncio.Queue[asyncio.Transport]()
    lost = asyncio.Event()

    class Observed(LimitedProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            made.put_nowait(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            lost.set()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        transport = await made.get()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not transport.get_write_buffer_size():
            await send({"type": "http.response.body", "body": bytes(16 * 1024), "more_body": True})
        await send({"type": "http.response.body"})

    async with at_a_port(answer, http=Observed) as address, asyncio.timeout(20):  # type: ignore[arg-type]
        with socket.create_connection(("127.0.0.1", urlsplit(address).port or 0)) as client:
            client.sendall(HEALTH)
            await lost.wait()


async def test_a_caller_with_too_many_unread_answers_loses_its_oldest_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = bytes(32 << 20)  # of which the kernel keeps at most 10 MB
    monkeypatch.setattr(connections, "UNREAD_BYTES", 65 << 20)
    answered = asyncio.Queue[None]()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        caller = scope["path"]
        identity, memory = Identity(caller, "user"), HeldMemory(RequestMemory(0), caller)
        scope["state"]["paddock_received"] = Received(identity, caller, 0, memory, asyncio.Event())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})
        answered.put_nowait(None)

    async with at_a_port(answer, http=LimitedProtocol) as address, asyncio.timeout(60):  # type: ignore[arg-type]
        clients = []
        for caller in (b"/bob", b"/ann", b"/ann"):
            client = await asyncio.open_connection("127.0.0.1", urlsplit(address).port, limit=1024)
            client[1].write(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % caller)
            await answered.get()
            clients.append(client)
        sizes = [len(await reader.read()) for reader, _ in clients]
        for _, writer in clients:
            writer.close()
            await writer.wait_closed()
    assert [size > len(body) for size in sizes] == [True, False, True]


async def test_a_request_is_not_handled_before_the_last_answer_on_its_connection_was_read() -> None:
    unread = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        unread.append(len(LimitedProtocol._unread))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(32 << 20)})  # more than the kernel keeps

    async with at_a_port(answer, http=LimitedProtocol) as address, asyncio.timeout(60):  # type: ignore[arg-type]
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(address).port, limit=1024)
        writer.write(HEALTH + HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        await reader.read()
        writer.close()
    assert unread == [0, 0]


async def test_a_request_for_a_websocket_is_answered_as_any_other_and_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connected() as (reader, writer):
        writer.write(HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"))
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
    assert caplog.messages == []


async def test_of_more_requests_at_once_than_connections_each_gets_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.descriptors.limit", lambda: 64)  # 16 connections

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    async with at_a_port(answer, http=LimitedProtocol) as address, asyncio.timeout(20):  # type: ignore[arg-type]
        clients = [socket.create_connection(("127.0.0.1", urlsplit(address).port or 0)) for _ in range(40)]
        for each in clients:  # the server has accepted none yet
            each.sendall(HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        statuses = []
        for each in clients:
            reader, writer = await asyncio.open_connection(sock=each)
            statuses.append(int((await reader.read()).split()[1]))
            writer.close()
    assert Counter(statuses) == {200: 16, 503: 24}


async def test_a_new_connection_is_refused_only_if_none_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.descriptors.limit", lambda: 64)  # 16 connections
    entered, may_end = asyncio.Semaphore(0), asyncio.Event()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        entered.release()
        await may_end.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async with at_a_port(wait, http=LimitedProtocol) as address, asyncio.timeout(20):  # type: ignore[arg-type]
        port = int(address.rsplit(":")[-1].removesuffix("/mcp"))
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(30)]  # idle: the oldest give way
        for _ in range(16):
            opened.append(await asyncio.open_connection("127.0.0.1", port))
            opened[-1][1].write(HEALTH)
            await entered.acquire()
        refused = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]  # two may send a request
        reason = TOO_MANY_CONNECTIONS
        problem = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": reason}
        problem |= {"error": "Refused", "envelope": None}
        assert await read_refusal(refused[2][0]) == (MEDIA_TYPE, problem)
        refused[0][1].write(HEALTH.replace(b"healthz", b"v1/health"))
        assert await read_refusal(refused[0][0]) == (MEDIA_TYPE, problem)
        refused[1][1].write(HEALTH.replace(b"healthz", b"mcp"))
        error = {"code": -32600, "message": reason}
        assert await read_refusal(refused[1][0]) == ("application/json", {"jsonrpc": "2.0", "id": None, "error": error})
        may_end.set()
        for reader, _ in opened[-16:]:
            assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 204")
        for _, each in [*opened, *refused]:
            each.close()


async def read_refusal(reader: asyncio.StreamReader) -> tuple[str, Any]:
    """Read a refusal with status 503 to its end. Returns the type and the value of its body."""
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    assert (status, headers["retry-after"]) == ("HTTP/1.1 503 Service Unavailable", "1")
    return headers["content-type"], json.loads(body)


@pytest.mark.parametrize(
    "sent",
    [
        b"no HTTP\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\n\r\n",  # without a host
        b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"a" * 100_000,
    ],
    ids=["no HTTP", "no host", "bad chunk", "long"],
)
async def test_what_is_not_http_is_answered_with_a_problem(sent: bytes) -> None:
    async with connected() as (reader, writer):
        writer.write(sent)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert (head[:12], b"content-type: application/problem+json" in head.lower()) == (b"HTTP/1.1 400", True)
    assert json.loads(body)["status"] == 400


async def test_a_bad_chunk_after_the_answer_is_no_error_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    async with connected() as (reader, writer):
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 401")
        writer.write(b"zz\r\n")
        await reader.read()
    assert caplog.messages == []


async def test_what_starts_a_session_is_small_because_the_session_keeps_it() -> None:
    async with open_services(Config()) as services, at_a_port(make_app(make_server(services), services)) as address:
        hello: dict[str, Any] = {**HELLO, "more": "x" * 200_000}
        async with httpx.AsyncClient() as http:
            refused = await http.post(address, json=hello, headers=ACCEPT)
    assert (refused.status_code, "512 KB" in refused.text) == (413, True), refused.text


def test_a_sender_without_a_token_cannot_fill_the_log() -> None:
    with started("serve", "--port", "0") as process:
        assert process.stdout is not None
        found = re.search(r":(\d+)/mcp", process.stdout.readline())
        assert found is not None
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", int(found[1]))) as connection:
                connection.sendall(b"not HTTP\r\n\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 400")
        process.terminate()
        assert process.communicate()[1].count("Invalid HTTP request") == 1
