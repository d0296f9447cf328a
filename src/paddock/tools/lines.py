"""The messages of a server that writes one to each line, whatever it really writes.

The SDK's own reader keeps a line of any length, and copies it again for each piece that arrives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import mcp_types
from mcp.shared.message import SessionMessage

from paddock.tools import large

END_BYTES = 512
MOST_DROPPED = 32
"""Times the limit: a line that is longer still has no end."""
_ID = rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,64})")'
_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_LAST = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class Endless(Exception):
    """A line went on for longer than anyone may wait for its end."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line. Of one that was too long, only both ends."""

    data: bytes
    is_whole: bool = True


class Lines:
    """Cuts pieces of a stream into lines. Holds at most the limit and one piece."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._head = b""
        self._dropped = 0

    def feed(self, piece: bytes) -> Iterator[Line]:
        """The lines that `piece` ends."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            yield self._taken()
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._kept += part
        if len(self._kept) <= self._limit:
            return
        self._head = self._head or bytes(self._kept[:END_BYTES])
        self._dropped += len(self._kept)
        del self._kept[:-END_BYTES]
        if self._dropped > MOST_DROPPED * self._limit:
            raise Endless

    def _taken(self) -> Line:
        line = Line(self._head + bytes(self._kept), is_whole=not self._dropped)
        self._kept.clear()
        self._head, self._dropped = b"", 0
        return line


def message(line: Line, limit: int) -> SessionMessage | None:
    """What `line` says. An answer that cannot be used fails its call; noise on the wrong stream is dropped."""
    if line.is_whole:
        if not line.data.strip():
            return None
        try:
            return parsed(line.data)
        except (ValueError, RecursionError):
            problem = "it is not JSON of the protocol"
    else:
        problem = f"it is larger than {limit / 2**20:g} MB"
    answered = _answered(line.data)
    if answered is None:
        return None
    error = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=problem)
    return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=answered, error=error))


def parsed(data: bytes) -> SessionMessage:
    """The message that `data` is. Raises ValueError, or RecursionError."""
    read = mcp_types.jsonrpc_message_adapter
    if len(data) > large.LARGE and b"\\ud" not in data and b"\\uD" not in data:
        with suppress(ValueError):
            return SessionMessage(read.validate_python(large.loads(data), by_name=False))
    try:
        return SessionMessage(read.validate_json(data, by_name=False))
    except ValueError:
        return SessionMessage(read.validate_json(_mended(data), by_name=False))


def _mended(data: bytes) -> bytes:
    """The same JSON without half characters: Python reads and writes lone surrogates, and the SDK refuses them."""
    return json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False).encode(errors="replace")


def _answered(data: bytes) -> int | str | None:
    """The request that a broken answer belongs to, where either end of it says so."""
    found = _FIRST.match(data[:END_BYTES]) or _LAST.search(data[-END_BYTES:])
    if found is None or b'"method"' in data[:END_BYTES]:
        return None
    return int(found[1]) if found[1] else found[2].decode(errors="replace")
