"""One connection to an MCP server, from its handshake to its end.

A task of its own enters and leaves the SDK's client, because the cancel scopes inside it belong to one task; calls are
made from whatever task wants one. Whoever makes a connection learns from `over` that it is gone, from `failure` why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import mcp
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, Implementation, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from paddock.tools.guard import Guarded
from paddock.tools.http_client import EXCHANGE, Client, Exchange
from paddock.tools.sse import legacy_sse
from paddock.tools.stdio import Trace, stdio
from paddock.tools.streamable import streamable_http
from paddock.tools.upstream_errors import CallFailed, broken, http, json_rpc, network, timed_out

if TYPE_CHECKING:
    from mcp.client import ClientSession
    from mcp.client._transport import TransportStreams

    from paddock.tools.server import Server

CLOSE_SECONDS = 10.0
LOST_SECONDS = 3.0
LISTEN_AGAIN_SECONDS = 5.0
UNKNOWN = "It is not known whether the call had an effect."

# Without a handler Python prints warnings of a library to the terminal, and the SDK's hold what servers wrote.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Connection:
    """A connection that was asked for. `open` waits until it stands."""

    def __init__(self, server: Server, mode: str, changed: Callable[[], None]) -> None:
        self.server = server
        self.over = asyncio.Event()
        self.failure = network(f"The connection to the server '{server.name}' was closed.")
        self.exchange = Exchange()
        self.trace = Trace()
        self._mode = mode
        self._changed = changed
        self._stop = asyncio.Event()
        self._timed_out = False
        self._client: mcp.Client | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._scope = anyio.CancelScope()
        self._task = asyncio.create_task(self._live(), name=f"paddock-upstream-{server.name}")

    async def open(self) -> None:
        """Return once calls can be made; raises CallFailed where that does not come to be."""
        await asyncio.shield(self._ready)

    @property
    def session(self) -> ClientSession:
        return self.client.session

    @property
    def is_alive(self) -> bool:
        """Whether calls can be made."""
        return self._ready.done() and not self._stop.is_set()

    @property
    def client(self) -> mcp.Client:
        if self._client is None:
            raise RuntimeError("the connection does not stand")
        return self._client

    def end(self) -> None:
        """Begin to close it. Calls that wait are told at once."""
        self._stop.set()
        if not self._ready.done():
            self._scope.cancel()

    async def close(self) -> None:
        """End it and wait until nothing of it is left, the child process included."""
        self.end()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def explained(self, exchange: Exchange, problem: MCPError) -> CallFailed:
        """The failure that an error of the SDK stands for: to it, those of the network look like the server's own."""
        if problem.code == CONNECTION_CLOSED and problem.message == "Connection closed" and not exchange.network:
            return (await self.lost()).without(self.server.secrets)
        if exchange.status in (400, 404) and "session" in f"{problem.message} {exchange.said}".lower():
            self.end()
            return network(
                f"The server '{self.server.name}' no longer knows the session; the next call begins another."
            )
        return self._meant(exchange, problem).without(self.server.secrets)

    def _meant(self, exchange: Exchange, problem: MCPError) -> CallFailed:
        name, said = self.server.name, problem.message
        if exchange.network:
            return network(f"The server '{name}' cannot be reached: {exchange.network}")
        if exchange.too_large or "byte limit" in said:
            size = self.server.answer_bytes / 2**20
            return broken(f"The answer of the server '{name}' is larger than {size:g} MB.", "Ask for less at once.")
        if exchange.status >= 400:
            return _refused(name, exchange)
        if exchange.unusable or problem.code == PARSE_ERROR:
            why = exchange.unusable or said
            return broken(f"The answer of the server '{name}' cannot be used: {why}.", "Ask for something else.")
        if problem.code == CONNECTION_CLOSED:
            return network(f"The server '{name}' was lost: {said}.\n{UNKNOWN}")
        return json_rpc(name, problem.code, said)

    async def lost(self) -> CallFailed:
        """That it ended under a call. Why is known a moment later."""
        if not self.is_alive:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), LOST_SECONDS)
        return network(f"{self.failure.summary}\n{UNKNOWN}")

    async def _live(self) -> None:
        EXCHANGE.set(self.exchange)
        timer = asyncio.get_running_loop().call_later(self.server.connect_seconds, self._expire)
        problem: BaseException | None = None
        try:
            with self._scope:
                transport = Guarded(self._transport(), self.server.secrets, self._stop.set)
                info = Implementation(name="paddock-client", version="1")
                async with mcp.Client(
                    transport, mode=self._mode, message_handler=self._notified, client_info=info, cache=None
                ) as self._client:
                    timer.cancel()
                    self._ready.set_result(None)
                    await self._stay(self._client)
        except Exception as caught:  # noqa: BLE001  of a transport, its server or the SDK; becomes the reason
            problem = caught
        finally:
            timer.cancel()
            self._stop.set()
            self.failure = self._failure(problem)
            self.over.set()
            if not self._ready.done():
                self._ready.set_exception(self.failure)
                self._ready.exception()  # marked as seen: perhaps nobody waits any more

    async def _stay(self, client: mcp.Client) -> None:
        """Until someone ends it, or nothing more can come; meanwhile changes of the tools are noticed."""
        async with anyio.create_task_group() as group:
            tools = client.server_capabilities.tools
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools is not None and tools.list_changed:
                group.start_soon(self._listen, client)
            await self._stop.wait()
            group.cancel_scope.cancel()

    async def _listen(self, client: mcp.Client) -> None:
        """The newer era sends changes only to those who listen; the older one to everybody, see `_notified`."""
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._changed()
            except MCPError as refused:
                if refused.code == -32601:
                    return
            except (SubscriptionLost, TimeoutError):
                pass
            await anyio.sleep(LISTEN_AGAIN_SECONDS)
            self._changed()  # what happened while nobody listened is not told again

    async def _notified(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[TransportStreams]:
        server = self.server
        if server.transport == "stdio":
            async with stdio(server, self.trace) as streams:
                yield streams
            return
        async with Client(server) as client:
            if server.transport == "sse":
                async with legacy_sse(server, client, self.trace) as streams:
                    yield streams
            else:
                async with streamable_http(server, client) as streams:
                    yield streams

    def _expire(self) -> None:
        self._timed_out = True
        self._scope.cancel()

    def _failure(self, problem: BaseException | None) -> CallFailed:
        """Why the connection does not, or does no longer, stand. Holds no credential."""
        return self._explained(_innermost(problem)).without(self.server.secrets)

    def _explained(self, problem: BaseException | None) -> CallFailed:
        name, seen = self.server.name, self.exchange
        if isinstance(problem, CallFailed) and not seen.network and seen.status < 400:
            return problem
        words = f"\n{self.trace.last_words}" if self.trace.last_words else ""
        if self._timed_out:
            return timed_out(f"The server '{name}' did not answer within {self.server.connect_seconds:g} s.{words}")
        if seen.network:
            return network(f"The server '{name}' cannot be reached: {seen.network}")
        if seen.status >= 400 and not self._ready.done():
            return _refused(name, seen)
        if self.trace.problem:
            return network(f"The server '{name}' was given up: {self.trace.problem}.{words}")
        if self.trace.exit_code is not None:
            return network(f"The server '{name}' ended{_how(self.trace.exit_code)}.{words}")
        if isinstance(problem, MCPError) and problem.message != "Connection closed":
            return self._meant(seen, problem)
        if problem is not None and not isinstance(problem, MCPError):
            return network(f"The server '{name}' was lost: {type(problem).__name__}: {problem}{words}")
        return network(f"The connection to the server '{name}' was closed.{words}")


def _refused(name: str, seen: Exchange) -> CallFailed:
    return http(name, seen.status, seen.said, seen.retry_after_seconds, wants_oauth=seen.wants_oauth)


def _how(exit_code: int) -> str:
    if exit_code < 0:
        return f" by signal {-exit_code}"
    return f" with exit code {exit_code}" if exit_code else ""


def _innermost(problem: BaseException | None) -> BaseException | None:
    """The first single exception in nested groups of them: task groups wrap whatever leaves them."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem
