"""Expressions, over kinds of value."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddock.planning.light import (
    arithmetic,
    attributes,
    calls,
    comparisons,
    containers,
    formats,
    functions,
    operators,
    subscripts,
)
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import Kind, Kinds, Thing, in_order

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

CONSTANTS = {bool: "bool", int: "int", float: "float", str: "str", bytes: "bytes", type(None): "none"}


def _constant(a: Analysis, node: ast.Constant) -> Kinds:
    kind = CONSTANTS.get(type(node.value))
    if isinstance(node.value, float) and arithmetic.is_tie(node.value):
        return frozenset({"dyadic"})
    if kind is None:
        raise Refused("uses `...`", node)
    return frozenset({kind})


def _name(a: Analysis, node: ast.Name) -> Kinds:
    return a.lookup(node.id, node)


def _bool_op(a: Analysis, node: ast.BoolOp) -> Kinds:
    return frozenset().union(*(a.value(value) for value in node.values))


def _named_expr(a: Analysis, node: ast.NamedExpr) -> Kinds:
    kinds = a.value(node.value)
    scope = a.scope
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    a.flow(kinds, scope.cell(node.target.id))
    return kinds


def _lambda(a: Analysis, node: ast.Lambda) -> Kinds:
    return frozenset({functions.define(a, node)})


def _if_exp(a: Analysis, node: ast.IfExp) -> Kinds:
    a.value(node.test)
    return a.value(node.body) | a.value(node.orelse)


def _await(a: Analysis, node: ast.Await) -> Kinds:
    result: set[Kind] = set()
    for kind in in_order(a.value(node.value)):
        if isinstance(kind, Thing) and kind.shape == "coroutine":
            result |= kind.items
        else:
            raise Refused("awaits something that is not a coroutine", node)
    return frozenset(result)


def _call(a: Analysis, node: ast.Call) -> Kinds:
    kinds = calls.call(a, node)
    if any(isinstance(kind, Thing) and kind.shape == "coroutine" for kind in kinds) and id(node) not in a.facts.awaited:
        raise Refused("keeps a coroutine that may never be awaited", node)
    return kinds


def _generator(a: Analysis, node: ast.GeneratorExp) -> Kinds:
    raise Refused("keeps a generator expression", node)


def _starred(a: Analysis, node: ast.Starred) -> Kinds:
    raise Refused("unpacks in an unusual place", node)


EXPRESSIONS: dict[type[ast.AST], Callable[[Analysis, Any], Kinds]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BoolOp: _bool_op,
    ast.NamedExpr: _named_expr,
    ast.BinOp: operators.bin_op,
    ast.UnaryOp: operators.unary_op,
    ast.Lambda: _lambda,
    ast.IfExp: _if_exp,
    ast.Dict: containers.dict_literal,
    ast.List: containers.list_literal,
    ast.Set: containers.set_literal,
    ast.Tuple: containers.tuple_literal,
    ast.ListComp: containers.list_comp,
    ast.SetComp: containers.set_comp,
    ast.DictComp: containers.dict_comp,
    ast.GeneratorExp: _generator,
    ast.Await: _await,
    ast.Compare: comparisons.compare,
    ast.Call: _call,
    ast.JoinedStr: formats.joined_str,
    ast.FormattedValue: formats.formatted,
    ast.Attribute: attributes.attribute,
    ast.Subscript: subscripts.subscript,
    ast.Starred: _starred,
    ast.Slice: _starred,
}
