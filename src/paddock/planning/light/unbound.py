"""Comprehensions that read a variable of their function before it has a value: they raise another exception."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import exceptions
from paddock.planning.light.refusal import Refused

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def check(a: Analysis, node: Comprehension) -> None:
    """Refuse where a NameError is caught and told from an UnboundLocalError, and the comprehension may raise either."""
    function = a.scope.thing.node if a.scope.kind == "function" and a.scope.thing is not None else None
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or not _is_told_apart(a):
        return
    arguments = {inner.arg for inner in ast.walk(function.args) if isinstance(inner, ast.arg)}
    for name in sorted(read_inside(node)):
        if name in a.scope.names and name not in arguments and not _is_bound_before(function, name, node.lineno):
            raise Refused(f"reads {name} in a comprehension where it may have no value", node)


def _is_told_apart(a: Analysis) -> bool:
    caught = [(name, seen) for name, seen in a.catches if exceptions.catches(name, "UnboundLocalError")]
    asks = any(isinstance(node, ast.Name) and node.id in ("type", "isinstance") for node in a.facts.nodes)
    return bool(caught) and (asks or any(seen or name == "UnboundLocalError" for name, seen in caught))


def _is_bound_before(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, line: int) -> bool:
    """Whether a statement of the function itself, outside branches and loops, binds `name` above `line`."""
    for statement in function.body:
        if statement.lineno >= line:
            break
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name:
            return True
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.With) and any(
            isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store)
            for inner in ast.walk(statement)
        ):
            return True
    return False


def read_inside(node: Comprehension) -> set[str]:
    """The names that a comprehension reads in a scope of its own: all but those of what its first loop runs over."""
    outside = {id(inner) for inner in ast.walk(node.generators[0].iter)}
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and id(inner) not in outside]
    own = {inner.id for inner in names if isinstance(inner.ctx, ast.Store)}
    return {inner.id for inner in names} - own
