"""Tools, progress and artifacts as a script calls them, and what goes over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddock.jail import wire
from paddock.jail.wire import Frame, Kind
from tests.guest.conftest import Run
from tests.guest.harness import Answer, Answers, tools


def add(arguments: Any) -> Any:
    return {"result": arguments["a"] + arguments.get("b", 1)}


def same(arguments: Any) -> Any:
    return arguments


ADD = {"start": {"tools": ["add"]}, "answer": tools(add=add)}
SAME = {"start": {"tools": ["same"]}, "answer": tools(same=same)}


@pytest.mark.parametrize(
    "call",
    [
        "call_tool('add', {'a': 1, 'b': 2})",
        "call_tool('add', params={'a': 1, 'b': 2})",
        "call_tool('add', arguments={'a': 1, 'b': 2})",
        "call_tool(name='add', arguments={'a': 1, 'b': 2})",
        "add({'a': 1, 'b': 2})",
    ],
)
@pytest.mark.parametrize(
    "frame",
    [
        "await {call}",
        "return await {call}",
        "import asyncio\nasync def main():\n    return await {call}\nasyncio.run(main())",
        "import asyncio\nasync def main():\n    return await {call}\n"
        "for _ in range(2):\n    x = asyncio.run(main())\nx",
        "import asyncio, threading\nfound = []\nasync def main():\n    found.append(await {call})\n"
        "t = threading.Thread(target=lambda: asyncio.run(main()))\nt.start()\nt.join()\nfound[0]",
    ],
)
def test_a_tool_is_called_by_name_or_by_its_function(run: Run, call: str, frame: str) -> None:
    ran = run(frame.format(call=call), **ADD)
    assert ran.value == {"result": 3}
    assert ran.calls[0] == ("add", {"a": 1, "b": 2})


def reversed_answers(count: int) -> Answer:
    """Answers when `count` calls have come, the last one first."""
    held: list[bytes] = []

    def answer(frame: Frame) -> Answers:
        held.append(wire.pack(Kind.ANSWER, frame.id, {"failed": False}, frame.body))
        if len(held) == count:
            yield from reversed(held)

    return answer


def test_gathered_calls_overlap_and_are_numbered_in_program_order(run: Run) -> None:
    code = "import asyncio\nawait asyncio.gather(*[same({'n': n}) for n in range(500)])"
    ran = run(code, start={"tools": ["same"]}, answer=reversed_answers(500))
    assert ran.value == [{"n": n} for n in range(500)]
    assert [frame.id for frame in ran.frames] == list(range(1, 501))
    assert [arguments["n"] for _, arguments in ran.calls] == list(range(500))


def test_large_calls_and_large_answers_at_once_do_not_wait_for_each_other_for_ever(run: Run) -> None:
    code = "import asyncio\nx = 'x' * 1_000_000\nlen(await asyncio.gather(*[same({'x': x}) for n in range(20)]))"
    assert run(code, **SAME).value == 20


def test_the_answer_to_a_call_that_was_cancelled_is_dropped(run: Run) -> None:
    code = """
import asyncio
slow = asyncio.create_task(same({'n': 1}))
await asyncio.sleep(0)
slow.cancel()
await asyncio.gather(slow, return_exceptions=True)
[await same({'n': 2}), await same({'n': 3})]
"""

    held: list[bytes] = []

    def answer(frame: Frame) -> Answers:
        held.append(wire.pack(Kind.ANSWER, frame.id, {"failed": False}, frame.body))
        if frame.id >= 2:
            yield from held
            held.clear()

    assert run(code, start={"tools": ["same"]}, answer=answer).value == [{"n": 2}, {"n": 3}]


def test_a_timeout_of_the_scripts_own_ends_a_call(run: Run) -> None:
    code = "import asyncio\ntry:\n    await asyncio.wait_for(same({}), 0.01)\nexcept TimeoutError:\n    x = 'late'\nx"
    assert run(code, start={"tools": ["same"]}).value == "late"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("await call_tool('x', [1])", "TypeError"),
        ("await call_tool('x', {'a': {1}})", "TypeError"),
        ("await call_tool(5, {})", "TypeError"),
        ("await call_tool('x', {'a': float('nan')})", "ValueError"),
        ("await report_progress('half')", "TypeError"),
        ("await report_progress(10 ** 400)", "TypeError"),
    ],
)
def test_a_wrong_use_is_an_exception_on_its_line(run: Run, code: str, kind: str) -> None:
    ran = run(code)
    assert (ran.raised[0], ran.header["line"], ran.header["column"], ran.frames) == (kind, 1, 1, [])
    assert ran.header["traceback"].splitlines()[1:3] == ['  File "main.py", line 1, in <module>', f"    {code}"]
    assert "paddock" not in ran.header["traceback"]


def test_a_name_that_no_tool_can_have_is_cut(run: Run) -> None:
    ran = run("await call_tool('x' * 1000)", answer=tools(**{"x" * 600: same}))
    assert ran.calls == [("x" * 600, {})]


def test_a_lone_surrogate_in_an_argument_is_replaced(run: Run) -> None:
    assert run("await same({'a': '\\ud800'})", **SAME).calls == [("same", {"a": "\ufffd"})]


def test_progress_is_sent_and_waits_for_nothing(run: Run) -> None:
    code = "await report_progress(1, 4, 'q')\nawait report_progress(0.5)\n"
    code += "await report_progress(done=2, total=4, message=5)"
    ran = run(code + "\nawait report_progress(float('nan'))\nawait report_progress(3, message='x' * 5000)")
    assert [frame.values() for frame in ran.frames] == [
        {"done": 1, "total": 4, "message": "q"},
        {"done": 0.5, "total": None, "message": ""},
        {"done": 2, "total": 4, "message": ""},
        {"done": 3, "total": None, "message": "x" * 1000},
    ]


STORED = {"success": True, "id": "a_1", "url": "u", "filename": "f", "mimeType": "m", "size": 2}


@pytest.mark.parametrize(
    ("code", "header", "body"),
    [
        ("'a.csv', 'ä', 'text/csv'", {"do": "create", "filename": "a.csv", "mime_type": "text/csv"}, "ä".encode()),
        ("'a.bin', b'\\xff'", {"do": "create", "filename": "a.bin", "mime_type": ""}, b"\xff"),
        ("'\\ud800', '\\ud800'", {"do": "create", "filename": "\ufffd", "mime_type": ""}, "\ufffd".encode()),
        ("'a.JSON', ['ä']", {"do": "create", "filename": "a.JSON", "mime_type": ""}, '["ä"]'.encode()),
        ("'a', {'b': 1}, 'json'", {"do": "create", "filename": "a", "mime_type": "json"}, b'{"b": 1}'),
    ],
)
def test_an_artifact_is_kept(run: Run, code: str, header: Any, body: bytes) -> None:
    def answer(frame: Frame) -> Answers:
        yield wire.pack(Kind.ANSWER, frame.id, STORED)

    ran = run(f"await create_artifact({code})", answer=answer)
    assert ran.value == STORED
    assert [(frame.values(), frame.body) for frame in ran.frames] == [(header, body)]


@pytest.mark.parametrize(
    "code",
    [
        "'a', 5",
        "'a', None",
        "'a.csv', []",
        "'a.json', {1, 2}",
        "'a.json', [float('nan')]",
        "5, b''",
        "'a', b'', 7",
        "'x' * 10_000, b''",
    ],
)
def test_an_artifact_that_cannot_be_is_an_answer_and_no_exception(run: Run, code: str) -> None:
    value = run(f"await create_artifact({code})").value
    assert (value["success"], value.keys()) == (False, {"success", "error"})


@pytest.mark.parametrize(
    ("text", "body", "content"),
    [
        (True, "ä".encode(), "'ä'"),
        (False, "ä".encode(), "b'\\xc3\\xa4'"),
        (False, b"\xff", "b'\\xff'"),
    ],
)
def test_an_artifact_is_read_as_text_or_bytes(run: Run, text: bool, body: bytes, content: str) -> None:
    header = {"success": True, "size": len(body), "filename": "f", "mimeType": "text/csv"}

    def answer(frame: Frame) -> Answers:
        assert frame.values() == {"do": "read", "ref": "a_1"}
        yield wire.pack(Kind.ANSWER, frame.id, {**header, "text": text}, body)

    ran = run("r = await read_artifact('a_1')\n[repr(r.pop('content')), r]", answer=answer)
    assert ran.value == [content, header]


def test_an_artifact_that_is_not_there_is_an_answer(run: Run) -> None:
    def answer(frame: Frame) -> Answers:
        yield wire.pack(Kind.ANSWER, frame.id, {"success": False, "error": "no"})

    assert run("await read_artifact('a_1')", answer=answer).value == {"success": False, "error": "no"}
    checked = run("r = await read_artifact('a_1')\n[r.get('content'), r['success'], 'content' in r]", answer=answer)
    assert checked.value == [None, False, False]
    unchecked = run("(await read_artifact('a_1'))['content']", answer=answer)
    assert unchecked.header["message"] == repr("'content': no")


@pytest.mark.parametrize(
    "change",
    [
        "import json\njson.dumps = json.loads = json.JSONEncoder.default = None",
        "import builtins\nbuiltins.print = builtins.open = builtins.isinstance_ = None",
        "import sys\nsys.stdout = sys.stderr = None",
        "import os\nos.getpid = os._exit = lambda *a: 7",
        "import sys\nsys.modules.clear()",
        "import linecache\nlinecache.clearcache()\nlinecache.cache = None",
        "import time, threading\ntime.sleep = threading.Thread = None",
    ],
)
def test_an_innocent_change_of_a_module_breaks_nothing(run: Run, change: str) -> None:
    ran = run(f"{change}\n[await add({{'a': 1}}), {{5}}]", **ADD)
    assert ran.value == [{"result": 2}, [5]]


def test_json_that_crosses_is_the_same_in_both_directions(run: Run) -> None:
    ran = run("await same({'a': 1.0, 'b': 1})", **SAME)
    assert ran.body == b'{"a": 1.0, "b": 1}'
    assert json.loads(ran.frames[0].body) == {"a": 1.0, "b": 1}
