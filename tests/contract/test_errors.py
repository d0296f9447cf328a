"""What went wrong, where, and in whose words."""

from __future__ import annotations

import re
from typing import Any

import pytest

from paddock.model.result import RunError, Verdict
from tests.contract.rigs import Rig, Script


async def error_of(rig: Rig, code: str | Script, *tools: Any, **options: Any) -> RunError:
    result = await rig.run(code, *tools, **options)
    assert result.verdict is Verdict.RAISED
    assert result.error is not None
    return result.error


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("1 / 0", 1, 1),
        ("x = 1\ny = x / 0", 2, 5),
        ("x = [1,\n     2,\n     1 / 0,\n     3]\nx", 3, 6),
        ("(1 +\n   2 / 0)", 2, 4),
        ("print(1,\n      1 / 0)", 2, 7),
        ("s = 'äöü😀'; 1 / 0", 1, 13),
        ("'äöü😀' + str(1 / 0)", 1, 14),
        ("return 1 / 0", 1, 8),
        ("if True:\n    return [1, 2 / 0]", 2, 16),
        ("return {\n    'a': 1,\n    'b': 1 / 0}", 3, 10),
        ("a = 1\r\nb = 2\r\na / 0", 3, 1),
        ("a = 1\rb = 2\ra / 0", 3, 1),
        ("a = 1\x0c\nb = '\u2028'; 1 / 0", 2, 10),
        ("\n\n\n1 / 0  # here", 4, 1),
        ("def f(x):\n    return 1 / x\n\nf(0)", 2, 12),
        ("async def f(x):\n    return 1 / x\nawait f(0)", 2, 12),
        ("[1 / x for x in [1, 0]]", 1, 2),
        ("for x in [1, 0]:\n    y = 1 / x", 2, 9),
    ],
)
async def test_an_error_is_placed_where_the_script_has_it(python_rig: Rig, code: str, line: int, column: int) -> None:
    error = await error_of(python_rig, code)
    assert (error.type, error.message, error.line, error.column) == (
        "ZeroDivisionError",
        "division by zero",
        line,
        column,
    )


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("nothing", 1, 1),
        ("const x = 1\nconst y = x + nothing", 2, 15),
        ("const x = [1,\n  2,\n  nothing,\n  3]\nx", 3, 3),
        ("(1 +\n   nothing)", 2, 4),
        ("console.log(1,\n            nothing)", 2, 13),
        ("if (true) {\n    return [1, nothing]\n}", 2, 16),
        ("return {\n    a: 1,\n    b: nothing }", 3, 8),
        ("let a = 1\r\nlet b = 2\r\na + nothing", 3, 5),
        ("let a = 1\rlet b = 2\ra + nothing", 3, 5),
        ("\n\n\nnothing // here", 4, 1),
        ("const f = (x) => {\n    return [nothing, x]\n}\n\nf(0)", 2, 13),
        ("async function f(x) {\n    return 1 + nothing\n}\nawait f(0)", 2, 16),
        ("[1, 0].map((x) => x + nothing)", 1, 23),
        ("for (const x of [1, 0]) {\n    const y = x + nothing\n}", 2, 19),
        ("await null\n\nawait [nothing]", 3, 8),
        ("const s = 'äöü😀'; nothing", 1, 20),  # in UTF-16, as editors for JavaScript count
        ("'äöü😀' + [nothing]", 1, 12),
        ("#!/usr/bin/env node\nconst a = [nothing]", 2, 12),
    ],
)
async def test_an_error_of_javascript_is_placed_where_the_script_has_it(
    javascript_rig: Rig, code: str, line: int, column: int
) -> None:
    error = await error_of(javascript_rig, code)
    assert (error.type, error.message, error.line, error.column) == (
        "ReferenceError",
        "nothing is not defined",
        line,
        column,
    )


@pytest.mark.parametrize(
    ("code", "line", "quickjs", "node"),
    [
        ("throw new Error('x')", 1, 11, 7),  # the class, or `new`
        ("const o = {}\no.a.b", 2, 5, 5),
        ("function f() { throw new Error('x') }\nf()", 1, 26, 22),
        ("return nothing", 1, 8, 1),  # the name, or the statement
        ("const c = 1\nc = 2", 2, 1, 3),
        ("null.x", 1, 6, 6),
    ],
)
async def test_where_engines_blame_another_part_of_a_line_the_line_is_the_same(
    javascript_rig: Rig, code: str, line: int, quickjs: int, node: int
) -> None:
    error = await error_of(javascript_rig, code)
    wanted = {"quickjs": quickjs, "node": node}
    assert (error.line, error.column) == (line, wanted[javascript_rig.engine])


async def test_a_traceback_shows_the_lines_of_the_script_and_no_others(python_rig: Rig) -> None:
    code = "def f(x):\n    return g(x)\n\ndef g(x):\n    return 1 / x\n\nf(0)"
    assert (await error_of(python_rig, code)).traceback == (
        "Traceback (most recent call last):\n"
        '  File "main.py", line 7, in <module>\n'
        "    f(0)\n"
        '  File "main.py", line 2, in f\n'
        "    return g(x)\n"
        '  File "main.py", line 5, in g\n'
        "    return 1 / x\n"
        "ZeroDivisionError: division by zero"
    )


async def test_a_stack_shows_the_frames_of_the_script_and_no_others(javascript_rig: Rig) -> None:
    code = "function f(x) {\n  return g(x)\n}\nfunction g(x) {\n  return [nothing, x]\n}\n[0].map((x) => f(x))"
    # The columns of calls are the engine's own; the rest is the same.
    assert re.sub(r":\d+(\)?)$", r"\1", (await error_of(javascript_rig, code)).traceback, flags=re.MULTILINE) == (
        "ReferenceError: nothing is not defined\n"
        "    at g (main.js:5)\n"
        "    at f (main.js:2)\n"
        "    at main.js:7\n"
        "    at main.js:7"
    )


async def test_a_script_reads_the_same_stack_that_the_result_shows(javascript_rig: Rig) -> None:
    code = "const f = () => nothing\ntry {\n  f()\n} catch (error) {\n  console.log(error.stack)\n  throw error\n}"
    result = await javascript_rig.run(code)
    assert result.error is not None
    assert result.stdout == f"{result.error.traceback}\n"


def fail() -> None:
    raise ValueError("no")


async def test_a_traceback_through_a_tool_shows_nothing_of_ours(python_rig: Rig) -> None:
    error = await error_of(python_rig, "x = 1\nawait fail({})", fail)
    assert (error.line, error.column) == (2, 1)
    assert error.traceback.splitlines()[:3] == [
        "Traceback (most recent call last):",
        '  File "main.py", line 2, in <module>',
        "    await fail({})",
    ]
    assert "paddock" not in error.traceback


async def test_a_stack_through_a_tool_shows_nothing_of_ours(javascript_rig: Rig) -> None:
    error = await error_of(javascript_rig, "const x = 1\nawait fail({})", fail)
    assert (error.type, error.line, error.column) == ("ToolError", 2, 7)
    assert error.traceback == "ToolError: fail: ValueError: no\n    at main.js:2:7"


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("{}['x']", "KeyError", "'x'"),
        ("{'a': 1}['it\\'s']", "KeyError", '"it\'s"'),
        ("raise ValueError", "ValueError", ""),
        ("raise ValueError()", "ValueError", ""),
        ("raise ValueError('größe\\n2')", "ValueError", "größe\n2"),
        ("assert 1 == 2", "AssertionError", ""),
        ("assert 1 == 2, 'because'", "AssertionError", "because"),
        ("[].missing", "AttributeError", "'list' object has no attribute 'missing'"),
        ("missing", "NameError", "name 'missing' is not defined"),
        ("[][5]", "IndexError", "list index out of range"),
        ("int('x')", "ValueError", "invalid literal for int() with base 10: 'x'"),
        ("1 + 'a'", "TypeError", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("import no_such_module", "ModuleNotFoundError", "No module named 'no_such_module'"),
        ("raise TimeoutError('time limit exceeded')", "TimeoutError", "time limit exceeded"),
        ("raise RuntimeError('{\"a\":' * 10_000)", "RuntimeError", '{"a":' * 10_000),
    ],
    ids=lambda text: text[:40],
)
async def test_an_exception_has_cpythons_words(python_rig: Rig, code: str, kind: str, message: str) -> None:
    error = await error_of(python_rig, code)
    assert (error.type, error.message) == (kind, message)


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("throw new Error", "Error", ""),
        ("throw new RangeError('größe\\n2')", "RangeError", "größe\n2"),
        ("throw new TypeError('a', { cause: new Error('b') })", "TypeError", "a"),
        ("class Mine extends Error {}\nthrow new Mine('x')", "Mine", "x"),
        ("const e = new Error('x'); e.name = 'Named'; throw e", "Named", "x"),
        ("throw new AggregateError([new Error('a')], 'all')", "AggregateError", "all"),
        ("await Promise.reject(new EvalError('x'))", "EvalError", "x"),
        ("Promise.reject(new SyntaxError('nobody waits'))\n5", "SyntaxError", "nobody waits"),
        ("setTimeout(() => { throw new Error('late') })\nawait new Promise(() => {})", "Error", "late"),
        ("throw 'text'", "Error", "Uncaught 'text'"),
        ("throw { code: 5 }", "Error", "Uncaught { code: 5 }"),
        ("throw null", "Error", "Uncaught null"),
        ("throw undefined", "Error", "Uncaught undefined"),
        ("JSON.parse('{')", "SyntaxError", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"),
        ("readFile('/files/none')", "Error", "ENOENT: no such file or directory, open '/files/none'"),
        (
            "await new Promise(() => {})",
            "Error",
            "the script awaits a promise that never settles: no timer or call is pending",
        ),
        ("throw new Error('{\"a\":'.repeat(10_000))", "Error", '{"a":' * 10_000),
        ("throw new Error('a\\ud800')", "Error", "a\ufffd"),
    ],
    ids=lambda text: text[:40],
)
async def test_an_error_has_the_same_words_on_both_engines(
    javascript_rig: Rig, code: str, kind: str, message: str
) -> None:
    error = await error_of(javascript_rig, code)
    assert (error.type, error.message) == (kind, message)


@pytest.mark.parametrize("line_count", [0, 1, 7])
async def test_a_syntax_error_runs_nothing_and_is_in_the_interpreters_words(python_rig: Rig, line_count: int) -> None:
    result = await python_rig.run("print('x')\n" * line_count + "x = = 1")
    assert (result.verdict, result.stdout) == (Verdict.REJECTED, "")
    assert result.error is not None
    place = (result.error.line, result.error.column)
    words = {"cpython": "invalid syntax", "monty": "Expected an expression"}[python_rig.engine]
    assert (result.error.type, result.error.message, place) == ("SyntaxError", words, (line_count + 1, 5))


@pytest.mark.parametrize("line_count", [0, 1, 7])
@pytest.mark.parametrize(
    ("code", "column"),
    [
        ("x = = 1", 5),
        ("let let = 1", 5),
        ("const y", None),
        ("f(", None),
        ("'open", None),
        ("}", 1),
        ("1 })(); console.log('x'); (async function () { 5", 3),  # closes what is around it
        ("1 }, console.log('x'), async function () { 5", 3),
    ],
)
async def test_a_syntax_error_of_javascript_runs_nothing_and_has_its_line(
    javascript_rig: Rig, line_count: int, code: str, column: int | None
) -> None:
    result = await javascript_rig.run("console.log('x')\n" * line_count + code)
    assert (result.verdict, result.stdout) == (Verdict.REJECTED, "")
    assert result.error is not None
    assert (result.error.type, result.error.line) == ("SyntaxError", line_count + 1)
    assert column is None or result.error.column == column  # what lacks its end, engines miss at another place
    assert "paddock" not in result.error.traceback


async def test_endless_recursion_is_an_exception_of_the_script(rig: Rig) -> None:
    code = Script("def f(n):\n    return f(n + 1)\nf(0)", "function f(n) {\n  return f(n + 1)\n}\nf(0)")
    error = await error_of(rig, code)
    kind, words = {
        "python": ("RecursionError", "maximum recursion depth exceeded"),
        "javascript": ("RangeError", "Maximum call stack size exceeded"),
    }[rig.language]
    assert (error.type, error.message[: len(words)]) == (kind, words)
    assert error.line in ((2,) if rig.language == "python" else (1, 2))  # V8 blames the head of the function
    assert len(error.traceback.splitlines()) < 100


async def test_recursion_may_be_limited_and_caught(python_rig: Rig) -> None:
    code = """
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
depth(1)
"""
    shallow = await python_rig.run(code, limits={"recursion": 50})
    deep = await python_rig.run(code, limits={"recursion": 500})
    assert 40 <= shallow.output <= 50
    assert 490 <= deep.output <= 500


async def test_thousands_of_calls_in_each_other_are_no_endless_recursion(javascript_rig: Rig) -> None:
    code = "const depth = (n) => (n === 0 ? 0 : 1 + depth(n - 1))\nlet caught = 0\n"
    code += "try {\n  depth(1e7)\n} catch (error) {\n  caught = error instanceof RangeError\n}\n[depth(5000), caught]"
    assert (await javascript_rig.run(code)).output == [5000, True]


async def test_an_exception_raised_while_another_is_handled_is_the_one_reported(rig: Rig) -> None:
    code = Script(
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('then') from e",
        "try {\n  nothing\n} catch (e) {\n  throw new RangeError('then', { cause: e })\n}",
    )
    error = await error_of(rig, code)
    kind = {"python": "ValueError", "javascript": "RangeError"}[rig.language]
    assert (error.type, error.message, error.line) == (kind, "then", 4)
    if rig.engine != "monty":  # which does not show the first one
        assert ("ZeroDivisionError" if rig.language == "python" else "ReferenceError") in error.traceback


@pytest.mark.parametrize(
    "code",
    [
        Script("await call_tool('x', [1])", "await callTool('x', [1])"),
        Script("await call_tool('x', {'a': {1}})", "await callTool('x', { a: () => 1 })"),
        Script("await call_tool('x', {'a': {1}})", "const a = [[[{ b: [NaN] }]]]; await callTool('x', { a })"),
        Script("await call_tool(5, {})", "await callTool(5, {})"),
    ],
)
async def test_a_wrong_use_of_call_tool_on_the_last_line_is_a_type_error(rig: Rig, code: Script) -> None:
    error = await error_of(rig, code)
    column = 1 if rig.language == "python" else code.javascript.index("callTool") + 1
    assert (error.type, error.line, error.column) == ("TypeError", 1, column)
    assert "paddock" not in error.traceback


async def test_progress_that_is_no_number_is_a_type_error(rig: Rig) -> None:
    error = await error_of(rig, Script("await report_progress('half')", "await reportProgress('half')"))
    name = {"python": "report_progress", "javascript": "reportProgress"}[rig.language]
    assert (error.type, error.message) == ("TypeError", f"{name} takes numbers: {name}(done, total, message)")
