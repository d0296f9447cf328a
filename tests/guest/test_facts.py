"""What a guest tells about an error beside its text: names that may have been meant, keys that there are."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.guest.python import errors, facts
from tests.guest.conftest import Run
from tests.guest.harness import tools

OPTIONS = {"start": {"tools": ["orders"]}, "answer": tools(orders=lambda arguments: {"items": [], "total": 0})}


@pytest.mark.parametrize(
    ("code", "near"),
    [
        ("contact = 1\ncontcat", ["contact"]),
        ("def f(amount):\n    return amuont\nf(1)", ["amount"]),
        ("callTool('x')", ["call_tool"]),
        ("await ordrs({})", ["orders"]),
        ("regionn", ["region"]),
        ("prnt(1)", ["print"]),
        ("maht.sqrt(2)", ["math"]),
        ("import jsn", ["json"]),
        ("from json import lods", ["loads"]),
        ("import json\njson.dump_s({})", ["dumps", "dump"]),
        ("class A:\n    def __init__(self): self.total = 1\nA().totl", ["total"]),
        ("class A:\n    def total(self): pass\nA.totl", ["total"]),
        ("[].apend(1)", ["append"]),
        ("zzzzzz", None),
        ("main()", None),  # not `min`
        ("rows = [1]\nrow", None),  # rather something else than `rows`
        ("def main(): pass\nmian()", ["main"]),
        ("raise NameError('x')", None),
        ("x = None\nx.name", None),
    ],
)
def test_names_that_may_have_been_meant(run: Run, code: str, near: list[str] | None) -> None:
    ran = run(code, inputs={"region": "eu"}, **OPTIONS)
    assert ran.status == "raised"
    assert ran.header.get("near") == near


def test_a_refused_module_is_not_advised(run: Run) -> None:
    start = {"refused_modules": ["socket"]}
    assert "near" not in run("import sockett", start=start).header
    assert "near" not in run("sockett.socket()", start=start).header
    assert run("import sockett").header["near"][0] == "socket"


@pytest.mark.parametrize(
    ("code", "keys"),
    [
        ("d = {'name': 1, 'size': 2}\nd['nme']", ["name", "size"]),
        ("d = {'a': 1, 'size': 2}\nd['sizee']", ["size", "a"]),
        ("d = {'items': [{'id': 1}]}\nfor n in range(1):\n    print(d['items'][n]['x'])", ["id"]),
        ("def f(row):\n    return [row['x']]\n[f(row) for row in [{'a': 1, 2: 2}]]", ["a", "2"]),
        ("rows = [{'a': 1}]\n[row['x'] for row in rows]", ["a"]),
        ("d = {'rows': [{'a': 1}]}\nsum([\n    row['x']\n    for row in d['rows'] if row])", ["a"]),
        ("d = {'a': 1}\nd.pop('b')", ["a"]),
        ("d = {'a': 1}\nx = 'öö'; d[\n  'b'\n]", ["a"]),
        ("from collections import OrderedDict\nd = OrderedDict(a=1)\ndel d['b']", ["a"]),
        ("class A:\n    def __init__(self): self.d = {'a': 1}\n    def f(self): return self.d['b']\nA().f()", ["a"]),
        ("(await orders())['result']", ["items", "total"]),
        ("answer = await orders()\nanswer['result']", ["items", "total"]),
        ("d = {'name': 1}\nd.name", ["name"]),
        ("d = {}\nd['a']", None),
        ("raise KeyError('x')", None),
        ("f'{len}'.format(**{})[0]\n{'a': 1}['b']", None),
        ("import os\nos.environ['NOT_THERE']", None),
    ],
)
def test_keys_of_what_was_searched(run: Run, code: str, keys: list[str] | None) -> None:
    ran = run(code, **OPTIONS)
    assert ran.raised[0] in ("KeyError", "AttributeError")
    assert ran.header.get("keys") == keys


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("total, p = 0, '12.50'\ntotal += p", ["total = 0", "p = '12.50'"]),
        ("u = {'tags': None}\n', '.join(u['tags'])", ["u['tags'] = None"]),
        ("rows = [{'id': 1}]\nrows[3]", ["rows = a list of 1 dicts with the keys id"]),
        ("import re\nre.match('b', 'a').group()", ["re.match('b', 'a') = None"]),
        (
            "class A:\n    def __init__(self): self.n = []\n    def f(self): return self.n + 1\nA().f()",
            ["self.n = an empty list"],
        ),
        ("for a, b in ['x']: pass", None),  # they have no value yet
        ("import heapq\nh = [1]\nheapq.nlargest(h, 2)", ["h = a list of 1, first 1", "nlargest() = n, iterable, key"]),
        ("from datetime import datetime\nd = datetime(2026, 1, 2)\nd + 'x'", ["d = the datetime 2026-01-02 00:00:00"]),
    ],
)
def test_values_in_the_failing_code(run: Run, code: str, values: list[str] | None) -> None:
    assert run(code).header.get("values") == values


def test_keys_are_not_those_of_another_object(run: Run) -> None:
    assert "keys" not in run("d = {'a': [{'b': 1}]}\nd.copy()['x']").header


@pytest.mark.parametrize(
    "code",
    [
        "class D(dict):\n    def keys(self): print('called')\n    __iter__ = __contains__ = keys\nd = D()\nd['a']",
        "class A:\n    def f(self): print('called')\n    __dict__ = property(f)\n    __dir__ = f\nA().x",
        "class K:\n    def __eq__(self, o): print('called')\n    def __hash__(self): return 1\nd = {K(): 1}\nd['a']",
        "class M(type):\n    __mro__ = property(lambda self: print('called'))\nclass A(metaclass=M): pass\nA().x",
        "class N(dict):\n    def __getitem__(self, k): return print('called') or {}[k]\nexec('missing', {}, N())",
        "class K:\n    def f(self, *a): return print('called') or ''\n    __str__ = __repr__ = __eq__ = f\n"
        "raise KeyError(K())",
        "class DataFrame:\n    columns = property(lambda self: print('called'))\n"
        "    def __getitem__(self, k): raise KeyError(k)\n"
        "DataFrame.__module__ = 'pandas'\ndf = DataFrame()\ndf['x']",
        "import datetime\nclass date:\n    def __repr__(self): return print('called') or ''\n"
        "date.__module__ = 'datetime'\nd = date()\nd.x",
        "import types\nclass M(types.ModuleType):\n    def __dir__(self): print('called')\nM('m').x",
    ],
)
def test_no_code_of_the_script_is_called_for_it(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    errors.register_source(code)
    with pytest.raises((KeyError, AttributeError, NameError)) as raised:
        exec(compile(code, "main.py", "exec"), {})  # noqa: S102
    capsys.readouterr()
    facts.of(raised.value)
    assert capsys.readouterr().out == ""


def test_there_is_an_end_to_them(run: Run) -> None:
    ran = run("d = {f'{n:05}' + '\\ud800ü' * 500: n for n in range(10_000)}\nd['x']")
    keys: list[Any] = ran.header["keys"]
    assert 0 < len(keys) <= 20
    assert all(len(key) <= 100 for key in keys)
