"""`console.log` shows a value on both engines as Node does."""

from __future__ import annotations

import re

import pytest

from tests.javascript.conftest import Both

VALUES = (
    "1, -0, NaN, 1e21, 10n, true, null, undefined",
    "'text'",
    "['text', `it's`, 'a\"b', 'both \\' \" `', 'line\\nbreak', '\\x07', 'größe']",
    "''",
    "Symbol('s'), [Symbol('s')]",
    "[]",
    "{}",
    "[1, 'a', [2, [3, [4, [5]]]]]",
    "{ a: 1, 'b-c': { d: { e: { f: { g: 1 } } } }, 2: 3 }",
    "Array.from({ length: 120 }, (_, i) => i)",
    "Array.from({ length: 10 }, (_, i) => 'word' + i)",
    "Array.from({ length: 30 }, (_, i) => 'x'.repeat(i % 7))",
    "[, 1, , , 2, ,]",
    "Object.assign([1, 2], { extra: true })",
    "'x'.repeat(200)",
    "['x'.repeat(100), 'y'.repeat(100)]",
    "{ long: 'x'.repeat(90), other: 1 }",
    "new Map([['a', 1], [{ k: 1 }, new Map()]])",
    "new Set([1, 'b', [2]])",
    "new Map(), new Set(), new WeakMap(), new WeakSet()",
    "new Date(0), [new Date(NaN)]",
    "/a+/gi, [/b/]",
    "function named() {}, () => {}, async () => {}, function* g() {}, class A {}, class B extends Array {}",
    "[function named() {}, class A {}, class B extends Map {}]",
    "Object.assign(function f() {}, { x: 1 })",
    "new (class Point { constructor() { this.x = 1 } })()",
    "new (class Empty {})()",
    "Object.create(null), Object.create({ inherited: 1 })",
    "{ get a() { return 1 }, set a(v) {}, get b() { return 2 }, set c(v) {} }",
    "{ [Symbol('k')]: 1, [Symbol.iterator]: 2 }",
    "new Uint8Array([1, 2]), new Float64Array([1.5]), new BigInt64Array(1)",
    "new ArrayBuffer(4), new DataView(new ArrayBuffer(2))",
    "Promise.resolve(1), Promise.reject(2).catch(() => 3) && new Promise(() => {})",
    "new Number(1), new String('a'), new Boolean(false), Object(1n), Object(Symbol('s'))",
    "new Proxy({ a: 1 }, {}), new Proxy([1], {})",
    "(() => { const o = { name: 'o' }; o.self = o; o.list = [o]; return o })()",
    "(() => { const a = {}; return [a, a] })()",
    "[1, 2].values(), 'ab'[Symbol.iterator](), 'ab'.matchAll(/a/g)",
    "(function* () { yield 1 })(), (async function* () {})()",
    "globalThis === this, Math, JSON",
    "'%s is %d and %i, %f, %j, %O, %%, %c.', 'a', 4.5, 4.5, '1.5', { a: 1 }, { b: 2 }, 'css'",
    "'%s', { toString() { return 'own' } }, 'rest', 5",
    "'100%', 5, '%d'",
    "{ a: [{ b: { c: {} } }], d: [[[[]]]] }",
    "[[1, 2, [3, 4]], { x: [{}] }]",
    "{ f() {}, g: () => {}, async h() {}, *i() {} }",
    "[undefined, null, , NaN]",
    "{ u: undefined, n: null }",
    "[1.0, -1.5, 0.1 + 0.2, 1_000_000]",
    "['a', 'b'].entries().toArray()",
    "{ date: new Date(86400000), re: /x/y, big: 5n, sym: Symbol() }",
    "[true, false], [[]], [{}]",
    "Object.freeze({ a: 1 }), Object.seal([1])",
    "{ 'key with spaces': 1, valid_id: 2, '1a': 3, ä: 4 }",
    "[new Error('inside').message, String(new TypeError('t'))]",
    "'a\\u2028b', ['a\\u2028b', '\\ud83d\\ude00', '\\ud800']",
)
# What the light engine shows otherwise: its words, and Node's.
OTHERWISE = {
    "new Map([[1, 2]]).entries()": ("Object [Map Iterator] {}", "[Map Entries] { [ 1, 2 ] }"),
    "new Set([1]).values()": ("Object [Set Iterator] {}", "[Set Iterator] { 1 }"),
    "'%o', [1]": ("[ 1 ]", "[ 1, [length]: 1 ]"),
    "new URLSearchParams('a=1')": ("URLSearchParams {}", "URLSearchParams { 'a' => '1' }"),
    "(function () { return arguments })(1)": ("{ '0': 1 }", "[Arguments] { '0': 1 }"),
    "[new URL('https://a/b')].length && new URL('https://a/b')": ("https://a/b", "URL {"),
}
METHODS = (
    "console.log()",
    "console.log('a', 'b')\nconsole.info('i')\nconsole.debug('d')\nconsole.warn('w')\nconsole.error('e')",
    "const e = new RangeError('bad')\ne.stack = 'RangeError: bad\\n    at somewhere'\nconsole.log(e)\nconsole.log([e])",
    "const e = new Error('x', { cause: 'why' })\ndelete e.stack\ne.stack = 'Error: x'\ne.code = 5\nconsole.log(e)",
    "function f() {\n  throw new Error('thrown')\n}\ntry {\n  [f].map((g) => g())\n} catch (e) {\n"
    "  console.log(e.stack.replace(/:\\d+(?=\\)?$)/gm, ''))\n}",
    "class Mine extends Error {}\nconst e = new Mine('m')\ne.stack = undefined\nconsole.log(`${e}`, e.name)",
    "console.log({ toJSON() { return 1 } }, { inspect() { return 2 } })",
    "const { log } = console\nlog('apart');\n[1, 2].forEach(console.log)",
)
ERRORS = (
    "console.log(new Error('x'))",
    "class Odd extends Error { code = 5 }\nconsole.log([new Odd('x')])",
    "console.log({ e: new TypeError('t', { cause: new Error('c') }) })",
    "console.log(new AggregateError([new Error('a')], 'all'))",
    "const e = new Error('x')\ne.name = 'Named'\nconsole.log(e)",
    "console.log(new Map([['k', new RangeError('r')]]))",
    "function f() {\n  return new Error('deep')\n}\nconst g = () => f()\nconsole.log([1].map(() => g()))",
    "console.error('why:', await Promise.reject(new URIError('late')).catch((e) => e))\nconsole.log(1)",
)
"""With the stacks that the engines give them."""


async def test_values_are_shown_alike(both: Both) -> None:
    light, node = (await both.run("\n".join(f"console.log({values})" for values in VALUES))).values()
    assert (light.error, node.error) == (None, None)
    shown = [dict(zip(VALUES, result.logs, strict=True)) for result in (light, node)]
    assert shown[0] == shown[1]
    assert (light.stdout, "\n".join(log["text"] for log in node.logs)) == (node.stdout, node.stdout.removesuffix("\n"))


@pytest.mark.parametrize("code", METHODS, ids=range(len(METHODS)))
async def test_a_line_is_written_alike(both: Both, code: str) -> None:
    light, node = (await both.run(code)).values()
    assert (light.error, light.stdout, light.stderr, light.logs) == (node.error, node.stdout, node.stderr, node.logs)
    assert node.stdout


@pytest.mark.parametrize("code", ERRORS)
async def test_an_error_is_shown_alike(both: Both, code: str) -> None:
    # A column may be that of another part of the same expression.
    light, node = (
        re.sub(r"(main\.js:\d+):\d+", r"\1", result.stdout + result.stderr)
        for result in (await both.run(code)).values()
    )
    assert light == node
    assert "main.js:1" in node or "main.js:2" in node


@pytest.mark.parametrize("values", OTHERWISE, ids=lambda text: ascii(text)[1:40])
async def test_what_is_shown_otherwise_is_known(both: Both, values: str) -> None:
    results = await both.run(f"console.log({values})")
    assert tuple(result.stdout.splitlines()[0] for result in results.values()) == OTHERWISE[values]
