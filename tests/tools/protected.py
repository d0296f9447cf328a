"""A protected MCP server with its authorization server, and a browser that logs in to it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from paddock.model.request import LOCAL
from paddock.tools.logins import LoginFile
from paddock.tools.mcp_config import Server, parse
from paddock.tools.oauth_login import log_in
from paddock.tools.upstream import Upstream
from tests.forks import fork
from tests.tools.upstreams import SERVERS

PROTECTED = str(SERVERS / "protected.py")
BROWSER = str(SERVERS / "browser.py")


class Protected:
    """The running servers."""

    def __init__(self, url: str, issuer: str) -> None:
        self.url, self.issuer = url, issuer

    def settings(self, **oauth: object) -> dict[str, object]:
        """The settings of the MCP server."""
        kind = "sse" if self.url.endswith("/sse") else "http"
        return {"type": kind, "url": self.url, "connect_seconds": 20, **({"oauth": oauth} if oauth else {})}

    def server(self, **oauth: object) -> Server:
        return parse({"mcpServers": {"it": self.settings(**oauth)}})[0]

    def control(self, path: str) -> Any:
        response = httpx2.get(f"{self.issuer}/test/{path}")
        assert response.status_code == 200
        return response.text

    def log(self) -> list[str]:
        """What the authorization server did."""
        return list(json.loads(self.control("log"))["log"])

    def secrets(self) -> list[str]:
        """Every token, code and client secret that it has issued and not replaced."""
        return list(json.loads(self.control("log"))["secrets"])


@contextmanager
def protected(*options: str) -> Iterator[Protected]:
    """Start the servers, and stop them."""
    server = subprocess.Popen(fork.command(PROTECTED, *options), stdout=subprocess.PIPE, text=True, env={})
    assert server.stdout is not None
    try:
        yield Protected(**json.loads(server.stdout.readline()))
    finally:
        server.kill()
        server.communicate()


def browse(address: str) -> None:
    """Open the address like a browser, in a thread: through all redirects, to the listener of the login."""
    threading.Thread(target=lambda: httpx2.get(address, follow_redirects=True)).start()


async def login(
    server: Server, folder: Path, show: Callable[[str], None] = browse, principal: str = LOCAL
) -> LoginFile:
    """Log in. Returns where the login is."""
    file = LoginFile(folder, server.name, principal)
    async with asyncio.timeout(60):
        await log_in(server, file, show)
    return file


def upstream(server: Server, folder: Path, principal: str = LOCAL) -> Upstream:
    return Upstream(server, login=LoginFile(folder, server.name, principal))


async def text(upstream: Upstream, tool: str, **arguments: object) -> str:
    """The text that a tool returns."""
    return str((await upstream.call(tool, arguments)).content[0]["text"])


def browser_command() -> str:
    """The value of `$BROWSER` for a browser without a window."""
    return f"{sys.executable} {BROWSER} %s"
