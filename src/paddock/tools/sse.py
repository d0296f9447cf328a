"""The older of the two HTTP transports: answers come over one long stream, requests are posted beside it.

Not the SDK's: there an answer of more than 1 MB ends the connection, and a post that fails leaves its caller waiting.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from paddock.tools.guard import heard
from paddock.tools.http_client import EXCHANGE, Client, Exchange, beside
from paddock.tools.lines import Line, message
from paddock.tools.outgoing import NOTICE_SECONDS, Outgoing, cancelled_by
from paddock.tools.stdio import Trace
from paddock.tools.upstream_errors import broken

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp_types import RequestId

    from paddock.tools.outgoing import Sent
    from paddock.tools.server import Server

HEADERS = {"accept": "text/event-stream", "cache-control": "no-store"}


@asynccontextmanager
async def legacy_sse(server: Server, client: Client, trace: Trace) -> AsyncIterator[TransportStreams]:
    """Both directions of one connection, as the SDK takes a transport."""
    async with client.stream("GET", server.url, headers=HEADERS) as response:
        kind = response.headers.get("content-type", "")
        if response.status_code != 200 or "text/event-stream" not in kind.lower():
            raise broken(f"The server '{server.name}' offers no stream of events at its address.")
        events = aiter(httpx2.EventSource(response, max_event_size=server.answer_bytes))
        endpoint = await _endpoint(server, events)
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream["Sent"](0)
        async with anyio.create_task_group() as group:
            group.start_soon(_receive, events, incoming, server, trace)
            group.start_soon(_Posts(client, endpoint, incoming).send, outgoing)
            try:
                yield read, Outgoing(write)
            finally:
                for stream in (incoming, read, write, outgoing):
                    stream.close()
                group.cancel_scope.cancel()


async def _endpoint(server: Server, events: AsyncIterator[Any]) -> str:
    """Where to post. Only the server itself is believed: credentials go along."""
    with suppress(httpx2.SSEError):
        async for event in events:
            if event.event == "endpoint":
                endpoint = urljoin(server.url, str(event.data))
                if urlsplit(endpoint)[:2] == urlsplit(server.url)[:2]:
                    return endpoint
                break
    raise broken(f"The server '{server.name}' named no address of its own to send requests to.")


async def _receive(
    events: AsyncIterator[Any],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    server: Server,
    trace: Trace,
) -> None:
    try:
        async for event in events:
            if event.event != "message":
                continue
            line = Line(event.data.encode())
            said = await heard(partial(message, line, server.answer_bytes), len(line.data), server.secrets)
            if said is not None:
                await incoming.send(said)
    except httpx2.SSEError:
        size = server.answer_bytes / 2**20
        trace.problem = f"it sent an answer of more than {size:g} MB, or something that is no event"
    except (httpx2.TransportError, httpx2.StreamError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    finally:
        incoming.close()  # which ends every call that waits


class _Posts:
    def __init__(
        self, client: Client, endpoint: str, incoming: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        self._client, self._endpoint, self._incoming = client, endpoint, incoming
        self._waiting: dict[RequestId, anyio.CancelScope] = {}

    async def send(self, outgoing: MemoryObjectReceiveStream[Sent]) -> None:
        """Post whatever comes. The post of a request that is cancelled is closed, if the server has not taken it."""
        async with anyio.create_task_group() as group:
            async for exchange, item in outgoing:
                said = item.message
                if isinstance(said, mcp_types.JSONRPCRequest):
                    group.start_soon(self._request, said, exchange)
                    continue
                number = cancelled_by(said)
                if number is not None and number in self._waiting:
                    self._waiting[number].cancel()
                group.start_soon(self._notify, said, exchange)

    async def _request(self, said: mcp_types.JSONRPCRequest, exchange: Exchange | None) -> None:
        EXCHANGE.set(exchange)
        with anyio.CancelScope() as scope:
            self._waiting[said.id] = scope
            try:
                if await self._posted(said) < 300:
                    return
                error = mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message="the request was not taken")
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    failed = mcp_types.JSONRPCError(jsonrpc="2.0", id=said.id, error=error)
                    await self._incoming.send(SessionMessage(failed))
            finally:
                del self._waiting[said.id]

    async def _notify(self, said: mcp_types.JSONRPCMessage, exchange: Exchange | None) -> None:
        EXCHANGE.set(beside(exchange))
        with anyio.move_on_after(NOTICE_SECONDS):
            await self._posted(said)

    async def _posted(self, said: mcp_types.JSONRPCMessage) -> int:
        """The status. What else the response holds is of no interest: answers come over the stream."""
        values = said.model_dump(by_alias=True, mode="json", exclude_unset=True)
        async with self._client.stream("POST", self._endpoint, json=values) as response:
            return response.status_code
