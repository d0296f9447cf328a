"""The option `network` in the library, in sessions, on the command line, over REST and in definitions."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from paddock import Config, Done, NetworkDenied, Output, Paddock, RequestError
from paddock.config import NetworkConfig, ServerConfig
from paddock.engines import jailed
from paddock.jail import sock_diag
from paddock.jail.network_run import NetworkRun
from paddock.jail.supervisor import Supervisor
from paddock.jail.walls.freezer import is_stopped
from tests.anomaly.processes import BUSY, are_busy
from tests.cli.command import paddock as run_command
from tests.rest.conftest import serve_rest

# Linux 6.16 lets a socket refuse descriptors.
NO_DESCRIPTORS = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 16)


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A web server of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(address: str) -> str:
    return f"import urllib.request\nurllib.request.urlopen('http://{address}/').read().decode()"


def config(address: str, *allow: str) -> Config:
    return replace(Config(), network=NetworkConfig(allow=allow, private=(address,)))


async def test_the_sessions_of_a_network_keep_it(address: str) -> None:
    async with Paddock(config(address)) as paddock:
        first = await paddock.run(fetch(address), network=[address], session="s")
        again = await paddock.run(fetch(address), session="s")
        same = await paddock.run(fetch(address), network=[address], session="s")
        with pytest.raises(RequestError, match="was created with network="):
            await paddock.run("1", network="public", session="s")
        with pytest.raises(RequestError, match="cannot be forked"):
            await paddock.run("1", session="t", fork_from="s")
        await paddock.run("x = 1", session="plain")
        with pytest.raises(RequestError, match="was created with network='none'"):
            await paddock.run(fetch(address), network=[address], session="plain")
        none = await paddock.run("x", network="none", session="plain")
    assert [each.output for each in (first, again, same, none)] == ["page"] * 3 + [1]
    assert [len(each.network) for each in (first, again, same)] == [1, 1, 1]


async def test_between_the_runs_of_a_session_nothing_is_reached(address: str) -> None:
    """A thread that goes on after its run is frozen, and what it connects to before that is refused."""
    async with Paddock(config(address)) as paddock:
        await paddock.run(
            "import socket, threading, time\nfound = []\ndef go():\n    while len(found) < 10000:\n        try:\n"
            f"            socket.create_connection(('127.0.0.1', {address.partition(':')[2]})).close()\n"
            "            found.append('reached')\n        except OSError as problem:\n"
            "            found.append(type(problem).__name__)\n        time.sleep(0.001)\n"
            "threading.Thread(target=go, daemon=True).start()",
            network=[address],
            session="s",
        )
        result = await paddock.run("sorted(set(found))", session="s")
    assert set(result.output) <= {"reached", "ConnectionRefusedError"}
    assert len(result.network) <= 1000


@pytest.fixture
def source() -> Iterator[socket.socket]:
    """A listening socket. Who accepts its connections is up to the test."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        listening.settimeout(30)
        yield listening


async def test_connections_of_a_session_count_for_the_run_that_uses_them(source: socket.socket) -> None:
    address = f"127.0.0.1:{source.getsockname()[1]}"
    limited = replace(Config(), network=NetworkConfig(private=(address,), max_bytes=1_000_000))
    connect = f"import socket\nkept = socket.create_connection({source.getsockname()})\nkept.sendall(b'1')"
    receive = "missing = amount\nwhile missing: missing -= len(kept.recv(missing))"
    async with Paddock(limited) as paddock:
        first = await paddock.run(connect, network=[address], session="s")
        there, _ = source.accept()
        with there:
            there.sendall(b"x" * 900_000)
            within = await paddock.run(receive, session="s", inputs={"amount": 900_000})
            idle = await paddock.run("1", session="s")
            sending = asyncio.create_task(asyncio.to_thread(there.sendall, b"x" * 900_000))
            await paddock.run(receive, session="s", inputs={"amount": 900_000})
            await sending
            sending = asyncio.create_task(asyncio.to_thread(there.sendall, b"x" * 1_100_000))
            beyond = await paddock.run(f"{receive}\nkept.recv(1)", session="s", inputs={"amount": 1_100_000})
            await sending
    assert [[each.bytes for each in run.network] for run in (first, within, idle)] == [[1], [900_000], []]
    assert (beyond.verdict, beyond.network[0].bytes) == ("denied", 1_100_000)


async def receive_all(source: socket.socket) -> int:
    """How many bytes arrive on the next connection until it is closed."""
    total = 0
    there, _ = await asyncio.to_thread(source.accept)
    with there, suppress(ConnectionError):
        while size := len(await asyncio.to_thread(there.recv, 1 << 20)):
            total += size
    return total


INTERRUPTED = """
import socket, time
kept = socket.create_connection(ADDRESS)
try:
    print('x' * 2000, flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    THEN
"""


def interrupted(source: socket.socket, then: str) -> str:
    """A script that exceeds an output limit of 1,000 bytes, and then does this when it is interrupted."""
    return INTERRUPTED.replace("ADDRESS", str(source.getsockname())).replace("THEN", then)


async def test_what_an_interrupted_run_transfers_before_it_stops_counts_for_it(source: socket.socket) -> None:
    address = f"127.0.0.1:{source.getsockname()[1]}"
    script = interrupted(source, "kept.sendall(b'x' * 100_000)")
    async with Paddock(config(address)) as paddock:
        receiving = asyncio.create_task(receive_all(source))
        run = await paddock.run(script, network=[address], session="s", limits={"output_bytes": 1000})
        later = await paddock.run("1", session="s")
    received = await receiving
    assert (run.verdict, run.session and run.session.kept) == ("output_limit", True)
    assert ([each.bytes for each in run.network], received) == ([100_000], 100_000)
    assert (later.verdict, later.network) == ("ok", ())


async def test_an_interrupted_run_that_transfers_too_much_ends_its_session(
    source: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"127.0.0.1:{source.getsockname()[1]}"
    limited = replace(Config(), network=NetworkConfig(private=(address,), max_bytes=1_000_000))
    script = interrupted(source, "kept.sendall(bytes(1_100_000))\n    while True: pass")
    monkeypatch.setattr(jailed, "INTERRUPT_SECONDS", 600)
    async with Paddock(limited) as paddock, asyncio.timeout(60):
        receiving = asyncio.create_task(receive_all(source))
        run = await paddock.run(script, network=[address], session="s", limits={"output_bytes": 1000})
    received = await receiving
    assert (run.verdict, run.session and run.session.kept) == ("output_limit", False)
    assert ([each.bytes for each in run.network], received) == ([1_100_000], 1_100_000)


async def test_no_process_of_a_session_runs_after_a_run_with_a_network_not_even_one_that_was_just_being_started(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.jail.guest.STOP_SECONDS", 60)
    fork = (
        "import os\nif os.fork() == 0:\n    if os.fork() == 0:\n        while True:\n            pass\n    os._exit(0)"
    )
    async with Paddock(config(address)) as paddock:
        for name in "abcde":
            result = await paddock.run(fork, network=[address], session=name)
            interpreter: Any = paddock._sessions._sessions["local", name].interpreter
            assert is_stopped(interpreter._guest._own_processes())
            assert result.session is not None
            assert result.session.kept


async def test_connections_that_earlier_runs_of_a_session_left_open_count_as_its_connections(address: str) -> None:
    host, _, port = address.partition(":")
    limited = replace(Config(), network=NetworkConfig(private=(address,), max_connections=3))
    connect = (
        f"import socket\nkept = globals().get('kept', [])\nkept.append(socket.create_connection(('{host}', {port})))"
    )
    async with Paddock(limited) as paddock:
        runs = [await paddock.run(connect, network=[address], session="s") for _ in range(4)]
        after = await paddock.run(f"kept.pop().close()\n{connect}", session="s")
        later = await paddock.run("kept.pop().close()", session="s")
        again = await paddock.run(connect, session="s")
    assert [each.verdict for each in runs] == ["ok"] * 3 + ["raised"]
    assert [each.outcome for each in runs[3].network] == ["limit"]
    # One that is closed counts until the end of its run.
    assert [each.verdict for each in (after, later, again)] == ["raised", "ok", "ok"]


async def test_connections_that_a_session_closes_between_its_runs_are_not_taken_for_kept_ones(
    source: socket.socket,
) -> None:
    connect = f"""
import socket, threading
kept = [socket.create_connection({source.getsockname()}) for _ in range(20)]
closing = threading.Timer(0.01, lambda: [(each.sendall(b'x' * 1000), each.close()) for each in kept])
closing.start()
"""

    def until_closed() -> None:
        for _ in range(20):
            with source.accept()[0] as there, suppress(TimeoutError):  # the session may be stopped before it closes it
                there.settimeout(0.2)
                while there.recv(4096):
                    pass

    address = f"127.0.0.1:{source.getsockname()[1]}"
    source.listen(20)
    async with Paddock(config(address)) as paddock:
        first = await paddock.run(connect, network=[address], session="s")
        await asyncio.to_thread(until_closed)
        later = await paddock.run("import time\nclosing.join()\ntime.sleep(1)", session="s")  # checked four times
        again = await paddock.run("1", session="s")
    assert (first.error, later.error, again.error, again.network) == (None, None, None, ())
    connections = (*first.network, *later.network)  # on a busy machine the timer may be over within the first run
    assert sum((each.bytes or 0) // 1000 for each in connections) == 20


async def test_what_a_script_has_sent_does_not_wait_in_the_kernel_because_the_script_says_so(
    source: socket.socket,
) -> None:
    script = f"""
import socket
paced = socket.create_connection({source.getsockname()})
paced.setsockopt(socket.SOL_SOCKET, 47, 1)  # SO_MAX_PACING_RATE: a byte a second
paced.setblocking(False)
sent = 0
try:
    while True: sent += paced.send(bytes(100_000))
except BlockingIOError: pass
sent
"""
    address = f"127.0.0.1:{source.getsockname()[1]}"
    async with Paddock(config(address)) as paddock:
        result = await paddock.run(script, network=[address])
    [made] = result.network
    assert (made.bytes or 0) - result.output in (0, 1)  # although most of it was not read yet; a FIN is one more
    there, _ = source.accept()
    with there:
        there.settimeout(20)
        found = 0
        while part := there.recv(1 << 20):
            found += len(part)
    assert found == result.output


async def test_a_connection_counts_before_the_script_can_use_it(source: socket.socket) -> None:
    """It is half closed as soon as it is open, and what arrives then counts nevertheless."""
    address = f"127.0.0.1:{source.getsockname()[1]}"
    script = f"""
import select, socket
here = socket.socket()
here.setblocking(False)
here.connect_ex({source.getsockname()})
print('asked', flush=True)
select.select([], [here], [])
here.shutdown(socket.SHUT_WR)
here.setblocking(True)
found = 0
while part := here.recv(1 << 20): found += len(part)
found
"""

    def serve() -> None:
        source.accept()[0].close()  # the queue was full: the script's connection is made when it asks again
        with source.accept()[0] as there:
            there.sendall(b"x" * 100_000)

    async with Paddock(config(address)) as paddock:
        await paddock.run("1", network=[address])
        for _ in range(3):
            with socket.create_connection(source.getsockname()):
                async for event in paddock.stream(script, network=[address]):
                    if isinstance(event, Output):
                        serving = asyncio.create_task(asyncio.to_thread(serve))
                    elif isinstance(event, Done):
                        result = event.result
                await serving
            assert result.output == 100_000
            [made] = result.network
            assert (made.outcome, (made.bytes or 0) // 10) == ("connected", 10_000)  # each FIN is one more


CLOSES = """
import socket
listener = socket.create_server(('127.0.0.1', 0), backlog=200)
print(flush=True)
while True:
    both = [end for _ in range(80) for end in (socket.create_connection(listener.getsockname()), listener.accept()[0])]
    for end in both: end.close()
"""
"""A program that closes thousands of connections a second."""


async def test_connections_that_other_programs_close_do_not_end_a_run_that_closes_its_own(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sock_diag, "_BUFFER_BYTES", 212_992)  # what an ordinary user gets on most machines
    script = f"import time\nfor _ in range(60):\n    {fetch(address).splitlines()[1]}\n    time.sleep(0.02)"
    async with Paddock(config(address)) as paddock:
        await paddock.run("1", network=[address])
        with subprocess.Popen([sys.executable, "-c", CLOSES], stdout=subprocess.PIPE) as others:
            assert others.stdout is not None
            others.stdout.readline()
            result = await paddock.run(f"import urllib.request\n{script}", network=[address])
            others.kill()
    assert result.error is None
    assert len(result.network) == 60


async def test_no_connection_makes_the_host_wait_for_its_end(source: socket.socket) -> None:
    """A script gives the host the last reference to a connection whose peer never reads."""
    script = f"""
import array, socket, struct, time
full = socket.create_connection({source.getsockname()})
full.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 20))
full.setblocking(False)
try:
    while True: full.send(bytes(100_000))
except BlockingIOError: pass
stream = socket.socket()
stream.connect(('127.0.0.1', 53))
host = socket.socket(fileno=stream.detach())
try:
    host.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [full.fileno()]))])
    refused = False
except PermissionError:
    refused = True
full.close()
time.sleep(0.1)
began = time.monotonic()
socket.socket().connect(('127.0.0.1', 53))
time.monotonic() - began < 10, refused
"""
    address = f"127.0.0.1:{source.getsockname()[1]}"
    async with Paddock(config(address)) as paddock:
        result = await paddock.run(script, network=[address])
    assert result.output == [True, NO_DESCRIPTORS]


async def test_light_engines_have_no_network_and_auto_chooses_another(address: str) -> None:
    async with Paddock(config(address)) as paddock:
        for engine, language in (("monty", "python"), ("quickjs", "javascript")):
            with pytest.raises(RequestError, match="has no network"):
                await paddock.run("1", engine=engine, language=language, network="public")
        result = await paddock.run("1 + 1", language="javascript", network="public")
    assert (result.engine, result.engine_reason) == ("node", "the script may use a network")


async def test_the_operator_limits_the_library(address: str) -> None:
    async with Paddock(config(address, "good.com")) as paddock:
        with pytest.raises(NetworkDenied, match=r"the operator allows good\.com .*ask the operator for public"):
            await paddock.run("1", network="public")
        with pytest.raises(NetworkDenied, match=r"ask the operator for evil\.com"):
            await paddock.run("1", network=["evil.com"])
        assert (await paddock.run(fetch(address), network=[address])).output == "page"


async def test_a_script_without_a_network_is_told_how_to_get_one() -> None:
    async with Paddock() as paddock:
        result = await paddock.run("import urllib.request\nurllib.request.urlopen('http://good.com/')")
    assert result.error is not None
    assert "Scripts have no network unless the run names hosts" in result.error.hint
    assert result.network == ()


def test_the_command_line(address: str) -> None:
    private: Any = {"PADDOCK_NETWORK__PRIVATE": json.dumps([address])}
    ran = run_command("run", "--network", address, "-c", fetch(address), **private)
    assert (ran.status, ran.out) == (0, "page\n"), ran.err
    shown = json.loads(run_command("run", "--json", "--network", address, "-c", fetch(address), **private).out)
    assert [(each["address"], each["outcome"]) for each in shown["network"]] == [("127.0.0.1", "connected")]
    refused = run_command("run", "--network", address, "-c", "1")
    assert (refused.status, "network.private" in refused.err) == (2, True)


def test_tracing_and_a_network_share_the_listener(address: str) -> None:
    private: Any = {"PADDOCK_NETWORK__PRIVATE": json.dumps([address])}
    code = f"import os\ntry:\n    os.chroot('/')\nexcept OSError:\n    pass\n{fetch(address)}"
    ran = run_command("run", "--trace-denied", "--network", address, "-c", code, **private)
    assert (ran.status, ran.out, "denied: chroot(" in ran.err) == (0, "page\n", True), ran.err


async def test_rest_callers_have_no_network_unless_the_operator_allows_it(address: str) -> None:
    async with serve_rest(config(address)) as rest:
        refused = await rest.http.post("/runs", json={"code": "1", "network": [address]})
        detached = await rest.http.post("/runs", json={"code": "1", "network": "public", "detach": True})
    # The private address may be named only by those who may have a network at all.
    assert (refused.status_code, detached.status_code, detached.json()["error"]) == (403, 403, "NetworkDenied")
    async with serve_rest(config(address, "public")) as rest:
        result = await rest.run(fetch(address), network=[address])
        stored = (await rest.http.get(f"/runs/{result['run_id']}")).json()
        async with Paddock(url=rest.url) as paddock:
            remote = await paddock.run(fetch(address), network=[address])
        spec = {"description": "Fetch.", "code": fetch(address), "network": [address]}
        saved = await rest.http.put("/definitions/fetches", json={**spec})
        tried = (await rest.http.post("/definitions/fetches/try", json={"arguments": {}})).json()
        bad = await rest.http.put("/definitions/fetches", json={**spec, "network": ["a b"]})
    assert (result["output"], remote.output, remote.network[0].outcome) == ("page", "page", "connected")
    assert result["network"] == stored["result"]["network"]
    assert saved.status_code == 200, saved.text
    assert tried["structuredContent"]["output"] == "page", tried
    assert bad.json()["error"] == "BadDefinition"


async def test_a_cancelled_run_tells_what_it_connected_to(address: str) -> None:
    code = f"{fetch(address)}\nawait report_progress(1, 1, 'fetched')\nimport time\ntime.sleep(60)"
    async with serve_rest(config(address, "public")) as rest:
        body = {"code": code, "network": [address], "detach": True}
        path = f"/runs/{(await rest.http.post('/runs', json=body)).json()['run_id']}"
        while ((await rest.http.get(path)).json().get("progress") or {}).get("message") != "fetched":
            await asyncio.sleep(0.05)
        ended = (await rest.http.post(f"{path}/cancel")).json()
        stored = (await rest.http.get(path)).json()
    assert (ended["verdict"], ended["result"]["network"][0]["outcome"]) == ("cancelled", "connected")
    assert stored["result"]["network"] == ended["result"]["network"]


async def test_operators_may_have_more_than_other_callers(address: str) -> None:
    settings = NetworkConfig(allow=("none",), operators=("public",), private=(address,))
    server = replace(Config(), network=settings, server=ServerConfig(require_token=True))
    answers = {}
    async with serve_rest(server) as rest:
        for role in ("operator", "user"):
            _, token = await rest.services.store.tokens.add(role, role=role)
            body = {"code": fetch(address), "network": [address]}
            answers[role] = await rest.http.post("/runs", json=body, headers={"Authorization": f"Bearer {token}"})
    assert (answers["operator"].json()["output"], answers["user"].status_code) == ("page", 403)
    assert (
        "ask the operator" in answers["user"].json()["detail"] or "network.private" in answers["user"].json()["detail"]
    )


async def test_a_session_gives_no_caller_more_than_he_may_have(address: str) -> None:
    settings = NetworkConfig(allow=("none",), operators=("public",), private=(address,))
    server = replace(Config(), network=settings, server=ServerConfig(require_token=True))
    answers = []
    async with serve_rest(server) as rest:
        for role in ("operator", "user"):
            _, token = await rest.services.store.tokens.add("ann", role=role)
            body = {"code": fetch(address), "session": "s"} | ({"network": [address]} if role == "operator" else {})
            answers.append(await rest.http.post("/runs", json=body, headers={"Authorization": f"Bearer {token}"}))
    assert [each.status_code for each in answers] == [200, 403]
    assert "use another session" in answers[1].json()["detail"]


@pytest.mark.parametrize("session", [None, "s"])
async def test_a_script_goes_no_further_while_its_bytes_are_counted(
    source: socket.socket, session: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, was_busy = f"127.0.0.1:{source.getsockname()[1]}", []
    count = Supervisor.count

    def count_later(supervisor: Supervisor, only: NetworkRun | None = None) -> None:
        if only is not None:
            deadline = time.monotonic() + 20
            while are_busy() and time.monotonic() < deadline:
                time.sleep(0.01)
            was_busy.append(are_busy())
        count(supervisor, only)

    monkeypatch.setattr(Supervisor, "count", count_later)
    hold = "import os, signal\nif os.fork() == 0:\n    signal.pause()"  # the connection stays open until this is killed
    script = f"{BUSY}import socket\nkept = socket.create_connection({source.getsockname()})\n{hold}\n1"
    async with Paddock(config(address)) as paddock:
        assert (await paddock.run(script, network=[address], session=session)).output == 1
    assert was_busy
    assert not any(was_busy)


async def test_a_session_that_is_connected_is_stopped_before_its_run_is_answered(source: socket.socket) -> None:
    address = f"127.0.0.1:{source.getsockname()[1]}"
    async with Paddock(config(address)) as paddock:
        result = await paddock.run(
            f"import socket\nkept = socket.create_connection({source.getsockname()})", network=[address], session="s"
        )
        assert result.error is None
        (session,) = paddock._sessions._sessions.values()
        assert session.interpreter._guest._is_frozen  # type: ignore[union-attr]
        assert (await paddock.run("kept.send(b'x')", session="s")).output == 1


async def test_packages_and_a_network_go_together(address: str) -> None:
    async with Paddock(config(address)) as paddock:
        result = await paddock.run(f"import six\n{fetch(address)}", network=[address], packages=["six"])
    assert result.output == "page", result.error
