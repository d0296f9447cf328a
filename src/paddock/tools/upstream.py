"""An MCP server that offers tools: connected when it is first needed, and again when it was lost.

A call that was under way when its connection ended fails and is never repeated here: it may have had an effect. Nothing
that a server does reaches beyond its own calls: each has a time, a size and a place in a short queue, and everything a
server writes is data. An upstream belongs to the event loop that it was first used in.

A server that is itself Paddock is known by `Health.is_paddock`: it calls itself `paddock`, or lists a tool whose
`_meta` has the key `paddock/code_tool` (which becomes a tag of that name). The catalogue refuses both: code that runs
code would escape the limits of its run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from paddock.model.tools import Tool
from paddock.tools.backoff import Backoff
from paddock.tools.credentials import redact
from paddock.tools.upstream_errors import CallFailed, broken, network, timed_out

if TYPE_CHECKING:
    from paddock.tools.connection import Connection
    from paddock.tools.http_client import Exchange
    from paddock.tools.opening import Opening
    from paddock.tools.server import Server

State = Literal["idle", "connecting", "ready", "failed", "closed"]
Progress = Callable[[float, float | None, str], None]
"""Told how far a call is: done, total where that is known, and a message. Must not block."""
CODE_TOOL = "paddock/code_tool"
"""A tool whose `_meta` has this key runs code. It becomes a tag of ours, by which the catalogue refuses to link it."""
WAIT_SECONDS = 2.0
"""For the next attempt to connect; where it is further away, a call fails at once and says how long to wait."""
RELIST_SECONDS = 1.0
CLOSE_SECONDS = 3.0
MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Health:
    """How an upstream is, to show to people. Holds no credential."""

    state: State
    since: float  # seconds since 1970
    error: str = ""
    tools: int = 0
    protocol_version: str = ""
    server_name: str = ""
    server_version: str = ""
    is_paddock: bool = False
    transport: str = ""
    place: str = ""  # the command, or the address
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered, as it came over the wire: blocks of content, and an object where it has one."""

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    has_structured: bool = False
    is_error: bool = False


class Upstream:
    """One server's only client. `changed` is called whenever its tools may have."""

    def __init__(self, server: Server, *, changed: Callable[[], None] | None = None) -> None:
        self.server = server
        self._changed = changed or (lambda: None)
        self._health = Health("idle", time.time(), transport=server.transport, place=server.place)
        self._tools: tuple[Tool, ...] | None = None
        self._connection: Connection | None = None
        self._ways: Opening | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._slots = asyncio.Semaphore(server.concurrency)
        self._backoff = Backoff()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._relisting: asyncio.Task[None] | None = None
        self._is_stale = False

    @property
    def name(self) -> str:
        return self.server.name

    @property
    def health(self) -> Health:
        connection = self._connection
        if self._health.state == "ready" and connection is not None and not connection.is_alive:
            if not connection.over.is_set():  # why is known in a moment
                return replace(self._health, state="failed", error=connection.failure.summary)
            self._note("failed", connection.failure.summary)
        return self._health

    async def tools(self, *, wait_seconds: float | None = None) -> tuple[Tool, ...]:
        """Its tools, connecting if need be. With `wait_seconds`, what is known by then, and no failure.

        A server that was there before and cannot be reached now still has the tools that it had.
        """
        if self._tools is not None and self._connection is not None and self._connection.is_alive:
            return self._tools
        opening = self._spawn(self._connected())
        done, _ = await asyncio.wait({opening}, timeout=wait_seconds)
        failure = (self._closing() if opening.cancelled() else opening.exception()) if done else None
        if failure is not None and self._tools is None and wait_seconds is None:
            raise failure
        return self._tools or ()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        timeout_seconds: float | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """Call a tool. Raises CallFailed; whoever is cancelled, or waits no longer, has the server told so."""
        from paddock.tools.http_client import Exchange

        _check(name, arguments)
        seconds = self.server.timeout_seconds if timeout_seconds is None else timeout_seconds
        task: asyncio.Task[Result] = self._spawn(self._call(name, dict(arguments), Exchange(), progress))
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                task.cancel()  # it tells the server by itself, for as long as that takes
        if not task.done():
            raise timed_out(f"The server '{self.name}' did not answer within {seconds:g} s.")
        if task.cancelled():
            raise self._closing()
        return task.result()

    async def close(self) -> None:
        """End the connection and wait until nothing of it is left."""
        self._note("closed")
        opening, connection = self._opening, self._connection
        for task in [*self._tasks, *([opening] if opening else []), *([self._relisting] if self._relisting else [])]:
            task.cancel()
        if connection is not None:
            await connection.close()
        pending = {task for task in (opening, self._relisting, *self._tasks) if task is not None}
        if pending:
            await asyncio.wait(pending, timeout=CLOSE_SECONDS)

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        """A task whose failure nobody need ask for."""
        task: asyncio.Task[Any] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_seen)
        return task

    async def _connected(self) -> Connection:
        """The connection that stands, or the one that everybody waits for."""
        if self._health.state == "closed":
            raise self._closing()
        if self._connection is not None and self._connection.is_alive:
            return self._connection
        if self._opening is None or self._opening.done():
            left = self._backoff.left_seconds()
            if left > WAIT_SECONDS:
                raise network(self.health.error, retry_after_seconds=left)
            self._opening = asyncio.create_task(self._open(left))
            self._opening.add_done_callback(_seen)
        return await asyncio.shield(self._opening)

    async def _open(self, delay_seconds: float) -> Connection:
        from paddock.tools.opening import Opening

        self._note("connecting", self.health.error)
        self._ways = self._ways or Opening(self.server)
        try:
            await asyncio.sleep(delay_seconds)
            if self._connection is not None:
                await self._connection.close()
            connection = self._connection = await self._ways.open(self._tools_changed)
            await self._list(connection)
        except CallFailed as failure:
            self._backoff.failed()
            if self._connection is not None:
                await self._connection.close()
            self._note("failed", failure.summary)
            raise
        client = connection.client
        info = client.server_info
        self._backoff.connected()
        self._note(
            "ready",
            protocol_version=client.protocol_version,
            transport=connection.server.transport,
            server_name=info.name[:128] if info else "",
            server_version=info.version[:64] if info else "",
            is_paddock=_is_paddock(info.name if info else "", self._tools or ()),
        )
        self._changed()
        return connection

    async def _list(self, connection: Connection) -> None:
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        from paddock.tools.http_client import EXCHANGE, Exchange
        from paddock.tools.listing import listed

        exchange = Exchange()
        EXCHANGE.set(exchange)
        try:
            async with asyncio.timeout(self.server.connect_seconds):
                if connection.client.server_capabilities.tools is None:
                    tools, warnings = (), ("it offers no tools",)
                else:
                    tools, warnings = await listed(connection.server, connection.session)  # type: ignore[assignment]
        except TimeoutError:
            raise timed_out(f"The server '{self.name}' did not list its tools in time.") from None
        except MCPError as problem:
            raise await connection.explained(exchange, problem) from None
        except ValidationError as problem:
            raise broken(f"The server '{self.name}' lists tools that are none: {_first(problem)}") from None
        except (RuntimeError, ValueError, TypeError):
            raise await connection.lost() from None
        self._tools = tools
        clean = tuple(redact(warning, self.server.secrets) for warning in warnings)
        self._health = replace(self._health, tools=len(tools), warnings=clean)

    def _tools_changed(self) -> None:
        """The server says that its tools are others now: ask for them, at most once a second."""
        self._is_stale = True
        if self._relisting is None or self._relisting.done():
            self._relisting = self._spawn(self._relist())

    async def _relist(self) -> None:
        while self._is_stale and self._connection is not None and self._connection.is_alive:
            self._is_stale = False
            await self._list(self._connection)
            self._changed()
            await asyncio.sleep(RELIST_SECONDS)

    async def _call(
        self, name: str, arguments: dict[str, Any], exchange: Exchange, progress: Progress | None
    ) -> Result:
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        from paddock.tools.http_client import EXCHANGE

        EXCHANGE.set(exchange)
        async with self._slots:
            connection = await self._connected()
            try:
                result = await self._answered(connection, name, arguments, progress)
            except MCPError as problem:
                raise await connection.explained(exchange, problem) from None
            except ValidationError as problem:
                raise broken(f"The server '{self.name}' sent an answer that is none: {_first(problem)}") from None
            except (RuntimeError, ValueError, TypeError) as problem:
                if connection.is_alive:
                    raise broken(f"The call could not be sent to the server '{self.name}': {problem}") from None
                raise await connection.lost() from None
        self._backoff.proved()
        return result

    async def _answered(
        self, connection: Connection, name: str, arguments: dict[str, Any], heard: Progress | None
    ) -> Result:
        """The final result. Not `ClientSession.call_tool`, which checks it with a schema that may take for ever."""
        from mcp_types import CallToolRequest, CallToolRequestParams

        async def told(progress: float, total: float | None, message: str | None) -> None:
            if heard is not None:
                heard(progress, total, message or "")

        params = CallToolRequestParams(name=name, arguments=arguments)
        for _ in range(MOST_ROUNDS):
            raw = await connection.session.send_request(
                CallToolRequest(params=params), _raw(), progress_callback=told if heard else None
            )
            if raw.get("resultType") != "input_required":
                return _result(raw)
            if raw.get("inputRequests"):
                summary = f"The tool wants to ask a person or a model, which the server '{self.name}' cannot do here."
                raise CallFailed("precondition_failed", "INPUT_REQUIRED", summary)
            await asyncio.sleep(0.25)
            params = CallToolRequestParams(name=name, arguments=arguments, request_state=raw.get("requestState"))
        raise broken(f"The server '{self.name}' put the answer off {MOST_ROUNDS} times.")

    def _closing(self) -> CallFailed:
        return network(f"The server '{self.name}' is no longer used: Paddock is closing.")

    def _note(self, state: State, error: str = "", **facts: Any) -> None:
        if self._health.state != "closed":
            self._health = replace(self._health, state=state, since=time.time(), error=error, **facts)


def _seen(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _raw() -> Any:
    global _adapter  # noqa: PLW0603  built once: it costs more than a call
    if _adapter is None:
        from pydantic import TypeAdapter

        _adapter = TypeAdapter(dict[str, Any])
    return _adapter


_adapter: Any = None


def _result(raw: dict[str, Any]) -> Result:
    content = tuple(block for block in raw.get("content") or () if isinstance(block, dict))
    structured = raw.get("structuredContent")
    return Result(content, structured, structured is not None, raw.get("isError") is True)


def _check(name: str, arguments: Mapping[str, Any]) -> None:
    """Refuse what cannot be sent. The SDK finds out while it writes, and that ends the whole connection."""
    try:
        json.dumps([name, arguments], allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        summary = "The arguments hold something that JSON has no form for: half a character, or a number that is none."
        raise CallFailed("mcp_input_validation", "INPUT_VALIDATION_FAILED", summary) from None


def _first(problem: Any) -> str:
    """What a validation complained of first, without the values that it complained of."""
    error = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"


def _is_paddock(server_name: str, tools: tuple[Tool, ...]) -> bool:
    return server_name.strip().lower() == "paddock" or any(CODE_TOOL in tool.tags for tool in tools)
