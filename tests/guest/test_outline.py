"""What a guest tells the host about a script, so that the host need not parse it."""

from __future__ import annotations

import ast

import msgspec
import pytest

from paddock.guest.python import outline
from paddock.model.events import Outline

SCRIPT = """\
orders = {}
orders["key"] = {**orders, "b": 1}
for each in orders:
    if each:
        return fetch(each)
    return
def f():
    return 1
"""


def test_the_host_can_decode_an_outline() -> None:
    described = msgspec.json.decode(msgspec.json.encode(outline.describe(ast.parse(SCRIPT))), type=Outline)
    assert described == Outline(
        returns=[(6, 4, False), (5, 8, True)],
        bound=["each", "orders"],
        unbound=["fetch"],
        unawaited=[(5, 16, "fetch")],
        stored_keys=["key"],
        spread_lines=[2],
    )


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("await add({})", "add"),
        ("x = 1\nx + len([2])", ""),
        ("orders = await orders({})", "orders"),
        ("if x := 1:\n    orders = await orders({})", "orders"),
        ("tools = [add, sub]\n[await tool({}) for tool in tools]", "add sub tool"),
        ("f = add\nawait f({})", "add"),
        ("def add(n):\n    return add(n - 1)\nadd(2)", ""),
        ("def f(add):\n    return add\nawait add({})", "add"),
        ("[add for add in [1]]\nawait add({})", "add"),
        ("f = lambda add: add\nawait add({})", "add"),
        ("import asyncio\nawait asyncio.gather(*[add({'n': n}) for n in range(3)])", "add"),
        ("from json import loads as add\nawait add('1')", ""),
        ("for n in [1]:\n    total = n\ntotal", ""),
        ("try:\n    pass\nexcept ValueError as error:\n    error", ""),
        ("with open('x') as file:\n    file.read()", ""),
        ("match [1]:\n    case [first, *rest]:\n        first, rest\n    case {'a': 1, **more}:\n        more", ""),
        ("class A:\n    def f(self):\n        return self.g(await_)", "await_"),
        ("async def f():\n    return await call_tool('x', {})\nawait f()", "call_tool"),
        ("del x", "x"),
        ("f'{add}'", "add"),
        ("@add\ndef f(): pass", "add"),
        ("def f(n=add): pass", "add"),
        ("x += 1", ""),
    ],
)
def test_names_that_a_script_uses_and_does_not_bind_are_unbound(code: str, names: str) -> None:
    assert outline.unbound_names(ast.parse(code)) == frozenset(names.split())


@pytest.mark.parametrize(
    "code", ["eval('add')", "globals()['add']", "from x import *", "__builtins__", "def f():\n    exec('add()')"]
)
def test_a_script_that_looks_names_up_by_text_may_use_any(code: str) -> None:
    assert outline.unbound_names(ast.parse(code)) is None
