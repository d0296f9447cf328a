"""How a script fails: its exception in CPython's words, placed in its own lines, with nothing of ours."""

from __future__ import annotations

import json

import pytest

from tests.guest.conftest import Run


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("for x in [1, 0]:\n    for y in [1]:\n        return 1 / (x - 1)", 3, 16),
        ("import asyncio\nasync def f(x):\n    return 1 / x\nawait asyncio.gather(f(1), f(0))", 3, 12),
        ("import asyncio\nasync def f(x):\n    return 1 / x\nasyncio.run(f(0))", 3, 12),
        ("class A:\n    def __repr__(self):\n        return 1 / 0\nA()", 3, 16),
    ],
)
def test_an_error_is_placed_where_the_script_has_it(run: Run, code: str, line: int, column: int) -> None:
    ran = run(code)
    assert ran.raised == ("ZeroDivisionError", "division by zero")
    assert (ran.header["line"], ran.header["column"]) == (line, column)


def test_a_file_of_a_library_is_named_from_where_modules_are_looked_for(run: Run) -> None:
    ran = run("import json\njson.loads('{')")
    files = [line.split('"')[1] for line in ran.header["traceback"].splitlines() if line.startswith("  File ")]
    assert files == ["main.py", "json/__init__.py", "json/decoder.py", "json/decoder.py"]
    assert "    return _default_decoder.decode(s)\n" in ran.header["traceback"]


def test_an_import_that_fails_says_where_the_module_lies_without_the_hosts_folders(run: Run) -> None:
    ran = run("from json import nope")
    assert ran.raised == ("ImportError", "cannot import name 'nope' from 'json' (json/__init__.py)")
    assert ran.header["traceback"].endswith("\nImportError: cannot import name 'nope' from 'json' (json/__init__.py)")


@pytest.mark.parametrize("path", ["None", "[None, 1]", "['']"])
def test_a_script_may_have_broken_where_modules_are_looked_for(run: Run, path: str) -> None:
    ran = run(f"import sys\nerror = ImportError('no (/x/y)', path='/x/y')\nsys.path = {path}\nraise error")
    assert ran.header["type"] == "ImportError"


def test_a_traceback_has_causes_contexts_notes_and_groups(run: Run) -> None:
    code = """
try:
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError('then') from error
except ValueError as error:
    error.add_note('a note')
    raise ExceptionGroup('several', [error, KeyError('k')])
"""
    shown = run(code).header["traceback"]
    for text in (
        "ZeroDivisionError: division by zero",
        "The above exception was the direct cause of the following exception",
        "ValueError: then\n",
        "a note",
        "ExceptionGroup: several (2 sub-exceptions)",
        "KeyError: 'k'",
    ):
        assert text in shown
    assert "paddock" not in shown


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("raise ValueError('\\ud800')", "ValueError", "\ufffd"),
        ("import json\njson.loads('x')", "JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise MemoryError", "MemoryError", ""),
        ("raise BaseException('b')", "BaseException", "b"),
        ("import asyncio\nraise asyncio.CancelledError('c')", "CancelledError", "c"),
        ("import asyncio\nawait asyncio.sleep(0)\nraise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("import asyncio\nawait asyncio.sleep(0)\nraise asyncio.CancelledError('c')", "CancelledError", "c"),
        ("eval('1 +')", "SyntaxError", "invalid syntax (<string>, line 1)"),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "E", "<unprintable E>"),
        ("class E(Exception):\n    def __str__(self): raise SystemExit\nraise E", "E", "<unprintable E>"),
        ("class E(Exception):\n    def __str__(self): return str(self)\nraise E", "E", "<unprintable E>"),
        (
            "class M(type):\n    __name__ = property(lambda c: 1 / 0)\n"
            "class E(Exception, metaclass=M): pass\nraise E('m')",
            "E",
            "m",
        ),
        ("class S(str): pass\nclass E(Exception):\n    def __str__(self): return S('sub')\nraise E", "E", "sub"),
    ],
)
def test_an_exception_has_cpythons_words(run: Run, code: str, kind: str, message: str) -> None:
    assert run(code).raised == (kind, message)


def test_a_long_message_is_whole_in_the_body_and_its_start_in_the_header(run: Run) -> None:
    ran = run("raise RuntimeError('{\"a\":' * 10_000)")
    whole = json.loads(ran.body)
    assert whole["message"] == '{"a":' * 10_000
    assert whole["traceback"].endswith('{"a":{"a":')
    assert whole["message"].startswith(ran.header["message"])
    assert len(ran.header["message"]) > 2000


def test_a_message_beyond_use_is_cut(run: Run) -> None:
    message = json.loads(run("raise ValueError('ü' * 10_000_000)").body)["message"]
    assert message == "ü" * 65536 + "… (10000000 characters)"


@pytest.mark.parametrize("start", ["", "import asyncio\nawait asyncio.sleep(0)\n"])
@pytest.mark.parametrize("limit", [50, 500])
def test_recursion_is_counted_from_the_scripts_own_frame(run: Run, limit: int, start: str) -> None:
    code = """
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
depth(1)
"""
    assert limit - 10 <= run(start + code, start={"limits": {"recursion": limit}}).value <= limit


@pytest.mark.parametrize(
    ("code", "exit_code", "stderr"),
    [
        ("import sys\nsys.exit()", 0, ""),
        ("import sys\nsys.exit(3)", 3, ""),
        ("import sys\nsys.exit(-1)", 255, ""),
        ("import sys\nsys.exit('bye')", 1, "bye\n"),
        ("raise SystemExit(True)", 1, ""),
        ("exit(4)", 4, ""),
        ("import asyncio\nawait asyncio.sleep(0)\nraise SystemExit(5)", 5, ""),
        ("class A:\n    def __str__(self): raise SystemExit\nraise SystemExit(A())", 1, ""),
    ],
)
def test_an_exit_has_its_code(run: Run, code: str, exit_code: int, stderr: str) -> None:
    ran = run(code)
    assert (ran.status, ran.header["exit_code"], ran.exit_code, ran.stderr) == ("exited", exit_code, exit_code, stderr)


@pytest.mark.parametrize(
    "code",
    [
        "x = []\nwhile True:\n    x.append('a' * 1000)",
        "x = 'a'\nwhile True:\n    x += x",
        "x = [0] * 10 ** 12",
        "x = None\nwhile True:\n    x = (x, 1.5)",
        "import asyncio\nawait asyncio.sleep(0)\nx = []\nwhile True:\n    x.append([])",
        "x = ['a']\nfor _ in range(60):\n    x = [x, x]\nx",
        "x = [{1}]\nfor _ in range(60):\n    x = [x, x]\nx",
    ],
)
def test_running_out_of_memory_is_told(run: Run, code: str) -> None:
    ran = run(f"print('started')\n{code}", start={"limits": {"memory_bytes": 16 * 1024 * 1024}})
    assert (ran.raised[0], ran.stdout) == ("MemoryError", "started\n")
    assert "paddock" not in ran.header["traceback"]
