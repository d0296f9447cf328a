"""Hostile and broken source: reported in CPython's words, never an exception, never a crash."""

from __future__ import annotations

import ast
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from paddock.planning import python_source
from paddock.planning.python_source import KEPT_BYTES, KEPT_COUNT, Source, SourceProblem, read

TOO_DEEP = SourceProblem("SyntaxError", "the source is nested too deeply to be parsed")


def cpython_says(code: str) -> SourceProblem:
    """What CPython itself says of `code`; it must refuse it."""
    with warnings.catch_warnings(action="ignore"), pytest.raises(SyntaxError) as caught:
        compile(code, "main.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    error = caught.value
    return SourceProblem(type(error).__name__, error.msg, error.lineno, error.offset)


@pytest.mark.parametrize(
    "code",
    [
        "x = (1,\n",
        "x = 1\ny = = 2\n",
        "if True:\nprint(1)",
        "  x = 1",
        "if 1:\n\tx\n        y",
        "'unterminated",
        "'''unterminated",
        "print 'hello'",
        "größe = 1 1",
        "f(a b)",
        "x = 5 +",
        "1 = x",
        "for",
        "break",
        "continue",
        "while 1:\n    def f():\n        break",
        "def f():\n    x = 1\n    global x",
        "def f(a, a): pass",
        "nonlocal x",
        "f(a=1, a=2)",
        "def f():\n    await g()",
        "yield 1\nbreak",
        "from __future__ import braces",
        "x = 1\nfrom __future__ import annotations",
        "import *",
        "def f(): from a import *",
        "class A:\n    return 1",
        "async with x:\n    break",
        "*a = 1",
        "lambda: (yield)\nbreak",
        "try:\n    pass",
        "a = 1\r\nb = = 2\r\n",
        "a = 1\rb = = 2",
        "\x0cbreak",
        "x = '\u2028'; break",
        "\ufeffx",
        "(" * 201,
        "(" * 300_000 + ")" * 300_000,
        "".join(" " * depth + "if 1:\n" for depth in range(101)),
        "9" * 4301,
    ],
)
def test_broken_source_is_refused_in_cpythons_own_words(code: str) -> None:
    assert read(code) == cpython_says(code)


@pytest.mark.parametrize(
    "code",
    [
        "-" * 100_000 + "1",
        "~" * 500_000 + "1",
        "not " * 50_000 + "1",
        "1+" * 50_000 + "1",
        "1**" * 50_000 + "1",
        "a" + ".b" * 50_000,
        "a" + "()" * 50_000,
        "a" + "[0]" * 50_000,
        "lambda:" * 50_000 + "1",
        "1 if 1 else " * 50_000 + "1",
        "if 1:\n pass\n" + "elif 1:\n pass\n" * 20_000,
    ],
    ids=lambda code: code[:12].replace("\n", " "),
)
def test_source_nested_beyond_what_cpython_takes_is_refused(code: str) -> None:
    assert read(code) == TOO_DEEP


@pytest.mark.parametrize("code", ["a\0b", "\0", "'\ud800'", "# \udfff", "x = 1\n\0"])
def test_source_that_no_file_could_hold_is_refused(code: str) -> None:
    problem = read(code)
    assert isinstance(problem, SourceProblem)
    assert (problem.type, problem.line, problem.column) == ("SyntaxError", None, None)


@pytest.mark.parametrize(
    "code",
    [
        "f'" + "{1}" * 330_000 + "'",
        "x = 'a' rF'''" + "{1}\n" * 90_000 + "'''",
        "# f'''\nx = f'''" + "{1}" * 90_000 + "'''",
        "+".join("f'" + "{1}" * 2_000 + "'" for _ in range(150)),
        "x = f'" + "{1}" * 50_000 + "' + (",
    ],
    ids=["one", "three quotes", "after a comment", "many", "unfinished"],
)
def test_an_f_string_that_would_take_minutes_to_parse_is_refused(code: str) -> None:
    message = "an f-string holds too many expressions to be parsed; write several"
    assert read(code) == SourceProblem("SyntaxError", message)


def test_braces_outside_f_strings_are_not_counted() -> None:
    assert isinstance(read("x = f'{1}'\ny = [" + "{'a': 1},\n" * 8_000 + "]"), Source)


def test_a_broken_large_source_with_braces_keeps_cpythons_words() -> None:
    code = "x = f'{1}'\ny = [" + "{'a': 1},\n" * 8_000 + "'''"
    assert read(code) == cpython_says(code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "# nothing",
        "\n\n",
        "x = 9 ** 9 ** 9",
        "x = 1 << 10 ** 10",
        "'a' * 10 ** 10",
        "# coding: no-such-codec\n1",
        "x = [" + "*a," * 5_000 + "]",
        "\\\n" * 10_000 + "1",
        "#" * 900_000,
        "x = '\\d'",
        "1 is 1",
        "assert (1, 2)",
    ],
    ids=lambda code: code[:12].replace("\n", " "),
)
def test_odd_but_sound_source_is_read(code: str) -> None:
    assert isinstance(read(code), Source)


def returned(code: str) -> list[int]:
    source = read(code)
    assert isinstance(source, Source)
    return [node.lineno for node in source.returns]


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("return 1", [1]),
        ("return", [1]),
        ("if x:\n    return 1\nelse:\n    return 2\nreturn 3", [2, 4, 5]),
        ("for x in y:\n    return x\nelse:\n    return 0", [2, 4]),
        ("while x:\n    with y:\n        return 1", [3]),
        ("try:\n    return 1\nexcept E:\n    return 2\nelse:\n    return 3\nfinally:\n    return 4", [2, 4, 6, 8]),
        ("try:\n    return 1\nexcept* E:\n    x", [2]),
        ("match x:\n    case 1:\n        return 1", [3]),
        ("async for x in y:\n    return x", [2]),
        ("async with x:\n    return 1", [2]),
        ("def f():\n    return 1\nlambda: 2", []),
        ("async def f():\n    return 1\nreturn 2", [3]),
        ("return await f()", [1]),
        ("return [await f() for x in y]", [1]),
    ],
)
def test_a_return_at_the_top_level_is_allowed_and_found(code: str, lines: list[int]) -> None:
    assert returned(code) == lines


def test_reading_leaves_the_returns_in_the_tree() -> None:
    source = read("if x:\n    return 1\nreturn 2")
    assert isinstance(source, Source)
    assert ast.dump(source.tree) == ast.dump(ast.parse("if x:\n    return 1\nreturn 2"))


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("1\n2 + x", "2 + x"),
        ("1; 2", "2"),
        ("await f()", "await f()"),
        ("print(1)  # done", "print(1)"),
        ("(1,\n 2)\n\n# end", "(1, 2)"),
        ("x = 1", None),
        ("if x:\n    1", None),
        ("def f(): 1", None),
        ("", None),
    ],
)
def test_the_last_expression_is_found(code: str, last: str | None) -> None:
    source = read(code)
    assert isinstance(source, Source)
    assert (None if source.last is None else ast.unparse(source.last)) == last


@pytest.mark.parametrize("code", ["break\nreturn 1", "return 1\nbreak", "if x:\n    return 1\n    continue"])
def test_a_return_does_not_hide_what_the_compiler_finds(code: str) -> None:
    problem = read(code)
    assert isinstance(problem, SourceProblem)
    assert "loop" in problem.message


def test_reading_warns_nobody() -> None:
    assert isinstance(read("x = '\\d' is 1"), Source)


def test_a_script_is_parsed_once() -> None:
    assert read("parsed = 'once'") is read("parsed = 'once'")


def test_what_is_kept_is_bounded_by_size_and_number() -> None:
    for number in range(2 * KEPT_COUNT):
        read(f"{number}")
    assert len(python_source._kept) <= KEPT_COUNT
    for number in range(30):
        read(f"{number}" + " " * 10_000)
    assert sum(map(len, python_source._kept)) <= KEPT_BYTES
    large = read("x = 1\n" + " " * (2 * KEPT_BYTES))
    assert list(python_source._kept.values()) == [large]
    assert read("1 + 1") in python_source._kept.values()
    assert large not in python_source._kept.values()


def test_reading_in_many_threads_leaves_the_warnings_of_the_process_alone() -> None:
    before = list(warnings.filters), warnings.showwarning

    def work(worker: int) -> list[str]:
        sources = [read(f"x{worker}_{number} = 1 is 1\n" + "y = 1\n" * 200) for number in range(50)]
        return [source.warning.message for source in sources if isinstance(source, Source) and source.warning]

    with ThreadPoolExecutor(6) as pool:
        found = [warning for warned in pool.map(work, range(6)) for warning in warned]
    assert (list(warnings.filters), warnings.showwarning) == before
    with pytest.warns(SyntaxWarning) as warned:
        compile("1 is 1", "main.py", "exec")
    assert found == [str(one.message) for one in warned] * 300
