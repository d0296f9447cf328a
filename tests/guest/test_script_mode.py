"""Script mode: the source is a main.py, run as `python main.py` would run it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.guest.conftest import Run
from tests.guest.harness import INTERPRETER, Ran


def script(run: Run, code: str, **start: Any) -> Ran:
    return run(code, start={"mode": "script", **start})


def test_a_script_sees_itself_as_main(run: Run) -> None:
    code = """
import sys, os.path
if __name__ == '__main__':
    print(sys.argv, os.path.basename(__file__), open(__file__).read().count('argv'))
    print(sorted(name for name in globals() if not name.startswith('__')))
"""
    ran = script(run, code, argv=["a", "ü"])
    assert ran.stdout == "['main.py', 'a', 'ü'] main.py 2\n['os', 'sys']\n"
    assert (ran.header, ran.body, ran.exit_code) == ({"status": "ok", "exit_code": 0}, b"null", 0)


def test_its_last_expression_is_no_value(run: Run) -> None:
    ran = script(run, "class A:\n    def __repr__(self): print('shown')\nA()")
    assert (ran.status, ran.body, ran.stdout) == ("ok", b"null", "")


def test_it_sees_what_it_was_given(run: Run) -> None:
    ran = run("print(n)", start={"mode": "script"}, inputs={"n": 5})
    assert ran.stdout == "5\n"


def printed_by_cpython(directory: Path) -> str:
    """What the same interpreter prints on stderr for the main.py in `directory`, without its path."""
    command = [INTERPRETER, "main.py"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    return done.stderr.replace(f"{directory}/", "")


def test_an_uncaught_exception_is_printed_as_cpython_does(run: Run, tmp_path: Path) -> None:
    ran = script(run, "def f(x):\n    return 1 / x\n\nprint('before')\nf(0)")
    assert (ran.stdout, ran.exit_code, ran.header["exit_code"]) == ("before\n", 1, 1)
    assert ran.stderr == printed_by_cpython(tmp_path)
    assert ran.stderr.startswith('Traceback (most recent call last):\n  File "main.py", line 5, in <module>\n')
    assert ran.raised == ("ZeroDivisionError", "division by zero")


ERRONEOUS = [
    "contact = 1\nprint(contcat)",
    "def f(amount):\n    return amuont\nf(1)",
    "prnt(1)",
    "class A:\n    def f(self):\n        return total\n    total = 1\nA().f()",
    "import math\nmath.sqr(2)",
    "class A:\n    def __init__(self):\n        self.total = 1\nA().totl",
    "[].apend(1)",
    "d = {'a': {'b': 1}}\nprint(d['a']['c']['d'])",
    "x = [1]\nprint(x[0] + x[5])",
    "print('a' + 1)",
    "a = 1; b = None\nprint((a + b) * 2)",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('x') from e",
    "try:\n    contcat\nexcept NameError:\n    prnt(1)",
    "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('x') from None",
    "raise ExceptionGroup('many', [ValueError(1), TypeError('x')])",
    "e = ValueError('x')\ne.add_note('a note')\nraise e",
    "def f():\n    return f()\nf()",
    "x = = 1",
    "print 'x'",
    "d = {'a': 1\nprint(d)",
    "def f():\nreturn 1",
    "x = 1\n  y = 2\nz = 3",
    "x = 'abc",
    "if True:\n\tx = 1\n        y = 2",
    "x = f'{a b}'",
    "größe = 'ä'\nprint(größe + ünbekannt)",
    "x = 'äöü'; print('😀' + 1)",
    "raise ValueError('a\\nb')",
    "x = (1 +\n     2 +\n     None)",
    "f = lambda x: x.foo\nf(1)",
    "[1 / x for x in [1, 0]]",
    "import jsn",
    "from math import sqrtt",
    "assert 1 == 2, 'no'",
    "class A:\n    class E(Exception): pass\nraise A.E('x')",
    "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()",
    "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "import warnings\nwarnings.warn('old')",
    "x = 5\nif x is 5: print(1)",
    "async def f(): pass\nf()",
    "def f():\n    print(x)\n    x = 1\nf()",
    "import json\njson.loads('{')",
    "x = 1\u00a0+ 2",
    "return 1",
    "import asyncio\nawait asyncio.sleep(0)",
    "import asyncio\nasync def main():\n    raise ValueError('x')\nasyncio.run(main())",
    "class A:\n    __slots__ = ('name',)\na = A()\na.nme = 1",
    "@foo\ndef f(): pass",
]


@pytest.mark.parametrize("code", ERRONEOUS)
def test_its_stderr_is_what_cpython_prints(run: Run, tmp_path: Path, code: str) -> None:
    ran = script(run, code)
    (tmp_path / "main.py").write_text(code, encoding="utf-8")
    printed = re.sub(r'File "/[^"]*/lib/python3\.\d+/', 'File "', printed_by_cpython(tmp_path))
    printed = re.sub(r"\(/[^)]*/([^/)]*\.so)\)", r"(\1)", printed)  # paths of the host are shortened
    assert ran.stderr == printed


def test_a_hook_of_its_own_prints_it_instead(run: Run) -> None:
    ran = script(run, "import sys\nsys.excepthook = lambda kind, error, trace: print('mine', trace.tb_lineno)\n1 / 0")
    assert (ran.stdout, ran.stderr, ran.exit_code) == ("mine 3\n", "", 1)


def test_a_hook_that_fails_does_not_stop_the_report(run: Run) -> None:
    ran = script(run, "import sys\nsys.excepthook = lambda *a: {}['x']\n1 / 0")
    assert ran.raised[0] == "ZeroDivisionError"
    assert "KeyError" in ran.stderr
    assert "ZeroDivisionError" in ran.stderr


@pytest.mark.parametrize(("code", "exit_code"), [("sys.exit(3)", 3), ("sys.exit('x')", 1), ("sys.exit()", 0)])
def test_its_exit_code_is_the_processes(run: Run, code: str, exit_code: int) -> None:
    ran = script(run, f"import sys\n{code}")
    assert (ran.status, ran.exit_code, ran.header["exit_code"]) == ("exited", exit_code, exit_code)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("return 1", "'return' outside function"),
        ("await x", "'await' outside function"),
        ("x = = 1", "invalid syntax"),
    ],
)
def test_it_is_plain_python(run: Run, code: str, message: str) -> None:
    ran = script(run, f"print('x')\n{code}")
    assert (ran.status, ran.stdout, ran.exit_code) == ("rejected", "", 1)
    assert (ran.header["type"], ran.header["message"], ran.header["line"]) == ("SyntaxError", message, 2)
    assert ran.stderr.startswith('  File "main.py", line 2\n')
    assert ran.stderr.endswith(f"SyntaxError: {message}\n")


def test_processes_that_it_spawns_find_it(run: Run) -> None:
    code = """
import multiprocessing
def double(n, answers): answers.put(n * 2)
if __name__ == '__main__':
    context = multiprocessing.get_context('spawn')
    answers = context.SimpleQueue()
    process = context.Process(target=double, args=(4, answers))
    process.start()
    print(answers.get())
    process.join()
"""
    ran = script(run, code)
    assert (ran.stdout, ran.stderr) == ("8\n", "")


def test_a_process_that_it_forks_ends_as_a_program_does(run: Run) -> None:
    code = """
import atexit, os, sys
atexit.register(lambda: print('end of', name))
name = 'child'
if (pid := os.fork()) == 0:
    sys.exit(9)
status = os.waitpid(pid, 0)[1]
name = 'parent'
print(os.waitstatus_to_exitcode(status))
"""
    ran = script(run, code)
    assert (ran.stdout, ran.status, ran.exit_code) == ("end of child\n9\nend of parent\n", "ok", 0)
