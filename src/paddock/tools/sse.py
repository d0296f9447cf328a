"""The older HTTP transport of MCP: answers arrive over one long stream, requests are posted separately.

The SDK's transport is not used: after one failed post its writer stops and every later call hangs, and an answer of
more than 1 MB ends the connection (docs/decisions/0010).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
import mcp_types
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream, create_context_streams
from mcp.shared.message import SessionMessage

from paddock.tools.http_client import Client
from paddock.tools.message_filter import rest_after, timed_by_size
from paddock.tools.stdio import Line, Trace, line_message
from paddock.tools.upstream_errors import broken

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from paddock.tools.mcp_config import Server

HEADERS = {"accept": "text/event-stream", "cache-control": "no-store"}
Incoming = ContextSendStream[SessionMessage | Exception]


@asynccontextmanager
async def legacy_sse(server: Server, client: Client, trace: Trace) -> AsyncIterator[TransportStreams]:
    """Both directions of one connection, in the form of the SDK's transports."""
    async with client.stream("GET", server.url, headers=HEADERS) as response:
        kind = response.headers.get("content-type", "")
        if response.status_code != 200 or "text/event-stream" not in kind.lower():
            raise broken(f"The server '{server.name}' offers no stream of events at its address.")
        events = aiter(httpx2.EventSource(response, max_event_size=server.answer_bytes))
        endpoint = await _endpoint(server, events)
        incoming, read = create_context_streams[SessionMessage | Exception](0)
        write, outgoing = create_context_streams[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(_receive, events, incoming, server, trace)
            group.start_soon(_send, outgoing, client, endpoint, incoming)
            try:
                yield read, write
            finally:
                for stream in (incoming, read, write, outgoing):
                    stream.close()
                group.cancel_scope.cancel()


async def _endpoint(server: Server, events: AsyncIterator[Any]) -> str:
    """The URL to post to. It must have the server's origin, because credentials are sent there."""
    with suppress(httpx2.SSEError, httpx2.StreamError, ValueError):  # ValueError: it is not a URL
        async for event in events:
            if event.event == "endpoint":
                endpoint = urljoin(server.url, str(event.data))
                if urlsplit(endpoint)[:2] == urlsplit(server.url)[:2]:
                    return endpoint
                break
    raise broken(f"The server '{server.name}' did not name a URL of its own origin for requests.")


async def _receive(events: AsyncIterator[Any], incoming: Incoming, server: Server, trace: Trace) -> None:
    try:
        async for event in events:
            if event.event != "message":
                continue
            line = Line(event.data.encode())
            message, seconds = await timed_by_size(line.data, line_message, line, server.answer_bytes)
            if message is not None:
                await incoming.send(message)
            await rest_after(seconds)
    except httpx2.SSEError:
        size = server.answer_bytes / 2**20
        trace.problem = f"it sent an answer of more than {size:g} MB, or something that is not an event"
    except (httpx2.TransportError, httpx2.StreamError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    finally:
        incoming.close()  # ends every pending call


async def _send(
    outgoing: ContextReceiveStream[SessionMessage], client: Client, endpoint: str, incoming: Incoming
) -> None:
    """Post each message in its own task, in the context of its sender."""
    async with anyio.create_task_group() as group:
        async for item in outgoing:
            context = outgoing.last_context or copy_context()
            context.run(group.start_soon, _post, item.message, client, endpoint, incoming)


async def _post(message: mcp_types.JSONRPCMessage, client: Client, endpoint: str, incoming: Incoming) -> None:
    values = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    async with client.stream("POST", endpoint, json=values) as response:
        is_accepted = response.status_code < 300
    if is_accepted or not isinstance(message, mcp_types.JSONRPCRequest):
        return
    error = mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message="the server did not accept the request")
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await incoming.send(SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))
