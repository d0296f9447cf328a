"""The newer of the two HTTP transports: every request is a post, and its answer the body, or a stream of events in it.

Not the SDK's: that one leaves the post of a request open that nobody waits for any more, waits for ever where an answer
is for somebody else, sends nothing while a notification hangs, and resumes a stream as often as the server likes.

In the newer era a request is cancelled by closing its post. In the older one a notification says so, and closing means
nothing; it is sent first, and then the post is closed all the same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio
import httpx2
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from paddock.tools.guard import heard
from paddock.tools.http_client import EXCHANGE, Client, Exchange, beside
from paddock.tools.lines import parsed
from paddock.tools.outgoing import NOTICE_SECONDS, Outgoing, cancelled_by

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp_types import JSONRPCMessage, RequestId

    from paddock.tools.outgoing import Sent
    from paddock.tools.server import Server

VERSION, SESSION, LAST_EVENT = "mcp-protocol-version", "mcp-session-id", "last-event-id"
GOODBYE_SECONDS = 2.0
AGAIN_SECONDS = (0.1, 1.0, 30.0)
"""Before a stream that ended is asked for again: at least, where the server does not say, at most."""
MOST_RESUMED = 100
MOST_FAILED = 2
"""In a row: streams that could not be had again, or brought nothing."""
ENDED = "its stream ended without an answer"


@asynccontextmanager
async def streamable_http(server: Server, client: Client) -> AsyncIterator[TransportStreams]:
    """Both directions of one connection, as the SDK takes a transport."""
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream["Sent"](0)
    async with anyio.create_task_group() as group:
        posts = _Posts(server, client, incoming, group)
        group.start_soon(posts.send, outgoing)
        try:
            yield read, Outgoing(write)
        finally:
            with anyio.move_on_after(GOODBYE_SECONDS, shield=True):
                await posts.goodbye()
            for stream in (incoming, read, write, outgoing):
                stream.close()
            group.cancel_scope.cancel()


@dataclass(slots=True)
class _Post:
    """A request that is not answered yet. `is_modern` is the era that it was sent in."""

    is_modern: bool
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


@dataclass(slots=True)
class _Place:
    """How far a stream of events was read, and when to ask for the rest."""

    last_event: str = ""
    retry_seconds: float = AGAIN_SECONDS[1]

    def note(self, event: httpx2.ServerSentEvent) -> None:
        self.last_event = event.id or self.last_event
        if event.retry is not None:
            self.retry_seconds = min(max(event.retry / 1000, AGAIN_SECONDS[0]), AGAIN_SECONDS[2])


class _Posts:
    def __init__(
        self,
        server: Server,
        client: Client,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        group: anyio.abc.TaskGroup,
    ) -> None:
        self._server, self._client, self._incoming, self._group = server, client, incoming, group
        self._session = ""
        self._version = ""  # of the protocol, by the last message that named one
        self._waiting: dict[RequestId, _Post] = {}

    async def send(self, outgoing: MemoryObjectReceiveStream[Sent]) -> None:
        """Post whatever comes. Only the end of the handshake is waited for: what follows must not overtake it."""
        async for exchange, item in outgoing:
            said, headers = item.message, self._headers(item)
            if isinstance(said, JSONRPCRequest):
                post = _Post(self._version in MODERN_PROTOCOL_VERSIONS)
                self._waiting[said.id] = post
                self._group.start_soon(self._request, said, headers, post, exchange)
            elif isinstance(said, JSONRPCNotification) and said.method == "notifications/initialized":
                await self._notify(said, headers, None, exchange)
                if self._session:
                    self._group.start_soon(self._listen)
            elif (abandoned := self._abandoned(said)) is None or not abandoned.is_modern:
                self._group.start_soon(self._notify, said, headers, abandoned, exchange)
            else:
                abandoned.scope.cancel()

    async def goodbye(self) -> None:
        """Tell the server that the session is over, where there is one."""
        if self._session:
            EXCHANGE.set(Exchange())  # why the connection ended is not what becomes of this
            async with self._opened("DELETE", self._fixed()):
                pass

    def _headers(self, item: SessionMessage) -> dict[str, str]:
        said, metadata = item.message, item.metadata
        own = (metadata.headers or {}) if isinstance(metadata, ClientMessageMetadata) else {}
        # The handshake settles the version: one that was tried before must not be claimed in it.
        is_handshake = isinstance(said, JSONRPCRequest) and said.method == "initialize"
        self._version = "" if is_handshake else own.get(VERSION, self._version)
        return self._fixed() | own

    def _fixed(self) -> dict[str, str]:
        given = {SESSION: self._session, VERSION: self._version}
        accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        return accept | {name: value for name, value in given.items() if value}

    def _abandoned(self, said: JSONRPCMessage) -> _Post | None:
        """The request that `said` cancels. In the newer era one that is over already is nothing to speak of."""
        number = cancelled_by(said)
        if number is None:
            return None
        over = _Post(is_modern=True) if self._version in MODERN_PROTOCOL_VERSIONS else None
        return self._waiting.get(number, over)

    async def _notify(
        self, said: JSONRPCMessage, headers: dict[str, str], abandoned: _Post | None, exchange: Exchange | None
    ) -> None:
        EXCHANGE.set(beside(exchange))
        with anyio.move_on_after(NOTICE_SECONDS):
            async with self._opened("POST", headers, said):
                pass
        if abandoned is not None:
            abandoned.scope.cancel()

    async def _request(
        self, said: JSONRPCRequest, headers: dict[str, str], post: _Post, exchange: Exchange | None
    ) -> None:
        EXCHANGE.set(exchange)
        try:
            with post.scope:
                try:
                    await self._answered(said, headers)
                except _NoAnswer as why:
                    await self._hand_over(SessionMessage(JSONRPCError(jsonrpc="2.0", id=said.id, error=why.error)))
        finally:
            if self._waiting.get(said.id) is post:
                del self._waiting[said.id]

    async def _answered(self, said: JSONRPCRequest, headers: dict[str, str]) -> None:
        """Hand the answer over. Raises _NoAnswer."""
        place = _Place()
        async with self._opened("POST", headers, said) as response:
            if said.method == "initialize" and response.status_code == 200:
                self._session = response.headers.get(SESSION, "")
            kind = response.headers.get("content-type", "").lower()
            if response.status_code >= 400:
                raise self._refusal(response)
            if response.next_request is not None:
                shown = response.next_request.url.copy_with(userinfo=b"", query=None, fragment=None)
                raise _NoAnswer(f"it redirects to {shown}, which is not followed; set that address if it is right")
            if kind.startswith("application/json"):
                await self._take(response, said)
                return
            if not kind.startswith("text/event-stream"):
                raise _NoAnswer(f"HTTP {response.status_code} with {kind[:80] or 'no content'} is no answer")
            if await self._follow(response, said, place):
                return
        await self._resume(said, place)

    async def _take(self, response: httpx2.Response, said: JSONRPCRequest) -> None:
        try:
            item = await self._read(await response.aread())
        except httpx2.StreamError:  # the exchange has the reason
            raise _NoAnswer(ENDED, mcp_types.CONNECTION_CLOSED) from None
        if not _answers(item.message, said):
            raise _NoAnswer("it answers another request, or none", mcp_types.PARSE_ERROR)
        await self._hand_over(item)

    async def _follow(self, response: httpx2.Response, said: JSONRPCRequest | None, place: _Place) -> bool:
        """Hand over what a stream of events holds; whether the answer to `said` was among it, which ends it."""
        try:
            async for event in httpx2.EventSource(response, max_event_size=self._server.answer_bytes):
                place.note(event)
                if event.event != "message" or not event.data:
                    continue
                item = await self._read(event.data.encode())
                if _answers(item.message, said):
                    await self._hand_over(item)
                    return True
                if not isinstance(item.message, JSONRPCResponse | JSONRPCError):  # which would be somebody else's
                    await self._hand_over(item)
        except httpx2.SSEError as problem:
            raise _NoAnswer(f"its stream cannot be read: {problem}", mcp_types.PARSE_ERROR) from None
        except httpx2.StreamError:
            pass  # it broke off, and the exchange has the reason
        return False

    async def _resume(self, said: JSONRPCRequest, place: _Place) -> None:
        """Ask for the rest of a stream that ended early, where the server keeps it."""
        failed = 0
        for _ in range(MOST_RESUMED if place.last_event else 0):
            await anyio.sleep(place.retry_seconds)
            before = place.last_event
            async with self._opened("GET", self._fixed() | {LAST_EVENT: before}) as response:
                if response.status_code == 200 and await self._follow(response, said, place):
                    return
            failed = 0 if place.last_event != before else failed + 1
            if failed == MOST_FAILED:
                break
        raise _NoAnswer(ENDED, mcp_types.CONNECTION_CLOSED)

    async def _listen(self) -> None:
        """Follow what the server says without being asked, as the older era has it, for as long as it lets us."""
        EXCHANGE.set(Exchange())
        place, failed = _Place(), 0
        while failed < MOST_FAILED:
            resumed = {LAST_EVENT: place.last_event} if place.last_event else {}
            async with self._opened("GET", self._fixed() | resumed) as response:
                if response.status_code in (404, 405):
                    return
                failed = 0 if response.status_code == 200 else failed + 1
                if response.status_code == 200:
                    with suppress(_NoAnswer):
                        await self._follow(response, None, place)
            await anyio.sleep(max(place.retry_seconds, AGAIN_SECONDS[1]))

    @asynccontextmanager
    async def _opened(
        self, method: str, headers: dict[str, str], said: JSONRPCMessage | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """The response to one request, its body still to be read."""
        body = b"" if said is None else said.model_dump_json(by_alias=True, exclude_unset=True).encode(errors="replace")
        request = self._client.build_request(method, self._server.url, headers=headers, content=body or None)
        response = await self._client.follow(request)
        try:
            yield response
        finally:
            await response.aclose()

    def _refusal(self, response: httpx2.Response) -> _NoAnswer:
        """What a status of 400 and more says: an error of the protocol where it has one. Its body is read already."""
        with suppress(ValueError, RecursionError):
            message = parsed(response.content).message
            if isinstance(message, JSONRPCError):  # also one without an id: refused before that was read
                return _NoAnswer(message.error.message, message.error.code, message.error.data)
        if response.status_code == 404 and self._session:
            return _NoAnswer("the session is over")
        known = {404: mcp_types.METHOD_NOT_FOUND}  # how one says it that knows nothing of the protocol
        return _NoAnswer(f"HTTP {response.status_code}", known.get(response.status_code, mcp_types.INTERNAL_ERROR))

    async def _read(self, data: bytes) -> SessionMessage:
        try:
            return await heard(partial(parsed, data), len(data), self._server.secrets)
        except (ValueError, RecursionError):
            raise _NoAnswer("it is not JSON of the protocol", mcp_types.PARSE_ERROR) from None

    async def _hand_over(self, item: SessionMessage) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._incoming.send(item)


class _NoAnswer(Exception):
    """Why a request will not be answered."""

    def __init__(self, message: str, code: int = mcp_types.INVALID_REQUEST, data: object = None) -> None:
        super().__init__(message)
        self.error = mcp_types.ErrorData(code=code, message=message, data=data)


def _answers(message: JSONRPCMessage, said: JSONRPCRequest | None) -> bool:
    """Whether `message` answers `said`; it has the same id then.

    Some servers make a text of the number, and an error has none where the request could not be read.
    """
    if said is None or not isinstance(message, JSONRPCResponse | JSONRPCError):
        return False
    if message.id is not None and str(message.id) != str(said.id):
        return False
    message.id = said.id
    return True
