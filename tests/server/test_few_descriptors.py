"""A server with few descriptors serves what it can, says what is wrong, and recovers by itself."""

from __future__ import annotations

import asyncio
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from paddock.server.connections import NONE_FREE
from tests.bare import bare
from tests.tools.upstreams import PLAIN

__all__ = ["bare"]
SCRIPT = {"code": "import time\ntime.sleep(0.05)\n1 + 1"}
SCRIPTS = (
    SCRIPT,
    {"code": "1 + 1", "language": "javascript"},
    {"code": "1 + 1", "language": "javascript", "engine": "node"},
    {"code": "1 + 1", "language": "typescript"},
)


@contextmanager
def serving(config: str, soft: int, hard: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    serve = [sys.executable, "-m", "paddock", "serve", "--port", "0", "--config", config]
    command = ["/bin/sh", "-c", f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"', "-", *serve]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split(" at ")[1].split(". ")[0], process
        finally:
            process.kill()


async def run(client: Client, script: Mapping[str, str] = SCRIPT) -> object:
    answer = await client.call_tool("run_code", dict(script))
    assert answer.structured_content is not None, answer.content
    return answer.structured_content.get("output")


async def test_the_soft_limit_is_raised_to_the_hard_one(bare: str) -> None:
    with serving(bare, 256, 4096) as (address, process):
        async with Client(address) as client:
            assert await run(client) == 2
        assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE) == (4096, 4096)


async def test_an_upstream_gets_the_limit_that_the_server_was_started_with(bare: str, tmp_path: Path) -> None:
    settings = tmp_path / "paddock.toml"
    upstream = f'[upstreams.plain]\ncommand = "{sys.executable}"\nargs = ["{PLAIN}", "stdio"]\n'
    settings.write_text(Path(bare).read_text() + upstream)
    asks = {"code": "(await call_tool('plain.process'))['result']"}
    with serving(str(settings), 256, 4096) as (address, process):
        async with Client(address) as client:
            answer = (await client.call_tool("run_code", asks)).structured_content["output"]
            pid = int(answer.split()[0])
            assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (256, 4096)
        assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE) == (4096, 4096)


@pytest.mark.parametrize("hard", [256])
async def test_runs_within_the_capacity_all_succeed(bare: str, hard: int) -> None:
    with serving(bare, hard, hard) as (address, _):
        async with Client(address) as client:
            assert await asyncio.gather(*(run(client) for _ in range(40))) == [2] * 40


@pytest.mark.parametrize("hard", [256, 1024])
async def test_idle_sessions_and_runs_on_several_engines_share_the_descriptors(bare: str, hard: int) -> None:
    with serving(bare, hard, hard) as (address, process), ExitStack() as opened:
        found = re.fullmatch(r"http://(.*):(\d+)/mcp", address)
        assert found is not None
        for number in range(4):
            headers = {"Authorization": f"Bearer {number}"}  # at most 16 sessions of one caller
            async with (
                httpx.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                for session in "abcdefghijklmno":
                    assert await run(client, {**SCRIPT, "session": session}) == 2
        for _ in range(hard // 4 - 16):
            opened.enter_context(socket.create_connection((found[1], int(found[2])), timeout=10))
        async with Client(address) as client:
            for _ in range(2):
                scripts = [*SCRIPTS * 8]
                assert await asyncio.gather(*(run(client, script) for script in scripts)) == [2] * len(scripts)
        process.terminate()
        assert process.stderr is not None
        assert "open files" not in process.stderr.read()


async def test_there_are_no_more_sessions_than_descriptors_allow(bare: str) -> None:
    with serving(bare, 256, 256) as (address, _):
        async with Client(address) as client:
            for session in "abc":
                assert await run(client, {**SCRIPT, "session": session}) == 2
            refused = await client.call_tool("run_code", {**SCRIPT, "session": "a"})
            error = refused.structured_content["error"]["message"]
            assert "there may be 2 sessions (as ulimit -n allows)" in error


async def test_too_many_connections_are_survived_and_reported_in_few_lines(bare: str) -> None:
    with serving(bare, 256, 256) as (address, process), ExitStack() as opened:
        found = re.fullmatch(r"http://(.*):(\d+)/mcp", address)
        assert found is not None
        async with Client(address) as client:
            assert await run(client) == 2
        for _ in range(600):
            opened.enter_context(socket.create_connection((found[1], int(found[2])), timeout=10))
        async with asyncio.timeout(30), Client(address) as client:
            assert await run(client) == 2  # although the others stay open: an idle one gives way
        process.terminate()
        assert process.stderr is not None
        said = process.stderr.read()
        assert "descriptor" in said
        assert len(said) < 20_000


def sleeps(pid: int) -> int:
    """How often the event loop of a process has had nothing to do."""
    return int(re.findall(r"\nvoluntary_ctxt_switches:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0])


async def test_a_connection_that_no_descriptor_is_free_for_waits_and_is_reported_in_one_line(bare: str) -> None:
    with serving(bare, 1024, 1024) as (address, process):
        found = re.fullmatch(r"http://(.*):(\d+)/mcp", address)
        assert found is not None
        assert process.stderr is not None
        async with Client(address) as client:
            assert await run(client) == 2
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, 1024))
        with socket.create_connection((found[1], int(found[2])), timeout=30) as waiting:
            waiting.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            while f"{NONE_FREE}\n" != process.stderr.readline():
                pass
            before = sleeps(process.pid)
            while sleeps(process.pid) < before + 3:  # it has tried again
                await asyncio.sleep(0.01)
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (1024, 1024))
            assert waiting.recv(15) == b"HTTP/1.1 200 OK"
        process.terminate()
        assert NONE_FREE not in process.stderr.read()


async def test_connections_wait_for_a_server_that_is_busy(bare: str) -> None:
    with serving(bare, 1024, 1024) as (address, process), ExitStack() as opened:
        found = re.fullmatch(r"http://(.*):(\d+)/mcp", address)
        assert found is not None
        async with Client(address) as client:
            assert await run(client) == 2
        process.send_signal(signal.SIGSTOP)  # it accepts nothing
        for _ in range(300):
            opened.enter_context(socket.create_connection((found[1], int(found[2])), timeout=5))
