"""What a guest says, as typed values. The guest is hostile: anything that is no frame, or too large, ends the talk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from paddock.jail.wire import ARTIFACT_BYTES, CHUNK_BYTES, PREFIX, Kind, WireError, prefix
from paddock.model.events import Level, Stream
from paddock.model.outline import Outline

CALL_BYTES = 8 * 1024 * 1024
LOG_BYTES = 16 * 1024 * 1024
"""Of one line. A guest cuts a longer one: it is more than any run may print."""
ERROR_BYTES = 2 * 1024 * 1024
"""Of a message and a traceback, as JSON."""
OUTLINE_BYTES = 8 * 1024 * 1024
TOOL_NAME_CHARACTERS = 600
PROGRESS_CHARACTERS = 1000
Place = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
"""Of a line or column; a number of thousands of digits could not be shown again."""


class Called(msgspec.Struct, forbid_unknown_fields=True):
    """It calls a tool."""

    tool: str
    id: int = 0
    arguments_json: str = ""


class Progressed(msgspec.Struct, forbid_unknown_fields=True):
    """It says how far it is."""

    done: float
    total: float | None = None
    message: str = ""


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """It makes an artifact, or reads one."""

    do: Literal["create", "read"]
    filename: str = ""
    mime_type: str = ""
    ref: str = ""
    id: int = 0
    content: bytes = b""


class Logged(msgspec.Struct, forbid_unknown_fields=True):
    """It says something on its console."""

    level: Level
    text: str = ""


class Printed(msgspec.Struct, forbid_unknown_fields=True):
    """It has written this; a character may go on in the next."""

    stream: Stream
    data: bytes = b""


class Ended(msgspec.Struct, forbid_unknown_fields=True):
    """It says how the script ended. Whether to believe it is the host's to decide."""

    status: str
    type: str = ""
    message: str = ""
    line: Place | None = None
    column: Place | None = None
    traceback: str = ""
    exit_code: Annotated[int, msgspec.Meta(ge=0, le=255)] | None = None
    output_json: str | None = None


class StartedFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The source compiled, and the script's first line is next."""


class OutlineFrame(msgspec.Struct, forbid_unknown_fields=True):
    """Facts about the compiled source. The guest waits for GO."""

    outline: Outline


class Texts(msgspec.Struct, forbid_unknown_fields=True):
    """What was too long for a header."""

    message: str = ""
    traceback: str = ""


class TooLarge(msgspec.Struct):
    """It announced a result that is larger than it may be; nothing of it was read."""

    size: int


_MOST: dict[int, int] = {
    Kind.CALL: CALL_BYTES,
    Kind.PROGRESS: 0,
    Kind.ARTIFACT: ARTIFACT_BYTES,
    Kind.PRINTED: CHUNK_BYTES,
    Kind.STARTED: 0,
    Kind.OUTLINE: OUTLINE_BYTES,
}
_CALLED, _PROGRESSED = msgspec.json.Decoder(Called), msgspec.json.Decoder(Progressed)
_ASKED, _ENDED, _TEXTS = msgspec.json.Decoder(Asked), msgspec.json.Decoder(Ended), msgspec.json.Decoder(Texts)
_LOGGED, _PRINTED = msgspec.json.Decoder(Logged), msgspec.json.Decoder(Printed)
_OUTLINE = msgspec.json.Decoder(Outline)

Message = Called | Progressed | Asked | Logged | Printed | StartedFrame | OutlineFrame | Ended | TooLarge


class Inbox:
    """Puts frames together from bytes as they come. Holds at most one frame that is not complete."""

    def __init__(self, result_bytes: int) -> None:
        self._most = _MOST | {
            Kind.RESULT: max(result_bytes, ERROR_BYTES),
            Kind.LOG: max(result_bytes + 1, LOG_BYTES),  # a line has as much as a run may print, and one byte more
        }
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data

    def messages(self) -> Iterator[Message]:
        """The complete ones, in order. WireError: what came is not a frame; the rest is of no use."""
        while len(self._data) >= PREFIX.size:
            kind, frame_id, header_bytes, body_bytes = prefix(self._data, body_bytes=2**32)
            most = self._most.get(kind)
            if most is None:
                raise WireError(f"a frame of kind {kind}, which a guest does not send")
            if body_bytes > most:
                if kind != Kind.RESULT:
                    raise WireError(f"a frame of kind {kind} announces {body_bytes} bytes")
                yield TooLarge(body_bytes)
                return
            end = PREFIX.size + header_bytes + body_bytes
            if len(self._data) < end:
                return
            header = bytes(self._data[PREFIX.size : PREFIX.size + header_bytes])
            body = bytes(self._data[PREFIX.size + header_bytes : end])
            del self._data[:end]
            try:
                yield _message(kind, frame_id, header, body)
            except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as problem:
                raise WireError(f"a frame of kind {kind}: {problem}") from None


def _message(kind: int, frame_id: int, header: bytes, body: bytes) -> Message:
    if kind == Kind.CALL:
        called = _CALLED.decode(header)
        if len(called.tool) > TOOL_NAME_CHARACTERS or called.id or called.arguments_json:
            raise ValueError("not a call")
        return Called(called.tool, frame_id, body.decode())
    if kind == Kind.PROGRESS:
        progress = _PROGRESSED.decode(header)
        return Progressed(progress.done, progress.total, progress.message[:PROGRESS_CHARACTERS])
    if kind == Kind.RESULT:
        ended = _ENDED.decode(header)
        if ended.status == "ok":
            check(body)
            ended.output_json = body.decode()
        elif body:
            texts = _TEXTS.decode(body)
            ended.message, ended.traceback = texts.message, texts.traceback
        return ended
    if kind == Kind.LOG:
        logged = _LOGGED.decode(header)
        if logged.text:
            raise ValueError("not a line")
        logged.text = body.decode(errors="replace")
        return logged
    if kind == Kind.STARTED:
        return StartedFrame()
    if kind == Kind.OUTLINE:
        return OutlineFrame(_OUTLINE.decode(body))
    if kind == Kind.PRINTED:
        return Printed(_PRINTED.decode(header).stream, body)
    asked = _ASKED.decode(header)
    if asked.id or asked.content:
        raise ValueError("not a request for an artifact")
    asked.id, asked.content = frame_id, body
    return asked


DEEP_BYTES = 64 * 1024
"""What is nested more deeply than the decoder follows is checked slowly, and must not be longer than this."""
LONGEST_NUMBER = 4300  # digits that Python converts, by default
_passed_over = msgspec.json.Decoder(msgspec.Raw).decode  # 2 ms for a megabyte
# A text that is never closed is one too: to look for its end again from each quote in it would take for ever.
_PART = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|[\[\]{}]', re.DOTALL)
_ALL_DIGITS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)


def check(text: bytes) -> None:
    """ValueError, or one of msgspec's: it is not one JSON value that Python can decode."""
    try:
        _passed_over(text)
    except RecursionError:
        if len(text) > DEEP_BYTES:
            raise ValueError(f"the result is nested too deeply for {len(text)} bytes") from None
        _check_deep(text)
    if b"0" * (LONGEST_NUMBER + 1) in text.translate(_ALL_DIGITS_ZERO):
        _check_numbers(text)


def _check_deep(text: bytes) -> None:
    """Check each list and object by itself, with `null` in the place of those inside it."""
    open_parts: list[list[bytes]] = [[]]
    at = 0
    for found in _PART.finditer(text):
        part = found[0]
        if part[:1] == b'"' and not found[1]:
            raise ValueError("a text of the result has no end")
        open_parts[-1].append(text[at : found.start()])
        at = found.end()
        if part in (b"[", b"{"):
            open_parts.append([part])
        elif part in (b"]", b"}") and len(open_parts) > 1:
            _passed_over(b"".join([*open_parts.pop(), part]))
            open_parts[-1].append(b"null")
        else:
            open_parts[-1].append(part)
    if len(open_parts) > 1:
        raise ValueError("a list or an object of the result has no end")
    _passed_over(b"".join([*open_parts[0], text[at:]]))


def _check_numbers(text: bytes) -> None:
    """The digits may be those of a text: only decoding tells."""
    try:
        json.loads(text)
    except RecursionError:
        for found in _PART.sub(b" ", text).split():
            if len(found) > LONGEST_NUMBER:
                raise ValueError("a number of the result is too long") from None
