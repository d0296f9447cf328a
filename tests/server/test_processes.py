"""The server as a process: where it listens, how it ends, and what remains when it is killed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from paddock.cli.serve import listen
from tests.anomaly.processes import children, wait_until_gone
from tests.bare import bare
from tests.docs.pages import ROOT
from tests.forks import fork
from tests.tools.upstreams import plain

__all__ = ["bare"]


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


ACCEPT = {"accept": "application/json, text/event-stream"}


def started(*arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A real process, for tests of signals."""
    return begun([sys.executable, "-m", "paddock", *arguments])


def forked(*arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A forked process, for tests without signals."""
    return begun(fork.command("-m", "paddock", *arguments))


@contextmanager
def begun(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes, **options) as process:  # type: ignore[call-overload]
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
async def test_serve_prints_its_address_and_a_signal_ends_it_with_its_processes(
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
def test_a_signal_ends_the_stdio_server_while_its_client_is_connected(number: signal.Signals) -> None:
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
def test_without_tokens_only_loopback_addresses_are_accepted(host: str) -> None:
    with forked("serve", "--host", host) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"Error: refusing to listen on {host!r}: without tokens")


def test_a_port_in_use_is_an_error() -> None:
    with forked("serve", "--port", "0") as first:
        assert first.stdout is not None
        port = first.stdout.readline().partition("127.0.0.1:")[2].partition("/")[0]
        with forked("serve", "--port", port) as second:
            _, err = second.communicate(timeout=60)
    assert (second.returncode, err) == (
        3,
        f"Error: cannot listen on 127.0.0.1 port {port}: Address already in use; try --port 0\n",
    )


async def test_any_address_of_loopback_can_be_served() -> None:
    with forked("serve", "--host", "127.0.0.2", "--port", "0") as process:
        assert process.stdout is not None
        address = process.stdout.readline().split(" at ")[1].split(". ")[0]
        async with Client(address) as client:
            assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_not_delayed_by_nagles_algorithm(host: str) -> None:
    with listen(host, 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # with this asyncio disables Nagle's algorithm


async def test_a_run_of_a_killed_server_is_lost_at_the_next_start_with_its_calls(tmp_path: Path) -> None:
    servers, begun = tmp_path / "mcp.json", tmp_path / "begun"
    servers.write_text(json.dumps({"mcpServers": {"plain": plain()}}))
    arguments = json.dumps({"started": str(begun), "cancelled": str(tmp_path / "ended")})
    code = f"print('begun')\nawait call_tool('plain.wait', {arguments})"
    with started("serve", "--port", "0", "--mcp-config", str(servers)) as first:
        async with Client(address_of(first)) as client:
            asked = {"code": code, "detach": True, "timeout": 600}
            run_id = (await client.call_tool("run_code", asked)).structured_content["run_id"]
            async with asyncio.timeout(60):
                while not begun.exists() or (await shown(client, run_id)).get("stdout") != "begun\n":
                    await asyncio.sleep(0.01)
        first.kill()
        first.wait(60)
    with forked("serve", "--port", "0") as second:
        async with Client(address_of(second)) as client, asyncio.timeout(60):
            while (run := await shown(client, run_id))[
                "verdict"
            ] == "running":  # it is looked for after the first answer
                await asyncio.sleep(0.01)
    assert (run["verdict"], run["stdout"]) == ("lost", "begun\n")
    assert [(call["tool"], call["status"]) for call in run["calls"]] == [("plain.wait", None)]


async def test_a_run_is_shown_and_cancelled_through_another_server_with_the_same_store(bare: str) -> None:
    with started("serve", "--port", "0", "--config", bare) as first, started("serve", "--port", "0") as second:
        async with Client(address_of(first)) as owner, Client(address_of(second)) as other:
            run_id, call = await printed(owner)
            assert await shown(other, run_id) == {
                "run_id": run_id,
                "verdict": "running",
                "stdout": "begun\n",
                "stderr": "",
            }
            ended = (await other.call_tool("cancel_run", {"run_id": run_id})).structured_content
            assert (ended["verdict"], ended["stdout"]) == ("cancelled", "begun\n")
            assert ended["error"]["message"] == "cancel_run ended the run"
            assert await shown(owner, run_id) == ended
            assert not call.done()  # the other run goes on
            call.cancel()


async def test_a_run_of_a_killed_server_is_lost_as_soon_as_another_one_looks_at_it(bare: str) -> None:
    with started("serve", "--port", "0", "--config", bare) as first, started("serve", "--port", "0") as second:
        async with Client(address_of(second)) as other:
            await other.call_tool("run_code", {"code": "1"})  # its clean-up runs after this, and then once an hour
            async with Client(address_of(first)) as owner:
                runs = [(await printed(owner))[0] for _ in range(2)]
                below = children(first.pid)
                first.kill()
                first.wait(60)
                wait_until_gone(below)
                lost = [await shown(other, runs[0])]
                listed = subprocess.run(
                    fork.command("-m", "paddock", "runs", "show", runs[1], "--json"),
                    capture_output=True,
                    text=True,
                    check=True,
                )
    lost.append(json.loads(listed.stdout)["result"])
    assert [(each["verdict"], each["stdout"]) for each in lost] == [("lost", "begun\n")] * 2
    assert lost[0]["error"]["message"].startswith("the process that ran it ended before the run did")


SHUT_DOWN = "the server was shut down before the run ended; check what it has done before you run it again"


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_a_signal_ends_runs_and_their_callers_get_the_output_and_the_reason(era: str, bare: str) -> None:
    with started("serve", "--port", "0", "--config", bare) as process:
        async with Client(address_of(process), mode=era) as client:
            run_id, call = await printed(client)
            process.send_signal(signal.SIGTERM)
            answer = (await call).structured_content
            assert (answer["verdict"], answer["stdout"]) == ("cancelled", "begun\n")
            assert answer["error"]["message"] == SHUT_DOWN
        assert process.wait(30) == 0
    with forked("serve", "--port", "0") as second:
        async with Client(address_of(second)) as client:
            detached = await shown(client, run_id)
    assert (detached["verdict"], detached["stdout"], detached["error"]["message"]) == (
        "cancelled",
        "begun\n",
        SHUT_DOWN,
    )


async def test_a_call_that_a_signal_cuts_gets_a_reason(tmp_path: Path) -> None:
    started_file, servers = tmp_path / "started", tmp_path / "mcp.json"
    silent = {"command": "sh", "args": ["-c", f"touch {started_file}; exec sleep 600"]}  # never connects
    servers.write_text(json.dumps({"mcpServers": {"silent": silent}}))
    with started("serve", "--port", "0", "--mcp-config", str(servers)) as process:
        async with Client(address_of(process)) as client:
            search = asyncio.create_task(client.call_tool("search", {"query": "x"}))
            async with asyncio.timeout(60):
                while not started_file.exists():
                    await asyncio.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            with pytest.raises(MCPError, match="The server was shut down before it could answer"):
                await search
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize("path", ["/v1/runs", "/mcp"])
def test_a_request_that_is_still_arriving_at_a_signal_gets_a_reason(bare: str, path: str) -> None:
    with started("serve", "--port", "0", "--config", bare) as process:
        port = int(address_of(process).split(":")[2].partition("/")[0])
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(f"{head}expect: 100-continue\r\n\r\n".encode())
            assert connection.recv(25).startswith(b"HTTP/1.1 100")  # it waits for the body
            connection.sendall(b"{")
            process.send_signal(signal.SIGTERM)
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert b"HTTP/1.1 503" in answer
        assert b"shut down before it had received the whole request; nothing was done" in answer
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


async def test_a_signal_ends_runs_over_stdio_with_an_answer(bare: str, tmp_path: Path) -> None:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    pid = tmp_path / "pid"
    command = ["-c", 'echo $$ > "$0"; exec "$@"', str(pid), sys.executable, "-m", "paddock", "mcp", "--config", bare]
    parameters = StdioServerParameters(command="sh", args=command, env=dict(os.environ))
    async with Client(stdio_client(parameters)) as client:
        _, call = await printed(client)
        os.kill(int(pid.read_text()), signal.SIGTERM)
        answer = (await call).structured_content
    assert (answer["verdict"], answer["stdout"], answer["error"]["message"]) == ("cancelled", "begun\n", SHUT_DOWN)


async def printed(client: Any) -> tuple[str, asyncio.Task[Any]]:
    """A detached run and a call, both of which have printed something and go on."""
    code = "print('begun')\nimport time\nawait report_progress(1, 2, 'begun')\ntime.sleep(600)"
    begun = await client.call_tool("run_code", {"code": code, "detach": True, "timeout": 600})
    run_id = begun.structured_content["run_id"]
    reported = asyncio.Event()

    async def report(done: float, total: float | None, message: str | None) -> None:
        if message == "begun":
            reported.set()

    call = asyncio.create_task(client.call_tool("run_code", {"code": code, "timeout": 600}, progress_callback=report))
    async with asyncio.timeout(60):
        await reported.wait()
        while (await shown(client, run_id)).get("stdout") != "begun\n":
            await asyncio.sleep(0.01)
    return run_id, call


def address_of(process: Any) -> str:
    return str(process.stdout.readline().split(" at ")[1].split(". ")[0])


async def shown(client: Any, run_id: str) -> dict[str, Any]:
    values: dict[str, Any] = (await client.call_tool("get_run", {"run_id": run_id})).structured_content
    return values
