"""What each kind of value becomes as JSON: the rules of docs/values.md."""

from __future__ import annotations

import json

import pytest

from paddock.guest.python import values
from tests.guest.conftest import Run

NEVER_AWAITED = "the result is a coroutine that was never awaited: write `await` before the call"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("None", "null"),
        (
            "[1 < 2, 2 ** 70, 0.1 + 0.2, -0.0, 1e300 * 1e10]",
            '[true, 1180591620717411303424, 0.30000000000000004, -0.0, "Infinity"]',
        ),
        ("'größe'", r'"gr\u00f6\u00dfe"'),
        ("[float('nan'), -1e400]", '["NaN", "-Infinity"]'),
        (
            "['a\\ud800', '\\\\ud800', '😀', '\\udc00\\ud83d']",
            r'["a\ufffd", "\\ud800", "\ud83d\ude00", "\ufffd\ufffd"]',
        ),
        ("[{'\\ud800': {1}}]", r'[{"\ufffd": [1]}]'),
        ("b'ab\\xff'", '{"type": "bytes", "base64": "YWL/"}'),
        (
            "[bytearray(b'a'), memoryview(b'')]",
            '[{"type": "bytes", "base64": "YQ=="}, {"type": "bytes", "base64": ""}]',
        ),
        ("(1, (2, 3))", "[1, [2, 3]]"),
        ("[{3}, frozenset([4]), range(2), {}, [], (), set()]", "[[3], [4], [0, 1], {}, [], [], []]"),
        ("{1: 'a', None: 'b', (1, 2): 'c', True: 'd', 1.5: 'e'}", '{"1": "d", "null": "b", "(1, 2)": "c", "1.5": "e"}'),
        ("{True: 1, False: {2}}", '{"true": 1, "false": [2]}'),
        ("{1: 'a', '1': {2}}", '{"1": "a", "1": [2]}'),
        ("{float('nan'): 1}", '{"NaN": 1}'),
        ("{'a': 1}.items()", '[["a", 1]]'),
        ("[{'a': 1}.keys(), {'a': 1}.values()]", '[["a"], [1]]'),
        (
            "[map(str, [1]), zip([1], [2]), (x for x in [3]), iter([4]), enumerate('a')]",
            '[["1"], [[1, 2]], [3], [4], [[0, "a"]]]',
        ),
        ("[(x for x in [3]), float('nan')]", '[[3], "NaN"]'),
        (
            "from collections import *\n[Counter('a'), defaultdict(int, b=1), deque([1]), OrderedDict(c=2)]",
            '[{"a": 1}, {"b": 1}, [1], {"c": 2}]',
        ),
        ("from collections import *\n[ChainMap({'a': 1}), UserDict(b=2), UserList([3])]", '[{"a": 1}, {"b": 2}, [3]]'),
        ("from collections import namedtuple\nnamedtuple('P', 'x y')(1, {2})", "[1, [2]]"),
        (
            "import datetime as d\n[d.datetime(2026, 1, 2, 3, 4), d.date(2026, 1, 2), d.time(3)]",
            '["2026-01-02T03:04:00", "2026-01-02", "03:00:00"]',
        ),
        ("import datetime\ndatetime.timedelta(minutes=2)", "120.0"),
        ("from pathlib import Path\nPath('/files/a.txt')", '"/files/a.txt"'),
        (
            "from decimal import Decimal\nfrom fractions import Fraction\n[Decimal('1.10'), Fraction(1, 3)]",
            '["1.10", "1/3"]',
        ),
        ("import uuid\nuuid.UUID(int=1)", '"00000000-0000-0000-0000-000000000001"'),
        (
            "from enum import *\nclass A(Enum):\n    X = {1}\nclass B(IntEnum):\n    Y = 2\n[A.X, B.Y, {A.X: B.Y}]",
            '[[1], 2, {"{1}": 2}]',
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: list\n[P(1, [P(2, [])])]",
            '[{"x": 1, "y": [{"x": 2, "y": []}]}]',
        ),
        ("class Model:\n    def model_dump(self): return {'a': {1}}\nModel()", '{"a": [1]}'),
        ("[len, int, 1 + 2j, ...]", '["<built-in function len>", "<class \'int\'>", "(1+2j)", "Ellipsis"]'),
        ("import json\njson", None),
        ("x = [1]\n[x, x, {1}]", "[[1], [1], [1]]"),
        (
            "class D(dict): pass\nclass L(list): pass\nclass I(int): pass\nclass S(str): pass\n"
            "[D(a=L([I(1), S('s')]))]",
            '[{"a": [1, "s"]}]',
        ),
    ],
)
def test_what_json_lacks_comes_as_what_is_nearest(run: Run, code: str, text: str | None) -> None:
    ran = run(code)
    assert ran.status == "ok", ran.header
    assert text in (None, ran.body.decode())


@pytest.mark.parametrize(
    ("code", "value", "warning"),
    [
        ("import datetime\n[datetime.timedelta(1)]", [86400.0], "A timedelta is a number of seconds in the result."),
        (
            "[float('nan')]",
            ["NaN"],
            'NaN in the result is the text "NaN", because JSON has no such number.',
        ),
        (
            "{'a': [{1: 'a', '1': 'b'}]}",
            {"a": [{"1": "b"}]},
            'Two keys of a dict are both "1" as text; only the last one is in the result.',
        ),
        (
            "{None: {5}, 'null': 'b'}",
            {"null": "b"},
            'Two keys of a dict are both "null" as text; only the last one is in the result.',
        ),
        (
            "class Foo: pass\n[Foo(), Foo()]",
            ["<Foo object>", "<Foo object>"],
            "An object of type Foo has no JSON form, so the result has only its text: "
            "return its data instead, for example as a dict.",
        ),
        (
            "def f(): pass\n{'f': f}",
            {"f": "<function f>"},
            "An object of type function has no JSON form, so the result has only its text: "
            "return its data instead, for example as a dict.",
        ),
        (
            "class Figure:\n    __module__ = 'matplotlib.figure'\nFigure()",
            "<matplotlib.figure.Figure object>",
            "An object of type Figure has no JSON form, so the result has only its text: keep a figure with "
            "`fig.savefig('a.png')`, then `await create_artifact('a.png', <its bytes>)`.",
        ),
    ],
)
def test_a_value_that_loses_something_comes_with_a_warning(run: Run, code: str, value: object, warning: str) -> None:
    ran = run(code)
    assert (ran.value, ran.header["warnings"]) == (value, [warning])


@pytest.mark.parametrize("code", ["{1: 'a', 2: 'b'}", "{'a': 1, 2: 3, None: [{True: 0, 'x': 1}]}", "[b'x', {1}, 2j]"])
def test_a_value_that_loses_nothing_comes_without(run: Run, code: str) -> None:
    assert "warnings" not in run(code).header


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("x = []\nx.append(x)\nx", "ValueError", "the result contains itself"),
        ("x = {}\nx['a'] = (x, {1})\nx", "ValueError", "the result contains itself"),
        ("async def f(): pass\nf()", "TypeError", NEVER_AWAITED),
        ("async def f(): pass\n[{'a': f()}]", "TypeError", NEVER_AWAITED),
        ("async def f(): pass\nreturn f()", "TypeError", NEVER_AWAITED),
        ("import asyncio\nawait asyncio.sleep(0)\nasyncio.gather()", "TypeError", NEVER_AWAITED),
        ("call_tool('x')", "TypeError", NEVER_AWAITED),
        ("class A:\n    def __repr__(self): raise KeyError('mine')\n[A()]", "KeyError", "'mine'"),
        ("class A(dict):\n    def items(self): raise KeyError('mine')\nA(a=1)", "KeyError", "'mine'"),
        ("def f():\n    yield 1\n    raise OSError('mine')\nf()", "OSError", "mine"),
        ("class A:\n    __class__ = str\nA()", "TypeError", None),
    ],
)
def test_a_value_that_cannot_be_written_is_an_exception_of_the_script(
    run: Run, code: str, kind: str, message: str | None
) -> None:
    raised = run(code).raised
    assert raised[0] == kind
    assert message in (None, raised[1])


@pytest.mark.parametrize("innermost", ["1", "float('nan')", "{2}"])
def test_a_value_nested_deeply_comes_back_whole(run: Run, innermost: str) -> None:
    ran = run(f"x = {innermost}\nfor _ in range(400):\n    x = [x]\nx", start={"limits": {"recursion": 50}})
    assert ran.body.startswith(b"[" * 400)


def test_a_value_nested_beyond_the_limit_is_a_recursion_error(run: Run) -> None:
    code = "x = 1\nfor _ in range(depth):\n    x = [x]\nx"
    assert run(code, inputs={"depth": 100_000}).raised[0] == "RecursionError"
    deep = run(code, inputs={"depth": 3000}, start={"limits": {"recursion": 10_000}})
    assert deep.body == b"[" * 3000 + b"1" + b"]" * 3000


def test_plain_and_careful_writing_agree() -> None:
    plain = {"a": [1, 2.5, None, True, "ä\u2028😀\n", {"": {}, "b": []}], "n": -(2**80)}
    writer = values._Writer()
    writer.write(plain)
    assert "".join(writer.parts) == values.text_of(plain, 1000) == json.dumps(plain)


def test_an_input_as_deep_as_the_host_allows_arrives(run: Run) -> None:
    deep: list[object] = []
    for _ in range(950):
        deep = [deep]
    assert run("len(deep)", inputs={"deep": deep}, start={"limits": {"recursion": 50}}).value == 1


def test_files_are_put_together_and_listed(run: Run, tmp_path: object) -> None:
    data = bytes(range(256)) * 3
    path = f"{tmp_path}/files/deep/a.bin"
    entry = {"path": path, "file_name": "a.bin", "file_type": "", "element_id": ""}
    ran = run(
        "f = open(files[0]['path'], 'rb').read()\n[files, len(f), f == bytes(range(256)) * 3]",
        files={path: data, f"{tmp_path}/files/empty": b""},
        start={"files": [entry], "limits": {"file_bytes": 100}},
    )
    assert ran.value == [[entry], 768, True]
