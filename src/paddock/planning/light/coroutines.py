"""`asyncio`: what is gathered, slept and run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.planning.light import lazy
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import NONE, Kind, Kinds, Thing, in_order

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def _gather(a: Analysis, node: ast.Call) -> Kinds:
    result: set[Kind] = set()
    for argument in node.args:
        kinds = lazy.consume(a, argument.value) if isinstance(argument, ast.Starred) else a.value(argument)
        for kind in in_order(kinds):
            if not isinstance(kind, Thing) or kind.shape != "coroutine":
                raise Refused("gathers something that is not a coroutine", node)
            if isinstance(kind.node, ast.AsyncFunctionDef) and not _is_silent(kind.node):
                raise Refused("gathers functions that can be seen at work", node)
            result |= kind.items
    made = a.holding(node, "list", result)
    return a.holding(node, "coroutine", made)


def _is_silent(function: ast.AsyncFunctionDef) -> bool:
    """Whether the order in which it runs beside others cannot be seen."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Raise | ast.AugAssign):
            return False
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in QUIET_CALLS):
            return False
    return True


QUIET_CALLS = frozenset({"call_tool", "len", "sum", "str", "int", "float", "range", "sorted", "dict", "list", "round"})


def _sleep(a: Analysis, node: ast.Call) -> Kinds:
    a.value(node.args[0])
    return a.holding(node, "coroutine", NONE)


def _asyncio_run(a: Analysis, node: ast.Call) -> Kinds:
    result: set[Kind] = set()
    if a.scope is not a.module or a.facts.awaits_at_top or a.facts.returns_at_top:
        raise Refused("calls asyncio.run() where a loop may be running", node)
    for kind in in_order(a.value(node.args[0])):
        if not isinstance(kind, Thing) or not isinstance(kind.node, ast.AsyncFunctionDef):
            raise Refused("runs something that is not a coroutine", node)
        result |= kind.items
    return frozenset(result)


HANDLERS: dict[str, Callable[[Analysis, ast.Call], Kinds]] = {
    "asyncio.gather": _gather,
    "asyncio.sleep": _sleep,
    "asyncio.run": _asyncio_run,
}
