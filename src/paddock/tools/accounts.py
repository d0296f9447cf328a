"""Upstreams for servers with `oauth.per_principal`: each principal has its own login and connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.model.request import LOCAL
from paddock.tools.logins import LoginFile
from paddock.tools.upstream_errors import login_required

if TYPE_CHECKING:
    from paddock.tools.mcp_config import Server
    from paddock.tools.upstream import Upstream

MAX_IDLE = 64
"""Beyond this number, upstreams that are not in use are closed, the least recently used first."""


class Accounts:
    """The upstreams of principals that have logged in themselves. `make` creates one for a login."""

    def __init__(self, data_directory: str, make: Callable[[Server, LoginFile], Upstream]) -> None:
        self._data_directory = data_directory
        self._make = make
        self._upstreams: dict[tuple[str, str], Upstream] = {}  # by server and principal, least recently used first
        self._closing: set[asyncio.Task[None]] = set()  # asyncio itself keeps no reference to a task

    @property
    def upstreams(self) -> tuple[Upstream, ...]:
        return tuple(self._upstreams.values())  # a copy, because other threads read it

    def get(self, shared: Upstream, principal: str) -> Upstream:
        """The upstream through which `principal` calls a server: `shared`, or one with its own login.

        Raises CallFailed if the principal has no login. The login of another principal is never used instead.
        """
        server = shared.server
        if principal == LOCAL or server.oauth is None or not server.oauth.per_principal:
            return shared
        login = LoginFile(self._data_directory, server.name, principal)
        if login.signature() is None:  # so nothing is kept for principals that have never logged in
            raise login_required(server.name, login.command)
        key = (server.name, principal)
        found = self._upstreams.pop(key, None) or self._make(server, login)
        self._close_idle()
        self._upstreams[key] = found
        return found

    def _close_idle(self) -> None:
        idle = [key for key, upstream in self._upstreams.items() if upstream.is_idle]
        for key in idle[: max(len(self._upstreams) + 1 - MAX_IDLE, 0)]:
            task = asyncio.create_task(self._upstreams.pop(key).close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
