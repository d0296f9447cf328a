"""`a, b = map(int, text.split())`: CPython reads one item more than it needs, Monty makes them all."""

from __future__ import annotations

import ast
from collections.abc import Iterable

LISTS = frozenset({"split", "rsplit", "splitlines"})
"""Methods that give a list, whatever has them."""


def bounded(nodes: Iterable[ast.AST]) -> list[tuple[ast.expr, int]]:
    """The lists that unpacked lazy values run over, with how many of their items CPython reads."""
    found: list[tuple[ast.expr, int]] = []
    own: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, source = node.targets[0], _source(node.value)
            places = target.elts if isinstance(target, ast.Tuple | ast.List) else []
            if source is not None and _is_list(source) and places and not any(map(_is_starred, places)):
                found.append((source, len(places) + 1))
    return [] if own & {"map", *LISTS} else found


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _source(value: ast.expr) -> ast.expr | None:
    """What `map(f, x)` or `(… for y in x)` runs over."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "map":
        return value.args[1] if len(value.args) == 2 and not value.keywords else None
    if isinstance(value, ast.GeneratorExp) and len(value.generators) == 1 and not value.generators[0].ifs:
        return value.generators[0].iter
    return None


def _is_list(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in LISTS
    return isinstance(node, ast.List)
