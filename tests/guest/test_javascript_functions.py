"""What a script in JavaScript calls: tools, artifacts, progress, timers, files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from paddock.jail import wire
from paddock.jail.wire import Frame, Kind
from tests.guest.harness import tools
from tests.guest.javascript_harness import Run, logs, text

ENVELOPE = {"error_kind": "internal_error", "tool": "shop.orders", "summary": "it is broken", "retryable": False}


def failing(frame: Frame) -> Iterator[bytes]:
    yield wire.pack(Kind.ANSWER, frame.id, {"failed": True}, json.dumps(ENVELOPE).encode())


def echo(frame: Frame) -> Iterator[bytes]:
    given = {"tool": frame.values()["tool"], "arguments": json.loads(frame.body)}
    yield wire.pack(Kind.ANSWER, frame.id, {"failed": False}, json.dumps(given).encode())


@pytest.mark.parametrize(
    ("call", "tool", "arguments"),
    [
        ("callTool('shop', 'orders', {a: 1})", "shop.orders", {"a": 1}),
        ("callTool('/shop', 'orders')", "shop.orders", {}),
        ("callTool('shop', 'shop.orders', {})", "shop.orders", {}),
        ("callTool('/shop', 'shop/orders', {})", "shop.orders", {}),
        ("callTool('shop', 'shop_orders', {})", "shop.shop_orders", {}),
        ("callTool('', 'orders', {a: null})", "orders", {"a": None}),
        ("callTool('shop.orders', {a: [1]})", "shop.orders", {"a": [1]}),
        ("callTool('shop.orders')", "shop.orders", {}),
        ("callTool('shop', 'orders', null)", "shop.orders", {}),
        ("orders({a: 1})", "orders", {"a": 1}),
        ("orders()", "orders", {}),
    ],
)
def test_a_tool_is_called_by_its_name(run_javascript: Run, call: str, tool: str, arguments: Any) -> None:
    ran = run_javascript(f"await {call}", start={"tools": ["orders"]}, answer=echo)
    assert ran.value == {"tool": tool, "arguments": arguments}


@pytest.mark.parametrize("call", ["callTool()", "callTool(5)", "callTool('a', 5, 6)"])
def test_a_call_that_names_no_tool_is_a_type_error(run_javascript: Run, call: str) -> None:
    ran = run_javascript(f"try {{ await {call} }} catch (e) {{ return e.name }}")
    assert (ran.value, ran.frames) == ("TypeError", [])


def test_a_name_that_no_tool_can_have_is_cut(run_javascript: Run) -> None:
    ran = run_javascript("await callTool('x'.repeat(1000))", answer=echo)
    assert ran.value == {"tool": "x" * 600, "arguments": {}}


def test_a_failed_call_is_an_error_with_its_envelope(run_javascript: Run) -> None:
    code = """
try {
  await callTool('shop', 'orders', {})
} catch (e) {
  return [e instanceof Error, e.name, e.message, e.envelope, e.stack.split('\\n').at(-1)]
}
"""
    ran = run_javascript(code, answer=failing)
    assert ran.value == [True, "ToolError", "shop.orders: it is broken", ENVELOPE, "    at main.js:3:9"]


def test_a_failed_call_that_nobody_catches_tells_its_envelope_and_its_line(run_javascript: Run) -> None:
    ran = run_javascript("const a = 1\nawait callTool('shop', 'orders', {})", answer=failing)
    assert ran.raised[0] == "ToolError"
    assert json.loads(ran.raised[1]) == ENVELOPE
    assert (ran.header["line"], ran.header["column"]) == (2, 7)


def test_a_failed_call_that_nobody_awaits_fails_the_run(run_javascript: Run) -> None:
    code = "callTool('shop', 'orders', {})\nawait new Promise(done => setTimeout(done, 1000))"
    assert run_javascript(code, answer=failing).raised[0] == "ToolError"


def test_the_promise_of_a_call_may_be_returned(run_javascript: Run) -> None:
    assert run_javascript("return callTool('a', 'b')", answer=echo).value["tool"] == "a.b"


def test_calls_overlap_and_are_answered_in_any_order(run_javascript: Run) -> None:
    held: list[Frame] = []

    def answer(frame: Frame) -> Iterator[bytes]:
        held.append(frame)
        if len(held) == 3:
            for one in reversed(held):
                yield from echo(one)

    code = """
const order = []
const call = async n => { const got = await callTool('a', 'b', {n}); order.push(n); return got.arguments.n }
const all = await Promise.all([1, 2, 3].map(call))
return {all, order}
"""
    ran = run_javascript(code, answer=answer)
    assert ran.value == {"all": [1, 2, 3], "order": [3, 2, 1]}
    assert ran.calls == [("a.b", {"n": n}) for n in (1, 2, 3)]


def test_a_hundred_calls_one_after_the_other(run_javascript: Run) -> None:
    code = "let sum = 0\nfor (let n = 0; n < 100; n++) sum += (await callTool('a', 'b', {n})).arguments.n\nsum"
    assert run_javascript(code, answer=echo).value == 4950


def test_an_artifact_is_made_of_text_or_bytes(run_javascript: Run) -> None:
    def answer(frame: Frame) -> Iterator[bytes]:
        header = {"success": True, "id": "a_1", "url": "u", "filename": "f", "mimeType": "text/csv", "size": 3}
        yield wire.pack(Kind.ANSWER, frame.id, header)

    code = r"""
const made = await codeExec.createArtifact('a.csv', 'x,\0é\ud800', 'csv')
await codeExec.createArtifact('b.bin', new Uint8Array([0, 1, 255]))
await codeExec.createArtifact('c.txt', '')
return made
"""
    ran = run_javascript(code, answer=answer)
    assert ran.value == {"success": True, "id": "a_1", "url": "u", "filename": "f", "mimeType": "text/csv", "size": 3}
    assert [(frame.values(), frame.body) for frame in ran.frames] == [
        ({"do": "create", "filename": "a.csv", "mime_type": "csv"}, "x,\0é\ufffd".encode()),
        ({"do": "create", "filename": "b.bin", "mime_type": ""}, b"\0\1\xff"),
        ({"do": "create", "filename": "c.txt", "mime_type": ""}, b""),
    ]


def test_an_artifact_is_read_as_text_or_bytes(run_javascript: Run) -> None:
    def answer(frame: Frame) -> Iterator[bytes]:
        if frame.values()["ref"] == "text":
            yield wire.pack(Kind.ANSWER, frame.id, {"success": True, "text": True, "size": 4}, "é\0x".encode())
        elif frame.values()["ref"] == "bytes":
            yield wire.pack(Kind.ANSWER, frame.id, {"success": True, "text": False, "size": 2}, b"\xff\0")
        else:
            yield wire.pack(Kind.ANSWER, frame.id, {"success": False, "error": "no such artifact"})

    code = """
const bytes = await codeExec.readArtifact('bytes')
const text = await codeExec.readArtifact('text')
return [text, bytes.content instanceof Uint8Array, bytes, await codeExec.readArtifact('no')]
"""
    assert run_javascript(code, answer=answer).value == [
        {"success": True, "size": 4, "content": "é\0x"},
        True,
        {"success": True, "size": 2, "content": {"type": "bytes", "base64": "/wA="}},
        {"success": False, "error": "no such artifact"},
    ]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("createArtifact(5, 'x')", "an artifact needs a file name"),
        ("createArtifact('a', {})", "the content of an artifact must be text or a Uint8Array, not object"),
        ("createArtifact('a', null)", "the content of an artifact must be text or a Uint8Array, not null"),
        ("createArtifact('a', 'x', 5)", "the type of an artifact must be a MIME type, such as text/csv"),
        (
            "createArtifact('a', 'é'.repeat(9e6))",
            "an artifact may be at most 16 MB; this one is larger",
        ),
        ("readArtifact()", "readArtifact takes the id or the name of an artifact"),
    ],
)
def test_an_artifact_that_cannot_be_is_no_exception(run_javascript: Run, call: str, error: str) -> None:
    ran = run_javascript(f"await codeExec.{call}")
    assert (ran.value, ran.frames) == ({"success": False, "error": error}, [])


def test_progress_is_told(run_javascript: Run) -> None:
    ran = run_javascript("await reportProgress(1, 4, 'on the way')\nreportProgress(0.5)\nreportProgress(NaN)")
    assert [frame.values() for frame in ran.frames] == [
        {"done": 1, "total": 4, "message": "on the way"},
        {"done": 0.5, "total": None, "message": ""},
    ]
    assert run_javascript("await reportProgress('1')").raised[0] == "TypeError"


def test_files_are_read_as_text_or_bytes(run_javascript: Run) -> None:
    start = {"files": [{"path": "/files/a.txt", "file_name": "a.txt", "file_type": "text/plain", "element_id": "1"}]}
    code = """
return [files[0].file_name, readFile(files[0].path), readFile('/files/a.txt', 'utf8'), readFile('a.txt', null),
  readFile('a.txt', {encoding: 'utf-8'})]
"""
    ran = run_javascript(code, start=start, files={"a.txt": "é\0".encode()})
    assert ran.value == ["a.txt", "é\0", "é\0", {"type": "bytes", "base64": "w6kA"}, "é\0"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/files/none", "ENOENT: no such file or directory, open '/files/none'"),
        ("/etc/passwd", "EACCES: permission denied, open '/etc/passwd'"),
        (f"{'../' * 20}etc/passwd", f"EACCES: permission denied, open '{'../' * 20}etc/passwd'"),
        ("/proc/self/environ", "EACCES: permission denied, open '/proc/self/environ'"),
        ("/var/tmp/x", "EACCES: permission denied, open '/var/tmp/x'"),  # noqa: S108
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_as_in_node(run_javascript: Run, path: str, message: str) -> None:
    ran = run_javascript("try { readFile(path) } catch (e) { return [e.message, e.code] }", inputs={"path": path})
    assert ran.value == [message, message.partition(":")[0]]


def test_timers_run_by_time_and_promises_before_them(run_javascript: Run) -> None:
    code = """
const order = []
const say = word => order.push(word)
const late = new Promise(done => setTimeout(done, 500)).then(() => say('late'))
setTimeout(() => { say('first'); Promise.resolve().then(() => say('between')) }, 0)
setTimeout(say, 0, 'second')
queueMicrotask(() => say('micro'))
Promise.resolve().then(() => say('then')).then(() => say('then then'))
clearTimeout(setTimeout(say, 1, 'never'))
let ticks = 0
const every = setInterval(() => { say('tick'); if (++ticks === 3) clearInterval(every) }, 3)
say('now')
await late
return order
"""
    assert run_javascript(code).value == [
        "now", "micro", "then", "then then", "first", "between", "second", "tick", "tick", "tick", "late",
    ]  # fmt: skip


def test_timers_end_with_the_run(run_javascript: Run) -> None:
    ran = run_javascript("setInterval(() => console.log('tick'), 1); setTimeout(() => console.log('late'), 5); 'over'")
    assert (ran.value, logs(ran)) == ("over", [])


def test_an_answer_and_a_timer_are_waited_for_together(run_javascript: Run) -> None:
    code = """
const late = new Promise(done => setTimeout(done, 5, 'timer'))
return [await Promise.race([late, callTool('never', 'answered')]), await callTool('a', 'b')]
"""

    def answer(frame: Frame) -> Iterator[bytes]:
        if frame.values()["tool"] == "a.b":
            yield from echo(frame)

    ran = run_javascript(code, answer=answer, start={"limits": {"wall_seconds": 0.5}})
    assert ran.value == ["timer", {"tool": "a.b", "arguments": {}}]
    assert ran.header["warnings"] == [
        "1 call was still under way when the script returned (never.answered, line 3): await it.",
        "1 call had no answer when the run's time was up (never.answered, line 3); the effect is unknown.",
    ]


def test_random_numbers_differ_between_runs_and_follow_a_seed(run_javascript: Run) -> None:
    code = "const all = Array.from({length: 1000}, Math.random); [all[0], Math.min(...all) >= 0, Math.max(...all) < 1]"
    one, other = run_javascript(code).value, run_javascript(code).value
    assert one[0] != other[0]
    assert one[1:] == other[1:] == [True, True]
    assert run_javascript(code, start={"seed": 7}).value == run_javascript(code, start={"seed": 7}).value


def test_what_a_flood_prints_arrives_in_order(run_javascript: Run) -> None:
    ran = run_javascript("for (let n = 0; n < 5000; n++) console.log(n, 'x'.repeat(100))")
    assert text(ran).split("\n") == [f"{n} {'x' * 100}" for n in range(5000)]


def test_a_flood_and_its_answers_do_not_wait_for_each_other(run_javascript: Run) -> None:
    big = tools(**{"a.b": lambda _: {"text": "y" * 300_000}})
    code = """
const calls = Array.from({length: 30}, () => callTool('a', 'b', {text: 'x'.repeat(300000)}))
return (await Promise.all(calls)).map(got => got.text.length).every(n => n === 300000)
"""
    assert run_javascript(code, answer=big).value is True
