"""Messages of MCP servers on their way into the SDK: parsed, cleaned of credentials, and no faster than it can bear.

The SDK starts a task for each notification, so a flood of them would fill the host's memory. Those that nobody uses are
dropped here, and a server that sends too many is read more slowly: the flood blocks whoever sends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from paddock.tools import large
from paddock.tools.secrets import redact, redact_all

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
MAX_PER_SECOND = 5000
"""Notifications and requests of a server. Its answers are not counted."""
_Message = TypeVar("_Message", SessionMessage, SessionMessage | None)


def parse_message(data: bytes) -> SessionMessage:
    """The message that `data` is. Raises ValueError or RecursionError."""
    validate = jsonrpc_message_adapter.validate_json
    try:
        return SessionMessage(validate(data, by_name=False))
    except ValueError:
        return SessionMessage(validate(without_surrogates(data), by_name=False))


def without_surrogates(data: bytes) -> bytes:
    """The same JSON with `?` in place of lone surrogates, which Python writes and the SDK refuses."""
    with suppress(ValueError, RecursionError):
        return json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False).encode(errors="replace")
    return data


async def read_message(read: Callable[[], _Message], size: int, secrets: tuple[str, ...]) -> _Message:
    """What `read` makes of `size` bytes. Large messages are read and cleaned in a thread."""

    def work() -> _Message:
        message = read()
        return message if message is None else clean(message, secrets)

    return await large.run(work, is_large=True) if size > large.LARGE else read()


@dataclass
class Clean(SessionMessage):
    """A message without credentials."""


def clean(item: SessionMessage, secrets: tuple[str, ...]) -> Clean:
    """`item` with every credential replaced."""
    message = item.message
    if not secrets:
        pass
    elif isinstance(message, JSONRPCResponse):
        message.result = redact_all(message.result, secrets)
    elif isinstance(message, JSONRPCError):
        message.error.message = redact(message.error.message, secrets)
        message.error.data = redact_all(message.error.data, secrets)
    elif message.params is not None:
        message.params = redact_all(message.params, secrets)
    return Clean(message, item.metadata)


class Guarded:
    """A transport with a filter on what arrives. `ended` is called once nothing more will arrive."""

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
    """The read stream that the SDK gets."""

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
        if self._count > MAX_PER_SECOND:
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
