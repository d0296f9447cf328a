"""Messages of MCP servers on their way into the SDK: parsed, cleaned of credentials, and no faster than it can bear.

The SDK starts a task for each notification, so a flood of them would fill the host's memory. Those that nobody uses are
dropped here, and a server that sends too many is read more slowly: the flood blocks whoever sends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
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


def clean(message: JSONRPCMessage, secrets: tuple[str, ...]) -> None:
    """Replace every credential in `message`."""
    if isinstance(message, JSONRPCResponse):
        message.result = redact_all(message.result, secrets)
    elif isinstance(message, JSONRPCError):
        message.error.message = redact(message.error.message, secrets)
        message.error.data = redact_all(message.error.data, secrets)
    elif message.params is not None:
        message.params = redact_all(message.params, secrets)


class Throttle:
    """Slows a reader down to so many units a second."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._second, self._count = 0.0, 0

    async def take(self, count: int) -> None:
        now = anyio.current_time()
        if now - self._second >= 1:
            self._second, self._count = now, 0
        self._count += count
        if self._count > self._per_second:
            await anyio.sleep(self._second + 1 - now)


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
        self._throttle = Throttle(MAX_PER_SECOND)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._ended()
                raise
            if isinstance(item, Exception):
                await self._throttle.take(1)
                continue
            if isinstance(item.message, JSONRPCNotification | JSONRPCRequest):
                await self._throttle.take(1)
                if isinstance(item.message, JSONRPCNotification) and item.message.method not in WANTED:
                    continue
            if self._secrets:
                is_large = large.is_larger(getattr(item.message, "result", None), large.LARGE)
                await large.run(partial(clean, item.message, self._secrets), is_large=is_large)
            return item

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
