"""Starts an MCP server as a child and talks to it over its standard streams.

The child leads a session of its own, so that whatever it started can be ended with it. It ends with the host: by
PR_SET_PDEATHSIG on Linux, and in any case its standard input ends. Its environment is the SDK's short list (PATH, HOME,
…) and what was configured for it. What it writes to stderr is kept, to the last few thousand bytes, and never shown on
a terminal of ours. Not the SDK's transport: that one bounds nothing, and the child outlives a killed host.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from paddock.tools.guard import heard
from paddock.tools.lines import Endless, Lines, message
from paddock.tools.upstream_errors import CallFailed, network

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from paddock.tools.server import Server

STDERR_BYTES = 8192
PIECE_BYTES = 64 * 1024
WRITE_SECONDS = 30.0
"""After which a child that reads nothing of what it is sent is given up."""
GRACE_SECONDS = 1.0
_CHILD = str(Path(__file__).with_name("child.py"))


class Trace:
    """What is known of a child besides its messages: why it is no longer there."""

    def __init__(self) -> None:
        self.problem = ""
        self.exit_code: int | None = None
        self._stderr = bytearray()

    def add(self, piece: bytes) -> None:
        self._stderr += piece
        del self._stderr[:-STDERR_BYTES]

    @property
    def last_words(self) -> str:
        """The end of its stderr, at most ten lines."""
        return "\n".join(self._stderr.decode(errors="replace").strip().splitlines()[-10:])


@asynccontextmanager
async def stdio(server: Server, trace: Trace) -> AsyncIterator[TransportStreams]:
    """The child's messages in both directions, as the SDK takes a transport."""
    process = await _begun(server, trace)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_receive, process, incoming, server, trace)
        group.start_soon(_send, process, outgoing, incoming, trace)
        group.start_soon(_overhear, process, trace)
        try:
            yield read, write
        finally:
            try:
                with anyio.CancelScope(shield=True):  # a child left behind would be nobody's; every wait is bounded
                    await _undisturbed(_end(process, trace))
            finally:
                for stream in (incoming, read, write, outgoing):
                    stream.close()
                group.cancel_scope.cancel()


async def _begun(server: Server, trace: Trace) -> Process:
    """The child. Where that is cancelled it is ended first: asyncio would leave pipes of one half started open."""
    starting = asyncio.ensure_future(_started(server))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), suppress(CallFailed):
            await _undisturbed(_end_started(starting, trace))
        raise


async def _end_started(starting: asyncio.Future[Process], trace: Trace) -> None:
    await _end(await starting, trace)


async def _undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` to its end. Whoever is cancelled meanwhile, once or more often, is so afterwards."""
    task, was_cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            was_cancelled = True
    if was_cancelled:
        raise asyncio.CancelledError
    task.result()


async def _started(server: Server) -> Process:
    environment = get_default_environment() | dict(server.env)
    if server.cwd and not os.path.isdir(server.cwd):  # noqa: PTH112, ASYNC240  a moment's work
        raise network(f"The server '{server.name}' cannot be started: there is no directory {server.cwd}")
    wrapped = [sys.executable, "-I", "-S", _CHILD, str(os.getpid())] if sys.platform == "linux" else []
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
        raise network(f"The server '{server.name}' cannot be started: {problem}") from None


async def _receive(
    process: Process, incoming: MemoryObjectSendStream[SessionMessage | Exception], server: Server, trace: Trace
) -> None:
    stdout, limit = cast(StreamReader, process.stdout), server.answer_bytes
    lines = Lines(limit)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError), incoming:
        while piece := await stdout.read(PIECE_BYTES):
            try:
                for line in lines.feed(piece):
                    said = await heard(partial(message, line, limit), len(line.data), server.secrets)
                    if said is not None:
                        await incoming.send(said)
            except Endless:
                trace.problem = f"it sent a line of more than {limit / 2**20:g} MB that did not end"
                return
            await asyncio.sleep(0)  # a reader that always finds more would let nobody else run


async def _send(
    process: Process,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    trace: Trace,
) -> None:
    stdin = cast(StreamWriter, process.stdin)
    try:
        async for said in outgoing:
            text = said.message.model_dump_json(by_alias=True, exclude_unset=True)
            stdin.write(text.encode(errors="replace") + b"\n")
            async with asyncio.timeout(WRITE_SECONDS):
                await stdin.drain()
    except TimeoutError:
        trace.problem = f"it read nothing for {WRITE_SECONDS:g} seconds"
        incoming.close()  # otherwise whoever waits for an answer would not learn of it
    except (ConnectionError, anyio.ClosedResourceError):
        incoming.close()


async def _overhear(process: Process, trace: Trace) -> None:
    stderr = cast(StreamReader, process.stderr)
    while piece := await stderr.read(PIECE_BYTES):
        trace.add(piece)


async def _end(process: Process, trace: Trace) -> None:
    """First its input ends, then it is asked to, then it and all that it started are killed."""
    cast(StreamWriter, process.stdin).close()
    if await _ends(process):
        trace.exit_code = process.returncode
    else:
        _signal(process, signal.SIGTERM)
        await _ends(process)
    _signal(process, signal.SIGKILL)
    await _ends(process)
    # A descendant that left the session may hold the pipes; without this they would stay open until collected.
    process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001


async def _ends(process: Process) -> bool:
    """Whether it is gone within the time of grace. Not `wait()`, which waits for its pipes as well."""
    deadline = asyncio.get_running_loop().time() + GRACE_SECONDS
    while process.returncode is None and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return process.returncode is not None


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
