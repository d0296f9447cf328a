"""An MCP server that offers tools. It is connected when first needed, and again after a connection was lost.

A call that was under way when its connection ended fails and is never repeated: it may have had an effect. A
server can affect only its own calls: each has a timeout, a size limit and a position in a short queue, and everything
that a server writes is treated as data. An upstream belongs to the event loop that it was first used in.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

from paddock.model import envelope
from paddock.model.request import LOCAL
from paddock.model.tools import Tool
from paddock.tools.context import NOTHING, Injected
from paddock.tools.policy import CallSlots, RateLimit
from paddock.tools.sanitize import one_line
from paddock.tools.secrets import looks_random, redact
from paddock.tools.upstream_errors import CallFailed, timed_out, unreachable
from paddock.uncancelled import LongWork

if TYPE_CHECKING:
    from paddock.tools.answers import Result
    from paddock.tools.connection import Connection, Progress
    from paddock.tools.logins import LoginFile
    from paddock.tools.mcp_config import Server, Transport
    from paddock.tools.oauth import Credentials

WAIT_SECONDS = 2.0
"""How long a call waits for the next attempt to connect. If that is further away, the call fails at once."""
RELIST_SECONDS = 1.0
MAX_RELIST_SECONDS = 60.0
RELIST_FACTOR = 20
"""After listing the tools again, wait this many times as long as that took."""
CLOSE_SECONDS = 3.0
FIRST_BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 60.0
LONG_TOKEN = 4096
"""A token with more characters is nobody's word."""
CODE_TOOL = "paddock/code_tool"
"""A tool whose `_meta` has this key runs code. The key becomes a tag, and such tools are never linked: code that runs
code would escape the limits of its run."""

State = Literal["idle", "connecting", "ready", "failed", "closed"]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of one upstream, and what it said about itself. Contains no credential."""

    state: State
    since: float  # seconds since 1970
    error: str = ""
    tools: int = 0
    protocol_version: str = ""
    server_name: str = ""
    server_version: str = ""
    is_paddock: bool = False  # Paddock itself, or another server that runs code: none of its tools is linked
    transport: str = ""
    endpoint: str = ""  # the command or the URL
    warnings: tuple[str, ...] = ()
    needs_login: bool = False  # `paddock tools login` helps


class Backoff:
    """When to connect again: after a delay that doubles with each attempt, with jitter, until a call is answered."""

    def __init__(self) -> None:
        self._attempts = 0
        self._until = 0.0

    def left_seconds(self) -> float:
        """Seconds until the next attempt; zero or less if it may start now."""
        return self._until - time.monotonic()

    def attempted(self) -> None:
        """Record an attempt, whether or not it succeeded: a server may accept connections and end them at once."""
        longest = min(FIRST_BACKOFF_SECONDS * 2.0**self._attempts, MAX_BACKOFF_SECONDS)
        self._until = time.monotonic() + longest * random.uniform(0.5, 1.0)  # noqa: S311
        self._attempts = min(self._attempts + 1, 16)

    def reset(self) -> None:
        """Record that the connection works."""
        self._attempts, self._until = 0, 0.0


class Upstream:
    """The client of one MCP server. `prepare` is applied to each tool that it lists. `login` is for OAuth.

    With the login of a principal it lists no tools: those of the operator are the same, and lists may be large.
    """

    def __init__(
        self, server: Server, *, prepare: Callable[[Tool], Tool] | None = None, login: LoginFile | None = None
    ) -> None:
        self.server = server
        self._login_file = None if server.oauth is None else login
        self._lists_tools = login is None or login.principal == LOCAL
        self._login: Credentials | None = None
        self._opened_as = ""  # the id of the login that the connection was opened with
        self._refused_login: object = None  # the signature of the login when the server last wanted another one
        self._prepare = prepare
        self._health = Health("idle", time.time(), transport=server.transport, endpoint=server.endpoint)
        self._tools: tuple[Tool, ...] | None = None
        self._connection: Connection | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._slots = CallSlots(server.concurrency)
        self._rate = RateLimit(server.calls_per_minute)
        self._backoff = Backoff()
        self.compiling = LongWork()
        """Of the schemas of its tools."""
        self._parsing = LongWork()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._relisting: asyncio.Task[None] | None = None
        self._is_stale = False  # whether a change of the tools was announced since they were last listed
        self._is_listed = asyncio.Event()  # cleared while a change of the tools is announced but not yet listed
        self._is_listed.set()
        self._is_overdue = False  # whether the server did not answer while a run waited for it
        self.failure: CallFailed | None = None
        """Why the last attempt to connect failed; None if it succeeded."""

    @property
    def name(self) -> str:
        return self.server.name

    @property
    def health(self) -> Health:
        connection = self._connection
        if self._health.state == "ready" and connection is not None and not connection.is_alive:
            if not connection.over.is_set():  # the reason is known in a moment
                return replace(self._health, state="failed", error=connection.failure.summary)
            self._note("failed", connection.failure.summary)
        return self._health

    @property
    def secrets(self) -> tuple[str, ...]:
        """The credentials of the server, those of its login included."""
        return self.server.secrets if self._login is None else (*self.server.secrets, *self._login.secrets)

    @property
    def secrets_everywhere(self) -> tuple[str, ...]:
        """Those of them that are also redacted in what does not come from this server.

        An authorization server may call any word a token. The runs of others may contain that word.
        """
        login = () if self._login is None else self._login.secrets
        tokens = (each for each in login if looks_random(each.replace("-", "")) or len(each) > LONG_TOKEN)
        return (*self.server.secrets, *tokens)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way: no call, no attempt to connect."""
        return not self._tasks

    @property
    def is_known(self) -> bool:
        """Whether the server is connected and has listed its tools."""
        return self._tools is not None and self._connection is not None and self._connection.is_alive

    def begin(self) -> None:
        """Start to connect, unless the server is connected, and return at once."""
        if not self.is_known and not self._is_opening:
            self._spawn(self._connected())

    @property
    def _is_opening(self) -> bool:
        return self._opening is not None and not self._opening.done()

    async def tools(self, *, wait_seconds: float | None = None) -> tuple[Tool, ...]:
        """Connect if needed, and return the tools. With `wait_seconds`, return the tools known by then; raise nothing.

        A server that did not answer in that time is not waited for again until it answers, because it would delay
        every run. A server that was connected before and cannot be reached now keeps the tools that it had.
        """
        if self._tools is not None and self.is_known:
            return self._tools
        opening = self._spawn(self._connected())
        is_patient = wait_seconds is None or not self._is_overdue
        done, _ = await asyncio.wait({opening}, timeout=wait_seconds if is_patient else 0)
        self._is_overdue = self._is_overdue or not done
        failure = (self._closing() if opening.cancelled() else opening.exception()) if done else None
        if failure is not None and self._tools is None and wait_seconds is None:
            raise failure
        return self._tools or ()

    async def wait_for_changes(self, wait_seconds: float) -> None:
        """Return once every announced change of the tools is known, or after `wait_seconds`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_listed.wait(), wait_seconds)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        timeout_seconds: float = 60.0,
        progress: Progress | None = None,
        injected: Injected = NOTHING,
        caller: str = LOCAL,
    ) -> Result:
        """Call a tool for `caller`. Raises CallFailed. After a timeout or a cancellation the server is told to stop.

        The server's own setting takes precedence over `timeout_seconds`.
        """
        if (wait_seconds := self._rate.take()) > 0:
            summary = f"The server '{self.name}' may be called {self.server.calls_per_minute} times a minute here."
            raise CallFailed(envelope.rate_limited("", summary, round(wait_seconds, 1)))
        seconds = self.server.timeout_seconds or timeout_seconds
        task: asyncio.Task[Result] = self._spawn(self._call(name, arguments, progress, injected, caller))
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                task.cancel()  # the task notifies the server itself, however long that takes
        if not task.done():
            raise timed_out(f"The server '{self.name}' did not answer within {seconds:g} s.")
        if task.cancelled():
            raise self._closing()
        return task.result()

    async def close(self) -> None:
        """Close the connection, and wait until its tasks and its child process have ended."""
        self._note("closed")
        tasks, connection = set(self._tasks), self._connection
        for task in tasks:
            task.cancel()
        if connection is not None:
            await connection.close()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        if self._login is not None:
            await self._login.close()

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        """Start a task that `close` ends. Its exception need not be retrieved."""

        def forget(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            if not task.cancelled():
                task.exception()  # marks it as retrieved

        task: asyncio.Task[Any] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(forget)
        return task

    async def _connected(self) -> Connection:
        """The open connection. Callers that ask while it is being opened wait for the same one."""
        if self._health.state == "closed":
            raise self._closing()
        if not self._is_opening:  # while it is opening, the connection may be alive but its tools are not listed yet
            if self._connection is not None and self._connection.is_alive and not self._is_of_another_login:
                return self._connection
            if self._health.needs_login and self._login_signature() != self._refused_login:
                self._backoff.reset()  # somebody has logged in
            left = self._backoff.left_seconds()
            if left > WAIT_SECONDS:
                raise (self.failure or unreachable(self.health.error)).with_retry_after(left)
            self._opening = self._spawn(self._open(left))
        return await asyncio.shield(cast("asyncio.Task[Connection]", self._opening))

    @property
    def _is_of_another_login(self) -> bool:
        """Whether the connection, with its session and cookies, is of the time before somebody else has logged in."""
        return self._login is not None and self._login.login_id not in ("", self._opened_as)

    async def _open(self, delay_seconds: float) -> Connection:
        self._note("connecting", self.health.error)
        # The SDK takes a second to load, which would block the event loop.
        await asyncio.to_thread(import_module, "paddock.tools.connection")
        if self._login is None and self._login_file is not None:
            oauth = await asyncio.to_thread(import_module, "paddock.tools.oauth")
            self._login = oauth.Credentials(self.server.url, self._login_file)
        try:
            await asyncio.sleep(delay_seconds)
            if self._connection is not None:
                await self._connection.close()
            self._opened_as = "" if self._login is None else self._login.login_id
            connection = self._connection = await self._open_some_way()
            if self._lists_tools:
                await self._list(connection)
        except CallFailed as failure:
            self._backoff.attempted()
            if self._connection is not None:
                await self._connection.close()
            self.failure = failure
            self._note("failed", failure.summary)
            self._note_login(failure)
            raise
        client = connection.client
        info = client.server_info
        self._backoff.attempted()
        self._is_overdue, self.failure = False, None
        self._note(
            "ready",
            protocol_version=client.protocol_version,
            transport=connection.server.transport,
            server_name=info.name[:128] if info else "",
            server_version=info.version[:64] if info else "",
        )
        return connection

    async def _open_some_way(self) -> Connection:
        """Connect, by an older protocol or transport if the newer one is refused. Raises CallFailed for the newer one.

        The SDK's mode `auto` asks for the newer protocol and accepts the older; `legacy` does not ask.
        """
        connection = first = await self._try(self.server.transport, "auto")
        if not first.is_alive and (transport := self._older_transport(first)) is not None:
            connection = await self._try(transport, "legacy")
        if not connection.is_alive:
            raise first.failure
        return connection

    async def _try(self, transport: Transport, mode: str) -> Connection:
        from paddock.tools.connection import Connection

        server, was_used = replace(self.server, transport=transport), self._tools is not None
        connection = Connection(server, mode, self._tools_changed, self._login, was_used=was_used)
        try:
            await connection.open()
        except CallFailed:
            await connection.close()
        except asyncio.CancelledError:
            await asyncio.shield(connection.close())
            raise
        return connection

    def _older_transport(self, tried: Connection) -> Transport | None:
        """The transport to try the older protocol over, if the server may know only that."""
        status = tried.exchange.status
        # Some older servers exit when the first message is not the handshake they know.
        if self.server.transport == "stdio" and tried.trace.exit_code not in (None, 126, 127):
            return "stdio"
        return "sse" if self.server.or_sse and 400 <= status < 500 and status not in (401, 403, 429) else None

    async def _list(self, connection: Connection) -> None:
        try:
            async with asyncio.timeout(self.server.connect_seconds):
                tools, warnings = await connection.list_tools()
        except TimeoutError:
            raise timed_out(f"The server '{self.name}' did not list its tools in time.") from None
        if (prepare := self._prepare) is not None:
            listed = tools  # up to 5 ms for each of thousands
            tools = await asyncio.to_thread(lambda: tuple(map(prepare, listed)))
        self._tools = tools
        clean = tuple(one_line(redact(warning, self.secrets)) for warning in warnings)
        info = connection.client.server_info
        runs_code = any(CODE_TOOL in tool.tags for tool in tools)
        is_paddock = runs_code or (info is not None and info.name.strip().lower() == "paddock")
        self._health = replace(self._health, tools=len(tools), warnings=clean, is_paddock=is_paddock)

    def _tools_changed(self) -> None:
        """The server announced that its tools changed: list them again, at most once a second."""
        if not self._lists_tools:
            return
        self._is_stale = True
        self._is_listed.clear()
        if self._relisting is None or self._relisting.done():
            self._relisting = self._spawn(self._relist())

    async def _relist(self) -> None:
        try:
            while self._is_stale and self._connection is not None and self._connection.is_alive:
                self._is_stale = False
                await asyncio.sleep(await self._relist_once(self._connection))
        finally:
            self._is_listed.set()

    async def _relist_once(self, connection: Connection) -> float:
        """List the tools again. Returns for how many seconds to ignore further announcements."""
        started = time.monotonic()
        try:
            await self._list(connection)
        except CallFailed:
            self._is_stale = True
            self._is_listed.set()  # nobody waits for another attempt
            return MAX_RELIST_SECONDS
        if not self._is_stale:
            self._is_listed.set()
        # Listing costs the host time, so a server that announces changes all the time is listed less often.
        return min(max(RELIST_SECONDS, RELIST_FACTOR * (time.monotonic() - started)), MAX_RELIST_SECONDS)

    async def _call(
        self, name: str, arguments: Mapping[str, Any], progress: Progress | None, injected: Injected, caller: str
    ) -> Result:
        async with self._slots.take(caller):
            connection = await self._connected()
            try:
                result = await connection.call(name, arguments, injected, progress)
            except CallFailed as failure:  # its answer may quote the arguments, which are not for everybody
                self._note_login(failure, f"The server '{self.name}' wants a login.")
                raise
        self._backoff.reset()
        if self._health.needs_login:
            self._note("ready")
        return replace(result, parsing=self._parsing)

    def _note_login(self, failure: CallFailed, shown: str = "") -> None:
        """Show in the health that somebody must log in, if that is why a call or the connection failed."""
        if failure.needs_login:
            self._refused_login = self._login_signature()
            self._health = replace(self._health, needs_login=True, error=shown or failure.summary)

    def _login_signature(self) -> object:
        return None if self._login_file is None else self._login_file.signature()

    def _closing(self) -> CallFailed:
        return unreachable(f"The server '{self.name}' is no longer used: Paddock is closing.")

    def _note(self, state: State, error: str = "", **facts: Any) -> None:
        if self._health.state != "closed":
            facts = {"needs_login": False, **facts}
            self._health = replace(self._health, state=state, since=time.time(), error=error, **facts)
