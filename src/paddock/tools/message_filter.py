"""Filters the messages of MCP servers before the SDK gets them: redacts credentials and limits their rate.

The SDK starts a task for each notification, so a flood of them would fill the host's memory. Unused notifications are
dropped here, and a server that sends too many is read more slowly, so that its own writes block.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import islice
from time import thread_time
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

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
from pydantic_core import from_json

from paddock.tools.secrets import redact, redact_all
from paddock.tools.size import LARGE, is_larger, run_by_size
from paddock.tools.upstream_errors import shorten

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.client._transport import ReadStream, TransportStreams

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")
USED_NOTIFICATIONS = frozenset(
    {
        "notifications/tools/list_changed",
        "notifications/progress",
        "notifications/cancelled",
        "notifications/subscriptions/acknowledged",
    }
)
ANSWER = "paddock/answer"
"""Where `clean` puts a tool's answer. The SDK would check and copy every part of it on the event loop."""
MAX_PARTS = 100
"""How many fields of a result the SDK gets."""
MAX_PER_SECOND = 5000
"""Limit for a server's messages. No honest server answers as many calls."""
REST_SECONDS, REST_FACTOR = 0.05, 3
"""A server whose message took longer than this is not read for this many times as long."""
BURST_SECONDS = 0.1
"""How much is read at once: what the limit allows in this time."""
REQUESTS, REQUESTS_PER_SECOND, REQUEST_CHARACTERS = 100, 5, 1000
"""How many requests of a server are answered at once, and then in a second, and how long their ids and methods may be.
Others are dropped: an answer repeats both, and waits, with a task of the SDK, until the server reads it."""


def parse_message(data: bytes) -> SessionMessage:
    """Parse a message. Raises ValueError or RecursionError."""
    try:
        value = from_json(data)
    except ValueError:
        value = from_json(without_surrogates(data))
    # `validate_json` would take four times as long, in which no other thread runs.
    return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))


def without_surrogates(data: bytes) -> bytes:
    """The same JSON with `?` for each lone surrogate. Python servers write those, and the SDK rejects them."""
    with suppress(ValueError, RecursionError):
        return json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False).encode(errors="replace")
    return data


def clean(message: JSONRPCMessage, secrets: tuple[str, ...]) -> None:
    """Replace every credential in `message`, and hide what is large from the SDK, which works on the event loop."""
    if isinstance(message, JSONRPCResponse):
        sent, result = message.result.get("content"), redact_all(message.result, secrets)
        message.result = {name: part for name, part in islice(result.items(), MAX_PARTS) if _is_shown(name, part)}
        if isinstance(result.get("content"), list):
            _keep_files(result["content"], sent)
            message.result |= {"content": [], ANSWER: result}
    elif isinstance(message, JSONRPCError):
        message.error.message = shorten(redact(message.error.message, secrets))
        message.error.data = None
    elif message.params is not None:
        message.params = {} if is_larger(message.params, LARGE) else redact_all(message.params, secrets)


def _keep_files(redacted: Any, sent: Any) -> None:
    """Leave the base64 of files in content as it was sent: it is redacted when it is decoded."""
    if isinstance(sent, list):
        for block, original in zip(redacted, sent, strict=True):
            _keep_files(block, original)
    elif isinstance(sent, dict) and isinstance(redacted, dict):
        redacted |= {name: sent[name] for name in ("data", "blob") if isinstance(sent.get(name), str)}
        if isinstance(inner := sent.get("resource"), dict):
            _keep_files(redacted.get("resource"), inner)


def _is_shown(name: str, part: object) -> bool:
    return name == "tools" or (name != "structuredContent" and not is_larger(part, LARGE))


class Throttle:
    """Limits a reader to `per_second` units, and to those of BURST_SECONDS without a pause for others."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._due_at = 0.0  # when a reader at exactly this rate would have read what was taken

    async def take(self, count: int) -> None:
        now = anyio.current_time()
        self._due_at = max(self._due_at, now) + count / self._per_second
        if self._due_at - now > BURST_SECONDS:
            await anyio.sleep(self._due_at - now)


class Rest:
    """Keeps the answers of a server apart that take the SDK long to parse, which it does on the event loop."""

    def __init__(self, now: Callable[[], float] = anyio.current_time) -> None:
        self._now, self._until = now, 0.0

    async def take(self, seconds: float) -> None:
        """Wait until the answers before this one have been parsed, and nothing was read for a while after that."""
        if seconds > REST_SECONDS:
            now = self._now()
            wait_seconds, begins = self._until - now, max(self._until, now)
            self._until = begins + (1 + REST_FACTOR) * seconds
            if wait_seconds > 0:
                await anyio.sleep(wait_seconds)


class Allowance:
    """Allows `most` units at once, and `per_second` of them after that."""

    def __init__(self, most: int, per_second: float) -> None:
        self._most, self._per_second = most, per_second
        self._left, self._at = float(most), anyio.current_time()

    def take(self) -> bool:
        """Whether another unit is allowed."""
        now = anyio.current_time()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        self._left -= (is_allowed := self._left >= 1)
        return is_allowed


async def timed_by_size(
    value: object, work: Callable[[Unpack[_Arguments]], _Result], *arguments: *_Arguments
) -> tuple[_Result, float]:
    """`run_by_size`, and how many seconds of a processor it took."""

    def timed() -> tuple[_Result, float]:
        began = thread_time()
        return work(*arguments), thread_time() - began

    return await run_by_size(value, timed)


async def rest_after(seconds: float) -> None:
    """Read no more from a server for a while, if its last message took this long: one of millions of values does."""
    if seconds > REST_SECONDS:
        await anyio.sleep(REST_FACTOR * seconds)


@asynccontextmanager
async def filter_transport(
    transport: AbstractAsyncContextManager[TransportStreams],
    clean_message: Callable[[JSONRPCMessage], None],
    on_end: Callable[[], None],
) -> AsyncIterator[TransportStreams]:
    """Open `transport` and filter its incoming messages. `on_end` is called when no more messages arrive."""
    async with transport as (read, write), anyio.create_task_group() as group:
        passed, filtered = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        group.start_soon(_filter, read, passed, clean_message, on_end)
        try:
            yield filtered, write
        finally:
            group.cancel_scope.cancel()
            passed.close()
            filtered.close()


async def _filter(
    read: ReadStream[SessionMessage | Exception],
    passed: MemoryObjectSendStream[SessionMessage | Exception],
    clean_message: Callable[[JSONRPCMessage], None],
    on_end: Callable[[], None],
) -> None:
    throttle, requests = Throttle(MAX_PER_SECOND), Allowance(REQUESTS, REQUESTS_PER_SECOND)
    try:
        async for item in read:
            await throttle.take(1)
            if isinstance(item, Exception):
                continue
            if isinstance(item.message, JSONRPCNotification) and item.message.method not in USED_NOTIFICATIONS:
                continue
            if isinstance(item.message, JSONRPCRequest) and not (
                requests.take() and not is_larger([item.message.id, item.message.method], REQUEST_CHARACTERS)
            ):
                continue
            error = getattr(item.message, "error", None)
            size = getattr(item.message, "result", None) if error is None else error.message
            _, seconds = await timed_by_size(size, clean_message, item.message)
            await passed.send(item)
            await rest_after(seconds)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass  # the connection is closing
    finally:
        passed.close()
        on_end()
