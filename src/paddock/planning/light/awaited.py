"""Calls whose coroutine, if they give one, is awaited whatever happens: CPython warns about one that is dropped."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

RUNNERS = frozenset({"gather", "run"})
PLAIN = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


def awaited(nodes: list[ast.AST]) -> frozenset[int]:
    """Identities of calls that stand where a coroutine is awaited, handed on, or kept until it is awaited."""
    found: set[int] = set()
    catches = any(isinstance(node, ast.Try) for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Await | ast.Expr | ast.Return):
            _accept(node.value, found)
        elif isinstance(node, ast.Lambda):
            _accept(node.body, found)
        elif isinstance(node, ast.Call) and _name(node.func) in RUNNERS:
            for argument in node.args:
                _accept_all(argument.value if isinstance(argument, ast.Starred) else argument, found)
        for block in _blocks(node):
            for place, statement in enumerate(block):
                _accept_kept(statement, block[place + 1 :], found, catches=catches)
    return frozenset(found)


def _accept(node: ast.expr | None, found: set[int]) -> None:
    if isinstance(node, ast.Call):
        found.add(id(node))
    elif isinstance(node, ast.IfExp):
        _accept(node.body, found)
        _accept(node.orelse, found)


def _accept_all(node: ast.expr, found: set[int]) -> None:
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        _accept(node.elt, found)
    elif isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            _accept(element, found)
    else:
        _accept(node, found)


def _accept_kept(statement: ast.stmt, rest: list[ast.stmt], found: set[int], *, catches: bool) -> None:
    """`task = f()` or `tasks.append(f())`, in a loop too, with what awaits it further down in the same block."""
    for name, value in _kept(statement):
        if _is_awaited(name, [statement, *rest], catches=catches):
            _accept_all(value, found)


def _kept(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return [(statement.targets[0].id, statement.value)]
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple):
        targets = getattr(statement.targets[0], "elts", [])
        if len(statement.targets) == 1 and all(isinstance(target, ast.Name) for target in targets):
            return [(target.id, value) for target, value in zip(targets, statement.value.elts, strict=False)]
    if isinstance(statement, ast.For) and not statement.orelse:
        return [kept for inner in statement.body for kept in _kept(inner) if not isinstance(inner, ast.Assign)]
    call = statement.value if isinstance(statement, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) and len(call.args) == 1 else None
    if isinstance(call, ast.Call) and isinstance(method, ast.Attribute) and method.attr == "append":
        return [(method.value.id, call.args[0])] if isinstance(method.value, ast.Name) else []
    return []


def _is_awaited(name: str, statements: list[ast.stmt], *, catches: bool) -> bool:
    """Whether the statements after the first come to awaiting `name`, with nothing on the way that leads elsewhere."""
    first, *rest = statements
    if any(isinstance(inner, ast.Return | ast.Raise | ast.Break) for inner in ast.walk(first)):
        return False
    for statement in rest:
        if any(isinstance(inner, ast.Await) and name in _names(inner) for inner in _surely(statement)):
            return isinstance(statement, PLAIN)
        if name in _stored(statement) or isinstance(statement, ast.Return):
            return False
        may_fail = any(isinstance(inner, ast.Await) for inner in ast.walk(statement)) or not _kept(statement)
        if (catches or not isinstance(statement, PLAIN)) and may_fail:
            return False
    return False


def _surely(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated wherever `node` is: not one side of a condition, and nothing that may run no time at all."""
    yield node
    inner: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.IfExp):
        inner = [node.test]
    elif isinstance(node, ast.BoolOp):
        inner = node.values[:1]
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        inner = [node.generators[0].iter]
    elif isinstance(node, ast.Lambda):
        inner = []
    for child in inner:
        yield from _surely(child)


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}


def _stored(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    return [block for name in ("body", "orelse", "finalbody") if isinstance(block := getattr(node, name, None), list)]
