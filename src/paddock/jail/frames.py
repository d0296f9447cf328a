"""Decodes the frames that a guest sends into typed values.

The guest is hostile. Whatever is not a valid frame, or is too large, raises WireError, which ends the run.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from paddock.jail.wire import (
    ARTIFACT_BYTES,
    CHUNK_BYTES,
    DISPLAY_BYTES,
    DISPLAY_CHARACTERS,
    PREFIX,
    UNSENT_BYTES,
    Kind,
    WireError,
    prefix,
)
from paddock.model.events import Level, Outline, Stream
from paddock.model.json_depth import RESULT_DEPTH, TOO_DEEP, depths
from paddock.model.outputs import MIME_TYPES, Display, OutputType

CALL_BYTES = 8 * 1024 * 1024
ERROR_BYTES = 2 * 1024 * 1024
"""Maximum total length of message and traceback, as JSON."""
OUTLINE_BYTES, OUTLINE_SHARE = 64 * 1024, 8
"""Maximum length of an outline: so much, and so many bytes for each character of the script."""
TOOL_NAME_CHARACTERS = 600
PROGRESS_CHARACTERS = 1000
LineOrColumn = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
"""A line or a column number. It has an upper bound, because Python refuses to print integers of thousands of digits."""


class CallFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The script calls a tool, by its name or by its function."""

    tool: str
    id: int = 0
    arguments_json: str = ""
    function: bool = False


class ProgressFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The script reports progress."""

    done: float
    total: float | None = None
    message: str = ""


class ArtifactFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The script creates or reads an artifact."""

    do: Literal["create", "read"]
    filename: str = ""
    mime_type: str = ""
    ref: str = ""
    id: int = 0
    content: bytes = b""


class DisplayFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The script displays a value. The body is the text, the data and the file, one after another."""

    type: OutputType
    mime_type: str
    text_bytes: Annotated[int, msgspec.Meta(ge=0, le=4 * DISPLAY_CHARACTERS)] = 0
    data_bytes: Annotated[int, msgspec.Meta(ge=0, le=DISPLAY_BYTES)] = 0
    filename: str = ""
    is_result: bool = False


class LogFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The script wrote a line to its console."""

    level: Level
    text: str = ""


class OutputFrame(msgspec.Struct, forbid_unknown_fields=True):
    """Bytes that the script printed. A character may continue in the next frame."""

    stream: Stream
    data: bytes = b""


class ResultFrame(msgspec.Struct, forbid_unknown_fields=True):
    """How the script ended, according to the guest. The host decides whether to believe it."""

    status: str
    type: str = ""
    message: str = ""
    line: LineOrColumn | None = None
    column: LineOrColumn | None = None
    traceback: str = ""
    exit_code: Annotated[int, msgspec.Meta(ge=0, le=255)] | None = None
    output_json: str | None = None
    warnings: list[str] = []
    near: list[str] = []
    keys: list[str] = []
    values: list[str] = []
    tag: int = 0
    unchecked: bytes = b""
    """The value, until `check` has checked it."""


class StartedFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The source compiled, and the script's first line runs next."""

    tag: int = 0


class ReachedFrame(msgspec.Struct, forbid_unknown_fields=True):
    """The line that the script had reached shortly before its time was over, according to the guest."""

    line: LineOrColumn


class OutlineFrame(msgspec.Struct, forbid_unknown_fields=True):
    """Facts about the compiled source. The guest waits for GO."""

    outline: Outline
    tag: int = 0


class ErrorTexts(msgspec.Struct, forbid_unknown_fields=True):
    """The texts of an error, sent in the body if they are too long for the header."""

    message: str = ""
    traceback: str = ""


class OversizedResult(msgspec.Struct):
    """The guest announced a result above the limit. None of it was read."""

    size: int
    tag: int = 0


_BODY_BYTES: dict[int, int] = {
    Kind.CALL: CALL_BYTES,
    Kind.PROGRESS: 0,
    Kind.ARTIFACT: ARTIFACT_BYTES,
    Kind.PRINTED: CHUNK_BYTES,
    Kind.STARTED: 0,
    Kind.REACHED: 0,
}
_CALL = msgspec.json.Decoder(CallFrame)
_PROGRESS = msgspec.json.Decoder(ProgressFrame)
_ARTIFACT = msgspec.json.Decoder(ArtifactFrame)
_DISPLAY = msgspec.json.Decoder(DisplayFrame)
_LOG = msgspec.json.Decoder(LogFrame)
_OUTPUT = msgspec.json.Decoder(OutputFrame)
_REACHED = msgspec.json.Decoder(ReachedFrame)
_RESULT = msgspec.json.Decoder(ResultFrame)
_ERROR_TEXTS = msgspec.json.Decoder(ErrorTexts)
_OUTLINE = msgspec.json.Decoder(Outline)

Message = (
    CallFrame
    | ProgressFrame
    | ArtifactFrame
    | Display
    | LogFrame
    | OutputFrame
    | StartedFrame
    | ReachedFrame
    | OutlineFrame
    | ResultFrame
    | OversizedResult
)


class FrameDecoder:
    """Decodes frames from bytes as they arrive. Holds at most one incomplete frame."""

    def __init__(self, result_bytes: int, *, outline_of: str | None = None, displays: bool = False) -> None:
        """`outline_of` is the script whose outline may arrive."""
        self._body_bytes = _BODY_BYTES | {
            **({} if outline_of is None else {Kind.OUTLINE: OUTLINE_BYTES + OUTLINE_SHARE * len(outline_of)}),
            **({Kind.DISPLAY: ARTIFACT_BYTES + DISPLAY_BYTES + 4 * DISPLAY_CHARACTERS} if displays else {}),
            Kind.RESULT: max(result_bytes, ERROR_BYTES),
            # A guest truncates a line to one byte more than a run may print: decoding more would only take time.
            Kind.LOG: result_bytes + 1,
        }
        self._data = bytearray()

    @property
    def rest(self) -> bytes:
        """What has arrived of the next frame, or of later ones."""
        return bytes(self._data)

    @property
    def has_frame(self) -> bool:
        """Whether the next frame has arrived as a whole."""
        if len(self._data) < PREFIX.size:
            return False
        _, _, header_bytes, body_bytes = PREFIX.unpack_from(self._data)
        return len(self._data) >= PREFIX.size + int(header_bytes) + int(body_bytes)

    def add(self, data: bytes) -> None:
        self._data += data

    def messages(self) -> Iterator[Message]:
        """Yield the complete messages, in order. Raises WireError if the bytes are not a frame."""
        while len(self._data) >= PREFIX.size:
            kind, frame_id, header_bytes, body_bytes = prefix(self._data, max_body_bytes=2**32)
            max_bytes = self._body_bytes.get(kind)
            if max_bytes is None:
                raise WireError(f"a frame of kind {kind}, which a guest does not send")
            if body_bytes > max_bytes:
                if kind != Kind.RESULT:
                    raise WireError(f"a frame of kind {kind} announces {body_bytes} bytes")
                if body_bytes == UNSENT_BYTES and not header_bytes:
                    del self._data[: PREFIX.size]  # the next frame follows
                    yield OversizedResult(body_bytes, frame_id)
                    continue
                yield OversizedResult(body_bytes, frame_id)
                raise WireError(f"a RESULT that is not expected announces {body_bytes} bytes")
            end = PREFIX.size + header_bytes + body_bytes
            if len(self._data) < end:
                return
            header = bytes(self._data[PREFIX.size : PREFIX.size + header_bytes])
            body = bytes(self._data[PREFIX.size + header_bytes : end])
            del self._data[:end]
            try:
                yield _message(kind, frame_id, header, body)
            except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError) as problem:
                raise WireError(f"a frame of kind {kind}: {problem}") from None


def check(message: Message) -> Iterator[None]:
    """Check the JSON in a message, in steps of milliseconds. Raises WireError if it is not JSON."""
    try:
        if isinstance(message, ResultFrame) and message.unchecked:
            yield from _check_result(message)
        elif isinstance(message, Display) and message.type == "table" and message.data:
            yield from _check_rows(message.data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        kind = Kind.DISPLAY if isinstance(message, Display) else Kind.RESULT
        raise WireError(f"a frame of kind {kind}: {problem}") from None


def _check_rows(data: bytes) -> Iterator[None]:
    yield from _check_json(data)
    if not data.startswith(b"["):
        raise ValueError("not the rows of a table")
    for level in depths(data):
        if level > RESULT_DEPTH:
            raise ValueError(TOO_DEEP)
        yield


def _check_result(result: ResultFrame) -> Iterator[None]:
    """A value that is nested too deeply makes the result a ValueError of the script."""
    value, result.unchecked = result.unchecked, b""
    try:
        yield from _check_json(value)
        is_deep = False
        for level in depths(value):
            is_deep = is_deep or level > RESULT_DEPTH
            yield
    except RecursionError:
        is_deep = True
    if is_deep:
        result.status, result.type, result.message = "raised", "ValueError", TOO_DEEP
    else:
        result.output_json = value.decode()


def _result(result: ResultFrame, body: bytes) -> ResultFrame:
    if result.output_json is not None or result.unchecked:
        raise ValueError("not a result")
    if result.status == "ok":
        if not body:
            raise ValueError("no value")
        result.unchecked = body
    elif body:
        texts = _ERROR_TEXTS.decode(body)
        result.message, result.traceback = texts.message, texts.traceback
    return result


def _message(kind: int, frame_id: int, header: bytes, body: bytes) -> Message:
    if kind == Kind.CALL:
        call = _CALL.decode(header)
        if len(call.tool) > TOOL_NAME_CHARACTERS or call.id or call.arguments_json:
            raise ValueError("not a call")
        return CallFrame(call.tool, frame_id, body.decode(), call.function)
    if kind == Kind.PROGRESS:
        progress = _PROGRESS.decode(header)
        return ProgressFrame(progress.done, progress.total, progress.message[:PROGRESS_CHARACTERS])
    if kind == Kind.RESULT:
        result = _RESULT.decode(header)
        result.tag = frame_id
        return _result(result, body)
    if kind == Kind.LOG:
        log = _LOG.decode(header)
        if log.text:
            raise ValueError("not a line")
        # Strict, because replacing many wrong bytes takes long. A guest truncates a line, perhaps inside a character.
        log.text, decoded_bytes = codecs.utf_8_decode(body, "strict")
        log.text += "\ufffd" if decoded_bytes < len(body) else ""
        return log
    if kind in (Kind.STARTED, Kind.REACHED):
        return StartedFrame(frame_id) if kind == Kind.STARTED else _REACHED.decode(header)
    if kind == Kind.OUTLINE:
        return OutlineFrame(_OUTLINE.decode(body), frame_id)
    if kind == Kind.DISPLAY:
        return _display(frame_id, _DISPLAY.decode(header), body)
    if kind == Kind.PRINTED:
        return OutputFrame(_OUTPUT.decode(header).stream, body)
    request = _ARTIFACT.decode(header)
    if request.id or request.content:
        raise ValueError("not a request for an artifact")
    request.id, request.content = frame_id, body
    return request


def _display(frame_id: int, frame: DisplayFrame, body: bytes) -> Display:
    data_start = frame.text_bytes
    file_start = data_start + frame.data_bytes
    text, data, file = body[:data_start].decode(), body[data_start:file_start], body[file_start:]
    if frame.mime_type not in MIME_TYPES[frame.type] or len(body) < file_start or len(file) > ARTIFACT_BYTES:
        raise ValueError("not a value to display")
    if frame.type not in ("image", "table"):
        data.decode()
    return Display(frame_id, frame.type, frame.mime_type, text, data, file, frame.filename, frame.is_result)


_validate = msgspec.json.Decoder(msgspec.Raw).decode  # checks without decoding: 2 ms for a megabyte
_ALL_DIGITS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_SUSPECT = (b"0" * 210, b"e000", b"E000", b"e+000", b"E+000", b"\\ud", b"\\uD")
"""In text with all digits replaced by 0: signs of a number too large for Python, or of a lone surrogate. 209 digits
are not too many even with the exponent 99."""
_LONE_SURROGATE = re.compile(rb"\\u[dD](?:[89abAB](?!..\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])")
# What comes before a number that may be too large, and that number. The repetitions are limited, so that a match takes
# milliseconds. Groups are atomic and not possessive: those match wrongly before Python 3.11.5.
_SUSPECT_NUMBER = re.compile(
    rb"""(?x) (?> (?:
        [^"0-9-]++
      | "[^"]*+"
      | -?+ [0-9]{1,200}+ (?> (?: \.[0-9]++ )? ) (?> (?: [eE] (?: -[0-9]++ | \+?+0*+[0-9]{1,2}+ ) )? ) (?![0-9.eE])
      | -?+ [0-9] (?> (?: \.[0-9]++ )? ) [eE] \+?+ (?: [12][0-9][0-9] | 30[0-7] ) (?![0-9])
    ){0,20000} ) (?: ( -?+ [0-9]++ ) ([0-9.eE+-]*+) )?"""
)
_INTEGER_DIGITS, _NUMBER_CHARACTERS = 4300, 10_000
_SEARCHED_AT_ONCE, _NUMBERS_AT_ONCE, _PAIR_CHARACTERS = 1 << 20, 2000, 12


def _check_json(text: bytes) -> Iterator[None]:
    """Raise ValueError or MsgspecError unless `text` is one JSON value that any decoder accepts.

    The host inserts a result into its own JSON without decoding it. Raises RecursionError if it is nested too deeply.
    """
    _validate(text)
    yield
    zeros = text.translate(_ALL_DIGITS_ZERO)
    for part in _SUSPECT:  # a match may also be harmless text in a string
        yield
        if part in zeros:
            break
    else:
        return
    plain = text.replace(b"\\\\", b"__")
    yield
    for start in range(0, len(plain), _SEARCHED_AT_ONCE):
        end = start + _SEARCHED_AT_ONCE
        found = _LONE_SURROGATE.search(plain, start, end + _PAIR_CHARACTERS)
        if found and found.start() < end:
            raise ValueError("a string has a lone surrogate")
        yield
    plain = plain.replace(b'\\"', b"__")
    for count, number in enumerate(_SUSPECT_NUMBER.finditer(plain)):
        if number[1]:
            _check_number(number[1] + number[2], is_integer=not number[2])
        if not number[1] or count % _NUMBERS_AT_ONCE == 0:
            yield


def _check_number(number: bytes, *, is_integer: bool) -> None:
    if len(number) > (_INTEGER_DIGITS if is_integer else _NUMBER_CHARACTERS):
        raise ValueError("a number is too long")
    if not is_integer and not math.isfinite(float(number)):
        raise ValueError("a number is too large")
