"""The first look: constructs that the light interpreter lacks, by the shape of the tree alone."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable
from typing import Any

from paddock.planning.light.facts import Facts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.tables import DUNDERS
from paddock.planning.light.texts import NEWER_CASE

ALLOWED = (
    ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Return, ast.Assign, ast.AugAssign,
    ast.AnnAssign, ast.For, ast.While, ast.If, ast.Raise, ast.Try, ast.Assert, ast.Import, ast.ImportFrom, ast.Global,
    ast.Nonlocal, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp,
    ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await,
    ast.Compare, ast.Call, ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred,
    ast.Name, ast.List, ast.Tuple, ast.Slice, ast.comprehension, ast.ExceptHandler, ast.arguments, ast.arg,
    ast.keyword, ast.alias, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.With, ast.withitem,
    ast.Match, ast.match_case, ast.pattern,
)  # fmt: skip

NAMES = {
    ast.Delete: "`del`", ast.AsyncWith: "`async with`", ast.AsyncFor: "`async for`",
    ast.Yield: "`yield`", ast.YieldFrom: "`yield from`",
}  # fmt: skip

DEPTH = 150
"""Monty gives up at 200 levels; this leaves room for its own way of counting."""


def check(facts: Facts) -> None:
    """Refuse what Monty rejects, or is known to do differently, whatever the values are."""
    for node, depth in zip(facts.nodes, facts.depths, strict=True):
        if not isinstance(node, ALLOWED):
            raise Refused(f"uses {NAMES.get(type(node), type(node).__name__)}", node)
        if depth > DEPTH:
            raise Refused("is nested too deeply", node)
        special = _CHECKS.get(type(node))
        if special is not None:
            special(node)
    _check_private(facts)


def _check_private(facts: Facts) -> None:
    """CPython gives `self.__x` inside a class another name; Monty does not."""
    private = [node for node in facts.nodes if isinstance(node, ast.Attribute) and _is_private(node.attr)]
    if not private:
        return
    inside = {id(n) for c in facts.nodes if isinstance(c, ast.ClassDef) for n in ast.walk(c)}
    stored = {node.attr for node in private if isinstance(node.ctx, ast.Store)}
    methods = {node.name for node in facts.nodes if isinstance(node, ast.FunctionDef)}
    for node in private:
        if id(node) not in inside or node.attr not in stored | methods:
            raise Refused(f"uses the private name {node.attr}", node)


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _class(node: ast.ClassDef) -> None:
    if node.bases or node.keywords:
        raise Refused("uses class inheritance", node)
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef):
            if statement.decorator_list:
                raise Refused("uses a decorator on a method", statement)
            if statement.name.startswith("__") and statement.name.endswith("__") and statement.name not in DUNDERS:
                raise Refused(f"defines {statement.name}", statement)
        elif not (
            isinstance(statement, ast.Pass | ast.AnnAssign)
            or (isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets))
            or (isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str))
        ):
            raise Refused("has more than methods and variables in a class body", statement)
        if not isinstance(statement, ast.FunctionDef) and any(
            isinstance(inner, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda)
            for inner in ast.walk(statement)
        ):
            raise Refused("uses a comprehension in a class body", statement)


def _constant(node: ast.Constant) -> None:
    if isinstance(node.value, complex):
        raise Refused("uses complex numbers", node)
    if isinstance(node.value, str) and not node.value.isascii():
        # What this Python's tables do not know, Monty's newer ones may.
        odd = next((c for c in node.value if unicodedata.category(c) in ("Cn", "Cs") or c in NEWER_CASE), None)
        if odd is not None:
            raise Refused(f"has the character U+{ord(odd):04X}", node)


def _comprehension(node: ast.comprehension) -> None:
    if node.is_async:
        raise Refused("uses an asynchronous comprehension", node.iter)


def _import(node: ast.ImportFrom) -> None:
    if node.level or any(alias.name == "*" for alias in node.names):
        raise Refused("uses a relative or wildcard import", node)


def _name(node: ast.Name) -> None:
    if not node.id.strip("_"):
        return
    if node.id.startswith("__") and node.id.endswith("__") and node.id != "__name__":
        raise Refused(f"uses {node.id}", node)
    if node.id == "__name__" and not isinstance(node.ctx, ast.Load):
        raise Refused("assigns __name__", node)
    if node.id.startswith("__") and not node.id.endswith("__"):
        raise Refused(f"uses the private name {node.id}", node)


def _attribute(node: ast.Attribute) -> None:
    private = node.attr.startswith("__") and not node.attr.endswith("__")
    if private and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
        raise Refused(f"uses the private name {node.attr}", node)
    if node.end_lineno not in (node.lineno, node.value.end_lineno):
        raise Refused("takes an attribute on the next line", node)


_CHECKS: dict[type[ast.AST], Callable[[Any], None]] = {
    ast.ClassDef: _class,
    ast.Constant: _constant,
    ast.comprehension: _comprehension,
    ast.ImportFrom: _import,
    ast.Name: _name,
    ast.Attribute: _attribute,
}
