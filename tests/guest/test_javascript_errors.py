"""A script's failure: its type, message, line, column and frames, and none of ours."""

from __future__ import annotations

from typing import Any

import pytest

from tests.guest.javascript_harness import Run


def place(header: dict[str, Any]) -> tuple[Any, ...]:
    return header["status"], header["type"], header["message"], header.get("line"), header.get("column")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("throw new Error('x')", ("Error", "x", 1, 11)),
        ("\n\n  throw new RangeError('x')", ("RangeError", "x", 3, 13)),
        ("let a = 1; a; a.b.c", ("TypeError", "cannot read property 'c' of undefined", 1, 19)),
        ("1; 2; nothing", ("ReferenceError", "nothing is not defined", 1, 7)),
        ("const f = () => {\n  nothing\n}\nf()", ("ReferenceError", "nothing is not defined", 2, 3)),
        ("await 1\nlet a = {}\nawait a.b.c", ("TypeError", "cannot read property 'c' of undefined", 3, 11)),
        ("[3].map(function g(n) {\n  throw new Error(n)\n})", ("Error", "3", 2, 19)),
        ("JSON.parse('{')", ("SyntaxError", None, 1, None)),
        ("class Odd extends Error {}\nthrow new Odd('x')", ("Odd", "x", 2, 11)),
        (
            "class Odd extends Error {\n  constructor(m) {\n    super(m)\n    this.name = 'Odder'\n  }\n}\n"
            "throw new Odd('x')",
            ("Odder", "x", 7, 11),
        ),
        ("throw 'text'", ("Error", "Uncaught 'text'", None, None)),
        ("throw {a: 1}", ("Error", "Uncaught { a: 1 }", None, None)),
        ("throw null", ("Error", "Uncaught null", None, None)),
        ("throw undefined", ("Error", "Uncaught undefined", None, None)),
        ("await Promise.any([Promise.reject(1)])", ("AggregateError", None, None, None)),
        ("throw Object.assign(new Error('x'), {name: 'Named'})", ("Named", "x", 1, None)),
    ],
)
def test_what_a_script_throws(run_javascript: Run, code: str, expected: tuple[Any, ...]) -> None:
    header = run_javascript(code).header
    assert header["status"] == "raised"
    for got, wanted in zip(place(header)[1:], expected, strict=True):
        if wanted is not None:
            assert got == wanted, header


def test_a_traceback_has_the_frames_of_the_script_alone(run_javascript: Run) -> None:
    code = "function inner() {\n  null.x\n}\nconst outer = () => [1].map(inner)\nouter()"
    header = run_javascript(code).header
    assert header["traceback"] == (
        "TypeError: cannot read property 'x' of null\n"
        "    at inner (main.js:2:3)\n    at outer (main.js:4:29)\n    at main.js:5:1"
    )


def test_a_traceback_shows_the_cause_and_what_else_an_error_has(run_javascript: Run) -> None:
    header = run_javascript("throw Object.assign(new Error('a', {cause: new Error('b')}), {code: 5})").header
    assert header["traceback"] == ("Error: a\n    at main.js:1:48 { code: 5, [cause]: Error: b\n    at main.js:1:48 }")


def test_a_script_reads_its_own_lines_in_a_stack(run_javascript: Run) -> None:
    ran = run_javascript("let s\ntry {\n  null.x\n} catch (e) {\n  s = e.stack\n}\ns")
    assert ran.value == "TypeError: cannot read property 'x' of null\n    at main.js:3:3"


@pytest.mark.parametrize(
    "code",
    [
        "Promise.reject(new TypeError('lost'))\n5",
        "(async () => { throw new TypeError('lost') })()\nreturn 5",
        "async function f() { await null; throw new TypeError('lost') }\nf()\n"
        "await new Promise(done => setTimeout(done, 5))",
        "new Promise(() => { throw new TypeError('lost') })\nawait null",
        "Promise.resolve().then(() => { throw new TypeError('lost') })\n1",
        "setTimeout(() => { throw new TypeError('lost') })\nawait new Promise(done => setTimeout(done, 5))",
        "queueMicrotask(() => { throw new TypeError('lost') })\nawait 5",
        "const p = Promise.reject(new TypeError('lost'))\nsetTimeout(() => p.catch(() => 1), 1)\n"
        "await new Promise(done => setTimeout(done, 5))",
    ],
)
def test_a_failure_that_nobody_handles_fails_the_run(run_javascript: Run, code: str) -> None:
    assert run_javascript(code).raised == ("TypeError", "lost")


@pytest.mark.parametrize(
    "code",
    [
        "const p = Promise.reject(new Error('x')); await null; p.catch(() => 1); 5",
        "try { await Promise.reject(1) } catch {}\n5",
        "await Promise.allSettled([Promise.reject(1)])\n5",
        "Promise.reject(1).catch(() => {})\n5",
        "const p = Promise.reject(1)\ntry { await p } catch {}\n5",
    ],
)
def test_a_rejection_that_is_handled_is_none(run_javascript: Run, code: str) -> None:
    assert run_javascript(code).value == 5


def test_nothing_runs_after_the_first_failure(run_javascript: Run) -> None:
    code = """
queueMicrotask(() => { throw new Error('first') })
queueMicrotask(() => console.log('second'))
await null
console.log('third')
"""
    ran = run_javascript(code)
    assert (ran.raised, ran.frames) == (("Error", "first"), [])


def test_a_script_gets_no_function_of_ours_from_a_stack(run_javascript: Run) -> None:
    prepare = "Error.prepareStackTrace = (error, sites) => sites;"
    ran = run_javascript(f"{prepare} [typeof new Error('x').stack, typeof Error.captureStackTrace]")
    assert ran.value == ["string", "undefined"]


def test_a_script_that_waits_for_nothing_says_so(run_javascript: Run) -> None:
    ran = run_javascript("await new Promise(() => {})")
    assert ran.raised == ("Error", "the script awaits a promise that never settles: no timer or call is pending")


def test_a_long_message_arrives_whole(run_javascript: Run) -> None:
    ran = run_javascript("throw new Error('x'.repeat(60000))")
    assert (ran.status, ran.header["type"]) == ("raised", "Error")
    assert b"x" * 60000 in ran.body


@pytest.mark.parametrize(
    "code",
    [
        "throw {get message() { throw 1 }, __proto__: Error.prototype}",
        "const e = new Error('x'); Object.defineProperty(e, 'message', {get() { throw 1 }}); throw e",
        "const e = new Error('x'); Object.defineProperty(e, 'name', {get() { throw 1 }}); throw e",
        "const e = new Error('x'); Object.defineProperty(e, 'stack', {get() { throw 1 }}); throw e",
        "const e = new Error('x'); e.stack = 5; throw e",
        "const e = new Error('x'); e.name = {}; e.message = Symbol('q'); throw e",
        "const e = new Error('x'); Object.setPrototypeOf(e, null); throw e",
        "throw new Proxy({}, {get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 }})",
        "throw new Proxy(new Error('x'), {get() { throw 1 }})",
        "const e = new Error('x'); e.cause = e; throw e",
        "throw Object.create(Error.prototype)",
        "throw () => 1",
        "throw Symbol('x')",
        "throw '\\ud800\\0'",
    ],
)
def test_an_error_that_defies_being_shown_is_told_all_the_same(run_javascript: Run, code: str) -> None:
    ran = run_javascript(code)
    assert ran.status == "raised", (ran.header, ran.stderr)
    assert isinstance(ran.header["type"], str)
    assert isinstance(ran.header["message"], str)
