"""Features of ECMAScript, one small script each: both engines give the value and the output that its first lines say.

// gives: the result, as JSON
// prints: what it prints, as JSON; nothing where this line is not there
// since: the year of the ECMAScript that has it, where that is 2023 or later
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddock.planning.javascript_words import node_word
from tests.javascript.conftest import ENGINES, Both

SCRIPTS = sorted(Path(__file__).with_name("features").glob("*.js"))


def header(code: str) -> dict[str, str]:
    """What the first lines say."""
    found = {}
    for line in code.split("\n"):
        name, colon, value = line.removeprefix("// ").partition(": ")
        if not (line.startswith("// ") and colon):
            break
        found[name] = value
    assert {"gives"} <= found.keys() <= {"gives", "prints", "since"}
    return found


def test_there_are_many() -> None:
    years = [int(header(script.read_text(encoding="utf-8")).get("since", 0)) for script in SCRIPTS]
    assert len([year for year in years if year >= 2023]) >= 60


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
async def test_a_script_does_the_same_on_both_engines(both: Both, script: Path) -> None:
    code = script.read_text(encoding="utf-8")
    said = header(code)
    output, stdout = json.loads(said["gives"]), json.loads(said.get("prints", '""'))
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.output, result.stdout, result.stderr) == (engine, None, output, stdout, "")
        assert [log["text"] for log in result.logs] == stdout.splitlines()


@pytest.mark.parametrize(
    ("code", "kind", "message", "line"),
    [
        ("throw new Error('a')", "Error", "a", 1),
        ("\n\nthrow new TypeError('b')", "TypeError", "b", 3),
        ("function f() {\n  throw new RangeError('c')\n}\n\nf()", "RangeError", "c", 2),
        ("const x = 1\nx.y.z", "TypeError", None, 2),
        ("let n = null\n\nn.call()", "TypeError", None, 3),
        ("const c = 1\nc = 2", "TypeError", None, 2),
        ("missing", "ReferenceError", "missing is not defined", 1),
        ("{\n  x\n  let x = 1\n}", "ReferenceError", None, 2),
        ("1\nnew Array(-1)", "RangeError", None, 2),
        ("'x'.repeat(-1)", "RangeError", None, 1),
        ("1n + 1", "TypeError", None, 1),
        ("BigInt(1.5)", "RangeError", None, 1),
        ("decodeURIComponent('%')", "URIError", None, 1),
        ("Symbol() + ''", "TypeError", None, 1),
        ("JSON.parse('{')", "SyntaxError", None, 1),
        ("new RegExp('(')", "SyntaxError", None, 1),
        ("const n = 5\nfor (const x of n);", "TypeError", None, 2),
        ("class A {\n  constructor() {}\n}\nA()", "TypeError", None, None),
        ("class A { #x; static f(o) { return o.#x } }\nA.f({})", "TypeError", None, 1),
        ("'use strict'\nObject.freeze({ a: 1 }).a = 2", "TypeError", None, 2),
        ("const { a } = null", "TypeError", None, None),
        ("new Proxy({}, { get() {\n  throw new EvalError('trap')\n} }).x", "EvalError", "trap", 2),
        ("function* g() {\n  yield 1\n  throw new Error('late')\n}\n[...g()]", "Error", "late", 3),
        ("await null\nawait Promise.reject(new Error('r'))", "Error", "r", 2),
        ("class Odd extends Error {}\nthrow new Odd('o')", "Odd", "o", 2),
        ("throw new AggregateError([1], 'm')", "AggregateError", "m", 1),
    ],
)
async def test_an_error_is_the_same_on_both_engines(
    both: Both, code: str, kind: str, message: str | None, line: int | None
) -> None:
    for engine, result in (await both.run(code)).items():
        error = result.error
        assert error is not None, engine
        assert (engine, error.type, error.line if line else None) == (engine, kind, line)
        assert message in (None, error.message)


# What differs between the two: by the script, what quickjs gives, and what Node gives.
DIFFERS = {
    "typeof Intl": ("undefined", "object"),
    "typeof URL + typeof TextEncoder + typeof structuredClone": ("undefined" * 3, "function" * 3),
    "new Date(0).toTimeString()": ("00:00:00 GMT+0000", "00:00:00 GMT+0000 (Coordinated Universal Time)"),
    "(1234567.5).toLocaleString()": ("1234567.5", "1,234,567.5"),
    "new Date(0).toLocaleDateString()": ("01/01/1970", "1/1/1970"),
    "'ä'.localeCompare('z')": (1, -1),
    "Math.cbrt(27)": (3.0000000000000004, 3),
    "Math.hypot(1, 1, 1)": (1.7320508075688774, 1.7320508075688772),
    "(await Promise.any([]).catch((e) => e)).message": ("", "All promises were rejected"),
    "typeof new Uint8Array().toBase64": ("function", "undefined"),
    "typeof Math.sumPrecise": ("function", "undefined"),
    "RegExp.escape('é')": (r"\xe9", "é"),
    "typeof eval": ("undefined", "function"),
    "typeof require": ("undefined", "function"),
    "typeof WebAssembly": ("undefined", "object"),
    "typeof SharedArrayBuffer + typeof Atomics": ("undefinedundefined", "functionobject"),
    "const m = {}; try { m.x.y } catch (e) { return e.message }": (
        "cannot read property 'y' of undefined",
        "Cannot read properties of undefined (reading 'y')",
    ),
}
UNNOTICED = ("toTimeString", "Promise.any", "toBase64", "sumPrecise", "RegExp.escape", "m.x.y")
"""Those that `auto` does not send to Node: messages, and what only quickjs has."""


@pytest.mark.parametrize("code", DIFFERS)
async def test_where_the_engines_differ_is_known_and_auto_takes_node(both: Both, code: str) -> None:
    results = await both.run(code)
    assert tuple(results[engine].output for engine in ENGINES) == DIFFERS[code]
    assert (node_word(code) is None) == any(words in code for words in UNNOTICED)
