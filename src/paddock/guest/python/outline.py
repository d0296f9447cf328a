"""Facts about a script's syntax tree that the host may request, because it parses no source itself.

The keys are those of `paddock.model.events.Outline`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any

_BUILT_IN = frozenset(dir(builtins))
_DYNAMIC = frozenset({"eval", "exec", "globals", "locals", "vars", "compile"})
"""With one of these a script can use any name dynamically."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (*_DEFINITIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def describe(tree: ast.Module) -> dict[str, Any]:
    """The outline of a script, as JSON values."""
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    returns = [node for block in statement_lists(tree.body) for node in block if isinstance(node, ast.Return)]
    unbound = unbound_names(tree)
    return {
        "returns": [[node.lineno, node.col_offset, node.value is not None] for node in returns],
        "bound": sorted(bound),
        "unbound": None if unbound is None else sorted(unbound),
        "unawaited": [
            [call.lineno, call.col_offset + 1, call.func.id]
            for node in returns
            if isinstance(call := node.value, ast.Call) and isinstance(call.func, ast.Name)
        ],
        "stored_keys": sorted({key for node in nodes if (key := _stored_key(node)) is not None}),
        "spread_lines": sorted(
            {
                line
                for node in nodes
                if isinstance(node, ast.Dict) and None in node.keys
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
            }
        ),
    }


def statement_lists(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Every list of statements at the top level, including lists inside `if`, `for`, `with`, `try` and `match`."""
    stack = [body]
    while stack:
        block = stack.pop()
        yield block
        for node in block:
            if isinstance(node, _DEFINITIONS):
                continue
            for owner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                inner = (getattr(owner, name, None) for name in ("body", "orelse", "finalbody"))
                stack.extend(block for block in inner if isinstance(block, list))


def unbound_names(tree: ast.Module) -> frozenset[str] | None:
    """Names that the script uses without binding them first. The set may be too large, but never too small.

    None if the script may use any name.
    """
    bound: set[str] = set()
    unbound: set[str] = set()
    for statement in tree.body:
        nodes = list(ast.walk(statement))
        used = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
        if used & _DYNAMIC or any(name.startswith("__") for name in used) or any(map(_imports_all, nodes)):
            return None
        called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        if isinstance(statement, _DEFINITIONS):
            bound.add(statement.name)
        bound_inside = {name for node in nodes for name in _bound_by(node)}
        # `orders = await orders({})` calls a tool, though it binds the name.
        unbound |= used - bound - (bound_inside - called)
        bound.update(_bound_after(statement))
    return frozenset(unbound - _BUILT_IN)


def _imports_all(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The names that `node` itself binds, without the names that its children bind."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _bound_after(statement: ast.AST) -> Iterator[str]:
    """The names that are bound once `statement` has run, without names local to a function or a comprehension."""
    stack = [statement]
    while stack:
        node = stack.pop()
        yield from _bound_by(node)
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))


def _stored_key(node: ast.AST) -> str | None:
    """The constant key that `node` stores into a dict, as in `x["key"] = …`, if it does."""
    match node:
        case ast.Subscript(slice=ast.Constant(str(key)), ctx=ast.Store() | ast.Del()):
            return key
        case ast.Call(ast.Attribute(attr="setdefault"), [ast.Constant(str(key)), *_]):
            return key
        case ast.keyword(str(key)):
            return key
    return None
