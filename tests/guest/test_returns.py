"""A top-level `return` against the same statements in a function: generated programs must end alike."""

from __future__ import annotations

import ast
import builtins
import random
import textwrap
import warnings
from typing import Any

import pytest

from paddock.guest.python.returns import NAME, ResultSlot, store_result

SETTING = """
class Context:
    def __init__(self, suppresses): self.suppresses = suppresses
    def __enter__(self): log('enter')
    def __exit__(self, kind, error, trace):
        log('exit', kind)
        return self.suppresses
"""


class Writer:
    """Random nests of everything that a return can be inside of."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.count = 0

    def block(self, depth: int, *, in_loop: bool) -> str:
        return "\n".join(self.statement(depth, in_loop=in_loop) for _ in range(self.random.randint(1, 3)))

    def statement(self, depth: int, *, in_loop: bool) -> str:
        self.count += 1
        leaves = [f"log({self.count})", f"if chance(): return {self.count}", "if chance(): raise ValueError"]
        if in_loop:
            leaves += ["if chance(): break", "if chance(): continue", "break"]
        if depth == 0 or self.random.random() < 0.25:
            return self.random.choice(leaves)
        kinds = [self.loop, self.endless, self.attempt, self.context, self.choice]
        return self.random.choice(kinds)(depth - 1, in_loop)

    def inner(self, depth: int, *, in_loop: bool) -> str:
        return textwrap.indent(self.block(depth, in_loop=in_loop), "    ")

    def loop(self, depth: int, in_loop: bool) -> str:
        text = f"for i{depth} in range(2):\n{self.inner(depth, in_loop=True)}"
        return text + (f"\nelse:\n{self.inner(depth, in_loop=in_loop)}" if self.random.random() < 0.4 else "")

    def endless(self, depth: int, in_loop: bool) -> str:
        return f"while more():\n{self.inner(depth, in_loop=True)}"

    def attempt(self, depth: int, in_loop: bool) -> str:
        parts = ["try:", self.inner(depth, in_loop=in_loop)]
        final = self.random.random() < 0.6
        if not final or self.random.random() < 0.6:
            parts += [self.random.choice(["except:", "except ValueError:"]), self.inner(depth, in_loop=in_loop)]
            parts += ["else:", self.inner(depth, in_loop=in_loop)] if self.random.random() < 0.3 else []
        parts += ["finally:", self.inner(depth, in_loop=in_loop)] if final else []
        return "\n".join(parts)

    def context(self, depth: int, in_loop: bool) -> str:
        return f"with Context({self.random.random() < 0.5}):\n{self.inner(depth, in_loop=in_loop)}"

    def choice(self, depth: int, in_loop: bool) -> str:
        return f"if chance():\n{self.inner(depth, in_loop=in_loop)}\nelse:\n{self.inner(depth, in_loop=in_loop)}"


def names(seed: int, log: list[Any]) -> dict[str, Any]:
    chances = random.Random(seed)  # noqa: S311
    found = {
        "log": lambda *what: log.append(what),
        "chance": lambda: chances.random() < 0.4,
        "more": lambda: chances.random() < 0.7,
    }
    exec(SETTING, found)  # noqa: S102
    return found


def as_function(code: str, seed: int) -> list[Any]:
    log: list[Any] = []
    space = names(seed, log)
    exec(f"def f():\n{textwrap.indent(code, '    ')}", space)  # noqa: S102
    try:
        log.append(("value", space["f"]()))
    except ValueError:
        log.append("raised")
    return log


def as_script(code: str, seed: int) -> list[Any]:
    log: list[Any] = []
    kept = ResultSlot()
    tree = ast.parse(code)
    store_result(tree, may_return=True)
    space = names(seed, log) | {"__builtins__": {**builtins.__dict__, NAME: kept}}
    try:
        exec(compile(tree, "main.py", "exec"), space)  # noqa: S102
        log.append(("value", kept.value))
    except ValueError:
        log.append("raised")
    return log


@pytest.mark.parametrize("first", range(0, 200, 40))
def test_a_return_in_any_nest_ends_as_in_a_function(first: int) -> None:
    compared = 0
    for seed in range(first, first + 40):
        code = Writer(seed).block(3, in_loop=False) + "\nlog('end')\nreturn 'end'\nx = 1"
        if code.count("finally") > 4:
            continue  # CPython compiles a `finally` twice, and one inside another four times, and so on
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a `return` in a `finally` is one to CPython 3.14
            for chance in range(3):
                assert as_script(code, chance) == as_function(code, chance), code
                compared += 1
    assert compared > 50
