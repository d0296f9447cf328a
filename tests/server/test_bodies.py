"""Bodies of requests to a real server: too large, half-sent, or too many at once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from mcp import Client, MCPError

from paddock.server.http import BODY_BYTES, SMALL_BYTES
from tests.server.conftest import ERAS
from tests.server.test_processes import address_of, forked

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
            with pytest.raises(MCPError, match="The request has more than 32 MB: send less at once"):
                await client.call_tool("run_code", {"code": "1", "inputs": {"a": "x" * (BODY_BYTES + 1)}})
            assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2


async def test_a_body_that_stops_arriving_is_refused_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(monkeypatch, body_seconds=0.2) as address, half_send(address, 1000, 10) as connection:
        said = answer(connection)
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
        address = stack.enter_context(server(monkeypatch, arriving_bytes=3 * MEGABYTE))
        held = [stack.enter_context(half_send(address, 2 * MEGABYTE, MEGABYTE + SMALL_BYTES)) for _ in range(3)]
        async with asyncio.timeout(60), httpx.AsyncClient(timeout=60) as http, Client(address) as client:
            refused = await send_until(503)
            result: Any = await client.call_tool("run_code", {"code": "1 + 1", "inputs": {"a": "x" * 60_000}})
            again = await http.post(address, content=b" " * (2 * MEGABYTE))
            for connection in held:
                connection.close()
            await send_until(400)  # it was read, and is no JSON
    assert (refused.headers["retry-after"], again.status_code) == ("1", 503)
    assert refused.json()["error"]["message"] == "Too many large requests are being sent: try again"
    assert result.structured_content["output"] == 2
