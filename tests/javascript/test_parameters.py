"""What a hint knows of the parameters and loops of failing functions, and that functions are left as they are."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

KNOWN = {
    "const f = (user) => user.address.city;\nconst users = [{ address: null }]\nusers.map((u) => f(u))": (
        "`user.address` is null"
    ),
    "function f(rows) {\n  for (const row of rows) row.name.trim()\n}\nconst all = [{ name: 1 }]\nf(all)": (
        "`row.name` is 1: write"
    ),
    "function f(row) {\n  return row.name.trim()\n}\nconst all = [{ name: 1 }]\nall.map(f)": "`row.name` is 1: write",
    "function f({ name, age }) {\n  return name.trim() + age\n}\nconst one = { name: 1 }\nf(one)": "`name` is 1: write",
    "const g = (n) => n.toFixed(2)\nfunction f(row) {\n  return g(row.n)\n}\nconst rows = [{ n: 'x' }]\nrows.map(f)": (
        "`n` is 'x'"
    ),
    "const xs = [1, 2]\nfor (const x in xs) {\n  x.toFixed(1)\n}": "gives keys, which are text: write `for (const x of",
}
UNKNOWN = {  # what the parameter holds is not certain
    "const f = (n) => n.toFixed(2)\nf(1)\nf(String(2))": "something else",
    "function f(n) {\n  n = `${n}`\n  return n.toFixed(2)\n}\nconst one = 1\nf(one)": "something else",
    "const f = (n) => n.toFixed(2)\nconst g = [f, f]\nf(1)\ng[0]('2')": "something else",
}
UNCHANGED = {
    "function add(a, b) { return a + b }\nreturn add.toString()": "function add(a, b) { return a + b }",
    "let n = 0\nconst f = (s) => /x/\nn++\nreturn n": 1,
    "let n = 0\nconst f = (o) => o.in\nn++\nreturn n": 1,
    "function f(x) { if (!x) throw new Error('mine') }\nconst g = new Function(`return (${f})`)()\n"
    "try { g(0) } catch (e) { return e.message }": "mine",
    "const o = {}\ntry { for (o.key of [1]) { throw new Error('mine') } } catch (e) { return e.message }": "mine",
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


@pytest.mark.parametrize("code", [*KNOWN, *UNKNOWN])
async def test_a_hint_tells_of_parameters_and_loops_what_is_certain(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert result.error is not None
        assert {**KNOWN, **UNKNOWN}[code] in result.error.hint, (engine, result.error)


@pytest.mark.parametrize("code", UNCHANGED)
async def test_a_script_does_what_it_would_do_without_hints(both: Both, code: str) -> None:
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
