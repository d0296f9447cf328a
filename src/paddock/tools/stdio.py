"""Starts an MCP server as a child process and talks to it over its standard streams.

The child leads its own session, so that everything it started can be ended with it. It ends with the host: by
PR_SET_PDEATHSIG on Linux, and everywhere because its standard input ends. Its environment is the SDK's short list
(PATH, HOME, …) and the configured variables. The end of its stderr is kept for error messages.

The SDK's transport is not used: its reader keeps a line of any length and copies it again for each piece that arrives,
and its child outlives a killed host.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from paddock.descriptors import original_limit
from paddock.tools.message_filter import Throttle, parse_message, rest_after, timed_by_size
from paddock.tools.secrets import redact
from paddock.tools.size import MAX_CONTAINERS, TOO_MANY, containers
from paddock.tools.upstream_errors import CallFailed, unreachable
from paddock.uncancelled import uncancelled

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from paddock.tools.mcp_config import Server

STDERR_BYTES, STDERR_CHARACTERS = 64 * 1024, 3000
"""How much of a server's stderr is kept, and how much of its end is shown."""
PIECE_BYTES = 64 * 1024
MAX_LINES_PER_SECOND = 20_000
"""Even an empty line takes 4 µs of the event loop."""
WRITE_SECONDS = 30.0
"""A child that reads nothing for this long is ended."""
GRACE_SECONDS = 1.0
"""How long a child may take to end before the next, harder step."""
END_BYTES = 512
"""How much is kept of the beginning and of the end of a line that is too long."""
MAX_DROPPED = 32
"""A line that is longer than this many times the size limit counts as endless."""
_CHILD = str(Path(__file__).with_name("stdio_child.py"))
_ID = rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,64})")'
_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_LAST = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class Trace:
    """Why a server ended: its exit code, the end of its stderr, or the reason why Paddock ended it."""

    def __init__(self) -> None:
        self.problem = ""
        self.exit_code: int | None = None
        self._stderr = bytearray()

    def add(self, piece: bytes) -> None:
        self._stderr += piece
        del self._stderr[:-STDERR_BYTES]

    def stderr_tail(self, secrets: Collection[str]) -> str:
        """The last lines of the server's stderr, at most ten. Redacted before it is cut: a part would not be found."""
        text = redact(self._stderr.decode(errors="replace"), secrets)
        return "\n".join(text.strip().splitlines()[-10:])[-STDERR_CHARACTERS:]


class EndlessLine(Exception):
    """A line is so long that the rest of it is not read."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line. If it was too long, only its beginning and its end are kept."""

    data: bytes
    is_whole: bool = True


class Lines:
    """Splits a stream into lines. Buffers at most `limit` bytes and one piece."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._head = b""
        self._dropped = 0

    def feed(self, piece: bytes) -> Iterator[Line]:
        """Yield the lines that `piece` completes."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            yield Line(self._head + bytes(self._kept), is_whole=not self._dropped)
            self._kept.clear()
            self._head, self._dropped = b"", 0
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._kept += part
        if len(self._kept) <= self._limit:
            return
        self._head = self._head or bytes(self._kept[:END_BYTES])
        self._dropped += len(self._kept)
        del self._kept[:-END_BYTES]
        if self._dropped > MAX_DROPPED * self._limit:
            raise EndlessLine


def line_message(line: Line, limit: int) -> SessionMessage | None:
    """The message in `line`. An answer that cannot be parsed fails its call; other noise is dropped."""
    if containers(line.data) > MAX_CONTAINERS:
        problem = TOO_MANY
    elif line.is_whole:
        if not line.data.strip():
            return None
        try:
            return parse_message(line.data)
        except (ValueError, RecursionError):
            problem = "it is not a JSON-RPC message"
    else:
        problem = f"it is larger than {limit / 2**20:g} MB"
    number = _request_id(line.data)
    if number is None:
        return None
    error = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=problem)
    return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=number, error=error))


def _request_id(data: bytes) -> int | str | None:
    """The id of the request that a broken answer belongs to, if the beginning or the end of the answer has it."""
    found = _FIRST.match(data[:END_BYTES]) or _LAST.search(data[-END_BYTES:])
    if found is None or b'"method"' in data[:END_BYTES]:
        return None
    return int(found[1]) if found[1] else found[2].decode(errors="replace")


@asynccontextmanager
async def stdio(server: Server, trace: Trace) -> AsyncIterator[TransportStreams]:
    """Both directions of one connection, in the form of the SDK's transports."""
    process = await _start(server, trace)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_receive, process, incoming, server, trace)
        group.start_soon(_send, process, outgoing, incoming, trace)
        group.start_soon(_read_stderr, process, trace)
        try:
            yield read, write
        finally:
            try:
                with anyio.CancelScope(shield=True):  # no child may be left behind; every wait in here is bounded
                    await uncancelled(_end(process, trace))
            finally:
                for stream in (incoming, read, write, outgoing):
                    stream.close()
                group.cancel_scope.cancel()


async def _start(server: Server, trace: Trace) -> Process:
    """Start the child. If that is cancelled, end it: asyncio would leave the pipes of a half-started child open."""
    starting = asyncio.ensure_future(_spawn(server))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), suppress(CallFailed):
            await uncancelled(_end_started(starting, trace))
        raise


async def _end_started(starting: asyncio.Future[Process], trace: Trace) -> None:
    await _end(await starting, trace)


async def _spawn(server: Server) -> Process:
    environment = get_default_environment() | dict(server.env)
    if server.cwd and not os.path.isdir(server.cwd):  # noqa: PTH112, ASYNC240  takes microseconds
        raise unreachable(f"The server '{server.name}' cannot be started: there is no directory {server.cwd}")
    wrapped = []
    if sys.platform == "linux":
        wrapped = [sys.executable, "-I", "-S", _CHILD, str(os.getpid()), str(original_limit())]
    try:
        return await asyncio.create_subprocess_exec(
            *wrapped,
            server.command,
            *server.args,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            cwd=server.cwd or None,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise unreachable(f"The server '{server.name}' cannot be started: {problem}") from None


async def _receive(
    process: Process, incoming: MemoryObjectSendStream[SessionMessage | Exception], server: Server, trace: Trace
) -> None:
    stdout, limit = cast(StreamReader, process.stdout), server.answer_bytes
    lines, throttle = Lines(limit), Throttle(MAX_LINES_PER_SECOND)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError), incoming:
        while piece := await stdout.read(PIECE_BYTES):
            try:
                for line in lines.feed(piece):
                    await throttle.take(1)
                    message, seconds = await timed_by_size(line.data, line_message, line, limit)
                    if message is not None:
                        await incoming.send(message)
                    await rest_after(seconds)
            except EndlessLine:
                trace.problem = f"it sent a line of more than {limit / 2**20:g} MB that did not end"
                return
            await asyncio.sleep(0)  # lets other tasks run, even if there is always more to read


async def _send(
    process: Process,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    trace: Trace,
) -> None:
    stdin = cast(StreamWriter, process.stdin)
    try:
        async for item in outgoing:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            stdin.write(text.encode(errors="replace") + b"\n")
            async with asyncio.timeout(WRITE_SECONDS):
                await stdin.drain()
    except TimeoutError:
        trace.problem = f"it read nothing for {WRITE_SECONDS:g} seconds"
        incoming.close()  # ends every pending call
    except (ConnectionError, anyio.ClosedResourceError):
        incoming.close()


async def _read_stderr(process: Process, trace: Trace) -> None:
    stderr = cast(StreamReader, process.stderr)
    while piece := await stderr.read(PIECE_BYTES):
        trace.add(piece)


async def _end(process: Process, trace: Trace) -> None:
    """Close the child's input, then ask it to end, then kill it and everything that it started."""
    cast(StreamWriter, process.stdin).close()
    if await _has_ended(process):
        trace.exit_code = process.returncode
    else:
        _signal(process, signal.SIGTERM)
        await _has_ended(process)
    _signal(process, signal.SIGKILL)
    await _has_ended(process)
    # A descendant that left the session may hold the pipes; without this they would stay open until collected.
    process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001


async def _has_ended(process: Process) -> bool:
    """Whether the process ends within the grace period. `Process.wait` is not used: it also waits for the pipes."""
    deadline = asyncio.get_running_loop().time() + GRACE_SECONDS
    while process.returncode is None and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return process.returncode is not None


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
