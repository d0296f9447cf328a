"""What failing functions and loops tell of their variables, and that a script does not notice it."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

KNOWN = {
    "const f = (user) => user.address.city;\n[{ address: null }].map((u) => f(u))": "Here user = an object",
    "function f(rows) {\n  for (const row of rows) row.name.trim()\n}\nf([{ name: 1 }])": "`row.name` is 1: write",
    "class A {\n  items = {}\n  all() {\n    return this.items.map(String)\n  }\n}\nnew A().all()": "`this.items` is",
    "const f = (s, k) => s[k].x\nf({ a: 1 }, 'b')": "Here k = 'b'; s = an object with the keys a",
    "const f = (l, n) => {\n  const one = l.find((x) => x === n)\n  return one.id\n}\nf([1], 2)": (
        "`one` is undefined: check what sets it (line 2: `find` found no item), or write `one?.id`. Here l = an array"
    ),
    "const at = new Map([[7, 'x']])\nconst f = (k) => {\n  const v = at.get(k)\n  return v.id\n}\nf('7')": "such as 7",
    "const f = async ({ day }) => new Date(day).toISOString()\nawait Promise.all([{ day: 'x' }].map(f))": "day = 'x'",
}
UNCHANGED = {
    "const f = (a) => (b) => a ? (c) => a + b + c : (d) => d\nreturn f(1)(2)(3)": 6,
    "const f = x => x\nreturn [1, 2].map(f).map(x => x / 2 / 1).join()": "0.5,1",
    "const f = (x) => `${[x].map((y) => `<${y}>`)}${x}`\nreturn f(1)": "<1>1",
    "const f = (x) => ({ x, g: (y) => y, })\nreturn f(1).g(2) + f(1).x": 3,
    "const f = (x) => x // ) }\nconst g = (x) => /[)}]/.test(x) ? x : null\nreturn f(1) + g('}')": "1}",
    "const f = (x) =>\n  x\n    .trim()\n    .length\nreturn f(' a ')": 1,
    "let n = 1\nconst f = (a) => a\n++n\nreturn f(1) + n": 3,
    "function* g(n) { for (let i = 0; i < n; i++) yield i }\nreturn [...g(3)]": [0, 1, 2],
    "async function* g(n) { yield n }\nfor await (const x of g(5)) { return x }": 5,
    "class A { constructor(a) { this.a = a } get b() { return this.a } static c(x) { return new A(x) } }\n"
    "class B extends A { constructor(x) { super(x + 1) } ['d'](y) { return super.b + y } }\nreturn new B(1).d(2)": 4,
    "function f(a, { b = (z) => z, ...c } = {}, ...d) { return [a, b(2), c.q, d.length, arguments.length, f.length] }\n"
    "return f(1, { q: 3 }, 4, 5)": [1, 2, 3, 2, 4, 1],
    "function f(n) { return g(n); function g(m) { return m * 2 } }\nreturn f(4)": 8,
    "function f(x) { 'use strict'; return this === undefined }\nreturn f(1)": True,
    "outer: for (const a of [1, 2]) { for (const b of [1, 2]) { if (b > 1) continue outer; if (a > 1) break outer } }\n"
    "return 1": 1,
    "const f = (x) => { try { return x.y.z } catch (e) { return e.constructor === TypeError } finally { x = 2 } }\n"
    "return f({})": True,
    "const fs = []\nfor (let i = 0; i < 2; i++) { fs.push(() => i) }\nreturn fs.map((f) => f())": [0, 1],
    "const o = { async m(x) { return x }, get(y) { return y } }\nreturn [await o.m(1), o.get(2)]": [1, 2],
}


@pytest.mark.parametrize("code", KNOWN)
async def test_a_hint_tells_of_parameters_and_loops(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert result.error is not None
        assert KNOWN[code] in result.error.hint, (engine, result.error)


@pytest.mark.parametrize("code", UNCHANGED)
async def test_a_script_does_what_it_would_do_without_them(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output) == (engine, UNCHANGED[code]), result.error


async def test_a_script_that_is_wrong_only_by_itself_is_rejected(both: Both) -> None:
    for engine, result in (await both.run("function f(a) {\n  let a = 1\n}")).items():
        assert (engine, result.verdict.value) == (engine, "rejected")


async def test_columns_are_those_of_the_source(both: Both) -> None:
    code = "const f = (a) => ((b) => { for (const c of [1]) { return null.x + a + b + c } })\nf(1)(2)"
    for engine, result in (await both.run(code)).items():
        assert result.error is not None
        assert result.error.column is not None
        assert (engine, result.error.line, code[result.error.column - 1 :][:4]) == (engine, 1, "x + "), result.error


async def test_an_endless_recursion_has_the_line_of_its_call(both: Both) -> None:
    for engine, result in (await both.run("function f(n) {\n  const m = n + 1\n  return f(m) + 1\n}\nf(1)")).items():
        assert result.error is not None
        assert (engine, result.error.type, (result.error.line or 0) in (1, 2, 3)) == (engine, "RangeError", True)


async def test_an_error_of_another_task_tells_nothing_of_this_one(both: Both) -> None:
    """The last error that was caught is another one."""
    code = (
        "const fail = async (x, ms) => {\n  await new Promise((done) => setTimeout(done, ms))\n  return x.a.b\n}\n"
        "const first = fail({ n: 1 }, 1)\nconst second = fail({ q: 2 }, 20).catch(() => 0)\nawait second\nawait first"
    )
    for engine, result in (await both.run(code)).items():
        assert result.error is not None
        assert " q" not in result.error.hint, (engine, result.error)
