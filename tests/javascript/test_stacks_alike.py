"""Stacks, and what scripts do with them, on both engines."""

from __future__ import annotations

import pytest

from paddock.model.result import Verdict
from tests.javascript.conftest import Both

PLACES = r".replace(/:\d+(?=\)?$)/gm, '')"  # columns differ


@pytest.mark.parametrize(
    ("code", "gives"),
    [
        (
            "class Http extends Error {\n  constructor(m) {\n    super(m)\n    Error.captureStackTrace(this, Http)\n"
            f"    this.name = 'Http'\n  }}\n}}\nnew Http('gone').stack{PLACES}",
            "Http: gone\n    at main.js:8",
        ),
        (
            f"const o = {{ name: 'N', message: 'm' }}\nError.captureStackTrace(o);\n[Object.keys(o), o.stack{PLACES}]",
            [["name", "message"], "N: m\n    at main.js:2"],
        ),
        (
            f"function f() {{\n  const o = {{}}\n  Error.captureStackTrace(o, f)\n  return o.stack{PLACES}\n}}\nf()",
            "Error\n    at main.js:6",
        ),
        (
            "Error.prepareStackTrace = (error, sites) => sites.map((s) => [s.getFunctionName(), s.getLineNumber()])\n"
            "function f() {\n  return new Error('x').stack\n}\nf().slice(0, 2)",
            [["f", 3], [None, 5]],
        ),
        (
            "const before = Error.prepareStackTrace\nError.prepareStackTrace = (_, sites) => sites\n"
            "const [site] = new Error().stack\nError.prepareStackTrace = before;\n"
            f"[site.getFileName(), site.getLineNumber(), new Error('x').stack{PLACES}]",
            ["main.js", 3, "Error: x\n    at main.js:5"],
        ),
    ],
)
async def test_a_script_reads_stacks_of_its_own(both: Both, code: str, gives: object) -> None:
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.output) == (engine, None, gives)


async def test_a_stack_that_a_script_prepares_holds_no_function_of_ours(both: Both) -> None:
    code = """
    const found = []
    Error.prepareStackTrace = (error, sites) => {
      for (const site of sites) found.push(site.getFunction?.(), site.getThis?.(), site.getFileName())
      return 'mine'
    }
    await double({ get n() { void new Error('').stack; return 1 } })
    try { await callTool(5) } catch (error) { void error.stack }
    try { await refuse({}) } catch (error) { void error.stack }
    const texts = found.filter((x) => typeof x === 'function').map(String)
    return [
      texts.filter((text) => !text.includes('prepareStackTrace') && !text.startsWith('get n()')),
      found.filter((x) => typeof x === 'string' && /paddock|eval/.test(x)),
    ]
    """
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.output) == (engine, None, [[], []])


@pytest.mark.parametrize("prepare", ["() => 'mine'", "() => { throw new Error('inner') }", "(e, sites) => sites"])
async def test_a_failure_has_its_line_whoever_prepares_its_stack(both: Both, prepare: str) -> None:
    for engine, result in (await both.run(f"Error.prepareStackTrace = {prepare}\n\nthrow new RangeError('x')")).items():
        error = result.error
        assert error is not None
        assert (engine, result.verdict, error.type, error.line) == (engine, Verdict.RAISED, "RangeError", 3)


async def test_a_tool_error_is_a_class_of_its_own(both: Both) -> None:
    code = """
    class Mine extends ToolError {}
    try {
      await refuse({})
    } catch (error) {
      const { name, message, envelope } = error
      return [
        error instanceof ToolError, error instanceof Error, error instanceof Mine, name, message, envelope.error_kind,
        Object.keys(error), Object.prototype.toString.call(error), new Mine('m').name,
      ]
    }
    """
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.output) == (
            engine,
            None,
            [
                *(True, True, False, "ToolError", "refuse: ValueError: no", "internal_error"),
                *(["envelope"], "[object Error]", "ToolError"),
            ],
        )


async def test_an_error_of_a_class_that_extends_tool_error_has_the_line_of_its_making(both: Both) -> None:
    code = "class Mine extends ToolError {\n  constructor(m) {\n    super(m)\n  }\n}\nthrow new Mine('m')"
    for engine, result in (await both.run(code)).items():
        error = result.error
        assert error is not None
        assert (engine, error.type, error.message, error.line) == (engine, "ToolError", "m", 6)


TAKEN_APART = (
    "const resp = { ok: true }\n\nconst { data } = resp.body",
    "const resp = { ok: true }\nconst [a, b] = resp.body",
    "function f({ a }) {\n  return a\n}\n\nf()",
    "const rows = [{ a: 1 }, null]\nrows.map(({ a }) => a)",
    "const rows = [null]\nconsole.log(1)\nrows.map(([a]) => a)",
    "const r = await double({ n: 1 })\nfor (const x of r.items) {}",
    "const r = await double({ n: 1 })\nconsole.log('got', r)\nconst { items: { length } } = r",
    "const r = {}\nconst { a } = r.b ?? {}\nconst { c } = r.d",
    "const list = [null]\nconsole.log('start')\nfor (const { id } of list) {\n  console.log(id)\n}",
    "async function load() {}\nconst before = await load()\nconst { a } = await load()",
    "function inner(given) {\n  const { a } = given\n  return a\n}\nfunction outer() {\n  return inner()\n}\nouter()",
    "const o = {}\nlet q\n;[q] = o.list",
    "function f(a, b) {\n  const { x } = a\n  const { y } = b\n}\nf({}, null)",
    "function f(a, b) {\n  const { x } = a\n  const { y } = b\n}\nf(null, {})",
    "function f(a, b) {\n  const [x] = a\n  let { y } = b\n}\nf([], null)",
    "const a = {}, b = null\nconst { x } = a\nconst { y } = b\nconst { z } = a",
    "const a = {}, b = null\nconst { x } = a; const { y } = b",
    "const xs = undefined\nconst { length } = [1, 2]\nMath.max(...xs)",
    "const { length } = 'x'\nObject.keys(null)",
)


@pytest.mark.parametrize("code", TAKEN_APART)
async def test_nothing_that_is_taken_apart_is_blamed_on_its_own_line(both: Both, code: str) -> None:
    light, node = (result.error for result in (await both.run(code)).values())
    assert light is not None
    assert node is not None
    assert (light.type, light.line) == (node.type, node.line)
