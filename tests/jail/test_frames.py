"""A guest's result is checked to be JSON, in time linear in its length."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest

from paddock.guest.python.script import compile_script
from paddock.jail.frames import FrameDecoder, LogFrame, OutlineFrame, ResultFrame, check
from paddock.jail.wire import PREFIX, Kind, WireError, pack
from paddock.model.events import Outline
from paddock.model.json_depth import RESULT_DEPTH, TOO_DEEP
from paddock.model.outputs import Display

DEEP = 3000  # more than a decoder follows


def message(value: bytes) -> ResultFrame:
    decoder = FrameDecoder(64 * 1024 * 1024)
    decoder.add(pack(Kind.RESULT, header={"status": "ok"}, body=value))
    (found,) = decoder.messages()
    assert isinstance(found, ResultFrame)
    for _ in check(found):
        pass
    return found


@pytest.mark.parametrize(
    "text", [b'["\\u00e9", {"x": [true, false]}]', b"[" * RESULT_DEPTH + b"]" * RESULT_DEPTH, b"1e308"]
)
def test_a_result_is_taken_as_it_is(text: bytes) -> None:
    assert message(text).output_json == text.decode()


@pytest.mark.parametrize(
    "text", [b"[" * depth + b'"[",1' + b"]" * depth for depth in (RESULT_DEPTH + 1, DEEP, 30_000, 5_000_000)]
)
def test_a_result_that_is_nested_too_deeply_is_the_scripts_error(text: bytes) -> None:
    began = time.thread_time()
    found = message(text)
    assert (found.status, found.message, found.output_json) == ("raised", TOO_DEEP, None)
    assert time.thread_time() - began < 1


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"[", b"]", b"[1 2]", b'["]', b"[]x", b"NaN", b"Infinity", b"'a'", b"[1,]", b"\xff"),
        b'"' + b'\\"' * 300_000,
        b"[" * 200 + b'"' + b"\\" * 300_001,
        *(
            b"1" * 300 + b"e99",
            b"1e400",
            b"-1e999",
            b"[1E+309]",
            b"1e0400",
            b"1" * 400 + b".0",
            b"7" * 5000,
            b"[" + b"-" + b"7" * 5000 + b"]",
        ),
    ],
    ids=lambda text: f"{text[:4]!r} and {len(text)} bytes",
)
def test_what_a_decoder_might_refuse_is_no_frame(text: bytes) -> None:
    began = time.thread_time()
    with pytest.raises(WireError):
        message(text)
    assert time.thread_time() - began < 1


@pytest.mark.parametrize("number", [b"9e307", b"1.7976931348623157e308"])
def test_numbers_that_are_hard_to_convert_do_not_hold_the_host(number: bytes) -> None:
    text = b"[" + b",".join([number] * (4_000_000 // len(number))) + b"]"
    began = time.thread_time()
    assert message(text).output_json == text.decode()
    assert time.thread_time() - began < 1


def test_a_large_number_in_a_string_is_a_string() -> None:
    text = json.dumps(["7" * 5000, "1e400", 1e-300]).encode()
    assert message(text).output_json == text.decode()


@pytest.mark.parametrize(
    "item",
    [b"[]", b"{}", b"1e308", b'"\\ud83d\\ude00"', b'""', b'"\\""', b"7" * 300],
    ids=lambda item: item.decode()[:9],
)
def test_a_long_result_is_checked_in_short_steps(item: bytes) -> None:
    text = b'["e000",' + b",".join([item] * (8_000_000 // len(item))) + b"]"
    decoder = FrameDecoder(64 * 1024 * 1024)
    decoder.add(pack(Kind.RESULT, header={"status": "ok"}, body=text))
    (found,) = decoder.messages()
    assert isinstance(found, ResultFrame)
    times = [time.thread_time(), *(time.thread_time() for _ in check(found)), time.thread_time()]
    assert max(after - before for before, after in pairwise(times)) < 0.2
    assert found.output_json == text.decode()


def test_the_rows_of_a_table_are_checked_in_short_steps() -> None:
    rows = b"[" + b"1e0," * 100_000 + b'"\\\\\\\\ud800"]'  # text with the signs of a lone surrogate
    decoder = FrameDecoder(100, displays=True)
    header = {"type": "table", "mime_type": "application/json", "data_bytes": len(rows)}
    decoder.add(pack(Kind.DISPLAY, 7, header, rows))
    (found,) = decoder.messages()
    assert sum(1 for _ in check(found)) > 20


@pytest.mark.parametrize("status", ["ok", "raised", "exited"])
@pytest.mark.parametrize("field", [{"output_json": '1, "verdict": "timeout"'}, {"unchecked": "AAAA"}], ids=str)
def test_a_value_in_the_header_of_a_result_is_no_frame(status: str, field: dict[str, str]) -> None:
    decoder = FrameDecoder(1000)
    decoder.add(pack(Kind.RESULT, header={"status": status, "exit_code": 0, **field}))
    with pytest.raises(WireError, match="not a result"):
        list(decoder.messages())


def test_an_outline_is_read_only_where_it_was_asked_for() -> None:
    for script in (None, ""):
        decoder = FrameDecoder(1000, outline_of=script)
        decoder.add(pack(Kind.OUTLINE, body=b'{"bound": ["a"]}'))
        if script is not None:
            assert list(decoder.messages()) == [OutlineFrame(Outline(bound=["a"]))]
        else:
            with pytest.raises(WireError, match="which a guest does not send"):
                list(decoder.messages())


@pytest.mark.parametrize("key", ["bound", "more"])
def test_an_outline_that_is_too_deep_is_no_frame(key: str) -> None:
    decoder = FrameDecoder(1000, outline_of="")
    decoder.add(pack(Kind.OUTLINE, body=f'{{"{key}": {"[" * 10_000}{"]" * 10_000}}}'.encode()))
    with pytest.raises(WireError, match="a frame of kind 24"):
        list(decoder.messages())


def test_an_outline_longer_than_that_of_any_such_script_is_refused_before_it_is_read() -> None:
    decoder = FrameDecoder(1000, outline_of="x" * 100_000)
    decoder.add(pack(Kind.OUTLINE, body=bytes(900_000))[: PREFIX.size])
    with pytest.raises(WireError, match="announces 900000 bytes"):
        next(decoder.messages())


@pytest.mark.parametrize(
    "script",
    ["if x: return\n" * 9000, "return f()\n" * 9000, "".join(f"é{n}=1;" for n in range(9000)), "x['é']=1;" * 9000],
    ids=["returns", "calls", "names", "keys"],
)
def test_an_outline_is_never_that_long(script: str) -> None:
    outline = compile_script(script, is_expression=True, with_outline=True).outline
    decoder = FrameDecoder(1000, outline_of=script)
    decoder.add(pack(Kind.OUTLINE, body=json.dumps(outline).encode()))
    (found,) = decoder.messages()
    assert isinstance(found, OutlineFrame)


def test_a_line_longer_than_a_run_may_print_is_refused_before_it_is_read() -> None:
    decoder = FrameDecoder(100)
    line = pack(Kind.LOG, header={"level": "log"}, body=("\u00e9" * 51).encode()[:101])
    decoder.add(line)
    (found,) = decoder.messages()
    assert isinstance(found, LogFrame)
    assert found.text == "\u00e9" * 50 + "\ufffd"  # longer than the limit, although half a character is missing
    decoder.add(pack(Kind.LOG, header={"level": "log"}, body=b"x" * 102)[: PREFIX.size])
    with pytest.raises(WireError, match="announces 102 bytes"):
        next(decoder.messages())


def test_a_line_that_is_not_text_is_refused_at_its_first_wrong_byte() -> None:
    decoder = FrameDecoder(100)
    decoder.add(pack(Kind.LOG, header={"level": "log"}, body=b"\xff" * 100))
    with pytest.raises(WireError, match=r"a frame of kind 21: .* in position 0"):
        next(decoder.messages())


DEEP_ROWS = b"[" * 2000 + b"]" * 2000
DISPLAY = {"type": "image", "mime_type": "image/png", "text_bytes": 1, "data_bytes": 2, "filename": "a.png"}


def displayed(header: dict[str, object], body: bytes) -> object:
    decoder = FrameDecoder(100, displays=True)
    decoder.add(pack(Kind.DISPLAY, 7, header, body))
    found = next(decoder.messages())
    for _ in check(found):
        pass
    return found


def test_a_displayed_value_is_its_text_its_data_and_its_file() -> None:
    assert displayed(DISPLAY, b"tddfile") == Display(7, "image", "image/png", "t", b"dd", b"file", "a.png")


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (DISPLAY | {"mime_type": "text/html"}, b"tdd"),
        (DISPLAY | {"type": "video"}, b"tdd"),
        (DISPLAY | {"data_bytes": 9}, b"tdd"),
        (DISPLAY | {"data_bytes": -1}, b"tdd"),
        (DISPLAY | {"data_bytes": 2**40}, b"tdd"),
        (DISPLAY | {"data_bytes": 1024 * 1024}, bytes(2 * 1024 * 1024)),
        (DISPLAY | {"more": 1}, b"tdd"),
        (DISPLAY, b"\xffdd"),
        (DISPLAY | {"type": "html", "mime_type": "text/html"}, b"t\xff\xff"),
        (DISPLAY | {"type": "table", "mime_type": "application/json"}, b"t[1"),
        (DISPLAY | {"type": "table", "mime_type": "application/json"}, b"t{}"),
        (
            DISPLAY | {"type": "table", "mime_type": "application/json", "data_bytes": 4000},
            b"t" + DEEP_ROWS,
        ),
    ],
)
def test_anything_else_is_no_displayed_value(header: dict[str, object], body: bytes) -> None:
    with pytest.raises(WireError):
        displayed(header, body)


def test_a_displayed_value_is_read_only_where_it_was_asked_for() -> None:
    decoder = FrameDecoder(100)
    decoder.add(pack(Kind.DISPLAY, 7, DISPLAY, b"tdd"))
    with pytest.raises(WireError, match="kind 28"):
        next(decoder.messages())
