"""Requests that take long to read: no callback of the event loop uses over 100 ms of CPU, so others are served."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.bare import bare
from tests.server import watched_server
from tests.server.test_processes import ACCEPT, HELLO, address_of, begun

__all__ = ["bare"]
OBJECTS = "[" + '{"a":1},' * 499_999 + '{"a":1}]'
ERA = "2026-07-28"
META = (
    f'"_meta": {{"io.modelcontextprotocol/protocolVersion": "{ERA}",'
    ' "io.modelcontextprotocol/clientCapabilities": {},'
    ' "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}},'
)
REST = {
    "a run": ("POST", "/v1/runs", '{"code": "len(x)", "inputs": {"x": VALUES}}', 200),
    "files": ("POST", "/v1/check", '{"code": "1", "files": VALUES}', 422),
    "a check": ("POST", "/v1/check", '{"code": "1", "inputs": {"x": VALUES}}', 200),
    "names for lint": ("POST", "/v1/lint", '{"code": "1", "names": VALUES}', 422),
    "a context": ("PUT", "/v1/context", '{"values": {"x": VALUES}}', 422),
    "a definition": ("PUT", "/v1/definitions/x", '{"description": "d", "code": "1", "inputs": {"x": VALUES}}', 422),
    "a tried tool": (
        "POST",
        "/v1/definitions/run_code/try",
        '{"arguments": {"code": "1", "inputs": {"x": VALUES}}}',
        200,
    ),
    "a tool call": ("POST", "/v1/tools/nothing/call", '{"arguments": {"x": VALUES}}', 200),
}
MCP = {
    "inputs": ('"name": "run_code", "arguments": {"code": "len(x)", "inputs": {"x": VALUES}}', 200),
    "wrong code": ('"name": "run_code", "arguments": {"code": VALUES}', 200),
    "wrong files": ('"name": "run_code", "arguments": {"code": "1", "files": VALUES}', 200),
    "meta": ('"name": "run_code", "arguments": {}, "x": VALUES', 413),
    "no JSON": ('"name": "run_code", "arguments": {"x": VALUES', 400),
}


LONG = 4_000_000
NAMES: dict[str, Any] = {
    "packages": ["a" + " " * LONG + "!"],
    "tools": ["*a" * LONG],
    "refused_modules": ["a." * LONG],
    "environment": "a" * LONG,
    "session": "a" * LONG,
    "language": "a" * LONG,
    "engine": "a" * LONG,
    "mode": "a" * LONG,
    "limits": {"a" * LONG: 1},
    "inputs": {"a-" * LONG: 1},
    "files": [{"file_name": "a" * LONG, "content": "x"}],
}


class Watched:
    """A server whose callbacks are watched."""

    def __init__(self, url: str, slow: Path) -> None:
        self.http, self._slow = httpx.Client(base_url=url, timeout=120), slow
        self.http.get("/v1/health")
        self.slow()

    def send(self, method: str, path: str, body: str, headers: dict[str, str] | None = None) -> httpx.Response:
        headers = {"content-type": "application/json", **(headers or {})}
        return self.http.request(method, path, content=body.encode(), headers=headers)

    def slow(self) -> list[str]:
        """The callbacks since the last call of this that took too long."""
        found = self._slow.read_text().splitlines()
        self._slow.write_text("")
        return found


@pytest.fixture(scope="module")
def watched(bare: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    settings, slow = folder / "paddock.toml", folder / "slow"
    settings.write_text(f'{Path(bare).read_text()}\n[store]\npath = "{folder}/paddock.db"\n')
    slow.touch()
    command = [sys.executable, "-m", watched_server.__name__, "serve", "--port", "0", "--config", str(settings)]
    with begun(command, env={**os.environ, watched_server.VARIABLE: str(slow)}) as process:
        server = Watched(address_of(process).removesuffix("/mcp"), slow)
        assert server.send("POST", "/v1/runs", '{"code": "1"}').status_code == 200
        server.slow()
        with closing(server.http):
            yield server


@pytest.mark.parametrize("case", REST)
def test_a_large_rest_request_does_not_block_the_loop(watched: Watched, case: str) -> None:
    method, path, body, status = REST[case]
    response = watched.send(method, path, body.replace("VALUES", OBJECTS))
    assert (response.status_code, watched.slow()) == (status, [])


@pytest.mark.parametrize("option", NAMES)
def test_a_name_of_megabytes_is_refused_and_not_quoted(watched: Watched, option: str) -> None:
    response = watched.send("POST", "/v1/check", json.dumps({"code": "1", option: NAMES[option]}))
    assert (response.status_code, len(response.content) < 1000, watched.slow()) == (422, True, [])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/context", {"values": {"a" * LONG: "x"}}),
        ("PUT", "/v1/context", {"connections": {"a" * LONG: "x"}}),
        ("POST", "/v1/lint", {"code": "1", "names": ["a" * LONG]}),
        ("POST", "/v1/lint", {"code": "1", "mode": "a" * LONG}),
        ("PUT", "/v1/definitions/x", {"description": "d", "code": "1", "tools": ["*a" * 50_000]}),
    ],
)
def test_a_long_name_elsewhere_is_refused_and_not_quoted(watched: Watched, method: str, path: str, body: Any) -> None:
    response = watched.send(method, path, json.dumps(body))
    assert (response.status_code, len(response.content) < 1000, watched.slow()) == (422, True, [])


@pytest.mark.parametrize("era", [ERA, "2025-11-25"])
@pytest.mark.parametrize("case", MCP)
def test_a_large_mcp_message_does_not_block_the_loop(watched: Watched, case: str, era: str) -> None:
    params, status = MCP[case]
    headers: dict[str, str] = {**ACCEPT, "mcp-protocol-version": era}
    if era == ERA:
        headers |= {"mcp-method": "tools/call", "mcp-name": "run_code"}
    else:
        hello: Any = watched.http.post("/mcp", json=HELLO, headers=headers)
        headers["mcp-session-id"] = hello.headers["mcp-session-id"]
    end = "" if case == "no JSON" else "}}"
    message = (
        f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{{META if era == ERA else ""}{params}{end}'
    )
    response = watched.send("POST", "/mcp", message.replace("VALUES", OBJECTS), headers)
    assert (response.status_code, watched.slow()) == (status, []), response.text[:500]
    said = {"inputs": "500000", "wrong code": "mcp_input_validation", "wrong files": "too many values to be checked"}
    assert said.get(case, "") in response.text


def test_a_large_value_of_a_script_does_not_block_the_loop(watched: Watched) -> None:
    code = "[[[[[[[[1]]]]]]]] * 500_000"
    arguments = {"code": code, "output_kb": 16 * 1024, "memory_mb": 2000, "timeout": 60}
    tried = watched.send("POST", "/v1/definitions/run_code/try", json.dumps({"arguments": arguments}))
    run_id = tried.json()["structuredContent"]["run_id"]
    shown = watched.send("GET", f"/v1/runs/{run_id}", "")
    assert (len(shown.json()["result"]["output"]), watched.slow()) == (500_000, [])


TABLES = """
import json, os, select, stat, struct
[control] = [fd for fd in range(3, 32) if is_socket(fd)]
rows = b"[" + b"VALUE," * (500_000 // 3) + b"VALUE]"
header = json.dumps({"type": "table", "mime_type": "application/json", "data_bytes": len(rows)}).encode()
data = struct.pack("!BIII", 28, 1, len(header), len(rows)) + header + rows
for _ in range(15):
    sent = 0
    while sent < len(data):
        select.select([], [control], [])
        sent += os.write(control, data[sent:])
"""
IS_SOCKET = """
def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
"""


@pytest.mark.parametrize("value", ["[]", "{}", "10"])
def test_tables_of_hundreds_of_thousands_of_rows_do_not_block_the_loop(watched: Watched, value: str) -> None:
    code = f"import os, stat{IS_SOCKET}{TABLES.replace('VALUE', value)}"
    tried = watched.send("POST", "/v1/definitions/run_code/try", json.dumps({"arguments": {"code": code}}))
    said = tried.json()["structuredContent"]
    assert (said["verdict"], len(said["outputs"]), watched.slow()) == ("ok", 15, [])
    shown = [row for each in said["outputs"] for row in each["rows"]]
    assert 10_000 < len(shown) <= 50_000
    again = watched.send("GET", f"/v1/runs/{said['run_id']}", "")
    assert (len(again.json()["result"]["outputs"]), watched.slow()) == (15, [])


def test_a_list_of_large_definitions_does_not_block_the_loop(watched: Watched) -> None:
    values = "[" + "[]," * 80_000
    for number in range(60):
        spec = f'{{"description": "d", "code": "1", "inputs": {{"x": {values}{number}]}}}}'
        assert watched.send("PUT", "/v1/definitions/large", spec).status_code == 200
    watched.slow()
    versions = watched.send("GET", "/v1/definitions/large/versions", "")
    assert (versions.content.count(b'"version"'), watched.slow()) == (60, [])


def test_a_body_in_tiny_chunks_does_not_block_the_loop(watched: Watched) -> None:
    url = watched.http.base_url
    head = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((url.host, url.port), timeout=60) as connection:
        connection.sendall(head + b"1\r\n \r\n" * 100_000 + b'd\r\n{"code": "7"}\r\n0\r\n\r\n')
        status = connection.makefile("rb").readline()
    assert (status, watched.slow()) == (b"HTTP/1.1 200 OK\r\n", [])


def test_a_run_after_all_of_that_is_served(watched: Watched) -> None:
    assert watched.send("POST", "/v1/runs", '{"code": "1 + 1"}').json()["output"] == 2
