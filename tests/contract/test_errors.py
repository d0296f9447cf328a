"""What went wrong, where, and in whose words."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.model.result import RunError, Verdict
from tests.contract.conftest import Rig


async def error_of(rig: Rig, code: str, **options: Any) -> RunError:
    result = await rig.run(code, **options)
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
async def test_an_error_is_placed_where_the_script_has_it(rig: Rig, code: str, line: int, column: int) -> None:
    error = await error_of(rig, code)
    assert (error.type, error.message, error.line, error.column) == (
        "ZeroDivisionError",
        "division by zero",
        line,
        column,
    )


async def test_a_traceback_shows_the_lines_of_the_script_and_no_others(rig: Rig) -> None:
    code = "def f(x):\n    return g(x)\n\ndef g(x):\n    return 1 / x\n\nf(0)"
    assert (await error_of(rig, code)).traceback == (
        "Traceback (most recent call last):\n"
        '  File "main.py", line 7, in <module>\n'
        "    f(0)\n"
        '  File "main.py", line 2, in f\n'
        "    return g(x)\n"
        '  File "main.py", line 5, in g\n'
        "    return 1 / x\n"
        "ZeroDivisionError: division by zero"
    )


async def test_a_traceback_through_a_tool_shows_nothing_of_ours(rig: Rig) -> None:
    def fail() -> None:
        raise ValueError("no")

    result = await rig.run("x = 1\nawait fail({})", fail)
    assert result.error is not None
    assert (result.error.line, result.error.column) == (2, 1)
    shown = result.error.traceback.splitlines()
    assert shown[:3] == [
        "Traceback (most recent call last):",
        '  File "main.py", line 2, in <module>',
        "    await fail({})",
    ]
    assert "paddock" not in result.error.traceback


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
async def test_an_exception_has_cpythons_words(rig: Rig, code: str, kind: str, message: str) -> None:
    error = await error_of(rig, code)
    assert (error.type, error.message) == (kind, message)


@pytest.mark.parametrize("line_count", [0, 1, 7])
async def test_a_syntax_error_runs_nothing_and_is_in_cpythons_words(rig: Rig, line_count: int) -> None:
    result = await rig.run("print('x')\n" * line_count + "x = = 1")
    assert (result.verdict, result.stdout, result.engine) == (Verdict.REJECTED, "", None)
    assert result.error == RunError("SyntaxError", "invalid syntax", line_count + 1, 5)


async def test_endless_recursion_is_an_exception_of_the_script(rig: Rig) -> None:
    error = await error_of(rig, "def f(n):\n    return f(n + 1)\nf(0)")
    assert (error.type, error.line) == ("RecursionError", 2)
    assert error.message.startswith("maximum recursion depth exceeded")
    assert len(error.traceback.splitlines()) < 100


async def test_recursion_may_be_limited_and_caught(rig: Rig) -> None:
    code = """
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
depth(1)
"""
    shallow = await rig.run(code, limits={"recursion": 50})
    deep = await rig.run(code, limits={"recursion": 500})
    assert 40 <= shallow.output <= 50
    assert 490 <= deep.output <= 500


async def test_an_exception_raised_while_another_is_handled_is_the_one_reported(rig: Rig) -> None:
    error = await error_of(rig, "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('then') from e")
    assert (error.type, error.message, error.line) == ("ValueError", "then", 4)


@pytest.mark.parametrize(
    "code", ["await call_tool('x', [1])", "await call_tool('x', {'a': {1}})", "await call_tool(5, {})"]
)
async def test_a_wrong_use_of_call_tool_on_the_last_line_is_a_type_error(rig: Rig, code: str) -> None:
    error = await error_of(rig, code)
    assert (error.type, error.line, error.column) == ("TypeError", 1, 1)
    assert "paddock" not in error.traceback


async def test_progress_that_is_no_number_is_a_type_error(rig: Rig) -> None:
    error = await error_of(rig, "await report_progress('half')")
    assert (error.type, error.message) == (
        "TypeError",
        "report_progress takes numbers: report_progress(done, total, message)",
    )
