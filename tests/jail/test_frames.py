"""A guest's result is checked to be JSON, in time linear in its length."""

from __future__ import annotations

import json
import time

import msgspec
import pytest

from paddock.jail.frames import DEEP_BYTES, FrameDecoder, OutlineFrame, check_json
from paddock.jail.wire import Kind, WireError, pack
from paddock.model.events import Outline

DEEP = 3000  # more than a decoder follows


@pytest.mark.parametrize(
    "text",
    [
        b"[" * DEEP + b"]" * DEEP,
        b'{"a":' * DEEP + b"1" + b"}" * DEEP,
        b"[" * DEEP + b'"\\"[{\\\\",1.5e3,null' + b"]" * DEEP,
        b'["\\u00e9", {"x": [true, false]}]',
    ],
)
def test_json_however_deep_is_json(text: bytes) -> None:
    check_json(text)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[" * DEEP,
        b"]" * DEEP,
        b"[" * DEEP + b"]" * (DEEP - 1),
        b"[" * DEEP + b"}" * DEEP,
        b"[" * DEEP + b"1 2" + b"]" * DEEP,
        b"[" * DEEP + b'"' + b"]" * DEEP,
        b"[" * 2000 + b'"' + b'\\"' * 30_000,
        b'["' * 2000 + b"\\" * 30_001,
        b"[" * DEEP + b"]" * DEEP + b"x",
        b"[" * DEEP_BYTES + b"]" * DEEP_BYTES,
    ],
    ids=lambda text: f"{text[:4]!r} and {len(text)} bytes",
)
def test_what_is_none_is_refused(text: bytes) -> None:
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        check_json(text)


def test_a_text_that_never_ends_takes_time_by_its_length() -> None:
    def seconds(length: int) -> float:
        text = b"[" * 2000 + b'"' + b'\\"' * length
        begun = time.thread_time()
        with pytest.raises(ValueError, match="has no end"):
            check_json(text)
        return time.thread_time() - begun

    seconds(100)
    assert seconds(30_000) < 1  # it took 19 s


def test_a_number_that_python_does_not_convert_is_refused_and_one_in_a_text_is_not() -> None:
    with pytest.raises(ValueError, match="digits"):
        check_json(b"[" + b"7" * 5000 + b"]")
    check_json(json.dumps(["7" * 5000]).encode())


def test_the_same_holds_for_what_is_nested_too_deeply_to_be_decoded() -> None:
    def nested(inside: bytes) -> bytes:
        return b"[" * DEEP + inside + b"]" * DEEP

    digits, many = b"7" * 5000, b",".join([b"17"] * 2000)
    for integer in (digits, b"-" + digits, many + b"," + digits):
        with pytest.raises(ValueError, match="too many digits"):
            check_json(nested(integer))
    check_json(nested(b'"' + digits + b'",' + many + b',"' + digits + b'"'))
    check_json(nested(b"0." + digits))


def test_an_outline_is_read_only_where_it_was_asked_for() -> None:
    for outline in (False, True):
        decoder = FrameDecoder(1000, outline=outline)
        decoder.add(pack(Kind.OUTLINE, body=b'{"bound": ["a"]}'))
        if outline:
            assert list(decoder.messages()) == [OutlineFrame(Outline(bound=["a"]))]
        else:
            with pytest.raises(WireError, match="which a guest does not send"):
                list(decoder.messages())


@pytest.mark.parametrize("key", ["bound", "more"])
def test_an_outline_that_is_too_deep_is_no_frame(key: str) -> None:
    decoder = FrameDecoder(1000, outline=True)
    decoder.add(pack(Kind.OUTLINE, body=f'{{"{key}": {"[" * 10_000}{"]" * 10_000}}}'.encode()))
    with pytest.raises(WireError, match="a frame of kind 24"):
        list(decoder.messages())
