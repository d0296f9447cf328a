"""The server as a process: where it listens, whom it refuses, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from mcp import Client

from paddock.cli.serve import listen
from paddock.server.http import BODY_BYTES
from tests.anomaly.processes import children, wait_until_gone
from tests.bare import bare
from tests.docs.pages import ROOT
from tests.forks import fork
from tests.server.conftest import served
from tests.server.kept import opened

__all__ = ["bare"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
MEGABYTE = b" " * (1024 * 1024)
ACCEPT = {"accept": "application/json, text/event-stream"}


def started(*arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A process that signals can be sent to."""
    return begun([sys.executable, "-m", "paddock", *arguments])


def forked(*arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """One that behaves alike, but for signals."""
    return begun(fork.command("-m", "paddock", *arguments))


@contextmanager
def begun(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


async def test_serve_takes_the_settings_of_a_file(tmp_path: Path, bare: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(f'engine = "cpython"\n{Path(bare).read_text()}')
    with forked("serve", "--port", "0", "--config", str(file)) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split(" at ")[1].split(". ")[0]
        async with Client(address) as client:
            assert (await client.call_tool("run_code", {"code": "1"})).structured_content["engine"] == "cpython"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_serve_says_where_it_is_and_a_signal_ends_it_with_all_its_processes(
    number: signal.Signals, bare: str
) -> None:
    with started("serve", "--port", "0", "--config", bare) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"Paddock serves MCP at (http://127\.0\.0\.1:\d+/mcp)\. Ctrl-C stops it\.\n", line)
        assert found
        async with Client(found[1]) as client:
            result = await client.call_tool("run_code", {"code": "import os\nos.getpid()"})
            assert result.structured_content["engine"] == "cpython"
            below = children(process.pid)
            assert below
        process.send_signal(number)
        assert (process.wait(30), process.stdout.read(), process.stderr.read()) == (0, "", "")
    wait_until_gone(below)


@pytest.mark.skipif(
    not (ROOT / ".venv" / ".installed").exists() and not os.environ.get("CI"),
    reason="`make` would install everything here first: this tree has no .venv",
)
async def test_make_serve_serves() -> None:
    command = ["make", "--no-print-directory", "serve", "PORT=0"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            said = next(line for line in process.stdout if line.startswith("Paddock serves"))  # make may install first
            address = said.split(" at ")[1].split(". ")[0]
            async with Client(address) as client:
                assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2
        finally:
            os.killpg(process.pid, signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_stdio_server_although_its_client_stays(number: signal.Signals) -> None:
    with started("mcp") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "paddock"
        process.send_signal(number)
        assert process.wait(30) == 128 + number


def test_the_stdio_server_ends_with_its_input() -> None:
    with forked("mcp") as process:
        assert process.communicate("", timeout=60) == ("", "")
        assert process.returncode == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.com", ""])  # noqa: S104
def test_no_other_machine_may_reach_it(host: str) -> None:
    with forked("serve", "--host", host) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"Error: refusing to listen on {host!r}: without authentication")


def test_a_port_that_is_taken_is_told() -> None:
    with forked("serve", "--port", "0") as first:
        assert first.stdout is not None
        port = first.stdout.readline().partition("127.0.0.1:")[2].partition("/")[0]
        with forked("serve", "--port", port) as second:
            _, err = second.communicate(timeout=60)
    assert (second.returncode, err) == (
        3,
        f"Error: cannot listen on 127.0.0.1 port {port}: Address already in use; try --port 0\n",
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "localhost:80.evil.example"}, 421),
        ({"host": "127.0.0.1:80@evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "http://localhost.evil.example:8080"}, 403),
        ({"origin": "http://localhost:80.evil.example"}, 403),
        ({"origin": "http://localhost:80@evil.example"}, 403),
        ({"origin": "http://localhost:80/x"}, 403),
        ({"origin": "file://"}, 403),
        ({"content-type": ""}, 400),
        ({"content-type": "text/plain"}, 400),
        ({}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "LOCALHOST:80"}, 200),
        ({"host": "[::1]:8080"}, 200),
        ({"host": "127.0.0.2:8080"}, 200),
        ({"origin": "http://localhost:6274"}, 200),
        ({"origin": "http://127.0.0.1"}, 200),
    ],
)
async def test_a_page_in_a_browser_cannot_reach_it_by_a_name_of_its_own(headers: dict[str, str], status: int) -> None:
    async with opened() as services, served(services) as address, httpx.AsyncClient() as client:
        answer = await client.post(address, json=HELLO, headers=ACCEPT | headers)
    assert answer.status_code == status


async def test_whether_it_is_up_is_told_to_nobody_else_either() -> None:
    async with opened() as services, served(services) as address, httpx.AsyncClient() as client:
        answer = await client.get(address.replace("/mcp", "/healthz"), headers={"host": "evil.example"})
    assert (answer.status_code, answer.text) == (421, "Invalid Host header")


async def test_any_address_of_loopback_can_be_served() -> None:
    with forked("serve", "--host", "127.0.0.2", "--port", "0") as process:
        assert process.stdout is not None
        address = process.stdout.readline().split(" at ")[1].split(". ")[0]
        async with Client(address) as client:
            assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2


async def test_a_session_that_is_deleted_ends_its_runs() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with opened(tools=[hang]) as services, served(services) as address, httpx.AsyncClient(timeout=60) as client:
        begun = await client.post(address, json=HELLO, headers=ACCEPT)
        session = ACCEPT | {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        params = {"name": "run_code", "arguments": {"code": "await hang()", "timeout": 600}}
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        calling = asyncio.create_task(client.post(address, json=asked, headers=session))
        await asyncio.wait_for(began.wait(), 60)
        deleted = await client.delete(address, headers=session)
        await asyncio.wait_for(ended.wait(), 60)
        await calling
        after = await client.post(address, json=asked, headers=session)
    assert (deleted.status_code, after.status_code) == (200, 404)


async def test_two_hundred_calls_at_once_are_all_answered() -> None:
    async with opened() as services, served(services) as address, Client(address, mode="legacy") as client:
        answers = await asyncio.gather(
            *(client.call_tool("run_code", {"code": f"{number} + 1"}) for number in range(200))
        )
    assert [answer.structured_content["output"] for answer in answers] == list(range(1, 201))


async def test_a_body_that_is_too_large_is_refused() -> None:
    async def flood() -> AsyncIterator[bytes]:
        for _ in range(2 * BODY_BYTES // len(MEGABYTE)):
            yield MEGABYTE

    headers = ACCEPT | {"content-type": "application/json"}
    async with opened() as services, served(services) as address, httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(address, content=flood(), headers=headers)
        healthy = await client.get(address.replace("/mcp", "/healthz"))
    assert (answer.status_code, healthy.status_code, healthy.text) == (413, 200, "ok\n")


async def test_clients_at_the_same_time_are_served_at_the_same_time() -> None:
    waiting = asyncio.Barrier(4)

    async def meet() -> None:
        await waiting.wait()

    async def call(address: str) -> bool:
        async with Client(address) as client:
            return bool(
                (await client.call_tool("run_code", {"code": "await meet()\nTrue"})).structured_content["output"]
            )

    async with opened(tools=[meet]) as services, served(services) as address:
        met = await asyncio.wait_for(asyncio.gather(*(call(address) for _ in range(4))), 60)
    assert met == [True] * 4


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_sent_at_once(host: str) -> None:
    with listen(host, 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # by which asyncio knows to turn Nagle's algorithm off
