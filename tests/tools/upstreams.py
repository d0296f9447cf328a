"""Upstreams to test with: settings of our own servers, and fixtures that start and end them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from paddock.tools.upstream import Upstream
from paddock.tools.upstream_config import Server, parse

SERVERS = Path(__file__).parent / "servers"
PLAIN, HOSTILE = str(SERVERS / "plain.py"), str(SERVERS / "hostile.py")

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
    return {"command": sys.executable, "args": [PLAIN, "stdio"], **settings}


def hostile(kind: str = "", **settings: object) -> dict[str, object]:
    """Those of the one that misbehaves, if it does so from the start in the way of `kind`."""
    token = {"API_TOKEN": "tok-4f9c1d77aa"}
    return {"command": sys.executable, "args": [HOSTILE, kind], "env": token, "connect_seconds": 20, **settings}


def state(upstream: Upstream) -> str:
    """How it is now. A function, because a type checker believes that a property stays as it was."""
    return upstream.health.state


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts our own server over HTTP and gives its address; all are ended afterwards."""
    running: list[subprocess.Popen[str]] = []

    def start(*kind: str, fail_file: Path | None = None) -> str:
        log = subprocess.DEVNULL
        env = {"FAIL_FILE": str(fail_file)} if fail_file else {}
        server = subprocess.Popen(
            [sys.executable, PLAIN, *kind], stdout=subprocess.PIPE, stderr=log, text=True, env=env
        )
        running.append(server)
        assert server.stdout is not None
        return server.stdout.readline().strip()

    yield start
    for server in running:
        server.kill()
        server.communicate()
