"""One connection to an MCP server, from its handshake to its end, and the calls over it.

The connection has its own task, which enters and leaves the SDK's client, because a cancel scope must be left by the
task that entered it. Calls may be made from any task. When the connection has ended, `over` is set and `failure` says
why.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    CallToolRequest,
    CallToolRequestParams,
    Implementation,
    JSONRPCMessage,
    JSONRPCResponse,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from paddock.model import envelope
from paddock.tools.context import NOTHING, Injected
from paddock.tools.http_client import EXCHANGE, Client, Exchange
from paddock.tools.message_filter import ANSWER, clean, filter_transport
from paddock.tools.message_parser import parse_messages
from paddock.tools.sanitize import lines
from paddock.tools.sse import legacy_sse
from paddock.tools.stdio import STDERR_CHARACTERS, Trace, stdio
from paddock.tools.tool_list import MAX_WARNINGS, drop_invalid_tools, first_error, list_tools
from paddock.tools.upstream_errors import CallFailed, broken, http_failed, json_rpc_failed, timed_out, unreachable

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp_types import RequestParamsMeta

    from paddock.model.tools import Tool
    from paddock.tools.answers import Result
    from paddock.tools.mcp_config import Server
    from paddock.tools.oauth import Credentials

CLOSE_SECONDS = 10.0
LOST_SECONDS = 3.0
"""How long a failed call waits for the reason why its connection ended."""
LISTEN_AGAIN_SECONDS = 5.0
_LOST = ("Connection closed", "SSE stream ended")
"""How messages of the SDK begin when it has lost the connection."""
UNKNOWN_SESSION = ("Bad Request: No valid session ID provided", "Bad Request: Server not initialized")
"""What servers after the example of the TypeScript SDK say instead of 404. Anything else may quote a script."""
EFFECT_UNKNOWN = "It is not known whether the call had an effect."
PROGRESS_CHARACTERS = 1000
MAX_PROGRESS_EVENTS = 10_000
"""Limit for the progress notifications of one call. Further notifications are dropped."""
MAX_ROUNDS = 100
"""How often a server may ask to repeat a call later, instead of answering it."""
ROUND_SECONDS = 0.25
NOT_JSON = "The arguments contain something that JSON cannot represent: a lone surrogate, NaN or infinity."
Progress = Callable[[float, float | None, str], None]
"""Called with the amount done, the total if known, and a message. Must not block."""
_raw_result = TypeAdapter(dict[str, Any])
_log = logging.getLogger(__name__)


def _is_not_ours(record: logging.LogRecord) -> bool:
    return EXCHANGE.get() is None


def silence_libraries() -> None:
    """Drop what the SDK and the HTTP client log about our connections: addresses with credentials, servers' texts.

    Other users of these libraries in this process keep their logs.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("mcp", "client", "httpx2", "httpcore2"):
            logging.getLogger(name).addFilter(_is_not_ours)


class Connection:
    """A connection, which begins to open when it is created. `open` waits until calls can be made."""

    def __init__(
        self,
        server: Server,
        mode: str,
        changed: Callable[[], None],
        login: Credentials | None = None,
        *,
        was_used: bool = False,
    ) -> None:
        """`was_used`: an earlier connection to the server has served calls."""
        self.server = server
        self._login = login
        self.over = asyncio.Event()
        self.failure = unreachable(f"The connection to the server '{server.name}' was closed.")
        self._is_ending, self._was_used = False, was_used
        self.exchange = Exchange()
        self.trace = Trace()
        self._mode = mode
        self._changed = changed
        self._stop = asyncio.Event()
        self._timed_out = False
        self._warnings: list[str] = []  # about the tools that were listed last
        self._client: mcp.Client | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._scope = anyio.CancelScope()
        self._task = asyncio.create_task(self._run(), name=f"paddock-upstream-{server.name}")

    async def open(self) -> None:
        """Return once calls can be made. Raises CallFailed."""
        await asyncio.shield(self._ready)

    @property
    def is_alive(self) -> bool:
        """Whether calls can be made."""
        return self._ready.done() and not self._stop.is_set()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The credentials of the server, those of its login included."""
        return self.server.secrets if self._login is None else (*self.server.secrets, *self._login.secrets)

    @property
    def client(self) -> mcp.Client:
        if self._client is None:
            raise RuntimeError("the connection is not open")
        return self._client

    def end(self) -> None:
        """Begin to close. Pending calls fail at once."""
        self._is_ending = True
        self._stop.set()
        if not self._ready.done():
            self._scope.cancel()

    async def close(self) -> None:
        """Close the connection, and wait until its child process, if any, has ended too."""
        self.end()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        injected: Injected = NOTHING,
        progress: Progress | None = None,
    ) -> Result:
        """Call a tool with the script's arguments and the values that the host adds. Raises CallFailed."""
        try:
            sent = [tool, arguments, injected.arguments, injected.meta]
            json.dumps(sent, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError):  # the SDK would fail while writing them and end the connection
            raise CallFailed(envelope.invalid_arguments("", NOT_JSON)) from None
        meta = cast("RequestParamsMeta", dict(injected.meta)) or None
        params = CallToolRequestParams(name=tool, arguments={**arguments, **injected.arguments}, _meta=meta)
        async with self._failures(Exchange(headers=injected.headers), "sent an invalid answer"):
            return await self._call(params, progress)

    async def list_tools(self) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
        """The usable tools of the server, and warnings about the others. Raises CallFailed."""
        if self.client.server_capabilities.tools is None:
            return (), ("it offers no tools",)
        self._warnings.clear()
        async with self._failures(Exchange(), "sent an invalid list of tools"):
            return await list_tools(self.server, self.client.session, self._warnings)

    @asynccontextmanager
    async def _failures(self, exchange: Exchange, invalid: str) -> AsyncIterator[None]:
        """Turn every error of a request into CallFailed. `invalid` says what the server did if validation failed."""
        EXCHANGE.set(exchange)
        name = self.server.name
        try:
            yield
        except MCPError as problem:
            raise await self._explain_error(exchange, problem) from None
        except ValidationError as problem:
            place, message = first_error(problem)
            raise broken(f"The server '{name}' {invalid}: {'.'.join(place)}: {message}") from None
        except (RuntimeError, ValueError, TypeError) as problem:
            if self.is_alive:
                raise broken(f"The call could not be sent to the server '{name}': {problem}") from None
            raise await self._lost() from None

    async def _call(self, params: CallToolRequestParams, on_progress: Progress | None) -> Result:
        """The final result. `ClientSession.call_tool` is not used: it validates the result, which may take forever."""
        from paddock.tools.answers import Result

        numbers = count()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            is_finite = math.isfinite(progress) and (total is None or math.isfinite(total))
            if on_progress is not None and is_finite and next(numbers) < MAX_PROGRESS_EVENTS:
                on_progress(progress, total, (message or "")[:PROGRESS_CHARACTERS])

        for _ in range(MAX_ROUNDS):
            raw = await self.client.session.send_request(
                CallToolRequest(params=params),
                cast("Any", _raw_result),
                progress_callback=report if on_progress else None,
            )
            if raw.get("resultType") != "input_required":
                return Result.parse(raw.get(ANSWER, {}), self.secrets)
            if raw.get("inputRequests"):
                summary = f"A tool of the server '{self.server.name}' asks for input, but nobody can answer here."
                raise CallFailed(envelope.input_required("", summary))
            await asyncio.sleep(ROUND_SECONDS)
            params = params.model_copy(update={"request_state": raw.get("requestState")})
        raise broken(f"The server '{self.server.name}' postponed its answer {MAX_ROUNDS} times.")

    async def _explain_error(self, exchange: Exchange, problem: MCPError) -> CallFailed:
        """The failure behind an error of the SDK, which reports network failures like the server's own errors."""
        is_closed = problem.code == CONNECTION_CLOSED and problem.message == "Connection closed"
        if is_closed and not exchange.network_error:
            return (await self._lost()).without(self.secrets)
        is_unknown = exchange.status == 404 or (exchange.status == 400 and exchange.body in UNKNOWN_SESSION)
        if exchange.has_session and is_unknown:
            self.end()
            return unreachable(
                f"The server '{self.server.name}' no longer knows the session; the next call starts a new one."
            )
        return self._explain(exchange, problem).without(self.secrets)

    def _explain(self, exchange: Exchange, problem: MCPError) -> CallFailed:
        name, message = self.server.name, problem.message
        if exchange.network_error:
            return unreachable(f"The server '{name}' cannot be reached: {exchange.network_error}")
        if exchange.too_large or "byte limit" in message:
            size = self.server.answer_bytes / 2**20
            return broken(f"The answer of the server '{name}' is larger than {size:g} MB.", "Ask for less at once.")
        if exchange.status >= 400:
            return http_failed(name, exchange, self._login_command)
        if exchange.unusable or problem.code == PARSE_ERROR:
            # The SDK's message would quote the answer.
            why = exchange.unusable or (message if message.startswith("it is ") else "it is not a JSON-RPC message")
            return broken(f"The answer of the server '{name}' cannot be used: {why}.", "Ask for something else.")
        # Servers use this code for errors of their own, too.
        if problem.code == CONNECTION_CLOSED and problem.message.startswith(_LOST):
            return unreachable(f"The server '{name}' was lost: {message}.\n{EFFECT_UNKNOWN}")
        return json_rpc_failed(name, problem.code, message)

    async def _lost(self) -> CallFailed:
        """The failure of a call during which the connection ended. The reason is known a moment later."""
        if not self.is_alive:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), LOST_SECONDS)
        return unreachable(f"{self.failure.summary}\n{EFFECT_UNKNOWN}")

    async def _run(self) -> None:
        EXCHANGE.set(self.exchange)
        timer = asyncio.get_running_loop().call_later(self.server.connect_seconds, self._expire)
        problem: BaseException | None = None
        try:
            with self._scope:
                transport = filter_transport(self._transport(), self._clean, self._stop.set)
                info = Implementation(name="paddock-client", version="1")
                async with mcp.Client(
                    transport, mode=self._mode, message_handler=self._notified, client_info=info, cache=None
                ) as self._client:
                    timer.cancel()
                    self._ready.set_result(None)
                    await self._stay(self._client)
        except Exception as caught:  # noqa: BLE001  whatever a transport or the SDK raises becomes the reason
            problem = caught
        finally:
            timer.cancel()
            self._stop.set()
            self.failure = self._reason(_innermost(problem)).without(self.secrets)
            self.over.set()
            if not self._ready.done():
                self._ready.set_exception(self.failure)
                self._ready.exception()  # marks it as retrieved, in case nobody waits for it

    async def _stay(self, client: mcp.Client) -> None:
        """Wait until the connection should end. Until then, watch for changes of the tool list."""
        async with anyio.create_task_group() as group:
            tools = client.server_capabilities.tools
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools is not None and tools.list_changed:
                group.start_soon(self._listen, client)
            await self._stop.wait()
            group.cancel_scope.cancel()

    async def _listen(self, client: mcp.Client) -> None:
        """Subscribe to changes of the tool list. Only newer protocol versions need a subscription."""
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
            self._changed()  # changes in the meantime are not announced again

    def _clean(self, message: JSONRPCMessage) -> None:
        """Prepare a message for the SDK: without credentials, and without tools for which it would refuse a list."""
        clean(message, self.secrets)
        if self._client is not None and isinstance(message, JSONRPCResponse):
            self._warnings += drop_invalid_tools(message.result, self._client.protocol_version)
            del self._warnings[MAX_WARNINGS:]

    async def _notified(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[TransportStreams]:
        server = self.server
        silence_libraries()
        if server.transport == "stdio":
            async with stdio(server, self.trace) as streams:
                yield streams
            return
        async with Client(server, self.exchange, self._login) as client:
            silence_libraries()  # again: the client has imported more libraries by now
            if server.transport == "sse":
                async with legacy_sse(server, client, self.trace) as streams:
                    yield streams
            else:
                parse_messages()
                async with streamable_http_client(
                    server.url, http_client=client, max_sse_event_size=server.answer_bytes
                ) as streams:
                    yield streams

    @property
    def _login_command(self) -> str:
        return "" if self._login is None else self._login.file.command

    def _expire(self) -> None:
        self._timed_out = True
        self._scope.cancel()

    def _reason(self, problem: BaseException | None) -> CallFailed:
        """Why the connection could not be opened, or ended."""
        name, exchange = self.server.name, self.exchange
        if isinstance(problem, CallFailed) and not exchange.network_error and exchange.status < 400:
            return problem
        stderr = f"\n{tail}" if (tail := self.trace.stderr_tail(self.secrets)) else ""
        if self._ready.done() or self._was_used:  # then it may be about calls of others, so only the log gets it
            if stderr and not self._is_ending:
                shown = "\n".join(lines(tail, STDERR_CHARACTERS))
                _log.warning("the MCP server %r has ended; the end of its stderr:\n%s", name, shown)
            stderr = ""
        if self._timed_out:
            return timed_out(f"The server '{name}' did not answer within {self.server.connect_seconds:g} s.{stderr}")
        if exchange.network_error:
            return unreachable(f"The server '{name}' cannot be reached: {exchange.network_error}")
        if exchange.status >= 400 and not self._ready.done():
            return http_failed(name, exchange, self._login_command)
        if self.trace.problem:
            return unreachable(f"The connection to the server '{name}' was ended: {self.trace.problem}.{stderr}")
        if self.trace.exit_code is not None:
            return unreachable(f"The server '{name}' ended{_exit_text(self.trace.exit_code)}.{stderr}")
        if isinstance(problem, MCPError) and problem.message != "Connection closed":
            return self._explain(exchange, problem)
        if problem is not None and not isinstance(problem, MCPError):
            return unreachable(f"The server '{name}' was lost: {type(problem).__name__}: {problem}{stderr}")
        return unreachable(f"The connection to the server '{name}' was closed.{stderr}")


def _exit_text(exit_code: int) -> str:
    if exit_code < 0:
        return f" by signal {-exit_code}"
    return f" with exit code {exit_code}" if exit_code else ""


def _innermost(problem: BaseException | None) -> BaseException | None:
    """The first exception that is not a group: task groups wrap every exception that leaves them."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem
