"""Operators on two values or one, by their kinds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import arithmetic, containers, dates, formats, keys, objects, subscripts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NOTHING,
    NUMBERS,
    ORDERLESS,
    STR,
    WHOLE,
    Kind,
    Kinds,
    Thing,
    in_order,
    shape_of,
)

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def bin_op(a: Analysis, node: ast.BinOp) -> Kinds:
    """`left op right` in the script."""
    return binary(a, node, a.value(node.left), node.op, a.value(node.right), node.right)


def binary(a: Analysis, node: ast.AST, left: Kinds, op: ast.operator, right: Kinds, divisor: ast.expr) -> Kinds:
    """What `left op right` gives."""
    if isinstance(op, ast.MatMult):
        raise Refused("uses the operator @", node)
    if isinstance(op, ast.Mod) and "str" in left:
        formats.check_percent(a, node, divisor)
    if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and not left <= {"str"}:
        arithmetic.check_division(a, node, op, left, right, divisor)
    if isinstance(op, ast.LShift | ast.RShift) and any(
        isinstance(inner, ast.Pow | ast.LShift)
        or (isinstance(inner, ast.Constant) and inner.value not in range(10_000))
        for inner in ast.walk((a.facts.single(divisor.id) or divisor) if isinstance(divisor, ast.Name) else divisor)
    ):
        raise Refused("shifts by a number that may be huge", node)
    if isinstance(op, ast.Pow):
        arithmetic.check_power(a, node, right, divisor)
    result: set[Kind] = set()
    for one in in_order(left):
        for other in in_order(right):
            result |= _pair(a, node, one, op, other)
    return frozenset(result)


def _pair(a: Analysis, node: ast.AST, left: Kind, op: ast.operator, right: Kind) -> Kinds:
    one, other = shape_of(left), shape_of(right)
    if one in NUMBERS and other in NUMBERS:
        return _numbers(a, node, one, op, other)
    if "any" in (one, other):
        return _unknown_pair(a, node, left, op, right)
    if _is_text(one, op, other):
        return STR
    if one == other == "bytes" and isinstance(op, ast.Add):
        return frozenset({"bytes"})
    container = _containers(a, node, left, op, right)
    if container is not None:
        return container
    if one in dates.KINDS or other in dates.KINDS:
        return dates.operator(a, node, one, op, other)
    if isinstance(left, Thing) and left.shape == "instance":
        return objects.operator(a, node, left, op, right)
    if isinstance(left, Thing) or isinstance(right, Thing) or "bytes" in (one, other):
        raise Refused(f"uses an operator on a {one} and a {other}", node)
    a.diverges(node, "TypeError", "an operator")
    return NOTHING


def _numbers(a: Analysis, node: ast.AST, one: str, op: ast.operator, other: str) -> Kinds:
    if "dyadic" in (one, other) or arithmetic.is_long_fraction(a, node, op, one):
        return frozenset({"dyadic"})
    if isinstance(op, ast.Div) or not (one in WHOLE and other in WHOLE):
        return FLOAT
    if one == other == "bool" and isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
        return BOOL
    return frozenset({"int", "float"}) if isinstance(op, ast.Pow) else INT


def _is_text(one: str, op: ast.operator, other: str) -> bool:
    """Whether text is formatted, joined or repeated."""
    if isinstance(op, ast.Mod):
        return one == "str"
    if isinstance(op, ast.Add):
        return one == other == "str"
    return isinstance(op, ast.Mult) and {one, other} <= {"str", "int", "bool"} and "str" in (one, other)


def _containers(a: Analysis, node: ast.AST, left: Kind, op: ast.operator, right: Kind) -> Kinds | None:
    """What an operator on containers gives; None where these have no such operator."""
    one, other = shape_of(left), shape_of(right)
    if one in ("list", "tuple") and one == other and isinstance(op, ast.Add):
        return a.holding(node, one, _held(left) | _held(right), tag="+")
    if isinstance(op, ast.Mult) and "int" in (one, other) and {one, other} & {"list", "tuple"}:
        sequence = left if one != "int" else right
        return a.holding(node, shape_of(sequence), _held(sequence), tag="*")
    if isinstance(op, ast.BitAnd | ast.BitOr | ast.Sub | ast.BitXor):
        if "view" in (one, other) and {one, other} <= {"view", "set"}:
            return a.holding(node, "set", _held(left) | _held(right), tag="views")
        if one in ORDERLESS and other in ORDERLESS:
            return a.holding(node, one, _held(left) | _held(right), tag="set")
    if one == other == "dict" and isinstance(op, ast.BitOr):
        return _merged(a, node, left, right)
    if one == other == "Counter" and isinstance(op, ast.Add | ast.Sub):
        return a.holding(node, "Counter", INT, _keys(left) | _keys(right))
    return None


def _unknown_pair(a: Analysis, node: ast.AST, left: Kind, op: ast.operator, right: Kind) -> Kinds:
    if a.strict():
        raise Refused("uses an operator on a value of unknown kind where TypeError is caught", node)
    known = right if left == "any" else left
    if left == "any" and arithmetic.is_long_fraction(a, node, op, "float"):
        return frozenset({"dyadic"})
    if isinstance(known, Thing):
        if known.shape in ("list", "tuple") and isinstance(op, ast.Add | ast.Mult):
            return a.holding(node, known.shape, _held(known) | ANY, tag="any")
        if known.shape != "dict" or not isinstance(op, ast.BitOr):
            raise Refused(f"uses an operator on a {known.shape} and a value of unknown kind", node)
        return a.holding(node, "dict", _held(known) | ANY, _keys(known) | keys.of_unknown(a))
    if known == "str":
        return STR
    if isinstance(op, ast.Div) and known in NUMBERS:
        return FLOAT
    if isinstance(op, ast.Add | ast.Sub) and known in NUMBERS:
        return FLOAT if known not in WHOLE else frozenset({"int", "float"})
    if known in ("float", "dyadic") and isinstance(op, ast.Mult | ast.FloorDiv):
        return FLOAT
    a.computes = True
    a.divides = a.divides or isinstance(op, ast.Div) or known in ("float", "dyadic")
    return ANY


def _merged(a: Analysis, node: ast.AST, left: Kind, right: Kind) -> Kinds:
    made = a.thing(node, "dict", "|")
    for side in (left, right):
        if isinstance(side, Thing):
            containers.merge_dict(a, made, side)
    a.check_keys(made, node, None, ())
    return frozenset({made})


def _held(kind: Kind) -> set[Kind]:
    return kind.held() if isinstance(kind, Thing) else set()


def _keys(kind: Kind) -> set[Kind]:
    return kind.keys if isinstance(kind, Thing) else set()


def unary_op(a: Analysis, node: ast.UnaryOp) -> Kinds:
    """`-x`, `+x`, `~x` or `not x`."""
    kinds = a.value(node.operand)
    if isinstance(node.op, ast.Not):
        return BOOL
    result: set[Kind] = set()
    for kind in in_order(kinds):
        if isinstance(kind, Thing) and kind.shape == "instance":
            result |= objects.operator(a, node, kind, node.op, None)
        elif kind == "bool":
            result.add("int")
        elif kind in ("int", "float", "any", "datetime.timedelta"):
            a.computes = a.computes or kind == "any"
            result.add(kind)
    return frozenset(result)


def check_augmented(a: Analysis, node: ast.AugAssign, left: Kinds, right: Kinds) -> None:
    """Refuse `op=` where Monty makes a new value instead of changing the old one, or takes fewer kinds."""
    for kind in in_order(left):
        shape = shape_of(kind)
        if shape == "any":
            _check_unknown(a, node, right)
        elif shape == "list":
            if not isinstance(node.op, ast.Add) or any(shape_of(other) != "list" for other in right):
                raise Refused("changes a list in place with something other than a list", node)
            if isinstance(kind, Thing):
                for other in right:
                    a.flow(_held(other), kind.items)
        elif shape == "dict" and isinstance(node.op, ast.BitOr) and isinstance(kind, Thing):
            for other in right:
                if not isinstance(other, Thing) or other.shape != "dict":
                    raise Refused("updates a dict with something other than a dict", node)
                containers.merge_dict(a, kind, other)
            a.check_keys(kind, node, None, ())
        elif shape in ("set", "frozenset", "dict", "Counter", "defaultdict", "deque"):
            raise Refused(f"changes a {shape} in place with an operator", node)
    if not (left <= NUMBERS and right <= NUMBERS) and not (left <= STR and right <= STR):
        a.diverges(node, "TypeError", "an augmented assignment")


def _check_unknown(a: Analysis, node: ast.AugAssign, right: Kinds) -> None:
    """A list of unknown origin takes any iterable in CPython, and is repeated in place."""
    if isinstance(node.op, ast.Add) and any(shape_of(kind) not in (*NUMBERS, "none", "list") for kind in right):
        raise Refused("adds something other than a list to what may be one", node)
    if isinstance(node.op, ast.Mult) and not right <= FLOAT:
        raise Refused("repeats in place what may be a list", node)
    subscripts.check_stored(a, right, node)
