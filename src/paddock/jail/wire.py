"""Frames between the host and a guest: kind, id, two lengths, a small JSON header and a raw body.

Both ends import this module, so it imports only the standard library. Nothing that a guest writes is trusted: lengths
are checked before any of the announced content is read, and the host decodes headers into typed values (`frames`).
"""

from __future__ import annotations

import json
import struct
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

PREFIX = struct.Struct("!BIII")
HEADER_BYTES = 64 * 1024
BODY_BYTES = 64 * 1024 * 1024
"""The longest body that is sent. The host has a limit for each kind of frame instead: see `frames`."""
UNSENT_BYTES = 2**32 - 1
"""The length that a guest announces for a result that is too large. The body is not sent."""
ARTIFACT_BYTES = 16 * 1024 * 1024
"""The largest artifact. The content of a frame that announces a larger one is not read."""
DISPLAY_BYTES = 512 * 1024
"""The longest `data` of a DISPLAY: a larger image is scaled inside."""
DISPLAY_CHARACTERS = 10_000
"""The longest text of a DISPLAY."""
DISPLAYS, RUN_DISPLAY_BYTES = 100, 8 * 1024 * 1024
"""How many values one run displays, and the total size of their `data`."""
CHUNK_BYTES = 256 * 1024
"""The size of the frames in which a large file is sent, and the limit for frames with printed output."""


class Kind(IntEnum):
    """What a frame means. Numbers below 16 come from the host, the others from the guest."""

    START = 1  # limits, mode, names: always the first frame
    INPUT = 2  # one variable; the body is its JSON text
    FILE = 3  # part of an attached file; parts with the same path are joined
    CODE = 4  # the script; it runs now, or after GO if START asked for an OUTLINE
    ANSWER = 5  # the answer to the CALL or ARTIFACT with the same id
    GO = 6  # run the script that the OUTLINE described; the body names its tools
    FORK = 7  # between two runs of a session: fork; the descriptors of the new process come with it

    READY = 16  # the guest is walled in and waits for START
    CALL = 17  # call a tool; the body is the arguments' JSON text
    PROGRESS = 18  # how far the script has got
    ARTIFACT = 19  # create or read an artifact
    RESULT = 20  # the script is over; the body is the value's JSON text
    LOG = 21  # a line of a console, without its newline; the header has the level
    PRINTED = 22  # bytes that a script with a console wrote to stdout or stderr, in order with its LOG frames
    STARTED = 23  # the source compiled; the script's first line runs next
    OUTLINE = 24  # facts about the compiled source, if START asked for them; the guest then waits for GO
    REACHED = 25  # the line that the script has reached, shortly before its time is over
    DISPLAY = 28  # a figure, table or other value to show; the body is its text, its data and its file


class WireError(Exception):
    """The bytes that arrived are not a frame."""


class Frame(NamedTuple):
    kind: int
    id: int
    header: bytes
    body: bytes

    def values(self) -> dict[str, Any]:
        """The header as plain values. Only for the guest, which trusts the host."""
        return json.loads(self.header) if self.header else {}


def pack(kind: Kind, frame_id: int = 0, header: dict[str, Any] | None = None, body: bytes = b"") -> bytes:
    """Encode a frame."""
    text = json.dumps(header).encode() if header else b""
    return PREFIX.pack(kind, frame_id, len(text), len(body)) + text + body


def prefix(data: bytes | bytearray | memoryview, max_body_bytes: int = BODY_BYTES) -> tuple[int, int, int, int]:
    """The kind, id, header length and body length at the start of `data`. Raises WireError if it announces too much."""
    kind, frame_id, header_bytes, body_bytes = PREFIX.unpack_from(data)
    if header_bytes > HEADER_BYTES or body_bytes > max_body_bytes:
        raise WireError(f"a frame announces {header_bytes} + {body_bytes} bytes")
    return kind, frame_id, header_bytes, body_bytes


class Readable(Protocol):
    """What frames are read from: a blocking socket."""

    def recv_into(self, buffer: memoryview, /) -> int: ...


def receive(sock: Readable) -> Frame | None:
    """Read the next frame from a blocking socket. None: the other end has closed it."""
    start = _exactly(sock, PREFIX.size)
    if start is None:
        return None
    kind, frame_id, header_bytes, body_bytes = prefix(start)
    header = _exactly(sock, header_bytes)
    body = _exactly(sock, body_bytes)
    if header is None or body is None:
        raise WireError("the connection ended in the middle of a frame")
    return Frame(kind, frame_id, header, body)


def take_frames(received: bytearray, only: Kind | None = None) -> list[Frame]:
    """Remove the complete frames from the start of `received`, and return them. Stops at one that is not `only`."""
    frames = []
    while len(received) >= PREFIX.size:
        kind, frame_id, header_bytes, body_bytes = prefix(received)
        middle = PREFIX.size + header_bytes
        end = middle + body_bytes
        if len(received) < end or only not in (None, kind):
            break
        frames.append(Frame(kind, frame_id, bytes(received[PREFIX.size : middle]), bytes(received[middle:end])))
        del received[:end]
    return frames


def _exactly(sock: Readable, count: int) -> bytes | None:
    """Read `count` bytes. None: the other end closed the socket before the first of them."""
    data = bytearray(count)
    view = memoryview(data)
    got = 0
    while got < count:
        received = sock.recv_into(view[got:])
        if received == 0:
            if got:
                raise WireError("the connection ended in the middle of a frame")
            return None
        got += received
    return bytes(data)
