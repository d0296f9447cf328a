"""Which scripts in JavaScript and TypeScript the light engine takes."""

from __future__ import annotations

import pytest

from paddock.config import Config
from paddock.model.request import Request
from paddock.planning.fits_javascript import misfit
from paddock.planning.plan import make_plan

ALL = ("monty", "cpython", "quickjs", "node")
FITS = [
    "1 + 1",
    "const x = await callTool('a', 'b', {}); return x",
    "// require('fs')\n1",
    "/* process.exit() */ 1",
    "'require(\"fs\")'",
    "\"import x from 'y'\"",
    "`process.env ${1 + 1} Buffer`",
    "`a ${`b ${'}'} process`} require`",
    "/process/.test('x')",
    "const re = /[/'\"`]process/g; re",
    "x => /import/.test(x)",
    "return /Buffer/.exec(s)",
    "const a = 4, b = 2, c = 1; a / b / c; 'x'",
    "a.process; a?.Buffer; a.#x; a.import; a.export",
    "({ process: 1, require: 2, 'import': 3, export: 4 })",
    "({ process : 1 }).process",
    "const process = { pid: 1 }; process.pid",
    "let Buffer = 1; Buffer + 1",
    "function require(x) { return x } require('fs')",
    "class File {} new File()",
    "async function fetch() {} await fetch()",
    "function* performance() {} performance()",
    "function *performance() {} performance()",
    "const processes = [1]; processes.length",
    "my_process + $process + process$",
    "const { a } = b; a['process']",
    "importantThing + exported",
    "label: for (;;) { break label }",
    "'it\\'s process'",
    "const s = 'a\\\nprocess'; s",
    "setTimeout(() => 1, 1); structuredClone({}); new URL('http://a'); atob(btoa('x'))",
    "x = a ? b : c",
    "console.log(1); console?.error(2); console\n  .warn(3)",
    "const { log, error: complain } = console; log(1)",
    "[1].forEach(console.log)",
    "const console = { table() {} }; console.table()",
    "({ console: 1 })",
]
FITS_TYPED = [
    "const f = (process: string) => 1; f('x')",
    "type T = { process: string; require?: number }\nconst t: T = { process: 'a' }\nt.process",
    "interface Response { ok: boolean }\nconst r: Response = { ok: true }\nr.ok",
    "type File = string\nconst f: File = 'a'; f",
    "enum Event { A }\nEvent.A",
    "let x = <T,>(a: T): T => a; x<number>(1)",
    "const x = y as unknown as string",
    "class A { constructor(private process: string, public module?: string) {} }\nnew A('x')",
    "namespace performance { export const now = 1 }",
]
MISFITS = [
    ("console.log(1)\nconsole.table([1])", "uses console.table", 2),
    ("console.group('x')", "uses console.group", 1),
    ("console.time?.('x')", "uses console.time", 1),
    ("const { log, dir } = console", "uses console.dir", 1),
    ("const logger = console", "uses console", 1),
    ("f({ console })", "uses console", 1),
    ("console['log'](1)", "uses console", 1),
    ("globalThis.process?.version", "uses process", 1),
    ("navigator.userAgent", "uses navigator", 1),
    ("const fs = require('fs')", "uses require", 1),
    ("1\n\nprocess.exit(1)", "uses process", 3),
    ("Buffer.from('x')", "uses Buffer", 1),
    ("[...process.argv]", "uses process", 1),
    ("f(...Buffer.from('x'))", "uses Buffer", 1),
    ("import fs from 'node:fs'", "imports a module", 1),
    ("export default 1", "exports a module", 1),
    ("await import('node:fs')", "imports a module", 1),
    ("`${process.pid}`", "uses process", 1),
    ("`a ${`b ${Buffer}`}`", "uses Buffer", 1),
    ("const r = await fetch('http://a')", "uses fetch", 1),
    ("eval('1')", "uses eval", 1),
    ("new Intl.NumberFormat()", "uses Intl", 1),
    ("setImmediate(f)", "uses setImmediate", 1),
    ("x = a / require('b') / 2", "uses require", 1),
    ("({ process })", "uses process", 1),
    ("cond ? process : null", "uses process", 1),
    ("switch (x) { case Buffer: break }", "uses Buffer", 1),
    ("'a'\n// b\nmodule.exports = 1", "uses module", 3),
    ("const a = b // it's\nprocess.pid", "uses process", 2),
    ("const x: number = process.pid", "uses process", 1),
    ("import type { A } from './a'", "imports a module", 1),
]


@pytest.mark.parametrize("code", FITS + FITS_TYPED)
def test_what_names_nothing_of_node_fits(code: str) -> None:
    assert misfit(code, frozenset()) is None


@pytest.mark.parametrize(("code", "what", "line"), MISFITS)
def test_what_only_node_has_is_found_with_its_line(code: str, what: str, line: int) -> None:
    found = misfit(code, frozenset())
    assert found is not None
    assert (found.what, found.line) == (what, line)


def test_a_name_that_the_script_is_given_is_its_own() -> None:
    assert misfit("process.x + fetch", frozenset({"process", "fetch"})) is None


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_auto_takes_the_light_engine_and_says_why_not(language: str) -> None:
    light = make_plan(Request("1", language=language), Config(), engines=ALL, tools=())
    full = make_plan(Request("\nrequire('fs')", language=language), Config(), engines=ALL, tools=())
    program = make_plan(Request("1", language=language, mode="script"), Config(), engines=ALL, tools=())
    assert [(plan.engine, plan.engine_reason) for plan in (light, full, program)] == [
        ("quickjs", None),
        ("node", "uses require, line 2"),
        ("node", "script mode"),
    ]
