"""Which names of a script may be those of tools."""

from __future__ import annotations

import ast

import pytest

from paddock.planning.free_names import free_names


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
def test_names_that_are_not_made_are_free(code: str, names: str) -> None:
    assert free_names(ast.parse(code)) == frozenset(names.split())


@pytest.mark.parametrize(
    "code", ["eval('add')", "globals()['add']", "from x import *", "__builtins__", "def f():\n    exec('add()')"]
)
def test_a_script_that_looks_names_up_may_use_any(code: str) -> None:
    assert free_names(ast.parse(code)) is None
