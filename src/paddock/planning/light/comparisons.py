"""Comparisons: identity, membership, order, equality."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import containers, depths, lazy, objects
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import BOOL, NUMBERS, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def compare(a: Analysis, node: ast.Compare) -> Kinds:
    """`x < y`, `x in y`, `x < y < z`, …: a truth value, or what a `__eq__` of the script's own gives."""
    sides = [a.value(node.left)]
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = (
            lazy.consume(a, comparator, ordered=False, whole=False)
            if isinstance(op, ast.In | ast.NotIn) and isinstance(comparator, ast.GeneratorExp)
            else a.value(comparator)
        )
        _check_comparison(a, node, sides[-1], op, right, comparator)
        sides.append(right)
    given: set[Kind] = set()
    for side in sides:
        for kind in in_order(side):
            if isinstance(kind, Thing) and kind.shape == "instance" and objects.has(kind, "__eq__"):
                given |= objects.special_method(a, node, kind, "__eq__", [frozenset({kind})])
    return BOOL | given


def _check_comparison(
    a: Analysis, node: ast.Compare, left: Kinds, op: ast.cmpop, right: Kinds, other: ast.expr
) -> None:
    if isinstance(op, ast.Is | ast.IsNot):
        _check_identity(node, left, right, other)
    elif isinstance(op, ast.In | ast.NotIn):
        _check_membership(a, node, left, right)
    elif isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        check_ordering(a, node, left | right)
    else:
        _check_equality(a, node, left, right)


NAMED = frozenset({*NUMBERS, "str", "none", "any", "list", "tuple", "dict", "bytes", "instance"})
"""Kinds whose names both sides spell alike in a TypeError."""


def _check_membership(a: Analysis, node: ast.Compare, left: Kinds, right: Kinds) -> None:
    shapes = {shape_of(kind) for kind in right}
    if shapes & {"any", "view", "none", *NUMBERS}:
        a.diverges(node, "TypeError", "`in`")
    for kind in right:
        if shape_of(kind) == "iterator" or (
            isinstance(kind, Thing) and kind.shape == "instance" and not a.has_method(kind, "__contains__")
        ):
            raise Refused("looks for something in an iterator", node)
    if any(shape_of(kind) == "set" for kind in left):
        raise Refused("looks for a set", node)
    if "str" in shapes and not all(shape_of(kind) in NAMED for kind in left):
        raise Refused("looks in text for something other than text", node)
    if shapes & {"dict", "set", "frozenset", "view", "Counter", "defaultdict"}:
        containers.check_hashable(a, left, node)


ATOMS = frozenset({*NUMBERS, "str", "none"})


def _check_equality(a: Analysis, node: ast.Compare, left: Kinds, right: Kinds) -> None:
    if not left <= ATOMS and not right <= ATOMS:
        depths.check_nested(a, left | right, node, "compares")
    for kind in in_order(left | right):
        if isinstance(kind, Thing) and kind.shape in ("function", "iterator"):
            raise Refused("compares functions or iterators", node)
        if isinstance(kind, Thing) and kind.shape == "instance" and objects.has(kind, "__eq__"):
            objects.special_method(a, node, kind, "__eq__", [right if kind in left else left])


def check_ordering(a: Analysis, node: ast.AST, kinds: Kinds) -> None:
    """Values of these kinds are ordered: refuse where the text of a TypeError would differ and is looked at."""
    if kinds <= NUMBERS or kinds <= STR:
        return
    shapes = {shape_of(kind) for kind in kinds}
    if (
        shapes & {"instance", "set", "frozenset", "view", "path", "Counter"}
        or {"datetime.date", "datetime.datetime"} <= shapes
    ):
        raise Refused("orders objects, sets, views, or dates of two kinds", node)
    a.diverges(node, "TypeError", "an ordering")


def _check_identity(node: ast.Compare, left: Kinds, right: Kinds, other: ast.expr) -> None:
    if isinstance(other, ast.Constant) and (other.value is None or isinstance(other.value, bool)):
        return
    if isinstance(node.left, ast.Constant) and (node.left.value is None or isinstance(node.left.value, bool)):
        return
    named = {"list", "dict", "instance", "class", "builtin", "none", "exception class", "type object", "class object"}
    if not all(shape_of(kind) in named for kind in left | right):
        raise Refused("asks for the identity of values", node)
