"""Upstreams to test with: settings of our own servers, and fixtures that start and end them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from paddock.tools.mcp_config import Server, parse
from paddock.tools.upstream import Upstream
from tests.docs.pages import ROOT
from tests.forks import fork

SERVERS = Path(__file__).parent / "servers"
PLAIN, HOSTILE = str(SERVERS / "plain.py"), str(SERVERS / "hostile.py")
HOSTILE_HTTP = str(SERVERS / "hostile_http.py")
SEEING = str(SERVERS / "seeing.py")
DECLARED = str(SERVERS / "declared.py")
TOKEN = "tok-4f9c1d77aa"  # noqa: S105  what the hostile ones are given

STATUSES = (
    (401, ("auth_error", "AUTH_AUTHENTICATION", False)),
    (403, ("auth_error", "AUTH_PERMISSION", False)),
    (400, ("upstream_http", "UPSTREAM_HTTP_400", False)),
    (408, ("upstream_http", "UPSTREAM_HTTP_408", True)),
    (409, ("upstream_http", "UPSTREAM_HTTP_409", False)),
    (422, ("upstream_http", "UPSTREAM_HTTP_422", False)),
    (429, ("rate_limited", "UPSTREAM_HTTP_429", True)),
    (500, ("upstream_http", "UPSTREAM_HTTP_500", True)),
    (503, ("upstream_http", "UPSTREAM_HTTP_503", True)),
)
"""Of HTTP, and the kind, the code and whether to try again of the envelope that each stands for."""

Connect = Callable[..., Upstream]
Serve = Callable[..., str]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes an upstream of the settings of one server; all are closed afterwards."""
    made: list[Upstream] = []

    def make(changed: Callable[[], None] | None = None, **settings: object) -> Upstream:
        made.append(Upstream(one(**settings), changed=changed))
        return made[-1]

    yield make
    for upstream in made:
        await upstream.close()


def one(**settings: object) -> Server:
    """The server of these settings, named `it`."""
    return parse({"mcpServers": {"it": settings}})[0]


def plain(**settings: object) -> dict[str, object]:
    """The settings of our own well-behaved server, over stdio."""
    return {**fork.settings(PLAIN, "stdio"), **settings}


def seeing() -> dict[str, object]:
    """Those of the one that tells what it was given, over stdio."""
    return fork.settings(SEEING, "stdio")


def declared(schemas: dict[str, dict[str, Any]]) -> dict[str, object]:
    """Those of the one that has a tool for each of these schemas of arguments, over stdio."""
    return fork.settings(DECLARED, json.dumps(schemas))


def shop() -> dict[str, object]:
    """Those of the example's."""
    return fork.settings(str(ROOT / "examples" / "shop_server.py"))


def hostile(kind: str = "", **settings: object) -> dict[str, object]:
    """Those of the one that misbehaves, if it does so from the start in the way of `kind`."""
    token = {"API_TOKEN": TOKEN}
    return {"command": sys.executable, "args": [HOSTILE, kind], "env": token, "connect_seconds": 20, **settings}


def state(upstream: Upstream) -> str:
    """How it is now. A function, because a type checker believes that a property stays as it was."""
    return upstream.health.state


class HostileHttp:
    """The one that misbehaves over HTTP: settings for each of its addresses, and what it saw there."""

    def __init__(self, address: str, record: Path, mark: str = "~") -> None:
        self._address = address
        self._record = record
        self._mark = mark

    def marked(self, mark: str) -> HostileHttp:
        """The same server at addresses that nobody else uses."""
        return HostileHttp(self._address, self._record, f"~{mark}")

    def at(self, path: str = "/mcp", **settings: object) -> dict[str, object]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        url = f"{self._address}/{self._mark}{path}"
        return {"type": "http", "url": url, "headers": headers, "connect_seconds": 20, **settings}

    def saw(self) -> list[str]:
        record = self._record.with_name(self._record.name + self._mark)
        return record.read_text().splitlines() if record.exists() else []


@pytest.fixture(scope="module")
def hostile_http_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileHttp]:
    record = tmp_path_factory.mktemp("hostile") / "record"
    server = subprocess.Popen([sys.executable, HOSTILE_HTTP, str(record)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield HostileHttp(server.stdout.readline().strip(), record)
    server.kill()
    server.communicate()


@pytest.fixture
def hostile_http(hostile_http_server: HostileHttp) -> HostileHttp:
    """One server for a file; each of its tests has a place of its own there."""
    return hostile_http_server.marked(uuid4().hex)


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Gives the address of our own server over HTTP: the same one for a file, unless a test wants one of its own."""
    running: list[subprocess.Popen[str]] = []
    addresses: dict[tuple[str, ...], str] = {}

    def start(*kind: str, fail_file: Path | None = None, program: str = PLAIN, is_shared: bool = True) -> str:
        env = {"FAIL_FILE": str(fail_file)} if fail_file else {}
        asked = (program, *kind, *env.values())
        if is_shared and asked in addresses:
            return addresses[asked]
        command = fork.command(program, *kind)
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        running.append(server)
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if is_shared:
            addresses[asked] = address
        return address

    yield start
    for server in running:
        server.kill()
        server.communicate()
