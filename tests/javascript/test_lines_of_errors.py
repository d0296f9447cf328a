"""Errors whose place an engine does not report, or reports wrongly, name the line of the script."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

LINES = [
    ("const a = 1\nconst b = undefined\nconst {x} = b\nx", 3),
    ("function g() { return null }\nconst z = 2\nconst { a, b } = g()\nreturn a", 3),
    ("const z = 2\nlet q\nconst [a, b] = q\nreturn a", 3),
    ("const o = {}\n\nconst { a: { b } } = o\nreturn b", 3),
    ("const o = {\n  get v() {\n    return this.w.z\n  }\n}\no.v", 3),
    ("class T {\n  toJSON() {\n    return this.w.z\n  }\n}\nreturn [new T()]", 3),
    ("const data = { rows: null }\nconst r = data\n  .rows\n  .map(x => x)\nreturn r", 4),
    ("class A {}\nlet c = 0\nA()", 3),
    ("const a = null\nlet z\nObject.entries(a)", 3),
    # Thrown values that are no errors.
    ("const a = 1\n\nthrow 'bad input'", 3),
    ("function check(v) {\n  if (!v) throw `no ${v} value`\n}\nif (0) throw 'other text'\ncheck(0)", 2),
    ("for (let i = 0; i < 3; i++) {\n  if (i === 2)\n    throw 404\n}", 3),
    ("const e = { text: 'from above' }\nif (1) {\n  throw e.text\n}", 3),
    ("await new Promise((resolve, reject) => {\n  setTimeout(() => reject('timeout'), 1)\n})", 2),
    ("setTimeout(() => {\n  throw { code: 5 }\n}, 1)\nawait new Promise(r => setTimeout(r, 5000))", 2),
    ("if (1) throw 1\nif (1) throw 2", None),
    # Errors that no line of the script made.
    ("const a = {}\na.self = a\nreturn a", 3),
    ("const a = [1]\na.map(async x => x)", 2),
    ("const a = 1\nawait new Promise(() => {})\nreturn a", 2),
]


@pytest.mark.parametrize(("code", "line"), LINES)
async def test_an_error_names_its_line(both: Both, code: str, line: int | None) -> None:
    for engine, result in (await both.run(code)).items():
        assert result.error is not None
        assert (engine, result.error.line) == (engine, line)


NODE = [
    ("const fs = require('fs')\nfs.createReadStream('/none')\nawait new Promise(r => setTimeout(r, 5000))", 2),
    ("const {spawn} = require('child_process')\nspawn('nonesuch')\nawait new Promise(r => setTimeout(r, 5000))", 2),
    ("const {promisify} = require('util')\nawait promisify(require('zlib').gunzip)(Buffer.from('abc'))", 2),
    (
        "const t = {}\nrequire('zlib').gunzip(Buffer.from('abc'), (e, d) => {\n"
        "  if (e) throw e\n})\nawait new Promise(() => {})",
        3,
    ),
]


@pytest.mark.parametrize(("code", "line"), NODE)
async def test_an_error_of_node_names_the_line_that_led_to_it(both: Both, code: str, line: int) -> None:
    error = (await both.paddock.run(code, language="javascript", engine="node")).error
    assert error is not None
    assert error.line == line


async def test_a_value_without_a_line_is_told_to_be_an_error(both: Both) -> None:
    for result in (await both.run("if (1) throw 1\nif (1) throw 2")).values():
        assert result.error is not None
        assert result.error.hint == "Throw an Error, which knows its line: `throw new Error(text)`."
