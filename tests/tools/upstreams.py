"""Upstreams to test with: the settings of the test servers, and fixtures that start and stop them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from paddock import Config
from paddock.config import GuestsConfig
from paddock.model.environments import EnvironmentConfig
from paddock.tools.mcp_config import Server, parse
from paddock.tools.upstream import Upstream
from paddock.tools.upstream_errors import CallFailed
from tests.docs.pages import ROOT
from tests.forks import fork

SERVERS = Path(__file__).parent / "servers"
PLAIN, HOSTILE = str(SERVERS / "plain.py"), str(SERVERS / "hostile.py")
HOSTILE_HTTP = str(SERVERS / "hostile_http.py")
SEEING = str(SERVERS / "seeing.py")
DECLARED = str(SERVERS / "declared.py")
TOKEN = "tok-4f9c1d77aa"  # noqa: S105  the credential of the hostile servers

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
"""HTTP statuses, and the `error_kind`, `error_code` and `retryable` of the envelope that each becomes."""

Connect = Callable[..., Upstream]
Serve = Callable[..., str]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """A function that makes an upstream from the settings of one server. All are closed after the test."""
    made: list[Upstream] = []

    def make(**settings: object) -> Upstream:
        made.append(Upstream(one(**settings)))
        return made[-1]

    yield make
    for upstream in made:
        await upstream.close()


async def until(is_so: Callable[[], bool]) -> None:
    """Return as soon as it is so."""
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.01)


def bare_config(upstreams: dict[str, Any], **settings: Any) -> Config:
    """A configuration with these upstreams, in which full Python has no packages and so starts quickly."""
    environments = {**Config().environments, "bare": EnvironmentConfig()}
    guests = GuestsConfig(environment="bare", min_waiting=1, max_waiting=1)
    return Config(environments=environments, cpython=guests, upstreams=upstreams, **settings)


def one(**settings: object) -> Server:
    """The server of these settings, named `it`."""
    return parse({"mcpServers": {"it": settings}})[0]


def plain(**settings: object) -> dict[str, object]:
    """The settings of the well-behaved server, over stdio."""
    return {**fork.settings(PLAIN, "stdio"), **settings}


def seeing() -> dict[str, object]:
    """The settings of the server that returns the values it was given, over stdio."""
    return fork.settings(SEEING, "stdio")


def declared(schemas: dict[str, dict[str, Any]]) -> dict[str, object]:
    """The settings of a server with a tool for each of these input schemas, over stdio."""
    return fork.settings(DECLARED, json.dumps(schemas))


def shop() -> dict[str, object]:
    """The settings of the server in `examples/`."""
    return fork.settings(str(ROOT / "examples" / "shop_server.py"))


def hostile(kind: str = "", **settings: object) -> dict[str, object]:
    """The settings of the hostile server, over stdio. `kind` says how it misbehaves from the start."""
    token = {"API_TOKEN": TOKEN}
    return {"command": sys.executable, "args": [HOSTILE, kind], "env": token, "connect_seconds": 20, **settings}


def state(upstream: Upstream) -> str:
    """The state of the upstream. A function, because a type checker assumes that a property does not change."""
    return upstream.health.state


async def failure(upstream: Upstream, tool: str, timeout_seconds: float = 30) -> CallFailed:
    """Call a tool of a hostile server. Returns why that failed, which does not show the server's credential."""
    with pytest.raises(CallFailed) as caught:
        await upstream.call(tool, {}, timeout_seconds=timeout_seconds)
    assert TOKEN not in f"{caught.value!r} {caught.value.envelope(tool)} {upstream.health} {upstream.server!r}"
    return caught.value


async def answers(upstream: Upstream) -> bool:
    """Whether the hostile server answers a call of its well-behaved tool."""
    return (await upstream.call("ok", {})).content == ({"type": "text", "text": "ok"},) and state(upstream) == "ready"


class HostileHttp:
    """The hostile server over HTTP: the settings for each of its addresses, and the requests that it saw there."""

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
    """One server for a file of tests. Each test has its own addresses there."""
    return hostile_http_server.marked(uuid4().hex)


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """A function that returns the address of a server over HTTP. Tests of a file share it if `is_shared`."""
    running: list[subprocess.Popen[str]] = []
    addresses: dict[tuple[str, ...], str] = {}

    def start(*kind: str, program: str = PLAIN, is_shared: bool = True) -> str:
        command = (program, *kind)
        if is_shared and command in addresses:
            return addresses[command]
        server = subprocess.Popen(
            fork.command(*command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={}
        )
        running.append(server)
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if is_shared:
            addresses[command] = address
        return address

    yield start
    for server in running:
        server.kill()
        server.communicate()
