"""An MCP server that offers tools: connected when it is first needed, and again when it was lost.

A call that was under way when its connection ended fails and is never repeated here: it may have had an effect. Nothing
that a server does reaches beyond its own calls: each has a time, a size and a place in a short queue, and everything a
server writes is data. An upstream belongs to the event loop that it was first used in.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from paddock.model.tools import Tool
from paddock.tools.backoff import Backoff
from paddock.tools.call import Call, Progress, Result, complaint
from paddock.tools.credentials import redact
from paddock.tools.health import Health, State, is_paddock
from paddock.tools.injection import NOTHING, Injected
from paddock.tools.rate import Rate
from paddock.tools.upstream_errors import CallFailed, broken, called_too_often, network, timed_out

if TYPE_CHECKING:
    from paddock.tools.connection import Connection
    from paddock.tools.opening import Opening
    from paddock.tools.server import Server

WAIT_SECONDS = 2.0
"""For the next attempt to connect; where it is further away, a call fails at once and says how long to wait."""
RELIST_SECONDS = 1.0
RELIST_MOST_SECONDS = 60.0
RELIST_SHARE = 20
CLOSE_SECONDS = 3.0


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
        self._rate = Rate(server.calls_per_minute)
        self._backoff = Backoff()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._relisting: asyncio.Task[None] | None = None
        self._is_stale = False
        self._is_listed = (
            asyncio.Event()
        )  # not set from when the server says that its tools changed until they are known
        self._is_listed.set()
        self._is_overdue = False
        self.failure: CallFailed | None = None
        """Why it could not be connected, as long as it is not."""

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

    @property
    def is_known(self) -> bool:
        """Whether it is connected and has said what it has."""
        return self._tools is not None and self._connection is not None and self._connection.is_alive

    def begin(self) -> None:
        """Connect it, if it is not, and wait for nothing."""
        if not self.is_known and not self._is_opening:
            self._spawn(self._connected())

    @property
    def _is_opening(self) -> bool:
        return self._opening is not None and not self._opening.done()

    async def tools(self, *, wait_seconds: float | None = None) -> tuple[Tool, ...]:
        """Its tools, connecting if need be. With `wait_seconds`, what is known by then, and no failure.

        One that was waited for in vain is not waited for again until it answers: it would hold up every run. A server
        that was there before and cannot be reached now still has the tools that it had.
        """
        if self._tools is not None and self.is_known:
            return self._tools
        if self._is_overdue and wait_seconds is not None and self._is_opening:
            return self._tools or ()
        opening = self._spawn(self._connected())
        is_patient = wait_seconds is None or not self._is_overdue
        done, _ = await asyncio.wait({opening}, timeout=wait_seconds if is_patient else 0)
        self._is_overdue = self._is_overdue or not done
        failure = (self._closing() if opening.cancelled() else opening.exception()) if done else None
        if failure is not None and self._tools is None and wait_seconds is None:
            raise failure
        return self._tools or ()

    async def followed(self, *, wait_seconds: float) -> None:
        """Return once every change of its tools that it has told of is known, or so many seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_seconds):
                await self._is_listed.wait()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        timeout_seconds: float | None = None,
        progress: Progress | None = None,
        injected: Injected | None = None,
    ) -> Result:
        """Call a tool. Raises CallFailed; whoever is cancelled, or waits no longer, has the server told so."""
        if (wait_seconds := self._rate.take()) > 0:
            raise called_too_often(self.name, self.server.calls_per_minute, wait_seconds)
        seconds = self.server.timeout_seconds if timeout_seconds is None else timeout_seconds
        task: asyncio.Task[Result] = self._spawn(self._call(Call(name, arguments, progress, injected or NOTHING)))
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
                raise (self.failure or network(self.health.error)).later(left)
            self._opening = asyncio.create_task(self._open(left))
            self._opening.add_done_callback(_seen)
        return await asyncio.shield(self._opening)

    async def _open(self, delay_seconds: float) -> Connection:
        self._note("connecting", self.health.error)
        # The SDK takes a second to load, which the event loop does not have.
        await asyncio.to_thread(import_module, "paddock.tools.opening")
        from paddock.tools.opening import Opening

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
            self.failure = failure
            self._note("failed", failure.summary)
            raise
        client = connection.client
        info = client.server_info
        self._backoff.connected()
        self._is_overdue, self.failure = False, None
        self._note(
            "ready",
            protocol_version=client.protocol_version,
            transport=connection.server.transport,
            server_name=info.name[:128] if info else "",
            server_version=info.version[:64] if info else "",
            is_paddock=is_paddock(info.name if info else "", self._tools or ()),
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
            raise broken(f"The server '{self.name}' lists tools that are none: {complaint(problem)}") from None
        except (RuntimeError, ValueError, TypeError):
            raise await connection.lost() from None
        self._tools = tools
        clean = tuple(redact(warning, self.server.secrets) for warning in warnings)
        self._health = replace(self._health, tools=len(tools), warnings=clean)

    def _tools_changed(self) -> None:
        """The server says that its tools are others now: ask for them, at most once a second."""
        self._is_stale = True
        self._is_listed.clear()
        if self._relisting is None or self._relisting.done():
            self._relisting = self._spawn(self._relist())

    async def _relist(self) -> None:
        try:
            while self._is_stale and self._connection is not None and self._connection.is_alive:
                self._is_stale = False
                await asyncio.sleep(await self._relisted(self._connection))
        finally:
            self._is_listed.set()

    async def _relisted(self, connection: Connection) -> float:
        """List the tools again; how many seconds to leave it at that, whatever the server says meanwhile."""
        started = time.monotonic()
        try:
            await self._list(connection)
        except CallFailed:
            self._is_stale = True
            self._is_listed.set()  # nobody waits for another attempt
            return RELIST_MOST_SECONDS
        self._changed()
        if not self._is_stale:
            self._is_listed.set()
        # To read a list takes time of the host's own, of which a server that changes it all the time gets a share.
        return min(max(RELIST_SECONDS, RELIST_SHARE * (time.monotonic() - started)), RELIST_MOST_SECONDS)

    async def _call(self, call: Call) -> Result:
        from paddock.tools.http_client import Exchange

        async with self._slots:
            result = await call.over(await self._connected(), Exchange())
        self._backoff.proved()
        return result

    def _closing(self) -> CallFailed:
        return network(f"The server '{self.name}' is no longer used: Paddock is closing.")

    def _note(self, state: State, error: str = "", **facts: Any) -> None:
        if self._health.state != "closed":
            self._health = replace(self._health, state=state, since=time.time(), error=error, **facts)


def _seen(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()
