"""Between every transport and the SDK: what arrives is thinned, slowed down and cleaned of credentials.

The SDK starts a task for each notification, so a flood of them would fill the host's memory. Here those that nobody
asked for are dropped, and a server that sends too many is read more slowly: the flood blocks whoever sends it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from paddock.tools import large
from paddock.tools.credentials import redact, redacted

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams

WANTED = frozenset(
    {
        "notifications/tools/list_changed",
        "notifications/progress",
        "notifications/cancelled",
        "notifications/subscriptions/acknowledged",
    }
)
Heard = TypeVar("Heard", SessionMessage, SessionMessage | None)
MOST_A_SECOND = 5000
"""Notifications and requests of a server; its answers are not counted."""


class Guarded:
    """A transport whose messages may be let in. `ended` is called once nothing more will come."""

    def __init__(
        self,
        transport: AbstractAsyncContextManager[TransportStreams],
        secrets: tuple[str, ...],
        ended: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._secrets = secrets
        self._ended = ended

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._transport.__aenter__()
        return _Incoming(read, self._secrets, self._ended), write

    async def __aexit__(self, *details: Any) -> bool | None:
        return await self._transport.__aexit__(*details)


class _Incoming:
    def __init__(
        self, inner: ReadStream[SessionMessage | Exception], secrets: tuple[str, ...], ended: Callable[[], None]
    ) -> None:
        self._inner = inner
        self._secrets = secrets
        self._ended = ended
        self._second = 0.0
        self._count = 0

    async def receive(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._ended()
                raise
            if isinstance(item, Exception):
                await self._slow_down()
                continue
            if isinstance(item.message, JSONRPCNotification | JSONRPCRequest):
                await self._slow_down()
                if isinstance(item.message, JSONRPCNotification) and item.message.method not in WANTED:
                    continue
            return item if isinstance(item, Clean) else clean(item, self._secrets)

    async def _slow_down(self) -> None:
        now = anyio.current_time()
        if now - self._second >= 1:
            self._second, self._count = now, 0
        self._count += 1
        if self._count > MOST_A_SECOND:
            await anyio.sleep(self._second + 1 - now)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> _Incoming:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Incoming:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


@dataclass
class Clean(SessionMessage):
    """A message that is without credentials already."""


def clean(item: SessionMessage, secrets: tuple[str, ...]) -> Clean:
    """`item` without credentials."""
    message = item.message
    if not secrets:
        pass
    elif isinstance(message, JSONRPCResponse):
        message.result = redacted(message.result, secrets)
    elif isinstance(message, JSONRPCError):
        message.error.message = redact(message.error.message, secrets)
        message.error.data = redacted(message.error.data, secrets)
    elif message.params is not None:
        message.params = redacted(message.params, secrets)
    return Clean(message, item.metadata)


async def heard(read: Callable[[], Heard], size: int, secrets: tuple[str, ...]) -> Heard:
    """What `read` makes of `size` bytes. Where that takes long, it and the cleaning are done in a thread."""

    def work() -> Heard:
        said = read()
        return said if said is None else clean(said, secrets)

    return await large.worked(work, is_large=True) if size > large.LARGE else read()
