"""Bodies of requests to a real server: too large, half-sent, or too many at once."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from mcp import Client, MCPError

from paddock import Config
from paddock.config import ServerConfig
from paddock.server.http import BODY_BYTES, Received, make_app
from paddock.server.mcp import make_server
from paddock.server.request_memory import SMALL_BYTES, parsed_bytes
from tests.server.conftest import ERAS, at_a_port, served
from tests.server.shared_services import open_services
from tests.server.test_processes import ACCEPT, HELLO, address_of, forked, started

MEGABYTE = 1 << 20


@contextmanager
def server(monkeypatch: pytest.MonkeyPatch, **settings: object) -> Iterator[str]:
    for name, value in settings.items():
        monkeypatch.setenv(f"PADDOCK_SERVER__{name.upper()}", str(value))
    with forked("serve", "--port", "0") as process:
        yield address_of(process)


def half_send(address: str, size: int, sent: int) -> socket.socket:
    """A connection on which `sent` of the announced `size` bytes of a body were sent."""
    place = urlsplit(address)
    connection = socket.create_connection((place.hostname, place.port), timeout=60)
    head = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {size}\r\n\r\n"
    connection.sendall(head.encode() + b" " * sent)
    return connection


def answer(connection: socket.socket) -> str:
    """Everything that the server sends, until it closes the connection."""
    return b"".join(iter(lambda: connection.recv(4096), b"")).decode()


@pytest.mark.parametrize("era", ERAS)
async def test_the_official_client_shows_why_a_request_is_too_large(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with server(monkeypatch) as address:
        async with Client(address, mode=era) as client:
            with pytest.raises(MCPError, match="The request is larger than 32 MB: send less at once"):
                await client.call_tool("run_code", {"code": "1", "inputs": {"a": "x" * (BODY_BYTES + 1)}})
            assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2


async def test_a_session_keeps_no_message_that_takes_megabytes_of_memory() -> None:
    def message(method: str, values: object) -> dict[str, Any]:
        parameters = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"experimental": {"paddock": {"values": values}}},
            "clientInfo": {"name": "test", "version": "1"},
        }
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}

    large: list[list[int]] = [[]] * 40_000
    small = "icon" * 12_000
    async with open_services() as services, served(services) as address, httpx.AsyncClient(headers=ACCEPT) as client:
        opened = await client.post(address, json=message("initialize", small))
        client.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        sent = [(each, values) for each in ("initialize", "ping", "notifications/x") for values in (small, large)]
        answers = [(await client.post(address, json=message(*each))).status_code for each in sent]
        del client.headers["mcp-session-id"]
        answers.append((await client.post(address, json=message("initialize", large))).status_code)
    assert (opened.status_code, answers) == (200, [200, 413, 200, 413, 200, 413, 413])


async def test_a_body_that_stops_arriving_is_refused_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        server(monkeypatch, body_seconds=60) as patient,
        half_send(patient, 1000, 10) as earlier,
        server(monkeypatch, body_seconds=0.2) as address,
        half_send(address, 1000, 10) as connection,
    ):
        said = answer(connection)
        earlier.setblocking(False)
        with pytest.raises(BlockingIOError):  # that server still waits
            earlier.recv(1)
    assert said.startswith("HTTP/1.1 408 ")
    assert "The request did not arrive within 0.2 s" in said


async def test_half_sent_bodies_together_take_a_bounded_memory_and_small_requests_are_served_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def send_until(status: int) -> httpx.Response:
        """Send a large request again and again, because the server reads the others in its own time."""
        while (response := await http.post(address, content=b" " * (2 * MEGABYTE))).status_code != status:
            pass
        return response

    with ExitStack() as stack:
        address = stack.enter_context(server(monkeypatch, request_bytes=20 * MEGABYTE))
        held = [stack.enter_context(half_send(address, 2 * MEGABYTE, MEGABYTE + SMALL_BYTES)) for _ in range(10)]
        async with asyncio.timeout(60), httpx.AsyncClient(timeout=60) as http, Client(address) as client:
            refused = await send_until(429)
            result: Any = await client.call_tool("run_code", {"code": "1 + 1", "inputs": {"a": "x" * 60_000}})
            again = await http.post(address, content=b" " * (2 * MEGABYTE))
            for connection in held:
                connection.close()
            await send_until(400)  # it was read, and is no JSON
    assert (refused.headers["retry-after"], again.status_code) == ("1", 429)
    error = refused.json()["error"]
    assert error["message"] == "the requests in progress leave too little memory for this one; try again in 1 s"
    assert (error["data"]["error_code"], error["data"]["_meta"]["retry_after_seconds"]) == ("RATE_LIMITED", 1.0)
    assert result.structured_content["output"] == 2


def calling(inputs: str, **arguments: object) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a call of `run_code`, with inputs as JSON."""
    meta = {"protocolVersion": ERAS[0], "clientInfo": {"name": "t", "version": "1"}, "clientCapabilities": {}}
    given = {"code": "1 + 1", **arguments, "inputs": "INPUTS"}
    params = {"name": "run_code", "arguments": given, "_meta": {f"io.modelcontextprotocol/{k}": meta[k] for k in meta}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {"mcp-protocol-version": ERAS[0], "mcp-method": "tools/call", "mcp-name": "run_code", **ACCEPT}
    return body.replace('"INPUTS"', inputs).encode(), {**headers, "content-type": "application/json"}


def nested(size: int) -> str:
    """Inputs with empty lists: 3 bytes of JSON each, 64 bytes of memory."""
    return '{"a": [' + ",".join(["[]"] * (size // 3)) + "]}"


def memory(pid: int, name: str) -> int:
    """VmRSS or VmHWM of a process, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


async def test_a_flood_of_nested_values_takes_a_bounded_memory_and_another_caller_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PADDOCK_ENGINE", "monty")
    monkeypatch.setenv("PADDOCK_SERVER__REQUEST_BYTES", str(128 * MEGABYTE))
    body, headers = calling(nested(MEGABYTE))
    other = httpx.AsyncHTTPTransport(local_address="127.0.0.2")
    with started("serve", "--port", "0") as process:
        address = address_of(process)
        async with (
            httpx.AsyncClient(timeout=60, headers=headers, limits=httpx.Limits(max_connections=None)) as flooding,
            httpx.AsyncClient(timeout=60, headers=headers, transport=other) as modest,
        ):
            await flooding.post(address, content=calling("{}")[0])
            before = memory(process.pid, "VmRSS")
            flood = [asyncio.create_task(flooding.post(address, content=body)) for _ in range(24)]
            served = []
            while not all(each.done() for each in flood):
                served.append(await modest.post(address, content=calling("{}")[0]))
            statuses = {each.result().status_code for each in flood}
            assert memory(process.pid, "VmHWM") - before < 150 * MEGABYTE  # 670 MB, if all were parsed
            again = await flooding.post(address, content=body)
    assert statuses == {200, 429}
    assert {each.json()["result"]["structuredContent"]["output"] for each in served} == {2}
    assert again.status_code == 200


async def test_a_run_that_waits_does_not_keep_its_inputs_several_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_ENGINE", "monty")
    monkeypatch.setenv("PADDOCK_SERVER__MAX_RUNS", "1")
    count, size = 12, 2 * MEGABYTE
    body, headers = calling(f'{{"a": "{"x" * size}"}}')
    with started("serve", "--port", "0") as process:
        address = address_of(process)
        async with httpx.AsyncClient(timeout=60, headers=headers) as http, asyncio.timeout(60):

            async def waiting() -> int:
                page = (await http.get(address.replace("/mcp", "/metrics"))).text
                return int(float(page.partition("\npaddock_runs_waiting ")[2].partition("\n")[0]))

            await http.post(address, content=calling("{}")[0])
            endless = calling("{}", code="while True: pass", timeout=600)[0]
            calls = [asyncio.create_task(http.post(address, content=endless)) for _ in range(2)]
            while await waiting() < 1:
                await asyncio.sleep(0.01)
            before = memory(process.pid, "VmRSS")
            calls += [asyncio.create_task(http.post(address, content=body)) for _ in range(count)]
            while await waiting() < 1 + count:
                await asyncio.sleep(0.01)
            assert memory(process.pid, "VmRSS") - before < 3 * count * size
            for call in calls:
                call.cancel()


@pytest.mark.parametrize("detach", [False, True], ids=["attached", "detached"])
async def test_a_request_counts_until_its_run_has_ended(detach: bool) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> int:
        begun.set()
        await go_on.wait()
        return 42

    config = Config(engine="monty", server=ServerConfig(request_bytes=16 * MEGABYTE))
    large, small = f'{{"a": "{"x" * MEGABYTE}"}}', '{"a": "x"}'
    async with (
        open_services(config, tools=[hold]) as services,
        served(services) as address,
        httpx.AsyncClient(timeout=60, headers=calling("{}")[1]) as http,
        asyncio.timeout(60),
    ):

        async def call(inputs: str, **arguments: object) -> int:
            return (await http.post(address, content=calling(inputs, **arguments)[0])).status_code

        holding = [asyncio.create_task(call(large, code="await hold()", detach=detach)) for _ in range(2)]
        await begun.wait()
        if detach:
            await asyncio.wait(holding)
        assert (await call(large), await call(small)) == (429, 200)
        go_on.set()
        assert [await each for each in holding] == [200, 200]
        while await call(large) != 200:  # a detached run ends some time after its answer
            pass
        assert [await call(large) for _ in range(5)] == [200] * 5


@pytest.mark.parametrize("has_session", [False, True])
async def test_neither_a_connection_nor_a_session_keeps_arguments_of_an_answered_call(*, has_session: bool) -> None:
    body, headers = calling(f'{{"a": "{"x" * MEGABYTE}"}}')
    async with (
        open_services(Config(engine="monty")) as services,
        at_a_port(make_app(make_server(services), services), timeout_keep_alive=600) as address,
        httpx.AsyncClient(timeout=60, headers=headers) as http,
    ):
        if has_session:
            http.headers["mcp-protocol-version"] = "2025-11-25"
            opened = await http.post(address, json=HELLO)
            http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        assert (await http.post(address, content=body)).status_code == 200
        async with asyncio.timeout(10):
            while any(isinstance(each, Received) and each.arguments is not None for each in gc.get_objects()):
                await asyncio.sleep(0.01)


async def test_a_request_that_could_never_be_parsed_in_the_allowed_memory_is_refused_as_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body, headers = calling(nested(MEGABYTE))
    with server(monkeypatch, request_bytes=32 * MEGABYTE) as address:
        async with httpx.AsyncClient(timeout=60, headers=headers) as http:
            refused = await http.post(address, content=body)
    assert refused.status_code == 413
    assert "server.request_bytes allows 18 MB: send less at once" in refused.json()["error"]["message"]


def held_bytes(body: bytes) -> int:
    """The memory that a body and its values take once it is parsed."""
    tracemalloc.start()
    try:
        parsed = json.loads(body)
        held = tracemalloc.get_traced_memory()[0] + len(body)
    finally:
        tracemalloc.stop()
    assert parsed
    return held


@pytest.mark.parametrize(
    "text",
    [
        "[],",
        "[0],",
        "{},",
        '{"":0},',
        '{"a":[]},',
        "1000,",
        "0.1,",
        '"ab",',
        '"\\u4e2d",',
        '[["ab"]],',
        "null,",
        "[[[[[0]]]]],",
    ],
)
def test_the_estimate_of_a_requests_memory_is_no_less_than_what_it_takes(text: str) -> None:
    body = ("[" + (text * 20_000).removesuffix(",") + "]").encode()
    held = held_bytes(body)
    assert held <= parsed_bytes(body) < 8 * held


@pytest.mark.parametrize("character", ["x", "é", "中", "🐎"])
@pytest.mark.parametrize("escaped", [True, False])
def test_the_estimate_counts_a_text_as_wide_as_its_widest_character(character: str, escaped: bool) -> None:
    body = json.dumps("x" * 100_000 + character, ensure_ascii=escaped).encode()
    held = held_bytes(body)
    assert held <= parsed_bytes(body)
