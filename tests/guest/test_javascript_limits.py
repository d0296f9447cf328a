"""Where a script in JavaScript meets a limit: of depth, of memory. The process survives to say so."""

from __future__ import annotations

import signal

import pytest

from paddock.jail.wire import Kind
from tests.guest.javascript_harness import Run

LIMITS = {"memory_bytes": 64 * 2**20, "cpu_seconds": 20, "processes": 64, "recursion": None}

DEEP = {
    "a function": "const f = () => { deep++; f() }; f()",
    "a method": "const o = {f() { deep++; return this.f() }}; o.f()",
    "a getter": "const o = {get x() { deep++; return this.x }}; o.x",
    "a constructor": "class A { constructor() { deep++; new A() } }; new A()",
    "a comparator": "const f = () => { deep++; [2, 1].sort(f) }; f()",
    "a callback": "const f = () => { deep++; [1].map(f) }; f()",
    "a replacer": "const f = () => { deep++; return 'x'.replace('x', f) }; f()",
    "toString": "const o = {toString() { deep++; return '' + o }}; '' + o",
    "a proxy": "const p = new Proxy({}, {get(t, k, r) { deep++; return r[k] }}); p.x",
    "proxies": "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); deep = 1e5; p.x",
    "a generator": "function* g() { deep++; yield* g() }; [...g()]",
    "an async function": "const f = async () => { deep++; await f() }; await f()",
    "destructuring": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; const f = ([x]) => { deep++; f(x) }; f(a)",
    "JSON.parse": "deep = 1e6; JSON.parse('['.repeat(1e6))",
    "JSON.stringify": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; deep = 1e5; JSON.stringify(a)",
    "flat": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; deep = 1e5; a.flat(Infinity)",
    "source": "deep = 1e5; new Function('return ' + '['.repeat(1e5) + ']'.repeat(1e5))",
    "unary source": "deep = 1e5; new Function('return ' + '!'.repeat(1e5) + '1')",
    "blocks": "deep = 1e5; new Function('{'.repeat(1e5) + '}'.repeat(1e5))",
}


@pytest.mark.parametrize("code", DEEP.values(), ids=DEEP)
def test_what_goes_too_deep_is_a_range_error_that_a_script_can_catch(run_javascript: Run, code: str) -> None:
    ran = run_javascript(
        f"let deep = 0\ntry {{ {code} }} catch (e) {{ return [e.name, deep] }}", start={"limits": LIMITS}
    )
    name, deep = ran.value
    assert name == "RangeError"
    assert deep > 1000


def test_too_deep_and_not_caught_names_the_line(run_javascript: Run) -> None:
    ran = run_javascript("function f() {\n  f()\n}\nf()")
    assert ran.raised == ("RangeError", "Maximum call stack size exceeded")
    assert ran.header["line"] == 2


@pytest.mark.parametrize("code", ["(" * 20000 + "1" + ")" * 20000, "[" * 50000 + "]" * 50000, "!" * 200000 + "1"])
def test_a_script_that_is_itself_too_deep_is_rejected(run_javascript: Run, code: str) -> None:
    assert run_javascript(code, start={"limits": LIMITS}).status == "rejected"


GREEDY = {
    "objects": "const a = []; for (;;) a.push({x: 1})",
    "strings": "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(1000) + i)",
    "one string": "'x'.repeat(2 ** 29)",
    "buffers": "const a = []; for (;;) a.push(new Uint8Array(1e6))",
    "an array": "new Array(1e8).fill(0)",
    "a map": "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)",
    "promises": "const a = []; for (;;) a.push(Promise.resolve(1).then(x => x))",
    "split": "'a,'.repeat(1e7).split(',')",
    "after await": "await null; const a = []; for (;;) a.push({x: 1})",
    "in a job": "globalThis.a = []; queueMicrotask(() => { for (;;) a.push({x: 1}) }); await new Promise(() => {})",
    "in a timer": "globalThis.a = []; setTimeout(() => { for (;;) a.push({x: 1}) }); await new Promise(() => {})",
    "async recursion": "async function f() { await null; return f() }; await f()",
    "a chain": "let p = Promise.resolve(1); for (let i = 0; i < 1e6; i++) p = p.then(x => x + 1); await p",
    "the result": "let x = ['x'.repeat(1000)]; for (let i = 0; i < 20; i++) x = [x, x]; x",
    "a line": "console.log('x'.repeat(2e7))",
}


@pytest.mark.parametrize("code", GREEDY.values(), ids=GREEDY)
def test_a_script_that_wants_too_much_memory_says_so(run_javascript: Run, code: str) -> None:
    ran = run_javascript(code, start={"limits": LIMITS | {"memory_bytes": 32 * 2**20, "output_bytes": 1 << 30}})
    assert ran.status == "raised", (ran.header, ran.exit_code, ran.stderr)
    assert ran.raised == ("MemoryError", "out of memory")


def test_a_script_may_catch_that_memory_is_short_and_go_on(run_javascript: Run) -> None:
    code = "try { const a = []; for (;;) a.push({x: 1}) } catch (e) { console.log(e.message) }\n[1, 2].map(x => x * 2)"
    assert run_javascript(code, start={"limits": LIMITS}).value == [2, 4]


def test_a_script_that_throws_null_is_not_short_of_memory(run_javascript: Run) -> None:
    assert run_javascript("throw null", start={"limits": LIMITS}).raised == ("Error", "Uncaught null")


def test_a_script_that_never_ends_is_ended_by_the_limit_of_the_processor(run_javascript: Run) -> None:
    ran = run_javascript("console.log('begun'); for (;;);", start={"limits": LIMITS | {"cpu_seconds": 1}})
    assert (ran.status, ran.exit_code) == (None, -signal.SIGXCPU)
    told = [frame.values() for frame in ran.frames if frame.kind == Kind.REACHED]
    assert (len(ran.frames), told) == (2, [{"line": 1}])
