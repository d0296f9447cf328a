"""What a script hands back: a top-level `return` that behaves as in a function, or its last expression."""

from __future__ import annotations

import pytest

from tests.guest.conftest import Run


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("'doc'\nfrom __future__ import annotations\nx: no_such_name = 1\n[__doc__, x]", ["doc", 1]),
        ("import asyncio\nasync def f():\n    return 4\nasyncio.run(f())", 4),
        (
            "import asyncio\nloop = asyncio.new_event_loop()\n"
            "async def f():\n    return 4\nloop.run_until_complete(f())",
            4,
        ),
        ("import asyncio\nasync def f():\n    return 4\nasyncio.get_event_loop().run_until_complete(f())", 4),
        ("async def numbers():\n    yield 1\n    yield 2\n[x async for x in numbers()]", [1, 2]),
        ("async def f(x):\n    return x\n[await f(x) for x in (1, 2)]", [1, 2]),
        ("async def numbers():\n    yield 1\ntotal = 0\nasync for x in numbers():\n    total += x\ntotal", 1),
    ],
)
def test_the_value_is_the_last_expression(run: Run, code: str, value: object) -> None:
    assert run(code).value == value


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("return\n5", None),
        ("if False:\n    return 5\nelif True:\n    return 6", 6),
        ("for x in range(2):\n    if x == 3:\n        return x\nelse:\n    return -1", -1),
        ("for x in range(5):\n    if x == 3:\n        break\n    if x == 4:\n        return x\n'went on'", "went on"),
        ("for x in range(3):\n    for y in range(3):\n        if x + y == 3:\n            return [x, y]\n'no'", [1, 2]),
        ("while True:\n    while True:\n        while True:\n            return 1\n    return 2\nreturn 3", 1),
        ("for x in [1]:\n    for y in []:\n        pass\n    else:\n        return 'else'\n'no'", "else"),
        ("for x in [1, 2]:\n    for y in [1]:\n        return 5\n    else:\n        continue\n    break\n'no'", 5),
        (
            "for x in [1]:\n    for y in [1]:\n        pass\n    else:\n        break\n    return 1\n"
            "else:\n    return 2\n3",
            3,
        ),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    return 'caught'\n2", "caught"),
        ("try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    return 'else'\n2", "else"),
        ("try:\n    return 1\nexcept:\n    return 'swallowed'", 1),
        ("try:\n    return 1\nexcept BaseException:\n    return 'swallowed'", 1),
        ("try:\n    return 1\nfinally:\n    return 2", 2),
        ("try:\n    1 / 0\nfinally:\n    return 2", 2),
        ("match 5:\n    case 5:\n        return 'five'\n'no'", "five"),
        ("import contextlib\nwith contextlib.suppress(BaseException):\n    return 1\n2", 1),
        ("x = [1]\ndel x\nreturn 'x' in globals()", False),
        ("async def f():\n    return 7\nreturn await f()", 7),
        ("async def f():\n    yield 7\nasync for x in f():\n    return x\n0", 7),
        ("from __future__ import annotations\nreturn 1", 1),
        ("'doc'\nreturn __doc__", "doc"),
        ("def f():\n    return 1\nclass A:\n    def m(self):\n        return 2\nreturn [f(), A().m()]", [1, 2]),
    ],
)
def test_a_return_ends_the_script_as_it_would_end_a_function(run: Run, code: str, value: object) -> None:
    assert run(code).value == value


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("for x in range(3):\n    try:\n        return x\n    finally:\n        continue\n'went on'", "went on"),
        ("for x in range(3):\n    try:\n        return x\n    finally:\n        break\n'went on'", "went on"),
        ("for x in range(3):\n    try:\n        return x\n    finally:\n        break\ny = 1", None),
        ("for x in [1]:\n    try:\n        break\n    finally:\n        return 'back'\n'went on'", "back"),
        (
            "for x in [1, 2]:\n    try:\n        try:\n            return x\n        finally:\n            1 / 0\n"
            "    except ZeroDivisionError:\n        pass\n'went on'",
            "went on",
        ),
        (
            "for x in [1, 2]:\n    try:\n        try:\n            return x\n        finally:\n            1 / 0\n"
            "    except ZeroDivisionError:\n        break\n'went on'",
            "went on",
        ),
        ("try:\n    try:\n        return 1\n    finally:\n        1 / 0\nexcept ZeroDivisionError:\n    pass", None),
        ("for x in [1]:\n    try:\n        return 1\n    finally:\n        for y in [1, 2]:\n            break\n2", 1),
    ],
)
def test_a_return_that_is_overruled_on_its_way_out_does_not_count(run: Run, code: str, value: object) -> None:
    assert run(code).value == value


def test_a_context_is_left_by_a_return_without_an_error(run: Run) -> None:
    code = """
class Transaction:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        print('rolled back' if kind else 'committed')
for _ in range(2):
    with Transaction():
        return 1
"""
    assert (run(code).value, run(code).stdout) == (1, "committed\n")


NAMES = """
import sys
from dataclasses import dataclass
from os.path import *
counter = 0
def bump():
    global counter
    counter += 1
    return counter
class Base:
    value = counter
    def get(self): return self.__class__.__qualname__
bump()
found: int = bump()
squares = [n * n for n in range(3) if (last := n) >= 0]
f = lambda: counter
if __name__ == '__main__':
    return [counter, found, last, f(), f.__qualname__, bump.__qualname__, Base().get(), join('a', 'b'),
            __annotations__ == {'found': int}, locals() is globals(), sys.modules['__main__'].counter,
            sorted(n for n in globals() if n.startswith('<'))]
"""


def test_names_are_those_of_a_module_though_the_script_returns(run: Run) -> None:
    expected = [2, 2, 2, 2, "<lambda>", "bump", "Base", "a/b", True, True, 2, []]
    assert run(NAMES).value == expected


def test_what_looks_into_main_finds_the_script(run: Run) -> None:
    code = """
import dataclasses, inspect, pickle, typing
@dataclasses.dataclass
class Point:
    x: 'int'
    y: 'typing.List[Point]' = ()
def f(): return 1
copied = pickle.loads(pickle.dumps(Point(1)))
[copied == Point(1), typing.get_type_hints(Point)['x'] is int, inspect.getsource(f), __name__, __file__[-8:]]
"""
    assert run(code).value == [True, True, "def f(): return 1\n", "__main__", "/main.py"]


@pytest.mark.parametrize(
    ("code", "message", "line", "column"),
    [
        ("x = = 1", "invalid syntax", 1, 5),
        ("print('x')\nbreak", "'break' outside loop", 2, 1),
        ("print('x')\ncontinue\nreturn 1", "'continue' not properly in loop", 2, 1),
        ("return 1\nif True:\n    break", "'break' outside loop", 3, 5),
        ("for x in []:\n    pass\nelse:\n    break\nreturn 1", "'break' outside loop", 4, 5),
        ("class A:\n    return 1", "'return' outside function", 2, 5),
        ("def f():\n    await g()", "'await' outside async function", 2, 5),
        ("yield 1", "'yield' outside function", 1, 1),
        ("'äöü'; yield 1", "'yield' outside function", 1, 8),
        ("x = 1\nglobal x", "name 'x' is assigned to before global declaration", 2, 1),
        ("from __future__ import braces", "not a chance", 1, 1),
        ("x = 1\nfrom __future__ import annotations\nreturn 1", None, 2, None),
        ("x = '\0'", "source code string cannot contain null bytes", None, None),
        ("try:\n    pass\nexcept* ValueError:\n    return 1", None, 4, 5),
    ],
)
def test_a_script_that_does_not_compile_runs_nothing(
    run: Run, code: str, message: str | None, line: int | None, column: int | None
) -> None:
    ran = run(code)
    assert (ran.status, ran.stdout, ran.header["type"], ran.header["line"]) == ("rejected", "", "SyntaxError", line)
    assert message in (None, ran.header["message"])
    assert column in (None, ran.header["column"])


@pytest.mark.parametrize(
    "code", ["-" * 100_000 + "1", "(" * 5000, "x = " + "[" * 90 + "]" * 90 + "\n" + "1 + " * 50_000 + "1"]
)
def test_source_that_is_nested_beyond_use_is_refused(run: Run, code: str) -> None:
    ran = run(code)
    assert (ran.status, ran.header["type"]) == ("rejected", "SyntaxError")
