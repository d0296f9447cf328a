"""Reads interim responses (HTTP 1xx) slowly: the HTTP library skips any number of them without a pause for others.

It also closes a connection on which more than a response has arrived, which the library would take for the next one.
"""

from __future__ import annotations

import re
from typing import Any

import httpcore2
import httpx2

from paddock.tools.message_filter import Throttle

BYTES_PER_SECOND = 64 * 1024
"""What a server may send with interim responses in it. That much takes up to 0.1 s of the event loop."""
_INTERIM = re.compile(rb"HTTP/\d\.\d +1")


def pace_interim_responses(client: httpx2.AsyncClient) -> None:
    """Slow down a server that floods the connections of `client` with interim responses."""
    throttle = Throttle(BYTES_PER_SECOND)  # for all connections together, which would be read in turn
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001  there is no other way to reach them
        if isinstance(transport, httpx2.AsyncHTTPTransport):
            pool = transport._pool  # noqa: SLF001
            pool._network_backend = _Backend(pool, pool._network_backend, throttle)  # noqa: SLF001


class _Backend(httpcore2.AsyncNetworkBackend):
    def __init__(self, pool: Any, inner: httpcore2.AsyncNetworkBackend, throttle: Throttle) -> None:
        self._pool, self._inner, self._throttle = pool, inner, throttle

    async def connect_tcp(self, *given: Any, **options: Any) -> httpcore2.AsyncNetworkStream:
        return _Stream(self._pool, await self._inner.connect_tcp(*given, **options), self._throttle)

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class _Stream(httpcore2.AsyncNetworkStream):
    def __init__(self, pool: Any, inner: httpcore2.AsyncNetworkStream, throttle: Throttle) -> None:
        self._pool, self._inner, self._throttle = pool, inner, throttle

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  the library's name
        piece = await self._inner.read(max_bytes, timeout)
        if _INTERIM.search(piece):
            await self._throttle.take(len(piece))
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(self, *given: Any, **options: Any) -> httpcore2.AsyncNetworkStream:
        return _Stream(self._pool, await self._inner.start_tls(*given, **options), self._throttle)

    def get_extra_info(self, info: str) -> Any:
        # An idle connection that is readable is closed.
        return (info == "is_readable" and self._has_rest) or self._inner.get_extra_info(info)

    @property
    def _has_rest(self) -> bool:
        """Whether more than the last response was read: to the next caller it would be the answer to its request."""
        found = (each._connection for each in self._pool.connections)  # noqa: SLF001
        own = (each for each in found if getattr(each, "_network_stream", None) is self)
        return any(each._h11_state.trailing_data[0] for each in own)  # noqa: SLF001
