"""The value of a script: a top-level `return`, or its last expression."""

from __future__ import annotations

from typing import Any

import pytest

from tests.guest.javascript_harness import Run

BEFORE = "let x = 1, y = 2, a = {b: 3}, b = 0, f = (...given) => given;\n"
"""Stands before each script, so that none of them need declare what it uses."""

SCRIPTS: list[tuple[str, Any]] = [
    ("1 + 1", 2),
    ("1 + 1;", 2),
    ("1 + 1;;\n// the end", 2),
    ("x\n", 1),
    ("return 5", 5),
    ("return", None),
    ("if (x) return 'early'\n'late'", "early"),
    ("if (!x) return 'early'\n'late'", "late"),
    ("x = 5", None),
    ("a.b += 1", None),
    ("x ??= 5", None),
    ("(x = 5)", 5),
    ("x === 1", True),
    ("x => x", "[Function (anonymous)]"),
    ("const z = 1", None),
    ("const z = 1; z", 1),
    ("const z = 1\nz + 1", 2),
    ("let { b: c } = a; c", 3),
    ("function g() {}", None),
    ("async function g() {}", None),
    ("class A {}", None),
    ("function g() { return 7 }\ng()", 7),
    ("function g() {}\n(x)", 1),
    ("class A {}\n[x]", [1]),
    ("{p: 1}", {"p": 1}),
    ("({p: 1})", {"p": 1}),
    ("{\n  p: x,\n  q: [y]\n}", {"p": 1, "q": [2]}),
    ("[1, 2]\n  .map(n => n * 2)\n  .filter(n => n > 2)", [4]),
    ("a\n  ?.b", 3),
    ("x +\n  y", 3),
    ("x\n  + y", 3),
    ("x ? 'yes'\n  : 'no'", "yes"),
    ("x &&\ny", 2),
    ("f(1,\n  2)", [1, 2]),
    ("const g = f\n(x)", None),
    ("const g = () => {}\n(x)", 1),
    ("const g = {}\n[x]", None),
    ("x\n++y", 3),
    ("x++", 1),
    ("!x", False),
    ("typeof x", "number"),
    ("void 0", None),
    ("new Map([['k', 1]])", {"k": 1}),
    ("`t${`u${x}`}`", "tu1"),
    ("const t = `a;\nb${ {p: 1}.p };`\nt.length", 6),
    ("'a;b'", "a;b"),
    ("/a;b/.source", "a;b"),
    ("/[/;]/.test(';')", True),
    ("if (f(x)) /[)\"]/.test('a')\ny", 2),
    ("x / y / 1", 0.5),
    ("const r = /x/g\nr.flags", "g"),
    ("x /* ; */ + /* \n */ y // ; z", 3),
    ("if (x) { y }", None),
    ("if (x)\n  y", None),
    ("if (x) {}\nelse {}", None),
    ("if (x) {} else {}\ny", 2),
    ("for (const i of [1]) {}", None),
    ("for (const i of [1]) {}\ny", 2),
    ("while (b) {}", None),
    ("do { x++ } while (x < 3)", None),
    ("do { x++ } while (x < 3)\nx", 3),
    ("switch (x) { case 1: y }", None),
    ("try { x } finally { y }", None),
    ("try { throw 1 } catch (e) { x = e + 1 }\nx", 2),
    ("label: for (;;) { break label }\ny", 2),
    ("throwing: y", None),
    ("await Promise.resolve(4)", 4),
    ("const v = await 5\nv", 5),
    ("for await (const i of [1]) x += i\nx", 2),
    ("(async () => 6)()", 6),
    ("f(function () {\n  return 1;\n})", ["[Function (anonymous)]"]),
    ("x, y", 2),
    ("x; y", 2),
    ("{ x }", {"x": 1}),
    ("'use strict'", "use strict"),
    ("", None),
    ("// nothing", None),
    ("/* nothing */", None),
    ("é = 1", None),
    ("const \\u0061b = 5; ab", 5),
    ("x\n;[y].length", 1),
    ("var g = function () {}\n/x/g.flags", "error"),
    ("a.return", None),
    ("({return: 1}).return", 1),
    ("x in {1: 1}", True),
    ("x\nin {1: 1}", True),
    ("async () => {}", "[Function (anonymous)]"),
    ("let i = 0; while (i < 3) i++; i", 3),
    ("y\n`t`", "error"),
]


@pytest.mark.parametrize(("code", "expected"), SCRIPTS)
def test_the_value_of_a_script(run_javascript: Run, code: str, expected: Any) -> None:
    ran = run_javascript(BEFORE + code)
    if expected == "error":
        assert ran.status == "raised", ran.header
    else:
        assert ran.value == expected


def test_a_script_may_be_one_expression_from_its_first_line_on(run_javascript: Run) -> None:
    assert run_javascript("{a: [1]}").value == {"a": [1]}
    assert run_javascript("#!/usr/bin/env node\n1 + 1").value == 2
    assert run_javascript("'use strict'; (function () { return this === undefined })()").value is True
    assert run_javascript("(function () { return this === globalThis })()").value is True
    assert run_javascript("this.x === undefined").value is True


def test_a_nul_in_the_text_of_a_script_is_a_character_like_others(run_javascript: Run) -> None:
    assert run_javascript("'a\0b'.length").value == 3


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("const x = ;", 1, 11),
        ("let a\nlet b = 1 +", 2, None),
        ("1 1", 1, 3),
        ("}", None, None),
        ("if (", None, None),
        ("let q; let q", 1, None),
        ("import fs from 'fs'\nfs", 1, None),
        ("export default 1", 1, 1),
        ("`unfinished", 1, None),
    ],
)
def test_a_script_that_does_not_compile_is_rejected(
    run_javascript: Run, code: str, line: int | None, column: int | None
) -> None:
    ran = run_javascript(code)
    assert (ran.status, ran.header["type"]) == ("rejected", "SyntaxError")
    if line is not None:
        assert ran.header["line"] == line
    if column is not None:
        assert ran.header["column"] == column


@pytest.mark.parametrize(
    "code",
    [
        "console.log('ran')\nlet a = ;",
        "}); console.log('ran'); (async function () {",
        "x = {} / 1; }); console.log('ran'); (async function () { y = {} / 1",
    ],
)
def test_nothing_of_a_script_that_does_not_compile_runs(run_javascript: Run, code: str) -> None:
    ran = run_javascript(code)
    assert (ran.status, ran.frames) == ("rejected", [])


@pytest.mark.parametrize("link", ["1 +\n", "1\n+ ", "f\n.length +\n"])
def test_the_last_expression_may_have_very_many_lines(run_javascript: Run, link: str) -> None:
    assert run_javascript(f"const f = 'x'\n{link * 5000}1").value == 5001


@pytest.mark.parametrize("brackets", ["[]", "()", "{}"])
def test_brackets_in_each_other_beyond_all_measure_are_refused(run_javascript: Run, brackets: str) -> None:
    ran = run_javascript(brackets[0] * 60_000 + brackets[1] * 60_000)
    assert (ran.header["status"], ran.header["message"]) == ("rejected", "Maximum call stack size exceeded")
