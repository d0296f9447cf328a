"""The names that a Python script uses without having made them: those of its tools are among them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

_BUILT_IN = frozenset(dir(builtins))
_BY_TEXT = frozenset({"eval", "exec", "globals", "locals", "vars", "compile"})
"""With these a script may reach any name by its text."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (*_DEFINITIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def free_names(tree: ast.Module) -> frozenset[str] | None:
    """Rather too many than too few; None where any name may be used."""
    bound: set[str] = set()
    free: set[str] = set()
    for statement in tree.body:
        nodes = list(ast.walk(statement))
        used = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
        if used & _BY_TEXT or any(name.startswith("__") for name in used) or any(map(_takes_all, nodes)):
            return None
        called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        if isinstance(statement, _DEFINITIONS):
            bound.add(statement.name)
        inner = {name for node in nodes for name in _made(node)}
        free |= used - bound - (inner - called)  # `orders = await orders({})` calls a tool, though it makes the name
        bound.update(_made_here(statement))
    return frozenset(free - _BUILT_IN)


def _takes_all(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)


def _made(node: ast.AST) -> Iterator[str]:
    """The names that `node` itself makes, without what is inside it."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _made_here(statement: ast.AST) -> Iterator[str]:
    """The names that are there after it: not those of a function's or a comprehension's own."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield from _made(node)
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
