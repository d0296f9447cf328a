"""Which names of a script in JavaScript or TypeScript may be those of tools."""

from __future__ import annotations

import pytest

from paddock.planning.javascript_names import free_names
from paddock.tools.identifiers import taken


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("await add({a: 1, b: n})", "add n"),
        ("await callTool('shop', 'orders', {status: 'add'}) // add", ""),
        ("const [x, y] = await Promise.all([1, 2]); return x.sum / y['add']", ""),
        ("async function twice(a, {b, c: [d]}, ...rest) { return a + b + d + rest }\nawait twice(1)", ""),
        ("{ const add = 1 } await add({})", "add"),
        ("[1].map((add) => add + 1); await add({})", "add"),
        ("[1].map(add)", "add"),
        ("const f = add; await f({})", "add"),
        ("const o = {add, sub: sub}; o.mul({})", "add sub"),
        ("Object.entries({}).map(([key, value]) => `${key}: ${`${value} add`} add`)", ""),
        ("`${`${await add({})}`}`", "add"),
        ("String.raw`add`; tag`x`", "tag"),
        ("const {a: {b}, c = add} = {}; b + c", "add"),
        ("((a = [add]) => a)()", "add"),
        ("let a = 0, b = 1; a += b; for (const x of [1]) { a += x }", ""),
        ("try { throw 1 } catch (e) { e.add }\nPromise.resolve().catch(add)", "add"),
        ("return 1 ? add : sub", "add sub"),
        ("switch (1) { case add: break }", "add"),
        ("const m = (1 + 2) / 3; return /'add/.test(\"x\") ? m : /[/'add]/g", ""),
        ("return a?.add?.({}) ?? add?.({})", "a add"),
        ("const f = (a: number, b?: string) => a\ninterface Row { add: number }\nconst r: Row = f(1)", ""),
        ("type Row = {add: number}; const rows: Row[] = []", ""),
        ("await number({})", "number"),
        ("'it\\'s add' + \"\\\n\" + sub", "sub"),
        ("/* add ' */ sub", "sub"),
        ("$add({})", "$add"),
    ],
)
def test_names_that_are_not_made_are_free(code: str, names: str) -> None:
    free = free_names(code)
    assert free is not None
    assert free - taken("javascript") == frozenset(names.split())


@pytest.mark.parametrize(
    "code",
    [
        "globalThis['a' + 'dd']({})",
        "eval('add()')",
        "new Function('add()')",
        "if (1) /'/.test(''); await add({})",
        "{} /'/.test(''); await add({})",
        "let x = 1; x++ / add({}) / 2",
        "await \\u0061dd({})",
        "'not ended",
        "`not ended ${1}",
        "x = /not ended",
    ],
)
def test_a_script_that_looks_names_up_or_is_not_plain_may_use_any(code: str) -> None:
    assert free_names(code) is None


@pytest.mark.parametrize(
    "code",
    ["/*" * 9000, "`${" * 6000, "=/[" * 6000, "(" * 19000, "({[," * 4500, "[" * 9000 + "]" * 9000, "}" * 19000, "a=>"],
)
def test_no_text_is_too_odd(code: str) -> None:
    assert free_names(code) is None or isinstance(free_names(code), frozenset)
