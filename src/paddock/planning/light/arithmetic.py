"""Numbers whose value matters, not only their kind: huge ones, fractions, divisors, powers."""

from __future__ import annotations

import ast
import math
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import FLOAT, NUMBERS, WHOLE, Kinds

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def is_long_fraction(a: Analysis, node: ast.AST, op: ast.operator, left: str) -> bool:
    """Whether a number is divided by a large power of two or halved again and again, or a half raised to a power."""
    if isinstance(node, ast.BinOp):
        base, other = node.left, node.right
    elif isinstance(node, ast.AugAssign):
        base, other = node.target, node.value
    else:
        return False
    if isinstance(op, ast.Div):
        divisor = constant(a, other)
        if not isinstance(divisor, int | float) or divisor <= 0 or math.frexp(divisor)[0] != 0.5:
            return False
        again = a.loops and {n.id for n in ast.walk(base) if isinstance(n, ast.Name)} & set().union(*a.loops)
        return divisor >= 256 or (left not in WHOLE and bool(again)) or size_of(base) > 40 or _is_big(a, base)
    value = constant(a, base)
    return isinstance(op, ast.Pow) and isinstance(value, float) and (value * 64).is_integer()


def _is_big(a: Analysis, node: ast.expr) -> bool:
    value = constant(a, node)
    return isinstance(value, int) and value.bit_length() > 40


def is_tie(value: float) -> bool:
    """Whether a float lies half-way between the two shortest texts that mean it, of which Monty takes another."""
    if not math.isfinite(value) or value.is_integer():
        return False
    with localcontext(prec=1100):
        exact, shortest = Decimal(value), Decimal(repr(value))
        other = (2 * exact - shortest).normalize()
        same_length = len(other.as_tuple().digits) == len(shortest.normalize().as_tuple().digits)
        return exact != shortest and same_length and float(other) == value


def constant(a: Analysis, node: ast.expr) -> object:
    """The number that `node` always is, where the script says so."""
    if isinstance(node, ast.Name):
        bound = a.facts.single(node.id)
        return constant(a, bound) if bound is not None and not isinstance(bound, ast.Name) else None
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow):
        left, right = constant(a, node.left), constant(a, node.right)
        if isinstance(left, int) and isinstance(right, int) and 0 <= right < 10**6:
            return left * right if isinstance(node.op, ast.Mult) else left**right if right < 100 else None
    return None


def check_division(a: Analysis, node: ast.AST, op: ast.operator, left: Kinds, right: Kinds, divisor: ast.expr) -> None:
    """Refuse a division whose ZeroDivisionError is looked at, where both sides word it differently."""
    note_division(a, node, type(op).__name__, left, right)
    if isinstance(divisor, ast.Constant) and isinstance(divisor.value, int | float) and divisor.value:
        return
    if isinstance(op, ast.Div) and left <= WHOLE and right <= WHOLE:
        return
    a.diverges(node, "ZeroDivisionError", "a division")


def note_division(a: Analysis, node: ast.AST, op: str, left: Kinds, right: Kinds) -> None:
    """Remember what is divided on this line: the text of a ZeroDivisionError depends on it."""
    seen = a.divisions.setdefault(getattr(node, "lineno", 0), set())
    for kind in left | right:
        seen.add((op, "unknown" if kind not in NUMBERS else "float" if kind in ("float", "dyadic") else "int"))
    if "float" in left | right and not (("float" in left and left <= FLOAT) or ("float" in right and right <= FLOAT)):
        seen.add((op, "unknown"))


def check_power(a: Analysis, node: ast.AST, right: Kinds, exponent: ast.expr) -> None:
    """Refuse a power that is huge, complex in CPython, or a long binary fraction."""
    if isinstance(node, ast.BinOp) and size_of(node) > 14_000:
        raise Refused("makes a number of thousands of digits", node)
    positive = isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float) and exponent.value >= 0
    if not positive:
        a.diverges(node, "ZeroDivisionError", "a power")
    # A negative number to a fraction is complex in CPython and NaN in Monty.
    fraction = not right <= WHOLE and not _is_whole(exponent)
    base = getattr(node, "left", None)
    if fraction and may_be_negative(a, base):
        raise Refused("takes a power with a fraction as exponent", node)
    if isinstance(base, ast.Constant) and base.value in (2, 4, 8, 32) and isinstance(exponent, ast.UnaryOp):
        raise Refused("takes a power that is a long binary fraction", node)


def size_of(node: ast.expr) -> float:
    """How many bits a number that is written out in the script has; 0 where it is not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value.bit_length()
    if isinstance(node, ast.UnaryOp):
        return size_of(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = size_of(node.left), size_of(node.right)
        by = node.right.value if isinstance(node.right, ast.Constant) else None
        if isinstance(node.op, ast.Pow) and isinstance(by, int):
            return left * by
        if isinstance(node.op, ast.LShift) and isinstance(by, int | float):
            return left + by
        return max(left, right)
    return 0


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and float(node.value).is_integer()


def may_be_negative(a: Analysis, node: ast.AST | None, depth: int = 0) -> bool:
    """Whether a number can come out negative, as far as the text of the script tells."""
    if node is None or depth > 5:
        return True
    if isinstance(node, ast.Name):
        bound = a.facts.bindings.get(node.id)
        if bound is None:
            return a.facts.has_negatives
        return any(may_be_negative(a, value, depth + 1) for value in bound)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("abs", "len"):
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        return node.right.value != 2 and may_be_negative(a, node.left, depth + 1)
    if isinstance(node, ast.BinOp | ast.UnaryOp) and isinstance(node.op, ast.Sub | ast.USub):
        return True
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, int | float) or node.value < 0
    children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return any(may_be_negative(a, child, depth + 1) for child in children if not isinstance(child, ast.Attribute))
