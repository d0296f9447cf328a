"""The server over stdin and stdout, where each line is one message."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError

from paddock.errors import HostError
from paddock.server.http import BODY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.abc import ObjectReceiveStream, ObjectSendStream
    from mcp.server.lowlevel import Server

    Messages = ObjectReceiveStream[SessionMessage | Exception]

INTEGER_DIGITS = 18
"""A longer integer is not accepted as the id of a request: it may exceed 64 bits."""
TOO_LONG = "\0\n\0"
"""Stands for a line longer than BODY_BYTES. It is not JSON, and no line of a client has a newline inside."""
PIECE_BYTES = 1 << 20
MAX_UNANSWERED = 1000
"""With so many requests unanswered, no further line is read: each holds a task, and its answer waits for a reader."""
CLOSING_SECONDS = 2.0
"""How long requests in progress are still answered after the client has closed stdin."""
UNUSABLE = "stdin or stdout cannot be used, through which an MCP client that starts this command would talk to it"
log = logging.getLogger(__name__)


async def serve_stdio(server: Server[Any]) -> bool:
    """Serve the client at the other end of stdin and stdout until it closes one of them.

    Returns whether it has closed stdin. If not, a thread waits for the next line, and nothing can wake it.
    """
    if sys.stdout is None:
        raise HostError(f"{UNUSABLE}: it is closed")
    has_ended = False
    problem: Exception | None = None
    try:
        with _claim_stdin() as stdin:
            await _serve(server, stdin)
        has_ended = True
    except* (BrokenPipeError, anyio.BrokenResourceError):  # the client has died, or has closed its end
        log.info("the client closed its end before it was answered")
    except* OSError as several:
        problem = several.exceptions[0]
    if problem is not None:
        raise HostError(f"{UNUSABLE}: {problem}")
    return has_ended


async def _serve(server: Server[Any], stdin: IO[bytes]) -> None:
    lines = cast("anyio.AsyncFile[str]", _lines(stdin))  # the SDK only iterates over it
    async with stdio_server(lines) as (read, write):
        await serve_messages(server, read, write)


async def serve_messages(server: Server[Any], read: Messages, write: ObjectSendStream[SessionMessage]) -> None:
    """Serve one client until `read` ends. Closes both streams."""
    async with write, anyio.create_task_group() as tasks:
        sending, readable = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        answers, answered = anyio.create_memory_object_stream[SessionMessage](0)
        requests = _Requests()
        tasks.start_soon(_pass_on, server, read, sending, write, requests)
        tasks.start_soon(_send, answered, write, requests)
        await server.run(readable, answers, server.create_initialization_options())


class _Requests:
    """The requests that are not answered yet, at most MAX_UNANSWERED of them."""

    def __init__(self) -> None:
        self._free = anyio.Semaphore(MAX_UNANSWERED)
        self._subscriptions: set[str | int | None] = set()  # they are answered only when they end

    async def add(self, message: SessionMessage, request: JSONRPCRequest) -> None:
        """Wait until another request may be passed on."""
        await self._free.acquire()
        if request.method == "subscriptions/listen":
            self._subscriptions.add(request.id)

        async def settle() -> None:
            self.settle(request.id)

        message.metadata = ServerMessageMetadata(on_request_unanswered=settle)

    def settle(self, request_id: str | int | None) -> None:
        """Note that a request was answered, or was cancelled."""
        self._free.release()
        self._subscriptions.discard(request_id)

    async def wait(self) -> None:
        """Wait until all but the subscriptions are answered."""
        for _ in range(MAX_UNANSWERED - len(self._subscriptions)):
            await self._free.acquire()


async def _send(
    answered: ObjectReceiveStream[SessionMessage], write: ObjectSendStream[SessionMessage], requests: _Requests
) -> None:
    """Send the SDK's messages to the client."""
    async with answered:
        async for message in answered:
            await write.send(message)
            if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                requests.settle(message.message.id)


@contextmanager
def _claim_stdin() -> Iterator[IO[bytes]]:
    """Read the client's messages from a private descriptor. Any other reader of stdin gets end of file."""
    private = os.dup(0)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    try:
        # Not closed: a thread may still wait for the next line.
        yield os.fdopen(private, "rb", closefd=False)
    finally:
        os.dup2(private, 0)


async def _lines(stdin: IO[bytes]) -> AsyncIterator[str]:
    """Yield the client's lines, each within BODY_BYTES. The SDK's own reader would keep a line of any length."""
    while line := await anyio.to_thread.run_sync(_read_line, stdin, abandon_on_cancel=True):
        yield line


def _read_line(stdin: IO[bytes]) -> str:
    line = stdin.readline(BODY_BYTES)
    if len(line) < BODY_BYTES or line.endswith(b"\n"):
        return line.decode(errors="replace")
    while (piece := stdin.readline(PIECE_BYTES)) and not piece.endswith(b"\n"):
        pass
    return TOO_LONG


async def _pass_on(
    server: Server[Any],
    read: Messages,
    sending: ObjectSendStream[SessionMessage | Exception],
    write: ObjectSendStream[SessionMessage],
    requests: _Requests,
) -> None:
    """Pass messages on, and answer lines that the SDK cannot read. It drops them, so the client would wait forever."""
    async with sending:
        async for message in read:
            if isinstance(message, Exception):
                error = _error(message)
            elif isinstance(message.message, JSONRPCNotification) and _is_request(server, message.message.method):
                error = _refusal(INVALID_REQUEST, "its id must be a string or an integer")
            else:
                if isinstance(message.message, JSONRPCRequest):
                    await requests.add(message, message.message)
                await sending.send(message)
                continue
            if error is not None:
                log.warning("%s", error.error.message)
                await write.send(SessionMessage(error))
        with anyio.move_on_after(CLOSING_SECONDS):
            await requests.wait()  # once `sending` is closed, the SDK ends what is in progress


def _is_request(server: Server[Any], method: str) -> bool:
    """Whether a message without a usable id is a request. The SDK takes every such message for a notification."""
    return method == "initialize" or server.get_request_handler(method) is not None


def _error(problem: Exception) -> JSONRPCError | None:
    """Return the answer to the line that caused `problem`.

    An empty line, a notification and a response get no answer, so the result is None.
    """
    if not isinstance(problem, ValidationError):
        return _refusal(PARSE_ERROR, str(problem))
    errors = problem.errors()
    first = errors[0]
    # There are errors for each kind of message that the line could be. The one about a missing field has the whole
    # object as its input, and every object lacks a field of at least one kind.
    value = next((error["input"] for error in errors if error["type"] == "missing"), first["input"])
    code, reason = INVALID_REQUEST, first["msg"]
    if first["type"] == "json_invalid":
        if value == TOO_LONG:
            return _refusal(PARSE_ERROR, f"it is larger than {BODY_BYTES >> 20} MB; send less at once")
        if not value.strip():
            return None
        code, value = PARSE_ERROR, _decode(value)
    if isinstance(value, dict) and ("id" not in value if "method" in value else "result" in value or "error" in value):
        log.warning("a message that cannot be read was dropped: %s", reason)
        return None
    if isinstance(value, list):
        reason = "batches are not part of the protocol; send each request on its own line"
    return _refusal(code, reason, _request_id(value))


def _refusal(code: int, reason: str, request_id: str | int | None = None) -> JSONRPCError:
    data = ErrorData(code=code, message=f"The request cannot be read: {reason}")
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=data)


def _decode(line: str) -> Any:
    """Return the value of a line that the SDK refuses, or None. Python's JSON parser accepts more than the SDK's."""
    try:
        return json.loads(line, parse_int=lambda digits: int(digits) if len(digits) <= INTEGER_DIGITS else None)
    except (ValueError, RecursionError):
        return None


def _request_id(value: Any) -> str | int | None:
    found = value.get("id") if isinstance(value, dict) else None
    if isinstance(found, str):
        return found if found.isprintable() else None  # a lone surrogate is not printable, and cannot be sent
    return found if type(found) is int else None
